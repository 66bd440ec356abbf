# Check every op that kernels support, on every type and vector width, printed as OpenCL C and as SPIR-V: on the device
# both give numpy's results.

# REQUIRES: opencl-device, llvm-spirv
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t 1
# RUN: %python %s %t 3
# RUN: %python %s %t 4
import os
import pathlib
import subprocess
import sys

import numpy as np

from layout_mlir.tools import run_tool

folder, lanes = pathlib.Path(sys.argv[1]), int(sys.argv[2])
N = 24 * lanes  # elements of an input
DTYPES = {"i1": "u1", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "index": "i8", "f32": "f4", "f64": "f8"}
STORED = {"i1": "i8", "index": "i64"}
BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
random = np.random.default_rng(5)


def make(kind, which):
    dtype = np.dtype(DTYPES[kind])
    if kind == "i1":
        return random.integers(0, 2, N).astype(dtype)
    if dtype.kind == "i":
        top = np.iinfo(dtype).max
        values = random.integers(-top - 1, top, N, dtype=dtype, endpoint=True)
        values[:6] = [0, 1, -1, top, -top - 1, 7]
        return np.where(values == 0, dtype.type(3), values) if which else values
    values = (random.standard_normal(N) * 9).astype(dtype)
    values[:8] = [0, -0.0, np.inf, -np.inf, np.nan, 1, -1.5, 2.5]
    return np.roll(values, 3) if which else values


INPUTS = {(kind, which): make(kind, which) for kind in DTYPES for which in range(2)}
for f in ("f32", "f64"):
    INPUTS["small " + f, 0] = np.linspace(-100, 100, N).astype(DTYPES[f])
    INPUTS["plus " + f, 0] = np.linspace(0.5, 100, N).astype(DTYPES[f])
for k in BITS:
    INPUTS["shift " + k, 0] = (np.arange(N) % BITS[k]).astype(DTYPES[k])
    INPUTS["seven " + k, 0] = np.full(N, 7, DTYPES[k])
CASES = []  # text of the op with {0} {1}, operands, kind of the result, reference


def case(text, operands, result, reference):
    CASES.append((text, operands, result, reference))


unsigned = lambda a: a.view(f"u{a.dtype.itemsize}")
PREDICATES = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
              "ge": np.greater_equal}
