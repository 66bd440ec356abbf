"""The C API of the solver (layout-c/Solver.h), loaded by ctypes."""

from __future__ import annotations

import ctypes
import pathlib
from collections.abc import Sequence
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import Any, ClassVar

NUMBERS = POINTER(c_int64)
TEXT_CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_size_t, c_void_p)


class TensorEnd(ctypes.Structure):
    """LayoutTensorEnd."""
    _fields_: ClassVar[Sequence[Any]] = [("variable", c_int64), ("count", c_int64), ("layouts", NUMBERS)]


class SolveOptions(ctypes.Structure):
    """LayoutSolveOptions."""
    _fields_: ClassVar[Sequence[Any]] = [
        ("size", c_size_t), ("max_nodes", c_int64), ("max_work", c_int64), ("max_table", c_int64),
        ("max_total", c_int64), ("max_seconds", c_double), ("num_initial", c_int64), ("initial", NUMBERS),
        ("certify", c_int)]


class Answer(ctypes.Structure):
    """LayoutSolution."""
    _fields_: ClassVar[Sequence[Any]] = [
        ("cost", c_int64), ("lower_bound", c_int64), ("num_values", c_int64), ("values", NUMBERS),
        ("num_open", c_int64), ("open", NUMBERS), ("num_copies", c_int64), ("copies", NUMBERS), ("amount", c_int64),
        ("least_amount", c_int64), ("nodes", c_int64), ("work", c_int64), ("seconds", c_double),
        ("certificate", c_char_p)]


_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "layoutProblemCreate": (c_void_p, []),
    "layoutProblemDestroy": (None, [c_void_p]),
    "layoutProblemGetError": (c_char_p, [c_void_p]),
    "layoutProblemAddVariables": (c_int64, [c_void_p, c_int64, NUMBERS, NUMBERS]),
    "layoutProblemAddTables": (c_int, [c_void_p, c_int64, c_int64, NUMBERS, c_int64, c_int64, NUMBERS]),
    "layoutProblemAddTensor": (c_int64, [c_void_p, POINTER(TensorEnd), c_int64, POINTER(TensorEnd), c_int64, NUMBERS]),
    "layoutProblemSetBudget": (c_int, [c_void_p, c_int64, c_int64, c_int64, NUMBERS, NUMBERS, NUMBERS]),
    "layoutProblemSolve": (POINTER(Answer), [c_void_p, POINTER(SolveOptions)]),
    "layoutSolve": (c_int, [c_char_p, c_size_t, POINTER(SolveOptions), TEXT_CALLBACK, c_void_p]),
}


def load(folders: Sequence[str]) -> ctypes.CDLL:
    """Loads the library from the first of the folders that has it."""
    name = "libLayoutSolverC.so"
    paths = [path for folder in folders if (path := pathlib.Path(folder) / name).exists()]
    if not paths:
        raise ImportError(f"layout_solver needs {name}: install its wheel, or build the target LayoutSolverC")
    library = ctypes.CDLL(str(paths[0]))
    for function, (result, arguments) in _FUNCTIONS.items():
        getattr(library, function).restype = result
        getattr(library, function).argtypes = arguments
    return library
