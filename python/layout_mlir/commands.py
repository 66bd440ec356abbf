"""The commands of a wheel: `layout`, and one command per tool."""

import argparse
import functools
import importlib
import os
import pathlib
import sys
from typing import NoReturn

from layout_mlir import __version__
from layout_mlir.tools import ToolError, find_tool

_PACKAGE = pathlib.Path(__file__).parent

# Maps a command to the module with `main(arguments, command name)`, and to a description.
_COMMANDS = {
    "run": ("layout_mlir.run", "run a model with and without layouts, and compare"),
    "demo": ("demo.__main__", "run a generated network with and without layouts"),
    "networks": ("networks.__main__", "write a generated network as a module"),
    "import": ("layout_mlir.onnx_import.__main__", "write an ONNX model as a module"),
    "npu": ("layout_mlir.npu", "run an NPU program in the simulator"),
}


def main() -> int | None:
    parser = argparse.ArgumentParser(
        prog="layout", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="\n".join(f"{name:<10}{what}" for name, (_, what) in _COMMANDS.items()))
    parser.add_argument("--version", action="version", version=f"layout {__version__}")
    parser.add_argument("--plugin", action="version", version=str(_PACKAGE / "lib/LayoutPlugin.so"),
                        help="print the path of the plugin for mlir-opt, and exit")
    parser.add_argument("command", choices=_COMMANDS, metavar="command")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="`layout COMMAND --help` lists them")
    args = parser.parse_args()
    sys.path.insert(0, str(_PACKAGE / "examples"))
    module, _ = _COMMANDS[args.command]
    status: int | None = importlib.import_module(module).main(args.arguments, f"layout {args.command}")
    return status


def _execute(name: str) -> NoReturn:
    try:
        os.execv(find_tool(name), [name, *sys.argv[1:]])
    except ToolError as error:
        sys.exit(f"error: {error}")


layout_lsp_server = functools.partial(_execute, "layout-lsp-server")
layout_opt = functools.partial(_execute, "layout-opt")
layout_reduce = functools.partial(_execute, "layout-reduce")
layout_run = functools.partial(_execute, "layout-run")
layout_solve = functools.partial(_execute, "layout-solve")
layout_translate = functools.partial(_execute, "layout-translate")
