# RUN: %python %s
"""Checks that the claimed cost over a mesh is minimal, by enumeration of short chains of ops."""

# An op splits one of its loops, or none, for each mesh axis, and stores its blocks row-major or, if it computes whole
# dims, in tiles of the device's lanes. Costs of one device are those of layout-print-cost. A conversion between devices
# costs the steps of its messages and the copies of the busiest device, which are computed here.

import collections
import functools
import itertools
import json
import math
import os
import pathlib
import re
import tempfile
import unittest

import numpy as np
from layout_mlir.tools import run_tool

LANES, LINE, STRIDED = 4, 64, 300
DEVICE = f"#layout.cpu<lanes = {LANES}, line_bytes = {LINE}, strided_percent = {STRIDED}>"

# Of each op: the loops of the dims of its operands and result (h and w are indexed by sums), the loops that may be
# split, and the loops that lanes tile; all of these but the last are tiled together with the last one or alone.
Kind = collections.namedtuple("Kind", "op operands result loops tiles")
KINDS = {
    # Lanes stay on columns, so rows of the second factor are only tiled together with them.
    "matmul": Kind("linalg.matmul", ["ik", "kj"], "ij", "ijk", ["j", "kj"]),
    "conv": Kind("linalg.conv_2d_nchw_fchw", ["nchw", "fcyx"], "nfop", "nfc", ["f", "cf", "c"]),
    # Its tiles are those of its neighbors.
    "tanh2": Kind("math.tanh", ["ij"], "ij", "ij", ["j"]),
    "tanh4": Kind("math.tanh", ["nfop"], "nfop", "nfop", ["f"]),
}


def opt(text, *passes):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        return run_tool("layout-opt", file.name, *passes)


def read_assignment(text):
    return {name: int(value) for name, value in
            re.findall(r"(\w+) = (\d+)", re.search(r"layout\.assignment = \{(.*?)\}", text)[1])}


def tensor(shape, layout=""):
    return f"tensor<{'x'.join(map(str, shape))}xf32{', ' * bool(layout) + layout}>"


