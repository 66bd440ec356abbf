# REQUIRES: python-extension, gguf
# RUN: %python %s
"""Checks that GGUF files which are damaged, or which state a network that is not imported, are errors that name the key
or the tensor: by compile, by the command, and for random damage."""

import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import gguf
import numpy as np
from layout_mlir import LayoutError, compile
from layout_mlir.gguf_import import File, Generator
from layout_mlir.gguf_import.parameters import read_parameters
from layout_mlir.onnx_import.errors import ImportFailed

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Inputs"))

import gguf_models as models  # noqa: E402
from gguf_models import Sizes  # noqa: E402

SIZES = Sizes(layers=1)
Q = "blk.0.attn_q.weight"


def with_key(add, key, *value, skipped=()):
    """Returns a function that writes a model with one more or another key."""
    def write(path):
        writer = models.make_writer(path, SIZES, skipped=skipped or (key.removeprefix("llama."),))
        getattr(writer, f"add_{add}")(key, *value)
        models.finish(writer, models.make_tensors(SIZES, lambda name: "Q8_0"))
    return write


def without_key(key):
    return lambda path: models.finish(models.make_writer(path, SIZES, skipped=(key,)),
                                      models.make_tensors(SIZES, lambda name: "Q8_0"))


def with_tensors(change):
    """Returns a function that writes a model whose tensors `change` has changed."""
    def write(path):
        tensors = models.make_tensors(SIZES, lambda name: "Q8_0")
        change(tensors)
        models.finish(models.make_writer(path, SIZES), tensors)
    return write


def with_bytes(change):
    """Returns a function that writes a model whose bytes `change` has changed."""
    def write(path):
        models.write(path, SIZES, lambda name: "Q8_0")
        path.write_bytes(change(bytearray(path.read_bytes())))
    return write


def replaced(start, new):
    return with_bytes(lambda data: data[:start] + new + data[start + len(new):])


def at_tensor(number, field, value):
    """Replaces the kind (-2) or the offset (-1) in the header of a tensor."""
    def write(path):
        models.write(path, SIZES, lambda name: "Q8_0")
        part = gguf.GGUFReader(path).tensors[number].field.parts[field]
        data = np.memmap(path, mode="r+")
        begin = part.__array_interface__["data"][0] - gguf_start(part)
        data[begin:begin + part.nbytes] = np.frombuffer(part.dtype.type(value).tobytes(), np.uint8)
        data.flush()
    return write


def gguf_start(part):
    """Returns the address of the mapped file that an array views."""
    while isinstance(part.base, np.ndarray):
        part = part.base
    return part.__array_interface__["data"][0]


def big_endian(path):
    writer = gguf.GGUFWriter(path, "llama", False, gguf.GGUFEndian.BIG)
    models.finish(writer, {})


def other_architecture(path):
    models.finish(gguf.GGUFWriter(path, "falcon"), {})


def drop(name):
    return lambda tensors: tensors.pop(name)


def put(name, kind, shape):
    values = np.ones(shape, "f4")
    return lambda tensors: tensors.update({name: (gguf.quantize(values, models.KINDS[kind]), kind)})


