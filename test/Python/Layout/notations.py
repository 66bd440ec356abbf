# RUN: %python %s
"""Notations of other projects: in, out, and what is wrong with a text at its own column."""

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
        error = self.says("goes on past 16384 characters", Layout.from_notation, "xla",
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


if __name__ == "__main__":
    unittest.main()
