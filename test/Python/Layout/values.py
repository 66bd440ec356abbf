# RUN: %python %s
"""Checks layouts as values: text, equality, hashes, pickles, canonical forms, threads."""

import copy
import multiprocessing
import pickle
import sys
import threading
import unittest
from types import MappingProxyType

import numpy as np
from layout_mlir import Layout, LayoutError, Target

NHWC = Layout('#layout.blocked<"NCHW" to "NHWC">')
NHWC_MAP = Layout("#layout.map<(n, c, h, w) -> buffer(n, h, w, c)>")
PACKED = Layout("#layout.packed_dims<[1, 0, 1 : 4]>")
CHIP = Target(npus=4, eu_bytes=128, bytes_per_npu=1024)
SCATTER = Layout("#layout.npu_scatter<aligned, start = 2>", target=CHIP, element="f32")
IMAGE = Layout("#layout.rgba_image<in_out_channel>")


def address_in_child(layout, pipe):
    pipe.send(layout.address((0, 1, 1, 1), (1, 2, 2, 2)))


class Values(unittest.TestCase):
    def test_text_is_as_in_ir(self):
        text = '#layout.blocked<"NCHW" to "NCHW16c">'
        self.assertEqual(str(Layout(f"  {text} ")), text)
        self.assertEqual(repr(Layout(text, element="f32")), f"Layout({text!r}, element='f32')")
        self.assertEqual(eval(repr(NHWC)), NHWC)
        self.assertEqual(eval(repr(CHIP)), CHIP)

    def test_equal_maps_are_equal_layouts(self):
        self.assertEqual(NHWC, NHWC_MAP)
        self.assertEqual(hash(NHWC), hash(NHWC_MAP))
        self.assertEqual(len({NHWC, NHWC_MAP, NHWC.canonical()}), 1)
        self.assertNotEqual(NHWC, Layout('#layout.blocked<"NCHW" to "NCHW">'))
        self.assertFalse(NHWC == "text" or NHWC == None)  # noqa: E711
        self.assertTrue(NHWC != 5)

    def test_layouts_of_one_shape_each_are_equal_by_text(self):
        self.assertEqual(PACKED, Layout(str(PACKED)))
        self.assertEqual(hash(PACKED), hash(Layout(str(PACKED))))
        self.assertNotEqual(PACKED, Layout("#layout.packed_dims<[1, 0, 1 : 2]>"))

    def test_equality_on_a_shape(self):
        rows = Layout('#layout.blocked<"NCHW" to "NCHW">')
        self.assertIs(NHWC.equal_on(rows, (8, 64, 1, 1)), True)
        self.assertIs(NHWC.equal_on(rows, (8, 64, 2, 1)), False)
        self.assertIs(NHWC.equal_on(NHWC_MAP, (None, None, None, None)), True)
        self.assertIs(NHWC.equal_on(rows, (None, None, None, None)), None)

    def test_canonical_form(self):
        self.assertEqual(str(NHWC.canonical()), "#layout.map<(d0, d1, d2, d3) -> "
                         "buffer(d0, d2, d3, d1)>")
        self.assertEqual(str(PACKED.canonical((6, 8))), str(PACKED.canonical((6, 8)).canonical()))
        with self.assertRaises(LayoutError):
            PACKED.canonical()
        padded = Layout(f"#layout.padded<{NHWC}, zero>", element="f32").canonical()
        self.assertEqual(str(padded), f"#layout.padded<{NHWC.canonical()}, zero>")

    def test_rank(self):
        self.assertEqual([x.rank for x in (NHWC, NHWC_MAP, SCATTER)], [4, 4, 4])
        self.assertEqual(Layout('#layout.blocked<"NCHW16c" to "NCHW8c">').rank, 5)

    def test_spaces_and_elements(self):
        for layout, space, names in ((NHWC, "buffer", ("offset",)),
                                     (PACKED, "buffer", ("offset",)),
                                     (IMAGE, "image2d", ("x", "y", "lane")),
                                     (SCATTER, "npu", ("npu", "offset")),
                                     (Layout("#layout.map<(i) -> mesh(row = i, column = 0)>"),
                                      "mesh", ("row", "column"))):
            self.assertEqual((layout.space, layout.coordinates), (space, names))
        for kind in ("in_out_channel", "in_out_height", "in_out_width", "conv2d_filter",
                     "dw_conv2d_filter", "weight_height", "weight_width", "argument",
                     "texture_2d", "single_pixel"):
            image = Layout(f"#layout.rgba_image<{kind}>")
            self.assertEqual((image.space, image.coordinates), ("image2d", ("x", "y", "lane")))
        self.assertEqual((NHWC.element, SCATTER.element), (None, "f32"))

    def test_byte_needs_an_element_type(self):
        self.assertEqual(SCATTER.address((1, 2, 3, 4), (2, 3, 4, 5)),
                         {"npu": 0, "offset": 115, "byte": 460})
        mapped = Layout("#layout.map<(c, w) -> npu(npu = c, offset = w)>")
        self.assertEqual(mapped.address((1, 2), (2, 3)), {"npu": 1, "offset": 2})
        self.assertEqual(Layout(str(mapped), element="i16").address((1, 2), (2, 3)),
                         {"npu": 1, "offset": 2, "byte": 4})

    def test_every_address_goes_back(self):
        for layout, shape in ((NHWC, (2, 3, 2, 4)), (PACKED, (6, 8)), (IMAGE, (2, 2, 3, 5)),
                              (SCATTER, (2, 3, 2, 4))):
            for index in np.ndindex(*shape):
                address = layout.address(index, shape)
                self.assertEqual(layout.backward_index(address, shape), index)
                address.pop("byte", None)
                self.assertEqual(layout.backward_index(tuple(address.values()), shape), index)
                self.assertEqual(layout.backward_index(MappingProxyType(address), shape), index)

    def test_padding_is_what_goes_back_to_none(self):
        for layout, shape in ((Layout('#layout.blocked<"AB" to "BA4b">'), (3, 5)),
                              (IMAGE, (1, 2, 3, 5)), (SCATTER, (1, 3, 2, 4))):
            extents = layout.storage_extent(shape).values()
            nothing = [point for point in np.ndindex(*extents)
                       if layout.backward_index(point, shape) is None]
            self.assertEqual(len(nothing), layout.padding(shape))

    def test_replicas(self):
        twice = Layout("#layout.map<(i, j) replicate(r : 2) -> buffer(r, i, j)>")
        array = np.arange(6).reshape(2, 3)
        self.assertEqual(twice.address((1, 2), (2, 3)), {"offset": 5})
        self.assertEqual(twice.forward_index((1, 2), (2, 3))[-1:], (2,))
        self.assertEqual(twice.padding((2, 3)), 0)
        np.testing.assert_array_equal(twice.pack(array).reshape(2, 2, 3), [array, array])
        self.assertEqual(twice.backward_index(11, (2, 3)), (1, 2))

    def test_pickles(self):
        for value in (NHWC, PACKED, SCATTER, CHIP, Target(npus=64, eu_bytes=64,
                                                        bytes_per_npu=262144, banks=16)):
            for again in (pickle.loads(pickle.dumps(value)), copy.copy(value),
                          copy.deepcopy(value)):
                self.assertEqual(again, value)
                self.assertEqual((str(again), hash(again)), (str(value), hash(value)))
        self.assertEqual(pickle.loads(pickle.dumps(SCATTER)).element, "f32")

    def test_errors_pickle(self):
        try:
            Layout("#layout.map<")
        except LayoutError as error:
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((str(again), again.line), (str(error), 1))

    def test_children_of_a_fork(self):
        here, there = multiprocessing.Pipe()
        child = multiprocessing.get_context("fork").Process(
            target=address_in_child, args=(NHWC, there))
        child.start()
        self.assertTrue(here.poll(60))
        self.assertEqual(here.recv(), {"offset": 7})
        child.join()

    def test_threads(self):
        failures = []

        def work(seed):
            try:
                generator = np.random.default_rng(seed)
                for number in range(30):
                    block = int(generator.integers(2, 9))
                    layout = Layout(f'#layout.blocked<"AB" to "AB{block}b">')
                    shape = tuple(map(int, generator.integers(1, 40, size=2)))
                    array = generator.integers(0, 9, size=shape)
                    back = layout.unpack(layout.pack(array), shape)
                    if not (back == array).all():
                        failures.append((seed, number))
                    try:
                        Layout(f'#layout.blocked<"AB" to "AB{block}{seed % 2 and "x" or "y"}">')
                        failures.append((seed, number, "no error"))
                    except LayoutError as error:
                        wanted = "x" if seed % 2 else "y"
                        if f"{block}{wanted}" not in str(error):
                            failures.append((seed, number, str(error)))
            except Exception as error:  # noqa: BLE001
                failures.append((seed, error))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_one_layout_on_many_shapes(self):
        layout = Layout('#layout.blocked<"AB" to "AB4b">')
        for columns in range(1, 300):
            self.assertEqual(layout.stored_shape((1, columns)), (1, -(-columns // 4), 4))

    def test_arguments_are_any_integers(self):
        for shape in ([1, 2, 2, 2], np.array([1, 2, 2, 2]), (np.int8(1), 2, True + 1, 2),
                      range(4)):
            NHWC.stored_shape(shape)
        self.assertEqual(NHWC.stored_shape(np.array([1, 2, 3, 4])), (1, 3, 4, 2))

    def test_layouts_are_freed(self):
        layout = Layout('#layout.blocked<"AB" to "BA">')
        before = sys.getrefcount(layout)
        for _ in range(100):
            layout.canonical(), layout.stored_shape((2, 3)), layout == layout
        self.assertEqual(sys.getrefcount(layout), before)


if __name__ == "__main__":
    unittest.main()
