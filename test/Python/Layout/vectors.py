# RUN: %python %s %layout_src_root/test/vectors
"""Checks every conformance vector in Python, forward and backward."""

import itertools
import json
import pathlib
import sys
import unittest

from layout_mlir import Layout, LayoutError, Target

VECTORS = pathlib.Path(sys.argv.pop())
ELEMENTS = {1: "i8", 2: "i16", 4: "f32"}


def cases(family):
    return json.loads((VECTORS / f"{family}.json").read_text())["cases"]


class Vectors(unittest.TestCase):
    def both_ways(self, layout, shape, index, address):
        self.assertEqual(layout.address(index, shape), address)
        self.assertEqual(layout.backward_index(address, shape), tuple(index))

    def test_blocked(self):
        for case in cases("blocked"):
            layout, shape = Layout(case["layout"]), case["shape"]
            with self.subTest(layout=layout, shape=shape):
                self.assertEqual(layout.space, "buffer")
                self.assertEqual(layout.stored_shape(shape), tuple(case["stored_shape"]))
                for index, stored, offset in case["points"]:
                    self.assertEqual(layout.forward_index(index, shape), tuple(stored))
                    self.both_ways(layout, shape, index, {"offset": offset})

    def test_packed_dims(self):
        for case in cases("packed_dims"):
            layout, shape = Layout(case["layout"]), case["shape"]
            with self.subTest(layout=layout, shape=shape):
                self.assertEqual((layout.space, layout.coordinates), ("buffer", ("offset",)))
                if "error" in case:
                    with self.assertRaisesRegex(LayoutError, case["error"]):
                        layout.stored_shape(shape)
                    continue
                self.assertEqual(layout.stored_shape(shape), tuple(case["stored_shape"]))
                indices = itertools.product(*map(range, shape))
                for index, offset in zip(indices, case["offsets"], strict=True):
                    self.both_ways(layout, shape, index, {"offset": offset})

    def test_rgba_image(self):
        for case in cases("rgba_image"):
            layout, shape = Layout(case["layout"]), case["shape"]
            with self.subTest(layout=layout, shape=shape):
                self.assertEqual(layout.space, "image2d")
                self.assertEqual(layout.coordinates, ("x", "y", "lane"))
                width, height = case["image"]
                self.assertEqual(layout.storage_extent(shape),
                                 {"x": width, "y": height, "lane": 4})
                self.assertEqual(layout.padding(shape), case["pad_lanes"])
                for index, point in case["points"]:
                    self.both_ways(layout, shape, index, dict(zip(("x", "y", "lane"), point)))

    def test_npu_scatter(self):
        for case in cases("npu_scatter"):
            params = dict(case["target"], bytes_per_npu=case["bytes_per_npu"])
            size, shape = case["element_bytes"], case["shape"]
            layout = Layout(case["layout"], target=Target(**params), element=ELEMENTS[size])
            with self.subTest(layout=layout, shape=shape):
                self.assertEqual((layout.space, layout.coordinates), ("npu", ("npu", "offset")))
                self.assertEqual(layout.storage_extent(shape)["offset"] * size,
                                 case["bytes_per_npu"])
                for index, (npu, byte) in case["points"]:
                    self.both_ways(layout, shape, index,
                                   {"npu": npu, "offset": byte // size, "byte": byte})


if __name__ == "__main__":
    unittest.main()