for k in BITS:
    pair, shift = [(k, 0), (k, 1)], [(k, 0), ("shift " + k, 0)]
    like = lambda f: lambda a, b: np.asarray(f(a, b)).astype(a.dtype)
    # In Python's unbounded integers.
    exact = lambda f: lambda a, b: np.array([f(int(x), int(y)) & (2**64 - 1) for x, y in zip(a, b)], "u8").astype(a.dtype)
    for name, f in {"add": np.add, "sub": np.subtract, "mul": np.multiply, "and": np.bitwise_and, "or": np.bitwise_or,
                    "xor": np.bitwise_xor, "maxs": np.maximum, "mins": np.minimum}.items():
        case(f"arith.{name}i {{0}}, {{1}} : {{T}}", pair, k, like(f))
    case("arith.divsi {0}, {1} : {T}", [(k, 0), ("seven " + k, 0)], k, exact(lambda x, y: abs(x) // y * (1 if x >= 0 else -1)))
    case("arith.remsi {0}, {1} : {T}", [(k, 0), ("seven " + k, 0)], k, exact(lambda x, y: abs(x) % y * (1 if x >= 0 else -1)))
    case("arith.floordivsi {0}, {1} : {T}", [(k, 0), ("seven " + k, 0)], k, exact(lambda x, y: x // y))
    case("arith.ceildivsi {0}, {1} : {T}", [(k, 0), ("seven " + k, 0)], k, exact(lambda x, y: -(-x // y)))
    for name, f in {"divui": np.floor_divide, "remui": np.remainder, "maxui": np.maximum, "minui": np.minimum}.items():
        case(f"arith.{name} {{0}}, {{1}} : {{T}}", pair, k, lambda a, b, f=f: f(unsigned(a), unsigned(b)).view(a.dtype))
    case("arith.shli {0}, {1} : {T}", shift, k, exact(lambda x, y: x << y))
    case("arith.shrsi {0}, {1} : {T}", shift, k, exact(lambda x, y: x >> y))
    case("arith.shrui {0}, {1} : {T}", shift, k, lambda a, b: (unsigned(a) >> unsigned(b)).view(a.dtype))
    for p, f in PREDICATES.items():
        for sign in [""] if p in ("eq", "ne") else ["s", "u"]:
            case(f"arith.cmpi {sign}{p}, {{0}}, {{1}} : {{T}}", pair, "i1",
                 (lambda a, b, f=f: f(unsigned(a), unsigned(b))) if sign == "u" else lambda a, b, f=f: f(a, b))
    case("arith.select {0}, {1}, {2} : {B}, {T}", [("i1", 0), *pair], k, lambda c, a, b: np.where(c, a, b))
    if k == "index":
        continue
    case("math.absi {0} : {T}", [(k, 0)], k, np.abs)
    case("math.ctpop {0} : {T}", [(k, 0)], k, lambda a: np.array([int(x).bit_count() for x in unsigned(a)], a.dtype))
    for to in BITS:
        if to == "index":
            case("arith.index_cast {0} : {T} to {R}", [(k, 0)], to, lambda a: a.astype("i8"))
            case("arith.index_castui {0} : {T} to {R}", [(k, 0)], to, lambda a: unsigned(a).astype("u8").view("i8"))
            case("arith.index_cast {0} : {T} to {R}", [("index", 0)], k, lambda a, k=k: a.astype(DTYPES[k]))
        elif BITS[to] > BITS[k]:
            case("arith.extsi {0} : {T} to {R}", [(k, 0)], to, lambda a, to=to: a.astype(DTYPES[to]))
            case("arith.extui {0} : {T} to {R}", [(k, 0)], to, lambda a, to=to: unsigned(a).astype(DTYPES[to]))
            case("arith.trunci {0} : {T} to {R}", [(to, 0)], k, lambda a, k=k: a.astype(DTYPES[k]))
    case("arith.trunci {0} : {T} to {R}", [(k, 0)], "i1", lambda a: a & 1)
    case("arith.extui {0} : {T} to {R}", [("i1", 0)], k, lambda a, k=k: a.astype(DTYPES[k]))
    case("arith.extsi {0} : {T} to {R}", [("i1", 0)], k, lambda a, k=k: -a.astype(DTYPES[k]))
    for f in ("f32", "f64"):
        case("arith.sitofp {0} : {T} to {R}", [(k, 0)], f, lambda a, f=f: a.astype(DTYPES[f]))
        case("arith.uitofp {0} : {T} to {R}", [(k, 0)], f, lambda a, f=f: unsigned(a).astype(DTYPES[f]))
        case("arith.fptosi {0} : {T} to {R}", [("small " + f, 0)], k, lambda a, k=k: np.trunc(a).astype(DTYPES[k]))
        case("arith.fptoui {0} : {T} to {R}", [("plus " + f, 0)], k, lambda a, k=k: np.trunc(a).astype(DTYPES[k]))
bits = [("i1", 0), ("i1", 1)]
for name, f in {"andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor, "addi": np.bitwise_xor,
                "muli": np.bitwise_and, "maxsi": np.bitwise_and, "maxui": np.bitwise_or}.items():
    case(f"arith.{name} {{0}}, {{1}} : {{T}}", bits, "i1", f)
case("arith.cmpi ne, {0}, {1} : {T}", bits, "i1", np.not_equal)
case("arith.cmpi ult, {0}, {1} : {T}", bits, "i1", np.less)
case("arith.select {0}, {1}, {2} : {B}, {T}", [("i1", 0), *bits], "i1", lambda c, a, b: np.where(c, a, b))
for f in ("f32", "f64"):
    pair = [(f, 0), (f, 1)]
    case("arith.uitofp {0} : {T} to {R}", [("i1", 0)], f, lambda a, f=f: a.astype(DTYPES[f]))
    for name, g in {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "maximum": np.maximum,
                    "minimum": np.minimum, "maxnum": np.fmax, "minnum": np.fmin, "rem": np.fmod}.items():
        case(f"arith.{name}f {{0}}, {{1}} : {{T}}", pair, f, g)
    case("arith.negf {0} : {T}", [(f, 0)], f, np.negative)
    case("math.fma {0}, {1}, {0} : {T}", [("small " + f, 0), ("plus " + f, 0)], f, lambda a, b: a * b + a)
    for name in "absf ceil floor sqrt exp log sin tanh trunc".split():
        case(f"math.{name} {{0}} : {{T}}", [("plus " + f, 0)], f, getattr(np, {"absf": "abs"}.get(name, name)))
    case("arith.select {0}, {1}, {2} : {B}, {T}", [("i1", 0), *pair], f, lambda c, a, b: np.where(c, a, b))
    for p, g in {**PREDICATES, "rd": None, "no": None}.items():
        nan = lambda a, b: np.isnan(a) | np.isnan(b)
        if g is None:
            case(f"arith.cmpf {'o' if p == 'rd' else 'u'}{p}, {{0}}, {{1}} : {{T}}", pair, "i1",
                 nan if p == "no" else lambda a, b: ~(np.isnan(a) | np.isnan(b)))
            continue
        case(f"arith.cmpf o{p}, {{0}}, {{1}} : {{T}}", pair, "i1", lambda a, b, g=g: g(a, b) & ~(np.isnan(a) | np.isnan(b)))
        case(f"arith.cmpf u{p}, {{0}}, {{1}} : {{T}}", pair, "i1", lambda a, b, g=g: g(a, b) | np.isnan(a) | np.isnan(b))
case("arith.extf {0} : {T} to {R}", [("f32", 0)], "f64", lambda a: a.astype("f8"))
case("arith.truncf {0} : {T} to {R}", [("f64", 0)], "f32", lambda a: a.astype("f4"))
case("arith.bitcast {0} : {T} to {R}", [("f32", 0)], "i32", lambda a: a.view("i4"))
case("arith.bitcast {0} : {T} to {R}", [("i64", 0)], "f64", lambda a: a.view("f8"))
if lanes > 1:
    at = np.arange(N) // lanes % lanes  # the lane that each work-item selects
    for k in DTYPES:
        case(f"vector.shuffle {{0}}, {{0}} {[*range(lanes)][::-1]} : {{T}}, {{T}}", [(k, 0)], k,
             lambda a: a.reshape(-1, lanes)[:, ::-1].reshape(-1))
        if k == "index":  # upstream's conversion to SPIR-V does not support index here
            continue
        case("vector.extract {0}[%lane] : {E} from {T}", [(k, 0)], "one " + k,
             lambda a: np.repeat(a.reshape(-1, lanes)[np.arange(N // lanes), at[::lanes]], lanes))
        case("vector.insert {1}, {0}[%lane] : {E} into {T}", [(k, 0), ("one " + k, 0)], k,
             lambda a, b: np.where(np.arange(N) % lanes == at, np.repeat(b[::lanes], lanes), a))

kind_of = lambda key: key.split(" ")[-1]
memref = lambda kind, size: f'memref<{size}x{STORED.get(kind, kind)}, "buffer">'
typed = lambda key: kind_of(key) if key.startswith("one ") or lanes == 1 else f"vector<{lanes}x{kind_of(key)}>"


def load(name, key, buffer):
    """Returns the lines that load an operand, and its value."""
    kind, lines, scalars = kind_of(key), [], []
    for i in range(lanes):
        lines.append(f"%{name}m{i} = memref.load {buffer}[%at{i}] : {memref(kind, N)}")
        scalars.append(f"%{name}m{i}")
        if kind in STORED:
            cast = "arith.trunci" if kind == "i1" else "arith.index_cast"
            lines.append(f"%{name}s{i} = {cast} %{name}m{i} : {STORED[kind]} to {kind}")
            scalars[-1] = f"%{name}s{i}"
    if lanes == 1 or key.startswith("one "):
        return lines, scalars[0]
    return [*lines, f"%{name} = vector.from_elements {', '.join(scalars)} : {typed(key)}"], f"%{name}"


def store(name, key, buffer, size, row):
    kind, lines, scalars = kind_of(key), [], [f"%{name}"] * lanes
    if lanes > 1 and not key.startswith("one "):
        scalars = [f"%{name}r{i}" for i in range(lanes)]
        lines.append(f"{', '.join(scalars)} = vector.to_elements %{name} : {typed(key)}")
    lines.append(f"%{name}k = arith.constant {row * N} : index")
    for i, value in enumerate(scalars):
        if kind in STORED:
            cast = "arith.extui" if kind == "i1" else "arith.index_cast"
            lines.append(f"%{name}c{i} = {cast} {value} : {kind} to {STORED[kind]}")
            value = f"%{name}c{i}"
        lines.append(f"%{name}p{i} = arith.addi %at{i}, %{name}k : index")
        lines.append(f"memref.store {value}, {buffer}[%{name}p{i}] : {memref(kind, size)}")
    return lines


rows = {kind: [c for c in CASES if kind_of(c[2]) == kind] for kind in DTYPES}
sizes = {kind: len(rows[kind]) * N for kind in DTYPES}
keys = [*INPUTS]
arguments = [f"%x{i}: {memref(kind_of(key[0]), N)}" for i, key in enumerate(keys)]
arguments += [f"%y{kind}: {memref(kind, sizes[kind])}" for kind in DTYPES]


def kernel(number, cases):
    lines = [f"gpu.func @ops{number}({', '.join(arguments)}) kernel {{", "%item = gpu.global_id x",
             f"%n = arith.constant {lanes} : index", "%first = arith.muli %item, %n : index",
             "%lane = arith.remui %item, %n : index"]
    for i in range(lanes):
        lines += [f"%l{i} = arith.constant {i} : index", f"%at{i} = arith.addi %first, %l{i} : index"]
    for c, (text, operands, result, _) in enumerate(cases):
        values = []
        for i, (key, which) in enumerate(operands):
            buffer = keys.index((key.removeprefix("one "), which))
            more, value = load(f"o{c}_{i}", key, f"%x{buffer}")
            lines, values = [*lines, *more], [*values, value]
        names = {"T": typed(operands[-1][0] if "one" not in operands[-1][0] else operands[0][0]), "R": typed(result),
                 "B": typed("i1"), "E": kind_of(operands[0][0])}
        lines.append(f"%r{c} = " + text.format(*values, **names))
        row = rows[kind_of(result)].index(cases[c])
        lines += store(f"r{c}", result, f"%y{kind_of(result)}", sizes[kind_of(result)], row)
    return "\n".join([*lines, "gpu.return", "}"])


def host(kernels):
    stored = lambda kind, size: memref(kind, size).replace(', "buffer"', "")
    results = ", ".join(stored(kind, sizes[kind]) for kind in DTYPES)
    inputs = [f"%h{i}: {stored(kind_of(key[0]), N)}" for i, key in enumerate(keys)]
    signature = ", ".join(stored(kind_of(key[0]), N) for key in keys).replace("memref", "tensor")
    lines = [f"func.func @main({', '.join(inputs)}) -> ({results}) attributes {{llvm.emit_c_interface, "
             f"layout.signature = ({signature}) -> ({results.replace('memref', 'tensor')})}} {{",
             "%c1 = arith.constant 1 : index", f"%items = arith.constant {N // lanes} : index"]
    for i, key in enumerate(keys):
        kind = kind_of(key[0])
        lines += [f"%x{i} = gpu.alloc () : {memref(kind, N)}",
                  f"gpu.memcpy %x{i}, %h{i} : {memref(kind, N)}, {stored(kind, N)}"]
    lines += [f"%y{kind} = gpu.alloc () : {memref(kind, sizes[kind])}" for kind in DTYPES]
    passed = ", ".join(argument.replace(":", " :") for argument in arguments)
    lines += [f"gpu.launch_func @k::@ops{i} blocks in (%items, %c1, %c1) threads in (%c1, %c1, %c1) args({passed})"
              for i in range(kernels)]
    for kind in DTYPES:
        lines += [f"%z{kind} = memref.alloc() : {stored(kind, sizes[kind])}",
                  f"gpu.memcpy %z{kind}, %y{kind} : {stored(kind, sizes[kind])}, {memref(kind, sizes[kind])}"]
    return "\n".join([*lines, f"return {', '.join(f'%z{kind}' for kind in DTYPES)} : {results}", "}"])


groups = [CASES[i:i + 64] for i in range(0, len(CASES), 64)]
module = "\n".join(["module attributes {gpu.container_module} {", "gpu.module @k {",
                    *[kernel(i, group) for i, group in enumerate(groups)], "}", host(len(groups)), "}"])
path = folder / f"{lanes}.mlir"
path.write_text(module)
run_tool("layout-opt", path, "--layout-gpu-to-opencl", "-o", folder / f"{lanes}.ll.mlir")
for i, key in enumerate(keys):
    np.save(folder / f"{lanes}x{i}.npy", INPUTS[key])
for pipeline in "10":
    outputs = {kind: folder / f"{lanes}y{kind}.npy" for kind in DTYPES}
    subprocess.run(["layout-run", folder / f"{lanes}.ll.mlir",
                    *[f"--input={folder}/{lanes}x{i}.npy" for i in range(len(keys))],
                    *[f"--output={path}" for path in outputs.values()]],
                   check=True, env={**os.environ, "LAYOUT_OPENCL_SOURCE": pipeline})
    for kind, path in outputs.items():
        for got, (text, operands, _, reference) in zip(np.load(path).reshape(-1, N), rows[kind]):
            with np.errstate(all="ignore"):
                want = reference(*[INPUTS[key.removeprefix("one "), which] for key, which in operands])
            message = f"source={pipeline} {text} {operands} {kind}"
            if got.dtype.kind == "f":
                np.testing.assert_allclose(got, want, rtol=3e-6, atol=1e-6, err_msg=message)
            else:
                np.testing.assert_array_equal(got, want, err_msg=message)
