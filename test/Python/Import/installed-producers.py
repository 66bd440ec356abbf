# REQUIRES: python-extension, onnx, jax, triton
# RUN: %python %s
"""Checks that text and bytecode which the installed IREE and jaxlib write are compiled, and that TTGIR of the installed
Triton is refused. test/Python/Torch/producer.py checks torch-mlir."""

import io
import pathlib
import tempfile
import unittest

import jax
import layout_mlir
import numpy as np
import triton
from iree.compiler import ir
from jax import numpy as jnp
from triton import language as tl

LINALG = """
#map = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
func.func @main(%x: tensor<3x4xf32>, %y: tensor<4x3xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.generic {indexing_maps = [#map, #transposed, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<3x4xf32>, tensor<4x3xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
"""


def to_bytecode(operation):
    file = io.BytesIO()
    operation.write_bytecode(file)
    return file.getvalue()


def subtract(x, y):
    return x - jnp.transpose(y)


@triton.jit
def double(x, y, size: tl.constexpr):
    at = tl.arange(0, size)
    tl.store(y + at, tl.load(x + at) * 2)


class Producers(unittest.TestCase):
    def check(self, suffix, content, version):
        """Compiles a file with the function `subtract`. Bytecode has the producer `version`."""
        x, y = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((4, 3), np.float32) * 5
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "module" + suffix)
            path.write_bytes(content)
            np.testing.assert_array_equal(layout_mlir.compile(path)(x, y), x - y.T)
        if version:
            self.assertRegex(content[:40], version)

    def test_iree(self):
        with ir.Context():
            module = ir.Module.parse(LINALG)
            self.check(".mlir", str(module).encode(), None)
            self.check(".mlirbc", to_bytecode(module.operation), b"MLIR2[3-9]")
            # The location of each op has its place in bytecode, too.
            self.check(".mlir", module.operation.get_asm(enable_debug_info=True).encode(), None)

    def test_jaxlib(self):
        jitted, shapes = jax.jit(subtract), (jnp.ones((3, 4)), jnp.ones((4, 3)))
        module = jitted.lower(*shapes).compiler_ir("stablehlo")
        self.check(".mlir", str(module).encode(), None)
        self.check(".mlirbc", to_bytecode(module.operation), b"MLIR2[3-9]")
        self.check(".mlirbc", jax.export.export(jitted)(*shapes).mlir_module_serialized, b"StableHLO_v1")

    def test_triton(self):
        source = triton.compiler.ASTSource(double, {"x": "*fp32", "y": "*fp32", "size": "constexpr"}, {"size": 64})
        kernel = triton.compile(source, target=triton.backends.compiler.GPUTarget("cuda", 80, 32))
        for stage, construct in (("ttgir", r'#"?ttg'), ("ttir", "tt.func")):
            with self.subTest(stage), self.assertRaisesRegex(layout_mlir.LayoutError, construct):
                layout_mlir.compile(kernel.asm[stage])
        # Triton itself writes text only.
        self.assertFalse([name for name in dir(triton._C.libtriton.ir.module) if "bytecode" in name])


if __name__ == "__main__":
    unittest.main()
