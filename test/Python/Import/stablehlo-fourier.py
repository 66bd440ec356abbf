# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks Fourier transforms of StableHLO against NumPy, and the reversal of unsigned elements."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from stablehlo_modules import Modules  # noqa: E402

RNG = np.random.default_rng(2)


def transform(kind, lengths, given, made):
    return f"""func.func @main(%x: tensor<{given}>) -> tensor<{made}> {{
  %0 = stablehlo.fft %x, type = {kind}, length = [{', '.join(map(str, lengths))}] : (tensor<{given}>) -> tensor<{made}>
  return %0 : tensor<{made}>
}}"""


def with_parts(kind, lengths, sizes, inverse=False):
    """A transform of complex numbers, with real and imaginary parts as arguments and results."""
    part, whole = (f"tensor<{'x'.join(map(str, sizes))}x{element}>" for element in ("f32", "complex<f32>"))
    return f"""func.func @main(%a: {part}, %b: {part}) -> ({part}, {part}) {{
  %0 = stablehlo.complex %a, %b : {whole}
  %1 = stablehlo.fft %0, type = {kind}, length = [{', '.join(map(str, lengths))}] : ({whole}) -> {whole}
  %2 = stablehlo.real %1 : ({whole}) -> {part}
  %3 = stablehlo.imag %1 : ({whole}) -> {part}
  return %2, %3 : {part}, {part}
}}"""


class Fourier(Modules):
    def test_complex(self):
        """Lengths that are one product, are split once and twice, are prime, 1 and 0."""
        for sizes, count in (((3, 8), 1), ((2, 130), 1), ((1, 20000), 1), ((2, 257), 1), ((4, 1), 1), ((0, 6), 1),
                             ((2, 3, 150), 2), ((3, 4, 5), 3)):
            a, b = (RNG.standard_normal(sizes).astype("f4") for _ in range(2))
            axes = range(-count, 0)
            for kind, function in (("FFT", np.fft.fftn), ("IFFT", np.fft.ifftn)):
                with self.subTest(f"{kind} {sizes} {count}"):
                    y = function(a.astype("f8") + 1j * b, axes=axes) if a.size else np.zeros(sizes, "c16")
                    self.check(with_parts(kind, sizes[-count:], sizes), [a, b], y.real.astype("f4"), y.imag.astype("f4"), tolerance=1e-3)

    def test_real(self):
        for sizes, count in (((2, 10), 1), ((2, 9), 1), ((1, 400), 1), ((2, 6, 8), 2)):
            bins = (*sizes[:-1], sizes[-1] // 2 + 1)
            given, made = (f"{'x'.join(map(str, each))}x{element}" for each, element in ((sizes, "f32"), (bins, "complex<f32>")))
            with self.subTest(f"{sizes} {count}"):
                there, back = (transform(*each) for each in (("RFFT", sizes[-count:], given, made), ("IRFFT", sizes[-count:], made, given)))
                x = RNG.standard_normal(sizes).astype("f4")
                y = np.fft.rfftn(x, axes=range(-count, 0))
                part = made.replace("complex<f32>", "f32")
                self.check(there.replace(f") -> tensor<{made}> {{", f") -> (tensor<{part}>, tensor<{part}>) {{").replace(
                    f"  return %0 : tensor<{made}>", f"  %1 = stablehlo.real %0 : (tensor<{made}>) -> tensor<{part}>\n"
                    f"  %2 = stablehlo.imag %0 : (tensor<{made}>) -> tensor<{part}>\n  return %1, %2 : tensor<{part}>, "
                    f"tensor<{part}>"), [x], y.real.astype("f4"), y.imag.astype("f4"), tolerance=1e-4)
                self.check(back.replace(f"%x: tensor<{made}>", f"%a: tensor<{part}>, %b: tensor<{part}>").replace(
                    "  %0", f"  %x = stablehlo.complex %a, %b : tensor<{made}>\n  %0", 1),
                    [y.real.astype("f4"), y.imag.astype("f4")], x, tolerance=1e-4)

    def test_refusals(self):
        self.check_refused(transform("FFT", [2053], "2053xcomplex<f32>", "2053xcomplex<f32>"), "prime factor above 2048")
        self.check_refused(transform("FFT", [4], "?x4xcomplex<f32>", "?x4xcomplex<f32>"), "is dynamic")

    def test_reverse_of_unsigned_elements(self):
        x = np.arange(200, 212, dtype="u1").reshape(3, 4)
        self.check("""func.func @main(%x: tensor<3x4xui8>) -> tensor<3x4xui8> {
          %0 = stablehlo.reverse %x, dims = [1, 0] : tensor<3x4xui8>
          return %0 : tensor<3x4xui8>
        }""", [x], x[::-1, ::-1])


if __name__ == "__main__":
    unittest.main()
