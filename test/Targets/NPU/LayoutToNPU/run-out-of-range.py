# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check values at the ends of f32 against numpy, on three chips: exp, tanh, sigmoid and sqrt of infinities, zeros of both
# signs, denormals, NaN and numbers beyond the tables of the chip, the softmax of masked rows, and selects by each
# comparison of such values with each other and with constants. The simulator reports arguments out of range.
# CHECK: "BM1684": 92 results
# CHECK: "BM1684X": 92 results
# CHECK: npus = 3, {{.*}}: 92 results
import numpy as np

from npu_cases import run_functions

random = np.random.default_rng(88)
F32 = np.float32
TINY = np.finfo(F32).tiny
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1e-40, -1e-40, TINY, -TINY, np.finfo(F32).max, np.finfo(F32).min,
                    -88.8, 88.8, -128.5, 129, -200, 200, 1, -1, np.nextafter(F32(1), F32(2))], F32)
FLUSHED = np.where(np.abs(SPECIAL) < TINY, F32(0), SPECIAL)
PREDICATES = {
    "oeq": np.equal, "ogt": np.greater, "oge": np.greater_equal, "olt": np.less, "ole": np.less_equal,
    "one": lambda a, b: (a < b) | (a > b), "ord": lambda a, b: (a == a) & (b == b), "ueq": lambda a, b: ~((a < b) | (a > b)),
    "ugt": lambda a, b: ~(a <= b), "uge": lambda a, b: ~(a < b), "ult": lambda a, b: ~(a >= b), "ule": lambda a, b: ~(a > b),
    "une": np.not_equal, "uno": lambda a, b: (a != a) | (b != b)}
SPREAD = np.concatenate([SPECIAL, np.linspace(-130, 130, 200, dtype=F32)]).reshape(-1, 10)
ONE, OTHER = (np.ascontiguousarray(side) for side in np.meshgrid(SPECIAL, SPECIAL, indexing="ij"))
WORDS = np.array([0, 1, -1, -2**31, 2**31 - 1, 0x7FC00000, 0x00800000, 5], np.int32)
LEFT, RIGHT = (np.ascontiguousarray(side) for side in np.meshgrid(WORDS, WORDS, indexing="ij"))
arguments, inputs, lines, results = [], [], [], []


def typed(array):
    return f"tensor<{array.shape[0]}x{array.shape[1]}x{'i32' if array.dtype == np.int32 else 'f32'}>"


def add_input(name, array):
    arguments.append(f"%{name}: {typed(array)}")
    inputs.append(array)


def element(names, body, wanted, tolerance=0.0):
    """Adds a result computed from elements %a, %b .. of arguments, with %v as the last value of the body."""
    arrays = [inputs[[each.split(":")[0] for each in arguments].index(f"%{name}")] for name in names]
    number, whole = len(results), "affine_map<(i, j) -> (i, j)>"
    blocks = ", ".join(f"%{'ab'[i]}: {typed(array)[-4:-1]}" for i, array in enumerate(arrays))
    out = typed(wanted)
    lines.append(
        f"  %e{number} = tensor.empty() : {out}\n  %r{number} = linalg.generic {{indexing_maps = "
        f"[{', '.join([whole] * (len(names) + 1))}], iterator_types = [\"parallel\", \"parallel\"]}}\n"
        f"      ins({', '.join(f'%{name}' for name in names)} : {', '.join(map(typed, arrays))}) outs(%e{number} : {out}) {{\n"
        f"  ^bb0({blocks}, %o: f32):\n    {body}\n    linalg.yield %v : f32\n  }} -> {out}")
    results.append((out, wanted, tolerance, body))


