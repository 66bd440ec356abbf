"""Captures the tensors of a function in MLIR, read by the bindings of IREE's compiler, whose dialects include upstream's.

A subclass says which ops are conversions, and the layout of a value; the result of a conversion is the same tensor as
its operand. Generic ops that compute each element from the same element of their operands run in every layout that a
value of their shape has; all other ops keep what the compiler has chosen. What depends on no argument is constant, and
left out.
"""

import math
import re

from iree.compiler import ir

BITS = re.compile(r"\d+")


class Function:
    moves, inputs = (), ()  # the names of ops that are conversions, and of those whose results are arguments

    def __init__(self, capture, text):
        self.capture, self.moved, self.known, self.layouts = capture, {}, set(), {}
        with ir.Context() as context:
            context.allow_unregistered_dialects = True
            module, self.ops, arguments = ir.Module.parse(text), [], []
            self.list_ops(module.operation, arguments)
            for value in filter(self.is_tensor, [*arguments, *(value for op in self.ops for value in op.results)]):
                self.layouts.setdefault(self.shape(value), {"plain": None})[self.layout(value)] = None
            for op in self.ops:
                if op.name in self.moves:  # padding changes the shape
                    source, result = op.operands[0], op.results[0]
                    self.layouts[self.shape(source)][self.layout(result)] = None
                    self.layouts[self.shape(result)][self.layout(source)] = None
            for value in filter(self.is_tensor, arguments):
                self.add_tensor(value)
                self.capture.add_pinned("argument", [], [self.name(value)], [self.layout(value)])
            for op in self.ops:
                self.add(op)

    def list_ops(self, parent, arguments):
        """Appends the ops in functions and dispatch regions to `ops`, in order."""
        for region in parent.regions:
            for block in region:
                for op in (each.operation for each in block):
                    if op.name in ("util.func", "func.func", "flow.dispatch.region"):
                        if op.name == "func.func":
                            arguments.extend(op.regions[0].blocks[0].arguments)
                        self.list_ops(op, arguments)
                    if op.name == "flow.dispatch.region":
                        returned = [*op.regions[0].blocks[0].operations][-1].operation.operands
                        self.moved.update(zip(map(self.name, op.results), map(self.name, returned)))
                    elif op.name not in ("util.func", "func.func", "flow.return"):
                        self.ops.append(op)

    def is_tensor(self, value):
        return isinstance(value.type, ir.RankedTensorType)

    def name(self, value):
        return f"{value.get_name(use_local_scope=False)}@{hash(value)}"

    def shape(self, value):
        """Returns the shape of a value in the plain layout."""
        return tuple(ir.RankedTensorType(value.type).shape)

    def layout(self, value):
        raise NotImplementedError

    def root(self, value):
        name = self.name(value)
        while name in self.moved:
            name = self.moved[name]
        return name

    def add_tensor(self, value):
        kind = ir.RankedTensorType(value.type)
        size = math.prod(kind.shape) * max(1, int(BITS.search(str(kind.element_type))[0]) // 8)
        self.known.add(self.name(value))
        self.capture.add_tensor(self.name(value), dict.fromkeys(self.layouts[self.shape(value)], size))

    def add(self, op):
        operands = [each for each in op.operands if self.is_tensor(each) and self.root(each) in self.known]
        results = [each for each in op.results if self.is_tensor(each)]
        if not operands and op.name not in self.inputs:
            return
        if op.name in self.moves:
            self.moved[self.name(results[0])] = self.name(operands[0])
            return
        for value in results:
            self.add_tensor(value)
        chosen = [self.layout(each) for each in (*operands, *results)]
        ends = [self.root(each) for each in operands], [self.name(each) for each in results]
        if self.is_elementwise(op, operands, results) and len(set(chosen)) == 1:
            self.capture.add_uniform(op.name, *ends, self.layouts[self.shape(results[0])], chosen[0])
        else:
            self.capture.add_pinned(op.name, *ends, chosen)

    def is_elementwise(self, op, operands, results):
        """Returns true if all tensors that are not constant have one shape, and their maps are identities."""
        if op.name != "linalg.generic" or "reduction" in str(op.attributes["iterator_types"]) or len(results) != 1:
            return False
        maps = [each.value for each in ir.ArrayAttr(op.attributes["indexing_maps"])]
        used = [each for value, each in zip(op.operands, maps) if self.root(value) in self.known]
        identity = ir.AffineMap.get_identity(len(ir.RankedTensorType(results[0].type).shape), op.context)
        return all(each == identity for each in (*used, maps[-1])) and \
            len({self.shape(each) for each in (*operands, *results)}) == 1
