# REQUIRES: torch, python-extension
# RUN: %torch_python %s
"""Checks that the linalg which the installed torch-mlir writes, as text and as bytecode of MLIR 24, computes what
PyTorch computes."""

import io
import pathlib
import sys
import tempfile
import unittest

import torch
from torch import nn
from torch_mlir import fx

import layout_mlir


class Producer(unittest.TestCase):
    def test_model(self):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
                              nn.Linear(72, 5), nn.Softmax(-1)).eval()
        x = torch.randn(2, 3, 8, 8)
        module = fx.export_and_import(model, x, output_type="linalg-on-tensors")
        bytecode = io.BytesIO()
        module.operation.write_bytecode(bytecode)
        self.assertIn(b"MLIR24", bytecode.getvalue()[:20])
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            for name, content in (("a.mlir", str(module).encode()), ("a.mlirbc", bytecode.getvalue())):
                with self.subTest(name):
                    path = pathlib.Path(folder, name)
                    path.write_bytes(content)
                    found = layout_mlir.compile(path)(x.numpy())
                    torch.testing.assert_close(torch.from_numpy(found), model(x))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
