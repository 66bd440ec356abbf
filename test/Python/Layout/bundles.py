# RUN: %python %s
"""Checks bundles against lists of all bits: packing moves each bit to the point of its map and no other, proofs agree
with the lists, and shapes of real weights are proven."""

import itertools
import pickle
import time
import unittest

import numpy as np
from layout_mlir import Bundle, Layout, LayoutError

RNG = np.random.default_rng(62)


def one(text, width, index="r, k"):
    """Returns a bundle of one component."""
    return Bundle(f"#layout.bundle<value({index}), value : ui{width} [{index}] in data {text}>")


def points(bundle, shape):
    """Yields (component, index, bit, position) of every bit, by the maps of its pieces."""
    for name in bundle.components(shape):
        for begin, sizes, layout in bundle.pieces(name, shape):
            indices = np.array(list(np.ndindex(*sizes)), dtype=np.int64).reshape(-1, len(sizes))
            for index, position in zip(indices, layout.forward(indices, sizes)[:, 0], strict=True):
                yield name, tuple(index[:-1] + begin[:-1]), int(index[-1] + begin[-1]), int(position)


BUNDLES = [
    (one("(r, k, b) -> bits(r, k, b)", 6), (3, 5)),
    (one("(r, k, b) -> bits(b, r, k)", 3), (4, 7)),
    (one("(r, k, b) -> bits(r, [k, b] align 8)", 5), (3, 5)),
    (one("(r, k, b) -> bits(bit = [r, k floordiv 2] * 8 + (k mod 2) * -4 + b + 4)", 4), (3, 5)),
    (one("(r, k, b) -> bits(r, k floordiv 32, k mod 16, k floordiv 16 mod 2, b)", 4), (2, 40)),
    (one("(r, k, b) -> bits(bit = [r, k] * 16 + (b) * -1 + 11)", 12), (2, 3)),
    (one("(r, k, b) -> bits(bit = [r, k, xor(b, k : 4)])", 2), (2, 8)),
    (one("{(r, k = 0 to 3, b) -> bits(bit = r * 64 + k * 8 + b), (r, k = 3 to size(k), b = 0 to 2) -> "
         "bits(bit = r * 64 + k * 2 + b + 24), (r, k = 3 to size(k), b = 2 to 7) -> "
         "bits(bit = r * 64 + k * 5 + b + 32)}", 7), (3, 6)),
    (Bundle("gguf.q4_k"), (2, 300)), (Bundle("gguf.q3_k"), (1, 512)), (Bundle("awq", group=4), (16, 6)),
    (Bundle("nvfp4.128x4"), (3, 17)),
    (Bundle("qkv.bf16", groups=2, queries=3, head=2), (20, 3)),
]


