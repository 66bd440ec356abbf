"""Checks what every file of the tree must keep to.

usage: check_hygiene.py ROOT

- A file that is too long to be about one thing is to be split, and so is a function of C++ with 80 lines or more.
- Nothing names a place on somebody's machine, or one outside the tree.
- No merge conflict was committed, and no large binary.
"""

import os
import re
import sys

from source_files import source_files

# Lines, by suffix; generated pages and test inputs are exempt.
LINE_LIMITS = {".cpp": 800, ".c": 800, ".h": 500, ".td": 600, ".py": 600,
               ".mlir": 500, ".test": 300, ".sh": 400, ".cmake": 300}
EXEMPT_FROM_LINES = ("docs/reference/",)
MAX_BYTES = 1 << 20

# Written in pieces, for this file is checked too.
_START = r"(?:^|(?<=[\s\"'`=(:,<>\[]))"
FORBIDDEN = [
    (re.compile(_START + "/(?:" + "work|root|home/\\w+|Users/\\w+" + ")/"),
     "an absolute path on somebody's machine"),
    (re.compile(r"\.\./" + "shared"), "a path outside the tree"),
    (re.compile("^(?:" + "<" * 7 + "|" + ">" * 7 + ") "), "a merge conflict"),
]


# Lines of a function, and what else a block of C++ is the body of.
FUNCTION_LIMIT = 80
_NO_FUNCTION = re.compile(r"\b(?:namespace|class|struct|enum|union|extern)\b[^()]*$|=\s*\{$|^#")


def find_functions(lines):
    """Yields (first line, number of lines, head) of the functions of C++ as clang-format lays it out: a block at the top,
    or in a class at the top, ends with a brace as far in as its head begins."""
    heads = {}
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        if indent in (0, 2) and line.strip() in ("}", "};"):
            first, head = heads.pop(indent, (number, ""))
            if "(" in head and not _NO_FUNCTION.search(head):
                yield first, number - first + 1, head
        elif indent in (0, 2) and line.strip() and not line.lstrip().startswith(("//", "#", "}", "public", "private")):
            if indent not in heads or lines[number - 2].strip().endswith((";", "}", "{", ":")) or not lines[number - 2].strip():
                heads[indent] = number, line.strip()
                if indent == 0:
                    heads.pop(2, None)


def check_functions(name, lines):
    """Complains of functions that are too long."""
    for first, count, head in find_functions(lines):
        if count >= FUNCTION_LIMIT:
            yield f"{name}:{first}: a function of {count} lines, less than {FUNCTION_LIMIT} are allowed: split it: {head[:80]}"


def check_file(root, name):
    path = os.path.join(root, name)
    size = os.path.getsize(path)
    if size > MAX_BYTES:
        yield f"{name}: {size} bytes, at most {MAX_BYTES} belong in the repository"
        return
    with open(path, "rb") as file:
        data = file.read()
    if b"\0" in data:
        return
    lines = data.decode("utf-8", errors="replace").splitlines()
    limit = LINE_LIMITS.get(os.path.splitext(name)[1])
    if limit and len(lines) > limit and not name.startswith(EXEMPT_FROM_LINES):
        yield f"{name}: {len(lines)} lines, at most {limit}: split it"
    if name.endswith((".cpp", ".h")):
        yield from check_functions(name, lines)
    for number, line in enumerate(lines, 1):
        for pattern, what in FORBIDDEN:
            if pattern.search(line):
                yield f"{name}:{number}: {what}: {line.strip()[:100]}"


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    names = source_files(argv[1])
    problems = [problem for name in names for problem in check_file(argv[1], name)]
    for problem in problems:
        print(problem)
    print(f"{len(names)} files, {len(problems)} problems")
    return 1 if problems or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
