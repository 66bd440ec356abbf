"""Compiles the C++ of NPU programs by the compiler `CXX`, with the further options `LAYOUT_NPU_CXXFLAGS`."""

import os
import pathlib
import shlex
import subprocess
import tempfile
from collections.abc import Sequence

from . import LayoutError
from .tools import find_tool

# Contraction is off, so that sums are rounded as the loops are written.
FLAGS = ["-std=c++17", "-ffp-contract=off", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fPIC", "-pipe"]
# Command lists are calls and need no optimization. Kernels are loops to vectorize; their expressions omit parentheses.
CALL_FLAGS, KERNEL_FLAGS = ["-O1"], ["-O3", "-Wno-parentheses"]


def _find(relative: str, *folders: pathlib.Path) -> pathlib.Path:
    for folder in folders:
        if (folder / relative).exists():
            return folder / relative
    raise LayoutError(f"{relative} was not found in {', '.join(map(str, folders))}: run ./dev build")


def run_compiler(cxx: str | None, *arguments: str | pathlib.Path) -> None:
    """Runs the compiler `cxx`, by default `CXX`; raises LayoutError with its errors."""
    command = [*shlex.split(cxx or os.environ.get("CXX", "c++")), *map(str, arguments),
               *shlex.split(os.environ.get("LAYOUT_NPU_CXXFLAGS", ""))]
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    except FileNotFoundError as error:
        raise LayoutError(f"{command[0]} was not found: install a C++ compiler (Debian: g++), or set CXX") from error
    if done.returncode != 0:
        raise LayoutError(f"{shlex.join(command)}\n{done.stderr[:4000]}")


def find_build() -> pathlib.Path:
    """Returns the build directory, or the installed package, that has the tools."""
    return pathlib.Path(find_tool("layout-translate")).resolve().parents[1]


def find_includes() -> list[str]:
    """Returns the options by which programs find okk.h and the project's headers."""
    tree = pathlib.Path(__file__).resolve().parents[2]
    okk = _find("include/layout/Targets/NPU/Simulator/okk", tree, find_build())
    include = next(above for above in okk.parents if above.name == "include")
    return ["-I", str(include), "-I", str(okk)]


def compile_program(source: pathlib.Path, cxx: str | None, has_kernels: bool) -> bytes:
    """Returns the object file of an emitted program."""
    with tempfile.TemporaryDirectory(prefix="layout-npu-") as scratch:
        made = pathlib.Path(scratch, "program.o")
        run_compiler(cxx, *FLAGS, *(KERNEL_FLAGS if has_kernels else CALL_FLAGS), *find_includes(), "-c", source,
                     "-o", made)
        return made.read_bytes()


def link_program(program: bytes, cxx: str | None, library: pathlib.Path, *arguments: str | pathlib.Path) -> None:
    """Links an object file to a shared library. The functions of OKKernel are undefined, or in the arguments."""
    with tempfile.TemporaryDirectory(prefix=".layout-npu-", dir=library.parent) as scratch:
        source, made = pathlib.Path(scratch, "program.o"), pathlib.Path(scratch, library.name)
        source.write_bytes(program)
        run_compiler(cxx, "-shared", source, *arguments, "-o", made)
        os.replace(made, library)


def find_simulator() -> list[str | pathlib.Path]:
    """Returns the link options that add the simulator to a program."""
    build = find_build()
    # Python cannot load a sanitizer build, which is nested in the plain one.
    simulator = _find("lib/libLayoutNpuSimulator.a", build, build.parent)
    return ["-Wl,--whole-archive", simulator, "-Wl,--no-whole-archive"]
