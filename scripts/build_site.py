"""Builds the documentation site from the pages of the documentation.

usage: build_site.py TOOL PAGES ROOT OUT

TOOL is layout-translate. PAGES is the directory with the pages of the source tree ROOT and their pictures, written by
figures.py. OUT receives the site and OUT.pages the input of mkdocs, which is made from PAGES as follows:

- pages of docs/ and docs/site move to the top level;
- files of the tree that pages link to become pages below source/;
- commands of examples become the titles of their code blocks;
- the gallery page lists all pictures, and the page that displays a layout gets its table of maps.
"""

import argparse
import json
import logging
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from urllib.parse import quote

import pygments.lexers
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from check_links import WEB, text_lines
from figures import find_drawings
from source_files import source_files

# The pages of each tab in order. If a tab names a folder, the remaining pages of the folder follow.
TABS = [
    ("Start", None, ["start"]),
    ("Tutorials", "tutorials", ["onnx-model", "pytorch", "your-pipeline", "your-target", "phone-kernels",
                                "npu-code"]),
    ("Try a layout", None, ["try"]),
    ("Gallery", None, ["gallery"]),
    ("Guides", "", ["model", "python", "networks", "cpu-performance", "embedding", "assignment", "assignment-results",
                    "cost-model", "rules", "opencl", "opencl-kernels", "vulkan", "npu", "npu-memory", "npu-simulator",
                    "npu-models", "mesh",
                    "bundles", "mesh-layouts", "index-checks", "solver", "certificates", "solver-performance", "layoutbench",
                    "onnx-operators"]),
    ("Layout families", "families", []),
    ("Tools", "tools", []),
    ("Reference", "reference", ["LayoutDialect", "LayoutAttributes", "LayoutPasses", "LinalgPasses"]),
    ("Project", None, ["spec", "architecture", "glossary", "compatibility", "testing", "fuzzing", "style",
                       "upstream/README", "upstream/spirv-image", "contributing", "changelog", "security", "code_of_conduct"]),
]
LANGUAGES = {".h": "cpp", ".cpp": "cpp", ".c": "c", ".td": "tablegen", ".py": "python", ".mlir": "mlir",
             ".sh": "sh", ".json": "json"}
SOURCE = "---\nsearch:\n  exclude: true\n---\n"
_LINK = re.compile(r"(`+).+?\1|\]\(([^()\s]+)\)")
_EXAMPLE = re.compile(r"^<!-- (run: (?P<command>.*)|output) -->\n+(?P<fence>```+\w+)$", re.M)
_FLOWCHART = re.compile(r"^```mermaid\nflowchart (\w+)\n(.*?)^```$", re.M | re.S)
_SHOW_WORDS = """layout-translate() { printf '%s\\0' "$@"; echo; }\n"""


def site_path(name):
    """Returns the path on the site of a page or picture of the tree."""
    if name == "README.md":
        return "start.md"
    for folder in ("docs/site/", "docs/"):
        if name.startswith(folder):
            return name[len(folder):]
    return name.lower()


