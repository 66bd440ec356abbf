# RUN: %python %s
"""The least cost over a mesh, found by trying everything.

Chains of products and an elementwise op are decided by layout-assign. Here each op splits for each axis
one of its loops, or none, by a few lines of Python; a conversion costs the turns of its messages, found
here from their rounds, and the bytes that the busiest device copies, both counted from what
layout-print-messages says; and of an op on a block the price is that which layout-assign states for the op
alone, with the types of the block, on a mesh of one device. The least sum over all choices has to be the
cost that is claimed, and the bound.
"""

import functools
import itertools
import json
import math
import os
import pathlib
import re
import tempfile
import unittest

from layout_mlir.tools import run_tool

DEVICE = "#layout.cpu<lanes = 4>"


def opt(text, *passes):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        return run_tool("layout-opt", file.name, *passes)


def figures(text):
    return {name: int(value) for name, value in
            re.findall(r"(\w+) = (\d+)", re.search(r"layout\.assignment = \{(.*?)\}", text)[1])}


def tensor(shape, layout=""):
    return f"tensor<{'x'.join(map(str, shape))}xf32{', ' * bool(layout) + layout}>"


def product(name, a, b, out):
    return (f"  %{name}_e = tensor.empty() : {tensor(out)}\n"
            f"  %{name}_z = linalg.fill ins(%zero : f32) outs(%{name}_e : {tensor(out)}) -> {tensor(out)}\n"
            f"  %{name} = linalg.matmul ins(%{a[0]}, %{b[0]} : {tensor(a[1])}, {tensor(b[1])}) "
            f"outs(%{name}_z : {tensor(out)}) -> {tensor(out)}\n")


@functools.lru_cache(maxsize=None)
def price(kind, *sizes):
    """Of one op on a device, as layout-assign states it for a mesh of one."""
    if kind == "matmul":
        i, j, k = sizes
        arguments, result = f"%a: {tensor((i, k))}, %b: {tensor((k, j))}", (i, j)
        body = product("r", ("a", (i, k)), ("b", (k, j)), (i, j))
    else:
        arguments, result = f"%a: {tensor(sizes)}", sizes
        body = f"  %r = math.tanh %a : {tensor(sizes)}\n"
    return figures(opt(f"func.func @f({arguments}) -> {tensor(result)} {{\n  %zero = arith.constant 0.0 : f32\n{body}"
                       f"  return %r : {tensor(result)}\n}}\n", f"--layout-assign=target={{{Mesh({'x': 1}, [1], [1]).target()}}}"))["cost"]


def turns(messages):
    """By sender, those of the messages of one round: of a chain or ring of devices every second goes at a time."""
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


class Mesh:
    def __init__(self, axes, byte_cost, message_cost):
        self.axes, self.byte_cost, self.message_cost = axes, byte_cost, message_cost
        self.devices = math.prod(axes.values())
        self.names = list(axes)
        self.known = {}

    def target(self):
        axes = ", ".join(f"{name} = {size}" for name, size in self.axes.items())
        return (f"#layout.mesh_target<axes = [{axes}], device = {DEVICE}, byte_cost = {self.byte_cost}, "
                f"message_cost = {self.message_cost}>")

    def choices(self, sizes, loops):
        """What may be split: for each axis a loop or None."""
        for choice in itertools.product([None, *loops], repeat=len(self.axes)):
            if any(loop is not None and size == 1 for loop, size in zip(choice, self.axes.values())):
                continue
            parts = [math.prod(size for axis, size in zip(choice, self.axes.values()) if axis == loop)
                     for loop in loops]
            if all(part == 1 or sizes[loop] >= part for loop, part in zip(loops, parts)):
                yield choice

    def layout(self, choice, dims):
        axes = ", ".join(f"{name} = {size}" for name, size in self.axes.items())
        splits = ", ".join("[" + ", ".join(name for name, loop in zip(self.names, choice) if loop == dim) + "]"
                           for dim in dims)
        mesh = f"#layout.mesh<[{axes}], [{splits}]>"
        parts = [name for name, loop in zip(self.names, choice) if loop is not None and loop not in dims]
        return f"#layout.partial<{mesh}, sum, [{', '.join(parts)}]>" if parts else mesh

    def block(self, choice, sizes):
        return {loop: -(-size // math.prod(n for axis, n in zip(choice, self.axes.values()) if axis == loop))
                for loop, size in sizes.items()}

    def convert(self, shape, pairs):
        """The costs of conversions between layouts, by one run of the printer of messages."""
        pairs = [pair for pair in pairs if pair[0] != pair[1] and (shape, *pair) not in self.known]
        if not pairs:
            return
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "plans.json")
            opt("".join(f"func.func @f{i}(%a: {tensor(shape, source)}) -> {tensor(shape, target)} {{\n"
                        f"  %r = layout.convert %a : {tensor(shape, source)} to {tensor(shape, target)}\n"
                        f"  return %r : {tensor(shape, target)}\n}}\n" for i, (source, target) in enumerate(pairs)),
                f"--layout-print-messages=format=json output={out}", "-o", os.devnull)
            for pair, plan in zip(pairs, json.loads(out.read_text()), strict=True):
                self.known[shape, *pair] = self.time(plan)

    def conversion(self, shape, source, target):
        return 0 if source == target else self.known[shape, source, target]

    def coordinates(self, device):
        result = []
        for size in reversed(self.axes.values()):
            device, coordinate = divmod(device, size)
            result.insert(0, coordinate)
        return result

    def time(self, plan):
        copied, longest = [0] * self.devices, {}
        rounds = {number: turns([message for message in plan["messages"] if message["round"] == number])
                  for number in {message["round"] for message in plan["messages"]}}
        for message in plan["messages"]:
            count = 4 * sum(math.prod(box["sizes"]) for box in message["boxes"])
            copied[message["from"]] += 2 * count
            copied[message["to"]] += 2 * count
            ends = self.coordinates(message["from"]), self.coordinates(message["to"])
            crossed = [axis for axis, (x, y) in enumerate(zip(*ends)) if x != y]
            took = max(self.message_cost[a] for a in crossed) + count * max(self.byte_cost[a] for a in crossed)
            turn = message["round"], rounds[message["round"]][message["from"]]
            longest[turn] = max(longest.get(turn, 0), took)
        for copy in plan["copies"]:
            copied[copy["from"]] += 8 * sum(math.prod(box["sizes"]) for box in copy["boxes"])
        return max(1, max(copied) + sum(longest.values()))


