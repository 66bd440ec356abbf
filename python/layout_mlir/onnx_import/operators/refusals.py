"""Operators that cannot be imported as ops on numeric tensors, with the reasons."""

from __future__ import annotations

from typing import NoReturn

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.values import Value


@operator("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial")
def refuse_random(b: Builder, node: Node, *inputs: Value | None) -> NoReturn:
    node.refuse("its result is random: make the random numbers an input")


@operator("ZipMap", "DictVectorizer", "CastMap", domain="ai.onnx.ml")
def refuse_maps(b: Builder, node: Node, *inputs: Value | None) -> NoReturn:
    node.refuse("maps are not tensors: make the scores a tensor (convert scikit-learn's models with "
                "options={'zipmap': False}), or make the node's input a result of the model")


@operator("CategoryMapper", domain="ai.onnx.ml")
def refuse_categories(b: Builder, node: Node, *inputs: Value | None) -> NoReturn:
    node.refuse("strings are not numbers: map them to numbers outside of the model")


@operator("ImageDecoder")
def refuse_images(b: Builder, node: Node, *inputs: Value | None) -> NoReturn:
    node.refuse("compressed images are not tensors of numbers: make the decoded image an input")


@operator("Gradient", domain="ai.onnx.preview.training")
def refuse_gradient(b: Builder, node: Node, *inputs: Value | None) -> NoReturn:
    node.refuse("it differentiates a graph: export the graph that computes the gradients")
