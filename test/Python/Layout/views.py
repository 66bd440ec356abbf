# RUN: %python %s
"""Checks that the layout of a view addresses the storage of the viewed tensor (L7), by numpy."""

import unittest

import numpy as np
from layout_mlir import Layout, LayoutError

L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
SHAPE = (2, 40, 3, 4)


def offsets(layout, shape):
    """Returns the address of every element, as an array of the shape."""
    indices = np.indices(shape).reshape(len(shape), -1).T
    return layout.forward(indices, shape).reshape(*shape, -1)


class Views(unittest.TestCase):
    def shows(self, view, elements, layout=L, shape=SHAPE):
        """Checks a view; `elements` is numpy's view of an array of linear element numbers."""
        whole = offsets(layout, shape).reshape(-1, len(layout.coordinates))
        np.testing.assert_array_equal(offsets(view, elements.shape), whole[elements])

    def test_transpose(self):
        numbers = np.arange(np.prod(SHAPE)).reshape(SHAPE)
        for perm in ((0, 2, 3, 1), (3, 2, 1, 0), (0, 1, 2, 3)):
            self.shows(L.transpose(perm), numbers.transpose(perm))
        self.assertEqual(L.transpose((1, 2, 3, 0)).transpose((3, 0, 1, 2)), L)

    def test_slice(self):
        numbers = np.arange(np.prod(SHAPE)).reshape(SHAPE)
        self.shows(L.slice((0, 16, 0, 0), (2, 16, 3, 4), shape=SHAPE), numbers[:, 16:32])
        self.shows(L.slice((0, 3, 1, 0), (2, 5, 2, 2), (1, 7, 1, 2), shape=SHAPE),
                   numbers[:, 3:38:7, 1:3, ::2])
        self.shows(L.slice((1, 0, 0, 0), (1, None, None, None), drop=[0], shape=SHAPE), numbers[1])

    def test_expand_and_collapse(self):
        numbers = np.arange(np.prod(SHAPE)).reshape(SHAPE)
        groups, sizes = [[0], [1, 2], [3], [4]], (2, 5, 8, 3, 4)
        expanded = L.expand_shape(groups, sizes)
        self.shows(expanded, numbers.reshape(sizes))
        self.assertTrue(expanded.collapse_shape(groups, sizes).equal_on(L, SHAPE))
        self.shows(L.collapse_shape([[0], [1, 2], [3]], SHAPE), numbers.reshape(2, 120, 4))

    def test_broadcast(self):
        numbers = np.arange(np.prod(SHAPE)).reshape(SHAPE)
        self.shows(L.broadcast(2, 1), numbers[:, :, None])
        four = Layout("#layout.map<(i, j) replicate(r : 4) -> buffer(r, i, j)>")
        dim = four.broadcast(1, 4)
        for index in np.ndindex(2, 4, 3):
            stored = dim.address(index, (2, 4, 3))
            self.assertEqual(four.backward_index(stored, (2, 3)), (index[0], index[2]))
        self.assertTrue(dim.replicate_over(1, (2, 4, 3)).equal_on(four, (2, 3)))

    def test_compose(self):
        swap = Layout("#layout.map<(n, co, h, w, ci) -> buffer(n, h, w, co, ci)>")
        both = swap.compose(L)
        stored = L.stored_shape(SHAPE)
        for index in ((0, 0, 0, 0), (1, 39, 2, 3), (1, 17, 0, 2)):
            self.assertEqual(both.address(index, SHAPE),
                             swap.address(L.forward_index(index, SHAPE), stored))

    def test_inverse(self):
        stored = L.stored_shape(SHAPE)
        back = L.inverse()
        padded = (2, 48, 3, 4)
        for index in ((0, 0, 0, 0), (1, 39, 2, 3), (1, 17, 0, 2)):
            self.assertEqual(back.address(L.forward_index(index, SHAPE), stored)["offset"],
                             np.ravel_multi_index(index, padded))

    def test_concat(self):
        parts = [(2, 16, 3, 4), (2, 32, 3, 4)]
        with self.assertRaisesRegex(LayoutError, "."):
            Layout.concat([L, Layout('#layout.blocked<"NCHW" to "NHWC">')], parts, 1)
        batch = [(1, 16, 3, 4), (2, 16, 3, 4)]
        whole, shifts = Layout.concat([L, L], batch, 0)
        first = 0
        for shape, shift in zip(batch, shifts):
            part = offsets(L, shape) + shift["offset"]
            np.testing.assert_array_equal(
                offsets(whole, (3, 16, 3, 4))[first:first + shape[0]], part)
            first += shape[0]

    def test_element_types_and_padding_stay(self):
        padded = Layout(f"#layout.padded<{L}, zero>", element="f16").transpose((0, 2, 3, 1))
        self.assertEqual(padded.element, "f16")
        self.assertTrue(str(padded).endswith("zero>"))

    def test_a_no_has_a_reason(self):
        for call in (lambda: L.transpose((0, 1, 2)), lambda: L.transpose((0, 1, 1, 3)),
                     lambda: L.transpose((0, 1, 2, 2 ** 40)), lambda: L.transpose((-1, 0, 1, 2)),
                     lambda: L.slice((0, 0, 0, 0), (1, 1, 1, 1)),
                     lambda: L.slice((0, 30, 0, 0), (2, 16, 3, 4), shape=SHAPE),
                     lambda: L.slice((0,), (1,), shape=SHAPE),
                     lambda: L.slice((0, 0, 0, 0), (2, 2, 2, 2), drop=[9], shape=SHAPE),
                     lambda: L.expand_shape([[0], [1]], (2, 40)),
                     lambda: L.expand_shape([], ()),
                     lambda: L.collapse_shape([[0, 1, 2]], SHAPE),
                     lambda: L.broadcast(9, 1), lambda: L.broadcast(-1, 1), lambda: L.broadcast(0, 3),
                     lambda: L.broadcast(0, -3), lambda: L.replicate_over(9, SHAPE),
                     lambda: L.compose(Layout("#layout.map<(i) -> buffer(i)>")),
                     lambda: Layout.concat([], [], 0), lambda: Layout.concat([L], [SHAPE], 7),
                     lambda: Layout("#layout.map<(i, j) -> buffer(offset = 3 * i + 5 * j)>").inverse()):
            with self.assertRaisesRegex(LayoutError, r"..."):
                call()
        for call in (lambda: L.transpose(5), lambda: L.expand_shape(5, (1,)),
                     lambda: L.expand_shape(["ab"], (1,)), lambda: Layout.concat([5], [SHAPE], 0)):
            self.assertRaises((TypeError, RuntimeError), call)


if __name__ == "__main__":
    unittest.main()
