# RUN: %python %s
"""Runs conversions of bundles on the CPU: decoding of every format and repacks between bundles of the same values give
what the algebra gives, byte by byte, and their own inverse."""

import unittest

import numpy as np
from layout_mlir import Bundle, LayoutError, compile, run_pipeline

RNG = np.random.default_rng(61)
FLOATS = [name for name in Bundle.formats() if not name.startswith(("vnni", "qkv", "gate_up"))]
DENSE = """#layout.bundle<scale(r, k),
  value : ui4 excess 8 [r, k] in values (r, k, b) -> bits(r, k, b),
  scale : f16 [r, k floordiv 32] in scales (r, g, b) -> bits(r, g, b)>"""
HIGH = """#layout.bundle<scale(r, k),
  value : ui4 excess 8 [r, k] in values (r, k, b) -> bits(bit = [r, k floordiv 2] * 8 + (k mod 2) * -4 + b + 4),
  scale : f16 [r, k floordiv 32] in scales (r, g, b) -> bits(g, r, b)>"""
# Four codes, each with the one four codes later in a byte.
NIBBLES = DENSE.replace("ui4 excess 8", "f4E2M1FN").replace("bits(r, k, b)", "bits(r, k floordiv 8, k mod 4, k floordiv 4 mod 2, b)", 1)
PLANES = """#layout.bundle<scale(r, k),
  value : ui4 excess 8 [r, k] in values (r, k, b) -> bits(b, r, [k] align 8),
  scale : f16 [r, k floordiv 32] in scales (r, g, b) -> bits(bit = [r, g] * 32 + b extent size(r) * size(g) * 32),
  padding(scales = 165)>"""
STRIDES = PLANES.replace(",\n  padding(scales = 165)", "")
SPREAD = """#layout.bundle<min2(r, k),
  value : ui4 [r, k] in values (r, k, b) -> bits(k, r, b),
  scale : ui6 [r, k floordiv 256, k floordiv 32 mod 8] in scales (r, s, j, b) -> bits(r, s, j, b),
  super : f16 [r, k floordiv 256] in supers (r, s, b) -> bits(r, s, b),
  min : ui6 [r, k floordiv 256, k floordiv 32 mod 8] in mins (r, s, j, b) -> bits(bit = [r, s, j] * 8 + b),
  supermin : f16 [r, k floordiv 256] in supers (r, s, b) ->
    bits(bit = [r, s] * 16 + b + 16 * size(r) * size(s) extent 32 * size(r) * size(s))>"""

SIXES = """#layout.bundle<scale2(r, k),
  value : ui6 excess 32 [r, k] in values (r, k, b) -> bits(r, k, b),
  scale : si8 [r, k floordiv 16] in scales (r, g, b) -> bits(g, r, b),
  super : f16 [r, k floordiv 256] in supers (r, s, b) -> bits(r, s, b)>"""
FIVES = """#layout.bundle<scale(r, k),
  value : ui5 excess 16 [r, k] in values (r, k, b) -> bits(r, k, b),
  scale : f16 [r, k floordiv 32] in scales (r, g, b) -> bits(r, g, b)>"""
BYTES = """#layout.bundle<scale(r, k),
  value : si8 [r, k] in values (r, k, b) -> bits(k, r, b),
  scale : f16 [r, k floordiv 32] in scales (r, g, b) -> bits(r, g, b)>"""
TILES = """#layout.bundle<scale(n, k),
  value : ui4 excess 8 [n, k] in qweight (n, k, b) -> bits(n, k, b),
  scale : f16 [n, k floordiv 128] in scales (n, g, b) -> bits(n, g, b)>"""
# A swizzle, whose positions are not sums of digits.
SWIZZLED = DENSE.replace("bits(r, k, b)", "bits(r, k floordiv 4, xor(r, k : 4), b)", 1)


def join(types):
    return ", ".join(types)


def bytes_of(bundle, shape):
    return [f"tensor<{count}xi8>" for count in bundle.streams(shape).values()]


def tensor(bundle, shape, element="f32"):
    return f"tensor<{'x'.join(map(str, shape))}x{element}, {bundle}>"


def make_streams(bundle, shape):
    """Returns streams of random codes, whose floats are finite."""
    codes = {}
    for name, (sizes, element) in bundle.components(shape).items():
        if element in ("f16", "f32"):
            codes[name] = RNG.standard_normal(sizes).astype({"f16": "f2", "f32": "f4"}[element])
        elif element == "bf16":
            codes[name] = (RNG.standard_normal(sizes).astype("f4").view("u4") >> 16).astype("u2")
        else:
            width = int("".join(c for c in element.split("E")[0] if c.isdigit()))
            codes[name] = RNG.integers(0, 2 ** min(7, width), sizes).astype("u1")
    return bundle.pack(codes, shape)


