"""Runs functions, called by one program, on three chips in the simulator and compares them with numpy. Programs for
BM1684 also run on the vendor's chip model, if it is installed (vendor_model.py)."""

import pathlib
import sys

import numpy as np

from layout_mlir.tools import run_tool
from vendor_model import Program

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(19)
cases = []  # (function, inputs, expected results, tolerance)


def compile_for(text, chip, costs=""):
    """Compiles a module for a chip, stated by its quoted name or its parameters. `costs` continues the target."""
    source, lowered = folder / "source.mlir", folder / "lowered.mlir"
    source.write_text(text)
    run_tool("layout-opt", source, f"--layout-to-npu=target={{#layout.npu<chip = #npu.target<{chip}>{costs}>}}", "-o",
             lowered)
    return Program(lowered, folder=folder / "package")


def run_functions(text, chip, *inputs, costs=""):
    """Runs a module that must become functions of the chip alone, without kernels, and returns its results."""
    program = compile_for(text, chip, costs)
    assert program.kernels == 0
    return program.run(*inputs).outputs


def draw(*shape):
    return random.standard_normal(shape).astype(np.float32)


def tensor(shape, element="f32"):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def typed(array):
    """Returns the type of an array; numbers of other types are expected values of f32 results."""
    names = {"int32": "i32", "int64": "i64", "int8": "i8", "bool": "i1"}
    return tensor(array.shape, names.get(array.dtype.name, "f32"))


def dense(array):
    return f"dense<{np.array2string(array, separator=',', threshold=sys.maxsize).replace(chr(10), '')}>"


def case(lines, inputs, wanted, tolerance=1e-5):
    arguments = ", ".join(f"%x{i}: {typed(x)}" for i, x in enumerate(inputs))
    cases.append((f"func.func private @case{len(cases)}({arguments}) -> {typed(wanted)} {{\n{lines}\n"
                  f"  return %r : {typed(wanted)}\n}}\n", inputs, wanted, tolerance))


def generic(result, rank, ins, body, out, maps=None, init="%e"):
    """Returns the text of %result of an op without reductions; `ins` is [(name, type)]."""
    dims = ", ".join("abcdef"[:rank])
    maps = [*(maps or [f"({dims}) -> ({dims})"] * len(ins)), f"({dims}) -> ({dims})"]
    maps = ", ".join(f"affine_map<{each}>" for each in maps)
    kinds = ", ".join(['"parallel"'] * rank)
    reads = f"ins({', '.join(n for n, _ in ins)} : {', '.join(t for _, t in ins)}) " if ins else ""
    return (f"  {init} = tensor.empty() : {out}\n"
            f"  {result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {reads}"
            f"outs({init} : {out}) {{\n  {body}\n  }} -> {out}")


def run_all():
    """Runs all cases in one program per chip."""
    inputs, calls, returned, types = [], [], [], []
    for number, (_, given, wanted, _) in enumerate(cases):
        names = [f"%y{len(inputs) + i}" for i in range(len(given))]
        calls.append(f"  %r{number} = func.call @case{number}({', '.join(names)}) : "
                     f"({', '.join(map(typed, given))}) -> {typed(wanted)}")
        inputs += given
        returned.append(f"%r{number}")
        types.append(typed(wanted))
    arguments = ", ".join(f"%y{i}: {typed(x)}" for i, x in enumerate(inputs))
    text = ("".join(function for function, *_ in cases) +
            f"func.func @main({arguments}) -> ({', '.join(types)}) {{\n" + "\n".join(calls) +
            f"\n  return {', '.join(returned)} : {', '.join(types)}\n}}\n")
    for chip in ("BM1684", "BM1684X", "BM1688"):
        program = compile_for(text, f'"{chip}"', ", launch_cost = 4096, flops_per_byte = 32")
        outputs = program.run(*inputs).outputs
        for number, (output, (_, _, wanted, tolerance)) in enumerate(zip(outputs, cases, strict=True)):
            np.testing.assert_allclose(output, wanted, rtol=tolerance, atol=tolerance, err_msg=f"{chip}, case {number}")
        print(f"{chip}: {len(outputs)} results, {program.kernels} kernels")
