"""Operators on text, which no target stores."""

from __future__ import annotations

from typing import NoReturn

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.values import Tensor


@operator("StringConcat", "StringSplit", "StringNormalizer", "RegexFullMatch")
def on_strings(b: Builder, node: Node, *inputs: Tensor) -> NoReturn:
    node.refuse("its elements are strings, which are not numbers: do this before the model")


@operator("TfIdfVectorizer")
def tf_idf(b: Builder, node: Node, x: Tensor) -> NoReturn:
    node.refuse("it counts n-grams of tokens, which is preprocessing of text: do this before the model")
