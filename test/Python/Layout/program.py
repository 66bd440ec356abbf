# REQUIRES: target-opencl
# RUN: %python %s 2>&1 | FileCheck %s
# Only the summary is printed: errors are raised.
# CHECK-NOT: {{error|Error|LLVM|no such}}
# CHECK: OK
"""Checks that compile returns a function of numpy arrays for a module, in this process."""

import threading
import unittest
import warnings

import numpy as np
from layout_mlir import LayoutError, compile, run_pipeline

CONVOLUTION = """
func.func @main(%a: tensor<1x5x9x9xf32>, %w: tensor<7x5x3x3xf32>) -> tensor<1x7x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x7x7x7xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x7x7x7xf32>) -> tensor<1x7x7x7xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%a, %w : tensor<1x5x9x9xf32>, tensor<7x5x3x3xf32>)
                                outs(%i : tensor<1x7x7x7xf32>) -> tensor<1x7x7x7xf32>
  return %c : tensor<1x7x7x7xf32>
}
"""
CAST = "func.func @main(%x: tensor<?x{0}>) -> tensor<?x{1}> {{\n" \
       "  %y = arith.{2} %x : tensor<?x{0}> to tensor<?x{1}>\n  return %y : tensor<?x{1}>\n}}"
MATMUL = """func.func @main(%x: tensor<5x7x{0}>, %y: tensor<7x6x{0}>) -> tensor<5x6x{0}> {{
  %zero = arith.constant 0.0 : {0}
  %e = tensor.empty() : tensor<5x6x{0}>
  %i = linalg.fill ins(%zero : {0}) outs(%e : tensor<5x6x{0}>) -> tensor<5x6x{0}>
  %z = linalg.matmul ins(%x, %y : tensor<5x7x{0}>, tensor<7x6x{0}>) outs(%i : tensor<5x6x{0}>) -> tensor<5x6x{0}>
  return %z : tensor<5x6x{0}>
}}"""
FLOATS = {"bf16": "bfloat16", "f8E3M4": "float8_e3m4", "f8E4M3": "float8_e4m3", "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
          "f8E4M3FN": "float8_e4m3fn", "f8E4M3FNUZ": "float8_e4m3fnuz", "f8E5M2": "float8_e5m2",
          "f8E5M2FNUZ": "float8_e5m2fnuz", "f6E2M3FN": "float6_e2m3fn", "f6E3M2FN": "float6_e3m2fn",
          "f4E2M1FN": "float4_e2m1fn"}
ADD = "func.func @main(%x: tensor<3x{0}>, %y: tensor<3x{0}>) -> tensor<3x{0}> {{\n" \
      "  %z = arith.{1} %x, %y : tensor<3x{0}>\n  return %z : tensor<3x{0}>\n}}"


def convolve(a, w):
    windows = np.lib.stride_tricks.sliding_window_view(a, (3, 3), axis=(2, 3))
    return np.einsum("nchwij,fcij->nfhw", windows, w)


def find_ml_dtypes():
    try:
        import ml_dtypes
    except ImportError:
        return None
    return ml_dtypes


