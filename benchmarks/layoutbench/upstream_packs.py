"""Captures the linalg.pack and linalg.unpack ops that upstream's propagation of data layouts leaves.

torch-mlir writes the models; a transform script packs the channels of each convolution in blocks of 16, as upstream's
tests do, and the pass `test-linalg-data-layout-propagation` of mlir-opt 22 moves the packs. A blocked tensor has a dim
of 16 more. mlir_function.py says which ops have a choice; `tensor.pad`, over which upstream's pass also moves packs,
keeps that of mlir-opt. The models are the small ones of examples/torch_models.py.
"""

import subprocess
import sys

from iree.compiler import ir

from . import mlir_function
from .capture import Capture, run_capture

BLOCK = 16
MODELS = ("resnet50", "mobilenet_v3", "efficientnet_b0")
OPTIONS = ["--transform-interpreter", "--test-linalg-data-layout-propagation", "--canonicalize", "--cse"]
SCRIPT = """module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["linalg.conv_2d_nchw_fchw"]} in %module
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %all : !transform.any_op {
    ^bb0(%conv: !transform.any_op):
      %packed = transform.structured.pack %conv packed_sizes = [0, 16, 0, 0, 16, 0, 0]
          : (!transform.any_op) -> (!transform.op<"linalg.generic">)
    }
    transform.yield
  }
"""


def write_model(name, models, dialect):
    """Returns a model in an output type of torch-mlir, without the data of its weights."""
    sys.path.insert(0, str(models))
    import torch_models
    from torch_mlir import fx

    module = fx.export_and_import(torch_models.build(name, small=True), *torch_models.draw_inputs(name, small=True),
                                  output_type=dialect)
    return module.operation.get_asm(large_elements_limit=16)


def propagate(text):
    """Returns the module after the packs of all convolutions were propagated."""
    aliases, _, body = text.partition("module {")
    done = subprocess.run(["mlir-opt-22", *OPTIONS], input=aliases + SCRIPT + body, check=True, capture_output=True,
                          text=True)
    return done.stdout


class Packs(mlir_function.Function):
    moves = ("linalg.pack", "linalg.unpack")

    def layout(self, value):
        shape = ir.RankedTensorType(value.type).shape
        return "blocked" if len(shape) == 5 and shape[-1] == BLOCK else "plain"

    def shape(self, value):
        shape = tuple(ir.RankedTensorType(value.type).shape)
        return (shape[0], shape[1] * BLOCK, *shape[2:4]) if self.layout(value) == "blocked" else shape


def capture(name, models):
    version = subprocess.run(["mlir-opt-22", "--version"], check=True, capture_output=True, text=True).stdout
    number = version.partition("LLVM version ")[2].split()[0]
    return Packs(Capture(f"mlir {number}", name), propagate(write_model(name, models, "linalg-on-tensors"))).capture


if __name__ == "__main__":
    run_capture(MODELS, capture)
