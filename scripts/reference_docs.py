"""Compares the committed reference pages with those generated from the .td files, or updates them.

usage: reference_docs.py [--update] GENERATED COMMITTED

GENERATED is the build's docs/reference. `GENERATED.index` names the pages that the current .td files generate, so that
pages of an earlier build are ignored.
"""

import argparse
import difflib
import os
import sys


def read_pages(directory, names):
    pages = {}
    for name in names:
        with open(os.path.join(directory, name), encoding="utf-8") as file:
            pages[name] = file.read()
    return pages


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("generated")
    parser.add_argument("committed")
    arguments = parser.parse_args()

    with open(arguments.generated + ".index", encoding="utf-8") as file:
        expected = read_pages(arguments.generated, file.read().split())
    present = []
    if os.path.isdir(arguments.committed):
        present = [name for name in sorted(os.listdir(arguments.committed))
                   if name.endswith(".md")]
    committed = read_pages(arguments.committed, present)

    changed = []
    for name in sorted(expected.keys() | committed.keys()):
        if expected.get(name) == committed.get(name):
            continue
        changed.append(name)
        path = os.path.join(arguments.committed, name)
        if not arguments.update:
            sys.stdout.writelines(difflib.unified_diff(
                committed.get(name, "").splitlines(True),
                expected.get(name, "").splitlines(True),
                f"docs/reference/{name}", f"generated from the .td files/{name}"))
        elif name in expected:
            os.makedirs(arguments.committed, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(expected[name])
        else:
            os.remove(path)

    if arguments.update:
        print(f"docs/reference: {len(expected)} pages, "
              + (f"changed {', '.join(changed)}" if changed else "none changed"))
        return 0
    if changed:
        print(f"docs/reference is stale: {', '.join(changed)}. Run `./dev docs` and commit the result.")
        return 1
    print(f"docs/reference is current: {len(expected)} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
