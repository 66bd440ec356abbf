# RUN: %python %s
# Check that math functions on f32 have the documented accuracy, with infinities, NaN, denormal numbers and signed zeros
# as in C, and give the same bits in vectors and in their remainders.
#
# `./dev python test/Targets/CPU/LinalgToLLVM/run-math.py 1` checks every f32 number (some minutes); without an
# argument, every 12011th and the special ones.
import math
import re
import sys

import numpy as np

from layout_mlir import compile as compile_program, run_pipeline

STEP = int(sys.argv[1]) if len(sys.argv) > 1 else 12011
CHUNK = 1 << 22
BOUNDS = {  # units in the last place
    "exp": (np.exp, 1.0), "exp and 1": (lambda x: np.exp(x) + 1, 1.5), "expm1": (np.expm1, 1.5), "log": (np.log, 1.0), "log1p": (np.log1p, 1.0),
    "tanh": (np.tanh, 2.3), "erf": (np.vectorize(math.erf, otypes=[float]), 1.2), "powf": (np.power, 0.51)}
SPECIAL = np.array([0.0, 0.5, 1, 1.5, 2, 3, 4, 1e-45, 1e-39, 2.0**-126, 2.0**24, 8388609, 88.73, 104,
                    3.4028235e38, np.inf, np.nan], np.float32)
SPECIAL = np.concatenate([SPECIAL, -SPECIAL])


def program(name, element):
    """Returns math.<name> of any number of elements, plus 1 if the name says so."""
    arguments = 2 if name == "powf" else 1
    type = f"tensor<?x{element}>"
    names = [f"%x{i}" for i in range(arguments)]
    values = [f"%a{i}" for i in range(arguments)]
    identity = ", ".join(["affine_map<(i) -> (i)>"] * (arguments + 1))
    return f"""func.func @main({', '.join(f'{each}: {type}' for each in names)}) -> {type} {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x0, %c0 : {type}
  %e = tensor.empty(%n) : {type}
  %r = linalg.generic {{indexing_maps = [{identity}], iterator_types = ["parallel"]}}
      ins({', '.join(names)} : {', '.join([type] * arguments)}) outs(%e : {type}) {{
  ^bb0({', '.join(f'{each}: {element}' for each in values)}, %o: {element}):
    %one = arith.constant 1.0 : {element}
    %y = math.{name.split()[0]} {', '.join(values)} : {element}
    %z = arith.addf %y, %one : {element}
    linalg.yield {'%z' if name.endswith('and 1') else '%y'} : {element}
  }} -> {type}
  return %r : {type}
}}
"""


def difference(got, exact):
    """Returns the largest distance in f32 units in the last place."""
    rounded = exact.astype(np.float32)
    assert np.array_equal(np.isnan(got), np.isnan(rounded))
    assert np.array_equal(np.isinf(got), np.isinf(rounded))
    isNumber = ~np.isnan(rounded)
    assert np.array_equal(np.signbit(got[isNumber]), np.signbit(rounded[isNumber]))
    isFinite = np.isfinite(rounded)
    exponent = np.maximum(np.frexp(exact[isFinite])[1] - 24, -149)
    return (np.abs(got[isFinite] - exact[isFinite]) / np.ldexp(1.0, exponent)).max(initial=0)


def drawn_pairs(rng, count):
    """Returns pairs for powf: any bits, results of all sizes, powers near 1, integer exponents."""
    bits = rng.integers(0, 1 << 32, (2, count), dtype=np.uint32).view(np.float32)
    large = [rng.uniform(0, 4, count), rng.uniform(-100, 100, count)]
    near = [np.exp(rng.uniform(-85, 85, count)), rng.uniform(-4, 4, count)]
    whole = [-rng.uniform(0, 20, count), rng.integers(-20, 20, count)]
    special = np.meshgrid(SPECIAL, SPECIAL)
    return [np.concatenate([each[i].ravel().astype(np.float32)
                            for each in (bits, large, near, whole, special)]) for i in range(2)]


def bits_of(values):
    """Returns the f32 bytes with one NaN for all, because no rule determines the NaN of an operation."""
    return np.where(np.isnan(values), np.float32(np.nan), values).tobytes()


def count_calls(text, options):
    code = run_pipeline(text, f"layout-linalg-to-llvm{{{options}}}")
    return len(re.findall(r"llvm.intr.(?:exp|log|pow|tanh)\(|llvm.call @(?:log1p|erf|tanh)f\(", code))


np.seterr(all="ignore")
rng = np.random.default_rng(0)
for name, (oracle, bound) in BOUNDS.items():
    text = program(name, "f32")
    run = compile_program(text)
    assert count_calls(text, "") == 0
    assert count_calls(text, "math=libm") > 0
    worst = 0.0
    for start in range(0, 1 << 32, CHUNK * STEP):
        if name == "powf":
            inputs = drawn_pairs(rng, 10000)
        else:
            bits = np.arange(start, min(start + CHUNK * STEP, 1 << 32), STEP, np.uint64)
            inputs = [np.concatenate([bits.astype(np.uint32).view(np.float32), SPECIAL])]
        got = run(*inputs)
        worst = max(worst, difference(got, oracle(*(each.astype(np.float64) for each in inputs))))
    print(f"{name}: {worst:.3f} units in the last place")
    assert worst <= bound, name
    # Elements of a vector here are scalars there, and have other neighbors.
    for first, last in (0, 3), (1, -1), (7, 20), (5, 6):
        parts = [each[first:last].copy() for each in inputs]
        assert run(*parts).tobytes() == got[first:last].tobytes(), name
    # 512-bit vectors multiply by powers of two in another way.
    for bits in 256, 512:
        lowered = run_pipeline(text, f"layout-linalg-to-llvm{{target={{#layout.cpu<lanes = 16, vector_bits = {bits}>}}}}")
        assert bits_of(compile_program(lowered)(*inputs)) == bits_of(got), (name, bits)
    if name == "exp and 1":  # for f16, both are rounded
        continue
    halves = [each.astype(np.float16) for each in inputs]
    expected = oracle(*(each.astype(np.float64) for each in halves)).astype(np.float16)
    wrong = (compile_program(program(name, "f16"))(*halves) != expected) & ~np.isnan(expected)
    assert wrong.mean() < 1e-3, (name, wrong.mean())
