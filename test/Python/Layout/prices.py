# RUN: %python %s 2>&1 | FileCheck %s
# CHECK: OK
"""Checks that assign minimizes user-defined prices, a function or a price list, by enumeration."""

import itertools
import pathlib
import random
import re
import tempfile
import unittest

from layout_mlir import LayoutError, PricedOp, assign, run_pipeline

TARGET = "#layout.cpu<lanes = 4>"


def product(m, k, n, element="f32"):
    """Returns two elementwise ops around a product."""
    a, b, c = f"tensor<{m}x{k}x{element}>", f"tensor<{k}x{n}x{element}>", f"tensor<{m}x{n}x{element}>"
    negate, zero = ("arith.negf", "0.0") if element[0] == "f" else ("math.absi", "0")
    return f"""
func.func @main(%x: {a}, %y: {b}) -> {c} {{
  %zero = arith.constant {zero} : {element}
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%zero : {element}) outs(%e : {c}) -> {c}
  %p = {negate} %x : {a}
  %q = linalg.matmul ins(%p, %y : {a}, {b}) outs(%f : {c}) -> {c}
  %r = {negate} %q : {c}
  return %r : {c}
}}"""


class RandomPrices:
    """Returns random prices, and records them."""

    def __init__(self, seed, most):
        self.random, self.most, self.prices = random.Random(seed), most, {}

    def __call__(self, op):
        key = op.name if op.name == "layout.convert" else op.text, op.operands, op.results
        return self.prices.setdefault(key, self.random.randrange(self.most))

    def least(self, a, b, c):
        """Returns the least cost of the program above, with plain arguments and results."""
        def convert(before, after):
            # A price that was not requested is not needed: both sides have identical storage, which the decision prices
            # at 1.
            return 0 if before == after else self.prices.get(("layout.convert", (before,), (after,)), 1)

        ops = {}
        for (text, operands, results), price in self.prices.items():
            if text != "layout.convert":
                kind = "product" if "matmul" in text else operands[0].split(",")[0].rstrip(">")
                ops.setdefault(kind, []).append((operands, results, price))
        first, last = ops[a[:-1]], ops[c[:-1]]
        return min(
            p + q + r + convert(a, x[0]) + convert(made[0], y[0]) + convert(b, y[1]) + convert(out[0], z[0])
            + convert(end[0], c)
            for (x, made, p), (y, out, q), (z, end, r) in itertools.product(first, ops["product"], last))


class Prices(unittest.TestCase):
    def test_random_prices(self):
        """Checks that the decision is the cheapest of all combinations, for uneven sizes and for extents of 1 and 0."""
        shapes = [(8, 12, 20), (5, 7, 9), (1, 8, 4), (8, 1, 4), (3, 8, 4), (0, 8, 4), (6, 13, 5)]
        for number, (m, k, n) in enumerate(shapes):
            for element, most in ("f32", 100), ("f16", 1), ("i8", 3):
                prices = RandomPrices(number, most)
                result = assign(product(m, k, n, element), TARGET, costs=prices)
                self.assertEqual(result.gap, 0)
                types = f"tensor<{m}x{k}x{element}>", f"tensor<{k}x{n}x{element}>", f"tensor<{m}x{n}x{element}>"
                if (m, k) != (m, n):
                    self.assertEqual(result.cost, prices.least(*types), (m, k, n, element))

    def test_modeled(self):
        """Checks that None means the modeled price, and that twice that price costs twice as much."""
        source = product(8, 12, 20)
        plain = assign(source, TARGET)
        same = assign(source, TARGET, costs=lambda op: None)
        self.assertEqual((same.cost, same.module), (plain.cost, plain.module))
        twice = assign(source, TARGET, costs=lambda op: 2 * op.modeled)
        self.assertEqual((twice.cost, twice.lower_bound), (2 * plain.cost, 2 * plain.cost))
        self.assertEqual(twice.conversions[0].to_layout if twice.conversions else None,
                         plain.conversions[0].to_layout if plain.conversions else None)

    def test_ops(self):
        """Checks the description of an op: name, text with attributes, types with layouts."""
        seen = []
        assign(product(8, 12, 20), TARGET, costs=seen.append)
        self.assertTrue(all(isinstance(op, PricedOp) for op in seen))
        names = {op.name for op in seen}
        self.assertEqual(names - {"linalg.fill"}, {"linalg.generic", "linalg.matmul", "layout.convert"})
        matmul = [op for op in seen if op.name == "linalg.matmul"]
        self.assertTrue(all(len(op.operands) == 3 and len(op.results) == 1 and op.modeled > 0 for op in matmul))
        self.assertTrue(all("linalg.matmul" in op.text and "#layout" not in op.text for op in matmul))
        self.assertTrue(any("#layout.map" in text for op in seen for text in op.operands + op.results))

    def test_errors(self):
        """Checks that exceptions of a price function are raised, and that invalid results are errors."""
        source = product(8, 12, 20)
        with self.assertRaises(ZeroDivisionError):
            assign(source, TARGET, costs=lambda op: 1 // 0)
        for answer in "7", 1.5, 1 << 63, object():
            with self.assertRaisesRegex(TypeError, "an int, or None"):
                assign(source, TARGET, costs=lambda op, answer=answer: answer)
        for answer in -1, (1 << 63) - 1:
            with self.assertRaisesRegex(ValueError, f"a price of {answer}: it must be"):
                assign(source, TARGET, costs=lambda op, answer=answer: answer)
        with self.assertRaises(TypeError):
            assign(source, TARGET, costs=7)
        with self.assertRaisesRegex(LayoutError, "cannot read 'no/such/list'"):
            assign(source, TARGET, costs="no/such/list")

    def test_lists(self):
        """Checks that a list with the prices of a function gives the same decision, in any order, and with missing
        prices scaled to the list's unit."""
        with tempfile.TemporaryDirectory() as folder:
            written = pathlib.Path(folder) / "written.mlir"
            source = product(8, 12, 20)
            run_pipeline(source, f"layout-assign{{target={{{TARGET}}} write-costs={written}}}")
            text = written.read_text()
            functions = re.findall(r"^  func\.func .*?^  }\n", text, re.M | re.S)
            self.assertGreater(len(functions), 4)
            head, tail = text.split(functions[0])[0], "}\n"
            generator, path, seen = random.Random(5), pathlib.Path(folder) / "list.mlir", set()
            priced = [re.sub(r"layout.cost = \d+", lambda _: f"layout.cost = {generator.randrange(50)}", function)
                      for function in functions]
            for _ in range(10):
                path.write_text(head + "".join(priced) + tail)
                result = assign(source, TARGET, costs=path)
                seen.add((result.cost, result.module))
                generator.shuffle(priced)
            self.assertEqual(len(seen), 1)
            # Ten times the modeled prices; only one is listed.
            one = re.sub(r"layout.cost = (\d+)", lambda found: f"layout.cost = {10 * int(found[1])}", functions[0])
            path.write_text(head + one + tail)
            ten = assign(source, TARGET, costs=str(path))
            plain = assign(source, TARGET)
            free = sum(c.kind != "relayout" for c in plain.conversions)
            self.assertLessEqual(abs(ten.cost - 10 * plain.cost), 9 * free)


unittest.main()
