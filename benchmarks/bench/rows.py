"""Measures the rows of a table one by one, e.g. of networks."""

import json
import pathlib
import sys
import tempfile

import numpy as np

from layout_mlir.tools import ToolError, whole_file
from networks import NETWORKS


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


def write_network(name, small, folder):
    """Writes the network and its inputs, and returns the module with the options for these inputs."""
    network = NETWORKS[name]
    network = network.build(network.small_options() if small else network.Options())
    module, inputs = folder / "net.mlir", []
    with open(module, "w", encoding="utf-8") as file:
        network.write(file)
    for array in network.example_inputs():
        inputs.append(f"--input={folder / f'{len(inputs)}.npy'}")
        np.save(inputs[-1].removeprefix("--input="), array)
    return module, inputs
