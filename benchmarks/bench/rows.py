"""The rows of a table, each measured on its own."""

import json
import pathlib
import sys
import tempfile

from layout_mlir.tools import ToolError, whole_file


def measure_rows(names, measure, show):
    """What measure(name, folder) gives for each name, printed as show(row) at once; and whether none failed.
    The folder is an empty one."""
    rows = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
            try:
                rows.append(measure(name, pathlib.Path(scratch)))
            except ToolError as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
        print(show(rows[-1]), flush=True)
    return rows, len(rows) == len(names)


def write_json(path, **values):
    """To the file that --json names, if there is one."""
    if path:
        with whole_file(path) as file:
            file.write(json.dumps(values, indent=1) + "\n")
