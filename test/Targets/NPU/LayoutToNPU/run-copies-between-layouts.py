# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check that a move from the aligned layout to a matrix goes through system memory, with few transfers, against NumPy.
import numpy as np

from npu_cases import compile_for

random = np.random.default_rng(3)


def product(rows, inner, columns, bytes_left, bytes_right):
    """Returns a product whose operands are f32, or converted bytes."""
    lines = []

    def operand(name, shape, is_bytes):
        text = f"tensor<{shape[0]}x{shape[1]}x"
        if not is_bytes:
            return f"%{name}", f"%{name} : {text}f32>"
        lines.append(f"""
  %{name}e = tensor.empty() : {text}f32>
  %{name}f = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%{name} : {text}i8>) outs(%{name}e : {text}f32>) {{
    ^bb0(%byte: i8, %o: f32):
      %v = arith.sitofp %byte : i8 to f32
      linalg.yield %v : f32
  }} -> {text}f32>""")
        return f"%{name}f", f"%{name} : {text}i8>"

    left, left_argument = operand("a", (rows, inner), bytes_left)
    right, right_argument = operand("b", (inner, columns), bytes_right)
    made = f"tensor<{rows}x{columns}xf32>"
    body = "".join(lines)
    return f"""func.func @main({left_argument.replace(' :', ':')}, {right_argument.replace(' :', ':')}) -> {made} {{
  %zero = arith.constant 0.0 : f32{body}
  %e = tensor.empty() : {made}
  %f = linalg.fill ins(%zero : f32) outs(%e : {made}) -> {made}
  %r = linalg.matmul ins({left}, {right} : tensor<{rows}x{inner}xf32>, tensor<{inner}x{columns}xf32>) outs(%f : {made}) -> {made}
  return %r : {made}
}}
"""


def draw(shape, is_bytes):
    if is_bytes:
        return random.integers(-128, 128, shape).astype(np.int8)
    return random.integers(-3, 4, shape).astype(np.float32)


def check(rows, inner, columns, bytes_left, bytes_right, chip='"BM1684"', most=64):
    program = compile_for(product(rows, inner, columns, bytes_left, bytes_right), chip,
                          ", launch_cost = 4096, flops_per_byte = 32")
    a, b = draw((rows, inner), bytes_left), draw((inner, columns), bytes_right)
    result = program.run(a, b)
    np.testing.assert_array_equal(result.outputs[0], a.astype(np.float32) @ b.astype(np.float32))
    assert result.counters["transfers"] <= most, result.counters


check(1, 1100, 1000, False, True)
check(1, 1104, 1000, False, True)
check(3, 600, 600, False, True)
check(4, 1100, 130, True, False)
check(64, 64, 64, True, True)
check(1, 1, 1, True, True)
check(7, 513, 1, True, True)
check(1, 65, 1031, True, True, chip='"BM1684X"')
check(5, 33, 257, True, True, chip="npus = 5, bytes_per_npu = 65536, eu_bytes = 64", most=200)