def run(module, arrays, threads=1):
    results = compile(module, threads=threads)(*[array.view("i1") for array in arrays])
    return results if isinstance(results, tuple) else (results,)


def decoder(bundle, shape, element="f32"):
    operands = [f"%s{i}: {kind}" for i, kind in enumerate(bytes_of(bundle, shape))]
    plain, coded = tensor("", shape, element).replace(", >", ">"), tensor(bundle, shape, element)
    names = join(f"%s{i}" for i in range(len(operands)))
    return f"""func.func @main({join(operands)}) -> {plain} {{
  %0 = layout.assemble {names} : {join(bytes_of(bundle, shape))} to {coded}
  %1 = layout.convert %0 : {coded} to {plain}
  return %1 : {plain}
}}"""


def repacker(source, target, shape):
    operands = [f"%s{i}: {kind}" for i, kind in enumerate(bytes_of(source, shape))]
    names, results = join(f"%s{i}" for i in range(len(operands))), bytes_of(target, shape)
    return f"""func.func @main({join(operands)}) -> ({join(results)}) {{
  %0 = layout.assemble {names} : {join(bytes_of(source, shape))} to {tensor(source, shape)}
  %1 = layout.convert %0 : {tensor(source, shape)} to {tensor(target, shape)}
  %2:{len(results)} = layout.streams %1 : {tensor(target, shape)} to {join(results)}
  return {join(f'%2#{i}' for i in range(len(results)))} : {join(results)}
}}"""


def product(bundle, shape, rows):
    """Returns the text of x * w^T, where w has a bundle."""
    operands = [f"%s{i}: {kind}" for i, kind in enumerate(bytes_of(bundle, shape))]
    plain, coded = f"tensor<{shape[0]}x{shape[1]}xf32>", tensor(bundle, shape)
    x, y = f"tensor<{rows}x{shape[1]}xf32>", f"tensor<{rows}x{shape[0]}xf32>"
    maps = join(f"affine_map<(m, n, k) -> {each}>" for each in ("(m, k)", "(n, k)", "(m, n)"))
    return f"""func.func @main({join(operands)}, %x: {x}) -> {y} {{
  %0 = layout.assemble {join(f"%s{i}" for i in range(len(operands)))} : {join(bytes_of(bundle, shape))} to {coded}
  %w = layout.convert %0 : {coded} to {plain}
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {y}
  %f = linalg.fill ins(%zero : f32) outs(%e : {y}) -> {y}
  %y = linalg.matmul indexing_maps = [{maps}] ins(%x, %w : {x}, {plain}) outs(%f : {y}) -> {y}
  return %y : {y}
}}"""


