# REQUIRES: python-extension, onnx
# RUN: %python %s %t
"""Checks recurrent operators and Fourier transforms against ONNX Runtime, NumPy or the onnx package's reference:
lengths of sequences, clipping, activations with parameters, peepholes, long transforms, windows."""

from __future__ import annotations

import pathlib
import sys
import unittest
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import layout_mlir
from layout_mlir import onnx_import

WORK = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path("/tmp/recurrent-and-signals")
RNG = np.random.default_rng(5)
Array = NDArray[Any]
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def f32(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


class Model:
    """Nodes with their own inputs; `dynamic` omits the sizes of inputs with more than one dim."""

    def __init__(self, dynamic: bool = True, opset: int = 17) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self.given: dict[str, Array] = {}
        self.dynamic, self.opset = dynamic, opset

    def add(self, op: str, inputs: list[Array | None], outputs: int = 1, **attributes: Any) -> None:
        number, names = len(self.nodes), []
        for place, x in enumerate(inputs):
            names.append("" if x is None else f"n{number}_{place}")
            if x is not None:
                is_dynamic = self.dynamic and place == 0 and x.ndim > 1
                shape = [f"{names[-1]}_{dim}" if is_dynamic and dim < x.ndim - 1 else size
                         for dim, size in enumerate(x.shape)]
                self.inputs.append(helper.make_tensor_value_info(
                    names[-1], helper.np_dtype_to_tensor_dtype(x.dtype), shape))
                self.given[names[-1]] = x
        while names[-1] == "":
            names.pop()
        made = [f"out{number}_{place}" for place in range(outputs)]
        self.nodes.append(helper.make_node(op, names, made, **attributes))
        self.outputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in made]

    def recurrent(self, op: str, steps: int, batch: int, lengths: list[int] | None = None, initial: bool = False,
                  peepholes: bool = False, bias: bool = True, **attributes: Any) -> None:
        count, gates, hidden, width = 1 + (attributes.get("direction") == "bidirectional"), GATES[op], 4, 3
        is_lstm = op == "LSTM"
        self.add(op, [f32(steps, batch, width), f32(count, gates * hidden, width) / 2,
                      f32(count, gates * hidden, hidden) / 2, f32(count, 2 * gates * hidden) if bias else None,
                      None if lengths is None else np.array(lengths, np.int32),
                      f32(count, batch, hidden) if initial else None,
                      f32(count, batch, hidden) if initial and is_lstm else None,
                      f32(count, 3 * hidden) if peepholes else None],
                 3 if is_lstm else 2, hidden_size=hidden, **attributes)

    @property
    def proto(self) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, "nodes", self.inputs, self.outputs)
        return helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)])

    def run(self) -> list[Array]:
        WORK.mkdir(parents=True, exist_ok=True)
        path = WORK / "model.mlirbc"
        path.write_bytes(onnx_import.lower(onnx_import.prepare_checked(self.proto)))
        made = layout_mlir.compile(str(path))(*[x.copy() for x in self.given.values()])
        return list(made) if isinstance(made, (tuple, list)) else [made]


