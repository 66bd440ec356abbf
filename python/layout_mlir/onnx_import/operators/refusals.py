"""Operators that cannot be imported as ops on numeric tensors, with the reasons."""

from __future__ import annotations

from typing import NoReturn

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.values import Value


@operator("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial")
def refuse_random(b: Builder, node: Node, *inputs: Value | None) -> NoReturn:
    node.refuse("its result is random: make an input of the random numbers")


@operator("ImageDecoder")
def refuse_images(b: Builder, node: Node, *inputs: Value | None) -> NoReturn:
    node.refuse("compressed images are not tensors of numbers: make an input of the decoded image")


@operator("Gradient", domain="ai.onnx.preview.training")
def refuse_gradient(b: Builder, node: Node, *inputs: Value | None) -> NoReturn:
    node.refuse("it differentiates a graph: export the graph of the gradients")