def add_functions():
    add_input("x", SPREAD)
    x = SPREAD.astype(np.float64)
    most = F32(88.7228)
    element("x", "%v = math.exp %a : f32", np.exp(np.minimum(x, most)).astype(F32), 2e-6)
    element("x", "%v = math.tanh %a : f32", np.tanh(x).astype(F32), 2e-6)
    sigmoid = ("%one = arith.constant 1.0 : f32\n    %n = arith.negf %a : f32\n    %p = math.exp %n : f32\n"
               "    %s = arith.addf %p, %one : f32\n    %d = arith.divf %one, %s : f32\n    ")
    element("x", sigmoid + "%v = arith.mulf %d, %one : f32", (1 / (1 + np.exp(-x))).astype(F32), 2e-6)
    # Only zeros and positive numbers have roots.
    element("x", "%z = arith.constant 0.0 : f32\n    %n = arith.negf %a : f32\n    %m = arith.mulf %a, %z : f32\n"
            "    %c = arith.cmpf one, %m, %z : f32\n    %q = arith.select %c, %a, %m : f32\n    %v = math.sqrt %q : f32",
            np.where(np.isfinite(x), 0, np.nan).astype(F32), 1e-15)
    element("x", "%lo = arith.constant -3.0 : f32\n    %hi = arith.constant 4.0 : f32\n    %p = arith.maximumf %a, %lo : f32\n"
            "    %q = arith.minimumf %p, %hi : f32\n    %v = math.exp %q : f32",
            np.exp(np.clip(x, -3, 4)).astype(F32), 2e-6)


def add_softmax():
    scores = random.uniform(-90, 90, (6, 12)).astype(F32)
    scores[random.random(scores.shape) < 0.4] = np.finfo(F32).min
    scores[:, 3] = random.uniform(-5, 5, 6)
    scores[2, :] = np.finfo(F32).min
    add_input("scores", scores)
    powers = np.exp(scores.astype(np.float64) - scores.max(1, keepdims=True))
    number = len(results)
    lines.append(f"  %e{number} = tensor.empty() : {typed(scores)}\n  %r{number} = linalg.softmax dimension(1) ins(%scores : "
                 f"{typed(scores)}) outs(%e{number} : {typed(scores)}) -> {typed(scores)}")
    results.append((typed(scores), (powers / powers.sum(1, keepdims=True)).astype(F32), 2e-6, "softmax"))


def add_comparisons():
    add_input("l", ONE)
    add_input("r", OTHER)
    a, b = (np.where(np.abs(side) < TINY, F32(0), side) for side in (ONE, OTHER))
    select = "%yes = arith.constant 3.0 : f32\n    %no = arith.constant 0.0 : f32\n    "
    for predicate, compare in PREDICATES.items():
        element("lr", f"{select}%c = arith.cmpf {predicate}, %a, %b : f32\n    %v = arith.select %c, %yes, %no : f32",
                np.where(compare(a, b), F32(3), F32(0)))
        element("lr", f"%c = arith.cmpf {predicate}, %a, %b : f32\n    %v = arith.select %c, %a, %b : f32",
                np.where(compare(a, b), a, b))
        for constant in (0.0, 1.0, np.inf, -np.inf):
            bits = int(np.array(constant, F32).view(np.uint32))
            element("l", f"{select}%k = arith.constant 0x{bits:08X} : f32\n    %c = arith.cmpf {predicate}, %a, %k : f32\n"
                    "    %v = arith.select %c, %yes, %no : f32", np.where(compare(a, F32(constant)), F32(3), F32(0)))
    add_input("i", LEFT)
    add_input("j", RIGHT)
    element("ij", f"{select}%c = arith.cmpi eq, %a, %b : i32\n    %v = arith.select %c, %yes, %no : f32",
            np.where(LEFT == RIGHT, F32(3), F32(0)))
    element("ij", f"{select}%c = arith.cmpi ne, %a, %b : i32\n    %v = arith.select %c, %yes, %no : f32",
            np.where(LEFT != RIGHT, F32(3), F32(0)))


with np.errstate(all="ignore"):
    add_functions()
    add_softmax()
    add_comparisons()
types = ", ".join(out for out, *_ in results)
text = (f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n" + "\n".join(lines) + "\n  return "
        + ", ".join(f"%r{number}" for number in range(len(results))) + f" : {types}\n}}\n")
def of_nan(body):
    """Returns the value of a function of the exponential for NaN in TPU-KERNEL."""
    return F32(-1 if "math.tanh" in body else 1 if "arith.divf" in body else 0)


for chip in ('"BM1684"', '"BM1684X"', "npus = 3, bytes_per_npu = 65536, eu_bytes = 64"):
    for output, (_, wanted, tolerance, body) in zip(run_functions(text, chip, *inputs), results, strict=True):
        if chip == '"BM1684X"' and ("math.exp" in body or "math.tanh" in body):
            wanted = np.where(np.isnan(wanted), of_nan(body), wanted)
        np.testing.assert_allclose(output, wanted, rtol=tolerance, atol=max(tolerance, 1e-37), err_msg=body)
    print(f"{chip}: {len(results)} results")
