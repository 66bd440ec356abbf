"""LSTM with quantized weights, as written by ONNX Runtime's tools."""

from __future__ import annotations

from collections.abc import Sequence

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.operators.microsoft import MICROSOFT
from layout_mlir.onnx_import.operators.products import real_product
from layout_mlir.onnx_import.operators.quantization import quantize_dynamically
from layout_mlir.onnx_import.operators.recurrent import Lstm, Recurrent
from layout_mlir.onnx_import.regions import take
from layout_mlir.onnx_import.values import Bytes, Tensor


class _Quantized(Recurrent):
    """Multiplies quantized weights, which are not transposed, by inputs and states that are quantized at run time.
    `parameters` has a scale and a zero point for each weight tensor, in order."""
    hidden_dim = 1

    def __init__(self, b: Builder, node: Node, x: Tensor, weights: Sequence[Tensor], bias: Tensor | None,
                 lengths: Tensor | None, peepholes: Tensor | None,
                 parameters: Sequence[tuple[Tensor, Tensor | None]]) -> None:
        self.parameters = dict(zip(weights, parameters))
        self.of_matrix: dict[Tensor, tuple[Tensor, Tensor | None]] = {}
        super().__init__(b, node, 4, ["Sigmoid", "Tanh", "Tanh"], x, weights[0], weights[1], bias, lengths,
                         peepholes)

    def matrix(self, weights: Tensor, number: int) -> Tensor:
        matrix = take(self.b, weights, 0, number)
        scale, zero = self.parameters[weights]
        self.of_matrix[matrix] = take(self.b, scale, 0, number), zero and take(self.b, zero, 0, number)
        return matrix

    def multiply(self, rows: Tensor, matrix: Tensor, into: Tensor) -> Tensor:
        scale, zero = self.of_matrix[matrix]
        return real_product(self.b, Bytes(*quantize_dynamically(self.b, rows)), Bytes(matrix, scale, zero), into)


@operator("DynamicQuantizeLSTM", domain=MICROSOFT)
def dynamic_quantize_lstm(b: Builder, node: Node, x: Tensor, w: Tensor, r: Tensor, bias: Tensor | None,
                          lengths: Tensor | None, initial: Tensor | None, initial_cell: Tensor | None,
                          peepholes: Tensor | None, w_scale: Tensor, w_zero: Tensor | None, r_scale: Tensor,
                          r_zero: Tensor | None) -> list[Tensor]:
    this = _Quantized(b, node, x, [w, r], bias, lengths, peepholes, [(w_scale, w_zero), (r_scale, r_zero)])
    return this.run([initial, initial_cell], lambda direction: Lstm(this, direction))
