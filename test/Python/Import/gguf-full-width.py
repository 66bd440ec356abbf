# REQUIRES: python-extension, gguf
# RUN: %python %s
"""Checks two layers of a language model at the full width of TinyLlama 1.1B, in the mix of formats that files of Q4_K_M
have: generated tokens are numpy's, and running the model needs no copy of the weights."""

import pathlib
import re
import sys
import tempfile
import unittest

import numpy as np
from layout_mlir.gguf_import import Generator

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Inputs"))

import gguf_models as models  # noqa: E402

SIZES = models.Sizes(width=2048, hidden=5632, heads=32, groups=4, head=64, value=64, rotated=64, vocabulary=2000,
                     context=2048)
KINDS = {"token_embd": "Q4_0", "output": "Q6_K", "attn_v": "Q6_K", "ffn_down": "Q6_K", "attn_k": "Q4_0"}
TOKENS = [1, 1907, 5, 731, 731, 88, 1203]


def read_memory():
    """Returns the bytes of memory of this process that no file backs."""
    return 1024 * int(re.search(r"RssAnon:\s*(\d+)", pathlib.Path("/proc/self/status").read_text())[1])


class FullWidth(unittest.TestCase):
    def test_tokens_and_memory(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.gguf")
            weights = models.write(path, SIZES, lambda name: KINDS.get(name.split(".")[-2], "Q4_K"))
            generator = Generator(path)
            self.check_memory(generator)
            expected = models.evaluate(SIZES, weights, TOKENS)
            for count in (1, 7):
                generator.reset()
                np.testing.assert_allclose(generator.read(TOKENS[:count]), expected[count - 1], rtol=0,
                                           atol=2e-5 * np.abs(expected).max())
            generator.reset()
            self.assertEqual(generator.generate(TOKENS, 6), models.generate(SIZES, weights, TOKENS, 6))

    def check_memory(self, generator):
        """Checks that reading tokens one by one needs little memory beside the mapped file: no decoded weight."""
        generator.compile(1)
        before, stored = read_memory(), sum(array.nbytes for array in generator.arrays)
        for token in TOKENS:
            generator.read([token])
        self.assertEqual(stored, sum(tensor.n_bytes for tensor in generator.file._reader.tensors))
        self.assertLess(read_memory() - before, 0.05 * stored)


if __name__ == "__main__":
    unittest.main()
