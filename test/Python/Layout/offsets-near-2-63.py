# RUN: %python %s
"""Checks offsets near 2^63: every address maps back to its element, or is refused."""

import itertools
import random
import unittest

from layout_mlir import Layout, LayoutError

CASES = [
    ("(b, c) -> buffer(c mod 2, c floordiv 2, b + 1)", (3, 1500000000000000000)),
    ("(c, b) -> buffer(offset = (c mod 2) * 4000000000000000000 + (c floordiv 2) * 4 + b + 1)", (4, 3)),
    ("(c, b) -> buffer(offset = (c mod 2) * 5000000000000000000 + (c floordiv 2) * 4 + b + 1)", (4, 3)),
    ("(c, b) -> buffer(offset = (c mod 2) * 5000000000000000000 + (c floordiv 2) * 4 + b)", (4, 3)),
    ("(c, b) -> buffer(offset = c * 5000000000000000000 + b + 1)", (2, 3)),
    ("(c, b) -> buffer(offset = c * 8000000000000000000 + b * 3 + 1)", (2, 3)),
    ("(c, b) -> buffer(offset = (c mod 2) * 3000000000000000000 + (c floordiv 2) * 5 + b + 1)", (4, 5)),
    ("(a, b) -> buffer(offset = a * 9223372036854775000 + b + 800)", (2, 7)),
    ("(a, b) -> buffer(offset = a * -9223372036854775000 + b + 9223372036854775000)", (2, 7)),
    ("(a) -> buffer(offset = a * 4611686018427387904)", (3,)),
]


class Offsets(unittest.TestCase):
    def test_addresses_go_back(self):
        refused = 0
        for text, shape in CASES:
            layout = Layout(f"#layout.map<{text}>")
            with self.subTest(layout=text):
                try:
                    layout.check(shape)
                except LayoutError as error:
                    self.assertIn("64 bits", str(error))
                    refused += 1
                    continue
                rng = random.Random(0)
                points = (list(itertools.product(*map(range, shape))) if max(shape) < 100 else
                          [tuple(rng.randrange(size) for size in shape) for _ in range(30)])
                for index in points:
                    address = layout.address(index, shape)
                    self.assertEqual(layout.backward_index(address, shape), index)
        self.assertLess(refused, len(CASES) / 2)


if __name__ == "__main__":
    unittest.main()
