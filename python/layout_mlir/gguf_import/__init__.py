"""Imports GGUF files of language models as linalg on tensors.

    from layout_mlir.gguf_import import Generator
    Generator("model.gguf").generate([1, 2, 3], 8)      # the 8 most likely tokens after 1, 2, 3

  file.py         the file: metadata, tensors as bytes of the mapped file
  parameters.py   the sizes of the network, from the metadata; refuses what is not known
  network.py      the function of tokens, caches and weights
  generator.py    compiles it for prompts and for one token, and keeps the caches

Weights are arguments. Those in blocks are bytes that the module assembles to a bundle (docs/bundles.md) and decodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from layout_mlir.gguf_import.file import File
from layout_mlir.gguf_import.generator import Generator
from layout_mlir.gguf_import.network import list_weights, lower_file
from layout_mlir.onnx_import.shapes import WrongShape

__all__ = ["File", "Generator", "count_tokens", "list_weights", "lower_file"]


def count_tokens(shapes: Mapping[str | int, Any]) -> int | None:
    """Returns the number of tokens that `shapes` states, or None if it is empty. Raises WrongShape for other inputs and
    shapes."""
    for key, shape in shapes.items():
        if key not in ("tokens", 0):
            raise WrongShape(f"the shape of input {key!r} is that of the model: only that of 'tokens' can be stated")
        if len(shape) != 1 or shape[0] < 1:
            raise WrongShape(f"'tokens' must have one positive size, not {tuple(shape)}")
        return int(shape[0])
    return None