class Site:
    def __init__(self, tool, pages, root):
        self.tool, self.pages, self.root = tool, pages, root
        # Pages that an earlier run left and the tree no longer has are skipped.
        self.names = {name for name in (path.relative_to(pages).as_posix() for path in pages.rglob("*.*"))
                      if name.endswith(".svg") or (root / name).exists()}
        self.files = source_files(root)
        self.texts = {}  # the pages of the site, by path
        self.linked = {}  # files and folders of the tree that need a page below source/, with its path

    def find(self, page, link):
        """Returns the path, relative to the root of the source tree, of the file that `link` on `page` refers to."""
        path = pathlib.Path(os.path.normpath((self.pages / page).parent / link))
        base = self.pages if self.pages in path.parents else self.root
        return path.relative_to(base).as_posix()

    def lead(self, page, at):
        """Returns a replacement function for re.sub that turns a link on `page` of the tree into a link on the page
        `at` of the site. Other files of the tree that are linked get a page below source/."""
        def leading(match):
            if match[2] is None or WEB.match(match[2]) or match[2].startswith("#"):
                return match[0]
            file, mark, anchor = match[2].partition("#")
            name = self.find(page, file)
            target = site_path(name)
            if name not in self.names:
                if not (self.root / name).exists():
                    return match[0]  # reported later with the name of the page
                target = self.linked.setdefault(name, f"source/{name.lstrip('.')}.md")
            return f"]({os.path.relpath(target, os.path.dirname(at))}{mark}{anchor})"
        return leading

    def add_page(self, name, path, at, head=""):
        lines = path.read_text(encoding="utf-8").split("\n")
        for number, line in text_lines(path):
            lines[number - 1] = _LINK.sub(self.lead(name, at), line.rstrip("\n"))
        text = _FLOWCHART.sub(draw_flowchart, _EXAMPLE.sub(show_command, "\n".join(lines)))
        if not re.search(r"^# ", text, re.M):
            text = f"# {title_of(name)}\n\n{text}"
        self.texts[at] = head + text

    def add_linked(self, name, at):
        path = self.root / name
        if path.is_dir():
            self.add_folder(name, path, at)
        elif path.suffix == ".md":
            self.add_page(name, path, at, SOURCE)
        else:
            text = path.read_text(encoding="utf-8")
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            language = "cmake" if path.name == "CMakeLists.txt" else LANGUAGES.get(path.suffix, "text")
            self.texts[at] = f"{SOURCE}# `{name}`\n\n{fence}{language}\n{text}\n{fence}\n"

    def add_folder(self, name, path, at):
        if (path / "README.md").exists():
            self.add_page(f"{name}/README.md", path / "README.md", at, SOURCE)
        else:
            self.texts[at] = f"{SOURCE}# `{name}`\n"
        inside = {file[len(name) + 1:].split("/")[0] for file in self.files if file.startswith(f"{name}/")}
        for child in sorted(inside):
            file = f"{name}/{child}"
            target = self.linked.get(file, site_path(file) if file in self.names else None)
            label = f"`{child}{'/' if (path / child).is_dir() else ''}`"
            if target:
                label = f"[{label}]({os.path.relpath(target, os.path.dirname(at))})"
            self.texts[at] += f"\n* {label}"

    def add_gallery(self):
        """Adds each picture to the gallery, with the page that draws it, its command and a link that opens its
        layout."""
        parts, shown = [], set()
        for name in sorted(self.names):
            if not name.endswith(".md"):
                continue
            text = (self.pages / name).read_text(encoding="utf-8")
            drawn = [words for script, _, _ in find_drawings(text) for words in read_commands(script)
                     if words[-1] not in shown]
            shown.update(words[-1] for words in drawn)
            if not drawn:
                continue
            parts.append(f"\n## [{title_in(text) or title_of(name)}]({site_path(name)})\n")
            for words in drawn:
                picture = words[-1].removesuffix(".svg")
                parts.append(
                    f'\n<figure markdown class="picture">\n![{picture}](figures/{picture}.svg){{ loading=lazy }}\n'
                    "</figure>\n"
                    f"\n```sh\nlayout-translate {shlex.join(words)}\n```\n"
                    f'\n<a class="md-button" href="try.html#{fragment(self.read_drawing(words))}">Open it</a>\n')
        self.texts["gallery.md"] += "".join(parts)

    def read_drawing(self, words):
        """Returns the description of the layout that a layout-translate command draws."""
        options, words = {}, list(words)
        while words:
            word = words.pop(0)
            key, mark, value = word.lstrip("-").partition("=")
            if not word.startswith("-"):
                text = word
            elif key != "layout-to-svg":
                options[key] = value if mark else words.pop(0)
        return self.describe(text, options["shape"], options.get("dims", ""),
                             [f"--{key}={options[key]}" for key in ("target", "element") if key in options])

    def describe(self, text, shape, dims, more=()):
        """Returns the description of a layout for the page that displays layouts. Its map is the one for dynamic shapes
        if it exists, otherwise the one for `shape`."""
        said = self.translate(text, "x".join("?" for _ in shape.split("x")), more)
        is_of_shape = said.returncode != 0
        if is_of_shape:
            said = self.translate(text, shape, more)
            said.check_returncode()
        map_text = re.search(r"#layout\.map<(.*?\))>", said.stdout)[1]
        names = dims.split(",") if dims else []
        named = re.sub(r"\bd(\d+)\b", lambda dim: names[int(dim[1])] if names else dim[0], map_text)
        blocked = re.fullmatch(r'#layout\.blocked<"[A-Z]*" to "(\w+)">', text)
        return dict(layout=text, name=blocked[1] if blocked else None, map=named, shape=shape, isOfShape=is_of_shape)

    def translate(self, text, shape, more):
        return subprocess.run([self.tool, "--layout-to-map", f"--shape={shape}", *more, text], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def make_layouts(self):
        """Returns the JavaScript table of layouts of the page that displays layouts, from docs/site/layouts.txt."""
        groups = []
        for line in (self.root / "docs/site/layouts.txt").read_text(encoding="utf-8").splitlines():
            if line.startswith("## "):
                groups.append(dict(title=line[3:], layouts=[]))
            elif groups and line.strip():
                shape, dims, text, *more = re.split(r"\s{2,}", line.strip())
                groups[-1]["layouts"].append(self.describe(text, shape, dims, more))
        return f"const kLayouts = {json.dumps(groups, indent=1)};\n"

    def find_tabs(self):
        known = {f"{folder + '/' if folder else ''}{page}.md" for _, folder, pages in TABS for page in pages}
        tabs = [{"Home": "index.md"}]
        for title, folder, order in TABS:
            prefix = f"{folder}/" if folder else ""
            pages = [f"{prefix}{page}.md" for page in order]
            if folder is not None:
                pages += sorted(at for at in self.texts if at not in known and at != "index.md"
                                and os.path.dirname(at) == folder)
            tabs.append({title: pages[0] if len(pages) == 1 else pages})
        return tabs

    def add_pages(self):
        for name in sorted(self.names):
            if name.endswith(".md"):
                self.add_page(name, self.pages / name, site_path(name))
        table = re.search(r"(?:^\|.*\n)+", self.texts["start.md"], re.M)[0]
        self.texts["index.md"] = self.texts["index.md"].replace("<!-- the table of README.md -->", table)
        self.add_gallery()
        done = set()
        while todo := self.linked.keys() - done:
            # Files before folders: a folder page links the files that already have a page.
            for name in sorted(todo, key=lambda name: ((self.root / name).is_dir(), name)):
                self.add_linked(name, self.linked[name])
            done |= todo

    def write(self, docs):
        shutil.rmtree(docs, ignore_errors=True)
        shutil.copytree(self.pages / "docs/figures", docs / "figures")
        (docs / "assets").mkdir()
        for path in [*(self.root / "docs/site").glob("*.js"), *(self.root / "docs/site").glob("*.css"),
                     self.root / "python/layout_mlir/web/layout_map.js"]:
            shutil.copy(path, docs / "assets")
        (docs / "assets/layouts.js").write_text(self.make_layouts(), encoding="utf-8")
        for at, text in self.texts.items():
            (docs / at).parent.mkdir(parents=True, exist_ok=True)
            (docs / at).write_text(text, encoding="utf-8")


def title_in(text):
    found = re.search(r"^# (.*)$", text, re.M)
    return found and found[1]


def title_of(name):
    """Returns the words of a file name, e.g. `GPU To OpenCL Passes` for GPUToOpenCLPasses.md."""
    return re.sub(r"(?<=To)(?=[A-Z])|(?<=\w)(?=[A-Z][a-z])", " ", pathlib.Path(name).stem)


def read_commands(script):
    """Returns the arguments of each call of layout-translate in a shell script."""
    said = subprocess.run(["bash", "-e", "-c", _SHOW_WORDS + script], check=True, stdout=subprocess.PIPE, text=True)
    return [line.split("\0")[:-1] for line in said.stdout.splitlines()]


def show_command(match):
    """Adds the command of an example as the title of its code block, except for sessions and scripts, which show it
    themselves."""
    title = "prints" if match["command"] is None else match["command"].removeprefix("cat > ")
    if title.startswith(('"$PYTHON"', "sh ")):
        return match["fence"]
    quoted = title.replace('"', "&quot;")
    return f'{match["fence"]} title="{quoted}"'


def draw_flowchart(match):
    """Returns a Mermaid flowchart drawn by graphviz as SVG, or its text if graphviz is not installed."""
    if not shutil.which("dot"):
        return match[0]
    graph = re.sub(r'\["(.*?)"]', lambda label: '[label="{}"]'.format(label[1].replace("<br/>", "\\n")), match[2])
    graph = re.sub(r"(\w+) -\.-> (\w+)", r"\1 -> \2 [style=dotted]", graph).replace("-->", "->")
    drawn = subprocess.run(["dot", "-Tsvg"], input=f"digraph {{ rankdir={match[1]}; node [shape=box]\n{graph}}}",
                           check=True, stdout=subprocess.PIPE, text=True).stdout
    return f'<div class="flowchart">{drawn[drawn.index("<svg"):]}</div>'


def fragment(layout):
    """Returns the URL fragment that opens `layout` on the page that displays layouts."""
    return f"map={quote(layout['map'], safe='')}&shape={layout['shape']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tool")
    for name in ("pages", "root", "out"):
        parser.add_argument(name, type=lambda path: pathlib.Path(path).resolve())
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    pygments.lexers.LEXERS["MlirLexer"] = ("mlir_lexer", "MLIR", ("mlir",), ("*.mlir",), ())
    site = Site(arguments.tool, arguments.pages, arguments.root)
    site.add_pages()
    docs = pathlib.Path(f"{arguments.out}.pages")
    site.write(docs)
    try:
        build(load_config(str(arguments.root / "docs/site/mkdocs.yml"), docs_dir=str(docs),
                          site_dir=str(arguments.out), nav=site.find_tabs()))
    except Abort:
        return 1
    print(f"site: {len(site.texts)} pages in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
