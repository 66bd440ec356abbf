"""Loads models of other projects as linalg on tensors, with inputs to run them on.

  .gguf           gguf_import; the tokens of the prompt follow one another, and weights are inputs
  .onnx           onnx_import; the expected results are those of ONNX Runtime
  .pt2            a torch.export program, converted to ONNX: torch_import.py
  StableHLO       text, or bytecode as JAX exports it: stablehlo_import
  linalg          text or bytecode, used unchanged

StableHLO and linalg are told apart by their contents. Inputs that are not given are random.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from layout_mlir import (attach_constants, gguf_import, onnx_import, run_pipeline, stablehlo_import,
                         torch_import)
from layout_mlir.isolated import Crashed, isolated
from layout_mlir.modules import GGUF_SUFFIX, ONNX_SUFFIXES
from layout_mlir.onnx_import import compare as onnx_compare
from layout_mlir.onnx_import import draws as onnx_draws
from layout_mlir.onnx_import import shapes as onnx_shapes
from layout_mlir.onnx_import.errors import ImportFailed
from layout_mlir.tools import run_tool

if TYPE_CHECKING:
    from onnx import ModelProto

_Value = TypeVar("_Value")
# By name or number of the input.
_Arrays = Mapping[str | int, NDArray[Any]]
_Shapes = Mapping[str | int, tuple[int, ...]]

_DEFAULT_SIZE = 3  # of a dynamic dim


@dataclasses.dataclass
class Model:
    name: str
    module: pathlib.Path
    inputs: list[NDArray[Any]]
    # The name of the model's own runtime, its results for the inputs, and the tolerance relative to the largest value.
    reference: str = ""
    oracle: onnx_compare.Oracle | None = None
    tolerance: float = 1e-3
    # What generates tokens with a language model, and how many.
    generator: gguf_import.Generator | None = None
    new: int = 0


# ------------------------------------------------------------------- the options

def _parse_named(texts: Iterable[str], parse: Callable[[str], _Value], kind: str) -> dict[str | int, _Value]:
    """Parses `NAME=VALUE` and `VALUE` texts to {name or position: value}; `VALUE` texts are numbered from 0."""
    named: dict[str | int, _Value] = {}
    position = 0
    for text in texts:
        name, separator, value = text.rpartition("=")
        key: str | int = int(name) if name.isdigit() else name
        if not separator:
            key, position = position, position + 1
        try:
            named[key] = parse(value)
        except ValueError as error:
            raise ImportFailed(f"--{kind} {text}: {error}") from None
    return named


def _parse_shape(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+(x\d+)*|scalar", text):
        raise ValueError("a shape must be written like 1x3x320x320, or be 'scalar'")
    return () if text == "scalar" else tuple(map(int, text.split("x")))


def _parse_shapes(text: str) -> onnx_shapes.Shape:
    """Parses the shape of a tensor, `[4,3x2]` for the shapes of a sequence, or `none` for an empty optional."""
    if text == "none":
        return None
    if text.startswith("[") and text.endswith("]"):
        return [_parse_shape(each) for each in text[1:-1].split(",") if each]
    return _parse_shape(text)


def _load_array(path: str) -> NDArray[Any]:
    array = np.load(path)
    if not isinstance(array, np.ndarray):
        raise ValueError("an input must be an .npy file with one array")
    return array


def _replace(drawn: Iterable[NDArray[Any]], given: Mapping[str | int, NDArray[Any]],
             names: Sequence[str | int]) -> list[NDArray[Any]]:
    """Returns the inputs, with the given ones in place of drawn ones."""
    inputs = list(drawn)
    for key, array in given.items():
        at = names.index(key) if key in names else key
        if not isinstance(at, int) or at >= len(inputs):
            raise ImportFailed(f"the model has no input {key!r}: inputs are "
                               f"{', '.join(map(str, names)) or 'none'}")
        inputs[at] = array
    return inputs


# -------------------------------------------------------------------------- ONNX

# The values tried for dynamic sizes, in order: most are those of images and sequences.
_SIZES = [64, 16, 3, 224]


def _run_reference(prepared: ModelProto, result: Model, size: int | None,
                   replace: Callable[[list[NDArray[Any]]], list[NDArray[Any]]], options: Options) -> Model:
    """Returns `result` with inputs, and their outputs by ONNX Runtime if it is installed. `size` is the value of dynamic
    sizes, or None to try several, with 1 for the first dims; `replace` puts the given inputs into drawn ones."""
    first, sizes = (1, _SIZES) if size is None else (None, [size])
    def draw() -> Iterator[list[NDArray[Any]]]:
        for drawn in onnx_draws.draw_inputs(prepared.graph, options.seed, first, sizes):
            yield onnx_compare.as_declared(prepared, replace(drawn))

    try:
        result.inputs = next(draw(), [])
    except onnx_draws.NotCompared as error:
        raise ImportFailed(str(error)) from error
    if not options.repeat or importlib.util.find_spec("onnxruntime") is None:
        return result
    import onnxruntime
    try:
        result.oracle = isolated(onnx_compare.run_oracle, prepared, draw(), options.repeat, options.threads)
    except (onnx_draws.NotCompared, Crashed) as error:
        onnx_import.lower_to_text(prepared)  # raises a better error if a node is not imported
        raise ImportFailed(f"no result to compare with: {error}\n(pass inputs with --input, dynamic sizes with "
                           "--shape, or --no-reference to run without)") from error
    result.inputs = result.oracle.inputs
    result.reference = f"ONNX Runtime {onnxruntime.__version__}"
    if any(each.dtype.itemsize == 2 for each in result.oracle.outputs):
        result.tolerance = 2e-2
    return result


def _load_onnx(model: ModelProto, name: str, folder: pathlib.Path, inputs: _Arrays,
               shapes: Mapping[str | int, onnx_shapes.Shape],
               options: Options) -> Model:
    try:
        onnx_shapes.set_shapes(model, shapes)
    except onnx_shapes.WrongShape as error:
        raise ImportFailed(f"--shape: {error}") from None
    names = [value.name for value in onnx_shapes.inputs_of(model.graph)]
    is_dynamic = onnx_shapes.has_dynamic_sizes(model.graph)
    takes_sizes = is_dynamic and not options.dynamic  # of the inputs
    prepared = onnx_import.prepare_checked(type(model).FromString(model.SerializeToString()) if is_dynamic else model)
    # Before the runtime, which may not end on a model that the importer refuses.
    lowered = None if takes_sizes else onnx_import.lower(prepared, options.float_products)
    refused: ImportFailed | None = None
    for size in [None, *onnx_draws.LARGER_SIZES]:
        try:
            result = _run_reference(prepared, Model(name, folder / "model.mlirbc", []), size,
                                    lambda draw: _replace(draw, inputs, names), options)
            if lowered is None:
                sized = type(model).FromString(model.SerializeToString())
                onnx_shapes.set_shapes(sized, {number: array.shape for number, array in enumerate(result.inputs)})
                lowered = onnx_import.lower(onnx_import.prepare_checked(sized), options.float_products)
            break
        except ImportFailed as error:  # the chosen sizes may be smaller than a window
            refused = refused or error
            if not takes_sizes:
                raise
    else:
        assert refused
        raise refused
    result.module.write_bytes(lowered)
    return result


# -------------------------------------------------------------------------- MLIR

_MAIN = re.compile(r"func\.func (?:public )?@main\((?P<arguments>.*?)\)(?: ->|\s*(?:attributes )?\{)", re.S)
_TENSOR = re.compile(r"%\w+: (?P<type>tensor<(?:[^<>]|<[^<>]*>)*>|[^ ,]+)")
_DTYPES = {name: np.dtype(dtype) for name, dtype in {
    "f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool", "index": "int64",
    "complex<f32>": "complex64", "complex<f64>": "complex128",
    **{f"{sign}i{bits}": f"int{bits}" for sign in ("", "s") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)}}.items()}


def _read_inputs(module: pathlib.Path) -> list[tuple[list[int | None], np.dtype[Any]]]:
    """Returns the shape, with None for dynamic sizes, and the dtype of each input of @main."""
    text = run_tool("layout-opt", module, "--mlir-elide-elementsattrs-if-larger=8",
                    "--mlir-elide-resource-strings-if-larger=8")
    main = _MAIN.search(text)
    if not main:
        raise ImportFailed(f"{module} has no function @main")
    inputs: list[tuple[list[int | None], np.dtype[Any]]] = []
    for match in _TENSOR.finditer(main["arguments"]):
        *sizes, element = re.sub(r"^tensor<|>$", "", match["type"]).split("x")
        if not match["type"].startswith("tensor<") or element not in _DTYPES:
            raise ImportFailed(f"input {len(inputs)} of @main is {match['type']}: inputs must be tensors of "
                               f"{', '.join(_DTYPES)}")
        inputs.append(([None if size == "?" else int(size) for size in sizes], _DTYPES[element]))
    return inputs


def _draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    kind = np.dtype(dtype).kind
    if kind in "iu":
        return rng.integers(0, 2, shape).astype(dtype)
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    array = rng.standard_normal(shape)
    return (array + 1j * rng.standard_normal(shape) if kind == "c" else array).astype(dtype)


def _load_mlir(path: pathlib.Path, name: str, folder: pathlib.Path, inputs: _Arrays, shapes: _Shapes,
               options: Options) -> Model:
    data = path.read_bytes()
    module = path
    if stablehlo_import.is_stablehlo(data):
        module = folder / "model.mlirbc"
        module.write_bytes(stablehlo_import.lower(data))
    rng, arrays = np.random.default_rng(options.seed), []
    known = _read_inputs(module)
    for key in shapes:
        if not isinstance(key, int) or key >= len(known):
            raise ImportFailed(f"--shape: an input of @main must be named by its number, below {len(known)}")
    for number, (sizes, dtype) in enumerate(known):
        shape = shapes.get(number, tuple(_DEFAULT_SIZE if size is None else size for size in sizes))
        if len(shape) != len(sizes) or any(b is not None and a != b for a, b in zip(shape, sizes)):
            raise ImportFailed(f"--shape: input {number} of @main has the sizes {sizes}, not {list(shape)}")
        arrays.append(_draw(rng, shape, dtype))
    return Model(name, module, _replace(arrays, inputs, list(range(len(arrays)))))


# -------------------------------------------------------------------------- GGUF

_DRAWN_TOKENS = 8


def _load_gguf(path: pathlib.Path, folder: pathlib.Path, options: Options) -> Model:
    """Returns the network for a prompt, with empty caches."""
    generator = gguf_import.Generator(path)
    vocabulary, context = generator.parameters.vocabulary, generator.parameters.context
    tokens = options.tokens
    if not tokens:
        count = max(1, min(_DRAWN_TOKENS, context + 1 - options.new))
        tokens = np.random.default_rng(options.seed).integers(0, vocabulary, count).tolist()
    ids = generator.check(tokens, options.new - 1)
    model = Model(path.name, folder / "model.mlirbc", [ids, *generator.caches, *generator.arrays], generator=generator,
                  new=options.new)
    module = attach_constants(*gguf_import.lower_file(generator.file, len(ids)))
    model.module.write_bytes(run_pipeline(module, "layout-prepare-lower-bundles"))
    return model


# --------------------------------------------------------------------------- all

@dataclasses.dataclass
class Options:
    """Options of load_model. `repeat` is the number of timed runs of the model's own runtime, 0 for none. With
    `dynamic`, sizes that the model leaves dynamic stay dynamic; otherwise they are those of the inputs. The runtime
    uses `threads` threads. `float_products` is that of onnx_import.lower_to_text. `tokens` is the prompt of a GGUF model,
    random if it is empty, and `new` the number of tokens to generate, at least 1."""
    seed: int = 0
    repeat: int = 5
    dynamic: bool = False
    threads: int = 1
    float_products: bool = False
    tokens: Sequence[int] = ()
    new: int = 1


def load_model(path: str | os.PathLike[str], folder: str | os.PathLike[str], inputs: Iterable[str] = (),
               shapes: Iterable[str] = (), options: Options = Options()) -> Model:
    """Loads the model of a file and writes its module to `folder`. `inputs` and `shapes` have the syntax of --input and
    --shape of run.py."""
    path, folder = pathlib.Path(path), pathlib.Path(folder)
    if path.suffix == GGUF_SUFFIX:
        if [*inputs, *shapes]:
            raise ImportFailed("a GGUF model takes a prompt with --tokens, not --input or --shape")
        return _load_gguf(path, folder, options)
    arrays = _parse_named(inputs, _load_array, "input")
    if path.suffix in ONNX_SUFFIXES:
        stated = _parse_named(shapes, _parse_shapes, "shape")
        return _load_onnx(torch_import.read(path), path.name, folder, arrays, stated, options)
    sizes = _parse_named(shapes, _parse_shape, "shape")
    return _load_mlir(path, path.name, folder, arrays, sizes, options)
