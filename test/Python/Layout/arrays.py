# RUN: %python %s
"""Checks pack and unpack against numpy's transpose, pad and reshape."""

import unittest

import numpy as np
from layout_mlir import Layout, LayoutError, Target

NCHW16C = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
DTYPES = ["f4", "f2", "f8", "i1", "u1", "i2", "i4", "i8", "?", "c8"]


def data(shape, dtype="i4", seed=7):
    """Returns nonzero numbers."""
    values = np.random.default_rng(seed).integers(1, 100, size=shape)
    return values.astype(dtype)


def blocked_by_numpy(array, block, pad=0):
    """Converts NCHW to NCHW<block>c with numpy."""
    n, c, h, w = array.shape
    blocks = -(-c // block)
    padded = np.pad(array, [(0, 0), (0, blocks * block - c), (0, 0), (0, 0)],
                    constant_values=pad)
    return padded.reshape(n, blocks, block, h, w).transpose(0, 1, 3, 4, 2)


class Pack(unittest.TestCase):
    def same(self, a, b):
        np.testing.assert_array_equal(a, b)
        self.assertEqual(a.dtype, b.dtype)

    def test_blocks_of_every_dtype(self):
        for dtype in DTYPES:
            for channels in (1, 16, 17, 31, 32):
                with self.subTest(dtype=dtype, channels=channels):
                    array = data((2, channels, 3, 5), dtype)
                    storage = NCHW16C.pack(array)
                    self.same(storage, blocked_by_numpy(array, 16))
                    self.same(NCHW16C.unpack(storage, array.shape), array)

    def test_padding_holds_what_is_asked_for(self):
        array = data((1, 5, 2, 2), "f4")
        self.same(NCHW16C.pack(array, pad=2.5), blocked_by_numpy(array, 16, 2.5))
        self.assertTrue(np.isnan(NCHW16C.pack(array, pad=np.nan)[..., 5:]).all())
        self.assertEqual(NCHW16C.padding(array.shape), 11 * 4)

    def test_padding_that_the_layout_states(self):
        array = data((1, 5, 2, 2), "f4")
        stated = Layout(f"#layout.padded<{NCHW16C}, -1.5 : f32>")
        self.same(stated.pack(array), blocked_by_numpy(array, 16, -1.5))
        self.same(stated.pack(array, pad=-1.5), blocked_by_numpy(array, 16, -1.5))
        with self.assertRaisesRegex(LayoutError, r"\(P1\)"):
            stated.pack(array, pad=0)
        zero = Layout(f"#layout.padded<{NCHW16C}, zero>", element="i8")
        self.same(zero.pack(array.astype("i1")), blocked_by_numpy(array.astype("i1"), 16))
        seven = Layout(f"#layout.padded<{NCHW16C}, 7 : i16>")
        self.same(seven.pack(array.astype("u2")), blocked_by_numpy(array.astype("u2"), 16, 7))

    def test_weights_of_two_blocked_dims(self):
        array = data((60, 20, 3, 3), "i1")
        storage = Layout('#layout.blocked<"OIHW" to "OIHW4i16o4i">').pack(array)
        padded = np.pad(array, [(0, 4), (0, 12), (0, 0), (0, 0)])
        parts = padded.reshape(4, 16, 2, 4, 4, 3, 3)  # O o, I i4 i, H W
        self.same(storage, parts.transpose(0, 2, 5, 6, 3, 1, 4))

    def test_row_major_is_a_view(self):
        array = data((2, 3, 4))
        for text in ("(a, b, c) -> buffer(a, b, c)", "(a, b, c) -> buffer(offset = a * 12 + b * 4 + c)"):
            layout = Layout(f"#layout.map<{text}>")
            storage = layout.pack(array)
            self.assertTrue(np.shares_memory(storage, array))
            self.same(storage.reshape(-1), array.reshape(-1))
            self.assertTrue(np.shares_memory(layout.unpack(storage, array.shape), array))

    def test_permutations_are_views(self):
        array = data((2, 3, 4, 5))
        layout = Layout('#layout.blocked<"NCHW" to "NHWC">')
        for source in (array, array[:, :, ::2, ::-1], np.asfortranarray(array)):
            storage = layout.pack(source)
            self.assertTrue(np.shares_memory(storage, source))
            self.same(storage, source.transpose(0, 2, 3, 1))
            back = layout.unpack(storage, source.shape)
            self.assertTrue(np.shares_memory(back, source))
            self.same(back, source)

    def test_blocks_of_one_are_views(self):
        # 16 channels make NCHW16c a permutation (L6).
        array = data((2, 16, 3, 5))
        storage = NCHW16C.pack(array)
        self.assertTrue(np.shares_memory(storage, array))
        self.same(storage, blocked_by_numpy(array, 16))
        self.assertFalse(np.shares_memory(NCHW16C.pack(data((1, 17, 2, 2))), array))

    def test_subclasses_become_plain_arrays(self):
        array = data((2, 5)).view(type("Sub", (np.ndarray,), {}))
        for text in ("AB", "BA", "AB4b"):
            layout = Layout(f'#layout.blocked<"AB" to "{text}">')
            storage = layout.pack(array)
            self.assertIs(type(storage), np.ndarray)
            self.assertIs(type(layout.unpack(storage.view(type(array)), (2, 5))), np.ndarray)

    def test_views_of_read_only_arrays_are_read_only(self):
        array = data((2, 3))
        array.flags.writeable = False
        self.assertFalse(Layout('#layout.blocked<"AB" to "BA">').pack(array).flags.writeable)

    def test_strided_sources_are_copied_right(self):
        whole = data((4, 40, 6, 6))
        for source in (whole[1:3, 3:20, ::2, ::-1], whole.transpose(3, 1, 2, 0),
                       np.broadcast_to(whole[:1, :1], (2, 17, 6, 6))):
            self.same(NCHW16C.pack(source), blocked_by_numpy(source, 16))

    def test_empty_and_scalar(self):
        for shape in ((0, 17, 7, 7), (1, 0, 7, 7), (1, 17, 0, 7)):
            storage = NCHW16C.pack(np.zeros(shape, "f4"))
            self.assertEqual(storage.shape, NCHW16C.stored_shape(shape))
            self.assertEqual(NCHW16C.unpack(storage, shape).shape, shape)
            self.assertEqual(NCHW16C.padding(shape), 0)
        huge = np.broadcast_to(np.int8(1), (2 ** 62, 0))
        transposed = Layout('#layout.blocked<"AB" to "BA">')
        self.assertEqual(transposed.unpack(transposed.pack(huge), huge.shape).shape, huge.shape)
        scalar = Layout("#layout.map<() -> buffer(offset = 0)>")
        self.assertEqual(scalar.unpack(scalar.pack(np.float32(3)[...]), ()), 3)

    def test_extents_of_one(self):
        array = data((1, 1, 1, 1), "f2")
        self.same(NCHW16C.pack(array).reshape(-1), np.pad(array.reshape(-1), (0, 15)))

    def test_images_by_their_coordinates(self):
        array = data((2, 5, 3, 6), "f2")
        layout = Layout("#layout.map<(n, h, w, c) -> image2d(x = [c floordiv 4, w], y = [n, h], "
                        "lane = c mod 4)>")
        storage = layout.pack(array, pad=-1)
        lanes = np.pad(array, [(0, 0)] * 3 + [(0, 2)], constant_values=-1)
        expected = lanes.reshape(10, 3, 2, 4).transpose(2, 1, 0, 3).reshape(6, 10, 4)
        self.same(storage, expected)
        self.same(layout.unpack(storage, array.shape), array)
        x, y, lane = layout.address((1, 4, 2, 5), array.shape).values()
        self.assertEqual(storage[x, y, lane], array[1, 4, 2, 5])

    def test_units_of_an_npu(self):
        chip = Target(npus=4, eu_bytes=128, bytes_per_npu=1024)
        layout = Layout("#layout.npu_scatter<aligned, start = 2>", target=chip)
        array = data((2, 3, 4, 5), "f4")
        storage = layout.pack(array)
        expected = np.zeros((4, 2, 2, 32), "f4")  # core, n, row, h and w padded
        for c in range(3):
            expected[(2 + c) % 4, :, (2 + c) // 4, :20] = array[:, c].reshape(2, 20)
        self.same(storage, expected.reshape(4, 128))
        self.same(layout.unpack(storage, array.shape), array)

    def test_linear_storage_unpacks(self):
        array = data((1, 17, 2, 2))
        flat = NCHW16C.pack(array).reshape(-1)
        self.same(NCHW16C.unpack(flat, array.shape), array)
        self.same(NCHW16C.unpack(np.repeat(flat, 2)[::2], array.shape), array)

    def test_padding_is_not_read(self):
        array = data((1, 17, 2, 2), "f4")
        storage = NCHW16C.pack(array, pad=np.nan)
        self.same(NCHW16C.unpack(storage, array.shape), array)

    def test_raw_bits_of_types_that_numpy_lacks(self):
        layout = Layout(f"#layout.padded<{NCHW16C}, 1.0 : bf16>", element="bf16")
        array = data((1, 5, 2, 2), "u2")
        self.same(layout.pack(array), blocked_by_numpy(array, 16, 0x3F80))

    def test_forward_of_many(self):
        shape = (2, 17, 3, 4)
        indices = np.argwhere(np.ones(shape))
        points = NCHW16C.forward(indices, shape)
        self.assertEqual(points.shape, (len(indices), 1))
        storage = NCHW16C.pack(np.arange(1, 1 + np.prod(shape)).reshape(shape)).reshape(-1)
        self.same(storage[points[:, 0]], np.arange(1, 1 + np.prod(shape)))
        self.same(NCHW16C.forward(indices[::-2].astype("i2"), shape), points[::-2])
        self.assertEqual(NCHW16C.forward(np.empty((0, 4), int), shape).shape, (0, 1))


if __name__ == "__main__":
    unittest.main()
