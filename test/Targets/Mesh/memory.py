# RUN: %python %s
"""Checks that the claimed cost over a mesh under a memory limit is minimal, by enumeration of short chains of ops."""

# A device holds the argument and all constants always, the operand and the result of an op while it runs, and then the
# result, its conversion and the longest message of layout-print-messages. Limits start at zero, which is infeasible.

import itertools
import math
import pathlib
import re
import tempfile
import unittest

from assignment import LANES, Mesh, chain, opt, program, read_assignment
from layout_mlir import certify
from layout_mlir.tools import ToolError


# Added to the elements of a buffer, which starts at a multiple of this many bytes.
ROOM = 64


class MeshWithMemory(Mesh):
    def __init__(self, *args):
        super().__init__(*args)
        self.buffers = {}

    def time(self, plan, source, target):
        shape = tuple(map(int, plan["shape"].split("x")[:-1]))
        longest = max((sum(math.prod(box["sizes"]) for box in each["boxes"]) for each in plan["messages"]), default=0)
        self.buffers[shape, source, target] = 4 * longest + ROOM * (longest > 0)
        return super().time(plan, source, target)

    def bytes(self, shape, stored):
        block = self.block(stored.splits, shape)
        tiled = re.findall(rf"{LANES}([a-d])", stored.local)
        return 4 * math.prod(-(-n // LANES) * LANES if "abcd"[d] in tiled else n for d, n in enumerate(block))

    def decisions(self, shape, steps):
        """Yields the cost of each decision and the peak memory of one device."""
        plain = self.store((None,) * len(self.axes), "", shape, "")
        ops = [(kind, shapes, self.configurations(kind, sizes, shapes)) for kind, sizes, shapes in chain(shape, steps)]
        out = ops[-1][1][-1]
        self.store((None,) * len(self.axes), "", out, "")
        made = [{plain}]
        for _, shapes, configs in ops:
            self.convert(shapes[0], {(layout, config[0]) for layout in made[-1] for config, _ in configs})
            made.append({config[-1] for config, _ in configs})
        self.convert(out, {(layout, plain) for layout in made[-1]})
        given = self.bytes(shape, plain)
        for choice in itertools.product(*(configs for *_, configs in ops)):
            cost, weights, peak, value = 0, 0, given, plain
            reads = [config[0] for config, _ in choice] + [plain]
            shapes = [shapes[0] for _, shapes, _ in ops] + [out]
            for i, (tensor, read) in enumerate(zip(shapes, reads)):
                taken = given + (self.bytes(tensor, value) + ROOM if i else 0)
                if read != value:
                    taken += self.bytes(tensor, read) + ROOM + self.buffers.get((tensor, value, read), 0)
                peak = max(peak, taken)
                cost += self.conversion(tensor, value, read)
                if i == len(ops):
                    break
                config, price = choice[i]
                value = config[-1]
                ofRead = self.bytes(tensor, read) + ROOM if i or read != plain else 0
                peak = max(peak, given + ofRead + self.bytes(ops[i][1][-1], value) + ROOM)
                cost += price
                if len(config) == 3:
                    weights += self.bytes(ops[i][1][1], config[1])
            yield cost, weights + peak


class Memory(unittest.TestCase):
    def decide(self, mesh, text, memory, certificate=""):
        target = mesh.target()[:-1] + f", memory = {memory}>"
        options = f" certificate={certificate}" if certificate else ""
        return read_assignment(opt(text, f"--layout-assign=target={{{target}}}{options}"))

    def check(self, mesh, shape, steps):
        # The least cost for each peak memory.
        best = {}
        for cost, taken in mesh.decisions(shape, steps):
            best[taken] = min(cost, best.get(taken, math.inf))
        corners, cost = [], math.inf
        for taken in sorted(best):
            if best[taken] < cost:
                cost = best[taken]
                corners.append((taken, cost))
        text = program(shape, steps)
        with tempfile.TemporaryDirectory() as folder, self.subTest(mesh=mesh.target(), shape=shape, steps=steps):
            for i, (taken, cost) in enumerate(corners):
                last = i + 1 == len(corners)
                most = 1 << 40 if last else corners[i + 1][0] - 1
                for memory in {taken, (taken + most) // 2, most}:
                    # A fixed limit of blocks would restrict the candidates.
                    stated = self.decide(mesh, text, memory)
                    self.assertEqual((stated["cost"], stated["lower_bound"]), (cost, cost), memory)
                    self.assertLessEqual(stated["memory_bytes"], memory)
                file = pathlib.Path(folder, "certificate")
                certified = self.decide(mesh, text, taken, file)
                self.assertEqual((certified["cost"], certified["lower_bound"]), (cost, cost))
                _, _, limit = certify.check(file.read_text())
                self.assertEqual(limit, taken)
                with self.assertRaises(certify.Rejected):
                    certify.check(re.sub(r"^budget \d+", f"budget {taken - 1}", file.read_text(), flags=re.M))
            least = corners[0][0]
            for memory in (1, least // 2, least - 1):
                with self.assertRaisesRegex(ToolError, "the target's 'memory': one device needs at least") as error:
                    self.decide(mesh, text, memory)
                bound = int(re.search(r"needs at least (\d+) bytes", str(error.exception))[1])
                self.assertTrue(memory < bound <= least, (memory, bound, least))
        return len(corners)

    def test_one_axis(self):
        found = 0
        for size, shape, steps in ((2, (8, 16), (32, "tanh", 16)), (2, (1, 64), (128, "tanh", 64)),
                                   (3, (7, 20), (31, "tanh", 10)), (4, (16, 8), (24, "tanh", 40))):
            found += self.check(MeshWithMemory({"x": size}, [10], [1000]), shape, steps)
        self.assertGreater(found, 12)

    def test_two_axes(self):
        self.check(MeshWithMemory({"x": 2, "y": 2}, [5, 20], [100, 1000]), (8, 16), (12, 16))

    def test_windows(self):
        self.check(MeshWithMemory({"x": 2}, [10], [1000]), (2, 8, 6, 6), ((8, 3), "tanh"))


if __name__ == "__main__":
    unittest.main()
