"""Measures the rows of a table one by one."""

import json
import pathlib
import sys
import tempfile

from layout_mlir.tools import ToolError, whole_file


def measure_rows(names, measure, show):
    """Prints show(row), if there is a `show`, for the row that measure(name, folder) returns for each name; `folder` is
    empty. Returns the rows, and true if no measurement failed."""
    rows = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
            try:
                rows.append(measure(name, pathlib.Path(scratch)))
            except ToolError as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
        if show:
            print(show(rows[-1]), flush=True)
    return rows, len(rows) == len(names)


def write_json(path, **values):
    """Writes the values to the file of --json, if it was given."""
    if path:
        with whole_file(path) as file:
            file.write(json.dumps(values, indent=1) + "\n")
