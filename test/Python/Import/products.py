# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks ONNX matrix products for all ranks, element types, broadcast batches and equations."""

import pathlib
import sys
import unittest

import numpy as np
import onnx
import onnx.parser

from layout_mlir import onnx_import

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from onnx_nodes import Constant, Nodes  # noqa: E402

RNG = np.random.default_rng(5)


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


class Products(unittest.TestCase):
    def test_matmul(self) -> None:
        nodes = Nodes(13)
        for x, y in (((4,), (4,)), ((4,), (4, 3)), ((2, 4), (4,)), ((2, 4), (4, 3)), ((5, 2, 4), (4, 3)),
                     ((2, 4), (5, 4, 3)), ((5, 2, 4), (5, 4, 3)), ((6, 5, 2, 4), (6, 5, 4, 3)), ((1, 2, 4), (5, 4, 3)),
                     ((6, 1, 2, 4), (5, 4, 3)), ((6, 5, 2, 4), (6, 1, 4, 3)), ((6, 5, 2, 4), (5, 4, 3)),
                     ((4,), (5, 4, 3)),
                     ((5, 2, 4), (4,)), ((2, 0), (0, 3)), ((0, 4), (4, 3)), ((6, 1, 2, 4), (1, 5, 4, 3))):
            nodes.add("MatMul", f32(*x), f32(*y))
            nodes.add("MatMul", f32(*x), f32(*y), dynamic=True)
            nodes.add("MatMul", f32(*x), Constant(f32(*y)))
        for dtype in ("int32", "int64", "uint32", "uint64", "float64"):
            nodes.add("MatMul", RNG.integers(0, 9, (2, 4)).astype(dtype), RNG.integers(0, 9, (3, 4, 2)).astype(dtype))
        x, y = f32(3, 700).astype(np.float16), f32(700, 2).astype(np.float16)
        wide = x.astype(np.float32) @ y.astype(np.float32)
        nodes.add("MatMul", x, y, expected=[wide.astype(np.float16)], atol=0.02)
        nodes.check()

    def test_gemm(self) -> None:
        nodes, a, b = Nodes(13), f32(2, 4), f32(4, 3)
        for trans_a in (0, 1):
            for trans_b in (0, 1):
                x, y = a.T.copy() if trans_a else a, b.T.copy() if trans_b else b
                for shape in ((2, 3), (3,), (2, 1), (1,), ()):
                    nodes.add("Gemm", x, Constant(y), f32(*shape), transA=trans_a, transB=trans_b, alpha=0.5, beta=2.0)
                nodes.add("Gemm", x, y, transA=trans_a, transB=trans_b, alpha=0.5, dynamic=True)
                nodes.add("Gemm", x, y, Constant(f32(3)), transA=trans_a, transB=trans_b, beta=0.25)
        x, y, z = (RNG.integers(-9, 9, shape).astype(np.int32) for shape in ((2, 4), (4, 3), (3,)))
        nodes.add("Gemm", x, y, z, expected=[x @ y + z])
        nodes.add("Gemm", x, y, z, alpha=0.5, beta=2.0, expected=[np.trunc(0.5 * (x @ y)).astype(np.int32) + 2 * z])
        nodes.check()
        nodes = Nodes(6)
        c = f32(3)
        nodes.add("Gemm", a, b, c, broadcast=1, expected=[a @ b + c])
        nodes.check()

    def test_einsum(self) -> None:
        nodes = Nodes(12)
        for equation, *shapes in (
                ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ij->ji", (2, 3)), ("ij->", (2, 3)),
                ("ba", (2, 3)), ("ii->i", (3, 3)), ("ii", (3, 3)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
                ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)), ("bqhd,bkhd->bhqk", (2, 4, 3, 5), (2, 6, 3, 5)),
                ("i,j->ij", (2,), (3,)), ("i,i->", (3,), (3,)), ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
                ("...ij,jk->...ik", (2, 6, 3, 4), (4, 5)), ("...i,...i->...", (2, 3), (1, 3)), ("i...->...", (2, 3, 4)),
                ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("ij,ij,ij->j", (2, 3), (2, 3), (2, 3)),
                ("bij,kj->bki", (2, 3, 4), (5, 4)), ("ijk,jil->kl", (2, 3, 4), (3, 2, 5)),
                ("iij,jk->ik", (3, 3, 2), (2, 4)),
                ("ij , k -> i", (2, 3), (4,)), ("...->...", (2, 3)), (",ij->ij", (), (2, 3))):
            nodes.add("Einsum", *map(lambda shape: f32(*shape), shapes), equation=equation)
            nodes.add("Einsum", *map(lambda shape: f32(*shape), shapes), equation=equation, dynamic=True)
        nodes.add("Einsum", RNG.integers(0, 9, (2, 3)), RNG.integers(0, 9, (3, 2)), equation="ij,jk->ik")
        nodes.check()

    def test_integers(self) -> None:
        nodes = Nodes(21)
        x, y = RNG.integers(0, 256, (3, 8)).astype(np.uint8), RNG.integers(-60, 60, (8, 5)).astype(np.int8)
        zeros = RNG.integers(-9, 9, 5).astype(np.int8)
        for weight in (y, Constant(y)):
            nodes.add("MatMulInteger", x, weight)
            nodes.add("MatMulInteger", x, weight, np.uint8(7), Constant(np.int8([-3])))
            nodes.add("MatMulInteger", x, weight, Constant(np.array(128, np.uint8)), Constant(zeros))
        nodes.add("MatMulInteger", x, y, np.uint8([1, 2, 3]), zeros,
                  expected=[(x.astype(np.int32) - [[1], [2], [3]]).astype(np.int32) @ (y.astype(np.int32) - zeros)])
        nodes.add("MatMulInteger", np.stack([x, x]), y)
        nodes.add("MatMulInteger", y.T.copy(), y)
        scales = RNG.uniform(0.01, 0.02, 5).astype(np.float32)
        for scale, zero in ((np.float32(0.01), np.int8(0)), (scales, np.zeros(5, np.int8))):
            nodes.add("QLinearMatMul", x, np.float32(0.02), np.uint8(100), Constant(y), Constant(scale), Constant(zero),
                      np.float32(0.3), np.uint8(120))
        nodes.check()

    def test_determinants(self) -> None:
        nodes = Nodes(22)
        for shape in ((3, 3), (2, 4, 4), (1, 1), (2, 1, 2, 2)):
            x = f32(*shape)
            nodes.add("Det", x, expected=[np.linalg.det(x)], dynamic=shape == (2, 4, 4), atol=1e-4)
        nodes.add("Det", np.float32([[0, 1], [1, 0]]), expected=[np.float32(-1)])
        nodes.add("Det", np.float32([[1, 2], [2, 4]]), expected=[np.float32(0)])
        nodes.check()

    def test_fused(self) -> None:
        nodes, domain = Nodes(17), {"domain": "com.microsoft"}
        nodes.add("FusedMatMul", f32(2, 4, 3), f32(2, 5, 4), transA=1, transB=1, alpha=0.5, **domain)
        nodes.add("FusedMatMul", f32(4, 2, 3), f32(2, 3, 5), transBatchA=1, **domain)
        nodes.add("FusedMatMul", f32(3, 2, 4), f32(2, 3, 5), transBatchA=1, transA=1, **domain)
        for activation, more in (("Relu", {}), ("Tanh", {}), ("LeakyRelu", {"activation_alpha": 0.3}),
                                 ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4})):
            nodes.add("FusedGemm", f32(2, 4), f32(4, 3), f32(3), activation=activation, **more, **domain)
        x, bias = f32(2, 3, 8), f32(8)
        nodes.add("BiasGelu", x, bias, **domain)
        nodes.add("FastGelu", x, bias, **domain)
        nodes.add("FastGelu", x, **domain)
        nodes.add("QuickGelu", x, **domain)
        nodes.add("Gelu", x, **domain)
        for bits, k in ((4, 32), (4, 40), (8, 64)):
            count = -(-k // 32)
            weight = RNG.integers(0, 256, (6, count, 32 * bits // 8)).astype(np.uint8)
            scales = RNG.uniform(0.01, 0.1, (6 * count)).astype(np.float32)
            zeros = RNG.integers(0, 256, 6 * -(-count * bits // 8)).astype(np.uint8)
            for operands in ((), (Constant(zeros),)):
                nodes.add("MatMulNBits", f32(3, k), Constant(weight), Constant(scales), *operands, N=6, K=k, bits=bits,
                          block_size=32, atol=1e-4, **domain)
        nodes.check()

    def test_weights_of_unrolled_steps_are_one_constant(self) -> None:
        model = onnx.parser.parse_model("""
            <ir_version: 8, opset_import: ["" : 17]>
            g (float[2,64] x) => (float[2,64] z) {
              y = Gemm <transB = 1> (x, w)
              z = Gemm <transB = 1> (y, w)
            }""")
        model.graph.initializer.append(onnx.numpy_helper.from_array(f32(64, 64), "w"))
        _, arrays = onnx_import.lower_to_text(onnx_import.prepare_checked(model))
        self.assertEqual([array.shape for array in arrays.values()], [(64, 64)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
