# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks that the import of a model loads the files of its operators only, and no definitions of the onnx package."""

from __future__ import annotations

import subprocess
import sys
import unittest

import numpy as np
from onnx import defs, parser

import layout_mlir
from layout_mlir import onnx_import
from layout_mlir.onnx_import import functions, node, operators

PROGRAM = """
import sys
from layout_mlir.onnx_import import node
assert node.find_operator("", "Conv") and node.find_operator("ai.onnx", "Softmax")
assert "layout_mlir.onnx_import.operators.softmax" in sys.modules
assert "layout_mlir.onnx_import.operators.learning" not in sys.modules
assert node.find_operator("", "Conv-") is None
assert "layout_mlir.onnx_import.operators.learning" in sys.modules
"""


class Loaded(unittest.TestCase):
    def test_files_are_imported_with_the_first_of_their_operators(self) -> None:
        subprocess.run([sys.executable, "-c", PROGRAM], check=True)

    def test_all_files_are_imported(self) -> None:
        operators.load_all()
        for domain, name in (("", "Det"), ("com.microsoft", "QAttention"), ("ai.onnx.ml", "TreeEnsemble")):
            self.assertIsNotNone(node.find_operator(domain, name))

    def test_independent_operands_have_types_of_their_own(self) -> None:
        checked = set()
        for schema in defs.get_all_schemas_with_history():
            if schema.domain == "" and schema.name in functions.INDEPENDENT:
                types = [each.type_str for each in schema.inputs if "(" not in each.type_str]
                self.assertEqual(len(types), len(set(types)), schema.name)
                checked.add(schema.name)
        self.assertEqual(checked, functions.INDEPENDENT)

    def test_weights_stay_in_a_model_that_is_checked(self) -> None:
        weights = ", ".join(map(str, range(1024)))
        model = parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
            g (float[1024] x) => (float[1024] y) <float[1024] w = {{{weights}}}> {{ y = Add (x, w) }}""")
        model = onnx_import.prepare_unchecked(model)
        text = model.SerializeToString()
        onnx_import.check_valid(model)
        self.assertEqual(model.SerializeToString(), text)
        one = np.ones(1024, np.float32)
        np.testing.assert_array_equal(layout_mlir.compile(onnx_import.lower_to_text(model), threads=1)(one),
                                      one + np.arange(1024, dtype=np.float32))

    def test_invalid_models_are_refused_by_the_package_behind_the_import(self) -> None:
        model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
            g (float[2] x) => (float[2] y) { y = Relu <alpha: int = 1> (x) }""")
        model = onnx_import.prepare_unchecked(model)
        onnx_import.lower_to_text(model)
        with self.assertRaisesRegex(onnx_import.ImportFailed, "the model is not valid: .*alpha"):
            onnx_import.check_valid(model)
        from layout_mlir.onnx_import.compare import Check

        check = Check(model, unchecked=True)
        with self.assertRaisesRegex(onnx_import.ImportFailed, "the model is not valid: .*alpha"):
            check.finish(lambda inputs: list(inputs), lambda: model)


if __name__ == "__main__":
    unittest.main()
