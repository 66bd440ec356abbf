"""Reads GGUF files with the gguf package: the metadata, and each tensor as bytes of the mapped file."""

from __future__ import annotations

import dataclasses
import math
import os
import pathlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir.onnx_import.errors import ImportFailed, describe_failure

# The formats of blocks are bundles (docs/bundles.md); the others are element types.
BUNDLES = {name: f"gguf.{name.lower()}" for name in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "MXFP4", "Q2_K", "Q3_K",
                                                     "Q4_K", "Q5_K", "Q6_K")}
# The dtypes of arrays with the bytes of the file.
_DTYPES = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16, **dict.fromkeys(BUNDLES, np.int8)}


@dataclasses.dataclass(frozen=True)
class Weight:
    """A tensor of the file. `kind` is GGUF's name of its format, and `shape` is that of its values, rows first. `data`
    views the bytes of the mapped file: values in `shape`, or the stream of a bundle."""
    name: str
    kind: str
    shape: tuple[int, ...]
    data: NDArray[Any]


class File:
    """The metadata and the tensors of a GGUF file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(path)
        try:
            import gguf
        except ImportError as error:
            raise ImportFailed(f"{error}: reading GGUF files needs the package gguf, which pip install gguf "
                               "installs") from error
        try:
            with np.errstate(over="ignore"):
                self._reader = gguf.GGUFReader(self.path)
        except OSError:
            raise
        # The reader has no common base class of the errors of malformed files.
        except Exception as error:
            raise ImportFailed(f"the file cannot be read as GGUF: {describe_failure(error)}") from error
        if self._reader.byte_order != "I":
            raise ImportFailed("the file is big-endian: convert it with gguf-convert-endian of the package gguf")
        if self.find("split.count", int, 1) != 1:
            raise ImportFailed("the file is one part of a split model: merge the parts with llama-gguf-split --merge")
        self.weights = {tensor.name: self._make_weight(tensor, *gguf.GGML_QUANT_SIZES[tensor.tensor_type])
                        for tensor in self._reader.tensors}
        self._check_overlaps()

    def _make_weight(self, tensor: Any, block: int, size: int) -> Weight:
        name, kind = tensor.name, tensor.tensor_type.name
        shape = tuple(reversed(tensor.shape.tolist()))
        what = f"tensor '{name}'"
        if kind not in _DTYPES:
            raise ImportFailed(f"{what} has the format {kind}: the formats that are imported are {', '.join(_DTYPES)}")
        count = math.prod(shape)
        if not shape or not count or shape[-1] % block:
            raise ImportFailed(f"{what} has the shape {list(shape)}: rows of {kind} must be whole blocks of {block} values")
        data = tensor.data.reshape(-1).view(np.uint8)
        if data.size != count // block * size or tensor.data_offset < self._reader.data_offset:
            raise ImportFailed(f"{what} of shape {list(shape)} in {kind} has {count // block * size} bytes, which are not "
                               "where the file says")
        values = data.view(_DTYPES[kind])
        return Weight(name, kind, shape, values if kind in BUNDLES else values.reshape(shape))

    def _check_overlaps(self) -> None:
        tensors = sorted(self._reader.tensors, key=lambda each: each.data_offset)
        for before, after in zip(tensors, tensors[1:]):
            if before.data_offset + before.data.nbytes > after.data_offset:
                raise ImportFailed(f"tensors '{before.name}' and '{after.name}' share bytes of the file")

    @property
    def keys(self) -> list[str]:
        """The keys of the metadata."""
        return list(self._reader.fields)

    def find(self, key: str, kind: type, default: Any = None) -> Any:
        """Returns the value of a key of the metadata, which must be of the type `kind`, or `default` if there is no such
        key. Without a default the key is required."""
        field = self._reader.fields.get(key)
        if field is None:
            if default is None:
                raise ImportFailed(f"the file has no key '{key}', which its architecture requires")
            return default
        try:
            value = field.contents()
        except UnicodeDecodeError:
            value = None
        if isinstance(value, list) and value and all(each == value[0] for each in value):
            value = value[0]  # one for each layer
        if type(value) is not kind:
            raise ImportFailed(f"key '{key}' must be one {kind.__name__}, not {str(value)[:60]}")
        return value
