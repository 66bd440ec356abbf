# REQUIRES: aarch64
# RUN: %python %s
# Kernels that are compiled for AArch64 on another processor compute there what numpy does: an
# emulator runs them. Extents are ragged, so that every tile that is cut off runs too.
import pathlib
import subprocess
import tempfile

import numpy as np

from layout_mlir.tools import run_tool

LIBRARIES = "/usr/aarch64-linux-gnu"
MAIN = pathlib.Path(__file__).parent / "Inputs" / "call_kernels.c"
ELEMENTS = {"f32": np.float32, "i8": np.int8, "i32": np.int32}
rng = np.random.default_rng(0)


def named(op):
    return lambda ins, out: (f"%r = linalg.{op} ins(%a, %b : {', '.join(ins)}) outs(%f : {out}) -> {out}")


def elementwise(ins, out):
    dims = "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>"
    return f"""%r = linalg.generic {{indexing_maps = [{dims}], iterator_types = ["parallel", "parallel"]}}
      ins(%a, %b : {', '.join(ins)}) outs(%f : {out}) {{
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      %t = arith.mulf %s, %s : f32
      %u = arith.maximumf %t, %y : f32
      linalg.yield %u : f32
    }} -> {out}"""


def convolution(x, w):
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nihwyx,oiyx->nohw", windows, w)


# Name: the op, the shapes of both inputs and of the result with their elements, and what it computes.
KERNELS = {
    "convolution": (named("conv_2d_nchw_fchw"), ("1x5x9x21", "f32"), ("6x5x3x3", "f32"), ("1x6x7x19", "f32"),
                    convolution),
    "product": (named("matmul"), ("13x17", "f32"), ("17x39", "f32"), ("13x39", "f32"), np.matmul),
    "elements": (elementwise, ("7x41", "f32"), ("41", "f32"), ("7x41", "f32"),
                 lambda x, y: np.maximum((x + y) ** 2, y)),
    "integers": (named("matmul"), ("13x17", "i8"), ("17x39", "i8"), ("13x39", "i32"),
                 lambda x, y: x.astype(np.int32) @ y.astype(np.int32)),
}


def sizes_of(shape):
    return [int(size) for size in shape.split("x")]


def function(name, op, left, right, result):
    ins = [f"tensor<{shape}x{element}>" for shape, element in (left, right)]
    out = f"tensor<{'x'.join(result)}>"
    zero = "0.0" if result[1] == "f32" else "0"
    return f"""func.func @{name}(%a: {ins[0]}, %b: {ins[1]}) -> {out} {{
  %zero = arith.constant {zero} : {result[1]}
  %e = tensor.empty() : {out}
  %f = linalg.fill ins(%zero : {result[1]}) outs(%e : {out}) -> {out}
  {op(ins, out)}
  return %r : {out}
}}"""


def c_shape(shape, element):
    sizes = sizes_of(shape)
    return f"SHAPE({{{len(sizes)}, {{{', '.join(map(str, sizes))}}}, {np.dtype(ELEMENTS[element]).itemsize}}})"


def build(folder, cpu):
    """The emulated program; returns the assembly of the kernels, too."""
    source, lowered, code = folder / "kernels.mlir", folder / "lowered.mlir", folder / "kernels.ll"
    source.write_text("\n".join(function(name, *kernel[:4]) for name, kernel in KERNELS.items()))
    run_tool("layout-opt", source, f"--layout-linalg-to-llvm=cpu={cpu} parallel-loops=false", "-o", lowered)
    subprocess.run(["mlir-translate-22", "--mlir-to-llvmir", lowered, "-o", code], check=True)
    clang = ["clang-22", "--target=aarch64-linux-gnu", f"-mcpu={cpu}", "-O2", "-Wno-override-module"]
    subprocess.run([*clang, "-S", code, "-o", folder / "kernels.s"], check=True)
    calls = " ".join(f"CALL({name}, {', '.join(c_shape(*each) for each in kernel[1:4])})"
                     for name, kernel in KERNELS.items())
    start = [f"{LIBRARIES}/lib/{name}" for name in ("crt1.o", "crti.o")]
    subprocess.run([*clang, f"-DCALLS={calls}", f"-isystem{LIBRARIES}/include", "-fuse-ld=lld", "-nostdlib",
                    f"-L{LIBRARIES}/lib", *start, MAIN, folder / "kernels.s", "-lc", "-lm",
                    f"{LIBRARIES}/lib/crtn.o", "-o", folder / "program"], check=True)
    return (folder / "kernels.s").read_text()


def drawn(shape, element):
    size = sizes_of(shape)
    if element == "f32":
        return rng.standard_normal(size).astype(np.float32)
    return rng.integers(-128, 128, size).astype(ELEMENTS[element])


for cpu in ("neoverse-n1", "neoverse-v1"):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        assembly = build(folder, cpu)
        inputs = {name: [drawn(*each) for each in kernel[1:3]] for name, kernel in KERNELS.items()}
        given = b"".join(array.tobytes() for pair in inputs.values() for array in pair)
        output = subprocess.run(["qemu-aarch64", "-L", LIBRARIES, folder / "program"], input=given,
                                stdout=subprocess.PIPE, check=True).stdout
    assert "fmla\tv" in assembly and ".4s" in assembly, "no NEON"
    for name, kernel in KERNELS.items():
        wanted = kernel[4](*inputs[name])
        got = np.frombuffer(output, ELEMENTS[kernel[3][1]], wanted.size).reshape(wanted.shape)
        output = output[got.nbytes:]
        limit = 1e-5 * np.abs(wanted).max() if kernel[3][1] == "f32" else 0
        assert np.abs(got - wanted).max() <= limit, name
    assert not output
