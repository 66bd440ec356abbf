"""Reads from the CMakeLists.txt files below lib which libraries they define."""

import dataclasses
import os
import re

_LIBRARY = re.compile(r"\b(?:layout_)?add_library\(\s*(\w+)([^()]*)\)")
_KEYWORD = re.compile(r"\b(DEPENDS|LINK|PRECOMPILED|NO_MLIR)\b")


@dataclasses.dataclass
class Library:
    list: str  # the path of its CMakeLists.txt
    sources: list
    links: list  # only libraries of this project
    has_mlir: bool

    @property
    def directory(self):
        return os.path.dirname(self.list)


def find_libraries(root, names):
    """Returns the libraries, by name, that the CMakeLists.txt files among `names` define.

    If a library is defined twice, the last definition counts: it is the one of the full build.
    """
    libraries = {}
    for name in names:
        if not name.startswith("lib/") or os.path.basename(name) != "CMakeLists.txt":
            continue
        with open(os.path.join(root, name), encoding="utf-8") as file:
            text = re.sub(r"#.*", "", file.read())
        for library, arguments in _LIBRARY.findall(text):
            parts = _KEYWORD.split(arguments)
            keywords = parts[1::2]
            links = [word for keyword, words in zip(keywords, parts[2::2])
                     if keyword == "LINK" for word in words.split() if word.startswith("Layout")]
            sources = [os.path.normpath(os.path.join(os.path.dirname(name), word))
                       for word in parts[0].split() if word.endswith(".cpp")]
            libraries[library] = Library(name, sources, links, "NO_MLIR" not in keywords)
    return libraries
