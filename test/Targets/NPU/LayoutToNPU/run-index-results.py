# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check i64 results on an NPU: argmax, and tokens that are appended to those of an argument and keep all their bits, on
# several chips against numpy.
import pathlib
import sys

import numpy as np

from layout_mlir.npu import Program
from layout_mlir.tools import run_tool

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(23)


def run(text, chip, *inputs):
    source, lowered = folder / "source.mlir", folder / "lowered.mlir"
    source.write_text(text)
    run_tool("layout-opt", source, f"--layout-to-npu=target={{#layout.npu<chip = #npu.target<{chip}>>}}", "-o", lowered)
    program = Program(lowered, folder=folder / "package")
    assert program.kernels == 0
    return program.run(*inputs).outputs


def largest(x, rows, columns, prefix, word="i64"):
    """Returns the text of %{prefix}most, the argmax of each row."""
    size, out, words = (f"tensor<{text}>" for text in (f"{rows}x{columns}xf32", f"{rows}xf32", f"{rows}x{word}"))
    return f"""
  %{prefix}et = tensor.empty() : {out}
  %{prefix}ft = linalg.fill ins(%inf : f32) outs(%{prefix}et : {out}) -> {out}
  %{prefix}top = linalg.reduce {{ arith.maximumf }} ins({x} : {size}) outs(%{prefix}ft : {out}) dimensions = [1]
  %{prefix}ei = tensor.empty() : {words}
  %{prefix}fi = linalg.fill ins(%none : {word}) outs(%{prefix}ei : {words}) -> {words}
  %{prefix}most = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a)>],
                          iterator_types = ["parallel", "reduction"]}}
      ins({x}, %{prefix}top : {size}, {out}) outs(%{prefix}fi : {words}) {{
    ^bb0(%a: f32, %t: f32, %o: {word}):
      %i = linalg.index 1 : index
      %j = arith.index_cast %i : index to {word}
      %p = arith.cmpf oeq, %a, %t : f32
      %s = arith.select %p, %j, %o : {word}
      %m = arith.minsi %s, %o : {word}
      linalg.yield %m : {word}
  }} -> {words}"""


for chip in ('"BM1684"', '"BM1688"', "npus = 3, bytes_per_npu = 16384, eu_bytes = 64"):
    for rows, columns in ((1, 97), (3, 300), (5, 1), (1, 1), (0, 5), (70, 4)):
        x = random.standard_normal((rows, columns)).astype(np.float32).round()
        word = "i32" if rows == 3 else "i64"
        head = f"""
  %inf = arith.constant 0xFF800000 : f32
  %none = arith.constant {columns} : {word}"""
        text = f"""func.func @main(%x: tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{word}> {{{head}{largest("%x", rows, columns, "", word)}
  return %most : tensor<{rows}x{word}>
}}"""
        output, = run(text, chip, x)
        assert output.dtype == ("int32" if rows == 3 else "int64")
        np.testing.assert_array_equal(output, x.argmax(axis=1))

    # Two iterations: the second one looks up the result of the first one.
    rows, columns = 2, 11
    table = random.standard_normal((columns, columns)).astype(np.float32).round(3)
    tokens = random.integers(-2**63, 2**63 - 1, (rows, 4))
    tokens[:, 0] = [7, 3]
    dense = np.array2string(table, separator=",", threshold=10**6).replace("\n", "")
    text = f"""func.func @main(%tokens: tensor<{rows}x4xi64>) -> (tensor<{rows}x4xi64>, tensor<{rows}x{columns}xf32>) {{
  %inf = arith.constant 0xFF800000 : f32
  %none = arith.constant {columns} : i64
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %table = arith.constant dense<{dense}> : tensor<{columns}x{columns}xf32>
  %e = tensor.empty() : tensor<{rows}x{columns}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32>
  %r:2 = scf.for %n = %c0 to %c2 step %c1 iter_args(%all = %tokens, %last = %f) -> (tensor<{rows}x4xi64>, tensor<{rows}x{columns}xf32>) {{
    %token = tensor.extract_slice %all[0, %n] [{rows}, 1] [1, 1] : tensor<{rows}x4xi64> to tensor<{rows}xi64>
    %row = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}}
        ins(%token : tensor<{rows}xi64>) outs(%e : tensor<{rows}x{columns}xf32>) {{
      ^bb0(%a: i64, %o: f32):
        %at = arith.index_cast %a : i64 to index
        %j = linalg.index 1 : index
        %v = tensor.extract %table[%at, %j] : tensor<{columns}x{columns}xf32>
        linalg.yield %v : f32
    }} -> tensor<{rows}x{columns}xf32>{largest("%row", rows, columns, "")}
    %next = arith.addi %n, %c1 : index
    %grown = tensor.insert_slice %most into %all[0, %next] [{rows}, 1] [1, 1] : tensor<{rows}xi64> into tensor<{rows}x4xi64>
    scf.yield %grown, %row : tensor<{rows}x4xi64>, tensor<{rows}x{columns}xf32>
  }}
  return %r#0, %r#1 : tensor<{rows}x4xi64>, tensor<{rows}x{columns}xf32>
}}"""
    wanted = tokens.copy()
    for turn in range(2):
        last = table[wanted[:, turn]]
        wanted[:, turn + 1] = last.argmax(axis=1)
    grown, row = run(text, chip, tokens)
    np.testing.assert_array_equal(grown, wanted)
    np.testing.assert_array_equal(row, last)
