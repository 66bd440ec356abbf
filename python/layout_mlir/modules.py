"""Opens the modules that users pass to the functions of the extension."""

import contextlib
import functools
import gc
import importlib.util
import mmap
import os
import pathlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

# The shape of a tensor, the shapes of the tensors of a sequence, or None for an empty optional, by input.
_Shapes = Mapping[str | int, Sequence[int] | Sequence[Sequence[int]] | None]

# The suffixes of files that are read as ONNX models, and of all files that are read.
ONNX_SUFFIXES = (".onnx", ".pt2")
GGUF_SUFFIX = ".gguf"
_SUFFIXES = (".mlir", ".mlirbc", GGUF_SUFFIX, *ONNX_SUFFIXES)
# The magic number of bytecode, and the number of its resource section, which holds the bytes of constants.
_BYTECODE = b"ML\xefR"
_RESOURCES = 5
# The largest file in bytes that is compiled in a child process, a quarter of what is stored. The memory of a compiler
# matters little beside the weights of larger ones.
_MOST_APART = 1 << 28
_SECONDS_APART = 24 * 3600.0


def read(module: Any, shapes: _Shapes | None = None) -> Any:
    """Returns a module as text in a str or bytecode in bytes; see open_module."""
    from layout_mlir import attach_constants

    opened = open_module(module, shapes)
    return attach_constants(*opened) if isinstance(opened, tuple) else opened


def open_module(module: Any, shapes: _Shapes | None = None, maps: bool = False) -> Any:
    """Returns text in a str, bytecode in bytes, or the arguments of attach_constants.

    A path object, or a str that ends in .mlir, .mlirbc, .gguf, .onnx or .pt2, names a file; other objects are returned
    unchanged. GGUF, ONNX and StableHLO models are imported, as are torch.export programs if torch is installed. `shapes`
    sets dynamic sizes of an .onnx or .pt2 file, or the number of tokens of a .gguf file: it maps names or numbers of
    inputs to shapes. With `maps` a bytecode file is returned as an mmap.

    An imported ONNX model is compiled and compared with ONNX Runtime, if that is installed.
    """
    opened, check = open_with_check(module, shapes, maps)
    if check:
        check(None)
    return opened


def open_with_check(
    module: Any, shapes: _Shapes | None = None, maps: bool = False
) -> tuple[Any, Callable[[Any], None] | None]:
    """Returns what open_module returns, and a function that compares a Program of it with ONNX Runtime, or None if the
    module is not an ONNX model. The function compiles the module if it is given None, and raises LayoutError if the
    results differ."""
    path = _as_path(module)
    if shapes and not (path and path.suffix in (GGUF_SUFFIX, *ONNX_SUFFIXES)):
        raise TypeError("shapes are for the inputs of an .onnx, .pt2 or .gguf file")
    if path is None:
        return module, None
    if path.suffix == GGUF_SUFFIX:
        return _read_gguf(path, shapes or {}), None
    return _open_onnx(path, shapes or {}) if path.suffix in ONNX_SUFFIXES else (_read_file(path, maps), None)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Pauses the garbage collector, which would visit the objects of the importer again and again: nearly all stay."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


@_uncollected()
def _open_onnx(path: pathlib.Path, shapes: _Shapes) -> tuple[Any, Callable[[Any], None]]:
    from layout_mlir import LayoutError, onnx_import
    from layout_mlir.onnx_import.compare import Check, as_function, compile_lowered

    with _located(path):
        model = _load_onnx(path, shapes)
        pending = Check(model, unchecked=True)
        try:
            lowered = onnx_import.lower_to_text(model)
        except onnx_import.ImportFailed:
            onnx_import.check_valid(model)  # raises a better error
            raise
    del model

    def check(program: Any) -> None:
        try:
            run = as_function(program) if program is not None else compile_lowered(lowered)
            pending.finish(run, lambda: _load_onnx(path, shapes))
        except onnx_import.ImportFailed as error:
            raise LayoutError(f"{path}: {error}") from error

    return lowered, check


def compile_apart(
    module: Any, directory: str, compile: Callable[[str], bool], load: Callable[[str, bool], bool]
) -> None:
    """Calls compile(directory) in a child process, and load(directory, its result) here. The memory of the importer and
    the compiler is free then. If `directory` is empty, a temporary one is used. Does nothing for modules in memory, for
    files above 256 MB, if other threads of Python run, whose locks a child process would inherit, and if no process can be
    started."""
    path = _as_path(module)
    if path is None or path.stat().st_size > _MOST_APART or threading.active_count() > 1:
        return
    # Imported here, because programs of text and cached ones do not need them.
    import tempfile
    import warnings

    from layout_mlir.isolated import Crashed, isolated

    with contextlib.nullcontext(directory) if directory else tempfile.TemporaryDirectory() as folder:
        try:
            result, warned = isolated(_record_warnings, compile, folder, seconds=_SECONDS_APART)
        except Crashed as error:
            from layout_mlir import LayoutError

            raise LayoutError(f"{path}: the process of the compiler {error}") from error
        except OSError:  # no process can be started, or the error occurs again here
            return
        if load(folder, result):
            for message, category in warned:
                warnings.warn(message, category, stacklevel=2)


