# REQUIRES: onnx
# RUN: %python %s
"""Checks that model files of other projects are assigned and compiled."""

import os
import pathlib
import signal
import tempfile
import threading
import unittest
import unittest.mock
import warnings

import numpy as np
import onnx.parser
from layout_mlir import LayoutError, assign, compile, onnx_import

MODEL = """<ir_version: 9, opset_import: ["" : 17]>
  layers (float[n, 3, 6, 6] image, float[4, 3, 3, 3] filter) => (float[n, 4, 4, 4] y) {
    features = Conv (image, filter)
    y = Relu (features)
  }"""
STABLEHLO = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %x, %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""


def run_model(image, filter):
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(2, 3))
    return np.maximum(np.einsum("nchwij,fcij->nfhw", windows, filter), 0)


class Models(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = self.folder / "layers.onnx"
        onnx.save(onnx.parser.parse_model(MODEL), self.model)
        rng = np.random.default_rng(0)
        self.image, self.filter = rng.standard_normal((2, 3, 6, 6), "f4"), rng.standard_normal((4, 3, 3, 3), "f4")

    def check(self, program):
        np.testing.assert_allclose(program(self.image, self.filter), run_model(self.image, self.filter),
                                   rtol=1e-4, atol=1e-5)

    def test_sizes_of_an_onnx_file(self):
        program = compile(self.model, shapes={"image": (2, 3, 6, 6)})
        self.assertEqual([each.shape for each in program.inputs], [(2, 3, 6, 6), (4, 3, 3, 3)])
        self.check(program)
        program = compile(str(self.model))
        self.assertEqual(program.inputs[0].shape, (None, 3, 6, 6))
        self.check(program)

    def test_names_are_those_of_nodes(self):
        a = assign(self.model, shapes={0: (2, 3, 6, 6)})
        self.assertTrue({"features", "y"} & set(a.layouts), a.layouts)

    def test_faults_name_the_file(self):
        with self.assertRaisesRegex(LayoutError, "layers.onnx: the model has no input 'picture'"):
            compile(self.model, shapes={"picture": (1, 3, 6, 6)})

    def import_as(self, instead):
        """Replaces the importer, in this process and those that it starts."""
        return unittest.mock.patch.object(onnx_import, "lower_to_text", instead)

    def test_compiled_in_a_process_of_its_own(self):
        processes, lower = [], onnx_import.lower_to_text

        def note(model):
            (self.folder / "process").write_text(str(os.getpid()))
            return lower(model)

        def compile_and_note():
            with self.import_as(note):
                self.check(compile(self.model))
            processes.append(int((self.folder / "process").read_text()))

        compile_and_note()
        # A child of a process with threads would inherit their locks.
        thread = threading.Thread(target=compile_and_note)
        thread.start()
        thread.join()
        self.assertNotEqual(processes[0], os.getpid())
        self.assertEqual(processes[1], os.getpid())
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    def test_warnings_of_that_process_name_the_call(self):
        lower = onnx_import.lower_to_text

        def warn(model):
            warnings.warn("one", UserWarning)
            return lower(model)

        with self.import_as(warn), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compile(self.model)
        self.assertEqual([(str(each.message), each.category, pathlib.Path(each.filename).name) for each in caught],
                         [("one", UserWarning, pathlib.Path(__file__).name)])

    def test_faults_of_that_process(self):
        with self.import_as(lambda _: os.kill(os.getpid(), signal.SIGKILL)):
            with self.assertRaisesRegex(LayoutError, "layers.onnx: the process of the compiler ended by SIGKILL"):
                compile(self.model)
        path = self.folder / "wrong.mlir"
        path.write_text("func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {\n  return %x : tensor<2xf32>\n}\n")
        faults = []
        for module in (path, path.read_text()):
            with self.assertRaises(LayoutError) as raised:
                compile(module)
            faults.append((str(raised.exception), raised.exception.line, raised.exception.column))
        self.assertEqual(*faults)
        self.assertEqual(faults[0][1], 2)

    def test_stablehlo(self):
        path = self.folder / "add.mlir"
        path.write_text(STABLEHLO)
        x = np.ones((2, 3), "f4")
        np.testing.assert_array_equal(compile(path)(x), x + x)


if __name__ == "__main__":
    unittest.main()
