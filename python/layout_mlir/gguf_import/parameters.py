"""The sizes and constants of a network, from the metadata of a GGUF file, and the tensors that it must have."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from layout_mlir.gguf_import.file import File
from layout_mlir.onnx_import.errors import ImportFailed

# True if a rotary position turns pairs of adjacent values of a head; otherwise of both halves.
_ARCHITECTURES = {"llama": True, "qwen2": False}
# The keys below the name of the architecture that are read, or that change no result. Others may state a network that
# computes something else.
_READ = {"block_count", "embedding_length", "feed_forward_length", "context_length", "attention.head_count",
         "attention.head_count_kv", "attention.key_length", "attention.value_length", "attention.layer_norm_rms_epsilon",
         "rope.dimension_count", "rope.freq_base", "rope.scaling.type", "rope.scaling.factor", "rope.scale_linear",
         "vocab_size"}
_IGNORED = {"rope.scaling.original_context_length", "rope.scaling.finetuned", "tensor_data_layout"}
_MOST_LAYERS = 1024
FREQUENCIES = "rope_freqs.weight"


@dataclasses.dataclass(frozen=True)
class Parameters:
    """A network of `layers` layers on rows of `width` values. Each of `groups` heads of keys, with `key` values, and of
    values, with `value` values, serves heads / groups heads of queries. The first `2 * len(speeds)` values of queries
    and keys are pairs that turn by position * speed."""
    layers: int
    width: int
    hidden: int
    heads: int
    groups: int
    key: int
    value: int
    context: int
    vocabulary: int
    epsilon: float
    is_interleaved: bool
    speeds: NDArray[np.float64]


def _read_count(file: File, key: str, default: int | None = None) -> int:
    count: int = file.find(key, int, default)
    if not 0 < count < 1 << 31:
        raise ImportFailed(f"key '{key}' must be a positive number below 2^31, not {count}")
    return count


def _read_positive(file: File, key: str, default: float | None = None) -> float:
    value: float = file.find(key, float, default)
    if not 0 < value < np.inf:
        raise ImportFailed(f"key '{key}' must be a positive number, not {value}")
    return value


def _read_speeds(file: File, name: str, key: int) -> NDArray[np.float64]:
    """Returns the radians by which each pair of values turns from one position to the next."""
    rotated = _read_count(file, f"{name}.rope.dimension_count", key)
    if rotated % 2 or rotated > key:
        raise ImportFailed(f"key '{name}.rope.dimension_count' must be even and at most {key}, the length of a key, not "
                           f"{rotated}")
    base = _read_positive(file, f"{name}.rope.freq_base", 10000.0)
    scaling = file.find(f"{name}.rope.scaling.type", str, "linear")
    if scaling not in ("none", "linear"):
        raise ImportFailed(f"key '{name}.rope.scaling.type' is '{scaling}': the ones that are imported are none and linear")
    legacy = _read_positive(file, f"{name}.rope.scale_linear", 1.0)
    factor = _read_positive(file, f"{name}.rope.scaling.factor", legacy)
    speeds = base ** (-np.arange(0, rotated, 2) / rotated) / (1.0 if scaling == "none" else factor)
    if FREQUENCIES not in file.weights:
        return speeds
    weight = file.weights[FREQUENCIES]
    if weight.kind != "F32" or weight.shape != speeds.shape or not (weight.data > 0).all():
        raise ImportFailed(f"tensor '{FREQUENCIES}' must be {len(speeds)} positive numbers in F32, not {weight.kind} of "
                           f"shape {list(weight.shape)}")
    return np.asarray(speeds / weight.data, np.float64)


def read_parameters(file: File) -> Parameters:
    """Returns the parameters of the network. Raises ImportFailed if a key or a tensor is missing, has another type or
    shape than the network requires, or is not known."""
    name = file.find("general.architecture", str)
    if name not in _ARCHITECTURES:
        raise ImportFailed(f"key 'general.architecture' is '{name}': the architectures that are imported are "
                           f"{', '.join(_ARCHITECTURES)}")
    for each in file.keys:
        if each.startswith(f"{name}.") and each.removeprefix(f"{name}.") not in _READ | _IGNORED:
            raise ImportFailed(f"key '{each}' is not imported, because the network may depend on it: the ones that are "
                               f"imported are {', '.join(sorted(_READ))}")
    table = file.weights.get("token_embd.weight")
    if table is None:
        raise ImportFailed("the file has no tensor 'token_embd.weight'")
    width, heads = (_read_count(file, f"{name}.{each}") for each in ("embedding_length", "attention.head_count"))
    groups = _read_count(file, f"{name}.attention.head_count_kv", heads)
    if heads % groups:
        raise ImportFailed(f"key '{name}.attention.head_count_kv' is {groups}, which does not divide "
                           f"'{name}.attention.head_count', {heads}")
    key = _read_count(file, f"{name}.attention.key_length", max(width // heads, 1))
    parameters = Parameters(
        layers=_read_count(file, f"{name}.block_count"), width=width, heads=heads, groups=groups, key=key,
        hidden=_read_count(file, f"{name}.feed_forward_length"),
        value=_read_count(file, f"{name}.attention.value_length", max(width // heads, 1)),
        context=_read_count(file, f"{name}.context_length"),
        vocabulary=_read_count(file, f"{name}.vocab_size", table.shape[0]),
        epsilon=_read_positive(file, f"{name}.attention.layer_norm_rms_epsilon"),
        is_interleaved=_ARCHITECTURES[name], speeds=_read_speeds(file, name, key))
    if parameters.layers > _MOST_LAYERS:
        raise ImportFailed(f"key '{name}.block_count' is {parameters.layers}, more than {_MOST_LAYERS}")
    _check_tensors(file, parameters, name)
    return parameters


def _list_shapes(p: Parameters) -> dict[str, tuple[int, ...]]:
    """Returns the shapes of all tensors that a network has, or may have: biases and output.weight."""
    shapes = {"token_embd.weight": (p.vocabulary, p.width), "output_norm.weight": (p.width,),
              "output.weight": (p.vocabulary, p.width)}
    for layer in range(p.layers):
        shapes |= {f"blk.{layer}.{name}.weight": shape for name, shape in {
            "attn_norm": (p.width,), "ffn_norm": (p.width,),
            "attn_q": (p.heads * p.key, p.width), "attn_k": (p.groups * p.key, p.width),
            "attn_v": (p.groups * p.value, p.width), "attn_output": (p.width, p.heads * p.value),
            "ffn_gate": (p.hidden, p.width), "ffn_up": (p.hidden, p.width), "ffn_down": (p.width, p.hidden)}.items()}
    biases = {name.replace(".weight", ".bias"): shape[:1] for name, shape in shapes.items()
              if len(shape) == 2 and name.startswith("blk.")}
    return shapes | biases


def _check_tensors(file: File, parameters: Parameters, name: str) -> None:
    shapes = _list_shapes(parameters)
    for weight in file.weights.values():
        if weight.name == FREQUENCIES:
            continue
        shape = shapes.get(weight.name)
        if shape is None:
            raise ImportFailed(f"tensor '{weight.name}' is not imported: it is not one of {parameters.layers} layers of the "
                               f"architecture {name}")
        if weight.shape != shape:
            raise ImportFailed(f"tensor '{weight.name}' has the shape {list(weight.shape)}, not {list(shape)} as the "
                               "metadata says")
        if len(shape) == 1 and weight.kind != "F32":
            raise ImportFailed(f"tensor '{weight.name}' must be in F32, not {weight.kind}")
    for each in shapes:
        if each not in file.weights and each != "output.weight" and not each.endswith(".bias"):
            raise ImportFailed(f"the file has no tensor '{each}'")
