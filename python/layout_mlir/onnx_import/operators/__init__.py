"""The ONNX operators, one file for each kind; importing the package fills the operator table of node.py."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
