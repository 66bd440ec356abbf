# REQUIRES: python-extension, onnx, jax
# RUN: %python %s
"""Checks that functions which JAX exports compute what JAX computes, by the lines of docs/embedding.md, and that JAX
gives no warning of the process in which they are imported."""

import pathlib
import tempfile
import unittest
import warnings

import jax
import layout_mlir
import numpy as np
from jax import numpy as jnp

RNG = np.random.default_rng(0)


def dense(x, w, b):
    return jax.nn.relu(x @ w + b)


def attend(x, w):
    q, k, v = jnp.split(x @ w, 3, -1)
    return jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]), -1) @ v


def convolve(x, w):
    y = jax.lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jax.nn.silu(y), jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "VALID")


class Exports(unittest.TestCase):
    def compile(self, f, *shapes):
        """Returns the compiled function, for arrays or for shapes."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "f.bc")
            exported = jax.export.export(jax.jit(f))(*shapes)
            path.write_bytes(exported.mlir_module_serialized)
            with warnings.catch_warnings(record=True) as caught:
                program = layout_mlir.compile(path)
            self.assertEqual([each.message for each in caught], [])
            return program

    def check(self, program, f, *arrays):
        results, wanted = program(*arrays), f(*arrays)
        if not isinstance(wanted, tuple):
            results, wanted = [results], [wanted]
        for result, want in zip(results, wanted, strict=True):
            np.testing.assert_allclose(result, np.asarray(want), rtol=1e-4, atol=1e-5)

    def draw(self, *shapes):
        return [RNG.standard_normal(shape, np.float32) for shape in shapes]

    def test_static_shapes(self):
        for f, shapes in ((dense, ((4, 8), (8, 16), (16,))), (dense, ((1, 1), (1, 1), (1,))),
                          (attend, ((2, 5, 12), (12, 21))), (convolve, ((1, 13, 9, 3), (3, 3, 3, 20)))):
            with self.subTest(f.__name__, shapes=shapes):
                arrays = self.draw(*shapes)
                self.check(self.compile(f, *arrays), f, *arrays)

    def test_dynamic_batch(self):
        x = jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 8"), np.float32)
        w, b = self.draw((8, 5), (5,))
        program = self.compile(dense, x, w, b)
        for batch in (1, 3, 7):
            self.check(program, dense, *self.draw((batch, 8)), w, b)


if __name__ == "__main__":
    unittest.main()