class Programs(unittest.TestCase):
    def says(self, message, call, *args, error=LayoutError, **kwargs):
        with self.assertRaisesRegex(error, message) as caught:
            call(*args, **kwargs)
        return caught.exception

    def test_arrays_in_and_out(self):
        rng = np.random.default_rng(0)
        a, w = rng.standard_normal((1, 5, 9, 9), "f4"), rng.standard_normal((7, 5, 3, 3), "f4")
        program = compile(CONVOLUTION, target="#layout.cpu<lanes = 8>")
        for _ in range(2):
            result = program(a, w)
            self.assertEqual((result.dtype, result.shape), (np.float32, (1, 7, 7, 7)))
            np.testing.assert_allclose(result, convolve(a, w), rtol=1e-4, atol=1e-5)
        # Strided arrays are accepted, and arguments stay unchanged.
        kept = a.copy()
        np.testing.assert_array_equal(program(np.asfortranarray(a), w[:, :, ::-1][:, :, ::-1]), result)
        np.testing.assert_array_equal(a, kept)

    def test_layouts_of_another_target(self):
        rng = np.random.default_rng(1)
        a, w = rng.standard_normal((1, 5, 9, 9), "f4"), rng.standard_normal((7, 5, 3, 3), "f4")
        program = compile(CONVOLUTION, "#layout.opencl<image2d_max_width = 16384, image2d_max_height = 16384>")
        np.testing.assert_allclose(program(a, w), convolve(a, w), rtol=1e-4, atol=1e-5)

    def test_signature(self):
        program = compile(CONVOLUTION)
        self.assertEqual([(each.name, each.shape, each.dtype) for each in program.inputs],
                         [("%a", (1, 5, 9, 9), np.float32), ("%w", (7, 5, 3, 3), np.float32)])
        self.assertEqual([(each.name, each.shape) for each in program.results], [(None, (1, 7, 7, 7))])
        self.assertEqual(repr(program), "<Program @main(%a: float32(1, 5, 9, 9), %w: float32(7, 5, 3, 3)) -> "
                                        "(float32(1, 7, 7, 7))>")
        self.assertEqual(repr(program.inputs[0]), "<%a: float32(1, 5, 9, 9)>")

    def test_several_results_and_none(self):
        swap = compile("func.func @swap(%x: tensor<2xi64>, %y: tensor<f64>) -> (tensor<f64>, tensor<2xi64>) "
                       "{ return %y, %x : tensor<f64>, tensor<2xi64> }", function="swap")
        y, x = swap(np.array([1, 2]), np.array(0.5))
        self.assertEqual((y, y.shape, x.tolist()), (0.5, (), [1, 2]))
        self.assertEqual(compile("func.func @main() { return }")(), ())

    def test_dynamic_sizes(self):
        double = compile("func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {\n"
                         "  %y = arith.addf %x, %x : tensor<?x2xf32>\n  return %y : tensor<?x2xf32>\n}")
        self.assertEqual(double.inputs[0].shape, (None, 2))
        for size in (0, 1, 5):
            x = np.arange(2 * size, dtype="f4").reshape(size, 2)
            np.testing.assert_array_equal(double(x), 2 * x)

    def test_element_types(self):
        for text, dtype, op in (("i1", "?", "ori"), ("i8", "i1", "addi"), ("i16", "i2", "addi"), ("i32", "i4", "addi"),
                                ("i64", "i8", "addi"), ("f16", "f2", "addf"), ("f32", "f4", "addf"),
                                ("f64", "f8", "addf")):
            with self.subTest(text=text):
                x = np.array([1, 0, 1]).astype(dtype)
                result = compile(ADD.format(text, op))(x, x)
                self.assertEqual(result.dtype, dtype)
                np.testing.assert_array_equal(result, x | x if dtype == "?" else x + x)
        # A signless integer of MLIR accepts both dtypes.
        x = np.array([200, 1, 2], "u1")
        np.testing.assert_array_equal(compile(ADD.format("i8", "addi"))(x, x).view("u1"), x + x)

    @unittest.skipUnless(find_ml_dtypes(), "ml_dtypes is not installed")
    def test_floats_of_ml_dtypes(self):
        rng = np.random.default_rng(2)
        x = np.append(rng.standard_normal(500).astype("f4") * 4, np.float32([0, -0.0, 1e-3, 1e9, -1e9, np.nan]))
        for text, name in FLOATS.items():
            with self.subTest(text=text), np.errstate(all="ignore"):
                dtype = np.dtype(getattr(find_ml_dtypes(), name))
                every = np.arange(2**find_ml_dtypes().finfo(dtype).bits, dtype=f"u{dtype.itemsize}").view(dtype)
                narrow = compile(CAST.format("f32", text, "truncf"))
                self.assertEqual((narrow.inputs[0].dtype, narrow.results[0].dtype), (np.float32, dtype))
                np.testing.assert_array_equal(narrow(x).astype("f4"), x.astype(dtype).astype("f4"))
                np.testing.assert_array_equal(compile(CAST.format(text, "f32", "extf"))(every), every.astype("f4"))
                add, other = compile(ADD.format(text, "addf").replace("3x", "?x")), rng.permutation(every)
                self.assertEqual(add(every, other).dtype, dtype)
                np.testing.assert_array_equal(add(every, other).astype("f4"), (every + other).astype("f4"))
                a, b = (rng.integers(-1, 2, shape).astype(dtype) for shape in ((5, 7), (7, 6)))
                np.testing.assert_array_equal(compile(MATMUL.format(text))(a, b).astype("f4"),
                                              a.astype("f4") @ b.astype("f4"))
                # Values that numpy itself can represent.
                np.testing.assert_array_equal(add(every.view(f"u{dtype.itemsize}"), other).astype("f4"),
                                              (every + other).astype("f4"))

    @unittest.skipUnless(find_ml_dtypes(), "ml_dtypes is not installed")
    def test_exponents_of_ml_dtypes(self):
        dtype = np.dtype(find_ml_dtypes().float8_e8m0fnu)
        every = np.arange(256, dtype="u1").view(dtype)
        wide, narrow = (compile(CAST.format(*types)) for types in (("f8E8M0FNU", "f32", "extf"),
                                                                  ("f32", "f8E8M0FNU", "truncf")))
        np.testing.assert_array_equal(wide(every), every.astype("f4"))
        np.testing.assert_array_equal(wide(every.view("u1")), every.astype("f4"))
        x = np.float32([1, 1.4, 1.5, 3, 1e-30, 3e38, -1, np.inf, np.nan])
        with np.errstate(all="ignore"):
            self.assertEqual(narrow(x).view("u1").tolist(), x.astype(dtype).view("u1").tolist())

    @unittest.skipUnless(find_ml_dtypes(), "ml_dtypes is not installed")
    def test_integers_of_ml_dtypes(self):
        int4, uint4 = np.dtype(find_ml_dtypes().int4), np.dtype(find_ml_dtypes().uint4)
        signed, unsigned = np.arange(-8, 8).astype(int4), np.arange(16).astype("u1").astype(uint4)
        add = compile(ADD.format("i4", "addi").replace("3x", "16x"))
        self.assertEqual(add(signed, signed).dtype, int4)
        np.testing.assert_array_equal(add(signed, signed), signed + signed)
        np.testing.assert_array_equal(add(signed.astype("i1"), signed), signed + signed)
        # A signless integer of MLIR accepts both dtypes.
        np.testing.assert_array_equal(add(unsigned, unsigned).astype("i1") % 16, (unsigned + unsigned).astype("i1"))
        numbers = compile(CAST.format("i4", "f32", "sitofp"))
        np.testing.assert_array_equal(numbers(signed), np.arange(-8, 8))
        np.testing.assert_array_equal(compile(CAST.format("i4", "f32", "uitofp"))(unsigned), np.arange(16))
        same = compile("func.func @main(%x: tensor<?xui4>) -> tensor<?xui4> { return %x : tensor<?xui4> }")
        self.assertEqual(same(unsigned).dtype, uint4)
        np.testing.assert_array_equal(same(unsigned), unsigned)
        np.testing.assert_array_equal(same(unsigned.astype("u1")), unsigned)
        self.says("as input 0, got values that its elements do not have", numbers, np.array([8], "i1"))
        self.says("as input 0, got values that its elements do not have", same, np.array([16], "u1"))
        self.says(r"argument 0 \(%x\) must be an array of uint4 .*, not of int4", same, signed)
        self.says("the element type must be one of", compile, ADD.format("i3", "addi"))

    @unittest.skipUnless(find_ml_dtypes(), "ml_dtypes is not installed")
    def test_integers_of_two_bits(self):
        int2, uint2 = np.dtype(find_ml_dtypes().int2), np.dtype(find_ml_dtypes().uint2)
        signed, unsigned = np.arange(-2, 2).astype(int2), np.arange(4).astype("u1").astype(uint2)
        add = compile(ADD.format("i2", "addi").replace("3x", "4x"))
        self.assertEqual(add(signed, signed).dtype, int2)
        np.testing.assert_array_equal(add(signed, signed).astype("i1"), [0, -2, 0, -2])
        np.testing.assert_array_equal(add(signed.astype("i1"), signed).astype("i1"), [0, -2, 0, -2])
        np.testing.assert_array_equal(add(unsigned, unsigned).astype("i1"), [0, -2, 0, -2])
        np.testing.assert_array_equal(compile(CAST.format("i2", "f32", "sitofp"))(signed), np.arange(-2, 2))
        np.testing.assert_array_equal(compile(CAST.format("i2", "f32", "uitofp"))(unsigned), np.arange(4))
        same = compile("func.func @main(%x: tensor<?xui2>) -> tensor<?xui2> { return %x : tensor<?xui2> }")
        self.assertEqual(same(unsigned).dtype, uint2)
        np.testing.assert_array_equal(same(unsigned.astype("u1")), unsigned)
        self.says("as input 0, got values that its elements do not have", same, np.array([4], "u1"))

    def test_faults_of_an_argument(self):
        program = compile(CONVOLUTION)
        a, w = np.zeros((1, 5, 9, 9), "f4"), np.zeros((7, 5, 3, 3), "f4")
        self.says(r"argument 1 \(%w\) must be an array of float32 and of shape \(7, 5, 3, 3\), not of float32 "
                  r"and of shape \(7, 5, 3\)", program, a, w[..., 0])
        self.says(r"argument 0 \(%a\) .* not of float64", program, a.astype("f8"), w)
        self.says(r"argument 0 \(%a\) .* not of >f4", program, a.astype(">f4"), w)
        self.says(r"argument 0 \(%a\) must be a numpy.ndarray, not list", program, a.tolist(), w, error=TypeError)
        self.says(r"@main takes 2 arrays, \(%a: float32\(1, 5, 9, 9\), %w: .*\), not 1", program, a, error=TypeError)

    def test_assertions_of_a_module(self):
        program = compile("""func.func @main(%x: tensor<i1>) -> tensor<i1> {
          %c = tensor.extract %x[] : tensor<i1>
          cf.assert %c, "x is to be true"
          return %x : tensor<i1>
        }""")
        self.assertTrue(program(np.array(True)))
        self.says("x is to be true", program, np.array(False))
        self.assertTrue(program(np.array(True)))

    def test_faults_of_a_module(self):
        error = self.says("not found", compile, "func.func @main() {\n  nothing.here\n  return\n}")
        self.assertEqual((error.line, error.text), (2, "  nothing.here"))
        self.says("has no function 'main' to run(.|\n)*has 'f'", compile, "func.func @f() { return }")
        self.says("memref", compile, "func.func @main(%x: memref<2xf32>) { return }")

    def test_bytecode(self):
        x = np.ones(3, "f4")
        program = compile(run_pipeline(ADD.format("f32", "addf"), "", bytecode=True))
        np.testing.assert_array_equal(program(x, x), x + x)
        self.assertEqual(program.inputs[0].name, "%x")

    def test_threads(self):
        program, wrong = compile(ADD.format("f32", "addf")), []

        def work(value):
            x = np.full(3, value, "f4")
            for _ in range(200):
                if (program(x, x) != 2 * x).any():
                    wrong.append(value)
            try:
                program(x, x[:2])
            except LayoutError as error:
                if "%y" in str(error):
                    return
            wrong.append("no error")

        threads = [threading.Thread(target=work, args=(value,)) for value in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_results_outlive_the_program(self):
        result = compile(ADD.format("f32", "addf"))(np.ones(3, "f4"), np.ones(3, "f4"))
        np.testing.assert_array_equal(result, np.full(3, 2, "f4"))


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
