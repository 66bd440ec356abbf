#!/usr/bin/env python3
"""Stands in for the Python with pyopencl: answers like the process of `bench --mace`."""
import json
import os
import pathlib
import sys

folder, package, op = sys.argv[sys.argv.index("-P") + 2:]
assert (pathlib.Path(folder) / "matmul.cl").is_file() and json.loads(op)["seconds"] == 1
assert json.loads((pathlib.Path(package) / "manifest.json").read_text())["inputs"]
print(json.dumps({"ours": 2.0, "mace": 4.0, "ratio": 0.5, "written_ratio": 0.6, "rounds": 3, "same_image": True,
                  "difference": float(os.environ["DIFFERENCE"]), "mace_difference": 1e-7}))
