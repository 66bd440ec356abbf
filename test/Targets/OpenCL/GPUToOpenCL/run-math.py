# Check every function of one or two numbers that kernels support, on the device, against numpy: on f32 as scalars and
# as 4-element vectors, and on integers including negative ones.

# REQUIRES: opencl-device
# RUN: %python %s %t
# RUN: layout-opt %t.kernels.mlir -layout-gpu-to-opencl -o %t.mlir
# RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.i.npy --output=%t.scalar.y.npy --output=%t.scalar.j.npy --output=%t.vector.y.npy --output=%t.vector.j.npy
# RUN: %python %s %t --check

import math
import sys

import numpy as np

N = 32
x = np.linspace(-3, 3, N, dtype="f4")
i = np.arange(-N // 2, N - N // 2, dtype="i4") * 3
positive = lambda v: np.abs(v) + np.float32(0.25)
each = lambda f: lambda v: np.array([f(float(e)) for e in v])

FLOATS = {  # op: (reference, argument)
    "math.absf": np.abs, "math.atan": np.arctan, "math.cbrt": np.cbrt, "math.ceil": np.ceil,
    "math.cos": np.cos, "math.erf": each(math.erf), "math.erfc": each(math.erfc), "math.exp": np.exp,
    "math.exp2": np.exp2, "math.expm1": np.expm1, "math.floor": np.floor,
    "math.round": lambda v: np.sign(v) * np.floor(np.abs(v) + 0.5), "math.roundeven": np.round,
    "math.sin": np.sin, "math.tanh": np.tanh, "math.trunc": np.trunc, "arith.negf": np.negative,
}
POSITIVE = {
    "math.log": np.log, "math.log10": np.log10, "math.log1p": np.log1p, "math.log2": np.log2,
    "math.rsqrt": lambda v: 1 / np.sqrt(v), "math.sqrt": np.sqrt,
}
PAIRS = {  # of x and |x| + 0.25
    "arith.addf": np.add, "arith.divf": np.divide, "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum, "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin,
    "arith.mulf": np.multiply, "arith.remf": np.fmod, "arith.subf": np.subtract,
    "math.atan2": np.arctan2, "math.copysign": lambda a, b: np.copysign(b, a),
}
INTEGERS = {  # of i and 7
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply,
    "arith.divsi": lambda a, b: np.trunc(a / b), "arith.remsi": np.fmod,
    "arith.ceildivsi": lambda a, b: np.ceil(a / b), "arith.floordivsi": np.floor_divide,
    "arith.maxsi": np.maximum, "arith.minsi": np.minimum, "arith.shrsi": lambda a, b: a >> b,
    "arith.shli": lambda a, b: a << b, "arith.andi": np.bitwise_and, "arith.xori": np.bitwise_xor,
    "arith.maxui": lambda a, b: np.maximum(a.view("u4"), np.uint32(b)).view("i4"),
    "arith.divui": lambda a, b: (a.view("u4") // np.uint32(b)).view("i4"),
}
bits = lambda v: np.array([f"{int(e) & 0xffffffff:032b}" for e in v])
BITS = {  # of i
    "math.absi": lambda a, _: np.abs(a), "math.ctpop": lambda a, _: [b.count("1") for b in bits(a)],
    "math.cttz": lambda a, _: [32 - len(b.rstrip("0")) for b in bits(a)],
    "math.ctlz": lambda a, _: [32 - len(b.lstrip("0")) for b in bits(a)],
}
INTEGERS.update(BITS)


def kernels(scalar_or_vector, floats, integers):
    """Returns the bodies: results are rows of the output buffers."""
    lines = []
    row = 0

    def store(value, kind, buffer, size):
        nonlocal row
        lines.append(f"%r{buffer}{row} = arith.constant {row * N} : index")
        lines.append(f"%a{buffer}{row} = arith.addi %r{buffer}{row}, %at : index")
        if scalar_or_vector != "scalar":
            lines.append(f"%e{buffer}{row} = vector.extract {value}[2] : {kind} from vector<4x{kind}>")
            value = f"%e{buffer}{row}"
        lines.append(f"memref.store {value}, %{buffer}[%a{buffer}{row}] : memref<{size}x{kind}, \"buffer\">")
        row += 1

    f, g = ("f32", "i32") if scalar_or_vector == "scalar" else ("vector<4xf32>", "vector<4xi32>")
    for op in floats:
        a, b = ("%x", None) if op in FLOATS else ("%p", None) if op in POSITIVE else ("%x", "%p")
        if op == "math.copysign":
            a, b = b, a
        lines.append(f"%v{row} = {op} {a}{', ' + b if b else ''} : {f}")
        store(f"%v{row}", "f32", "y", len(floats) * N)
    row = 0
    for op in integers:
        lines.append(f"%w{row} = {op} %i{'' if op in BITS else ', %seven'} : {g}")
        store(f"%w{row}", "i32", "j", len(integers) * N)
    return "\n      ".join(lines)


def module():
    floats, integers = [*FLOATS, *POSITIVE, *PAIRS], [*INTEGERS]
    nf, ni = len(floats) * N, len(integers) * N
    text = "module attributes {gpu.container_module} {\n  gpu.module @k {\n"
    for name in ("scalar", "vector"):
        wide = name == "vector"
        make = (lambda to, what, kind: f"%{to} = vector.broadcast %{what} : {kind} to vector<4x{kind}>") if wide \
            else (lambda to, what, kind: f"%{to} = arith.select %yes, %{what}, %{what} : {kind}")
        f = "vector<4xf32>" if wide else "f32"
        quarter = "dense<0.25> : vector<4xf32>" if wide else "0.25 : f32"
        text += f"""    gpu.func @{name}(%bx: memref<{N}xf32, "buffer">, %bi: memref<{N}xi32, "buffer">,
        %y: memref<{nf}xf32, "buffer">, %j: memref<{ni}xi32, "buffer">) kernel {{
      %at = gpu.global_id x
      %yes = arith.constant true
      %sx = memref.load %bx[%at] : memref<{N}xf32, "buffer">
      %si = memref.load %bi[%at] : memref<{N}xi32, "buffer">
      %s7 = arith.constant 7 : i32
      {make("x", "sx", "f32")}
      {make("i", "si", "i32")}
      {make("seven", "s7", "i32")}
      %quarter = arith.constant {quarter}
      %abs = math.absf %x : {f}
      %p = arith.addf %abs, %quarter : {f}
      {kernels(name, floats, integers)}
      gpu.return
    }}
"""
    ty, tj = f"{nf}xf32", f"{ni}xi32"
    results = f"memref<{ty}>, memref<{tj}>, memref<{ty}>, memref<{tj}>"
    tensors = results.replace("memref", "tensor")
    text += f"""  }}
  func.func @main(%x: memref<{N}xf32>, %i: memref<{N}xi32>) -> ({results})
      attributes {{llvm.emit_c_interface, layout.signature = (tensor<{N}xf32>, tensor<{N}xi32>) -> ({tensors})}} {{
    %c1 = arith.constant 1 : index
    %n = arith.constant {N} : index
    %bx = gpu.alloc () : memref<{N}xf32, "buffer">
    %bi = gpu.alloc () : memref<{N}xi32, "buffer">
    gpu.memcpy %bx, %x : memref<{N}xf32, "buffer">, memref<{N}xf32>
    gpu.memcpy %bi, %i : memref<{N}xi32, "buffer">, memref<{N}xi32>
    %y = gpu.alloc () : memref<{ty}, "buffer">
    %j = gpu.alloc () : memref<{tj}, "buffer">
"""
    for name in ("scalar", "vector"):
        text += f"""    gpu.launch_func @k::@{name} blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1)
        args(%bx : memref<{N}xf32, "buffer">, %bi : memref<{N}xi32, "buffer">, %y : memref<{ty}, "buffer">, %j : memref<{tj}, "buffer">)
    %hy_{name} = memref.alloc() : memref<{ty}>
    %hj_{name} = memref.alloc() : memref<{tj}>
    gpu.memcpy %hy_{name}, %y : memref<{ty}>, memref<{ty}, "buffer">
    gpu.memcpy %hj_{name}, %j : memref<{tj}>, memref<{tj}, "buffer">
"""
    return text + f"""    gpu.dealloc %bx : memref<{N}xf32, "buffer">
    gpu.dealloc %bi : memref<{N}xi32, "buffer">
    gpu.dealloc %y : memref<{ty}, "buffer">
    gpu.dealloc %j : memref<{tj}, "buffer">
    return %hy_scalar, %hj_scalar, %hy_vector, %hj_vector : {results}
  }}
}}
"""


def check(stem):
    wide = x.astype("f8")
    rows = [(op, f(wide)) for op, f in FLOATS.items()]
    rows += [(op, f(positive(wide))) for op, f in POSITIVE.items()]
    rows += [(op, f(wide, positive(wide))) for op, f in PAIRS.items()]
    ints = [(op, np.asarray(f(i, np.int32(7))).astype("i4")) for op, f in INTEGERS.items()]
    for name in ("scalar", "vector"):
        for (op, expected), row in zip(rows, np.load(f"{stem}.{name}.y.npy").reshape(-1, N)):
            np.testing.assert_allclose(row, expected, rtol=2e-6, atol=1e-6, err_msg=f"{name} {op}")
        for (op, expected), row in zip(ints, np.load(f"{stem}.{name}.j.npy").reshape(-1, N)):
            np.testing.assert_array_equal(row, expected, err_msg=f"{name} {op}")


if sys.argv[2:] == ["--check"]:
    check(sys.argv[1])
else:
    np.save(sys.argv[1] + ".x.npy", x)
    np.save(sys.argv[1] + ".i.npy", i)
    with open(sys.argv[1] + ".kernels.mlir", "w", encoding="utf-8") as file:
        file.write(module())
