"""Captures the encodings that IREE's data tiling sets and unsets, after they are fused into dispatch regions.

An encoding names the operand of a product that a tensor is tiled for; without one a tensor is `plain`. What depends on
weights only is computed once. Padding to whole tiles is not counted. mlir_function.py says which ops have a choice.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
from importlib import metadata

from iree.compiler import ir

from . import mlir_function
from .capture import Capture, run_capture

# The networks of `./dev bench --peers` that have products. Convolutions are not tiled by default.
MODELS = ("vit_b16", "bert_base", "llama_decode")
TOOLS = pathlib.Path(sys.executable).parent
STEP = "iree-dispatch-creation-fuse-encoding-ops-into-dispatch-regions-pass"
OPTIONS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
           "--iree-llvmcpu-target-cpu=znver4", "--iree-opt-data-tiling", "--compile-to=flow",
           f"--mlir-print-ir-after={STEP}"]


def compile_to_encodings(path):
    """Returns the text of the main function of an ONNX model with its encodings."""
    with tempfile.TemporaryDirectory() as folder:
        module = f"{folder}/module.mlir"
        subprocess.run([TOOLS / "iree-import-onnx", path, "-o", module, "--externalize-params", "--params-scope", "x",
                        "--num-elements-threshold", "16"], check=True, capture_output=True)
        done = subprocess.run([TOOLS / "iree-compile", module, *OPTIONS, "-o", f"{folder}/flow.mlir"], check=True,
                              capture_output=True, text=True)
    functions = [each.partition("\n")[2] for each in done.stderr.split("// -----// IR Dump After ")[1:]]
    return next(each for each in functions if "hal.tensor.import" in each or "hal.buffer_view" in each
                and "flow.dispatch.region" in each)


class Encodings(mlir_function.Function):
    moves, inputs = ("iree_encoding.set_encoding", "iree_encoding.unset_encoding"), ("hal.tensor.import",)

    def __init__(self, name, text):
        self.labels = {}
        globals_of = dict(re.findall(r"util\.global\.load (?:immutable )?(@[\w.$]+) : (tensor<[^>]*>)", text))
        declared = "".join(f"util.global private {name} : {kind}\n" for name, kind in globals_of.items())
        super().__init__(Capture(f"iree {metadata.version('iree-base-compiler')}", name), declared + text)

    def layout(self, value):
        encoding = ir.RankedTensorType(value.type).encoding
        if encoding is None:
            return "plain"
        text = re.sub(r", iteration_sizes = \[[^\]]*\]", "", str(encoding))
        return self.labels.setdefault(text, f"encoding {len(self.labels)}")


if __name__ == "__main__":
    run_capture(MODELS, lambda name, folder: Encodings(name, compile_to_encodings(folder / f"{name}.onnx")).capture)
