# RUN: %python %s 2>&1 | FileCheck %s
# Only the summary is printed: errors are raised.
# CHECK-NOT: {{error|Error|LLVM|no such}}
# CHECK: OK
"""Checks that invalid arguments raise exceptions, and that none ends the process."""

import unittest

import numpy as np
from layout_mlir import Layout, LayoutError, Target

L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
SHAPE = (1, 17, 7, 7)
BIG = 2 ** 62


class Errors(unittest.TestCase):
    def says(self, message, call, *args, error=LayoutError, **kwargs):
        with self.assertRaisesRegex(error, message) as caught:
            call(*args, **kwargs)
        return caught.exception

    def test_text_with_its_place(self):
        error = self.says("expected 'to'", Layout, '#layout.blocked<"NCHW" "NCHW16c">')
        self.assertEqual((error.line, error.column), (1, 24))
        self.assertEqual(error.text, '#layout.blocked<"NCHW" "NCHW16c">')
        self.assertEqual(str(error).splitlines(), [
            "line 1, column 24: expected 'to'",
            '  #layout.blocked<"NCHW" "NCHW16c">',
            "                         ^"])

    def test_characters_of_several_bytes(self):
        self.says("unexpected character 'Ç'", Layout, '#layout.blocked<"NÇHW" to "NCHW">')
        self.says("unexpected '\N{SNOWMAN}'", Layout.from_notation, "onednn", "\N{SNOWMAN}")

    def test_place_inside_a_string(self):
        error = self.says("'d'", Layout, '#layout.blocked<"NCHW" to "NCHW16d">')
        self.assertEqual(error.text[error.column - 1:][:3], "16d")

    def test_lines_after_the_first(self):
        error = self.says("unknown dim 'j'", Layout, "#layout.map<(i)\n  -> buffer(j)>")
        self.assertEqual((error.line, error.column, error.text), (2, 13, "  -> buffer(j)>"))

    def test_long_lines_are_shown_in_part(self):
        text = "#layout.map<(i) -> buffer(" + "i, " * 1000 + "j)>"
        error = self.says("unknown dim 'j'", Layout, text)
        self.assertLess(len(str(error)), 600)

    def test_hostile_text(self):
        for text in ("", " ", "#", "#layout", "#layout.", "#layout.map", "#layout.map<", "\0",
                     "#layout.map<(i) -> buffer(i)>\0", "#layout.map<(i) -> buffer(i)> x",
                     "#layout.map<(i\0) -> buffer(i)>", "#nothing.here<1>", "#layout.nothing",
                     "42", '"text"', "dense<1> : tensor<2xi32>", "affine_map<(i) -> (i)>", "i32",
                     "#alias", "@symbol", "[[[", "\N{SNOWMAN}", "#layout.map<(\N{SNOWMAN}) -> b(i)>",
                     "#layout.blocked<\"\N{SNOWMAN}\" to \"A\">", "#layout.map<(i) -> buffer(i mod 0)>",
                     f"#layout.map<(i) -> buffer(i * {BIG} * 4)>", "#layout.padded<1, zero>",
                     "#layout.map<(i) -> buffer(i floordiv 99999999999999999999)>"):
            with self.subTest(text=text):
                self.says(".", Layout, text)

    def test_nesting_has_an_end(self):
        for open, close in ("[]", "()", "<>", "{}"):
            self.says("nested more than 200", Layout, open * 5000 + close * 5000)
        nested = "#layout.padded<" * 1000
        self.says("nested more than 200", Layout, nested)
        self.says("the limit is 16384", Layout, "#layout.map<(i) -> buffer(" + "- " * 10000)
        self.says("nested", Layout, "#layout.map<(i) -> buffer(" + "[" * 100 + "i" + "]" * 100 + ")>")
        # Recursion without brackets.
        self.says(".", Layout, "affine_map<(i) -> (" + "-" * 16000 + "i)>")

    def test_brackets_in_strings_do_not_nest(self):
        self.says("not a layout", Layout, '"' + "[" * 5000 + '"')

    def test_kinds_of_arguments(self):
        for call in (lambda: Layout(5), lambda: Layout(b"#layout.map"), lambda: Layout("\udc80"),
                     lambda: Layout(str(L), target=5), lambda: Layout(str(L), element=5),
                     lambda: L.stored_shape(5), lambda: L.stored_shape("1234"),
                     lambda: L.stored_shape((1, 2.0, 3, 4)), lambda: L.stored_shape(None),
                     lambda: L.stored_shape((1, None, 3, 4)), lambda: L.stored_shape({1, 2}),
                     lambda: L.stored_shape(iter((1, 2, 3, 4))), lambda: L.equal_on("x", SHAPE),
                     lambda: L.address({}, SHAPE), lambda: L.pack("x"), lambda: L.pack(None),
                     lambda: Target(4, 128, 1024), lambda: Target(npus=4)):
            self.assertRaises((TypeError, UnicodeEncodeError), call)

    def test_element_types(self):
        for element in ("", "f33", "tensor<2xf32>", "vector<2xf32>", "memref<2xf32>", "f32 f32"):
            self.says(".", Layout, str(L), element=element)
        self.says("written as in IR: f32", Layout, str(L), element="float32")
        scatter = Layout("#layout.npu_scatter<aligned, start = 0>",
                         target=Target(npus=4, eu_bytes=128, bytes_per_npu=1024))
        error = self.says("depends on the element type", scatter.check, (1, 1, 1, 1))
        self.assertNotIn("none'", str(error))

    def test_shapes(self):
        self.says("size of dim 1 is -17", L.stored_shape, (1, -17, 7, 7))
        self.says("rank 3", L.stored_shape, (1, 17, 7))
        self.says("rank 0", L.storage_extent, ())
        self.says("rank 100000", L.storage_extent, [1] * 100000)
        self.says("entry 0 of the shape is 1267650600228229401496703205376", L.padding,
                  (2 ** 100, 1, 1, 1))
        self.says("use None", L.equal_on, L, (-2 ** 63, 1, 1, 1))

    def test_shapes_past_64_bits(self):
        huge = (BIG, BIG, BIG, BIG)
        for call in (L.stored_shape, L.storage_extent, L.padding, L.check, L.is_injective):
            self.says("64 bits", call, huge)
        self.says("64 bits", L.address, (0, 0, 0, 0), huge)
        self.says("64 bits", L.backward_index, 0, huge)
        self.says("64 bits", L.forward, np.zeros((1, 4), int), huge)
        far = Layout(f"#layout.map<(i) -> buffer(offset = i * {BIG})>")
        self.says("64 bits", far.address, (2,), (3,))

    def test_indices(self):
        self.says("index 17 of dim 1 is outside the box: the size there is 17", L.address,
                  (0, 17, 0, 0), SHAPE)
        self.says("index -1 of dim 3", L.forward_index, (0, 0, 0, -1), SHAPE)
        self.says("has 3 entries", L.address, (0, 0, 0), SHAPE)
        self.says("outside the box", L.address, (0, 0, 0, 0), (0, 17, 7, 7))

    def test_addresses(self):
        self.says("offset 1568 is outside the storage: its extent is 1568", L.backward_index,
                  1568, SHAPE)
        self.says("offset -1 is outside", L.backward_index, {"offset": -1}, SHAPE)
        self.says("lacks the coordinate 'offset'", L.backward_index, {}, SHAPE)
        self.says("has no coordinate 'x'", L.backward_index, {"offset": 0, "x": 0}, SHAPE)
        self.says("has no coordinate '5'", L.backward_index, {5: 0}, SHAPE)
        self.says("byte 4 of the address", L.backward_index, {"offset": 0, "byte": 4}, SHAPE)
        self.says("has 2 coordinates", L.backward_index, (0, 0), SHAPE)

    def test_layouts_that_are_not_valid(self):
        bad = Layout("#layout.map<(i, j) -> buffer(offset = i * 2 + j)>")
        self.assertIs(bad.is_injective((3, 3)), False)
        self.assertEqual(bad.address((1, 0), (3, 3)), bad.address((0, 2), (3, 3)))
        for call in (bad.check, bad.padding):
            self.says(r"not injective \(L1\)", call, (3, 3))
        self.says(r"\(L1\)", bad.pack, np.zeros((3, 3)))
        self.says(r"\(L1\)", bad.unpack, np.zeros(7), (3, 3))
        self.says(r"\(L1\)", bad.backward_index, 0, (3, 3))
        low = Layout("#layout.map<(i) -> buffer(offset = i + -2 extent 4)>")
        self.says("below 0", low.pack, np.zeros(3))
        high = Layout("#layout.map<(i) -> buffer(offset = i extent 2)>")
        self.says("extent is 2", high.pack, np.zeros(3))

    def test_dtypes(self):
        array = np.zeros(SHAPE, "f4")
        floats = Layout(str(L), element="f32")
        self.says("float64 cannot hold elements of type 'f32'", floats.pack, array.astype("f8"))
        self.says("int32 cannot hold", floats.unpack, np.zeros(1568, "i4"), SHAPE)
        self.says("byte order", L.pack, array.astype(">f4"))
        for dtype in (object, "S4", "U2", "M8[s]", "V4", "f4,i4", np.longdouble):
            self.says("cannot hold elements of a tensor", L.pack, array.astype(dtype, casting="unsafe")
                      if dtype != "M8[s]" else array.astype("i8").astype(dtype))
        self.says("float16 cannot hold", Layout(str(L), element="i4").pack, array.astype("f2"))

    def test_padding_values(self):
        array = np.zeros(SHAPE, "i1")
        for pad in (300, -129, 1.5, np.nan, "0", [0], [], {}, 1j, object(), np.zeros((1,))):
            self.says("cannot be held by int8", L.pack, array, pad=pad)
        self.says("cannot be held by float16", L.pack, array.astype("f2"), pad=1e6)

    def test_storage_of_a_wrong_shape(self):
        for shape in ((1, 2, 7, 7, 15), (1, 2, 7, 7), (1569,), (), (0,)):
            self.says(r"of shape \(1, 2, 7, 7, 16\) or \(1568,\)", L.unpack, np.zeros(shape), SHAPE)
        self.says("rank 2", L.pack, np.zeros((4, 4)))

    def test_indices_of_forward(self):
        self.says(r"row 1 is the index \(0, 17, 0, 0\)", L.forward,
                  np.array([[0, 0, 0, 0], [0, 17, 0, 0]]), SHAPE)
        self.says(r"not \(n, 4\)", L.forward, np.zeros((4,), int), SHAPE)
        self.says(r"not \(n, 4\)", L.forward, np.zeros((4, 3), int), SHAPE)
        self.says(r"index \(-9223372036854775808, 0, 0, 0\)", L.forward,
                  np.array([[-2 ** 63, 0, 0, 0]]), SHAPE)
        for dtype in ("f8", "u8", "?", object):
            self.says("indices of dtype", L.forward, np.zeros((1, 4), dtype), SHAPE)

    def test_memory_that_is_not_there(self):
        far = Layout(f"#layout.map<(i) -> buffer(offset = i * {2 ** 48})>")
        self.says(".", far.pack, np.zeros(2, "f8"), error=(MemoryError, ValueError))

    def test_figures_of_a_target(self):
        self.says("npus", Target, npus=0, eu_bytes=128, bytes_per_npu=1024)
        self.says("eu_bytes", Target, npus=4, eu_bytes=100, bytes_per_npu=1024)
        scatter = Layout("#layout.npu_scatter<aligned, start = 0>", element="f32")
        self.says("target", scatter.address, (0, 0, 0, 0), (1, 1, 1, 1))

    def test_targets_that_were_never_made(self):
        nothing = Target.__new__(Target)
        for call in (lambda: nothing.npus, lambda: repr(nothing), lambda: hash(nothing),
                     lambda: nothing == nothing, lambda: Layout(str(L), target=nothing)):
            self.says("created by __new__ only", call, error=TypeError)

    def test_signatures_are_those_of_python(self):
        for member in (L.address, L.unpack, L.to, L.slice, L.is_injective):
            self.assertNotIn("handle", member.__doc__)

    def test_objects_that_were_never_made(self):
        nothing = Layout.__new__(Layout)
        for call in (lambda: nothing.space, lambda: str(nothing), lambda: L.equal_on(nothing, SHAPE),
                     lambda: nothing.__reduce__(), lambda: L == nothing, lambda: hash(nothing),
                     lambda: Layout.concat([nothing], [SHAPE], 0)):
            self.says("created by __new__ only", call, error=TypeError)
        for call in (lambda: L.equal_on(None, SHAPE), lambda: L.compose(None),
                     lambda: Layout.concat([None], [SHAPE], 0)):
            self.assertRaises(TypeError, call)


if __name__ == "__main__":
    unittest.main()
