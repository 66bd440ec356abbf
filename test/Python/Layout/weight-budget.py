# RUN: %python %s 2>&1 | FileCheck %s
# CHECK: OK
"""Checks assign under a weight budget, for functions that share weights: the stored bytes are counted again in the text
of the decided module, and its results are compared with numpy."""

import re
import unittest

import numpy as np
from layout_mlir import LayoutError, assign, compile

TARGET = "#layout.cpu<lanes = 4>"
BATCHES = {"main": (1, 9), "other": (3, 6)}
TYPES = {"f32": np.float32, "i32": np.int32, "f16": np.float16}


def literal(array):
    return f'dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}">'


def program(first, second, element):
    """Returns two functions that convolve twice; @weights returns the second weight in its stated layout."""
    text = ""
    for name, (batch, size) in BATCHES.items():
        x, steps = f"tensor<{batch}x{first.shape[1]}x{size}x{size}x{element}>", []
        value, kind = "%x", x
        for i, weight in enumerate((first, second)):
            size -= 2
            shape = "x".join(map(str, weight.shape))
            result = f"tensor<{batch}x{weight.shape[0]}x{size}x{size}x{element}>"
            zero = "0.0" if element[0] == "f" else "0"
            steps.append(f"""
  %w{i} = arith.constant {literal(weight)} : tensor<{shape}x{element}>
  %z{i} = arith.constant {zero} : {element}
  %e{i} = tensor.empty() : {result}
  %f{i} = linalg.fill ins(%z{i} : {element}) outs(%e{i} : {result}) -> {result}
  %c{i} = linalg.conv_2d_nchw_fchw ins({value}, %w{i} : {kind}, tensor<{shape}x{element}>) outs(%f{i} : {result}) -> {result}""")
            value, kind = f"%c{i}", result
        text += f"func.func @{name}(%x: {x}) -> {kind} {{{''.join(steps)}\n  return {value} : {kind}\n}}\n"
    kind = f"tensor<{'x'.join(map(str, second.shape))}x{element}>"
    return text + f"func.func @weights() -> {kind} {{\n  %w = arith.constant {literal(second)} : {kind}\n  return %w : {kind}\n}}\n"


def convolve(a, w):
    windows = np.lib.stride_tricks.sliding_window_view(a, (3, 3), axis=(2, 3))
    return np.einsum("nchwij,fcij->nfhw", windows, w)


def kept_bytes(text):
    """Returns the bytes of each constant tensor, once per layout; a layout is evaluated at all indices."""
    aliases = dict(re.findall(r"^#(\w+) = (#layout\.map<.*>)$", text, re.MULTILINE))
    text = re.sub(r"#(\w+)", lambda use: aliases.get(use[1], use[0]), text)
    constants = set(re.findall(
        r"arith\.constant (dense\S*) : tensor<([\dx]+)x(\w+)(?:, #layout\.map<\((.*?)\) -> buffer\((.*?)\)>)?>", text))
    total = 0
    for _, shape, element, names, coordinates in constants:
        shape = [int(extent) for extent in shape.split("x")]
        count = np.prod(shape)
        if names:
            at = dict(zip(names.split(", "), np.indices(shape)))
            expressions = coordinates.replace("floordiv", "//").replace("mod", "%").split(", ")
            count = np.prod([np.max(eval(each, at)) + 1 for each in expressions])
        total += int(count) * np.dtype(TYPES[element]).itemsize
    return total


class Budgets(unittest.TestCase):
    def check(self, element, channels, seed):
        rng = np.random.default_rng(seed)
        first, second = (rng.integers(-3, 4, (f, c, 3, 3)).astype(TYPES[element]) for c, f in zip(channels, channels[1:]))
        text = program(first, second, element)
        own = first.nbytes + second.nbytes
        free = assign(text, TARGET, weight_budget=1 << 40)
        self.assertEqual(free.cost, assign(text, TARGET).cost)
        most, costs, seen = kept_bytes(free.module), [], set()
        for budget in sorted({own, own + 1, (own + most) // 2, most - 1, most, 2 * most}):
            if budget < own:
                continue
            decided = assign(text, TARGET, weight_budget=budget)
            kept = kept_bytes(decided.module)
            self.assertEqual(kept, int(re.search(r"weight_bytes = (\d+)", decided.module)[1]))
            self.assertLessEqual(kept, budget)
            self.assertEqual(decided.gap, 0)
            costs.append(decided.cost)
            if kept in seen:
                continue
            seen.add(kept)
            for name, (batch, size) in BATCHES.items():
                x = rng.integers(-3, 4, (batch, channels[0], size, size)).astype(TYPES[element])
                np.testing.assert_array_equal(compile(decided.module, function=name)(x),
                                              convolve(convolve(x, first), second))
        self.assertEqual(costs, sorted(costs, reverse=True))
        self.assertEqual(costs[-1], free.cost)
        with self.assertRaisesRegex(LayoutError, rf"constants need at least {own} bytes .* {own - 1} are allowed"):
            assign(text, TARGET, weight_budget=own - 1)
        return len(seen)

    def test_channels_that_fill_lanes(self):
        self.assertGreater(self.check("f32", (8, 16, 8), 0), 1)

    def test_non_divisible_channels(self):
        self.assertGreater(self.check("f32", (5, 19, 7), 1), 1)

    def test_integers_and_halves(self):
        self.check("i32", (4, 9, 6), 2)
        self.check("f16", (4, 8, 5), 3)

    def test_no_weights_take_nothing(self):
        text = "func.func @main(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {\n  %y = math.exp %x : tensor<0x3xf32>\n" \
               "  return %y : tensor<0x3xf32>\n}"
        self.assertIn("weight_bytes = 0", assign(text, TARGET, weight_budget=0).module)
        empty = text.replace("%y = math.exp %x", "%w = arith.constant dense<1.0> : tensor<0x3xf32>\n  %y = arith.addf %x, %w")
        self.assertIn("weight_bytes = 0", assign(empty, TARGET, weight_budget=0).module)

    def test_globals_are_weights(self):
        text = """ml_program.global private @w(dense<2.0> : tensor<4x8xf32>) : tensor<4x8xf32>
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = ml_program.global_load_const @w : tensor<4x8xf32>
  %y = arith.addf %x, %w : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func @twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = ml_program.global_load_const @w : tensor<4x8xf32>
  %y = arith.mulf %x, %w : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}"""
        self.assertIn("weight_bytes = 128", assign(text, TARGET, weight_budget=128).module)
        with self.assertRaisesRegex(LayoutError, "at least 128 bytes"):
            assign(text, TARGET, weight_budget=127)

    def test_wrong_budgets(self):
        with self.assertRaisesRegex(LayoutError, "weight_budget must not be negative"):
            assign("func.func @main() { return }", TARGET, weight_budget=-1)


if __name__ == "__main__":
    unittest.main()
