# RUN: %python %s
# Check that programs with parallel loops give the same bits with any number of threads and without parallel loops, and
# numpy's results: partial tiles, transpositions, row sums, a dynamic batch, no elements, and integers.
import pathlib
import tempfile

import numpy as np
from cpu_programs import Program

from layout_mlir import LayoutError, compile as compile_program

rng = np.random.default_rng(0)


def generic(maps, kinds, ins, out, body, fill=None):
    """Returns a function of one op; tensors are given by their types."""
    arguments = ", ".join(f"%x{i}: {type}" for i, type in enumerate(ins))
    names = ", ".join(f"%x{i}" for i in range(len(ins)))
    element = out.rstrip(">").split("x")[-1]
    sizes = "%size" if "?" in out else ""
    start = "%e" if fill is None else "%f"
    filled = "" if fill is None else (
        f"%zero = arith.constant {fill} : {element}\n"
        f"%f = linalg.fill ins(%zero : {element}) outs(%e : {out}) -> {out}\n")
    size = "%c0 = arith.constant 0 : index\n%size = tensor.dim %x0, %c0 : " + ins[0] if sizes else ""
    block = ", ".join(f"%a{i}: {type.rstrip('>').split('x')[-1]}" for i, type in enumerate(ins))
    return f"""func.func @main({arguments}) -> {out} {{
  {size}
  %e = tensor.empty({sizes}) : {out}
  {filled}
  %r = linalg.generic {{indexing_maps = [{', '.join(f'affine_map<{each}>' for each in maps)}],
      iterator_types = [{', '.join(f'"{kind}"' for kind in kinds)}]}}
      ins({names} : {', '.join(ins)}) outs({start} : {out}) {{
  ^bb0({block}, %s: {element}):
    {body}
  }} -> {out}
  return %r : {out}
}}"""


P, R = "parallel", "reduction"
SUM = "%m = arith.mulf %a0, %a1 : f32\n%t = arith.addf %s, %m : f32\nlinalg.yield %t : f32"
COUNT = "%m = arith.muli %a0, %a1 : i32\n%t = arith.addi %s, %m : i32\nlinalg.yield %t : i32"


def drawn(*shape, dtype=np.float32):
    if np.dtype(dtype).kind == "i":
        return rng.integers(-9, 9, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def product(n, k, m):
    return generic(["(i, j, k) -> (i, k)", "(i, j, k) -> (k, j)", "(i, j, k) -> (i, j)"], [P, P, R],
                   [f"tensor<{n}x{k}xf32>", f"tensor<{k}x{m}xf32>"], f"tensor<{n}x{m}xf32>", SUM, 0.0)


CONVOLUTION = generic(
    ["(n, c, h, w, i, y, x) -> (n, i, h + y, w + x)", "(n, c, h, w, i, y, x) -> (c, i, y, x)",
     "(n, c, h, w, i, y, x) -> (n, c, h, w)"], [P, P, P, P, R, R, R],
    ["tensor<2x5x33x35xf32>", "tensor<7x5x3x3xf32>"], "tensor<2x7x31x33xf32>", SUM, 0.0)
INTEGERS = generic(["(i, j, k) -> (i, k)", "(i, j, k) -> (k, j)", "(i, j, k) -> (i, j)"], [P, P, R],
                   ["tensor<61x67xi32>", "tensor<67x131xi32>"], "tensor<61x131xi32>", COUNT, 0)
ROWS = generic(["(i, j) -> (i, j)", "(i, j) -> (i)"], [P, R], ["tensor<517x1003xf32>"],
               "tensor<517xf32>", "%t = arith.addf %s, %a0 : f32\nlinalg.yield %t : f32", 0.0)
HALVES = generic(["(i, j) -> (i, j)", "(i, j) -> (i, j)"], [P, P], ["tensor<?x1021xf16>"],
                 "tensor<?x1021xf16>", "%t = arith.addf %a0, %a0 : f16\nlinalg.yield %t : f16")
TURN = generic(["(i, j) -> (i, j)", "(i, j) -> (j, i)"], [P, P], ["tensor<1021x514xf32>"],
               "tensor<514x1021xf32>", "linalg.yield %a0 : f32")


def convolve(x, k):
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    return np.einsum("nihwyx,ciyx->nchw", windows, k, dtype=np.float64)


CASES = [
    (product(67, 129, 259), [drawn(67, 129), drawn(129, 259)], np.matmul),
    (product("?", 129, 259), [drawn(67, 129), drawn(129, 259)], np.matmul),
    (product("?", 129, 259), [drawn(0, 129), drawn(129, 259)], np.matmul),
    (CONVOLUTION, [drawn(2, 5, 33, 35), drawn(7, 5, 3, 3)], convolve),
    (INTEGERS, [drawn(61, 67, dtype=np.int32), drawn(67, 131, dtype=np.int32)], np.matmul),
    (ROWS, [drawn(517, 1003)], lambda x: x.sum(1, dtype=np.float64)),
    (HALVES, [drawn(517, 1021, dtype=np.float16)], lambda x: x + x),
    (TURN, [drawn(1021, 514)], np.transpose),
]

with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    for text, inputs, oracle in CASES:
        program = Program(folder, text, inputs)

        def run(shared, *options):
            program.lower(f"parallel-loops={shared}")
            assert ("omp.parallel" in program.code.read_text()) == (shared == "true"), text
            return program.run(*options)

        alone = run("false")
        expected = oracle(*inputs)
        assert alone.shape == expected.shape
        assert np.allclose(alone, expected, rtol=1e-3, atol=1e-3), text
        for threads in 1, 2, 3, 16:
            assert alone.tobytes() == run("true", f"--threads={threads}").tobytes(), (threads, text)

# In process: a program keeps its number of threads next to others with different numbers.
text, inputs, oracle = CASES[0]
programs = [compile_program(text, threads=threads) for threads in (1, 3, None)]
assert [program.threads for program in programs[:2]] == [1, 3]
results = [program(*inputs) for program in programs]
assert all(result.tobytes() == results[0].tobytes() for result in results)
assert np.allclose(results[0], oracle(*inputs), rtol=1e-3, atol=1e-3)
for wrong in 0, -1, 1025:
    try:
        compile_program(text, threads=wrong)
        raise AssertionError(wrong)
    except LayoutError as error:
        assert f"the number of threads is {wrong}: it must be from 1 to 1024" in str(error), error
