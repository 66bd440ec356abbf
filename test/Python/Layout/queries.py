# RUN: %python %s
"""Checks queries about one layout against their definitions (docs/spec.md, section 3), at every index."""

import math
import unittest

import numpy as np
from layout_mlir import Layout, LayoutError, Target

CHIP = Target(npus=4, eu_bytes=128, bytes_per_npu=4096)


def c4(size):
    return -(-size // 4)


def blocked(block):
    return lambda n, c, h, w, N, C, H, W: {
        "offset": (((n * -(-C // block) + c // block) * H + h) * W + w) * block + c % block}


def aligned(start):
    def at(n, c, h, w, N, C, H, W):
        channel = -(-H * W * 4 // 128) * 32
        rows = -(-(start + C) // 4)
        return {"npu": (start + c) % 4,
                "offset": n * channel * rows + (start + c) // 4 * channel + h * W + w}
    return at


SWIZZLE = [[0, 1, 2, 3], [5, 4, 7, 6], [10, 11, 8, 9], [15, 14, 13, 12]]
CASES = [
    (Layout('#layout.blocked<"NCHW" to "NHWC">'), [(2, 5, 3, 4), (1, 8, 1, 6), (1, 1, 1, 1)],
     lambda n, c, h, w, N, C, H, W: {"offset": ((n * H + h) * W + w) * C + c}),
    (Layout('#layout.blocked<"NCHW" to "NCHW16c">'), [(1, 17, 3, 3), (2, 32, 2, 3), (1, 5, 2, 2)],
     blocked(16)),
    (Layout('#layout.blocked<"NCHW" to "NCHW4c">'), [(2, 8, 3, 5), (1, 7, 2, 4)], blocked(4)),
    (Layout("#layout.packed_dims<[1, 0, 1 : 4]>"), [(6, 8), (3, 16)],
     lambda i, j, I, J: {"offset": j % 4 + 4 * i + 4 * I * (j // 4)}),
    (Layout("#layout.rgba_image<in_out_channel>"), [(2, 5, 3, 6), (1, 2, 2, 8)],
     lambda n, h, w, c, N, H, W, C: {"x": c // 4 * W + w, "y": n * H + h, "lane": c % 4}),
    (Layout("#layout.rgba_image<in_out_height>"), [(2, 5, 3, 6)],
     lambda n, h, w, c, N, H, W, C: {"x": c * W + w, "y": n * c4(H) + h // 4, "lane": h % 4}),
    (Layout("#layout.npu_scatter<aligned, start = 2>", CHIP, "f32"), [(2, 5, 3, 4), (1, 3, 2, 2)],
     aligned(2)),
    (Layout("#layout.npu_scatter<aligned, start = 0>", CHIP, "f32"), [(2, 9, 5, 8)], aligned(0)),
    (Layout.from_notation("cute", "Sw<2,0,2> o 0 o (4,4):(4,1)"), [(4, 4)],
     lambda i, j, I, J: {"offset": np.array(SWIZZLE)[i, j]}),
    (Layout("#layout.map<(i, j) -> buffer(offset = i * 3 + j * 20 + 7)>"), [(5, 4), (6, 1)],
     lambda i, j, I, J: {"offset": 3 * i + 20 * j + 7}),
    (Layout("#layout.map<(i, j) -> buffer(offset = i * -10 + j * -1 + 100 extent 101)>"), [(4, 5)],
     lambda i, j, I, J: {"offset": 100 - 10 * i - j}),
]


def every():
    for layout, shapes, formula in CASES:
        for shape in shapes:
            points = formula(*np.indices(shape), *shape)
            yield layout, shape, {name: np.broadcast_to(at, shape) for name, at in points.items()}


def breaks(points, along, axis=None):
    """Returns the positions that do not follow their predecessor."""
    ends = np.zeros(0, int)
    for name, at in points.items():
        at, axes = (at, axis) if axis is not None else (at.reshape(-1), 0)
        step = np.moveaxis(np.diff(at, axis=axes), axes, 0)
        wrong = step != (name == along)
        ends = np.union1d(ends, 1 + np.nonzero(wrong.reshape(len(wrong), -1).any(axis=1))[0]
                          if len(wrong) else [])
    return [int(end) for end in ends]


class Questions(unittest.TestCase):
    def test_strides(self):
        for layout, shape, points in every():
            with self.subTest(layout=str(layout), shape=shape):
                expected = {}
                for name, at in points.items():
                    found = [np.unique(np.diff(at, axis=d)) for d in range(len(shape))]
                    expected[name] = tuple(None if len(by) > 1 else int(by[0]) if len(by) else 0
                                           for by in found)
                self.assertEqual(layout.strides(shape), expected)

    def test_digits_add_up(self):
        for layout, shape, points in every():
            with self.subTest(layout=str(layout), shape=shape):
                names = {f"d{d}": at for d, at in enumerate(np.indices(shape))}
                for name, digits in layout.digits(shape).items():
                    if any("xor" in text or "[" in text for text, _, _ in digits):
                        continue
                    total = 0 * points[name]
                    for text, extent, stride in digits:
                        digit = eval(text.replace("floordiv", "//").replace("mod", "%"), {}, names)
                        self.assertLess(digit.max(), extent)
                        total = total + digit * stride
                    self.assertEqual(len(np.unique(total - points[name])), 1)

    def test_runs(self):
        for layout, shape, points in every():
            for along in points:
                with self.subTest(layout=str(layout), shape=shape, along=along):
                    for d, size in enumerate(shape):
                        ends = breaks(points, along, d)
                        self.assertEqual(layout.contiguous_run(shape, d, along),
                                         math.gcd(*ends) if ends else size)
                    ends = breaks(points, along)
                    self.assertEqual(layout.contiguous_run(shape, coordinate=along),
                                     math.gcd(*ends) if ends else math.prod(shape))

    def test_alignment_and_width(self):
        rng = np.random.default_rng(20261122)
        for layout, shape, points in every():
            along = layout.coordinates[-1]
            with self.subTest(layout=str(layout), shape=shape):
                blocks = rng.integers(1, 6, len(shape))
                starts = points[along][tuple(slice(None, None, b) for b in blocks)]
                self.assertEqual(layout.alignment(shape, blocks), np.gcd.reduce(starts.ravel()))
                for d, size in enumerate(shape):
                    ends, width = breaks(points, along, d), 1
                    for wider in (2, 4, 8, 16, 32):
                        first = points[along].take(range(0, size, wider), axis=d)
                        if (wider < 2 * size and all(end % wider == 0 for end in ends)
                                and not (first % wider).any()):
                            width = wider
                    self.assertEqual(layout.vector_width(shape, d, most=32), width)
        typed = Layout('#layout.blocked<"NCHW" to "NCHW16c">', element="f16")
        self.assertEqual(typed.alignment((1, 32, 7, 7), (1, 16, 1, 7), in_bytes=True), 224)

    def test_symbolic_shapes(self):
        rng = np.random.default_rng(20261123)
        for text in ("NCHW16c", "NHWC", "NCHW4c", "NHWC8n"):
            layout = Layout(f'#layout.blocked<"NCHW" to "{text}">')
            formulas = layout.symbolic_shape(("n", "c", "h", "w"))
            for _ in range(20):
                sizes = [int(size) for size in rng.integers(1, 70, 4)]
                scope = dict(zip("nchw", sizes), ceil=lambda a, b: -(-a // b))
                self.assertEqual(tuple(eval(str(formula), scope) for formula in formulas),
                                 layout.stored_shape(sizes))
        layout = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
        self.assertEqual(layout.strides(("n", 40, "h", 7)), {"offset": ("336 * h", None, 112, 16)})
        self.assertEqual(layout.strides((None, 40, None, 7))["offset"][0], "336 * size(d2)")
        self.assertIsNone(Layout("#layout.map<(i) -> buffer(i)>").contiguous_run((None,), 0))

    def test_logical_shapes(self):
        layout = Layout('#layout.blocked<"OIHW" to "OIHW4i16o4i">')
        self.assertEqual(layout.logical_shape((4, 2, 3, 3, 4, 16, 4)), (64, 32, 3, 3))
        layout = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
        for channels in (1, 15, 16, 17, 40):
            stored = layout.stored_shape((2, channels, 3, 4))
            self.assertEqual(layout.logical_shape(stored), (2, -(-channels // 16) * 16, 3, 4))
        with self.assertRaisesRegex(LayoutError, "no logical shape is stored with 8 in stored dim 4"):
            layout.logical_shape((1, 2, 7, 7, 8))
        with self.assertRaisesRegex(LayoutError, "has 3 entries"):
            layout.logical_shape((1, 2, 7))

    def test_logical_indices(self):
        for layout, shape, _ in every():
            with self.subTest(layout=str(layout), shape=shape):
                stored = {layout.forward_index(index, shape): index for index in np.ndindex(*shape)}
                for at in np.ndindex(*layout.stored_shape(shape)):
                    self.assertEqual(layout.logical_index(at, shape), stored.get(at))

    def test_faults(self):
        layout = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
        shape = (1, 17, 7, 7)
        for message, call in (
                ("rank 3", lambda: layout.strides((1, 17, 7))),
                ("is not a valid name", lambda: layout.symbolic_shape(("a b", 1, 1, 1))),
                ("dim 4 of a layout of rank 4", lambda: layout.contiguous_run(shape, 4)),
                ("dim -1", lambda: layout.vector_width(shape, -1)),
                ("no coordinate 'x'", lambda: layout.contiguous_run(shape, 0, "x")),
                ("at least 1 element", lambda: layout.vector_width(shape, 0, most=0)),
                ("3 blocks", lambda: layout.alignment(shape, (1, 1, 1))),
                ("a block must have at least 1", lambda: layout.alignment(shape, (1, 0, 1, 1))),
                ("element='f32'", lambda: layout.alignment(shape, in_bytes=True)),
                ("outside the box", lambda: layout.logical_index((0, 2, 0, 0, 0), shape)),
                ("was not found within the bound",
                 lambda: Layout("#layout.map<(h, w) -> buffer([h, w] mod 3, [h, w] floordiv 3)>")
                 .contiguous_run((None, None), 1)),
                ("64 bits", lambda: layout.strides((2**62, 2**62, 2**62, 1)))):
            with self.assertRaisesRegex(LayoutError, message):
                call()
        for call in (lambda: layout.strides(5), lambda: layout.strides("nchw"),
                     lambda: layout.contiguous_run(shape, 1.5)):
            self.assertRaises(TypeError, call)


if __name__ == "__main__":
    unittest.main()
