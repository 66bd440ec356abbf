# RUN: rm -rf %t && mkdir -p %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check i8 and i1 arguments and results against NumPy: signs, wraps, quotients, comparisons, pools and conversions, with
# sizes that are not multiples of four, of rank 0, of one element, and of several rows of packed words.
# CHECK: BM1684: [[COUNT:[0-9]+]] results, 0 kernels
# CHECK: BM1684X: [[COUNT]] results, 0 kernels
# CHECK: BM1688: [[COUNT]] results, 0 kernels
import numpy as np

from npu_cases import case, draw, generic, random, run_all, typed


def draw_bytes(*shape):
    return random.integers(-128, 128, shape).astype(np.int8)


def element(array):
    return typed(np.zeros((), array.dtype))[len("tensor<"):-1]


def elementwise(body, wanted, *inputs, maps=None):
    """Adds a case of one op; `body` defines %v from %a0, %a1 .."""
    arguments = ", ".join(f"%a{i}: {element(x)}" for i, x in enumerate(inputs))
    case(generic("%r", wanted.ndim, [(f"%x{i}", typed(x)) for i, x in enumerate(inputs)],
                 f"^bb0({arguments}, %o: {element(wanted)}):\n  {body}\n  linalg.yield %v : {element(wanted)}",
                 typed(wanted), maps), list(inputs), wanted, 1e-6)


SHAPES = [(2, 67, 3, 5), (3, 5), (1,), (), (1, 1, 1, 4), (7, 300)]


def add_arithmetic():
    for shape in SHAPES:
        a, b = draw_bytes(*shape), draw_bytes(*shape)
        for op, function in [("addi", np.add), ("subi", np.subtract), ("muli", np.multiply)]:
            elementwise(f"%v = arith.{op} %a0, %a1 : i8", function(a.astype(int), b).astype(np.int8), a, b)
    a, b = draw_bytes(3, 70, 5), draw_bytes(3, 70, 5)
    b[b == 0] = 3
    u, v = a.view(np.uint8), b.view(np.uint8)
    signed, unsigned = (a.astype(int), b.astype(int)), (u.astype(int), v.astype(int))
    for op, function, (x, y) in [
            ("divsi", lambda x, y: np.trunc(x / y), signed), ("remsi", np.fmod, signed),
            ("divui", np.floor_divide, unsigned), ("remui", np.remainder, unsigned),
            ("maxsi", np.maximum, signed), ("minsi", np.minimum, signed),
            ("maxui", np.maximum, unsigned), ("minui", np.minimum, unsigned)]:
        elementwise(f"%v = arith.{op} %a0, %a1 : i8", function(x, y).astype(int).astype(np.int8), a, b)


