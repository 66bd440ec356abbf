"""The ONNX operators, one file for each kind. Importing a file adds its operators to the table of node.py."""

import functools
import importlib
import pathlib
from collections.abc import Callable


@functools.cache
def _sources() -> dict[str, str]:
    """Returns the texts of the files that are not imported yet, by module name."""
    return {path.stem: path.read_text() for path in sorted(pathlib.Path(__file__).parent.glob("[!_]*.py"))}


def load(name: str, is_found: Callable[[], bool]) -> None:
    """Imports files until the operator `name` is found, or all of them: those that register it first, then those that
    mention it. To import all takes longer than the import of a small model."""
    sources, quoted = _sources(), f'"{name}"'
    named = sorted((each for each in sources if quoted in sources[each]),
                   key=lambda each: f"operator({quoted}" not in sources[each])
    for module in [*named, *(each for each in sources if each not in named)]:
        if is_found():
            return
        importlib.import_module(f"{__name__}.{module}")
        del sources[module]


def load_all() -> None:
    load("", lambda: False)
