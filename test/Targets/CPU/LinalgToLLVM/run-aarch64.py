# REQUIRES: aarch64
# RUN: %python %s
# Check that kernels cross-compiled for AArch64 compute numpy's results in an emulator. Extents are uneven, so that
# every partial tile is covered.
import math
import pathlib
import subprocess
import tempfile

import numpy as np

from layout_mlir.tools import run_tool

LIBRARIES = "/usr/aarch64-linux-gnu"
MAIN = pathlib.Path(__file__).parent / "Inputs" / "call_kernels.c"
ELEMENTS = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32}
# The names of this project, and those of clang.
CPUS = {"aarch64": "generic", "neoverse-n1": "neoverse-n1", "neoverse-v1": "neoverse-v1", "apple-m1": "apple-m1"}
rng = np.random.default_rng(0)


def named(op):
    return lambda ins, out: (f"%r = linalg.{op} ins(%a, %b : {', '.join(ins)}) outs(%f : {out}) -> {out}")


def elementwise(*body):
    """Returns an op on %x and %y, which is broadcast over rows, to %u; {e} is the element type."""
    maps = "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>"

    def op(ins, out):
        element = out.rstrip(">").rsplit("x", 1)[1]
        lines = "\n      ".join(body).format(e=element)
        return f"""%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      ins(%a, %b : {', '.join(ins)}) outs(%f : {out}) {{
    ^bb0(%x: {element}, %y: {element}, %o: {element}):
      {lines}
      linalg.yield %u : {element}
    }} -> {out}"""
    return op


IMAGE = "1x21x9x13xf32"


def written_as(order):
    def op(ins, out):
        stored = f'tensor<{IMAGE}, #layout.blocked<"NCHW" to "{order}">>'
        return (f"%s = layout.convert %a : {ins[0]} to {stored}\n"
                f"  %r = layout.storage_view %s : {stored} to {out}")
    return op


def read_as(order):
    def op(ins, out):
        stored = f'tensor<{IMAGE}, #layout.blocked<"NCHW" to "{order}">>'
        return (f"%s = layout.storage_view %a : {ins[0]} to {stored}\n"
                f"  %r = layout.convert %s : {stored} to {out}")
    return op


def convolution(x, w):
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nihwyx,oiyx->nohw", windows, w, dtype=np.promote_types(x.dtype, np.int32))


def depthwise(x, w):
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[1:], axis=(2, 3))
    return np.einsum("nchwyx,cyx->nchw", windows, w)


def blocked(x, _):
    padded = np.pad(x, ((0, 0), (0, 11), (0, 0), (0, 0)))
    return padded.reshape(1, 2, 16, 9, 13).transpose(0, 1, 3, 4, 2)


SQUARES = elementwise("%s = arith.addf %x, %y : {e}", "%t = arith.mulf %s, %s : {e}",
                      "%u = arith.maximumf %t, %y : {e}")
EXP = elementwise("%s = arith.mulf %x, %y : {e}", "%u = math.exp %s : {e}")
ERF = elementwise("%s = math.erf %x : {e}", "%u = arith.mulf %s, %y : {e}")
erf = np.vectorize(math.erf)

# Name: the op, the shapes of both inputs and of the result with their elements, and its definition.
KERNELS = {
    "convolution": (named("conv_2d_nchw_fchw"), ("1x5x9x21", "f32"), ("6x5x3x3", "f32"), ("1x6x7x19", "f32"),
                    convolution),
    "of_halves": (named("conv_2d_nchw_fchw"), ("1x5x9x21", "f16"), ("6x5x3x3", "f16"), ("1x6x7x19", "f16"),
                  convolution),
    "of_bytes": (named("conv_2d_nchw_fchw"), ("1x5x9x21", "i8"), ("6x5x3x3", "i8"), ("1x6x7x19", "i32"),
                 convolution),
    "depthwise": (named("depthwise_conv_2d_nchw_chw"), ("1x7x9x21", "f32"), ("7x3x3", "f32"),
                  ("1x7x7x19", "f32"), depthwise),
    "product": (named("matmul"), ("13x17", "f32"), ("17x39", "f32"), ("13x39", "f32"), np.matmul),
    "products": (named("batch_matmul"), ("3x13x17", "f32"), ("3x17x39", "f32"), ("3x13x39", "f32"), np.matmul),
    "halves": (named("matmul"), ("13x17", "f16"), ("17x39", "f16"), ("13x39", "f16"), np.matmul),
    "integers": (named("matmul"), ("13x17", "i8"), ("17x39", "i8"), ("13x39", "i32"),
                 lambda x, y: x.astype(np.int32) @ y.astype(np.int32)),
    "elements": (SQUARES, ("7x41", "f32"), ("41", "f32"), ("7x41", "f32"),
                 lambda x, y: np.maximum((x + y) ** 2, y)),
    "exponents": (EXP, ("7x41", "f32"), ("41", "f32"), ("7x41", "f32"), lambda x, y: np.exp(x * y)),
    "errors": (ERF, ("7x41", "f32"), ("41", "f32"), ("7x41", "f32"), lambda x, y: erf(x) * y),
    "half_exponents": (EXP, ("7x41", "f16"), ("41", "f16"), ("7x41", "f16"),
                       lambda x, y: np.exp((x * y).astype(np.float32))),
    "to_channels_last": (written_as("NHWC"), ("1x21x9x13", "f32"), ("1", "f32"), ("1x9x13x21", "f32"),
                         lambda x, _: x.transpose(0, 2, 3, 1)),
    "to_blocks": (written_as("NCHW16c"), ("1x21x9x13", "f32"), ("1", "f32"), ("1x2x9x13x16", "f32"), blocked),
    "to_rows": (read_as("NHWC"), ("1x9x13x21", "f32"), ("1", "f32"), ("1x21x9x13", "f32"),
                lambda x, _: x.transpose(0, 3, 1, 2)),
}
# The tolerance relative to the largest value of a result.
LIMITS = {"f32": 1e-5, "f16": 2e-2, "i32": 0}


def sizes_of(shape):
    return [int(size) for size in shape.split("x")]


def function(name, op, left, right, result):
    ins = [f"tensor<{shape}x{element}>" for shape, element in (left, right)]
    out = f"tensor<{'x'.join(result)}>"
    zero = "0.0" if result[1].startswith("f") else "0"
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
    """Builds the emulated program, and returns the assembly of the kernels, too."""
    source, lowered, code = folder / "kernels.mlir", folder / "lowered.mlir", folder / "kernels.ll"
    source.write_text("\n".join(function(name, *kernel[:4]) for name, kernel in KERNELS.items()))
    run_tool("layout-opt", source, "--convert-layout-to-linalg", f"--layout-linalg-to-llvm=cpu={cpu} parallel-loops=false", "-o", lowered)
    subprocess.run(["mlir-translate-22", "--mlir-to-llvmir", lowered, "-o", code], check=True)
    clang = ["clang-22", "--target=aarch64-linux-gnu", f"-mcpu={CPUS[cpu]}", "-O2", "-Wno-override-module"]
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
    if element.startswith("f"):
        return rng.standard_normal(size).astype(ELEMENTS[element])
    return rng.integers(-128, 128, size).astype(ELEMENTS[element])


for cpu in CPUS:
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
        limit = LIMITS[kernel[3][1]] * np.abs(wanted).max()
        assert np.abs(got.astype(np.float64) - wanted).max() <= limit, (cpu, name)
    assert not output
