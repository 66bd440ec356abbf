"""Captures the conversions of layouts that Triton leaves in the IR of kernels for a GPU (TTGIR).

Loads, stores, atomics, products and what writes or reads shared memory keep the layouts that Triton has chosen.
Elementwise operations run in every layout that some value of their rank has in the kernel; expand_dims, broadcast and
reduce relate a layout to its slices; a value that a loop carries has one layout. Conversions of what only constants,
ranges and splats determine are free, since Triton computes such values again. So are those from the result of a product
to the left operand of another one, which stay in registers. Others write and read their bytes in shared memory, 16
times if the value is in a loop.
"""

import re
from importlib import metadata

from .capture import Capture, run_capture
from .triton_kernels import KERNELS, compile_kernel

LOOP_RUNS = 16
BYTES = {"f16": 2, "f32": 4, "i8": 1, "i1": 1, "i32": 4, "i64": 8}
NAME = re.compile(r"%[-\w]+(?:#\d+)?")
SOURCES = {"arith.constant", "tt.splat", "tt.make_range"}
PINNED = {"tt.load", "tt.store", "tt.dot", "tt.trans", "tt.atomic_rmw", "ttg.local_alloc", "ttg.local_load",
          "ttg.local_store", "ttg.async_copy_global_to_local"}


class Tensor:
    """The type of a tensor: `shape`, `element` and `layout`."""

    def __init__(self, text):
        inner, _, self.layout = text[len("tensor<"):-1].partition(", ")
        *dims, self.element = re.match(r"((?:\d+x)+)(.*)", inner).groups()
        self.shape = [int(dim) for dim in dims[0][:-1].split("x")]

    def count_bytes(self):
        count = 8 if self.element.startswith("!tt.ptr") else BYTES[self.element]
        for size in self.shape:
            count *= size
        return count


def find_tensors(text):
    """Returns the types of tensors in a text."""
    found, at = [], text.find("tensor<")
    while at >= 0:
        end, depth = at + len("tensor<"), 1
        while depth:
            depth += (text[end] == "<") - (text[end] == ">" and text[end - 1] != "-")
            end += 1
        found.append(Tensor(text[at:end]))
        at = text.find("tensor<", end)
    return found


class Op:
    """A line of the IR. `types` are those of its tensors."""

    def __init__(self, line):
        head, equals, rest = line.partition(" = ")
        self.results = []
        if equals and head.startswith("%"):
            name, _, count = head.partition(":")
            self.results = [f"{name}#{i}" for i in range(int(count))] if count else [name]
        else:
            rest = line
        self.kind = re.match(r'"?([\w.]+)', rest)[1]
        self.text, self.types = rest, find_tensors(rest)
        self.operands = NAME.findall(rest.partition(" : ")[0].partition(" {")[0] if self.kind != "scf.for" else "")

    def get_result_type(self):
        """Returns the type of the only result, or None if it is not a tensor in registers."""
        arrow = re.search(r" (?:->|to) (?!.* (?:->|to) )", self.text)
        if arrow:
            found = find_tensors(self.text[arrow.end():])
            return found[0] if found and "memdesc" not in self.text[arrow.end():] else None
        if not self.types:
            return None
        made = self.types[0 if self.kind in ("tt.addptr", "tt.load") else -1]
        if self.kind == "tt.load":
            made.element = re.search(r"!tt\.ptr<(\w+)", made.element)[1]
        elif self.kind.startswith("arith.cmp"):
            made.element = "i1"
        return made


def slice_of(layout, dim):
    return f"#ttg.slice<{{dim = {dim}, parent = {layout}}}>"


