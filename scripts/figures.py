"""Draws the pictures of the documentation, and adds them to the pages that draw them.

usage: figures.py [--check] TOOL ROOT OUT

TOOL is layout-translate. The pages are the Markdown files at the top of the source tree ROOT and below docs/. A page
draws pictures with an indented block of shell commands, each of which ends with the name of its picture:

    layout-translate --layout-to-svg --shape=6x8 '#layout.packed_dims<[0, 1]>' -o packed.svg

or with one such command in a comment, `<!-- figure: layout-translate .. -o packed.svg -->`. All pictures are written to
OUT/docs/figures. ROOT/docs/figures keeps only the pictures that a page links, e.g. `![packed](figures/packed.svg)`;
they are updated, or compared with --check. OUT receives a copy of all pages, in which the other pictures follow the
block that draws them.
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
    """Yields the shell text of each block that draws, the offset of its end, and the names of its pictures."""
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
    """Writes the copy of a page with all its pictures; its other links point back to the source tree."""
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
    """Draws all pictures and copies all pages. Returns the number of pictures, and the contents of those that the tree
    keeps."""
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
