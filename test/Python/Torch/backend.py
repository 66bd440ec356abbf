# REQUIRES: torch, python-extension
# RUN: %torch_python %s
"""Checks what the backend "layout" of torch.compile leaves to PyTorch, and that it follows changes of its surroundings.
"""

import ctypes
import gc
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import torch
from torch import nn
from torch.nn import functional as F

from layout_mlir import torch_backend, torch_graphs


def compile(function):
    return torch.compile(function, backend="layout")


def get_resident_bytes():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return os.sysconf("SC_PAGE_SIZE") * int(pathlib.Path("/proc/self/statm").read_text().split()[1])


class Backend(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        torch.manual_seed(0)
        torch.set_num_threads(1)
        no_gradients = torch.inference_mode()
        no_gradients.__enter__()
        self.addCleanup(no_gradients.__exit__, None, None, None)

    def check(self, function, *inputs, rounding=1e-6, warnings=()):
        """Compares the compiled function with `function`. `warnings` are expected in the log, and no others."""
        compiled = compile(function)
        if warnings:
            with self.assertLogs("layout_mlir.torch_backend", logging.WARNING) as logs:
                found = compiled(*inputs)
            self.assertEqual(len(logs.output), len(warnings), logs.output)
            for line, warning in zip(logs.output, warnings):
                self.assertRegex(line, warning)
        else:
            with self.assertNoLogs("layout_mlir.torch_backend", logging.WARNING):
                found = compiled(*inputs)
        for _ in range(2):
            self.compare(function(*inputs), found, rounding)
            found = compiled(*inputs)
        return compiled

    def compare(self, expected, found, rounding=1e-6):
        for a, b in zip(*((each,) if isinstance(each, torch.Tensor) else each for each in (expected, found))):
            self.assertEqual((a.shape, a.dtype, a.stride()), (b.shape, b.dtype, b.stride()))
            torch.testing.assert_close(b, a, rtol=0, atol=rounding * max([1, *a.double().abs().flatten().tolist()]))

    # ------------------------------------------------------------- what stays with PyTorch

    def test_operation_without_lowering(self):
        self.check(lambda x: torch.cummax(x.exp(), 0).values * 2, torch.randn(4, 5), warnings=[
            r"aten\.cummax\.default stays with PyTorch \(1 of 3 operations, [\d.]+ % of the time of the first run\): "
            r"loc\(.*backend\.py\":\d+:\d+\): failed to legalize operation 'torch.operator'"])

    def test_only_operation(self):
        self.check(lambda x: torch.cummax(x, 0).values, torch.randn(4, 5), warnings=["aten.cummax.default stays"])

    def test_random_numbers(self):
        def draw(x):
            return x + torch.rand(3)

        with self.assertLogs("layout_mlir.torch_backend", logging.WARNING) as logs:
            compile(draw)(torch.ones(3))
        self.assertRegex(logs.output[0], "aten.rand.default stays with PyTorch .*random number generator")
        torch.manual_seed(1)
        expected = draw(torch.ones(3))
        torch.manual_seed(1)
        torch.testing.assert_close(compile(draw)(torch.ones(3)), expected)

    def test_gradients(self):
        model = nn.Linear(3, 2)
        compiled = compile(model)
        with torch.inference_mode(False), torch.enable_grad():
            x = torch.ones(1, 3)
            with self.assertLogs("layout_mlir.torch_backend", logging.WARNING) as logs:
                compiled(x).sum().backward()
            self.assertRegex(logs.output[0], "a graph of . operations stays with PyTorch, because it records gradients")
            torch.testing.assert_close(model.weight.grad, torch.ones(2, 3))

    def test_wrong_results(self):
        """A lowering with other results than PyTorch's is found in the first run."""
        def lower(graph, weights):
            lowered = torch_graphs_lower(graph, weights)
            lowered.text = lowered.text.replace("math.tanh", "math.sin")
            return lowered

        torch_graphs_lower = torch_graphs.lower
        with mock.patch.object(torch_graphs, "lower", lower):
            self.check(lambda x: torch.tanh(x + 1) * 2, torch.randn(3, 4), warnings=[
                r"aten\.tanh\.default stays with PyTorch \(1 of 3 .*its results differ from PyTorch's by [\d.]+"])

    def test_view_of_unknown_dims(self):
        """A reshape whose sizes are not proven equal is named without an attempt."""
        x = torch.randn(6, 4)
        torch._dynamo.mark_dynamic(x, 0)
        with mock.patch.object(torch_backend._Graph, "try_part", side_effect=AssertionError):
            self.check(lambda x: x.exp().view(x.shape[0] // 2, 2, 4) * 2, x, warnings=[
                r"aten\.view\.default stays with PyTorch \(1 of 3 .*which dims of .* make those of .* is not known"])

    def test_few_attempts(self):
        """An operation without a lowering is found by halving failing parts, which ends after a limit of time."""
        def function(x):
            for step in range(38):
                x = (x + step).sin() if step % 2 else x.cummax(0).values if step == 10 else x * 0.5
            return x

        def count(**options):
            parts = []
            original = torch_backend._Graph.try_part

            def try_part(graph, operations, known):
                parts.append(len(operations))
                return original(graph, operations, known)

            with mock.patch.object(torch_backend._Graph, "try_part", try_part):
                self.check(function, torch.randn(4, 5), **options)
            return parts

        parts = count(warnings=[r"aten\.cummax\.default stays with PyTorch \(1 of 57 operations"])
        self.assertLessEqual(len(parts), 12, parts)
        torch._dynamo.reset()
        with mock.patch.object(torch_backend, "_SEARCH_SECONDS", 0):
            self.assertEqual(count(warnings=[rf"aten\.{name} stays with PyTorch \({number} of 57 operations" for name, number
                                             in (("mul.Tensor", 18), ("add.Tensor", 19), ("sin.default", 19),
                                                 ("cummax.default", 1))]), [])

    # ----------------------------------------------------------------------------- weights

    def test_changed_weights(self):
        x = torch.randn(1, 3, 8, 8)
        for is_inference in (False, True):
            with self.subTest(is_inference=is_inference), torch.inference_mode(is_inference), torch.no_grad():
                model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())
                compiled = self.check(model, x)
                model[0].weight.mul_(2)
                self.compare(model(x), compiled(x))
                model[0].bias = nn.Parameter(torch.ones(8))
                self.compare(model(x), compiled(x))

    def test_changed_buffer(self):
        class Counter(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("count", torch.zeros(2))

            def forward(self, x):
                self.count.add_(1)
                return x * self.count

        with torch.inference_mode(False), torch.no_grad():
            model = Counter()
            compiled = compile(model)
            for count in (1, 2, 3):
                torch.testing.assert_close(compiled(torch.ones(2)), torch.full((2,), float(count)))
            torch.testing.assert_close(model.count, torch.full((2,), 3.0))

    def test_tied_weights(self):
        words = nn.Embedding(10, 4)
        self.check(lambda tokens: F.linear(words(tokens), words.weight), torch.tensor([[1, 2, 9]]))

    def test_shared_weights(self):
        """A weight that is not packed is read from the memory of the parameter."""
        with torch.inference_mode(False), torch.no_grad():
            words = nn.Embedding(5000, 8)
            tokens = torch.tensor([7, 4999])
            compiled = self.check(words, tokens)
            words.weight.numpy()[7] = 3  # not counted as a change
            torch.testing.assert_close(compiled(tokens)[0], torch.full((8,), 3.0))

    def test_kept_programs(self):
        """Another process loads the program of equal weights, except those that it reads from the parameter."""
        text = """if True:
            import torch
            from layout_mlir import torch_backend
            kept, original = [], torch_backend.compile
            def compile(*args, **options):
                program = original(*args, **options)
                kept.append(program.kept)
                return program
            torch_backend.compile = compile
            torch.manual_seed(0)
            model = torch.nn.Sequential(torch.nn.Embedding(5000, 8), torch.nn.Linear(8, 300))
            tokens = torch.tensor([7, 4999])
            with torch.no_grad():
                torch.testing.assert_close(torch.compile(model, backend="layout")(tokens), model(tokens))
            print(kept)"""
        with tempfile.TemporaryDirectory() as folder:
            def run():
                return subprocess.run([sys.executable, "-c", text], check=True, text=True, stdout=subprocess.PIPE,
                                      env={**os.environ, "LAYOUT_CACHE": folder}).stdout.strip()

            self.assertEqual([run(), run()], ["[False]", "[True]"])
            # The program and its code, neither with the embedding.
            sizes = [path.stat().st_size for path in pathlib.Path(folder).glob("llvmcache-*")]
            self.assertEqual((len(sizes), max(sizes) < 5000 * 8 * 4), (2, True))

    def test_copies_of_weights(self):
        """A packed weight is the only copy beside the parameter. The first model leaves free memory to the second."""
        kept = []

        def grow():
            kept.append(nn.Conv2d(1024, 512, 3))
            before, compiled = get_resident_bytes(), compile(kept[-1])
            compiled(torch.ones(1, 1024, 5, 5))
            kept.append(compiled)
            return get_resident_bytes() - before

        with torch.inference_mode(False), torch.no_grad():
            grow()
            self.assertLess(grow(), 1.5 * kept[0].weight.nbytes)

    # ------------------------------------------------------------------- threads and types

    def test_threads(self):
        model, x = nn.Linear(64, 64), torch.randn(300, 64)
        compiled = self.check(model, x)
        built = []
        original = torch_backend.compile

        def compile_counted(module, *, threads, **options):
            built.append(threads)
            return original(module, threads=threads, **options)

        with mock.patch.object(torch_backend, "compile", compile_counted):
            compiled(x)
            torch.set_num_threads(2)
            self.compare(model(x), compiled(x))
            compiled(x)
        self.assertEqual(built, [2])

    def test_types(self):
        for dtype, rounding in ((torch.float64, 1e-12), (torch.float16, 4e-3), (torch.bfloat16, 3e-2)):
            with self.subTest(dtype=dtype):
                self.check(lambda x, y: x @ y + 1, torch.randn(3, 4, dtype=dtype), torch.randn(4, 5, dtype=dtype),
                           rounding=rounding)
        for dtype in (torch.int64, torch.int32, torch.uint8, torch.bool):
            with self.subTest(dtype=dtype):
                x = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype)
                self.check(lambda x: (x.flip(0), x == 1), x)

    def test_strides(self):
        x = torch.randn(2, 3, 4, 5)
        self.check(lambda x: (x.relu().transpose(1, 2), x + 1), x.to(memory_format=torch.channels_last))
        self.check(lambda x: x.exp(), x[:, :, ::2, 1:])

    def test_sizes_as_values(self):
        x = torch.randn(4, 6)
        torch._dynamo.mark_dynamic(x, 0)
        compiled = self.check(lambda x: (x * x.shape[0]).sum(0) + torch.arange(6), x)
        x = torch.randn(7, 6)
        with torch.compiler.set_stance("fail_on_recompile"):
            self.compare((x * 7).sum(0) + torch.arange(6), compiled(x))

    def test_floats(self):
        """A dynamic float is used as such, wherever it is computed."""
        function = torch.compile(lambda x, y: x * y + 1, backend="layout", dynamic=True)
        for number in (0.5, 1.25, 3.75):
            torch.testing.assert_close(function(torch.ones(3), number), torch.full((3,), number + 1))

    def test_empty_and_scalar(self):
        self.check(lambda x: (x.sum(), x[:0]), torch.randn(3, 2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
