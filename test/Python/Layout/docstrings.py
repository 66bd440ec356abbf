# RUN: %python %s %layout_src_root/python/layout_mlir/_layout.pyi
"""Checks that every public name has a docstring and is in the stub, and that every example in a docstring is right."""

import ast
import doctest
import inspect
import pathlib
import sys
import unittest

import layout_mlir
from layout_mlir import _layout

STUB = pathlib.Path(sys.argv.pop())
NAMES = {name: getattr(layout_mlir, name) for name in layout_mlir.__all__}
CLASSES = {name: kind for name, kind in NAMES.items()
           if isinstance(kind, type) and not issubclass(kind, Exception)}


def members(kind):
    return {name: value for name, value in vars(kind).items() if not name.startswith("_")}


class Docstrings(unittest.TestCase):
    def test_examples(self):
        parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
        texts = {name: value.__doc__ for name, value in NAMES.items()}
        for owner, kind in CLASSES.items():
            texts.update({f"{owner}.{name}": inspect.getdoc(value)
                          for name, value in members(kind).items()})
        for name, text in texts.items():
            with self.subTest(name=name):
                self.assertTrue(text)
                test = parser.get_doctest(text, dict(NAMES), name, None, None)
                failed, _ = runner.run(test)
                self.assertEqual(failed, 0)
        self.assertGreater(runner.tries, 30)

    def test_the_stub_has_all_names_and_no_other(self):
        tree = ast.parse(STUB.read_text())
        public = {node.name: node for node in tree.body
                  if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        names = set(NAMES) - {"onnx_session"}  # a function in Python
        self.assertEqual(set(public), names)
        self.assertEqual({name for name in vars(_layout) if not name.startswith("_")}, names)
        for name, kind in CLASSES.items():
            stubbed = {node.name for node in public[name].body
                       if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
            self.assertEqual(stubbed, set(members(kind)))

    def test_the_package_works_without_the_extension(self):
        self.assertLessEqual(set(NAMES), set(dir(layout_mlir)))
        with self.assertRaises(AttributeError):
            layout_mlir.nothing


if __name__ == "__main__":
    unittest.main()
