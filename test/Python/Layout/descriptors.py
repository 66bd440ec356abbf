# RUN: %python %s
"""Checks that descriptors say how arrays are stored: round trips, also in a file of safetensors, and refusals."""

import importlib.util
import json
import pathlib
import tempfile
import unittest

import layout_mlir
import numpy as np
from layout_mlir import Bundle, Layout, LayoutError
from layout_mlir.descriptors import KEY, describe, read

SHAPE = (3, 64)


def changed(**values):
    """Returns the descriptor of Q8_0 with other values; None removes a key."""
    content = json.loads(describe(Bundle("gguf.q8_0"), SHAPE))
    content.update(values)
    return json.dumps({key: value for key, value in content.items() if value is not None})


HOSTILE = [
    "", "null", "[]", "{", '{"version": 1}', "[" * 100000, "x" * 30000,
    '{"version":1,"version":1,"encoding":"","element":"","hash":"","shape":[]}',
    changed(version=2), changed(version=True), changed(version="1"), changed(shape=None), changed(more=1),
    changed(hash="sha256:0"), changed(hash=7), changed(encoding=7), changed(element="f99"), changed(element="i8"),
    changed(element="f32>, tensor<"), changed(shape=[3]), changed(shape=[3, -64]), changed(shape=[3, 64.0]),
    changed(shape=[True, 64]), changed(shape="3x64"), changed(shape=[2**62, 2**62]), changed(shape=[3, 2**64]),
    changed(encoding='#layout.bundle<"gguf.q9">'), changed(encoding='#layout.bundle<"gguf.q8_0"'),
    changed(encoding='#layout.bundle<"gguf.q4_0">'), changed(encoding="#layout.cpu<lanes = 4>"),
    changed(encoding="#layout.map<(i, j) -> buffer(i)>"), changed(encoding="#layout.map<(i) -> buffer(i)\0>"),
    changed(encoding="#layout.map<(i) -> buffer(" + "(" * 1000 + "i" + ")" * 1000 + ")>"),
    changed(encoding="#layout.bundle<value(r, k), value : ui8 [r, k] in data (r, k, b) -> bits(r, b)>"),
    changed(encoding='#layout.bundle<"awq", group = 0>'),
]


class Descriptors(unittest.TestCase):
    def test_round_trip(self):
        for encoding, element in ((Bundle("gguf.q8_0"), "f32"), (Bundle("awq", group=32), "f16"),
                                  (Layout("#layout.map<(i, j) -> buffer(j, i)>"), "f32"), (Layout("NC8c"), "f32")):
            text = describe(encoding, SHAPE, element)
            found, shape, kind = read(text)
            self.assertEqual((str(found), shape, kind), (str(encoding), SHAPE, element))
        # The hash is that of the meaning, not of the name.
        named, expanded = (json.loads(describe(b, SHAPE)) for b in (Bundle("mxfp4"), Bundle("mxfp4").expand()))
        self.assertEqual(named["hash"], expanded["hash"])
        self.assertNotEqual(named["encoding"], expanded["encoding"])

    def test_check(self):
        bundle = Bundle("nvfp4")
        text = describe(bundle, SHAPE)
        streams = {name: np.zeros(count, "u1") for name, count in bundle.streams(SHAPE).items()}
        layout_mlir.check(streams, text)
        swizzled = Bundle("nvfp4.128x4")
        tiled = {name: np.zeros(count, "u1") for name, count in swizzled.streams(SHAPE).items()}
        for wrong in (tiled, np.zeros(3, "u1"), {}, {**streams, "more": np.zeros(1, "u1")},
                      {**streams, "scales": streams["scales"].view("i1")}):
            with self.assertRaises(LayoutError):
                layout_mlir.check(wrong, text)
        layout = Layout("NC8c")
        text = describe(layout, (2, 12))
        layout_mlir.check(np.zeros((2, 2, 8), "f4"), text)
        for wrong in (np.zeros((2, 12), "f4"), np.zeros((2, 2, 8), "f8"), {"data": np.zeros((2, 2, 8), "f4")}):
            with self.assertRaises(LayoutError):
                layout_mlir.check(wrong, text)

    def test_hostile_descriptors(self):
        self.assertGreaterEqual(len(HOSTILE), 20)
        streams = {"block": np.zeros(Bundle("gguf.q8_0").streams(SHAPE)["block"], "u1")}
        layout_mlir.check(streams, changed())
        for text in HOSTILE:
            with self.subTest(text=text[:80]), self.assertRaises(LayoutError):
                layout_mlir.check(streams, text)
        with self.assertRaises(TypeError):
            layout_mlir.check(streams, b"{}")

    @unittest.skipUnless(importlib.util.find_spec("safetensors"), "needs safetensors")
    def test_safetensors(self):
        from safetensors import safe_open
        from safetensors.numpy import save_file

        bundle = Bundle("gguf.q4_k")
        shape = (4, 512)
        streams = {"block": np.random.default_rng(1).integers(0, 256, bundle.streams(shape)["block"]).astype("u1")}
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder, "w.safetensors"))
            save_file({"w.block": streams["block"]}, file, {KEY: json.dumps({"w": describe(bundle, shape)})})
            with safe_open(file, "np") as stored:
                descriptor = json.loads(stored.metadata()[KEY])["w"]
                found = {"block": stored.get_tensor("w.block")}
        layout_mlir.check(found, descriptor)
        encoding, sizes, _ = read(descriptor)
        np.testing.assert_array_equal(encoding.decode(found, sizes), bundle.decode(streams, shape))


if __name__ == "__main__":
    unittest.main()
