# Check that products that are added round once if the target has fma, and otherwise twice, in SPIR-V and in OpenCL C:
# compared with integers, which f64 adds exactly.

# REQUIRES: opencl-device, llvm-spirv
# RUN: env PYTHONPATH=%S/Inputs LAYOUT_OPENCL_SOURCE=0 %python %s %t
# RUN: env PYTHONPATH=%S/Inputs LAYOUT_OPENCL_SOURCE=1 %python %s %t
import numpy as np

from on_device import check, run

random = np.random.default_rng(5)
MAPS = {"linear": "", "images": ", #layout.map<(a, b) -> image2d(x = b floordiv 4, y = a, lane = b mod 4)>"}


def step(x, y, z, fma):
    """Returns x * y + z in f32, rounded once or twice."""
    wide = x.astype("f8") * y
    return ((wide if fma else wide.astype("f4").astype("f8")) + z).astype("f4")


def integers(*shape, bits=20):
    return random.integers(-(2**bits), 2**bits, shape).astype("f4")


def program(fma, images, m, k, n, text):
    """Returns a program with `T` for the type of a matrix and `P` for that of a plain one."""
    for name, sizes in {"X": (m, k), "Y": (k, n), "Z": (m, n)}.items():
        plain = f"tensor<{'x'.join(map(str, sizes))}xf32"
        text = text.replace(f"!{name}p", plain + ">").replace(f"!{name}", plain + MAPS[images] + ">")
    return f"module attributes {{layout.target = #layout.opencl<fma = {fma}>}} {{{text}}}"


def matmul(fma, images, m, k, n):
    x, y, z = integers(m, k), integers(k, n), integers(m, n, bits=30)
    wanted = z
    for i in range(k):
        wanted = step(np.repeat(x[:, i:i + 1], n, 1), y[i:i + 1], wanted, fma)
    text = """
func.func @main(%x0: !Xp, %y0: !Yp, %z0: !Zp) -> !Zp {
  %x = layout.convert %x0 : !Xp to !X
  %y = layout.convert %y0 : !Yp to !Y
  %z = layout.convert %z0 : !Zp to !Z
  %p = linalg.matmul ins(%x, %y : !X, !Y) outs(%z : !Z) -> !Z
  %r = layout.convert %p : !Z to !Zp
  return %r : !Zp
}"""
    text = program(str(fma).lower(), images, m, k, n, text)
    check(run(text, x, y, z), wanted)


# A product on either side, products with another reader, sums of products, and differences.
ELEMENTWISE = """
func.func @main(%x0: !Zp, %y0: !Zp, %z0: !Zp) -> (!Zp, !Zp, !Zp, !Zp, !Zp, !Zp) {
  %x = layout.convert %x0 : !Zp to !Z
  %y = layout.convert %y0 : !Zp to !Z
  %z = layout.convert %z0 : !Zp to !Z
  %p0 = arith.mulf %x, %y : !Z
  %r0 = arith.addf %z, %p0 : !Z
  %p1 = arith.mulf %x, %y : !Z
  %r1 = arith.addf %p1, %z : !Z
  %p2 = arith.mulf %x, %y : !Z
  %q2 = arith.addf %p2, %z : !Z
  %r2 = arith.maximumf %p2, %q2 : !Z
  %p3 = arith.mulf %x, %y : !Z
  %q3 = arith.mulf %y, %z : !Z
  %r3 = arith.addf %p3, %q3 : !Z
  %p4 = arith.mulf %x, %y : !Z
  %r4 = arith.subf %p4, %z : !Z
  %p5 = arith.mulf %x, %y : !Z
  %r5 = arith.subf %z, %p5 : !Z
  %u0 = layout.convert %r0 : !Z to !Zp
  %u1 = layout.convert %r1 : !Z to !Zp
  %u2 = layout.convert %r2 : !Z to !Zp
  %u3 = layout.convert %r3 : !Z to !Zp
  %u4 = layout.convert %r4 : !Z to !Zp
  %u5 = layout.convert %r5 : !Z to !Zp
  return %u0, %u1, %u2, %u3, %u4, %u5 : !Zp, !Zp, !Zp, !Zp, !Zp, !Zp
}"""


def elementwise(fma, images):
    x, y, z = integers(5, 7), integers(5, 7), integers(5, 7, bits=30)
    found = run(program(str(fma).lower(), images, 5, 7, 7, ELEMENTWISE), x, y, z, results=6)
    once = step(x, y, z, fma)
    wanted = (once, once, np.maximum(x * y, step(x, y, z, False)), step(y, z, x * y, fma),
              step(x, y, -z, fma), step(-x, y, z, fma))
    for one, other in zip(found, wanted):
        check(one, other)


for images in MAPS:
    for fma in True, False:
        elementwise(fma, images)
        matmul(fma, images, 3, 5, 7)
    for shape in (1, 1, 1), (2, 0, 3), (4, 9, 8):
        matmul(True, images, *shape)
