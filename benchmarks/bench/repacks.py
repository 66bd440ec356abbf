"""./dev bench --repacks: conversions between bundle formats compared with memcpy, and products with one vector.

Each repack is compiled for this machine and runs on one thread, in alternation with a copy of the mean of the bytes
read and written. Both allocate their results, in memory that a previous call has freed. The last column is the shortest
time of the copy divided by that of the repack. Results of up to 2^22 codes are compared with those of the algebra.

--products runs w * x instead, where the weight w has a format and is decoded in the loops of the product, in alternation
with a sum of the bytes of w as 64-bit integers. Speeds are those of reading these bytes.
"""

import argparse
import ctypes
import math
import re
import sys
import time

import numpy as np

from layout_mlir import Bundle, compile

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
MOST_COMPARED = 1 << 22
VALUES = "bits(r, k, b)"


def plain(element, scale="f16"):
    """Returns a bundle of values and scales of groups of 32, both row by row in streams of their own."""
    return (f"#layout.bundle<scale(r, k), value : {element} [r, k] in values (r, k, b) -> {VALUES}, "
            f"scale : {scale} [r, k floordiv 32] in scales (r, g, b) -> bits(r, g, b)>")


NIBBLES, BYTES = plain("ui4 excess 8"), plain("si8")
HIGH = NIBBLES.replace(VALUES, "bits(bit = [r, k floordiv 2] * 8 + (k mod 2) * -4 + b + 4)", 1)
CASES = {
    "Q4_0 to nibbles": ("gguf.q4_0", NIBBLES), "nibbles to Q4_0": (NIBBLES, "gguf.q4_0"),
    "GGUF's MXFP4 to MXFP4": ("gguf.mxfp4", "mxfp4"), "MXFP4 to GGUF's": ("mxfp4", "gguf.mxfp4"),
    "nibbles, high half first": (NIBBLES, HIGH),
    "Q8_0 to bytes": ("gguf.q8_0", BYTES), "bytes to Q8_0": (BYTES, "gguf.q8_0"),
}
PRODUCTS = ("gguf.q8_0", "gguf.q4_0", "gguf.q4_1", "gguf.q5_0", "gguf.q2_k", "gguf.q6_k", "gguf.q4_k", "gguf.mxfp4",
            "mxfp8_e4m3", "int4")


def list_streams(bundle, shape):
    """Returns the types of the streams of a tensor."""
    return [f"tensor<{count}xi8>" for count in bundle.streams(shape).values()]


def write_head(bundle, shape):
    """Returns the arguments of a function that receives the streams of a tensor, its first line, which assembles the
    tensor, and the type of the tensor."""
    kinds = list_streams(bundle, shape)
    names = ", ".join(f"%s{i}" for i in range(len(kinds)))
    type_ = f"tensor<{'x'.join(map(str, shape))}xf32, {bundle}>"
    return (", ".join(f"%s{i}: {kind}" for i, kind in enumerate(kinds)),
            f"%0 = layout.assemble {names} : {', '.join(kinds)} to {type_}", type_)


def write(source, target, shape):
    """Returns the text of a function from the streams of one bundle to those of another."""
    declared, assemble, before = write_head(source, shape)
    results, after = list_streams(target, shape), write_head(target, shape)[2]
    returned = ", ".join(f"%r#{i}" for i in range(len(results)))
    return f"""func.func @main({declared}) -> ({", ".join(results)}) {{
  {assemble}
  %1 = layout.convert %0 : {before} to {after}
  %r:{len(results)} = layout.streams %1 : {after} to {", ".join(results)}
  return {returned} : {", ".join(results)}
}}"""


def write_product(bundle, shape):
    """Returns the text of a function from the streams of a weight and a vector to their product."""
    declared, assemble, coded = write_head(bundle, shape)
    plain, vector, result = (f"tensor<{'x'.join(map(str, sizes))}xf32>" for sizes in (shape, shape[1:], shape[:1]))
    return f"""func.func @main({declared}, %x: {vector}) -> {result} {{
  {assemble}
  %w = layout.convert %0 : {coded} to {plain}
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {result}
  %f = linalg.fill ins(%zero : f32) outs(%e : {result}) -> {result}
  %y = linalg.matvec ins(%w, %x : {plain}, {vector}) outs(%f : {result}) -> {result}
  return %y : {result}
}}"""


