"""Draws the figures of the documentation, or checks that they are current.

usage: figures.py [--check] TOOL LIST [DIRECTORY]

TOOL is layout-translate, LIST the file that names the figures, DIRECTORY where
they are: by default beside the list. A section of the list is one figure,
`[name]` giving name.svg; its key `layout` is what the tool reads, and every
other key is an option of it:

    [packed]
    layout = #layout.packed_dims<[1, 0, 1 : 4]>
    shape = 6x8
    view = logical

Pictures that the list does not name are removed, or reported by --check.
"""

import argparse
import configparser
import os
import re
import subprocess
import sys

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class FigureError(Exception):
    pass


def read_list(path):
    """The command line of each figure, by its name."""
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",),
                                       comment_prefixes=("#",),
                                       default_section=None)
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except configparser.Error as error:
        raise FigureError(str(error)) from error
    figures = {}
    for name in parser.sections():
        keys = dict(parser[name])
        if not _NAME.fullmatch(name):
            raise FigureError(f"[{name}]: a figure is called by lower-case words "
                              "with '-' between them")
        if "layout" not in keys:
            raise FigureError(f"[{name}]: there is no layout")
        layout = keys.pop("layout")
        figures[name] = [f"--{key}={value}" for key, value in keys.items()] + [layout]
    if not figures:
        raise FigureError(f"{path}: there is no figure in this list")
    return figures


def draw(tool, name, arguments):
    result = subprocess.run([tool, "--layout-to-svg", *arguments],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode:
        raise FigureError(f"[{name}]: {result.stderr.decode(errors='replace')}")
    return result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("tool")
    parser.add_argument("list")
    parser.add_argument("directory", nargs="?")
    arguments = parser.parse_args()
    directory = arguments.directory or os.path.dirname(os.path.abspath(arguments.list))
    try:
        drawn = {name + ".svg": draw(arguments.tool, name, command)
                 for name, command in read_list(arguments.list).items()}
    except (FigureError, OSError) as error:
        print(f"{arguments.list}: {error}")
        return 1

    os.makedirs(directory, exist_ok=True)
    present = {name for name in os.listdir(directory) if name.endswith(".svg")}
    changed = []
    for name in sorted(drawn.keys() | present):
        path = os.path.join(directory, name)
        old = None
        if name in present:
            with open(path, "rb") as file:
                old = file.read()
        if old == drawn.get(name):
            continue
        changed.append(name)
        if arguments.check:
            continue
        if name in drawn:
            with open(path, "wb") as file:
                file.write(drawn[name])
        else:
            os.remove(path)
    if arguments.check and changed:
        print(f"figures are stale: {', '.join(changed)}. Run `./dev docs` and "
              "commit the result.")
        return 1
    if arguments.check:
        print(f"figures are current: {len(drawn)} pictures")
    else:
        print(f"figures: {len(drawn)} pictures, "
              + (f"changed {', '.join(changed)}" if changed else "none changed"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
