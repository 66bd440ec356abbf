# RUN: %python %s
"""Checks CuTe's algebra at every point of the examples of its documentation, by plain arithmetic."""

import itertools
import math
import unittest

from layout_mlir import Layout, LayoutError


def offsets(shape, stride):
    """Returns the offset of each integer; the first leaf is the fastest."""
    leaves = [(shape, stride)]
    while any(isinstance(s, tuple) for s, _ in leaves):
        leaves = [leaf for s, d in leaves
                  for leaf in (zip(s, d) if isinstance(s, tuple) else [(s, d)])]
    ranges = [[i * d for i in range(s)] for s, d in reversed(leaves)]
    return [sum(parts) for parts in itertools.product(*ranges)]


def cute(shape, stride):
    return Layout.from_notation("cute", f"{shape}:{stride}".replace(",)", ")").replace(" ", ""))


def read(result):
    layout, shape = result
    return [layout.address(index[::-1], shape)["offset"]
            for index in itertools.product(*map(range, shape[::-1]))]


class CuTeAlgebra(unittest.TestCase):
    def test_composition(self):
        for a, b in ((((6, 2), (8, 2)), ((4, 3), (3, 1))), ((20, 2), ((5, 4), (4, 1))),
                     (((10, 2), (16, 4)), ((5, 4), (1, 5))), (((4, 2), (1, 5)), ((2, 2), (2, 4))),
                     # Does not divide, but is a function.
                     (((4, 6, 8), (2, 3, 5)), ((6, 3), (8, 1)))):
            first, then = offsets(*b), offsets(*a)
            self.assertEqual(read(cute(*a).composition(cute(*b))), [then[k] for k in first])
        with self.assertRaisesRegex(LayoutError, "offsets of the first layout must be indices"):
            cute(4, 1).composition(cute(4, 2))

    def test_complement(self):
        for a, size, b in (((4, 1), 24, (6, 4)), ((6, 4), 24, (4, 1)),
                           (((4, 6), (1, 4)), 24, (1, 0)), ((4, 2), 24, ((2, 3), (1, 8))),
                           (((2, 4), (1, 6)), 24, (3, 2)), (((2, 2), (1, 6)), 24, ((3, 2), (2, 12)))):
            found = read(cute(*a).complement(size))
            self.assertEqual(found, offsets(*b))
            sums = sorted(x + y for x in offsets(*a) for y in found)
            self.assertEqual(sums, list(range(len(sums))))

    def test_inverses(self):
        for a in ((8, 1), ((4, 8), (8, 1)), ((4, 2), (1, 5)), (((2, 2), 4), ((1, 8), 2)),
                  ((3, 5), (7, 1)), ((2, 2, 2), (8, 1, 32))):
            layout, there = cute(*a), offsets(*a)
            back = read(layout.left_inverse())
            self.assertEqual([back[offset] for offset in there], list(range(len(there))))
            first = read(layout.right_inverse())
            self.assertEqual([there[k] for k in first], list(range(len(first))))
            self.assertNotIn(len(first), there)

    def test_division(self):
        a, tile = ((4, 2, 3), (2, 1, 8)), (4, 2)
        layout, shape = cute(*a).logical_divide(cute(*tile))
        self.assertEqual(shape, (4, 6))
        self.assertEqual(layout.to("cute", shape), "((2,2),(2,3)):((4,1),(2,8))")
        rows = cute((9, (4, 8)), (59, (13, 1)))
        tiles = [cute(3, 3), cute((2, 4), (1, 8))]
        tiles[1] = tiles[1].coalesce()
        self.assertEqual(rows.flat_divide(tiles)[1], (3, 8, 3, 4))
        self.assertEqual(rows.zipped_divide(tiles)[1], (24, 12))
        self.assertEqual(rows.tiled_divide(tiles)[1], (24, 3, 4))
        self.assertEqual(rows.dimwise_divide(tiles)[1], (9, 32))
        there = offsets((9, (4, 8)), (59, (13, 1)))
        inner, rest = offsets((2, 4), (1, 8)), offsets((2, 2), (2, 4))
        expected = [there[3 * t0 + r0 + 9 * (t1 + r1)]
                    for r1 in rest for r0 in range(3) for t1 in inner for t0 in range(3)]
        self.assertEqual(read(rows.flat_divide(tiles)), expected)
        self.assertEqual(read(rows.zipped_divide(tiles)), expected)
        with self.assertRaisesRegex(LayoutError, "does not divide 10 indices"):
            cute(10, 1).logical_divide(4)
        with self.assertRaisesRegex(LayoutError, "one for each dim"):
            rows.flat_divide([3])
        self.assertRaises(TypeError, lambda: rows.flat_divide(["3", 3]))

    def test_product(self):
        layout, shape = cute((2, 2), (4, 1)).logical_product(cute(6, 1))
        self.assertEqual((shape, layout.to("cute", shape)),
                         ((4, 6), "((2,2),(2,3)):((4,1),(2,8))"))
        layout, shape = cute((2, 2), (4, 1)).logical_product(cute((4, 2), (2, 1)))
        self.assertEqual(layout.to("cute", shape), "((2,2),(4,2)):((4,1),(8,2))")

    def test_layouts_of_tensors(self):
        blocked = Layout('#layout.blocked<"NC" to "NC4c">')
        line = read(blocked.coalesce((3, 8)))
        self.assertEqual(line, [8 * n + c for c in range(8) for n in range(3)])
        self.assertEqual(math.prod(blocked.coalesce((3, 8))[1]), 24)
        with self.assertRaisesRegex(LayoutError, "sizes must be static"):
            blocked.coalesce()
        with self.assertRaisesRegex(LayoutError, "one coordinate"):
            Layout("#layout.rgba_image<in_out_channel>").coalesce((1, 2, 3, 4))


if __name__ == "__main__":
    unittest.main()
