"""Checks that every link of a page leads somewhere.

usage: check_links.py ROOT

A relative link in a Markdown file names a file or directory of the tree, and its
#anchor a heading of that page. Links to the web are not followed; code is no link.
"""

import os
import re
import sys

from source_files import source_files

_FENCE = re.compile(r"^\s*(`{3,})")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_CODE = re.compile(r"(`+)(.+?)\1")
_WEB = re.compile(r"[a-z]+:")


def text_lines(path):
    """The lines outside of fenced blocks, numbered, without code in them."""
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


def anchors(path):
    """The anchors of the headings, as the sites that show Markdown make them."""
    return {re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
            for _, line in text_lines(path) if line.startswith("#")}


def check_page(root, name, known):
    path = os.path.join(root, name)
    for number, line in text_lines(path):
        # Code in the text of a link stays a link.
        for target in _LINK.findall(_CODE.sub("code", line)):
            if _WEB.match(target):
                continue
            file, _, anchor = target.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(name), file)) if file else name
            if to not in known:
                yield f"{name}:{number}: there is no {to}"
            elif anchor and to.endswith(".md") and anchor not in anchors(os.path.join(root, to)):
                yield f"{name}:{number}: {to} has no heading #{anchor}"


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    names = source_files(argv[1])
    known = set(names) | {"."}
    for name in names:
        while name := os.path.dirname(name):
            known.add(name)
    pages = [name for name in names if name.endswith(".md")]
    problems = [problem for page in pages for problem in check_page(argv[1], page, known)]
    for problem in problems:
        print(problem)
    print(f"{len(pages)} pages, {len(problems)} broken links")
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
