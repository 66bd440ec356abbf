# RUN: %python %s
"""Checks that a layout has one stored shape in stored_shape, stored indices, pack, views of storage and compiled
functions, for the notation and for its canonical form."""

import re
import unittest

import numpy as np
from layout_mlir import Layout, LayoutError, Target, run_pipeline

CHIP = Target(npus=4, eu_bytes=128, bytes_per_npu=4096)


def blocked(logical, stored):
    return Layout(f'#layout.blocked<"{logical}" to "{stored}">')


# Each with a shape, and with its stored shape by hand.
LAYOUTS = [
    (blocked("OIHW", "OIHW[4o4i]"), (64, 28, 7, 7), (16, 7, 7, 7, 16)),
    (blocked("OIHW", "OIHW4o4i"), (64, 28, 7, 7), (16, 7, 7, 7, 4, 4)),
    (blocked("NC", "NC8c"), (3, 20), (3, 3, 8)),
    (blocked("NCHW", "NHWC16c"), (1, 17, 2, 3), (1, 2, 3, 2, 16)),
    (blocked("OIHW", "OIHW4i16o4i"), (60, 20, 3, 3), (4, 2, 3, 3, 4, 16, 4)),
    (Layout("#layout.relations<(n, c, h, w), split c -> (co, ci : 16), fuse (h, w) -> hw, "
            "store (n, co, hw, ci)>"), (1, 17, 2, 3), (1, 2, 6, 16)),
    (Layout("#layout.relations<(a, b), fuse (a, b) -> ab, store (ab)>"), (3, 4), (12,)),
    (Layout("#layout.packed_dims<[1, 0, 1 : 8]>"), (10, 4), (1, 10, 4)),
    (Layout("#layout.packed_dims<[0, 0 : oddeven 8]>"), (16,), (2, 8)),
    (Layout("#layout.map<(n, c) -> buffer(n, [c] align 8)>"), (3, 20), (3, 24)),
    (Layout("#layout.map<(n, c) -> buffer(n, c floordiv 8, c mod 8)>"), (3, 20), (3, 24)),
    (Layout("#layout.map<(a, b) -> buffer(offset = a * 5 + b)>"), (3, 4), (14,)),
    (Layout("#layout.rgba_image<in_out_channel>"), (2, 5, 3, 6), (6, 10, 4)),
    (Layout("#layout.npu_scatter<aligned, start = 2>", target=CHIP, element="f32"),
     (2, 3, 4, 5), (4, 128)),
]