def _record_warnings(function: Callable[[str], bool], folder: str) -> tuple[bool, list[tuple[str, type[Warning]]]]:
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return function(folder), [(str(each.message), each.category) for each in caught]


def _read_gguf(path: pathlib.Path, shapes: _Shapes) -> Any:
    from layout_mlir import gguf_import

    with _located(path):
        return gguf_import.lower_file(gguf_import.File(path), gguf_import.count_tokens(shapes))


def _load_onnx(path: pathlib.Path, shapes: _Shapes) -> Any:
    from layout_mlir import onnx_import, torch_import
    from layout_mlir.onnx_import.shapes import set_shapes

    model = torch_import.read(path)
    set_shapes(model, shapes)
    return onnx_import.prepare_unchecked(model)


def _as_path(module: Any) -> pathlib.Path | None:
    is_file = isinstance(module, os.PathLike) or isinstance(module, str) and module.endswith(_SUFFIXES)
    return pathlib.Path(module) if is_file else None


def get_source(module: Any, shapes: _Shapes | None = None) -> list[Any] | None:
    """Returns buffers that determine the result of open_module, or None if the result depends on further files."""
    if isinstance(module, tuple) and len(module) == 2 and isinstance(module[1], Mapping):
        found = get_source(module[0])
        if found is None:
            return None
        arrays = sorted(module[1].items())
        return [*found, *(part for name, array in arrays for part in (name.encode(), _as_bytes(array)))]
    path = _as_path(module)
    if path is None:
        text = module.encode(errors="surrogatepass") if isinstance(module, str) else module
        return [text] if isinstance(text, bytes) else None
    if path.suffix == GGUF_SUFFIX:  # the module depends on the header of the file alone
        from layout_mlir import LayoutError

        try:
            return get_source(_read_gguf(path, shapes or {}))
        except LayoutError:
            return None  # open_module reports the error
    try:
        data = _map(path)
        imported = [f"{path.suffix} {sorted((shapes or {}).items(), key=str)}".encode(), _importers()]
        if path.suffix in ONNX_SUFFIXES:
            # torch translates a torch.export program; an ONNX model that contains "location" may have weights in other
            # files.
            if path.suffix != ".onnx" or data.find(b"location") >= 0:
                return None
            imported.append(_describe_onnx())
    except (ImportError, OSError, ValueError):
        return None  # open_module reports the error
    return [*imported, data]


def _as_bytes(array: Any) -> Any:
    import numpy as np

    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


@functools.cache
def _describe_onnx() -> bytes:
    """Returns the names of the folders with onnx's metadata, which contain its version. Imports neither onnx nor
    importlib.metadata, which take longer than loading a small program. Raises ImportError if there is no such
    folder."""
    spec = importlib.util.find_spec("onnx")
    packages = pathlib.Path(spec.origin).parents[1] if spec and spec.origin else None
    names = sorted(each.name for each in packages.glob("onnx[-_]*-info")) if packages else []
    if not names:
        raise ImportError("onnx is not installed with metadata")
    return " ".join(names).encode()


@functools.cache
def _importers() -> bytes:
    """Returns the source of this package, for the cache key of imported models."""
    return b"".join(file.read_bytes() for file in sorted(pathlib.Path(__file__).parent.rglob("*.py")))


def _map(path: pathlib.Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _without_weights(data: bytes | mmap.mmap) -> bytes:
    """Returns the bytecode without its resource section, or all of it if it is malformed."""
    try:
        return _join_sections(data)
    except (IndexError, ZeroDivisionError):
        return bytes(data)


def _join_sections(data: bytes | mmap.mmap) -> bytes:

    def read_number(at: int) -> tuple[int, int]:
        # The length in bytes is one more than the number of trailing zero bits of the first byte.
        size = (data[at] & -data[at]).bit_length() or 9
        number = int.from_bytes(data[at : at + size], "little")
        return number >> size if size < 9 else number >> 8, at + size

    at = read_number(len(_BYTECODE))[1]
    at = data.find(b"\0", at) + 1  # after the producer string
    parts = [data[:at]]
    while at < len(data):
        section = data[at]
        size, at = read_number(at + 1)
        if section & 0x80:
            alignment, at = read_number(at)
            at += -at % alignment
        if section & 0x7F != _RESOURCES:
            parts.append(data[at : at + size])
        at += size
    return b"".join(parts)


@contextlib.contextmanager
def _located(path: pathlib.Path) -> Iterator[None]:
    """Raises errors of reading a file as LayoutErrors that name the file."""
    from layout_mlir import LayoutError, onnx_import
    from layout_mlir.onnx_import.shapes import WrongShape

    try:
        yield
    except (ImportError, OSError, UnicodeError, onnx_import.ImportFailed, WrongShape) as error:
        raise LayoutError(f"{path}: {error}") from error


def _read_file(path: pathlib.Path, maps: bool) -> str | bytes | mmap.mmap | tuple[str, Mapping[str, Any]]:
    from layout_mlir import stablehlo_import

    with _located(path):
        with path.open("rb") as file:
            is_bytecode = file.read(len(_BYTECODE)) == _BYTECODE
        data = _map(path) if is_bytecode and maps else path.read_bytes()
        if stablehlo_import.is_stablehlo(_without_weights(data) if is_bytecode else bytes(data)):
            return stablehlo_import.lower_to_text(bytes(data))
        return data if is_bytecode else bytes(data).decode()