class Programs(unittest.TestCase):
    def test_decode(self):
        for name in FLOATS:
            for shape in ((3, 256), (2, 300) if not name.startswith(("int4", "awq", "gptq", "marlin")) else (64, 64)):
                bundle = Bundle(name)
                streams = make_streams(bundle, shape)
                found, = run(decoder(bundle, shape), streams.values())
                np.testing.assert_array_equal(found, bundle.decode(streams, shape), name)

    def check_product(self, bundle, shape, rows, target=None):
        """Compares a product with the float64 product of the decoded weight."""
        streams = make_streams(bundle, shape)
        x = RNG.standard_normal((rows, shape[1])).astype("f4")
        w = bundle.decode(streams, shape).astype("f8")
        run = compile(product(bundle, shape, rows), target, threads=1)
        found = run(*[each.view("i1") for each in streams.values()], x)
        known = np.isfinite(w).all(axis=1)  # a scale of f8E4M3FN may be NaN
        bound = 1e-6 * np.abs(x).astype("f8") @ np.abs(w[known]).T + 1e-30
        np.testing.assert_array_less(np.abs(found[:, known] - x.astype("f8") @ w[known].T), bound)
        self.assertTrue(np.isnan(found[:, ~known]).all())

    def test_products(self):
        for name in (*FLOATS, HIGH, SPREAD, SIXES, FIVES, BYTES):
            for shape, rows in (((5, 512), 1), ((3, 300), 1), ((8, 256), 3), ((1, 256), 1), ((0, 256), 1), ((3, 0), 1)):
                if 0 in shape and name != "gguf.q8_0" or shape[1] % 256 and name.startswith(("int4", "awq", "gptq", "marlin")):
                    continue
                with self.subTest(name, shape=shape, rows=rows):
                    self.check_product(Bundle(name), shape, rows)

    def test_products_of_nibbles(self):
        # Rows shorter than a vector, those with an odd number of codes, and other vectors than those of the host.
        for name in (DENSE, HIGH, STRIDES, NIBBLES):
            for shape in ((3, 2), (1, 1), (1, 32), (5, 32), (4, 96), (2, 33), (1, 1024)):
                with self.subTest(name, shape=shape):
                    self.check_product(Bundle(name), shape, 1)
        for name in (DENSE, NIBBLES, "gguf.q4_0", "gguf.q5_0", "gguf.q4_k", "gguf.mxfp4", "nvfp4", "mxfp8_e4m3"):
            for bits in 128, 256:
                with self.subTest(name, bits=bits):
                    self.check_product(Bundle(name), (7, 512), 1, f"#layout.cpu<lanes = 16, vector_bits = {bits}>")

    def test_decode_values(self):
        bundle = Bundle("gate_up.bf16")
        streams = make_streams(bundle, (6, 5))
        found, = run(decoder(bundle, (6, 5), "bf16"), streams.values())
        np.testing.assert_array_equal(np.asarray(found).view("u2"), bundle.unpack(streams, (6, 5))["value"])

    def test_repack(self):
        for source, target, shape in (("gguf.q4_0", DENSE, (3, 96)), (DENSE, "gguf.q4_0", (3, 45)),
                                      ("gguf.q4_0", HIGH, (5, 64)), (HIGH, PLANES, (4, 64)), (STRIDES, DENSE, (2, 41)),
                                      ("gguf.q4_k", SPREAD, (3, 512)), (SPREAD, "gguf.q4_k", (2, 256)),
                                      ("nvfp4", "nvfp4.128x4", (130, 80)), ("nvfp4.128x4", "nvfp4", (5, 33)),
                                      ("gguf.mxfp4", "mxfp4", (2, 64)),
                                      # Rows that end within blocks, bytes and vectors, and no row at all.
                                      (DENSE, "gguf.q4_0", (5, 53)), ("gguf.q4_0", DENSE, (1, 1)),
                                      ("gguf.q4_0", DENSE, (33, 31)), (DENSE, "gguf.q4_0", (0, 32)),
                                      (DENSE, HIGH, (3, 33)), ("gguf.q4_0", DENSE, (7, 288)),
                                      ("gguf.q6_k", SIXES, (3, 300)), (SIXES, "gguf.q6_k", (2, 256)),
                                      ("gguf.q5_0", FIVES, (3, 77)), (FIVES, "gguf.q5_0", (3, 77)),
                                      ("gguf.q8_0", BYTES, (9, 65)), (BYTES, "gguf.q8_0", (32, 1)),
                                      ("marlin", TILES, (64, 128)), (TILES, "marlin", (128, 64)),
                                      (DENSE, SWIZZLED, (4, 64)), (SWIZZLED, "gguf.q4_0", (8, 64))):
            source, target = Bundle(source), Bundle(target)
            with self.subTest(source=str(source), target=str(target)):
                streams = make_streams(source, shape)
                expected = source.convert(target, streams, shape)
                found = run(repacker(source, target, shape), streams.values())
                for (name, wanted), result in zip(expected.items(), found, strict=True):
                    np.testing.assert_array_equal(np.asarray(result).view("u1"), wanted, name)

    def test_repack_in_blocks(self):
        # All streams do not fit L1: blocks of them are repacked in turn, and by both threads.
        for source, target, shape in (("gguf.q4_0", DENSE, (64, 1024)), (DENSE, "gguf.q4_0", (66, 1024)),
                                      ("gguf.q4_k", SPREAD, (64, 1024)), (HIGH, "gguf.q4_0", (63, 1056))):
            source, target = Bundle(source), Bundle(target)
            streams = make_streams(source, shape)
            expected = source.convert(target, streams, shape)
            for threads in (1, 2):
                with self.subTest(source=str(source), target=str(target), threads=threads):
                    found = run(repacker(source, target, shape), streams.values(), threads)
                    for (name, wanted), result in zip(expected.items(), found, strict=True):
                        np.testing.assert_array_equal(np.asarray(result).view("u1"), wanted, name)

    def test_what_is_left_is_an_error(self):
        bundle = Bundle("gguf.q8_0")
        kind = tensor(bundle, (2, 64))
        with self.assertRaisesRegex(LayoutError, "has a tensor with a #layout.bundle: pass its streams"):
            run_pipeline(f"func.func @main(%a: {kind}) -> {kind} {{ return %a : {kind} }}", "layout-prepare")


if __name__ == "__main__":
    unittest.main()