class StoredShape(unittest.TestCase):
    def test_every_question_has_the_same_dims(self):
        for layout, shape, stored in LAYOUTS:
            with self.subTest(layout=str(layout)):
                for form in (layout, layout.canonical(shape)):
                    self.assertEqual(form.stored_shape(shape), stored)
                    array = np.arange(1, 1 + np.prod(shape), dtype="f4").reshape(shape)
                    storage = form.pack(array)
                    self.assertEqual(storage.shape, stored)
                    np.testing.assert_array_equal(form.unpack(storage, shape), array)
                    for index in np.ndindex(*shape):
                        self.assertEqual(storage[form.forward_index(index, shape)], array[index])

    def test_the_canonical_form_is_the_same_layout(self):
        for layout, shape, _ in LAYOUTS:
            try:
                canonical = layout.canonical()
            except LayoutError:
                continue  # the map depends on the shape
            self.assertEqual((layout, hash(layout)), (canonical, hash(canonical)))
            self.assertEqual(str(canonical.canonical()), str(canonical))
            self.assertEqual(str(Layout(str(canonical))), str(canonical))

    def test_equal_layouts_answer_alike(self):
        forms = [form for layout, shape, _ in LAYOUTS for form in (layout, layout.canonical(shape))]
        for a in forms:
            for b in forms:
                if a != b:
                    continue
                for _, shape, _ in LAYOUTS:
                    try:
                        expected = a.stored_shape(shape), a.storage_extent(shape)
                        found = b.stored_shape(shape), b.storage_extent(shape)
                    except LayoutError:  # a notation may reject shapes that its map accepts
                        continue
                    self.assertEqual(found, expected)

    def test_other_dims_are_another_layout_in_the_same_places(self):
        fused, apart = LAYOUTS[0][0], LAYOUTS[1][0]
        self.assertNotEqual(fused, apart)
        self.assertIs(fused.equal_on(apart, (64, 28, 7, 7)), True)
        self.assertIs(fused.equal_on(apart, (None,) * 4), True)

    def test_a_view_of_storage_and_a_function_have_that_shape(self):
        for layout, shape, stored in LAYOUTS:
            if layout.space != "buffer":
                continue
            plain = "x".join(map(str, shape)) + "xf32"
            storage = "tensor<" + "x".join(map(str, stored)) + "xf32>"
            laid_out = f"tensor<{plain}, {layout}>"
            text = f"""
            func.func @view(%x: {laid_out}) -> {storage} {{
              %0 = layout.storage_view %x : {laid_out} to {storage}
              return %0 : {storage}
            }}
            func.func @take(%x: {laid_out}) -> tensor<{plain}> {{
              %0 = layout.convert %x : {laid_out} to tensor<{plain}>
              return %0 : tensor<{plain}>
            }}"""
            for passes in ("convert-layout-to-linalg", "layout-canonicalize,convert-layout-to-linalg"):
                lowered = run_pipeline(text, passes)
                for function in ("view", "take"):
                    found = re.search(rf"@{function}\(%\w+: (tensor<[^>]*>)", lowered)
                    self.assertEqual(found.group(1), storage, str(layout))

    def test_stored_dims_that_are_not_those_of_the_map_are_refused(self):
        for dims in ("c, n", "n, c floordiv 4", "n, c mod 4, c floordiv 4", "n, c floordiv 4, c mod 4 extent 5"):
            with self.assertRaisesRegex(LayoutError, "do not form the offset"):
                Layout(f"#layout.map<(n, c) -> buffer(n, [c] align 4) stored({dims})>")
        # Their product is the storage, but the second is not a position.
        negative = Layout("#layout.map<(c) -> buffer(c mod 8) "
                          "stored(c mod 8 extent 2, (c mod 8) * -3 extent 4)>")
        with self.assertRaisesRegex(LayoutError, "stored dim 0"):
            negative.check((8,))


class Padding(unittest.TestCase):
    padded = Layout('#layout.padded<#layout.blocked<"NC" to "NC4c">, zero>', element="f32")
    ones = Layout('#layout.padded<#layout.blocked<"NC" to "NC4c">, 1.0 : f32>', element="f32")
    open = Layout('#layout.blocked<"NC" to "NC4c">', element="f32")

    def test_layouts_that_pad_otherwise_differ(self):
        self.assertNotEqual(self.padded, self.ones)
        self.assertNotEqual(self.padded, self.open)
        zero = Layout('#layout.padded<#layout.blocked<"NC" to "NC4c">, 0.0 : f32>', element="f32")
        self.assertEqual(self.padded, zero)
        self.assertEqual(str(self.padded.canonical()), str(zero.canonical()))

    def test_a_part_says_nothing_of_what_it_leaves_out(self):
        part = self.padded.slice((0, 0), (2, 3), shape=(2, 8))
        self.assertNotIn("padded", str(part))
        whole = self.padded.slice((0, 0), (2, 7), shape=(2, 7))
        self.assertIn("padded", str(whole))
        self.assertIn("padded", str(self.padded.transpose((1, 0))))

    def test_a_concatenation_says_what_all_its_parts_say(self):
        def concat(parts, shapes, axis=1):
            return str(Layout.concat(parts, shapes, axis)[0])
        self.assertIn("padded", concat([self.padded, self.padded], [(1, 4), (1, 3)]))
        self.assertIn("padded", concat([self.padded, self.padded], [(2, 3), (4, 3)], 0))
        self.assertNotIn("padded", concat([self.padded, self.ones], [(1, 4), (1, 3)]))
        self.assertNotIn("padded", concat([self.padded, self.open], [(1, 4), (1, 3)]))
        self.assertNotIn("padded", concat([self.open, self.padded], [(1, 4), (1, 3)]))

    def test_compose_and_inverse(self):
        rows = Layout("#layout.map<(a, b, c) -> buffer(a, b, c)>", element="f32")
        self.assertNotIn("padded", str(rows.compose(self.padded)))
        self.assertNotIn("padded", str(self.padded.inverse()))


if __name__ == "__main__":
    unittest.main()