class Kernel:
    def __init__(self, name, text):
        self.capture = Capture(f"triton {metadata.version('triton')}", name)
        lines = [re.sub(r" loc\(.*", "", line).strip() for line in text.splitlines() if not line.startswith("#")]
        self.type_of, self.moved, self.free, self.added, self.depth, self.loops = {}, {}, set(), {}, 0, []
        self.layouts, self.wanted = {1: {}, 2: {}}, {}
        for each in find_tensors("\n".join(lines)):
            # A linear layout is that of one shape.
            if each.layout and not each.layout.startswith("#linear"):
                self.layouts[len(each.shape)].setdefault(each.layout)
        for layout in list(self.layouts[2]):
            for dim in (0, 1):
                self.layouts[1].setdefault(slice_of(layout, dim))
        for line in lines:
            if " = ttg.convert_layout " in line:
                op = Op(line)
                self.wanted.setdefault(op.operands[0], []).append(op.get_result_type().layout)
        self.read(lines)

    def read(self, lines):
        lines = iter(lines)
        for line in lines:
            if not line.startswith(("%", "tt.", "ttg.", "scf.", "}", '"')):
                continue
            if '"tt.reduce"' in line:  # its body combines numbers
                line += next(each for each in lines if each.startswith("})"))
            if line.startswith("}"):
                if line == "}" and self.loops:
                    self.end_loop()
                continue
            op = Op(line)
            if op.kind == "scf.for":
                self.begin_loop(op)
            elif op.kind == "scf.yield":
                self.loops[-1][3] = NAME.findall(op.text.partition(" : ")[0])
            elif op.kind.startswith("scf."):
                raise ValueError(f"no rule for {op.kind}")
            else:
                self.add(op)

    def root(self, value):
        while value in self.moved:
            value = self.moved[value]
        return value

    def add_tensor(self, value, made):
        self.type_of[value] = made
        candidates = dict.fromkeys([made.layout, *self.wanted.get(value, []), *self.layouts[len(made.shape)]])
        size = made.count_bytes()
        runs = LOOP_RUNS ** self.depth
        prices = {(x, y): 0 if self.is_in_registers(x, y) else 2 * size * runs
                  for x in candidates for y in candidates}
        self.capture.add_tensor(value, dict.fromkeys(candidates, size), runs, prices)
        self.added[value] = list(candidates)

    def is_in_registers(self, source, target):
        return target.startswith(f"#ttg.dot_op<{{opIdx = 0, parent = {source},")

    def kept(self, values):
        """Returns the values that are tensors whose conversions cost something."""
        return [each for each in values if each in self.type_of and self.root(each) not in self.free]

    def add(self, op):
        made = op.get_result_type() if op.results else None
        operands = [each for each in op.operands if each in self.type_of]
        if op.kind == "ttg.convert_layout":
            self.moved[op.results[0]], self.type_of[op.results[0]] = op.operands[0], made
            return
        is_free = made and op.kind not in PINNED and all(self.root(each) in self.free for each in operands)
        if is_free:
            self.free.add(op.results[0])
            self.type_of[op.results[0]] = made
            return
        operands = self.kept(operands)
        if made:
            self.add_tensor(op.results[0], made)
        ends = [*map(self.root, operands), *(op.results if made else [])]
        if not ends:
            return
        chosen = [self.type_of[each].layout for each in (*operands, *(op.results if made else []))]
        self.capture.add_op((op.results or [op.kind])[0], ends[:len(operands)], ends[len(operands):],
                            self.list_configurations(op, ends, chosen), chosen)

    def list_configurations(self, op, ends, chosen):
        if op.kind in PINNED:
            return [chosen]
        if op.kind == "tt.expand_dims":
            dim = int(re.search(r"axis = (\d)", op.text)[1])
            return [(slice_of(each, dim), each) for each in self.layouts[2]] + [chosen]
        if op.kind == "tt.reduce":
            dim = int(re.search(r"axis = (\d)", op.text)[1])
            if len(ends) == 1:
                return [(each,) for each in self.added[ends[0]]]
            return [(each, slice_of(each, dim)) for each in self.layouts[2]]
        if op.kind == "tt.broadcast" or op.kind.split(".")[0] in ("arith", "math") or op.kind == "tt.addptr":
            return [(each,) * len(ends) for each in self.added[ends[-1]]] + [chosen]
        raise ValueError(f"no rule for {op.kind}")

    def begin_loop(self, op):
        carried = re.search(r"iter_args\((.*?)\) -> ", op.text)
        pairs = [each.split(" = ") for each in carried[1].split(", ")] if carried else []
        types = re.search(r"\) -> \((.*)\) ", op.text)[1] if carried else ""
        found = iter(find_tensors(types))
        kinds = [next(found) if each.startswith("tensor<") else None for each in self.split_types(types)]
        self.loops.append([op, pairs, kinds, []])
        self.depth += 1
        for (name, _), made in zip(pairs, kinds):
            if made:
                self.add_tensor(name, made)

    def split_types(self, text):
        parts, depth = [""], 0
        for at, each in enumerate(text):
            depth += (each in "<({") - (each in ")}" or each == ">" and text[at - 1] != "-")
            if each == "," and not depth:
                parts.append("")
            else:
                parts[-1] += each
        return [each.strip() for each in parts]

    def end_loop(self):
        op, pairs, kinds, yielded = self.loops.pop()
        self.depth -= 1
        for result, (name, initial), made, value in zip(op.results, pairs, kinds, yielded):
            if made:
                self.add_tensor(result, made)
                operands = [each for each in self.kept([initial, value]) if self.root(each) != name]
                self.capture.add_uniform(result, [self.root(each) for each in operands], [name, result],
                                         self.added[name], made.layout)


if __name__ == "__main__":
    kernels = {kernel.__name__: kernel for kernel in KERNELS}
    run_capture(list(kernels), lambda name, _: Kernel(name, compile_kernel(kernels[name])).capture)
