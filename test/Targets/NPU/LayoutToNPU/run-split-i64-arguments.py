# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check that i32 and i64 become f32 by OKKernel functions, in the simulator against numpy: words rounded to nearest,
# wider integers within two units in the last place, on several chips and uneven shapes, through reshapes and slices.
import numpy as np

from npu_cases import run_functions

random = np.random.default_rng(17)
CHIPS = ['"BM1684"', '"BM1688"', "npus = 3, bytes_per_npu = 16384, eu_bytes = 64"]
COSTS = ", launch_cost = 256, flops_per_byte = 8"


def convert(source, target, shape, element):
    dims = ", ".join(f"d{i}" for i in range(len(shape)))
    text = "x".join(map(str, shape))
    kinds = ", ".join(['"parallel"'] * len(shape))
    return f"""
  %e = tensor.empty() : tensor<{text}xf32>
  {target} = linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> ({dims})>],
      iterator_types = [{kinds}]}} ins({source} : tensor<{text}x{element}>) outs(%e : tensor<{text}xf32>) {{
    ^bb0(%a: {element}, %o: f32):
      %f = arith.sitofp %a : {element} to f32
      linalg.yield %f : f32
  }} -> tensor<{text}xf32>"""


def draw(shape, dtype):
    """Returns numbers of all magnitudes, including the boundaries."""
    bits = np.dtype(dtype).itemsize * 8
    powers = [2**k + d for k in range(bits - 1) for d in (-1, 0, 1)]
    edges = [0, -2**(bits - 1), 2**(bits - 1) - 1, *powers, *[-p for p in powers]]
    edges = [e for e in edges if -2**(bits - 1) <= e < 2**(bits - 1)]
    count = int(np.prod(shape))
    wide = random.integers(-2**(bits - 1), 2**(bits - 1) - 1, count, dtype=np.int64)
    values = wide >> random.integers(0, bits, count)
    values[:min(count, len(edges))] = random.permutation(np.array(edges))[:count]
    return values.astype(dtype).reshape(shape)


for chip in CHIPS:
    for shape in [(1, 128), (7,), (3, 5, 11), (2, 3, 4, 5), (1, 1), (450,)]:
        text = "x".join(map(str, shape))
        for element, dtype in (("i32", np.int32), ("i64", np.int64)):
            module = f"""func.func @main(%x: tensor<{text}x{element}>) -> tensor<{text}xf32> {{{convert("%x", "%r", shape, element)}
  return %r : tensor<{text}xf32>
}}
"""
            x = draw(shape, dtype)
            made, = run_functions(module, chip, x, costs=COSTS)
            wanted = x.astype(np.float32)
            is_word = np.abs(x.astype(np.float64)) <= 2**31
            np.testing.assert_array_equal(made[is_word], wanted[is_word])
            np.testing.assert_array_max_ulp(made, wanted, 2)

# Through a reshape and a slice, next to a result of another slice.
x = draw((4, 6), np.int64)
made = run_functions(f"""func.func @main(%x: tensor<4x6xi64>) -> tensor<2x2x3xf32> {{
  %s = tensor.extract_slice %x[1, 0] [2, 6] [1, 1] : tensor<4x6xi64> to tensor<2x6xi64>
  %y = tensor.expand_shape %s [[0], [1, 2]] output_shape [2, 2, 3] : tensor<2x6xi64> into tensor<2x2x3xi64>{convert("%y", "%r", (2, 2, 3), "i64")}
  return %r : tensor<2x2x3xf32>
}}
""", CHIPS[0], x, costs=COSTS)[0]
np.testing.assert_array_max_ulp(made, x[1:3].reshape(2, 2, 3).astype(np.float32), 2)