class Operators(unittest.TestCase):
    def equal(self, got: list[Array], want: list[Any], tolerance: float = 1e-5) -> None:
        self.assertEqual(len(got), len(want))
        for one, other in zip(got, want):
            np.testing.assert_allclose(one, other, tolerance, tolerance * max(1, np.abs(other).max()))

    def by_runtime(self, model: Model) -> None:
        self.equal(model.run(), onnxruntime.InferenceSession(model.proto.SerializeToString()).run(None, model.given))

    def by_reference(self, model: Model) -> None:
        self.equal(model.run(), ReferenceEvaluator(model.proto).run(None, model.given))

    def test_recurrent(self) -> None:
        model = Model()
        for op in GATES:
            model.recurrent(op, 5, 3, [5, 0, 2], True, direction="bidirectional", clip=0.4)
            model.recurrent(op, 4, 1, bias=False, direction="reverse")
        model.recurrent("GRU", 4, 2, [4, 2], True, linear_before_reset=1)
        model.recurrent("LSTM", 4, 2, [1, 4], True, True, input_forget=1)
        model.recurrent("RNN", 4, 2, direction="bidirectional", activations=["LeakyRelu", "ScaledTanh"],
                        activation_alpha=[0.3, 0.7], activation_beta=[0.4])
        model.recurrent("LSTM", 4, 2, activations=["HardSigmoid", "Softsign", "Affine"],
                        activation_alpha=[0.3, 0.7], activation_beta=[0.4, 0.1])
        self.by_runtime(model)

    def test_quantized_weights(self) -> None:
        """Checks com.microsoft.DynamicQuantizeLSTM with one scale of all weights and with one per gate unit."""
        # Sums of two byte products fit into 16 bits, at which ONNX Runtime saturates on some processors.
        steps, width, hidden = 5, 3, 4
        for count, direction in ((1, "reverse"), (2, "bidirectional")):
            for columns in ([], [4 * hidden]):
                model, sizes = Model(), [(count, width, 4 * hidden), (count, hidden, 4 * hidden)]
                weights = [RNG.integers(-60, 60, size).astype(np.int8) for size in sizes]
                scales = [(RNG.random((count, *columns)) / 100 + 0.002).astype(np.float32) for _ in sizes]
                zeros = [np.zeros((count, *columns), np.int8) for _ in sizes]
                model.add("DynamicQuantizeLSTM", [
                    f32(steps, 1, width), *weights, f32(count, 8 * hidden), None, f32(count, 1, hidden),
                    f32(count, 1, hidden), None, scales[0], zeros[0], scales[1], zeros[1]], 3, domain="com.microsoft",
                    hidden_size=hidden, direction=direction)
                self.by_runtime(model)

    def test_no_steps(self) -> None:
        model = Model()
        model.recurrent("GRU", 0, 2, initial=True)
        whole, last = model.run()
        self.assertEqual(whole.shape, (0, 1, 2, 4))
        np.testing.assert_array_equal(last, model.given["n0_5"])

    def test_transforms(self) -> None:
        for dynamic in (True, False):
            model = Model(dynamic)
            model.add("DFT", [f32(2, 7, 1)], axis=1, onesided=1)
            model.add("DFT", [f32(2, 6, 2), np.array(4)], axis=1, inverse=1)
            model.add("DFT", [f32(5, 3, 2), np.array(9)], axis=0)
            self.by_reference(model)
        model = Model(False)
        model.add("DFT", [f32(2, 5, 2)], axis=1, inverse=1, onesided=1)
        for length in (360, 509):
            model.add("DFT", [f32(2, length, 1)], axis=1, onesided=1)
            model.add("DFT", [f32(2, length, 2)], axis=1, inverse=1)
        self.by_reference(model)

    def test_unknown_length(self) -> None:
        model = Model()
        model.add("DFT", [f32(2, 5, 2)], axis=1, inverse=1, onesided=1)
        with self.assertRaisesRegex(onnx_import.ImportFailed, "length of its real result"):
            model.run()

    def test_frames(self) -> None:
        for dynamic in (True, False):
            model = Model(dynamic)
            model.add("STFT", [f32(2, 23, 1), np.array(3), np.abs(f32(8)), np.array(8)])
            model.add("STFT", [f32(2, 20, 2), np.array(4), None, np.array(6)], onesided=0)
            self.by_runtime(model)

    def test_windows(self) -> None:
        model = Model()
        for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
            for periodic in (0, 1):
                model.add(op, [np.array(9)], periodic=periodic)
        model.add("MelWeightMatrix", [*map(np.array, (40, 512, 16000)), np.array(20, "f4"), np.array(7600, "f4")])
        self.by_runtime(model)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
