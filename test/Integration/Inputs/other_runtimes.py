#!/usr/bin/python3
"""Stands in for the Python with other runtimes: OpenVINO returns wrong results, IREE ends at once, and the others are
those of $REAL_PYTHON."""

import json
import os
import pathlib
import sys

import numpy as np

_, _, _, runtime, _, _, folder = sys.argv
if runtime == "OpenVINO":
    result = np.load(pathlib.Path(folder) / "ONNX Runtime.00.npy")
    np.save(pathlib.Path(folder) / f"{runtime}.00.npy", 1.01 * result)
    print(json.dumps({"version": "1.0", "seconds": 1, "bytes": 1}), flush=True)
    sys.stdin.read()
elif runtime == "IREE":
    sys.exit("no such device")
else:
    os.execv(os.environ["REAL_PYTHON"], [os.environ["REAL_PYTHON"], *sys.argv[1:]])
