"""usage: requirements.py ROOT NAME

Prints a list of Python packages of pyproject.toml, one per line: the dependencies of the package if NAME is `needs`,
otherwise the optional dependencies or the dependency group of that name.
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
