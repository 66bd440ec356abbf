# REQUIRES: gguf
# RUN: %python %s %layout_src_root/docs/bundles.md
"""Compares every format of bundles byte by byte with its own library, or with its published rule in numpy, in both
directions, and the table of docs/bundles.md with what was compared."""

import pathlib
import re
import sys
import unittest
from importlib.metadata import version

import gguf
import gguf.quants
import ml_dtypes
import numpy as np
from layout_mlir import Bundle

RNG = np.random.default_rng(60)
GGUF = {name: getattr(gguf.GGMLQuantizationType, name.split(".")[1].upper())
        for name in Bundle.formats() if name.startswith("gguf.")}
# The formats that the library also writes; it reads all of them.
WRITTEN = ("gguf.q4_0", "gguf.q4_1", "gguf.q5_0", "gguf.q5_1", "gguf.q8_0", "gguf.mxfp4")
DTYPES = {"f4E2M1FN": ml_dtypes.float4_e2m1fn, "f6E2M3FN": ml_dtypes.float6_e2m3fn,
          "f6E3M2FN": ml_dtypes.float6_e3m2fn, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
NIBBLES = [0, 2, 4, 6, 1, 3, 5, 7]  # the column of each nibble of a word of AWQ and Marlin
LIBRARY = f"gguf {version('gguf')}"
VALUES = f"ml_dtypes {ml_dtypes.__version__}, dense bits in numpy"
RULE = "published rule in numpy"


def random_codes(bundle, shape):
    """Returns random codes of each component."""
    codes = {}
    for name, (sizes, element) in bundle.components(shape).items():
        if element in ("f16", "f32", "bf16"):
            dtype = {"f16": "f2", "f32": "f4", "bf16": ml_dtypes.bfloat16}[element]
            codes[name] = RNG.standard_normal(sizes).astype(dtype)
            if element == "bf16":
                codes[name] = codes[name].view("u2")
        else:
            width = int(re.match(r"\D+(\d+)", element)[1])
            codes[name] = RNG.integers(0, 2**width, sizes).astype("u1")
    return codes


def pack_words(codes, width):
    """Packs the last axis densely, the least significant bit first."""
    bits = (codes[..., None] >> np.arange(width)) & 1
    return np.packbits(bits.reshape(*codes.shape[:-1], -1).astype("u1"), axis=-1, bitorder="little").ravel()


def pad(array, *multiples):
    """Pads each axis with zeros to a multiple."""
    return np.pad(array, [(0, -size % by) for size, by in zip(array.shape, multiples)])


def widen(scale, group, count):
    """Repeats each scale of a row for its group."""
    return np.repeat(scale, group, axis=1)[:, :count]


class Formats(unittest.TestCase):
    compared = {}

    def agree(self, bundle, name, shape, oracle, codes, streams, values):
        """Compares codes, streams and values in both directions."""
        self.assertIs(bundle.is_injective(shape), True)
        packed = bundle.pack(codes, shape)
        self.assertEqual(list(packed), list(streams))
        for stream, expected in streams.items():
            np.testing.assert_array_equal(packed[stream], np.frombuffer(expected.tobytes(), "u1"), f"{name} {stream}")
        unpacked = bundle.unpack(packed, shape)
        for component, expected in codes.items():
            self.assertEqual(unpacked[component].tobytes(), expected.tobytes(), f"{name} {component}")
        np.testing.assert_array_equal(bundle.decode(packed, shape), values.astype("f4"), name)
        count = self.compared.get(name, (oracle, 0))[1]
        self.compared[name] = (oracle, count + 1)

    def test_gguf_reads(self):
        for name, kind in GGUF.items():
            bundle, (block, block_bytes) = Bundle(name), gguf.GGML_QUANT_SIZES[kind]
            for rows, blocks in ((1, 1), (2, 3), (5, 2), (7, 16)):
                shape = (rows, blocks * block)
                stored = RNG.integers(0, 256, (rows, blocks * block_bytes)).astype("u1")
                self.assertEqual(bundle.streams(shape), {"block": stored.size})
                codes = bundle.unpack({"block": stored.ravel()}, shape)
                with np.errstate(all="ignore"):
                    values = gguf.quants.dequantize(stored, kind)
                    self.agree(bundle, name, shape, LIBRARY, codes, {"block": stored}, values)

    def test_gguf_writes(self):
        for name in WRITTEN:
            bundle, kind = Bundle(name), GGUF[name]
            for shape in ((1, 32), (3, 96), (6, 256)):
                numbers = RNG.standard_normal(shape).astype("f4")
                stored = gguf.quants.quantize(numbers, kind)
                codes = bundle.unpack({"block": stored.ravel()}, shape)
                self.agree(bundle, name, shape, LIBRARY, codes, {"block": stored},
                           gguf.quants.dequantize(stored, kind))
            # Rows that end inside of a block are those of the library up to their end.
            numbers = np.zeros((4, 64), "f4")
            numbers[:, :45] = RNG.standard_normal((4, 45))
            stored = gguf.quants.quantize(numbers, kind)
            values = bundle.decode({"block": stored.ravel()}, (4, 45))
            np.testing.assert_array_equal(values, gguf.quants.dequantize(stored, kind)[:, :45])

    def test_mx(self):
        for name in ("mxfp4", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp8_e4m3", "mxfp8_e5m2", "mxint8"):
            for shape, group in (((3, 64), 32), ((5, 40), 32), ((2, 48), 16), ((1, 7), 32)):
                bundle = Bundle(name, group=group)
                element = bundle.components(shape)["value"][1]
                codes = random_codes(bundle, shape)
                codes["scale"] = RNG.integers(100, 140, codes["scale"].shape).astype("u1")
                if element == "si8":
                    codes["value"] = codes["value"].view("i1")
                    numbers, width = codes["value"] / np.float32(64), 8
                else:
                    dtype, width = DTYPES[element], int(element[1])
                    numbers = codes["value"].view(dtype).astype("f4")
                scale = codes["scale"].view(ml_dtypes.float8_e8m0fnu).astype("f4")
                streams = {"values": pack_words(codes["value"], width), "scales": codes["scale"]}
                self.agree(bundle, name, shape, VALUES, codes, streams, widen(scale, group, shape[1]) * numbers)

    def test_nvfp4(self):
        for name in ("nvfp4", "nvfp4.128x4"):
            bundle = Bundle(name)
            for shape in ((2, 32), (130, 48), (128, 64), (300, 200)):
                codes = random_codes(bundle, shape)
                codes["scale"] &= 0x77  # no NaN, positive
                linear = pad(codes["scale"], 128, 4)
                tiles = linear.reshape(-1, 4, 32, linear.shape[1] // 4, 4).transpose(0, 3, 2, 1, 4)
                streams = {"values": pack_words(codes["value"], 4),
                           "scales": codes["scale"] if name == "nvfp4" else tiles, "global": codes["super"]}
                numbers = codes["value"].view(ml_dtypes.float4_e2m1fn).astype("f4")
                scale = codes["super"] * codes["scale"].view(ml_dtypes.float8_e4m3fn).astype("f4")
                self.agree(bundle, name, shape, VALUES if name == "nvfp4" else RULE, codes, streams,
                           widen(scale, 16, shape[1]) * numbers)

    def words(self, codes):
        """Packs 8 codes along the last axis into one 32-bit word, the first one lowest."""
        groups = codes.reshape(*codes.shape[:-1], -1, 8).astype("u4")
        return (groups << np.arange(0, 32, 4, dtype="u4")).sum(axis=-1, dtype="u4")

    def test_int4(self):
        for n, k, group in ((64, 128, 64), (128, 256, 128), (192, 64, 32)):
            shape = (n, k)
            bundle = Bundle("int4", group=group)
            codes = random_codes(bundle, shape)
            scale = codes["scale"].view(ml_dtypes.bfloat16).astype("f4")
            self.agree(bundle, "int4", shape, RULE, codes,
                       {"values": self.words(codes["value"]), "scales": codes["scale"]},
                       widen(scale, group, k) * (codes["value"].astype("f4") - 8))

    def test_awq(self):
        for n, k, group in ((64, 128, 64), (128, 256, 128), (8, 6, 4)):
            bundle = Bundle("awq", group=group)
            codes = random_codes(bundle, (n, k))
            order = np.arange(n).reshape(-1, 8)[:, NIBBLES].ravel()
            streams = {"qweight": self.words(codes["value"].T[:, order]), "scales": codes["scale"].T,
                       "qzeros": self.words(codes["zero"].T[:, order])}
            values = (codes["value"].astype("f4") - widen(codes["zero"], group, k)) * widen(
                codes["scale"].astype("f4"), group, k)
            self.agree(bundle, "awq", (n, k), RULE, codes, streams, values)

    def test_gptq(self):
        for n, k, group in ((64, 128, 64), (128, 256, 128), (8, 16, 4)):
            bundle = Bundle("gptq", group=group)
            codes = random_codes(bundle, (n, k))
            streams = {"qweight": self.words(codes["value"]).T, "scales": codes["scale"].T,
                       "qzeros": self.words(codes["zero"].T)}
            values = (codes["value"].astype("f4") - widen(codes["zero"] + np.float32(1), group, k)) * widen(
                codes["scale"].astype("f4"), group, k)
            self.agree(bundle, "gptq", (n, k), RULE, codes, streams, values)

    def test_marlin(self):
        # The fragments of a tensor core: thread t of 32 has column t / 4 of both halves, and rows 2 (t % 4) + 0, 1, 8
        # and 9.
        threads = [[16 * (2 * (t % 4) + row) + t // 4 + 8 * half for half in (0, 1) for row in (0, 1, 8, 9)]
                   for t in range(32)]
        order = np.array([[place + 256 * tile for place in thread] for thread in threads for tile in range(4)])
        order = order[:, NIBBLES].ravel()
        columns = np.array([i + 8 * j for i in range(8) for j in range(8)])
        for n, k, group in ((64, 128, 64), (128, 256, 128), (192, 64, 32)):
            bundle = Bundle("marlin", group=group)
            codes = random_codes(bundle, (n, k))
            tiles = codes["value"].T.reshape(k // 16, 16, n // 16, 16).transpose(0, 2, 1, 3).reshape(k // 16, -1)
            permuted = tiles.reshape(-1, 1024)[:, order].reshape(k // 16, -1)
            streams = {"qweight": self.words(permuted),
                       "scales": np.ascontiguousarray(codes["scale"].T).reshape(-1, 64)[:, columns]}
            values = widen(codes["scale"].astype("f4"), group, k) * (codes["value"].astype("f4") - 8)
            self.agree(bundle, "marlin", (n, k), RULE, codes, streams, values)

    def test_vnni(self):
        for name, factor in (("vnni.bf16", 2), ("vnni.i8", 4)):
            for shape in ((8, 16), (7, 5), (1, 3)):
                bundle = Bundle(name)
                codes = random_codes(bundle, shape)
                if factor == 4:
                    codes["value"] = codes["value"].view("i1")
                padded = pad(codes["value"], factor, 1)
                stored = padded.reshape(-1, factor, shape[1]).transpose(0, 2, 1)
                numbers = codes["value"] if factor == 4 else codes["value"].view(ml_dtypes.bfloat16)
                self.agree(bundle, name, shape, RULE, codes, {"data": stored}, numbers)

    def test_fused_parameters(self):
        for rows, columns in ((6, 5), (64, 32), (2, 1)):
            bundle = Bundle("gate_up.bf16")
            codes = random_codes(bundle, (rows, columns))
            stored = codes["value"].reshape(2, -1, columns).transpose(1, 0, 2)
            self.agree(bundle, "gate_up.bf16", (rows, columns), RULE, codes, {"data": stored},
                       codes["value"].view(ml_dtypes.bfloat16))
        for groups, queries, head, columns in ((2, 4, 8, 16), (3, 1, 5, 7), (1, 2, 4, 3)):
            bundle = Bundle("qkv.bf16", groups=groups, queries=queries, head=head)
            codes = random_codes(bundle, (groups * (queries + 2) * head, columns))
            query, key, value = np.split(codes["value"], np.cumsum([groups * queries * head, groups * head]))
            stored = np.concatenate([part.reshape(groups, -1, columns) for part in (query, key, value)], axis=1)
            self.agree(bundle, "qkv.bf16", codes["value"].shape, RULE, codes, {"data": stored},
                       codes["value"].view(ml_dtypes.bfloat16))

    @classmethod
    def tearDownClass(cls):
        rows = [f"| `{name}` | {oracle} | {cases} |" for name, (oracle, cases) in cls.compared.items()]
        assert sorted(cls.compared) == sorted(Bundle.formats()), set(Bundle.formats()) - set(cls.compared)
        page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
        missing = [row for row in rows if row not in page]
        assert not missing, "docs/bundles.md needs the rows\n" + "\n".join(missing)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
