"""Reads lists of mutants, and plants them in copies of sources.

A list, scripts/mutants/LIBRARY.txt, holds single bugs that a developer might write:

    tests: test/Unit/LayoutAnalysisTests test/Analysis
    == lib/Targets/CPU/CpuModel.cpp
    - bytes written are counted as read
      cost.read += @bytes => 2 * bytes@;
    - the last box is left out
      survives: no test can tell, for the box before it covers the same bytes
      @boxes.push_back(box); => @

The code of an entry must occur exactly once in its file; white space is ignored. The text between the two @ is
`original => replacement`. Both are expressions, or both are statements; a replacement statement may be empty.
`survives:` states why no test catches a bug that is worth keeping in the list.

All mutants are planted in one copy of the sources, and the environment variable LAYOUT_MUTANT activates the one with
that number. Numbers are hashes of file and code, so that they do not change when a list grows. If LAYOUT_MUTANT_TRACE
names a file, a process appends the numbers of the mutants that it reaches.
"""

import dataclasses
import os
import zlib

HEADER_NAME = "LayoutMutant.h"
HEADER = """\
#pragma once
#include <cstdio>
#include <cstdlib>
#include <set>
namespace {
struct LayoutMutants {
  int planted = 0;
  const char *trace = std::getenv("LAYOUT_MUTANT_TRACE");
  std::set<int> met;
  LayoutMutants() {
    if (const char *text = std::getenv("LAYOUT_MUTANT"))
      planted = std::atoi(text);
  }
};
inline bool layoutMutant(int number) {
  static LayoutMutants mutants;
  if (mutants.trace && mutants.met.insert(number).second)
    if (std::FILE *file = std::fopen(mutants.trace, "a")) {
      std::fprintf(file, "%d\\n", number);
      std::fclose(file);
    }
  return number == mutants.planted;
}
} // namespace
"""


class ListError(Exception):
    """Raised for invalid lists; the message has one line per problem."""


@dataclasses.dataclass
class Mutant:
    library: str
    file: str
    description: str
    place: str  # list and line of the entry, for messages
    code: str = ""
    survives: str = ""
    # Offsets into the file, set by `locate`.
    start: int = 0
    end: int = 0

    @property
    def number(self):
        text = self.file + "".join(self.code.split())
        return 1000000 + zlib.crc32(text.encode()) % 9000000

    @property
    def parts(self):
        """Returns the code before the change, the original, the replacement, and the code after it."""
        before, change, behind = self.code.split("@")
        original, replacement = change.split("=>", 1)
        return before, original, replacement, behind


@dataclasses.dataclass
class Library:
    name: str
    tests: list
    mutants: list


def read_lists(directory):
    """Reads all lists of a directory, one per library."""
    libraries, problems = [], []
    for name in sorted(os.listdir(directory)):
        if not name.endswith(".txt"):
            continue
        library = Library(name[:-len(".txt")], [], [])
        libraries.append(library)
        file = None
        with open(os.path.join(directory, name), encoding="utf-8") as lines:
            for position, line in enumerate(lines, 1):
                line = line.rstrip()
                if not line or line.startswith("#"):
                    continue
                if line.startswith("tests:"):
                    library.tests += line[len("tests:"):].split()
                elif line.startswith("== "):
                    file = line[3:].strip()
                elif line.startswith("- ") and file:
                    library.mutants.append(Mutant(library.name, file, line[2:].strip(),
                                               f"{name}:{position}"))
                elif line.startswith(" ") and library.mutants:
                    mutant, text = library.mutants[-1], line.strip()
                    if text.startswith("survives:"):
                        mutant.survives = text[len("survives:"):].strip()
                    elif mutant.survives and not mutant.code and "@" not in text:
                        mutant.survives += " " + text
                    else:
                        mutant.code += ("\n" if mutant.code else "") + text
                else:
                    problems.append(f"{name}:{position}: this is no line of a list: {line}")
        if not library.tests:
            problems.append(f"{name}: no line `tests:` names the tests of the list")
        problems += [f"{mutant.place}: the code must hold one '@there => instead@'"
                     for mutant in library.mutants
                     if mutant.code.count("@") != 2 or "=>" not in mutant.code.split("@")[1]]
    known = {}
    for mutant in (mutant for library in libraries for mutant in library.mutants):
        other = known.setdefault(mutant.number, mutant)
        if other is not mutant:
            problems.append(f"{mutant.place} and {other.place} have the same number")
    if problems:
        raise ListError("\n".join(problems))
    return libraries


def _squeeze(text):
    """Returns the text without white space, and the original offset of each character."""
    places = [i for i, character in enumerate(text) if not character.isspace()]
    return "".join(text[i] for i in places), places


def locate(mutants, text):
    """Sets the offsets of the mutants of one file; returns a message for each that does not occur exactly once."""
    squeezed, places = _squeeze(text)
    problems = []
    for mutant in mutants:
        before, original, _, behind = (_squeeze(part)[0] for part in mutant.parts)
        whole = before + original + behind
        count = squeezed.count(whole) if original else 0
        if count != 1:
            problems.append(f"{mutant.place}: {mutant.file} has this code {count} times, "
                            f"not once: {mutant.description}")
            continue
        first = squeezed.index(whole) + len(before)
        mutant.start, mutant.end = places[first], places[first + len(original) - 1] + 1
    return problems


def _render(text, start, end, mutants):
    """Returns text[start:end] with its mutants planted; mutants may be nested."""
    result, position = "", start
    pending = sorted(mutants, key=lambda mutant: (mutant.start, -mutant.end))
    while pending:
        outer = pending.pop(0)
        inner = [mutant for mutant in pending if mutant.start < outer.end]
        pending = pending[len(inner):]
        for mutant in inner:
            if mutant.end > outer.end:
                raise ListError(f"{mutant.place} and {outer.place} change code that overlaps")
        original = _render(text, outer.start, outer.end, inner)
        replacement = outer.parts[2].strip()
        if text[outer.start:outer.end].rstrip()[-1] in ";}" and not replacement.startswith("{"):
            guarded = (f"{{ if (layoutMutant({outer.number})) {{ {replacement} }} "
                       f"else {{ {original} }} }}")
        else:
            guarded = f"(layoutMutant({outer.number}) ? ({replacement}) : ({original}))"
        result += text[position:outer.start] + guarded
        position = outer.end
    return result + text[position:end]


def by_file(libraries):
    files = {}
    for library in libraries:
        for mutant in library.mutants:
            files.setdefault(mutant.file, []).append(mutant)
    return files


def plant(root, libraries):
    """Returns the mutated text of each file that has mutants, by name."""
    result, problems = {}, []
    for name, mutants in by_file(libraries).items():
        path = os.path.join(root, name)
        if not os.path.isfile(path):
            problems.append(f"{mutants[0].place}: there is no file {name}")
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        stale = locate(mutants, text)
        problems += stale
        if not stale:
            result[name] = f'#include "{HEADER_NAME}"\n' + _render(text, 0, len(text), mutants)
    if problems:
        raise ListError("\n".join(problems))
    return result
