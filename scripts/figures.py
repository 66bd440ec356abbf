"""Draws the pictures of the documentation, and puts them where its pages draw them.

usage: figures.py [--check] TOOL ROOT OUT

TOOL is layout-translate. Of the source tree ROOT the pages are those at its top and below docs/.
A page draws pictures by an indented block of shell commands, each of which ends in the name of one:

    layout-translate --layout-to-svg --shape=6x8 '#layout.packed_dims<[0, 1]>' -o packed.svg

or by such a command in a comment, `<!-- figure: layout-translate .. -o packed.svg -->`. All are
drawn to OUT/docs/figures. Few are kept in ROOT/docs/figures: those that pages show by a link, as
`![packed](figures/packed.svg)`. They are brought up to date or, by --check, compared. OUT gets a
copy of all pages, where the others are shown behind the block that draws them.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

_COMMENT = re.compile(r"<!-- figure: (.*) -->")
_DRAWS = re.compile(r"--layout-to-svg\b.* -o ([a-z0-9-]+\.svg)$", re.M)
_SHOWS = re.compile(r"!\[[^]]*\]\(\S*?figures/([^/)]+\.svg)\)")
_LINK = re.compile(r"\]\((?![a-z]+:|#)([^()\s#]+)")


class FigureError(Exception):
    pass


def find_pages(root):
    return sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])


def find_drawings(text):
    """What draws, as shell text, with the end of its block; the names of what it draws."""
    for block in re.finditer(r"(?:^    .*\n)+|^<!-- figure: .*\n", text, re.M):
        comment = _COMMENT.match(block[0])
        script = (comment[1] if comment else block[0]).replace("\\\n", " ")
        names = _DRAWS.findall(script)
        if names:
            yield script, block.end(), names


def draw(tool, page, script, directory):
    path = f"{pathlib.Path(tool).resolve().parent}{os.pathsep}{os.environ.get('PATH', '')}"
    result = subprocess.run(["sh", "-e", "-c", script], cwd=directory, stderr=subprocess.PIPE,
                            text=True, env={**os.environ, "PATH": path})
    if result.returncode:
        raise FigureError(f"{page}: {script.strip()}\n{result.stderr}")


def build_page(root, page, text, drawings, shown, out):
    """The copy of a page: with all of its pictures, and links that lead back to the tree."""
    parts, position = [], 0
    figures = os.path.relpath(root / "docs/figures", page.parent)
    for _, end, names in drawings:
        parts += [text[position:end], "".join(f"\n![{name[:-4]}]({figures}/{name})\n"
                                              for name in names if name not in shown)]
        position = end
    target = out / page.relative_to(root)

    def lead_back(link):
        file = (page.parent / link[1]).resolve()
        if file.suffix in (".md", ".svg") and (file.parent == root or root / "docs" in file.parents):
            return link[0]
        return f"]({os.path.relpath(file, target.parent)}"

    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(_LINK.sub(lead_back, "".join([*parts, text[position:]])))


def build(tool, root, out):
    """The number of pictures, and those that are kept as the tree should have them."""
    directory = out / "docs/figures"
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("*.svg"):
        old.unlink()
    shown = set()
    for page in find_pages(root):
        text = page.read_text(encoding="utf-8")
        drawings = list(find_drawings(text))
        for script, _, _ in drawings:
            draw(tool, page.relative_to(root), script, directory)
        links = set(_SHOWS.findall(text))
        build_page(root, page, text, drawings, links, out)
        shown |= links
    drawn = {path.name: path.read_bytes() for path in directory.glob("*.svg")}
    missing = sorted(shown - drawn.keys())
    if missing:
        raise FigureError(f"no page draws {', '.join(missing)}")
    return len(drawn), {name: drawn[name] for name in shown}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("tool")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    try:
        count, kept = build(arguments.tool, root, arguments.out.resolve())
    except FigureError as error:
        print(error)
        return 1
    directory = root / "docs/figures"
    present = {path.name: path.read_bytes() for path in directory.glob("*.svg")}
    changed = sorted(name for name in kept.keys() | present.keys()
                     if kept.get(name) != present.get(name))
    if arguments.check and changed:
        print(f"figures are stale: {', '.join(changed)}. Run `./dev docs` and commit the result.")
        return 1
    for name in changed:
        if name in kept:
            directory.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(kept[name])
        else:
            (directory / name).unlink()
    print(f"figures: {count} pictures, {len(kept)} of them kept"
          + (f", changed {', '.join(changed)}" if changed else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
