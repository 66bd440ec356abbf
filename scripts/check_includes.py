"""Checks that libraries include and link only what the tables in this file allow.

usage: check_includes.py ROOT

A library is a directory below include/layout together with the directory of the same name below
lib, which holds its private files. Each file there belongs to a library of LIBRARIES and

- includes headers of its own library and of its direct and indirect dependencies only;
- includes only upstream headers with a prefix that UPSTREAM lists, directly and through headers, if UPSTREAM has an
  entry for the library;
- includes with a relative path only headers of its own library.

The LINK lists in CMake name the same dependencies only. Files outside of the libraries, e.g. tools and tests, include
no private header with a relative path.
"""

import os
import re
import sys

from cmake_libraries import find_libraries
from source_files import source_files

# The libraries in dependency order, each with its direct dependencies. It may include these and their dependencies. A
# directory that is not in this table belongs to the library of its parent directory.
LIBRARIES = {
    "Support": (),
    "Algebra": ("Support",),
    # Parsers and printers of notations of other projects.
    "Interop": ("Algebra",),
    "Visualization": ("Algebra",),
    "Solver": ("Support",),
    "Dialect/Layout/IR": ("Interop",),
    "Dialect/Layout/Utils": ("Dialect/Layout/IR",),
    "Interfaces": ("Dialect/Layout/IR",),
    # Prepares programs before layouts are assigned, for all targets.
    "Linalg": ("Interfaces", "Dialect/Layout/Utils"),
    "Analysis": ("Interfaces", "Solver"),
    "Dialect/Layout/Transforms": ("Analysis",),
    # Only the NPU libraries depend on the NPU dialect.
    "Dialect/NPU/Utils": ("Algebra",),
    "Dialect/NPU/IR": ("Dialect/Layout/IR", "Dialect/NPU/Utils"),
    "Dialect/NPU/Transforms": ("Dialect/NPU/IR",),
    # Executes compiled programs and compares results.
    "Runtime": ("Support",),
    # Pipelines that are the same for all targets.
    "Pipelines": ("Linalg", "Dialect/Layout/Transforms"),
    # Models of targets do not depend on each other. Host programs are lowered by the CPU's passes, so the pipelines of
    # other targets depend on those. This directory itself declares what each target registers.
    "Targets": (),
    # Helpers that write packages for several targets.
    "Targets/Package": ("Support",),
    "Targets/CPU": ("Analysis", "Targets"),
    "Targets/CPU/LayoutToLinalg": ("Analysis", "Dialect/Layout/Utils", "Linalg"),
    "Targets/CPU/LinalgToLLVM": ("Dialect/Layout/IR", "Support"),
    "Targets/CPU/Pipelines": ("Dialect/Layout/Transforms", "Pipelines", "Targets", "Targets/CPU/LayoutToLinalg",
                              "Targets/CPU/LinalgToLLVM"),
    "Targets/OpenCL": ("Analysis", "Targets"),
    "Targets/OpenCL/Runtime": ("Runtime",),
    # The emitted calls use the enumerations of the runtime's header.
    "Targets/OpenCL/GPUToOpenCL": ("Targets/OpenCL/Runtime", "Targets/Package"),
    "Targets/OpenCL/LayoutToGPU": ("Targets/OpenCL/GPUToOpenCL", "Dialect/Layout/Transforms",
                                   "Dialect/Layout/Utils", "Linalg", "Targets/OpenCL"),
    "Targets/OpenCL/Pipelines": ("Pipelines", "Targets", "Targets/CPU/LinalgToLLVM", "Targets/OpenCL/LayoutToGPU"),
    "Targets/NPU": ("Analysis", "Dialect/NPU/IR", "Targets"),
    "Targets/NPU/LayoutToNPU": ("Dialect/Layout/Transforms", "Targets/NPU"),
    "Targets/NPU/NPUToEmitC": ("Dialect/NPU/Transforms", "Targets/Package"),
    "Targets/NPU/Pipelines": ("Pipelines", "Targets", "Targets/CPU/LinalgToLLVM", "Targets/NPU/LayoutToNPU",
                              "Targets/NPU/NPUToEmitC"),
    # No IR: programs link it without the rest.
    "Targets/NPU/Simulator": ("Support",),
    "Targets/Mesh": ("Analysis", "Targets"),
    "Targets/Mesh/LayoutToMPI": ("Analysis", "Dialect/Layout/Transforms", "Dialect/Layout/Utils", "Targets/Mesh"),
    "Targets/Mesh/Pipelines": ("Targets/CPU/Pipelines", "Targets/Mesh/LayoutToMPI"),
    # No IR: programs link it without the rest.
    "Targets/Mesh/Runtime": (),
    # Registers everything. CMake names the targets of the build.
    "Registration": ("Dialect/NPU/IR", "Pipelines", "Targets"),
    # The implementation of include/layout-c.
    "CAPI": ("Registration",),
}

