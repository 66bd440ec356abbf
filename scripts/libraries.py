"""Draws the libraries and their dependencies, and checks that these have no cycle.

usage: libraries.py [--update] ROOT

The picture in docs/architecture.md, between two comments, is generated from the calls of layout_add_library and
add_library in the CMakeLists.txt files below lib, and from the #include lines of sources and headers. An arrow from A
to B means that A links B, and a dotted arrow that A only includes headers of B. Dependencies that follow from other
arrows are not drawn. --update writes the picture.

It is an error if libraries depend on each other in a cycle, if a library includes headers of another one that it links
neither directly nor indirectly, or, without --update, if the picture is not current. A header in include/layout belongs
to the library with a source of the same name in the directory of lib that mirrors the header's. If there is none, it
belongs to the library with sources in that directory.
"""

import argparse
import os
import re
import sys

from cmake_libraries import find_libraries
from source_files import source_files

# (library, other library) pairs: the first includes headers of the second without linking it.
HEADERS_ALONE = {
    # Only enumerations of the C interface; the compiled program has the calls.
    ("LayoutGPUToOpenCL", "LayoutOpenCLRuntime"),
}

# Folders whose libraries are drawn as one box.
GROUPS = ("lib/Dialect/NPU", "lib/Targets")

_INCLUDE = re.compile(r'^#include "layout/([^"]+)"', re.MULTILINE)
_PICTURE = re.compile(r"(<!-- libraries -->\n).*?(<!-- end of libraries -->\n)", re.DOTALL)


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def find_includes(root, names, libraries):
    """Returns {library: {other library: text}} for each library whose files include headers of another one; the text
    names one such #include."""
    in_directory, of_name = {}, {}
    for library, it in libraries.items():
        for source in it.sources:
            directory, stem = os.path.split(source[:-len(".cpp")])
            in_directory.setdefault(directory, set()).add(library)
            # lib/Targets/OpenCL/Runtime/DeviceMemory.cpp serves Runtime/Memory.h and Targets/OpenCL/Runtime/OpenCL.h.
            above, last = os.path.split(directory)
            for key in ((directory, stem), (above, stem), (above, last)):
                of_name.setdefault(key, set()).add(library)

    def owners(header):
        directory, stem = os.path.split(os.path.join("lib", header[:-len(".h")]))
        return of_name.get((directory, stem)) or in_directory.get(directory, set())

    files = [(source, {library}) for library, it in libraries.items() for source in it.sources]
    files += [(name, owners(name[len("include/layout/"):])) for name in names
              if name.startswith("include/layout/") and name.endswith(".h")]
    files += [(name, in_directory.get(os.path.dirname(name), set())) for name in names
              if name.startswith("lib/") and name.endswith(".h")]
    includes = {library: {} for library in libraries}
    for name, of in files:
        if len(of) != 1:
            continue
        for header in _INCLUDE.findall(read(root, name)):
            used = owners(header)
            if len(used) == 1 and used != of:
                includes[min(of)].setdefault(min(used), f"{name} includes layout/{header}")
    return includes


def find_circle(uses):
    """Returns the libraries of a dependency cycle, with the first one again at the end, or None if there is none."""
    done, path = set(), []

    def visit(library):
        if library in path:
            return path[path.index(library):] + [library]
        if library in done:
            return None
        path.append(library)
        circle = next(filter(None, map(visit, sorted(uses[library]))), None)
        path.pop()
        done.add(library)
        return circle

    return next(filter(None, map(visit, sorted(uses))), None)


def reach(uses, library):
    return set(uses[library]).union(*(reach(uses, used) for used in uses[library]))


def find_group(library):
    """Returns the folder of GROUPS that contains a library, or None."""
    return next((group for group in GROUPS if f"{library.directory}/".startswith(f"{group}/")), None)


def draw(libraries, uses):
    """Returns the picture as a mermaid flowchart, or raises ValueError if its boxes depend on each other in a cycle."""
    groups = {library: find_group(it) for library, it in libraries.items()}
    boxes = {library: os.path.basename(groups[library] or library) for library in libraries}
    labels, used_boxes, linked_boxes = {}, {}, {}
    for library, it in libraries.items():
        box, group = boxes[library], groups[library]
        text = f"{group}<br/>{list(groups.values()).count(group)} libraries" if group else f"{library}<br/>{it.directory}"
        labels[box] = (group or it.directory, text)
        used_boxes.setdefault(box, set()).update({boxes[used] for used in uses[library]} - {box})
        linked_boxes.setdefault(box, set()).update(boxes[link] for link in it.links)
    circle = find_circle(used_boxes)
    if circle:
        raise ValueError("boxes use each other in a circle: " + " -> ".join(circle))
    lines = ["```mermaid", "flowchart BT"]
    for box in sorted(labels, key=lambda box: (labels[box][0], box)):
        lines.append(f'  {box}["{labels[box][1]}"]')
    for box in sorted(labels):
        for used in sorted(used_boxes[box]):
            if not any(used in reach(used_boxes, other) for other in used_boxes[box]):
                lines.append(f"  {box} {'-->' if used in linked_boxes[box] else '-.->'} {used}")
    return "\n".join(lines + ["```"]) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("root")
    arguments = parser.parse_args()
    root = arguments.root
    names = source_files(root)
    libraries = find_libraries(root, names)
    for library, it in libraries.items():
        for link in it.links:
            if link not in libraries:
                sys.exit(f"{library} links {link}, which no CMakeLists.txt below lib makes")
    includes = find_includes(root, names, libraries)
    uses = {library: set(it.links) | set(includes[library]) for library, it in libraries.items()}
    circle = find_circle(uses)
    if circle:
        print("libraries use each other in a circle: " + " -> ".join(circle))
        for user, used in zip(circle, circle[1:]):
            print("  " + includes[user].get(used, f"{user} links {used}"))
        return 1
    links = {library: it.links for library, it in libraries.items()}
    problems = [f"{library} does not link {used}: {why}"
                for library in libraries for used, why in sorted(includes[library].items())
                if used not in reach(links, library) and (library, used) not in HEADERS_ALONE]
    page = "docs/architecture.md"
    text = read(root, page)
    try:
        picture = draw(libraries, uses)
    except ValueError as error:
        sys.exit(f"{page}: {error}")
    current, count = _PICTURE.subn(lambda match: match[1] + picture + match[2], text)
    if count != 1:
        problems.append(f"{page} has {count} places for the picture, not one")
    elif current != text and arguments.update:
        with open(os.path.join(root, page), "w", encoding="utf-8") as file:
            file.write(current)
    elif current != text:
        problems.append(f"{page}: the picture is not that of the CMakeLists.txt files; "
                        "`./dev docs` draws it")
    for problem in problems:
        print(problem)
    print(f"{len(libraries)} libraries, {len(problems)} problems")
    return 1 if problems or not libraries else 0


if __name__ == "__main__":
    sys.exit(main())
