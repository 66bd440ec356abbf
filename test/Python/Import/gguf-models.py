# REQUIRES: python-extension, gguf
# RUN: %python %s
"""Checks that language models in GGUF files compute what numpy computes from the weights that gguf decodes: prefill,
decode with caches, and the generated tokens; and that the bytes of the weights are those of the mapped file."""

import dataclasses
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from layout_mlir import compile
from layout_mlir.gguf_import import File, Generator, list_weights, lower_file

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Inputs"))

import gguf_models as models  # noqa: E402
from gguf_models import Sizes  # noqa: E402

WIDE = Sizes(width=256, hidden=512, head=64, value=64, rotated=64, vocabulary=45)
KINDS = {**dict.fromkeys(("F32", "F16", "BF16"), Sizes(width=44, hidden=37, head=12, value=6, rotated=8)),
         **dict.fromkeys(("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "MXFP4"), Sizes(hidden=160, groups=1)),
         **dict.fromkeys(("Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"), WIDE)}
NETWORKS = {
    "tied": Sizes(tied=True),
    "one head for each": Sizes(groups=4),
    "partial rotation": Sizes(rotated=6),
    "frequencies": Sizes(frequencies=True, base=500000.0),
    "linear scaling": Sizes(factor=4.0),
    "biases": Sizes(biases=("attn_q", "attn_k", "attn_v", "attn_output", "ffn_down")),
    "qwen2": Sizes(arch="qwen2", tied=True, biases=("attn_q", "attn_k", "attn_v"), base=1e6),
    "one layer": Sizes(layers=1, heads=6, groups=2, value=32),
}
TOKENS = [7, 0, 31, 12, 44, 3, 19]


class Models(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "model.gguf")

    def check(self, sizes, choose):
        weights = models.write(self.path, sizes, choose)
        expected = models.evaluate(sizes, weights, TOKENS)
        generator = Generator(self.path, threads=1)
        close = {"rtol": 0, "atol": 2e-5 * np.abs(expected).max()}
        # Prompts of several lengths, and prompts continued token by token and in parts.
        for parts in ([1], [2], [7], [1] * 7, [2, 1, 4], [3, 2, 1, 1]):
            generator.reset()
            done = 0
            for part in parts:
                logits = generator.read(TOKENS[done:done + part])
                done += part
                np.testing.assert_allclose(logits, expected[done - 1], **close)
        generator.reset()
        self.assertEqual(generator.generate(TOKENS[:3], 20), models.generate(sizes, weights, TOKENS[:3], 20))
        return generator

    def test_formats(self):
        for kind, sizes in KINDS.items():
            with self.subTest(kind):
                self.check(sizes, lambda name: kind)

    def test_networks(self):
        for name, sizes in NETWORKS.items():
            with self.subTest(name):
                self.check(sizes, lambda name: "Q8_0")

    def test_mixed_formats(self):
        kinds = {"attn_v": "Q6_K", "ffn_down": "Q6_K", "attn_k": "Q5_0", "token_embd": "Q2_K", "output": "F16"}
        self.check(WIDE, lambda name: kinds.get(name.split(".")[-2], "Q4_K"))

    def test_long_prompt(self):
        sizes = Sizes(context=300, base=1e6)
        weights = models.write(self.path, sizes, lambda name: "Q5_0")
        tokens = np.random.default_rng(3).integers(0, sizes.vocabulary, 300)
        expected = models.evaluate(sizes, weights, tokens)
        for parts in ((300,), (129, 171), (1, 256, 43)):
            generator, done = Generator(self.path, threads=2), 0
            for part in parts:
                logits = generator.read(tokens[done:done + part])
                done += part
                np.testing.assert_allclose(logits, expected[done - 1], rtol=0, atol=5e-5 * np.abs(expected).max())

    def test_weights_are_the_bytes_of_the_file(self):
        self.check(WIDE, lambda name: "Q4_K" if "ffn" in name else "Q8_0")
        generator = Generator(self.path)
        data = np.memmap(self.path, mode="r")
        mapped = generator.file._reader.data
        self.assertEqual(sum(array.nbytes for array in generator.arrays),
                         sum(tensor.n_bytes for tensor in generator.file._reader.tensors))
        for array, tensor in zip(generator.arrays, generator.file._reader.tensors, strict=True):
            self.assertTrue(np.shares_memory(array, mapped))
            np.testing.assert_array_equal(array.reshape(-1).view("u1"),
                                          data[tensor.data_offset:tensor.data_offset + tensor.n_bytes])
        for tokens in (1, None):
            text, constants = lower_file(generator.file, tokens)
            self.assertFalse(constants)
            self.assertLess(len(text), 100_000)

    def test_compile_by_name(self):
        sizes = dataclasses.replace(WIDE, layers=1)
        weights = models.write(self.path, sizes, lambda name: "Q6_K")
        program = compile(self.path, threads=1, shapes={"tokens": (2,)})
        self.assertEqual([each.name for each in program.inputs][:3], ["tokens", "cache.0.keys", "cache.0.values"])
        self.assertEqual(program.inputs[0].shape, (2,))
        arrays = [weight.data for weight in list_weights(File(self.path))]
        empty = np.zeros((0, sizes.groups, sizes.head), "f4")
        logits, keys, _ = program(np.array([5, 6]), empty, empty, *arrays)
        expected = models.evaluate(sizes, weights, [5, 6])[-1]
        np.testing.assert_allclose(logits, expected, rtol=0, atol=2e-5 * np.abs(expected).max())
        self.assertEqual(keys.shape, (2, sizes.groups, sizes.head))
        self.assertEqual(compile(str(self.path), threads=1).inputs[0].shape, (None,))

    def test_command(self):
        sizes = dataclasses.replace(WIDE, layers=1)
        weights = models.write(self.path, sizes, lambda name: "Q4_K" if "ffn" in name else "Q8_0")
        found = subprocess.run([sys.executable, "-m", "layout_mlir.run", self.path, "--tokens=7,0,31", "--new=4",
                                "--repeat=2"], capture_output=True, text=True, check=True).stdout
        made = " ".join(map(str, models.generate(sizes, weights, [7, 0, 31], 4)))
        self.assertRegex(found, rf"\n  tokens +7 0 31 -> {made}\n")
        self.assertRegex(found, r"\n  weights +[0-9.]+ MB in 12 tensors of the mapped file, in F32, Q4_K, Q8_0\n")
        self.assertRegex(found, r"\n  prefill .* tokens/s \(median of 2 runs of 3 tokens\)\n")
        self.assertRegex(found, r"\n  decode .* tokens/s \(median of 6 runs of 1 token\)\n")
        self.assertRegex(found, r"\n  result 0: largest difference .*within 0.0001")


if __name__ == "__main__":
    unittest.main()
