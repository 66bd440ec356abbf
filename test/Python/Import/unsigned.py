# REQUIRES: onnx, python-extension
# RUN: %python %s
"""Checks that unsigned integers stay unsigned at the boundary: in compile, and in the files of layout-run."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx.parser
from layout_mlir import compile
from layout_mlir.tools import run_tool

MODEL = """<ir_version: 9, opset_import: ["" : 18]>
  unsigned (TYPE[n, 3] x, TYPE[3] y) => (TYPE[n, 3] sum, TYPE[n, 3] quotient, TYPE[n, 3] most, bool[n, 3] less, float[n, 3] real) {
    sum = Add (x, y)
    quotient = Div (x, y)
    most = Max (x, y)
    less = Less (x, y)
    real = Cast <to = 1> (x)
  }"""


class Unsigned(unittest.TestCase):
    def check(self, got, x, y):
        wanted = [x + y, x // y, np.maximum(x, y), x < y, x.astype("f4")]
        for a, b in zip(got, wanted, strict=True):
            self.assertEqual((a.dtype, a.tolist()), (b.dtype, b.tolist()))

    def test_all_widths(self):
        for name in ("uint8", "uint16", "uint32", "uint64"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "model.onnx")
                onnx.save(onnx.parser.parse_model(MODEL.replace("TYPE", name)), path)
                most = np.iinfo(name).max
                x, y = np.array([[most, 200, 3], [1, most // 2 + 1, 0]], name), np.array([2, 100, most], name)
                self.check(compile(path)(x, y), x, y)
                self.check(self.run_by_tools(path, x, y), x, y)

    def run_by_tools(self, path, *inputs):
        folder = path.parent
        subprocess.run([sys.executable, "-m", "layout_mlir.onnx_import", path, "-o", folder / "m.mlirbc"], check=True)
        run_tool("layout-opt", folder / "m.mlirbc", "--layout-to-cpu=target={#layout.cpu<lanes = 16>}", "-o",
                 folder / "l.mlir")
        for number, array in enumerate(inputs):
            np.save(folder / f"in{number}.npy", array)
        run_tool("layout-run", folder / "l.mlir", *[f"--input={folder}/in{number}.npy" for number in range(len(inputs))],
                 *[f"--output={folder}/out{number}.npy" for number in range(5)])
        return [np.load(folder / f"out{number}.npy") for number in range(5)]


unittest.main()