class Bundles(unittest.TestCase):
    def test_packing_moves_each_bit_to_its_point(self):
        for bundle, shape in BUNDLES:
            with self.subTest(bundle=str(bundle)):
                codes = {}
                for name, (sizes, element) in bundle.components(shape).items():
                    width = int("".join(c for c in element.split("E")[0] if c.isdigit()))
                    kind = f"u{1 if width <= 8 else 2 if width <= 16 else 4}"
                    codes[name] = RNG.integers(0, 2**width, sizes).astype(kind)
                expected = {name: np.zeros(8 * count, "u1") for name, count in bundle.streams(shape).items()}
                streams = dict.fromkeys(codes, next(iter(expected)))
                if len(expected) > 1:
                    streams = {"value": "qweight", "scale": "scales", "zero": "qzeros"} if "qweight" in expected else {
                        "value": "values", "scale": "scales", "super": "global"}
                used = set()
                for name, index, bit, position in points(bundle, shape):
                    expected[streams[name]][position] = int(codes[name][index]) >> bit & 1
                    used.add((streams[name], position))
                self.assertEqual(len(used), sum(np.size(array) * int("".join(
                    c for c in bundle.components(shape)[name][1].split("E")[0] if c.isdigit()))
                    for name, array in codes.items()))
                packed = bundle.pack(codes, shape)
                for name, bits in expected.items():
                    np.testing.assert_array_equal(packed[name], np.packbits(bits, bitorder="little"), name)
                for name, found in bundle.unpack(packed, shape).items():
                    np.testing.assert_array_equal(found.view(codes[name].dtype), codes[name], name)

    def test_proofs_agree_with_lists(self):
        answers = {True: 0, False: 0}
        for _ in range(300):
            block, first, second, shift = (int(RNG.integers(*limits)) for limits in ((1, 24), (1, 5), (1, 5), (0, 12)))
            bundle = Bundle(f"""#layout.bundle<scale(r, k),
              value : ui{first} [r, k] in s (r, k, b) ->
                bits(bit = [r, k floordiv 4] * {block} + (k mod 4) * {first} + b),
              scale : ui{second} [r, k floordiv 4] in s (r, g, b) -> bits(bit = [r, g] * {block} + b + {shift})>""")
            shape = (int(RNG.integers(1, 4)), int(RNG.integers(1, 9)))
            positions = [position for *_, position in points(bundle, shape)]
            distinct = len(set(positions)) == len(positions)
            self.assertIs(bundle.is_injective(shape), distinct, (str(bundle), shape))
            answers[distinct] += 1
            # If all fields are inside of their block, more blocks change nothing.
            if shape[1] > 3 and max(4 * first, shift + second) <= block:
                self.assertIs(bundle.is_injective((1500, 8)), distinct, str(bundle))
        self.assertGreater(min(answers.values()), 50)

    def test_real_shapes_are_proven(self):
        for name in Bundle.formats():
            for shape in ((6144, 4096), (6144, 14336)):
                start = time.perf_counter()
                self.assertIs(Bundle(name).is_injective(shape), True, name)
                self.assertLess(time.perf_counter() - start, 10, name)

    def test_shared_bits_are_refused(self):
        bundle = one("(r, k, b) -> bits(bit = r * 8 + k * 3 + b)", 4)
        self.assertIs(bundle.is_injective((2, 2)), False)
        with self.assertRaisesRegex(LayoutError, r"\(B4\): 'value' \(0, 0\) bit 3 and 'value' \(0, 1\) bit 0"):
            bundle.check((2, 2), "i4")
        with self.assertRaises(LayoutError):
            bundle.pack({"value": np.zeros((2, 2), "u1")}, (2, 2))

    def test_equality(self):
        plain = one("(r, k, b) -> bits(r, k, b)", 4)
        strides = one("(r, k, b) -> bits(bit = r * 32 + k * 4 + b)", 4)
        pieces = one("{(r, k = 0 to 3, b) -> bits(bit = r * 32 + k * 4 + b), "
                     "(r, k = 3 to 8, b) -> bits(bit = r * 32 + k * 4 + b + 12)}", 4)
        for a, b in itertools.product((plain, strides, pieces), repeat=2):
            self.assertIs(a.equal_on(b, (3, 8)), True)
        self.assertIs(plain.equal_on(strides, (3, 7)), False)
        self.assertIs(plain.equal_on(one("(r, k, b) -> bits(k, r, b)", 4), (3, 8)), False)
        self.assertIs(Bundle("mxfp4").equal_on(Bundle("mxfp4").expand(), (2, 64)), True)
        self.assertIs(Bundle("nvfp4").equal_on(Bundle("nvfp4.128x4"), (128, 64)), False)
        named = Bundle("awq", group=64)
        self.assertEqual((named, hash(named)), (pickle.loads(pickle.dumps(named)), hash(Bundle("awq", group=64))))
        self.assertNotEqual(named, Bundle("awq"))
        self.assertEqual(str(named.expand().expand()), str(named.expand()))

    def test_padding_is_written(self):
        bundle = Bundle("#layout.bundle<value(i), value : ui4 [i] in data (i, b) -> "
                        "bits(bit = i * 8 + b extent size(i) * 8), padding(data = 160)>")
        packed = bundle.pack({"value": np.array([1, 15, 7], "u1")}, (3,))
        np.testing.assert_array_equal(packed["data"], [0xA1, 0xAF, 0xA7])

    def test_conversions_keep_codes(self):
        shape = (3, 64)
        dense = Bundle("""#layout.bundle<scale(r, k), value : ui4 excess 8 [r, k] in values (r, k, b) -> bits(r, k, b),
          scale : f16 [r, k floordiv 32] in scales (r, g, b) -> bits(r, g, b)>""")
        streams = {"block": RNG.integers(0, 256, 108).astype("u1")}
        repacked = Bundle("gguf.q4_0").convert(dense, streams, shape)
        np.testing.assert_array_equal(dense.decode(repacked, shape), Bundle("gguf.q4_0").decode(streams, shape))
        np.testing.assert_array_equal(dense.convert(Bundle("gguf.q4_0"), repacked, shape)["block"], streams["block"])
        with self.assertRaisesRegex(LayoutError, "different values"):
            Bundle("gguf.q4_0").convert(Bundle("gguf.q8_0"), streams, shape)

    def test_arguments(self):
        bundle = Bundle("gguf.q8_0")
        value, scale = np.zeros((1, 32), "u1"), np.zeros((1, 1), "f2")
        for wrong in ({}, {"value": value}, {"value": value[:, 1:], "scale": scale},
                      {"value": value.astype("u2"), "scale": scale}, {"value": value, "scale": scale, "min": scale}):
            with self.assertRaises(LayoutError):
                bundle.pack(wrong, (1, 32))
        with self.assertRaises(LayoutError):
            bundle.unpack({"block": np.zeros(33, "u1")}, (1, 32))
        with self.assertRaises(LayoutError):
            Bundle("#layout.map<(i) -> buffer(i)>")
        with self.assertRaises(LayoutError):
            Bundle("#layout.bundle<", group=3)
        # Maps of bits are ordinary layouts on the shape with the bit.
        layout = Layout("#layout.map<(r, k, b) -> bits(r, k, b)>")
        self.assertEqual(layout.address((1, 2, 3), (2, 5, 6)), {"bit": 45})
        self.assertEqual(layout.backward_index({"bit": 45}, (2, 5, 6)), (1, 2, 3))


if __name__ == "__main__":
    unittest.main()
