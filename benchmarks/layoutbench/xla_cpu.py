"""Captures the copies and transpositions that XLA leaves in its optimized programs for the CPU.

torch-mlir writes the models as StableHLO, with weights as arguments; jaxlib compiles them. Fusions that only copy or
transpose are conversions. Other fusions of kind kLoop, and ops in LOOPS, are loops; convolutions, products and other
fusions are library calls (storage_copies.py). What depends on weights only is left out. The models are the small ones
of examples/torch_models.py, but for swin_t, which torch-mlir does not write as StableHLO.
"""

import math
import re
from importlib import metadata

import jax
from jaxlib import xla_client

from .capture import Capture, run_capture
from .storage_copies import Program, regroup
from .upstream_packs import write_model

MODELS = ("resnet50", "mobilenet_v3", "efficientnet_b0", "vit_b16", "bert_base", "llama")
WEIGHT = re.compile(r"^ *%(\w+) = (?:stablehlo|arith)\.constant dense_resource<[^>]*> : (tensor<[^>]*>).*\n", re.M)
OP = re.compile(r"(?:ROOT )?%(?P<name>[\w.-]+) = (?P<type>\(.*?\)|\S+) (?P<kind>[\w-]+)\((?P<operands>.*?)\)")
TYPE = re.compile(r"(?P<element>[a-z]+\d*)\[(?P<shape>[\d,]*)\](?:\{(?P<layout>[\d,]*)[^}]*\})?")
COPIES = {"parameter", "copy", "transpose", "bitcast", "reshape"}
LOOPS = {"broadcast", "concatenate", "slice", "pad", "reduce", "select", "gather", "dynamic-slice", "iota", "convert",
         "reduce-window", "copy", "transpose"}


def compile_model(name, models):
    """Returns the optimized program of a model, and the number of its inputs."""
    text = write_model(name, models, "stablehlo").partition("{-#")[0]
    weights = WEIGHT.findall(text)
    text = re.sub(rf"%({'|'.join(number for number, _ in weights)})\b", r"%weight\1", WEIGHT.sub("", text))
    head, arrow, rest = text.partition(") -> ")
    arguments = "".join(f", %weight{number}: {kind}" for number, kind in weights)
    devices = jax.devices("cpu")[:1]
    program = devices[0].client.compile_and_load(head + arguments + arrow + rest, xla_client.DeviceList(tuple(devices)),
                                                 xla_client.CompileOptions())
    return program.hlo_modules()[0].to_string(), head.count("%arg")


class Type:
    def __init__(self, text):
        found = TYPE.match(text)
        bits = re.search(r"\d+", found["element"])
        self.element = int(bits[0]) // 8 if bits else 1
        self.shape = [int(size) for size in found["shape"].split(",") if size]
        # Dims from the outermost one in memory to the innermost one.
        self.order = [int(dim) for dim in reversed((found["layout"] or "").split(",")) if dim]
        self.count = math.prod(self.shape)

    def split(self, digits):
        """Returns the digits of each dim of a value that is stored in this type, or None."""
        groups = regroup(digits, [self.shape[dim] for dim in self.order])
        return groups and [groups[self.order.index(dim)] for dim in range(len(self.shape))]

    def join(self, groups):
        """Returns the digits of each dim in the order of memory."""
        return [groups[dim] for dim in self.order]


class Op:
    def __init__(self, line):
        found = OP.match(line)
        self.name, self.kind, self.text = found["name"], found["kind"], line
        self.type = None if found["type"].startswith("(") else Type(found["type"])
        self.operands = re.findall(r"%([\w.-]+)", found["operands"])
        self.number = int(found["operands"]) if self.kind == "parameter" else None

    def get_list(self, key):
        return [int(each) for each in re.search(rf"{key}={{([\d,]*)}}", self.text)[1].split(",")]

    def get_callee(self):
        return re.search(r"calls=%([\w.-]+)", self.text)[1]


def parse(text):
    """Returns {computation: ops}, and the ops of the program."""
    computations, ops = {}, None
    for line in text.splitlines():
        if line.endswith("{") and " -> " in line:
            ops = computations.setdefault("ENTRY" if line.startswith("ENTRY") else line.split()[0].lstrip("%"), [])
        elif OP.match(line.strip()):
            ops.append(Op(line.strip()))
    return computations


class Network:
    def __init__(self, name, models):
        text, inputs = compile_model(name, models)
        self.computations = parse(text)
        self.program = Program(Capture(f"xla {metadata.version('jaxlib')}", name))
        self.tuples = {}
        for op in self.computations["ENTRY"]:
            if op.kind == "parameter":
                if op.number < inputs:
                    self.program.add_input(op.name, op.type.count, op.type.element)
            else:
                self.add(op)
        last = self.computations["ENTRY"][-1]
        for each in last.operands if last.kind == "tuple" else [last.name]:
            self.program.add_output(each)

    def add(self, op):
        copied = self.find_copy(op)
        if copied:
            self.program.add_copy(op.name, op.operands[0], copied)
        elif op.type is None:
            self.tuples[op.name] = op
        elif op.kind == "get-tuple-element":
            made = self.tuples[op.operands[0]]
            self.program.add_op(op.name, made.operands, op.type.count, op.type.element, self.is_loop(made))
        else:
            self.program.add_op(op.name, op.operands, op.type.count, op.type.element, self.is_loop(op))

    def is_loop(self, op):
        return op.kind in LOOPS or op.kind == "fusion" and "kind=kLoop" in op.text

    def find_copy(self, op):
        """Returns the groups of digits of a copy in the order of memory, or None."""
        digits = self.program.get_digits(op.operands[0]) if op.operands else None
        if digits is None or op.type is None:
            return None
        if op.kind == "bitcast":
            return [digits]
        body = self.computations[op.get_callee()] if op.kind == "fusion" else [op]
        if len(op.operands) > 1 or not COPIES.issuperset(each.kind for each in body):
            return None
        source = next(each for each in self.computations["ENTRY"] if each.name == op.operands[0])
        groups = {source.name: source.type.split(digits)}
        types = {source.name: source.type}
        for each in body:
            operand = source.name if each.kind == "parameter" else each.operands[0]
            groups[each.name], types[each.name] = self.follow(each, groups[operand], types[operand]), each.type
        made = groups[body[-1].name]
        return made and body[-1].type.join(made)

    def follow(self, op, groups, source):
        """Returns the digits of each dim of the result of an op of COPIES, or None."""
        if groups is None or op.kind in ("parameter", "copy"):
            return groups
        if op.kind == "transpose":
            return [groups[dim] for dim in op.get_list("dimensions")]
        if op.kind == "reshape":
            return regroup([digit for group in groups for digit in group], op.type.shape)
        return op.type.split([digit for group in source.join(groups) for digit in group])


if __name__ == "__main__":
    run_capture(MODELS, lambda name, models: Network(name, models).program.write())
