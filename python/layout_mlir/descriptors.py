"""Descriptors: how arrays in a file are stored, as JSON with a hash.

A descriptor states the encoding of one tensor, the text of a layout or of a bundle, with the shape and the element
type of the tensor. Two descriptors have the same hash if their encodings print the same when names are expanded. In a file of
safetensors, the value of the metadata key `layout_mlir` is a JSON object of the descriptors of its tensors by name.

>>> from layout_mlir import Bundle
>>> describe(Bundle('gguf.q8_0'), (2, 64))
'{"element":"f32","encoding":"#layout.bundle<\\\\"gguf.q8_0\\\\">","hash":"sha256:...","shape":[2,64],"version":1}'
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_mlir import Bundle, Layout, LayoutError

VERSION = 1
KEY = "layout_mlir"
_KEYS = {"version", "encoding", "element", "shape", "hash"}
# A descriptor is no longer than the text of an encoding may be, and its other keys.
_MOST_TEXT = 20000


def _parse(encoding: str, element: str, shape: Sequence[int]) -> Layout | Bundle:
    """Returns the encoding on a shape, or raises LayoutError if a tensor cannot have it."""
    if encoding.startswith("#layout.bundle<"):
        bundle = Bundle(encoding)
        bundle.check(shape, element)
        return bundle
    layout = Layout(encoding, element=element)
    layout.check(shape)
    return layout


def _hash(encoding: Layout | Bundle, element: str, shape: Sequence[int]) -> str:
    expanded = encoding.expand() if isinstance(encoding, Bundle) else encoding.canonical(shape)
    content = json.dumps([VERSION, str(expanded), element, list(shape)])
    return "sha256:" + hashlib.sha256(content.encode()).hexdigest()


def describe(encoding: Layout | Bundle, shape: Sequence[int], element: str = "f32") -> str:
    """Returns the descriptor of a tensor, or raises LayoutError if it cannot have the encoding."""
    sizes = [int(size) for size in shape]
    checked = _parse(str(encoding), element, sizes)
    return json.dumps({"version": VERSION, "encoding": str(encoding), "element": element, "shape": sizes,
                       "hash": _hash(checked, element, sizes)}, sort_keys=True, separators=(",", ":"))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise LayoutError("a descriptor has a key twice")
    return dict(pairs)


def _load(descriptor: str) -> dict[str, Any]:
    """Returns the keys of a descriptor, of the right types."""
    if not isinstance(descriptor, str):
        raise TypeError(f"a descriptor is a str, not {type(descriptor).__name__}")
    if len(descriptor) > _MOST_TEXT:
        raise LayoutError(f"a descriptor has {len(descriptor)} characters, at most {_MOST_TEXT}")
    try:
        content = json.loads(descriptor, object_pairs_hook=_unique)
    except (json.JSONDecodeError, RecursionError) as error:
        raise LayoutError(f"a descriptor is not JSON: {error}") from None
    if not isinstance(content, dict) or set(content) != _KEYS:
        raise LayoutError(f"a descriptor is an object with the keys {', '.join(sorted(_KEYS))}")
    if type(content["version"]) is not int or content["version"] != VERSION:
        raise LayoutError(f"version {content['version']!r} of descriptors is not known: this is version {VERSION}")
    for key in ("encoding", "element", "hash"):
        if not isinstance(content[key], str):
            raise LayoutError(f"'{key}' of a descriptor is a string, found {content[key]!r}")
    shape = content["shape"]
    if not isinstance(shape, list) or any(type(size) is not int or not 0 <= size < 2**63 for size in shape):
        raise LayoutError(f"'shape' of a descriptor is a list of sizes, found {shape!r}")
    return content


def read(descriptor: str) -> tuple[Layout | Bundle, tuple[int, ...], str]:
    """Returns the encoding, the shape and the element type of a descriptor, or raises LayoutError if it is not valid or
    does not have the hash of its contents."""
    content = _load(descriptor)
    encoding = _parse(content["encoding"], content["element"], content["shape"])
    if _hash(encoding, content["element"], content["shape"]) != content["hash"]:
        raise LayoutError("the hash of a descriptor is not that of its contents: the descriptor was changed, or was "
                          "written by another version")
    return encoding, tuple(content["shape"]), content["element"]


def check(arrays: NDArray[Any] | Mapping[str, NDArray[Any]], descriptor: str) -> None:
    """Raises LayoutError if `arrays` are not the storage that the descriptor states: for a layout an array of its
    stored shape, for a bundle a dict of its streams."""
    encoding, shape, _ = read(descriptor)
    if isinstance(encoding, Layout):
        if isinstance(arrays, Mapping):
            raise LayoutError(f"{encoding} is stored in one array, not in streams")
        encoding.unpack(np.asarray(arrays), shape)
        return
    if not isinstance(arrays, Mapping):
        raise LayoutError(f"{encoding} is stored in streams: pass a dict of arrays")
    streams = encoding.streams(shape)
    if set(arrays) != set(streams):
        raise LayoutError(f"{encoding} has the streams {', '.join(streams)}, found {', '.join(arrays)}")
    for name, count in streams.items():
        found = np.asarray(arrays[name])
        if found.dtype != np.uint8 or found.shape != (count,):
            raise LayoutError(f"stream '{name}' of {encoding} has {count} bytes, found {found.dtype} of shape "
                              f"{found.shape}")
