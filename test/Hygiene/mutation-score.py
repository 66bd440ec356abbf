# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %layout_src_root/scripts %t %host_cxx | FileCheck %s
# Check mutation testing of a program with four functions: the planted code, the caught mutants, the counts, and the
# errors for invalid lists.
import argparse
import os
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
import mutant_lists
import mutant_tests
import mutate

SOURCE = """
int area(int w, int h) { return w * h; }
int last(int n) {
  int i = 0;
  while (i + 1 < n) {
    i += 1;
  }
  return i;
}
int clamp(int x) {
  if (x > 9)
    return 9;
  return x;
}
int next(int x) { return x + 1; }
int main(int, char **arguments) {
  switch (arguments[1][0]) {
  case 'a':
    return area(2, 3) != 6;
  case 'l':
    return last(4) != 3;
  case 'c':
    return clamp(5) != 5;
  }
  return 1;
}
"""
LIST = """
tests: test/Toy
# A comment.
== lib/Toy.cpp
- a sum instead of a product
  return @w * h => w + h@;
- the loop does not move
  while (i + 1 < n) {
  @i += 1; => @
- the bound is one less
  if (@x > 9 => x > 8@)
- nothing is cut
  survives: no caller passes more than 9,
  which is no test's fault
  @if (x > 9) return 9; => @
- the next is the same
  return @x + 1 => x@;
"""


def plant(directory, source, text):
    for path, content in ("lib/Toy.cpp", source), ("scripts/mutants/Toy.txt", text):
        path = os.path.join(directory, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
    libraries = mutant_lists.read_lists(os.path.join(directory, "scripts", "mutants"))
    return libraries, mutant_lists.plant(directory, libraries)


def refuse(source, text):
    try:
        plant(sys.argv[2], source, text)
        print("taken")
    except mutant_lists.ListError as error:
        print("refused:", error)


def main():
    directory = sys.argv[2]
    libraries, planted = plant(directory, SOURCE, LIST)
    mutated = os.path.join(directory, "mutated")
    planted["include/" + mutant_lists.HEADER_NAME] = mutant_lists.HEADER
    mutate.copy_tree(directory, mutated, planted)
    program = os.path.join(directory, "toy")
    subprocess.run([sys.argv[3], "-I" + os.path.join(mutated, "include"), "-o", program,
                    os.path.join(mutated, "lib/Toy.cpp")], check=True)
    tests = [mutant_tests.Command(name, [program, name], directory)
             for name in ("area", "last", "clamp", "fails")]
    mutate.GRACE = 0.5
    baseline = mutate.measure_all(tests, 2, os.path.join(directory, "baseline.json"))
    print("in order:", sorted(baseline))
    # CHECK: in order: ['area', 'clamp', 'last']
    results = {}
    for mutant in libraries[0].mutants:
        number, outcome, test = mutate.run_mutant(mutant, tests, baseline)
        results[number] = outcome, test
    print("\n".join(mutate.score(libraries, results)))
    # CHECK: {{[0-9]+}} Toy.txt:5 caught by area: a sum instead of a product
    # CHECK: {{[0-9]+}} Toy.txt:7 caught by last: the loop does not move
    # CHECK: {{[0-9]+}} Toy.txt:10 SURVIVED: the bound is one less
    # CHECK: {{[0-9]+}} Toy.txt:12 SURVIVED: nothing is cut (no caller passes more than 9, which is no test's fault)
    # CHECK: {{[0-9]+}} Toy.txt:16 MET BY NO TEST: the next is the same
    # CHECK: Toy: 5 mutants, 2 caught (40.0 %), 3 survived, 1 of them with a reason, 1 met by no test
    # CHECK: all: 5 mutants, 2 caught (40.0 %)
    results[libraries[0].mutants[3].number] = mutate.CAUGHT, "clamp"
    print(mutate.score(libraries, results)[-1])
    # CHECK: 1 caught in spite of a reason: take it out of the list
    only = argparse.Namespace(library=[], only=[libraries[0].mutants[1].number])
    text = mutant_lists.plant(directory, mutate.restrict(libraries, only))["lib/Toy.cpp"]
    print(f"planted: {text.count('layoutMutant(')}, the loop does not move: {'{  } else { i += 1; }' in text}")
    # CHECK: planted: 1, the loop does not move: True

    head = "tests: test/Toy\n== lib/Toy.cpp\n- a bug\n  "
    refuse(SOURCE, head + "return @w / h => w@;")
    # CHECK: refused: Toy.txt:3: lib/Toy.cpp has this code 0 times, not once: a bug
    refuse(SOURCE, head + "return @x => 0@")
    # CHECK: refused: Toy.txt:3: lib/Toy.cpp has this code 2 times, not once: a bug
    refuse(SOURCE, head + "return w * h;")
    # CHECK: refused: Toy.txt:3: the code must hold one '@there => instead@'
    refuse(SOURCE, head + "return @w * h => w@;\n- b\n  w * @h; } int last => 0@(int n)")
    # CHECK: refused: Toy.txt:{{[0-9]+}} and Toy.txt:{{[0-9]+}} change code that overlaps
    refuse(SOURCE, head + "return @w * h => w@;\n- a bug\n  return @w * h => w@;")
    # CHECK: refused: Toy.txt:5 and Toy.txt:3 have the same number
    refuse(SOURCE, head.replace("Toy.cpp", "Gone.cpp") + "return @w * h => w@;")
    # CHECK: refused: Toy.txt:3: there is no file lib/Gone.cpp
    refuse(SOURCE, head[head.index("=="):] + "return @w * h => w@;")
    # CHECK: refused: Toy.txt: no line `tests:` names the tests of the list
    # Line breaks in the code do not matter.
    refuse(SOURCE.replace("w * h", "w *\n    h"), head + "return @w * h => w@;")
    # CHECK: taken


main()
