"""Prints the directories that installed files name, each with the first such file.

usage: directories.py PREFIX LLVM_DIRECTORY FORBIDDEN..

Searches every file for the FORBIDDEN directories, CMake files for all quoted absolute paths, and programs and modules
for the search paths of the loader. Only LLVM_DIRECTORY is expected in the latter two; it is printed as LLVM.
"""

import pathlib
import re
import subprocess
import sys

prefix, llvm, *forbidden = sys.argv[1:]
found = {}


def add(name, path):
    found.setdefault("LLVM" if name.startswith(llvm) else name, path)


for path in sorted(pathlib.Path(prefix).rglob("*")):
    if not path.is_file():
        continue
    data = path.read_bytes()
    for name in forbidden:
        if name.encode() in data:
            add(name, path)
    if path.suffix == ".cmake":
        for name in re.findall(r'["; :](/[^/"; >][^"; >]*)', data.decode()):
            add(name, path)
    elif data.startswith(b"\x7fELF"):
        dynamic = subprocess.run(["readelf", "-d", str(path)], stdout=subprocess.PIPE, check=True,
                                 text=True).stdout
        for names in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
            for name in names.split(":"):
                add(name, path)
for name, path in sorted(found.items()):
    print(f"{name} in {path.relative_to(prefix)}")