# The prefixes of upstream headers that a library may include. Libraries that are not listed may include any.
UPSTREAM = {
    "Support": ("llvm/", "mlir/IR/AffineMap.h", "mlir/IR/BuiltinAttributes.h", "mlir/IR/Diagnostics.h",
                "mlir/IR/DialectResourceBlobManager.h", "mlir/IR/Location.h",
                "mlir/Dialect/Arith/IR/Arith.h", "mlir/Dialect/Linalg/Transforms/Transforms.h",
                "mlir/Dialect/Math/IR/Math.h", "mlir/Dialect/SCF/IR/SCF.h",
                "mlir/Dialect/Tensor/IR/Tensor.h", "mlir/Dialect/Utils/StaticValueUtils.h",
                "mlir/Interfaces/LoopLikeInterface.h", "mlir/Interfaces/ViewLikeInterface.h"),
    "Algebra": ("llvm/", "mlir/IR/Affine", "isl/"),
    "Interop": ("llvm/", "mlir/IR/Affine"),
    "Solver": ("llvm/ADT/", "llvm/Support/"),
}

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_ANGLED = re.compile(r"^\s*#\s*include\s+<((?:llvm|mlir|layout|isl)[-/][^>]*)>", re.MULTILINE)
_HALVES = ("include/layout/", "lib/")


def library_of(name):
    """Returns the library of a file, or None if it belongs to none."""
    half = next((half for half in _HALVES if name.startswith(half)), None)
    directory = os.path.dirname(name[len(half):]) if half else ""
    if not directory:
        return None
    within = [owner for owner in LIBRARIES if (directory + "/").startswith(owner + "/")]
    return max(within, key=len, default=directory)


def below(owner):
    """Returns the library itself and all its direct and indirect dependencies."""
    return {owner}.union(*(below(other) for other in LIBRARIES.get(owner, ())))


class Tree:
    def __init__(self, root):
        self.root = root
        self.names = source_files(root)
        self.known = set(self.names)
        self.includes = {}  # per file, (line, included path)
        self.reached = {}  # per public header, the upstream headers that it includes directly or indirectly

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
        """Returns the upstream headers that a public header includes directly or indirectly."""
        if header not in self.reached:
            self.reached[header] = set()
            found = set()
            for _, path in self.includes_of(header) if header in self.known else ():
                found |= (self.upstream_of("include/" + path)
                          if path.startswith("layout/") else {path})
            self.reached[header] = found
        return self.reached[header]

    def private_header(self, name, path):
        """Returns the private header that `path` in file `name` refers to, or None."""
        places = [os.path.dirname(name), f"lib/{library_of(name)}"]
        found = [os.path.normpath(os.path.join(place, path)) for place in places]
        return next((header for header in found if header in self.known), None)

    def check_file(self, name):
        owner = library_of(name)
        allowed = UPSTREAM.get(owner, "")
        if owner and owner not in LIBRARIES:
            yield f"{name}: {owner} is not in the table"
        for line, path in self.includes_of(name):
            place = f"{name}:{line}"
            if path.startswith("layout/"):
                other = library_of("include/" + path)
                if owner and other not in below(owner):
                    yield f"{place}: {path} belongs to {other}, which is not a dependency of {owner}"
                    continue
                bad = sorted(header for header in self.upstream_of("include/" + path)
                             if not header.startswith(allowed))
                if bad and other != owner:
                    yield f"{place}: {path} includes {bad[0]}, which {owner} may not include"
            elif path.startswith(("llvm/", "mlir/", "isl/")):
                if not path.startswith(allowed):
                    yield f"{place}: {path}; {owner} may include {', '.join(allowed)}"
            else:
                header = self.private_header(name, path)
                if header and library_of(header) != owner:
                    yield f"{place}: {path} is private to {library_of(header)}"

    def check_links(self):
        libraries = find_libraries(self.root, self.names)
        for name, library in libraries.items():
            owner = library_of(library.list)
            for link in library.links:
                other = library_of(libraries[link].list) if link in libraries else None
                if other not in below(owner):
                    yield f"{library.list}: {name} links {link} of {other}, which is not a " \
                          f"dependency of {owner}"
            allowed = UPSTREAM.get(owner, ("mlir/",))
            if library.has_mlir and not any(prefix.startswith("mlir/") for prefix in allowed):
                yield f"{library.list}: {name} links MLIR but does not include it; use NO_MLIR"


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    tree = Tree(argv[1])
    files = [name for name in tree.names if name.endswith((".h", ".cpp"))]
    problems = [problem for name in files for problem in tree.check_file(name)]
    problems += tree.check_links()
    empty = sorted(set(LIBRARIES) - {library_of(name) for name in files})
    problems += [f"no file belongs to the library {owner}" for owner in empty]
    for problem in problems:
        print(problem)
    print(f"{len(files)} files, {len(LIBRARIES)} libraries, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
