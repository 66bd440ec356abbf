"""usage: models.py MODEL..

Compares models compiled by the backend "layout" of torch.compile with PyTorch, also for a dynamic batch size.
"""

import logging
import sys
import unittest

import torch

import layout_mlir.torch_backend  # noqa: F401  # registers the backend
import torch_models


def compare(test, model, compiled, inputs):
    expected, found = model(*inputs), compiled(*inputs)
    for a, b in zip(*((each,) if isinstance(each, torch.Tensor) else each for each in (expected, found))):
        test.assertEqual((a.shape, a.dtype, a.stride()), (b.shape, b.dtype, b.stride()))
        test.assertLess((a - b).abs().max().item(), 1e-5 * a.abs().max().item())


class Models(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        torch.set_num_threads(1)

    def check(self, name, is_dynamic):
        model, inputs = torch_models.build(name, small=True), torch_models.draw_inputs(name, small=True, batch=2)
        if is_dynamic:
            for each in inputs:
                torch._dynamo.mark_dynamic(each, 0)
        compiled = torch.compile(model, backend="layout")
        # An operation that stays with PyTorch would be a warning.
        with torch.inference_mode(), self.assertNoLogs("layout_mlir.torch_backend", logging.WARNING):
            compare(self, model, compiled, inputs)
            compare(self, model, compiled, torch_models.draw_inputs(name, small=True, batch=2))
            if is_dynamic:
                with torch.compiler.set_stance("fail_on_recompile"):
                    for batch in (3, 5):
                        compare(self, model, compiled, torch_models.draw_inputs(name, small=True, batch=batch))


if __name__ == "__main__":
    for _name in sys.argv[1:]:
        setattr(Models, f"test_{_name}", lambda self, name=_name: self.check(name, False))
        setattr(Models, f"test_{_name}_dynamic", lambda self, name=_name: self.check(name, True))
    unittest.main(argv=sys.argv[:1])