HOSTILE = {
    "empty": (lambda path: path.write_bytes(b""), "cannot be read as GGUF"),
    "only the magic": (lambda path: path.write_bytes(b"GGUF"), "cannot be read as GGUF"),
    "text": (lambda path: path.write_text("module {}" * 40), "cannot be read as GGUF: .*magic"),
    "cut in the header": (with_bytes(lambda data: data[:len(data) // 30]), "cannot be read as GGUF"),
    "cut in the tensors": (with_bytes(lambda data: data[:-100]), "cannot be read as GGUF"),
    "version 1": (replaced(4, b"\1\0\0\0"), "version 1"),
    "version 9": (replaced(4, b"\x09\0\0\0"), "version 9"),
    "more tensors than there are": (replaced(8, b"\xff" * 7 + b"\x0f"), "cannot be read as GGUF"),
    "more keys than there are": (replaced(16, b"\xff" * 7 + b"\x0f"), "cannot be read as GGUF"),
    "big-endian": (big_endian, "is big-endian: convert it"),
    "architecture": (other_architecture, "'general.architecture' is 'falcon': .* llama, qwen2"),
    "no layers": (with_key("uint32", "llama.block_count", 0), "'llama.block_count' must be a positive number"),
    "too many layers": (with_key("uint32", "llama.block_count", 1 << 30), "'llama.block_count' is 1073741824, more than"),
    "fewer layers than tensors": (with_key("uint32", "llama.block_count", 2), "no tensor 'blk.1.attn_norm.weight'"),
    "a number as text": (with_key("string", "llama.block_count", "1"), "'llama.block_count' must be one int, not 1"),
    "no epsilon": (without_key("attention.layer_norm_rms_epsilon"),
                   "no key 'llama.attention.layer_norm_rms_epsilon'"),
    "NaN as epsilon": (with_key("float32", "llama.attention.layer_norm_rms_epsilon", float("nan")), "positive number, not nan"),
    "no context": (without_key("context_length"), "no key 'llama.context_length'"),
    "groups": (with_key("uint32", "llama.attention.head_count_kv", 3), "'llama.attention.head_count_kv' is 3, which does not"),
    "groups by layer": (with_key("array", "llama.attention.head_count_kv", [2, 4]), "must be one int, not .2, 4."),
    "odd rotation": (with_key("uint32", "llama.rope.dimension_count", 7), "must be even and at most 16"),
    "long rotation": (with_key("uint32", "llama.rope.dimension_count", 32), "must be even and at most 16"),
    "scaling": (with_key("string", "llama.rope.scaling.type", "yarn"), "'llama.rope.scaling.type' is 'yarn'"),
    "experts": (with_key("uint32", "llama.expert_count", 8), "key 'llama.expert_count' is not imported"),
    "split": (with_key("uint16", "split.count", 3), "one part of a split model"),
    "vocabulary": (with_key("uint32", "llama.vocab_size", 60), "'token_embd.weight' has the shape .61, 64., not .60, 64."),
    "no embedding": (with_tensors(drop("token_embd.weight")), "no tensor 'token_embd.weight'"),
    "no product": (with_tensors(drop(Q)), f"no tensor '{Q}'"),
    "another tensor": (with_tensors(put("blk.0.attn_q_norm.weight", "F32", (16,))), "'blk.0.attn_q_norm.weight' is not imported"),
    "a layer too many": (with_tensors(put("blk.1.attn_q.weight", "Q8_0", (64, 64))), "is not one of 1 layers"),
    "wrong shape": (with_tensors(put(Q, "Q8_0", (64, 96))), f"'{Q}' has the shape .64, 96., not .64, 64."),
    "a vector for a matrix": (with_tensors(put(Q, "F32", (64,))), f"'{Q}' has the shape .64., not .64, 64."),
    "a norm in F16": (with_tensors(put("output_norm.weight", "F16", (64,))), "'output_norm.weight' must be in F32"),
    "frequencies": (with_tensors(put("rope_freqs.weight", "F32", (9,))), "'rope_freqs.weight' must be 8 positive numbers"),
    "an IQ format": (at_tensor(0, -2, models.KINDS.IQ4_NL), "has the format IQ4_NL: the formats that are imported are F32"),
    "no format": (at_tensor(0, -2, 255), "cannot be read as GGUF: .*255"),
    "before the tensors": (at_tensor(0, -1, (1 << 64) - 64), "are not where the file says"),
    "behind the file": (at_tensor(0, -1, 1 << 40), "cannot be read as GGUF"),
    "shared bytes": (at_tensor(1, -1, 0), "share bytes of the file"),
}


class Refusals(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "model.gguf")

    def run_command(self, *arguments):
        return subprocess.run([sys.executable, "-m", "layout_mlir.run", self.path, *arguments], capture_output=True, text=True)

    def test_files(self):
        for name, (write, message) in HOSTILE.items():
            with self.subTest(name):
                write(self.path)
                with self.assertRaisesRegex(LayoutError, message):
                    compile(self.path)

    def test_command(self):
        for name in ("cut in the tensors", "architecture", "an IQ format"):
            with self.subTest(name):
                HOSTILE[name][0](self.path)
                found = self.run_command()
                self.assertEqual(found.returncode, 1)
                self.assertRegex(found.stderr, rf"\nerror: .*{HOSTILE[name][1]}")
                self.assertNotIn("Traceback", found.stderr)
        models.write(self.path, SIZES, lambda name: "Q8_0")
        for options, message in (("--tokens=1,61", "token 61 is not in the vocabulary"),
                                 ("--tokens=-1", "token -1 is not in the vocabulary"),
                                 ("--new=65", "the context of 64 tokens is full"),
                                 ("--shape=tokens=3", "takes a prompt with --tokens"),
                                 ("--device=npu", "needs --device cpu")):
            with self.subTest(options):
                found = self.run_command(options)
                self.assertEqual(found.returncode, 1, found.stderr)
                self.assertIn(message, found.stderr)
                self.assertNotIn("Traceback", found.stderr)

    def test_tokens(self):
        models.write(self.path, SIZES, lambda name: "Q8_0")
        generator = Generator(self.path, threads=1)
        for tokens, message in (([], "no tokens"), ([61], "token 61"), ([3, -1], "token -1"), ([1.5], "token 1.5"),
                                ([10 ** 30], "is not in the vocabulary"), ([1] * 65, "context of 64 tokens is full")):
            with self.subTest(tokens=tokens[:2]), self.assertRaisesRegex(ImportFailed, message):
                generator.read(tokens)
        generator.read([1] * 63)
        generator.read([1])
        with self.assertRaisesRegex(ImportFailed, "64 are read"):
            generator.read([1])
        # The program checks tokens, too, and that all caches have the same number of rows.
        program = generator.compile(1)
        caches = [np.zeros((3, 2, 16), "f4")] * 2
        with self.assertRaisesRegex(LayoutError, "a token is not below 61"):
            program(np.array([61]), *caches, *generator.arrays)
        with self.assertRaisesRegex(LayoutError, "all caches must have the same number of rows"):
            program(np.array([6]), caches[0], caches[1][:2], *generator.arrays)
        with self.assertRaisesRegex(LayoutError, "there are no tokens"):
            generator.compile(None)(np.zeros(0, "i8"), *caches, *generator.arrays)
        for shapes, message in (({"tokens": (0,)}, "one positive size"), ({"cache.0.keys": (3,)}, "only that of 'tokens'")):
            with self.assertRaisesRegex(LayoutError, message):
                compile(self.path, shapes=shapes)

    def test_random_damage(self):
        models.write(self.path, SIZES, lambda name: "Q8_0")
        data, header = self.path.read_bytes(), gguf.GGUFReader(self.path).data_offset
        rng = np.random.default_rng(5)
        refused = 0
        for _ in range(400):
            damaged = bytearray(data)
            for at in rng.integers(0, header, rng.integers(1, 4)):
                damaged[at] = rng.integers(0, 256)
            if rng.random() < 0.2:
                damaged = damaged[:rng.integers(0, len(damaged))]
            self.path.write_bytes(damaged)
            try:
                read_parameters(File(self.path))
            except ImportFailed:
                refused += 1
        self.assertGreater(refused, 100)

    def test_missing_package(self):
        models.write(self.path, SIZES, lambda name: "Q8_0")
        with mock.patch.dict(sys.modules, {"gguf": None}), self.assertRaisesRegex(LayoutError, "pip install gguf"):
            compile(self.path)


if __name__ == "__main__":
    unittest.main()
