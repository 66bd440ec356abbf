"""Layouts of tensors for ML compilers.

`Layout` and the other names of `__all__` come from the C++ extension: layouts as values, and `assign` and `compile` for
modules; `solve` comes from the package `layout_solver`. The other modules are the importers of ONNX and StableHLO models
and tools around layout-opt. The extension is loaded when one of these names is first used.
"""

import importlib
import os
import pkgutil
import sys
from typing import TYPE_CHECKING

# A build directory has the extension in a package directory of its own.
__path__ = pkgutil.extend_path(__path__, __name__)
__all__ = ["ArrayType", "AssignedConversion", "Assignment", "Bundle", "Conversion", "Layout", "LayoutError", "PricedOp",
           "Program", "Target", "assign", "attach_constants", "check", "compile", "onnx_session", "run_pipeline", "solve"]
# The modules of the names that the extension does not have.
_MODULES = {"check": ".descriptors", "onnx_session": ".sessions", "solve": "layout_solver"}
__version__ = "0.1.0"

if TYPE_CHECKING:
    from layout_solver import solve

    from ._layout import (ArrayType, AssignedConversion, Assignment, Bundle, Conversion, Layout, LayoutError, PricedOp,
                          Program, Target, assign, attach_constants, compile, run_pipeline)
    from .descriptors import check
    from .sessions import onnx_session
else:
    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        if name in _MODULES:
            return getattr(importlib.import_module(_MODULES[name], __name__), name)
        flags = sys.getdlopenflags()
        # By default Python binds all functions of the libraries of MLIR and LLVM at once.
        sys.setdlopenflags(flags & ~os.RTLD_NOW | os.RTLD_LAZY)
        try:
            extension = importlib.import_module("._layout", __name__)
        except ModuleNotFoundError as error:
            raise ImportError(f"layout_mlir.{name} needs the extension module: run ./dev build, and "
                              "./dev python instead of python") from error
        finally:
            sys.setdlopenflags(flags)
        globals().update({known: getattr(extension, known) for known in __all__ if known not in _MODULES})
        return globals()[name]

    def __dir__():
        return sorted({*globals(), *__all__})
