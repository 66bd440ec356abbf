# RUN: %python %s
"""Checks inverse and composition of layouts whose map depends on the shape: images, shifted storage, NPU cores, packed
dims (L7)."""

import unittest

import numpy as np
from layout_mlir import Layout, LayoutError, Target

CHIP = Target(npus=4, eu_bytes=128, bytes_per_npu=4096)


def blocked(logical, stored):
    return Layout(f'#layout.blocked<"{logical}" to "{stored}">')


def scatter(text):
    return Layout(f"#layout.npu_scatter<{text}>", target=CHIP, element="f32")


INVERTIBLE = [
    (Layout("#layout.rgba_image<in_out_channel>"), (2, 5, 3, 6)),
    (Layout("#layout.rgba_image<in_out_height>"), (2, 5, 3, 6)),
    (Layout("#layout.rgba_image<in_out_width>"), (2, 5, 7, 6)),
    (Layout("#layout.rgba_image<conv2d_filter>"), (6, 5, 3, 2)),
    (Layout("#layout.rgba_image<weight_height>"), (6, 5, 3, 2)),
    (Layout("#layout.map<(a, b) -> buffer(pad(a, 2, 1), b)>"), (3, 4)),
    (Layout("#layout.map<(a, b) -> npu(npu = (a + 2) mod 4, offset = [(a + 2) floordiv 4, b])>"), (5, 6)),
    (scatter("aligned, start = 0"), (2, 3, 4, 5)),
    (scatter("aligned, start = 2"), (2, 3, 4, 5)),
    (scatter("compact, start = 3"), (2, 5, 4, 5)),
    (scatter("continuous"), (2, 3, 4, 5)),
    (Layout("#layout.packed_dims<[1, 0, 1 : 4]>"), (6, 8)),
    (blocked("OIHW", "OIHW[4o4i]"), (7, 5, 2, 2)),
]


class Inverse(unittest.TestCase):
    def test_the_inverse_keeps_the_order_of_the_logical_indices(self):
        for layout, shape in INVERTIBLE:
            with self.subTest(layout=str(layout)):
                inverse = layout.inverse(shape)
                stored = layout.stored_shape(shape)
                self.assertIs(inverse.is_injective(stored), True)
                places = [inverse.address(layout.forward_index(index, shape), stored)["offset"]
                          for index in np.ndindex(*shape)]
                self.assertEqual(places, sorted(set(places)))
                if layout.padding(shape) == 0:
                    self.assertEqual(places, list(range(len(places))))
                both = inverse.compose(layout, shape=shape)
                self.assertEqual(places, [both.address(index, shape)["offset"]
                                          for index in np.ndindex(*shape)])

    def test_holes_that_no_index_leads_to(self):
        with self.assertRaisesRegex(LayoutError, "no inverse layout"):
            scatter("strided [120, 56, 16, 2], start = 0").inverse((2, 5, 3, 4))


class Compose(unittest.TestCase):
    def follows(self, outer, first, shape):
        both = outer.compose(first, shape=shape)
        stored = first.stored_shape(shape)
        for index in np.ndindex(*shape):
            expected = outer.address(first.forward_index(index, shape), stored)
            found = both.address(index, shape)
            self.assertEqual({k: found[k] for k in outer.coordinates},
                             {k: expected[k] for k in outer.coordinates})

    def test_outer_layouts_of_several_ranks_and_of_one_shape(self):
        self.follows(Layout("#layout.rgba_image<in_out_channel>"), blocked("NCHW", "NHWC"), (1, 17, 3, 5))
        self.follows(Layout("#layout.packed_dims<[0, 2, 3, 1]>"), blocked("NCHW", "NHWC"), (1, 17, 3, 5))
        self.follows(Layout("#layout.packed_dims<[1, 0, 1 : 4]>"), blocked("AB", "BA"), (8, 6))
        self.follows(scatter("aligned, start = 1"), blocked("NHWC", "NCHW"), (1, 4, 4, 3))

    def test_inner_layouts_outside_of_linear_memory(self):
        self.follows(Layout("#layout.map<(x, y, l) -> buffer(y, x, l)>"),
                     Layout("#layout.rgba_image<in_out_channel>"), (2, 5, 3, 6))
        self.follows(Layout("#layout.map<(u, o) -> buffer(o, u)>"),
                     scatter("aligned, start = 2"), (2, 3, 4, 5))


if __name__ == "__main__":
    unittest.main()
