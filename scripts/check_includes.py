"""Checks that rooms include and link nothing but what a table allows.

usage: check_includes.py ROOT

A room is a directory below include/layout, with its private half below lib. For each
that ROOMS names, its files

- include no header of a room that the table does not allow, and no upstream header
  that does not begin with one of its prefixes, neither by themselves nor through the
  headers that they include;
- include with a relative path nothing but headers of their own room;
- link, in CMake's LINK lists, no library of another room than those.
"""

import dataclasses
import os
import re
import sys

from cmake_libraries import find_libraries
from source_files import source_files


@dataclasses.dataclass
class Room:
    rooms: tuple  # whose public headers it may include
    upstream: tuple  # how headers of others may begin


# Where a header below include/layout belongs to no room of this table, its room is
# the directory that it is in.
ROOMS = {
    "Support": Room((), ("llvm/", "mlir/IR/Diagnostics.h", "mlir/Dialect/Tensor/IR/Tensor.h",
                         "mlir/Dialect/Utils/StaticValueUtils.h",
                         "mlir/Interfaces/ViewLikeInterface.h")),
    "Algebra": Room(("Support",), ("llvm/", "mlir/IR/Affine", "isl/")),
    "Solver": Room(("Support",), ("llvm/ADT/", "llvm/Support/")),
}

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_ANGLED = re.compile(r"^\s*#\s*include\s+<((?:llvm|mlir|layout|isl)[-/][^>]*)>", re.MULTILINE)
_HALVES = ("include/layout/", "lib/")


def room_of(name):
    """The room of a file, or None."""
    half = next((half for half in _HALVES if name.startswith(half)), None)
    directory = os.path.dirname(name[len(half):]) if half else ""
    if not directory:
        return None
    within = [room for room in ROOMS if (directory + "/").startswith(room + "/")]
    return max(within, key=len, default=directory)


class Tree:
    def __init__(self, root):
        self.root = root
        self.names = source_files(root)
        self.known = set(self.names)
        self.includes = {}  # per file, (line, what the directive says)
        self.reached = {}  # per public header, the upstream headers behind it

    def read(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as file:
            return file.read()

    def includes_of(self, name):
        if name not in self.includes:
            text = self.read(name)
            self.includes[name] = sorted(
                (text.count("\n", 0, match.start(1)) + 1, match[1])
                for pattern in (_INCLUDE, _ANGLED) for match in pattern.finditer(text))
        return self.includes[name]

    def upstream_of(self, header):
        """What a public header includes of others, itself or through headers."""
        if header not in self.reached:
            self.reached[header] = set()
            found = set()
            for _, path in self.includes_of(header) if header in self.known else ():
                found |= (self.upstream_of("include/" + path)
                          if path.startswith("layout/") else {path})
            self.reached[header] = found
        return self.reached[header]

    def own_header(self, name, path):
        """The private header that a file means, or None."""
        places = [os.path.dirname(name), "lib/" + room_of(name)]
        found = [os.path.normpath(os.path.join(place, path)) for place in places]
        return next((header for header in found if header in self.known), None)

    def check_file(self, name):
        room = room_of(name)
        rule = ROOMS[room]
        for line, path in self.includes_of(name):
            place = f"{name}:{line}"
            if path.startswith("layout/"):
                other = room_of("include/" + path)
                if other not in (room, *rule.rooms):
                    yield (f"{place}: {path} is of the room {other}; {room} may include "
                           f"{', '.join(rule.rooms) or 'no other room'}")
                    continue
                bad = sorted(header for header in self.upstream_of("include/" + path)
                             if not header.startswith(rule.upstream))
                if bad and other != room:
                    yield f"{place}: {path} brings {bad[0]}, which {room} may not include"
            elif path.startswith(rule.upstream):
                continue
            elif path.startswith(("llvm/", "mlir/", "isl/")):
                yield f"{place}: {path}; {room} may include {', '.join(rule.upstream)}"
            else:
                header = self.own_header(name, path)
                if header is None or room_of(header) != room:
                    yield f"{place}: {path} is no header of {room}"

    def check_links(self):
        libraries = find_libraries(self.root, self.names)
        for name, library in libraries.items():
            room = room_of(library.list)
            if room not in ROOMS:
                continue
            rule = ROOMS[room]
            for link in library.links:
                other = room_of(libraries[link].list) if link in libraries else None
                if other not in (room, *rule.rooms):
                    yield f"{library.list}: {name} links {link}, which is not of {room} or " \
                          f"{', '.join(rule.rooms) or 'any room that it may include'}"
            if library.has_mlir and not any(prefix.startswith("mlir/") for prefix in rule.upstream):
                yield f"{library.list}: {name} includes no MLIR and links it; say NO_MLIR"


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    tree = Tree(argv[1])
    files = [name for name in tree.names
             if name.endswith((".h", ".cpp")) and room_of(name) in ROOMS]
    problems = [problem for name in files for problem in tree.check_file(name)]
    problems += tree.check_links()
    for problem in problems:
        print(problem)
    empty = [room for room in ROOMS if not any(room_of(name) == room for name in files)]
    if empty:
        print(f"no files are in {', '.join(empty)}")
    print(f"{len(files)} files of {len(ROOMS)} rooms, {len(problems)} problems")
    return 1 if problems or empty else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
