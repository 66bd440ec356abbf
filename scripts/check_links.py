"""Checks that every link on a page has a target.

usage: check_links.py ROOT
       check_links.py --site FOLDER

A relative link in a Markdown file names a file or directory of the tree, and its #anchor a heading of that page. Links
to the web are not followed, and links inside code are ignored.

With --site, checks the links of the HTML pages of the built site in FOLDER, and that all files that they load are in
FOLDER: the site loads nothing from other hosts. An #anchor that contains `=` is state of a script and is not checked.
"""

import functools
import html
import os
import re
import sys

from source_files import source_files

_FENCE = re.compile(r"^\s*(`{3,})")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_CODE = re.compile(r"(`+)(.+?)\1")
_TAG = re.compile(r"<([a-z][a-z0-9]*)\s([^>]*)>")
_ATTRIBUTE = re.compile(r"""\b(id|href|src)=(?:"([^"]*)"|'([^']*)'|([^\s"']+))""")
_LOADED = re.compile(r"""url\(["']?([^"')]+)""")
WEB = re.compile(r"[a-z]+:")


def text_lines(path):
    """Yields the numbered lines outside of fenced and indented code blocks."""
    closing = None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fence = _FENCE.match(line)
            if closing:
                if line.strip().startswith(closing):
                    closing = None
            elif fence:
                closing = fence[1]
            elif not line.startswith("    "):
                yield number, line


def slug(heading, _="-"):
    """Returns the anchor of a heading, as Markdown renderers generate it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(path):
    return {slug(line.lstrip("#")) for _, line in text_lines(path) if line.startswith("#")}


def check_page(root, name, known):
    path = os.path.join(root, name)
    for number, line in text_lines(path):
        # Code spans are replaced first: they may be the text of a link.
        for target in _LINK.findall(_CODE.sub("code", line)):
            if WEB.match(target):
                continue
            file, _, anchor = target.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(name), file)) if file else name
            if to not in known:
                yield f"{name}:{number}: there is no {to}"
            elif anchor and to.endswith(".md") and anchor not in anchors(os.path.join(root, to)):
                yield f"{name}:{number}: {to} has no heading #{anchor}"


@functools.cache
def read_html(path):
    """Returns the ids of an HTML page, and its links as a list of (tag, address)."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = [(tag, key, html.unescape(a or b or c)) for tag, attributes in _TAG.findall(text)
             for key, a, b, c in _ATTRIBUTE.findall(attributes)]
    return ({value for _, key, value in found if key == "id"},
            [(tag, value) for tag, key, value in found if key != "id"])


def check_address(site, name, tag, address):
    if WEB.match(address) or address.startswith("//"):
        if tag != "a" and not address.startswith("data:"):
            yield f"{name}: <{tag}> loads {address}"
        return
    file, _, anchor = address.partition("#")
    base = "" if file.startswith("/") else os.path.dirname(name)
    to = os.path.normpath(os.path.join(base, file.lstrip("/"))) if file else name
    path = os.path.join(site, to, "index.html") if os.path.isdir(os.path.join(site, to)) else os.path.join(site, to)
    if not os.path.exists(path):
        yield f"{name}: there is no {to}"
    elif anchor and "=" not in anchor and path.endswith(".html") and anchor not in read_html(path)[0]:
        yield f"{name}: {to} has no #{anchor}"


def check_site_page(site, name):
    path = os.path.join(site, name)
    if name.endswith(".html"):
        addresses = read_html(path)[1]
    else:
        with open(path, encoding="utf-8") as file:
            addresses = [("style", address) for address in _LOADED.findall(file.read())]
    for tag, address in dict.fromkeys(addresses):
        yield from check_address(site, name, tag, address)


def check_site(site):
    """Returns the HTML and CSS pages of a built site, and a message for each problem."""
    names = [os.path.relpath(os.path.join(folder, file), site) for folder, _, files in os.walk(site) for file in files]
    pages = sorted(name for name in names if name.endswith((".html", ".css")))
    return pages, [problem for page in pages for problem in check_site_page(site, page)]


def check_tree(root):
    names = source_files(root)
    known = set(names) | {"."}
    for name in names:
        while name := os.path.dirname(name):
            known.add(name)
    pages = [name for name in names if name.endswith(".md")]
    return pages, [problem for page in pages for problem in check_page(root, page, known)]


def main(argv):
    if len(argv) == 3 and argv[1] == "--site":
        pages, problems = check_site(argv[2])
    elif len(argv) == 2:
        pages, problems = check_tree(argv[1])
    else:
        sys.exit(__doc__)
    for problem in problems:
        print(problem)
    print(f"{len(pages)} pages, {len(problems)} broken links")
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