def blocked(shape, tiled):
    """Returns a local layout in which the dims `tiled` are tiled, and its element positions."""
    names = "ABCD"[:len(shape)]
    if not tiled:
        return "", np.arange(math.prod(shape)).reshape(shape)
    index = np.indices(shape)
    digits = [(index[d] // LANES, -(-n // LANES)) if d in tiled else (index[d], n) for d, n in enumerate(shape)]
    position = np.zeros(shape, int)
    for value, extent in digits + [(index[d] % LANES, LANES) for d in tiled]:
        position = position * extent + value
    if (position.reshape(-1) == np.arange(position.size)).all():
        return "", position
    inner = "".join(f"{LANES}{names[d].lower()}" for d in tiled)
    return f'#layout.blocked<"{names}" to "{names}{inner}">', position


def call(number, kind, operands, result):
    """Returns a function of one op with these types of operands and result."""
    arguments = ", ".join(f"%a{i}: {each}" for i, each in enumerate(operands))
    if kind.op == "math.tanh":
        body = f"  %r = math.tanh %a0 : {result}\n"
    else:
        body = (f"  %z = arith.constant 0.0 : f32\n  %e = tensor.empty() : {result}\n"
                f"  %i = linalg.fill ins(%z : f32) outs(%e : {result}) -> {result}\n"
                f"  %r = {kind.op} ins(%a0, %a1 : {', '.join(operands)}) outs(%i : {result}) -> {result}\n")
    return f"func.func @f{number}({arguments}) -> {result} {{\n{body}  return %r : {result}\n}}\n"


def print_costs(text):
    return json.loads(opt(text, f"--layout-print-cost=target={{{DEVICE}}} format=json", "-o", os.devnull))


def find_steps(messages):
    """Returns the steps of the messages of one round by sender: in a chain or ring of devices, every second one sends
    at a time."""
    receiver = {message["from"]: message["to"] for message in messages}
    found = {}
    for start in sorted(receiver, key=lambda device: (device in receiver.values(), device)):
        path, device = [], start
        while device in receiver and device not in found:
            found[device] = len(path) % 2
            path.append(device)
            device = receiver[device]
        if path and device == start and len(path) % 2:
            found[path[-1]] = 2
    return found


class Stored(collections.namedtuple("Stored", "splits parts local")):
    """A tensor on a mesh: for each axis the dim that it splits or None, the axes of partial sums, and the layout of
    blocks."""


class Mesh:
    def __init__(self, axes, byte_cost, message_cost):
        self.axes, self.byte_cost, self.message_cost = axes, byte_cost, message_cost
        self.devices = math.prod(axes.values())
        self.names = list(axes)
        self.known, self.places, self.prices = {}, {}, {}

    def target(self):
        axes = ", ".join(f"{name} = {size}" for name, size in self.axes.items())
        return (f"#layout.mesh_target<axes = [{axes}], device = {DEVICE}, byte_cost = {self.byte_cost}, "
                f"message_cost = {self.message_cost}>")

    def choices(self, sizes, loops):
        """Yields the possible splits: for each axis a loop or None."""
        for choice in itertools.product([None, *loops], repeat=len(self.axes)):
            if any(loop is not None and size == 1 for loop, size in zip(choice, self.axes.values())):
                continue
            if all(self.parts(choice, loop) == 1 or sizes[loop] >= self.parts(choice, loop) for loop in loops):
                yield choice

    def parts(self, choice, loop):
        return math.prod(n for axis, n in zip(choice, self.axes.values()) if axis == loop)

    def store(self, choice, dims, shape, tiled):
        """Returns the tensor with these dims for a split of loops and tiled loops."""
        splits = tuple(dims.index(loop) if loop is not None and loop in dims else None for loop in choice)
        parts = tuple(name for name, loop in zip(self.names, choice) if loop is not None and loop not in dims)
        local, place = blocked(self.block(splits, shape), [dims.index(loop) for loop in tiled if loop in dims])
        self.places[shape, splits, local] = place
        return Stored(splits, parts, local)

    def layout(self, stored, rank):
        axes = ", ".join(f"{name} = {size}" for name, size in self.axes.items())
        splits = ", ".join("[" + ", ".join(name for name, d in zip(self.names, stored.splits) if d == dim) + "]"
                           for dim in range(rank))
        mesh = f"#layout.mesh<[{axes}], [{splits}]{', local = ' * bool(stored.local) + stored.local}>"
        return f"#layout.partial<{mesh}, sum, [{', '.join(stored.parts)}]>" if stored.parts else mesh

    def block(self, splits, shape):
        return tuple(-(-size // self.parts(splits, d)) for d, size in enumerate(shape))

    def convert(self, shape, pairs):
        """Returns the costs of conversions between layouts, by one run of each printer."""
        pairs = [pair for pair in pairs if pair[0] != pair[1] and (shape, *pair) not in self.known]
        onDevice = [pair for pair in pairs if pair[0][:2] == pair[1][:2] and not pair[0].parts]
        sent = [pair for pair in pairs if pair not in onDevice]

        def convert(i, source, target):
            return (f"func.func @f{i}(%a: {source}) -> {target} {{\n  %r = layout.convert %a : {source} to {target}\n"
                    f"  return %r : {target}\n}}\n")

        if onDevice:
            text = "".join(convert(i, *(tensor(self.block(each.splits, shape), each.local) for each in pair))
                           for i, pair in enumerate(onDevice))
            for pair, row in zip(onDevice, print_costs(text)["conversions"]["rows"], strict=True):
                self.known[shape, *pair] = row["cost"]
        if not sent:
            return
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "plans.json")
            opt("".join(convert(i, *(tensor(shape, self.layout(each, len(shape))) for each in pair))
                        for i, pair in enumerate(sent)),
                f"--layout-print-messages=format=json output={out}", "-o", os.devnull)
            for pair, plan in zip(sent, json.loads(out.read_text()), strict=True):
                self.known[shape, *pair] = self.time(plan, *pair)

    def conversion(self, shape, source, target):
        return 0 if source == target else self.known[shape, source, target]

    def coordinates(self, device):
        result = []
        for size in reversed(self.axes.values()):
            device, coordinate = divmod(device, size)
            result.insert(0, coordinate)
        return result

    def time(self, plan, source, target):
        shape = tuple(map(int, plan["shape"].split("x")[:-1]))
        moved, longest = [collections.Counter() for _ in range(self.devices)], {}

        def find(stored, box):
            block = self.block(stored.splits, shape)
            begin = [offset % size for offset, size in zip(box["offsets"], block)]
            return self.places[shape, stored.splits, stored.local][
                tuple(slice(b, b + n) for b, n in zip(begin, box["sizes"]))].reshape(-1)

        def move(device, start, end):
            """Adds elements, by the length of their segments that are contiguous on both sides."""
            breaks = np.flatnonzero((np.diff(start) != 1) | (np.diff(end) != 1)) + 1
            for run in np.diff([0, *breaks, len(start)]):
                moved[device][int(run)] += int(run)

        rounds = {number: find_steps([message for message in plan["messages"] if message["round"] == number])
                  for number in {message["round"] for message in plan["messages"]}}
        for message in plan["messages"]:
            count = 4 * sum(math.prod(box["sizes"]) for box in message["boxes"])
            for box in message["boxes"]:
                packed = np.arange(math.prod(box["sizes"]))
                # The second phase sends values that were reduced in the target's layout.
                move(message["from"], find(target if message["phase"] else source, box), packed)
                move(message["to"], packed, find(target, box))
            ends = self.coordinates(message["from"]), self.coordinates(message["to"])
            crossed = [axis for axis, (x, y) in enumerate(zip(*ends)) if x != y]
            took = max(self.message_cost[a] for a in crossed) + count * max(self.byte_cost[a] for a in crossed)
            step = message["round"], rounds[message["round"]][message["from"]]
            longest[step] = max(longest.get(step, 0), took)
        for copy in plan["copies"]:
            for box in copy["boxes"]:
                move(copy["from"], find(source, box), find(target, box))

        def price(run, elements):
            weight = 100 * LINE + (STRIDED - 100) * LINE * (LINE - min(4 * run, LINE)) // (LINE - 1)
            return max(1, 8 * elements * weight // (100 * LINE))

        copied = max(sum(price(*each) for each in device.items()) for device in moved)
        return max(1, copied + sum(longest.values()))

    def configurations(self, kind, sizes, shapes):
        """Returns the possible tensors of an op with their costs, which one tool run computes."""
        dims = [*kind.operands, kind.result]
        found = []
        for choice in self.choices(sizes, kind.loops):
            # A reduction whose devices have different numbers of indices runs on row-major blocks.
            isNonDivisible = any(loop in "kc" and size % self.parts(choice, loop) for loop, size in sizes.items())
            own = {loop: -(-sizes[loop] // self.parts(choice, loop)) for loop in sizes}
            for tiled in ["", *kind.tiles]:
                if tiled and (isNonDivisible or any(own[loop] < 2 and "tanh" not in kind.op for loop in tiled)):
                    continue
                # Rows and columns are not channels of a neighbor's tiles.
                if tiled and "tanh" in kind.op and any(loop not in (None, kind.result[0], kind.tiles[0])
                                                       for loop in choice):
                    continue
                # Dims that an operand lacks are dropped.
                stored = [self.store(choice, each, shape, tiled) for each, shape in zip(dims, shapes)]
                found.append([each._replace(parts=()) for each in stored[:-1]] + stored[-1:])
        text = "".join(call(i, kind, *self.types(each, shapes)) for i, each in enumerate(found))
        if text not in self.prices:
            self.prices[text] = [row["cost"] for row in print_costs(text)["ops"]["rows"] if row["name"] == kind.op]
        return list(zip(found, self.prices[text], strict=True))

    def types(self, config, shapes):
        *operands, result = (tensor(self.block(each.splits, shape), each.local)
                             for each, shape in zip(config, shapes))
        return operands, result


def chain(shape, steps):
    """Returns the ops of a program: the kind, the sizes of its loops, and the shapes of its tensors."""
    for step in steps:
        if step == "tanh":
            kind = KINDS[f"tanh{len(shape)}"]
            yield kind, dict(zip(kind.result, shape)), (shape, shape)
        elif len(shape) == 2:
            out = shape[0], step
            yield KINDS["matmul"], {"i": shape[0], "k": shape[1], "j": step}, (shape, (shape[1], step), out)
            shape = out
        else:
            features, window = step
            n, c, h, w = shape
            out = n, features, h - window + 1, w - window + 1
            yield KINDS["conv"], {"n": n, "f": features, "c": c}, (shape, (features, c, window, window), out)
            shape = out


def least(mesh, shape, steps):
    plain = mesh.store((None,) * len(mesh.axes), "", shape, "")
    # The layouts of the value, with the least cost so far.
    costs = {plain: 0}
    for kind, sizes, shapes in chain(shape, steps):
        configs = mesh.configurations(kind, sizes, shapes)
        mesh.convert(shapes[0], {(layout, config[0]) for layout in costs for config, _ in configs})
        found = {}
        for config, price in configs:
            before = min(cost + mesh.conversion(shapes[0], layout, config[0]) for layout, cost in costs.items())
            found[config[-1]] = min(found.get(config[-1], math.inf), before + price)
        costs, shape = found, shapes[-1]
    mesh.store((None,) * len(mesh.axes), "", shape, "")
    mesh.convert(shape, {(layout, plain) for layout in costs})
    return min(cost + mesh.conversion(shape, layout, plain) for layout, cost in costs.items())


def program(shape, steps):
    lines, value = [], "x"
    for i, (kind, _, shapes) in enumerate(chain(shape, steps)):
        out = tensor(shapes[-1])
        if kind.op == "math.tanh":
            lines.append(f"  %v{i} = math.tanh %{value} : {out}\n")
        else:
            lines.append(f"  %w{i} = arith.constant dense<{i + 1}.0> : {tensor(shapes[1])}\n"
                         f"  %e{i} = tensor.empty() : {out}\n"
                         f"  %z{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {out}) -> {out}\n"
                         f"  %v{i} = {kind.op} ins(%{value}, %w{i} : {tensor(shapes[0])}, {tensor(shapes[1])}) "
                         f"outs(%z{i} : {out}) -> {out}\n")
        value = f"v{i}"
    return (f"func.func @f(%x: {tensor(shape)}) -> {out} {{\n"
            f"  %zero = arith.constant 0.0 : f32\n{''.join(lines)}  return %{value} : {out}\n}}\n")


class Assignment(unittest.TestCase):
    def check(self, mesh, shape, steps):
        text = opt(program(shape, steps), f"--layout-assign=target={{{mesh.target()}}}")
        stated = read_assignment(text)
        with self.subTest(mesh=mesh.target(), shape=shape, steps=steps):
            self.assertEqual(stated["cost"], stated["lower_bound"])
            self.assertEqual(stated["cost"], least(mesh, shape, steps))
        return stated["cost"], text

    def test_one_axis(self):
        for size, shape, steps in ((2, (8, 16), (32, "tanh", 16)), (2, (1, 64), (128, "tanh", 64)),
                                   (3, (7, 20), (31, "tanh", 10)), (4, (3, 64), (64, "tanh", 64)),
                                   (4, (2, 33), (65, "tanh", 5, 9)), (5, (1, 4), (4, "tanh", 4))):
            for byte, message in ((10, 1000), (1, 0), (100, 100000)):
                self.check(Mesh({"x": size}, [byte], [message]), shape, steps)

    def test_two_axes(self):
        for shape, steps in (((8, 16), (32, "tanh", 16)), ((1, 64), (96, "tanh", 32)), ((6, 10), (21, "tanh", 5))):
            for byte, message in (([5, 20], [100, 1000]), ([1, 1], [0, 0])):
                self.check(Mesh({"x": 2, "y": 2}, byte, message), shape, steps)

    def test_splits_and_blocks_are_one_choice(self):
        """Checks a case in which no box that is sent crosses tiles: the last element of one tile happens to be adjacent
        to the first of the next, which loops over a box do not use, but NumPy's segments do."""
        both = 0
        for axes, shape, steps in (({"x": 2}, (1, 8, 6, 6), ((8, 3), "tanh", (8, 3))),
                                   ({"x": 2}, (1, 3, 4, 4), ((16, 2), "tanh", (8, 2))),
                                   ({"x": 4}, (1, 32, 3, 3), ((32, 2), (32, 2))),
                                   ({"x": 3}, (1, 6, 5, 5), ((9, 2), "tanh", (12, 3))),
                                   ({"x": 2, "y": 2}, (2, 16, 3, 3), ((16, 2), "tanh", (16, 2)))):
            for byte, message in ((10, 1000), (1, 0)):
                mesh = Mesh(axes, [byte] * len(axes), [message] * len(axes))
                both += "local = " in self.check(mesh, shape, steps)[1]
        self.assertGreaterEqual(both, 3)

    def test_stated_blocks_of_a_non_divisible_reduction_are_converted(self):
        """Checks that devices multiply an uneven reduction row-major, so that a stated layout costs its conversion."""
        mesh = Mesh({"x": 4}, [1], [0])
        shapes, names = ((6, 18), (18, 5), (6, 5)), ("[[], [x]]", "[[x], []]", "[[], []]")
        blocks = ((6, 5), (5, 5), (6, 5))
        own = blocked(blocks[0], [1])[0], '#layout.blocked<"AB" to "BA">', '#layout.blocked<"AB" to "AB4b">'
        plain = [tensor(each) for each in blocks]

        def move(number, block, source, target):
            return (f"func.func @g{number}(%a: {tensor(block, source)}) -> {tensor(block, target)} {{\n  %r = layout.convert "
                    f"%a : {tensor(block, source)} to {tensor(block, target)}\n  return %r : {tensor(block, target)}\n}}\n")

        # The result is read as the accumulator, and written; its fill is free.
        text = call(0, KINDS["matmul"], plain[:2], plain[2]) + "".join(
            move(i, block, *ends) for i, (block, layout) in enumerate(zip(blocks, own))
            for ends in [(layout, ""), ("", layout)][:1 + (i == 2)]).replace("@g2", "@g3", 1)
        printed = print_costs(text)
        ops = next(row["cost"] for row in printed["ops"]["rows"] if row["name"] == "linalg.matmul")
        left, right, read, written = (row["cost"] for row in printed["conversions"]["rows"])
        for stated in itertools.product((False, True), repeat=3):
            types = []
            for shape, splits, layout, is_stated in zip(shapes, names, own, stated):
                text = f"#layout.mesh<[x = 4], {splits}{', local = ' * is_stated}{layout * is_stated}>"
                if splits == names[2]:
                    text = f"#layout.partial<{text}, sum, [x]>"
                types.append(tensor(shape, text))
            expected = ops + left * stated[0] + right * stated[1] + stated[2] * (read + written)
            out = opt(call(0, KINDS["matmul"], types[:2], types[2]), f"--layout-assign=target={{{mesh.target()}}}")
            with self.subTest(stated=stated):
                self.assertEqual(read_assignment(out)["cost"], expected)
                self.assertIn("#layout.mesh", out)

    def test_more_devices_cost_no_more(self):
        costs = [self.check(Mesh({"x": size}, [1], [0]), (16, 64), (64, "tanh", 64))[0] for size in (1, 2, 4, 8)]
        self.assertEqual(costs, sorted(costs, reverse=True))


if __name__ == "__main__":
    unittest.main()