def add_comparisons():
    a, b = draw_bytes(3, 70, 5), draw_bytes(3, 70, 5)
    b[:, ::3] = a[:, ::3]
    x, y = draw(5, 3, 7), draw(1, 3, 1)
    p, q = random.integers(0, 2, (2, 9)).astype(bool), random.integers(0, 2, (9,)).astype(bool)
    for predicate, function in [("eq", np.equal), ("ne", np.not_equal), ("slt", np.less), ("sge", np.greater_equal)]:
        elementwise(f"%v = arith.cmpi {predicate}, %a0, %a1 : i8", function(a, b), a, b)
    elementwise("%v = arith.cmpi ult, %a0, %a1 : i8", a.view(np.uint8) < b.view(np.uint8), a, b)
    for predicate, function in [("olt", np.less), ("oge", np.greater_equal), ("oeq", np.equal)]:
        elementwise(f"%v = arith.cmpf {predicate}, %a0, %a1 : f32", function(x, y), x, y,
                    maps=["(a, b, c) -> (a, b, c)", "(a, b, c) -> (0, b, 0)"])
    for name, function in [("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)]:
        elementwise(f"%v = arith.{name}i %a0, %a1 : i1", function(p, q), p, q, maps=["(a, b) -> (a, b)", "(a, b) -> (b)"])
    elementwise("%t = arith.constant true\n  %v = arith.xori %a0, %t : i1", ~q, q)
    elementwise("%v = arith.select %a0, %a1, %a2 : f32", np.where(q, x[0, 0, 0], draw(9) * 0), q, np.full(9, x[0, 0, 0]),
                np.zeros(9, np.float32))
    elementwise("%v = arith.uitofp %a0 : i1 to f32", p.astype(np.float32), p)


def add_conversions():
    x = (draw(2, 19, 7) * 60).astype(np.float32)
    x[0, 0, :6] = [0.5, 1.5, -0.5, -2.5, 126.5, -127.9]
    x = np.clip(x, -128, 127)
    elementwise("%v = arith.fptosi %a0 : f32 to i8", np.trunc(x).astype(np.int8), x)
    body = "\n  ".join(["%s = arith.constant 3.0 : f32", "%q = arith.divf %a0, %s : f32", "%n = math.roundeven %q : f32",
                        "%z = arith.constant -118 : i8", "%f = arith.uitofp %z : i8 to f32", "%p = arith.addf %n, %f : f32",
                        "%l = arith.constant 0.0 : f32", "%m = arith.maximumf %p, %l : f32",
                        "%h = arith.constant 255.0 : f32", "%c = arith.minimumf %m, %h : f32",
                        "%i = arith.fptosi %c : f32 to i32", "%v = arith.trunci %i : i32 to i8"])
    elementwise(body, np.clip(np.rint(x / np.float32(3)) + 138, 0, 255).astype(np.uint8).view(np.int8), x)
    a = draw_bytes(4, 33)
    elementwise("%v = arith.uitofp %a0 : i8 to f32", a.view(np.uint8).astype(np.float32), a)
    elementwise("%v = arith.sitofp %a0 : i8 to f32", a.astype(np.float32), a)
    elementwise("%z = arith.constant 0 : i8\n  %v = arith.cmpi ne, %a0, %z : i8", a != 0, a)


def add_pools():
    x = draw_bytes(2, 67, 7, 9)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))[:, :, ::2, ::2]
    bits = x > 0
    whole, window = "(n, c, h, w, i, j) -> (n, c, h, w)", "(n, c, h, w, i, j) -> (n, c, h * 2 + i, w * 2 + j)"
    for op, start, wanted in [
            ("maxsi", -128, windows.max((-1, -2))), ("minsi", 127, windows.min((-1, -2))),
            ("maxui", 0, windows.view(np.uint8).max((-1, -2)).view(np.int8)),
            ("minui", -1, windows.view(np.uint8).min((-1, -2)).view(np.int8))]:
        wanted = np.ascontiguousarray(wanted)
        out = typed(wanted)
        case(f"  %k = arith.constant {start} : i8\n  %e = tensor.empty() : {out}\n"
             f"  %f = linalg.fill ins(%k : i8) outs(%e : {out}) -> {out}\n  %s = tensor.empty() : tensor<3x3xi8>\n"
             f"  %r = linalg.generic {{indexing_maps = [affine_map<{window}>, affine_map<(n, c, h, w, i, j) -> (i, j)>, "
             f'affine_map<{whole}>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", '
             f'"reduction"]}} ins(%x0, %s : {typed(x)}, tensor<3x3xi8>) outs(%f : {out}) {{\n  ^bb0(%a: i8, %b: i8, %o: i8):\n'
             f"    %v = arith.{op} %o, %a : i8\n    linalg.yield %v : i8\n  }} -> {out}", [x], wanted)
    for op, start, wanted in [("ori", "false", bits.any((2, 3))), ("andi", "true", bits.all((2, 3)))]:
        out = typed(wanted)
        case(f"  %k = arith.constant {start}\n  %e = tensor.empty() : {out}\n"
             f"  %f = linalg.fill ins(%k : i1) outs(%e : {out}) -> {out}\n  %r = linalg.reduce {{arith.{op}}} ins(%x0 : "
             f"{typed(bits)}) outs(%f : {out}) dimensions = [2, 3]", [bits], wanted)


add_arithmetic()
add_comparisons()
add_conversions()
add_pools()
run_all()