def find_least(calls, seconds):
    """Returns the least seconds of each call; they alternate."""
    least = [math.inf] * len(calls)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, call in enumerate(calls):
            for _ in range(3):
                begin = time.perf_counter()
                result = call()
                least[i] = min(least[i], time.perf_counter() - begin)
                del result
    return least


def measure_product(bundle, shape, seconds):
    """Returns the bytes of the weight, and the seconds of reading them and of the product."""
    rng = np.random.default_rng(0)
    components = bundle.components(shape)
    codes = {name: rng.random(sizes).astype("f2") if element == "f16" else
             (rng.random(sizes).astype("f4").view("u4") >> 16).astype("u2") if element == "bf16" else
             rng.integers(117, 127, sizes, np.uint8) if element == "f8E8M0FNU" else  # 2^-10 to 2^-1
             rng.integers(0, 1 << min(6, int(re.match(r"\D+(\d+)", element)[1])), sizes, np.uint8)
             for name, (sizes, element) in components.items()}
    streams = bundle.pack(codes, shape)
    x = rng.standard_normal(shape[1]).astype("f4")
    function = compile(write_product(bundle, shape), threads=1)
    given = [each.view(np.int8) for each in streams.values()]
    words = [each[:each.size // 8 * 8].view(np.int64) for each in given]
    if math.prod(shape) <= MOST_COMPARED:
        np.testing.assert_allclose(function(*given, x), bundle.decode(streams, shape) @ x, rtol=1e-3, atol=1e-3)
    return sum(each.size for each in given), *find_least(
        (lambda: [each.sum() for each in words], lambda: function(*given, x)), seconds)


def measure(source, target, shape, seconds):
    """Returns the bytes of the copy, and the seconds of the copy and of the repack."""
    rng = np.random.default_rng(0)
    streams = {name: rng.integers(0, 256, count, np.uint8) for name, count in source.streams(shape).items()}
    size = (sum(map(len, streams.values())) + sum(target.streams(shape).values())) // 2
    function = compile(write(source, target, shape), threads=1)
    given, copied = [each.view(np.int8) for each in streams.values()], np.ones(size, np.uint8)
    if math.prod(shape) <= MOST_COMPARED:
        found = function(*given)
        expected = source.convert(target, streams, shape).values()
        for wanted, result in zip(expected, found if isinstance(found, tuple) else (found,), strict=True):
            np.testing.assert_array_equal(np.asarray(result).view(np.uint8), wanted)
        del found, expected, result
    return size, *find_least((copied.copy, lambda: function(*given)), seconds)


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --repacks", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only repacks whose name contains this")
    parser.add_argument("--products", action="store_true", help="products with one vector instead of repacks")
    parser.add_argument("--shape", default="1024x4096", help="rows and columns (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1, help="how long each repack runs")
    args = parser.parse_args(argv)
    shape = tuple(map(int, args.shape.split("x")))
    # Freed memory is reused, as in a program that runs repeatedly.
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_MAX, 0)
    libc.mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)
    kind, other = ("product", "read") if args.products else ("repack", "memcpy")
    print(f"{kind:<28}{'MB':>8}{other + ' GB/s':>13}{'GB/s':>8}{'of ' + other:>11}")
    for name in PRODUCTS if args.products else CASES:
        if args.only not in name:
            continue
        size, reference, own = (measure_product(Bundle(name), shape, args.seconds) if args.products else
                                measure(*map(Bundle, CASES[name]), shape, args.seconds))
        print(f"{name:<28}{size / 1e6:>8.2f}{size / reference / 1e9:>13.1f}{size / own / 1e9:>8.2f}"
              f"{reference / own:>11.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
