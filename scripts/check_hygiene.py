"""Checks rules that hold for every file of the tree.

usage: check_hygiene.py ROOT

- A file must not exceed the number of lines of its suffix, nor a C++ function 79 lines.
- A line of prose in a page has at most 120 columns.
- A folder below lib or include has at most 25 files.
- The include guard of a header is its path.
- No two C++ files define a type of the same name in one namespace: linkers merge the functions of both without a word.
- No text contains an absolute path of a machine, or a path outside the tree.
- There are no merge conflict markers and no large binaries.
"""

import collections
import os
import re
import sys

from source_files import source_files

# The maximal number of lines by suffix.
LINE_LIMITS = {".cpp": 800, ".c": 800, ".h": 500, ".td": 600, ".py": 600,
               ".mlir": 500, ".test": 300, ".sh": 400, ".cmake": 300, ".md": 400}
MAX_BYTES = 1 << 20
MAX_FILES = 25
MAX_COLUMNS = 120

# The patterns are assembled from pieces because this file is checked too.
_START = r"(?:^|(?<=[\s\"'`=(:,<>\[]))"
FORBIDDEN = [
    (re.compile(_START + "/(?:" + "work|root|home/\\w+|Users/\\w+" + ")/"),
     "an absolute path of a machine"),
    (re.compile(r"\.\./" + "shared"), "a path outside the tree"),
    (re.compile("^(?:" + "<" * 7 + "|" + ">" * 7 + ") "), "a merge conflict"),
]


# A C++ function has fewer lines than this.
FUNCTION_LIMIT = 80
_TYPE_OR_SCOPE = re.compile(r"(?:template <.*> )?(?:namespace|class|struct|enum|union|extern)\b[^()]*\{$")
_RAW_STRING = re.compile(r'R"([^()\\\s]*)\(')


def _skip_raw_strings(lines):
    """Yields the numbered lines, without those on which a raw string starts or continues."""
    end = None
    for number, line in enumerate(lines, 1):
        if end is None:
            start = _RAW_STRING.search(line)
            if start is None:
                yield number, line
            elif f'){start.group(1)}"' not in line[start.end():]:
                end = f'){start.group(1)}"'
        elif end in line:
            end = None


def _is_function(head):
    """Returns true if `head` is the head of a function, and not of a table, a type or a namespace."""
    name = re.sub(r"^template <[^()]*> ", "", head).split("(")[0]
    is_table = "=" in re.sub(r"operator\S*$", "", name)
    return "(" in head and not is_table and not _TYPE_OR_SCOPE.match(head)


def find_functions(lines):
    """Yields the first line, the number of lines and the head of each C++ function at top level or in a class there.

    Expects the layout of clang-format: the closing brace has the indentation of the head.
    """
    opened = {}  # by indentation: the first line, and the head up to its brace
    head = []
    for number, line in _skip_raw_strings(lines):
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if indent in (0, 2) and text in ("}", "};"):
            first, start = opened.pop(indent, (number, ""))
            if _is_function(start) and not (indent and _is_function(opened.get(0, (0, ""))[1])):
                yield first, number - first + 1, start
        if not text or text.startswith(("//", "#")):
            head = []
            continue
        head.append((number, indent, text))
        if text.endswith("{") and head[0][1] in (0, 2):
            opened[head[0][1]] = head[0][0], " ".join(part for _, _, part in head)
        if text.endswith(("{", "}", ";", ":")):
            head = []


def check_functions(name, lines):
    """Yields a message for each C++ function that is too long."""
    for first, count, head in find_functions(lines):
        if count >= FUNCTION_LIMIT:
            yield f"{name}:{first}: a function of {count} lines, at most {FUNCTION_LIMIT - 1}: split it: {head[:80]}"


_GUARD = re.compile(r"^#ifndef (\w+)\n#define \1$", re.MULTILINE)


def guard_of(name):
    """Returns the include guard of a header: LAYOUT_SUPPORT_COST_H for include/layout/Support/Cost.h."""
    path = name[len("include/"):] if name.startswith("include/") else "layout/" + name
    return re.sub(r"\W", "_", path).upper()


def check_guard(name, text):
    """Yields a message if a header has an include guard that is not its path."""
    guard = _GUARD.search(text)
    if guard and guard[1] != guard_of(name):
        yield f"{name}: the include guard is {guard[1]}, not {guard_of(name)}"


def check_columns(name, lines):
    """Yields a message for each line of prose that is too long. Code, tables, comments and generated pages are not."""
    is_code = False
    for number, line in enumerate(lines, 1):
        is_code ^= line.lstrip().startswith("```")
        if (len(line) > MAX_COLUMNS and not is_code and not name.startswith("docs/reference/")
                and not line.startswith(("    ", "|", "<!--"))):
            yield f"{name}:{number}: {len(line)} columns, at most {MAX_COLUMNS}: wrap it"


_NAMESPACE = re.compile(r"namespace ([\w:]*) ?\{")
_TYPE = re.compile(r"(?:struct|class|enum class) (\w+)(?: final)?(?: : [^;]*)?(?: \{|$)")


def find_types(lines):
    """Yields the qualified name of each type that is defined at top level or in a named namespace.

    Expects the layout of clang-format, in which neither indents.
    """
    scopes = []
    for line in lines:
        if scope := _NAMESPACE.match(line):
            scopes.append(scope[1])
        elif line.startswith("} // namespace") and scopes:
            scopes.pop()
        elif (found := _TYPE.match(line)) and "" not in scopes:
            yield "::".join([*scopes, found[1]])


def check_types(root, names):
    """Yields a message for each type that several C++ files of the project's libraries and tools define."""
    files = collections.defaultdict(list)
    for name in names:
        if name.endswith((".cpp", ".h")) and name.startswith(("lib/", "include/", "tools/", "python/")):
            with open(os.path.join(root, name), encoding="utf-8") as file:
                for each in set(find_types(file)):
                    files[each].append(name)
    for each, where in sorted(files.items()):
        if len(where) > 1:
            yield f"{where[0]}: {each} is also defined in {' and '.join(where[1:])}: rename one of them"


def check_folders(names):
    """Yields a message for each folder below lib or include that has too many files to find one's way in."""
    counts = collections.Counter(os.path.dirname(name) for name in names if name.startswith(("lib/", "include/")))
    for folder, count in sorted(counts.items()):
        if count > MAX_FILES:
            yield f"{folder}: {count} files, at most {MAX_FILES}: make subfolders that name its parts"


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
    text = data.decode("utf-8", errors="replace")
    lines = text.splitlines()
    limit = LINE_LIMITS.get(os.path.splitext(name)[1])
    if limit and len(lines) > limit:
        yield f"{name}: {len(lines)} lines, at most {limit}: split it"
    if name.endswith((".cpp", ".h")):
        yield from check_functions(name, lines)
    if name.endswith((".h", ".td")):
        yield from check_guard(name, text)
    if name.endswith(".md"):
        yield from check_columns(name, lines)
    for number, line in enumerate(lines, 1):
        for pattern, what in FORBIDDEN:
            if pattern.search(line):
                yield f"{name}:{number}: {what}: {line.strip()[:100]}"


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    names = source_files(argv[1])
    problems = [problem for name in names for problem in check_file(argv[1], name)]
    problems += check_folders(names)
    problems += check_types(argv[1], names)
    for problem in problems:
        print(problem)
    print(f"{len(names)} files, {len(problems)} problems")
    return 1 if problems or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
