# RUN: %python %s
# Check exponentials of distances from the maximum of a row, which take fewer ops, against NumPy and against those of
# other numbers, bit by bit: normal and denormal results, zeros, infinities and NaN.
import pathlib
import tempfile

import numpy as np
from cpu_programs import Program, generic, tensor

from layout_mlir.tools import run_tool

rng = np.random.default_rng(0)
ROWS, COLUMNS = 6, 300
WHOLE, ROW = "(r, c) -> (r, c)", "(r, c) -> (r)"
TYPE, SHORT = tensor((ROWS, COLUMNS)), tensor((ROWS,))


def program(combine, rows, start):
    """Returns exp(x - m), where m is a maximum of rows of x, or of another tensor."""
    text = f"  %start = arith.constant {start} : f32\n  %b = tensor.empty() : {SHORT}\n  %e = tensor.empty() : {TYPE}\n"
    text += f"  %f = linalg.fill ins(%start : f32) outs(%b : {SHORT}) -> {SHORT}\n"
    text += generic("%m", [WHOLE, ROW], ["parallel", "reduction"], [(rows, TYPE)], ("%f", SHORT),
                    f"    %y = arith.{combine} %a0, %s : f32\n    linalg.yield %y : f32")
    text += generic("%r", [WHOLE, ROW, WHOLE], ["parallel", "parallel"], [("%x0", TYPE), ("%m", SHORT)], ("%e", TYPE),
                    "    %d = arith.subf %a0, %a1 : f32\n    %y = math.exp %d : f32\n    linalg.yield %y : f32")
    return f"func.func @main(%x0: {TYPE}, %x1: {TYPE}) -> {TYPE} {{\n{text}  return %r : {TYPE}\n}}"


x = rng.uniform(-4, 4, (ROWS, COLUMNS)).astype(np.float32)
x[1] = np.linspace(-110, 0, COLUMNS)
x[2] = -np.linspace(87, 104, COLUMNS)
x[2, 7] = 0
x[3, 5], x[4, 9], x[5, 1] = np.nan, np.inf, -np.inf
x[5, 2] = -3e38

with tempfile.TemporaryDirectory() as folder:
    for combine, start in ("maxnumf", "0xFFC00000"), ("maximumf", "0xFF800000"), ("minnumf", "0x7FC00000"):
        reduce = {"maxnumf": np.fmax, "maximumf": np.maximum, "minnumf": np.fmin}[combine].reduce
        results = []
        for rows in "%x0", "%x1":
            each = Program(pathlib.Path(folder), program(combine, rows, start), [x, x])
            each.lower("cpu=x86-64-v3")
            kernels = run_tool("layout-opt", each.module, "--pass-pipeline=builtin.module(func.func(layout-cpu-emit-kernels))")
            assert ("layout.not_positive" in kernels) == (combine != "minnumf" and rows == "%x0"), (combine, rows)
            results.append(each.run())
        assert np.array_equal(*results, equal_nan=True), combine
        with np.errstate(all="ignore"):
            expected = np.exp((x - reduce(x, axis=1)[:, None]).astype(np.float64))
            rounded = expected.astype(np.float32)
        assert np.array_equal(np.isnan(results[0]), np.isnan(rounded)), combine
        finite = np.isfinite(rounded)
        assert np.array_equal(results[0][~finite], rounded[~finite], equal_nan=True), combine
        units = np.ldexp(1.0, np.maximum(np.frexp(expected[finite])[1] - 24, -149))
        assert (np.abs(results[0][finite] - expected[finite]) <= units).all(), combine
