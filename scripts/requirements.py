"""usage: requirements.py ROOT NAME

Prints a list of Python packages of pyproject.toml, a line for each: what the package `needs`,
or that of an extra or a group.
"""

import pathlib
import sys
import tomllib


def main(root, name):
    content = tomllib.loads((pathlib.Path(root) / "pyproject.toml").read_text(encoding="utf-8"))
    project = content["project"]
    lists = {"needs": project["dependencies"], **project["optional-dependencies"],
             **content["dependency-groups"]}
    print("\n".join(lists[name]))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
