"""Captures the encodings that IREE's data tiling sets and unsets, after they are fused into dispatch regions.

An encoding names the operand of a product that a tensor is tiled for; without one a tensor is `plain`. Generic ops that
compute each element from the same element of their operands run in any encoding; products and all others keep what
IREE has chosen. What depends on weights only is computed once, and left out. Padding to whole tiles is not counted.
"""

import math
import pathlib
import re
import subprocess
import sys
import tempfile
from importlib import metadata

from iree.compiler import ir

from .capture import Capture, run_capture

# The networks of `./dev bench --peers` that have products. Convolutions are not tiled by default.
MODELS = ("vit_b16", "bert_base", "llama_decode")
TOOLS = pathlib.Path(sys.executable).parent
STEP = "iree-dispatch-creation-fuse-encoding-ops-into-dispatch-regions-pass"
OPTIONS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
           "--iree-llvmcpu-target-cpu=znver4", "--iree-opt-data-tiling", "--compile-to=flow",
           f"--mlir-print-ir-after={STEP}"]
MOVES = ("iree_encoding.set_encoding", "iree_encoding.unset_encoding")
BITS = re.compile(r"\d+")


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


class Function:
    def __init__(self, name, text):
        self.capture = Capture(f"iree {metadata.version('iree-base-compiler')}", name)
        self.moved, self.known, self.labels = {}, {}, {}
        globals_of = dict(re.findall(r"util\.global\.load (?:immutable )?(@[\w.$]+) : (tensor<[^>]*>)", text))
        declared = "".join(f"util.global private {name} : {kind}\n" for name, kind in globals_of.items())
        with ir.Context() as context:
            context.allow_unregistered_dialects = True
            module = ir.Module.parse(declared + text)
            ops = []
            self.list_ops(module.operation, ops)
            self.encodings = {}
            for op in ops:
                for value in op.results:
                    if isinstance(value.type, ir.RankedTensorType):
                        self.encodings.setdefault(self.shape(value), {"plain": None})[self.layout(value)] = None
            for op in ops:
                self.add(op)

    def list_ops(self, parent, ops):
        """Appends the ops inside functions and dispatch regions, in order."""
        for region in parent.regions:
            for block in region:
                for each in block:
                    op = each.operation
                    if op.name in ("util.func", "flow.dispatch.region"):
                        self.list_ops(op, ops)
                    if op.name == "flow.dispatch.region":
                        returned = [*op.regions[0].blocks[0].operations][-1].operation.operands
                        self.moved.update(zip(map(self.name, op.results), map(self.name, returned)))
                    elif op.name not in ("util.func", "flow.return"):
                        ops.append(op)

    def name(self, value):
        return str(value.get_name(use_local_scope=False)) + f"@{hash(value)}"

    def shape(self, value):
        return tuple(ir.RankedTensorType(value.type).shape)

    def layout(self, value):
        encoding = ir.RankedTensorType(value.type).encoding
        if encoding is None:
            return "plain"
        text = re.sub(r", iteration_sizes = \[[^\]]*\]", "", str(encoding))
        return self.labels.setdefault(text, f"encoding {len(self.labels)}")

    def root(self, name):
        while name in self.moved:
            name = self.moved[name]
        return name

    def add(self, op):
        is_input = op.name == "hal.tensor.import"
        tensors = [each for each in op.operands if isinstance(each.type, ir.RankedTensorType)]
        operands = [each for each in tensors if self.root(self.name(each)) in self.known]
        results = [each for each in op.results if isinstance(each.type, ir.RankedTensorType)]
        if not operands and not is_input:
            return
        if op.name in MOVES:
            self.moved[self.name(results[0])] = self.name(operands[0])
            return
        for value in results:
            kind = ir.RankedTensorType(value.type)
            size = math.prod(kind.shape) * max(1, int(BITS.search(str(kind.element_type))[0]) // 8)
            self.known[self.name(value)] = self.shape(value)
            self.capture.add_tensor(self.name(value), dict.fromkeys(self.encodings[self.shape(value)], size))
        chosen = [self.layout(each) for each in (*operands, *results)]
        ends = [self.root(self.name(each)) for each in operands], [self.name(each) for each in results]
        if self.is_elementwise(op, operands, results) and len(set(chosen)) == 1:
            self.capture.add_uniform(op.name, *ends, self.encodings[self.shape(results[0])], chosen[0])
        else:
            self.capture.add_pinned(op.name, *ends, chosen)

    def is_elementwise(self, op, operands, results):
        """Returns true if all tensors that are not constant have one shape, and their maps are identities."""
        if op.name != "linalg.generic" or "reduction" in str(op.attributes["iterator_types"]):
            return False
        maps = [each.value for each in ir.ArrayAttr(op.attributes["indexing_maps"])]
        used = [each for value, each in zip(op.operands, maps) if self.root(self.name(value)) in self.known]
        identity = ir.AffineMap.get_identity(len(self.shape(results[0])), op.context)
        return all(each == identity for each in (*used, maps[-1])) and len(results) == 1 and \
            len({self.shape(each) for each in (*operands, *results)}) == 1


if __name__ == "__main__":
    run_capture(MODELS, lambda name, folder: Function(name, compile_to_encodings(folder / f"{name}.onnx")).capture)
