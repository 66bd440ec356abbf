# RUN: %python %s
"""Checks that notations of other projects are parsed and printed, and that errors have the column of the text."""

import pickle
import unittest

from layout_mlir import Layout, LayoutError

TEXTS = {"xla": ("{1,0:T(2,2)}", (3, 5)), "onednn": ("aB8b", (3, 17)),
         "cute": ("(4,2):(2,1)", (4, 2)), "triton": ("offset=[[1,0],[0,1]] : [2,2]", (2, 2))}


class Notations(unittest.TestCase):
    def says(self, message, call, *args):
        with self.assertRaisesRegex(LayoutError, message) as caught:
            call(*args)
        return caught.exception

    def test_in_and_out(self):
        for notation, (text, shape) in TEXTS.items():
            layout = Layout.from_notation(notation, text, element="f16")
            self.assertEqual(str(layout), f'#layout.import<{notation}, "{text}">')
            self.assertEqual(layout.element, "f16")
            again = Layout.from_notation(notation, layout.to(notation, shape))
            self.assertIs(again.equal_on(layout, shape), True)
            self.assertEqual(str(pickle.loads(pickle.dumps(layout))), str(layout))

    def test_faults_are_in_the_text_that_was_given(self):
        error = self.says("factor 0", Layout.from_notation, "xla", "{1,0:T(0)}")
        self.assertEqual((error.line, error.column, error.text), (1, 8, "{1,0:T(0)}"))
        error = self.says("unexpected", Layout.from_notation, "xla", '{1,0}\n "x')
        self.assertEqual((error.line, error.column, error.text), (1, 6, "{1,0}"))
        self.says("expected '{'", Layout.from_notation, "xla", "")

    def test_names_are_names_and_no_text(self):
        for name in ("XLA", "", "xla\n", 'xla, "{0}"> //'):
            self.says("there is no notation", Layout.from_notation, name, "{0}")
            self.says("there is no notation", Layout("#layout.map<(i) -> buffer(i)>").to, name, (3,))
        for args in ((None, "{0}"), ("xla", None), ("xla", b"{0}"), ("xla", "{0}", 5)):
            self.assertRaises(TypeError, Layout.from_notation, *args)

    def test_texts_have_an_end(self):
        error = self.says("has more than 16384 characters", Layout.from_notation, "xla",
                          "{0:T" + "(1)" * 10000 + "}")
        self.assertEqual(error.column, 16385)
        self.assertLess(len(str(error)), 600)

    def test_digits_in_reverse_need_a_text_of_their_square(self):
        parts = [f"p{i}" for i in range(40)]
        split = ", ".join(f"{part} : 2" for part in parts)
        layout = Layout(f"#layout.relations<(a), split a -> (r, {split}), "
                        f"store (r, {', '.join(reversed(parts))})>")
        shape = (2 ** 40,)
        text = layout.to("xla", shape)
        self.assertLess(len(text), 4096)
        for index in ((0,), (1,), (2 ** 39,), (0x123456789A,)):
            self.assertEqual(Layout.from_notation("xla", text).address(index, shape),
                             layout.address(index, shape))

    def test_names_of_blocked_layouts(self):
        for name, order in (("NCHW16c", "NCHW"), ("NHWC", "NCHW"), ("NCDHW8c", "NCDHW"), ("HWIO", "OIHW"),
                            ("OIHW[4o4i]", "OIHW"), ("GOIHW16o", "GOIHW"), ("BA", "AB"), ("ABC4b", "ABC")):
            with self.subTest(name=name):
                self.assertEqual(Layout(name), Layout(f'#layout.blocked<"{order}" to "{name}">'))
        self.assertEqual(Layout(" NHWC ").forward_index((0, 1, 2, 3), (1, 2, 3, 4)), (0, 2, 3, 1))
        for name in ("NHWX", "TNC", "BC", "NCHWN", "Q"):
            with self.subTest(name=name), self.assertRaisesRegex(
                    LayoutError, f"'{name}' does not determine the logical order"):
                Layout(name)
        with self.assertRaisesRegex(LayoutError, "part 'd' without its axis 'D'"):
            Layout("NCHW16d")

    def test_notebooks_show_a_small_tensor(self):
        picture = Layout("NCHW16c")._repr_svg_()
        self.assertTrue(picture.startswith("<svg"))
        self.assertIn("on N = 2, C = 17, H = 2, W = 2", picture)
        self.assertIn("on d0 = 2, d1 = 5",
                      Layout("#layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>")._repr_svg_())
        self.assertIn("on d0 = 8, d1 = 4", Layout.from_notation("cute", "(8,4):(4,1)")._repr_svg_())
        # Too large; without an element type.
        for text in ("NCHW4096c", "#layout.npu_scatter<aligned, start = 0>"):
            with self.subTest(text=text):
                self.assertIsNone(Layout(text)._repr_svg_())


if __name__ == "__main__":
    unittest.main()