def least(mesh, rows, sizes):
    """x (rows x sizes[0]) times constants, with a tanh after the first product."""
    plain2 = mesh.layout((None,) * len(mesh.axes), "ij")
    # What the value comes in, with the least cost so far.
    costs, width = {plain2: 0}, sizes[0]
    for step, out in enumerate(sizes[1:]):
        loops = {"i": rows, "j": out, "k": width}
        costs = step_over(mesh, costs, (rows, width), "matmul", loops, "ijk", "ik", "ij")
        width = out
        if step == 0:
            costs = step_over(mesh, costs, (rows, width), "tanh", {"i": rows, "j": width}, "ij", "ij", "ij")
    mesh.convert((rows, width), {(layout, plain2) for layout in costs})
    return min(cost + mesh.conversion((rows, width), layout, plain2) for layout, cost in costs.items())


def step_over(mesh, costs, shape, kind, loops, order, read, written):
    steps = []
    for choice in mesh.choices(loops, order):
        # What an operand lacks is no part of it.
        needed = mesh.layout(tuple(loop if loop is not None and loop in read else None for loop in choice), read)
        steps.append((choice, needed))
    mesh.convert(shape, {(layout, needed) for layout in costs for _, needed in steps})
    found = {}
    for choice, needed in steps:
        block = mesh.block(choice, loops)
        op = price(kind, *(block[loop] for loop in order))
        made = mesh.layout(choice, written)
        before = min(cost + mesh.conversion(shape, layout, needed) for layout, cost in costs.items())
        found[made] = min(found.get(made, math.inf), before + op)
    return found


def program(rows, sizes):
    lines, value, width = [], "x", sizes[0]
    for i, out in enumerate(sizes[1:]):
        lines.append(f"  %w{i} = arith.constant dense<{i + 1}.0> : {tensor((width, out))}\n")
        lines.append(product(f"p{i}", (value, (rows, width)), (f"w{i}", (width, out)), (rows, out)))
        value, width = f"p{i}", out
        if i == 0:
            lines.append(f"  %t = math.tanh %p0 : {tensor((rows, out))}\n")
            value = "t"
    return (f"func.func @f(%x: {tensor((rows, sizes[0]))}) -> {tensor((rows, width))} {{\n"
            f"  %zero = arith.constant 0.0 : f32\n{''.join(lines)}  return %{value} : {tensor((rows, width))}\n}}\n")


class Assignment(unittest.TestCase):
    def check(self, mesh, rows, sizes):
        stated = figures(opt(program(rows, sizes), f"--layout-assign=target={{{mesh.target()}}}"))
        with self.subTest(mesh=mesh.target(), rows=rows, sizes=sizes):
            self.assertEqual(stated["cost"], stated["lower_bound"])
            self.assertEqual(stated["cost"], least(mesh, rows, sizes))
        return stated["cost"]

    def test_one_axis(self):
        for size, rows, sizes in ((2, 8, (16, 32, 16)), (2, 1, (64, 128, 64)), (3, 7, (20, 31, 10)),
                                  (4, 3, (64, 64, 64)), (4, 2, (33, 65, 5, 9)), (5, 1, (4, 4, 4))):
            for byte, message in ((10, 1000), (1, 0), (100, 100000)):
                self.check(Mesh({"x": size}, [byte], [message]), rows, sizes)

    def test_two_axes(self):
        for rows, sizes in ((8, (16, 32, 16)), (1, (64, 96, 32)), (6, (10, 21, 5))):
            for byte, message in (([5, 20], [100, 1000]), ([1, 1], [0, 0])):
                self.check(Mesh({"x": 2, "y": 2}, byte, message), rows, sizes)

    def test_more_devices_cost_no_more(self):
        costs = [self.check(Mesh({"x": size}, [1], [0]), 16, (64, 64, 64)) for size in (1, 2, 4, 8)]
        self.assertEqual(costs, sorted(costs, reverse=True))


if __name__ == "__main__":
    unittest.main()
