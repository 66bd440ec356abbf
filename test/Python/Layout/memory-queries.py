# REQUIRES: target-npu, target-opencl
# RUN: %python %s
"""Checks cores, banks, shared bytes, groups and conversions against lists of every byte, by numpy."""

import collections
import random
import unittest

import numpy as np
from layout_mlir import Layout, LayoutError, Target

CHIP = Target(npus=4, eu_bytes=128, bytes_per_npu=4096, banks=8)
SEED = 20261122


def scatter(start, mode="aligned", element="f32", offset=0):
    where = f", offset = {offset}" if offset else ""
    return Layout(f"#layout.npu_scatter<{mode}, start = {start}{where}>", CHIP, element)


def aligned_bytes(start, shape, byte):
    """Returns (core, byte) of every byte of an aligned f32 tensor, by docs/spec.md, 3.4."""
    n, c, h, w = np.indices(shape)
    channel = -(-shape[2] * shape[3] * 4 // 128) * 128
    rows = -(-(start + shape[1]) // 4)
    first = byte + n * channel * rows + (start + c) // 4 * channel + 4 * (h * shape[3] + w)
    core = (start + c) % 4
    return {(int(u), int(b) + k) for u, b in zip(core.flat, first.flat) for k in range(4)}


class Memory(unittest.TestCase):
    def test_addresses(self):
        for address in range(0, 4 * 4096, 37):
            core, byte = CHIP.split_address(address)
            self.assertEqual((core, byte), divmod(address, 4096))
            self.assertEqual(CHIP.join_address(core, byte), address)
        for call in (lambda: CHIP.split_address(4 * 4096), lambda: CHIP.split_address(-1),
                     lambda: CHIP.join_address(4, 0), lambda: CHIP.join_address(0, 4096)):
            with self.assertRaisesRegex(LayoutError, "core"):
                call()

    def test_channels_per_unit(self):
        for start in range(4):
            for channels in range(1, 12):
                counts = collections.Counter((start + c) % 4 for c in range(channels))
                self.assertEqual(scatter(start).channels_per_core((2, channels, 3, 2)),
                                 tuple(counts[core] for core in range(4)))
        with self.assertRaisesRegex(LayoutError, "no coordinate 'npu'"):
            Layout("#layout.map<(i) -> buffer(i)>").channels_per_core((4,))

    def test_overlap(self):
        rng = random.Random(SEED)
        answers = collections.Counter()
        for _ in range(150):
            tensors = []
            for _ in range(2):
                shape = tuple(rng.randint(1, top) for top in (2, 6, 3, 5))
                tensors.append((scatter(start := rng.randint(0, 3)), shape, start,
                                4 * rng.randint(0, 100)))
            (a, shape, start, byte), (b, other, second, later) = tensors
            shared = bool(aligned_bytes(start, shape, byte) & aligned_bytes(second, other, later))
            found = a.overlaps(shape, b, other, byte, later, holes=False)
            self.assertIs(found, shared, f"seed {SEED}: {tensors}")
            answers[found] += 1
            size, next_size = (4 * layout.storage_extent(box)["offset"]
                               for layout, box in ((a, shape), (b, other)))
            self.assertIs(a.overlaps(shape, b, other, byte, later),
                          byte < later + next_size and later < byte + size)
        self.assertGreater(min(answers[True], answers[False]), 20, answers)

    def test_overlap_of_unknown_sizes(self):
        even = Layout("#layout.map<(i) -> buffer(offset = i * 2)>", element="f32")
        self.assertIs(even.overlaps((None,), even, (None,), 0, 4, holes=False), False)
        self.assertIs(even.overlaps((2**40,), even, (2**40,), 0, 2, holes=False), True)
        with self.assertRaisesRegex(LayoutError, "are not in one memory"):
            even.overlaps((4,), scatter(0), (1, 1, 1, 1))
        with self.assertRaisesRegex(LayoutError, "element='f32'"):
            Layout(str(even)).overlaps((4,), even, (4,))

    def test_banks(self):
        rng = random.Random(SEED)
        shape = (16, 24)
        layouts = [(Layout("#layout.map<(i, j) -> buffer(i, j)>", element="f32"),
                    lambda i, j: 24 * i + j),
                   (Layout("#layout.map<(i, j) -> buffer(j, i)>", element="f32"),
                    lambda i, j: 16 * j + i),
                   (Layout("#layout.map<(i, j) -> buffer(i, j floordiv 8, xor(i, j : 8))>",
                           element="f32"), lambda i, j: 24 * i + j // 8 * 8 + (i ^ j) % 8)]
        for layout, offset in layouts:
            for _ in range(40):
                lanes = [(rng.randrange(16), rng.randrange(24)) for _ in range(rng.randint(1, 32))]
                banks = rng.choice((4, 8, 32))
                words = collections.defaultdict(set)
                for lane in lanes:
                    words[offset(*lane) % banks].add(offset(*lane))
                use = layout.bank_use(lanes, shape, banks)
                self.assertEqual(use["cycles"], max(map(len, words.values())))
                self.assertEqual(use["banks"], tuple(offset(*lane) % banks for lane in lanes))
        local = scatter(0)
        stripe = CHIP.bytes_per_npu // CHIP.banks
        shape_of = (8, 4, 8, 8)
        for lanes in ([(0, 0, 0, 0), (7, 0, 0, 0)], [(0, 0, 0, 0), (1, 0, 0, 0)],
                      [(0, 0, 0, 0), (1, 1, 0, 0)], [(0, 0, 0, 0), (0, 0, 3, 7)]):
            words = collections.defaultdict(set)
            for n, c, h, w in lanes:
                byte = 256 * n + 4 * (8 * h + w)
                words[c, byte // stripe].add(byte // CHIP.eu_bytes)
            use = local.bank_use(lanes, shape_of, CHIP)
            self.assertEqual(use, local.bank_use(lanes, shape_of, CHIP.banks, stripe,
                                                 CHIP.eu_bytes))
            self.assertEqual(use["cycles"], max(map(len, words.values())))
        with self.assertRaisesRegex(LayoutError, "has no banks"):
            local.bank_use([], shape_of, Target(npus=4, eu_bytes=128, bytes_per_npu=4096))
        with self.assertRaisesRegex(LayoutError, "outside the box"):
            layouts[0][0].bank_use([(16, 0)], shape, 4)
        with self.assertRaisesRegex(LayoutError, "whole words"):
            layouts[0][0].bank_use([], shape, 0)

    def test_refinement(self):
        shape = (2, 40, 3, 3)
        n, c, h, w = np.indices(shape)
        blocks = {block: (((n * -(-40 // block) + c // block) * 3 + h) * 3 + w) * block + c % block
                  for block in (1, 4, 8, 16)}
        layouts = {block: Layout('#layout.blocked<"NCHW" to "'
                                 + (f'NCHW{block}c">' if block > 1 else 'NCHW">'))
                   for block in blocks}
        blocks[1] = ((n * 40 + c) * 3 + h) * 3 + w
        for a, first in layouts.items():
            for b, second in layouts.items():
                for group, other in ((1, 1), (a, b), (4, 16), (2, 8), (3, 9)):
                    pairs = set(zip((blocks[a] // group).flat, (blocks[b] // other).flat))
                    self.assertIs(first.refines(second, shape, group, other),
                                  len(pairs) == len({g for g, _ in pairs}), (a, b, group, other))
        self.assertIs(layouts[4].refines(layouts[16], (None, 64, None, None), 4, 16), True)
        with self.assertRaisesRegex(LayoutError, "at least 1 position"):
            layouts[1].refines(layouts[4], shape, 0, 1)


class Conversions(unittest.TestCase):
    def test_bytes_and_runs(self):
        texts = ["NCHW", "NHWC", "NCHW4c", "NCHW16c", "NHWC8n"]
        for source in texts:
            for dest in texts:
                for shape in ((8, 32, 3, 5), (8, 32, 1, 1), (1, 21, 3, 2)):
                    with self.subTest(source=source, dest=dest, shape=shape):
                        self.check(source, dest, shape)

    def check(self, source, dest, shape):
        a = Layout(f'#layout.blocked<"NCHW" to "{source}">', element="f32")
        b = Layout(f'#layout.padded<#layout.blocked<"NCHW" to "{dest}">, zero>', element="f32")
        plan = a.conversion_to(b, shape)
        numbers = np.arange(1, 1 + np.prod(shape), dtype="f4").reshape(shape)
        first, second = a.pack(numbers).ravel(), b.pack(numbers, pad=0).ravel()
        padding = 4 * int((second == 0).sum())
        # Padding of the source is not stated to be zero.
        same = (not padding and first.size == second.size and bool((first == second).all()))
        self.assertEqual(plan.method == "none", same)
        self.assertEqual(plan.cost == 0, same)
        if same:
            self.assertEqual((plan.bytes_read, plan.bytes_written, plan.padding_bytes), (0, 0, 0))
            return
        self.assertEqual(plan.padding_bytes, padding)
        self.assertGreaterEqual(plan.bytes_read, numbers.nbytes if plan.method != "fill" else 0)
        self.assertGreaterEqual(plan.bytes_written,
                                padding + (numbers.nbytes if plan.method != "fill" else 0))
        if plan.method == "copy" and not padding and first.size == numbers.size:
            self.assertEqual((plan.bytes_read, plan.bytes_written),
                             (numbers.nbytes, numbers.nbytes))
            # Segments that are contiguous on both sides.
            place = np.empty(numbers.size, int)
            place[second.astype(int) - 1] = np.arange(second.size)
            ends = np.nonzero(np.diff(place[first.astype(int) - 1]) != 1)[0] + 1
            length = plan.run_bytes // 4
            self.assertTrue((ends % length == 0).all())
            self.assertEqual(plan.runs * length, numbers.size)

    def test_targets_and_other_spaces(self):
        a = Layout('#layout.blocked<"NHWC" to "NHWC">', element="f32")
        image = Layout("#layout.rgba_image<in_out_channel>", element="f32")
        target = '#layout.opencl'
        plan = a.conversion_to(image, (1, 8, 8, 16), target)
        self.assertEqual((plan.kind, plan.bytes_written), ("relayout", 4 * 8 * 8 * 16))
        self.assertGreater(plan.cost, plan.bytes_read + plan.bytes_written)
        chip = ('#layout.npu<chip = #npu.target<npus = 4, '
                'bytes_per_npu = 4096, eu_bytes = 128>>')
        plan = Layout('#layout.blocked<"NCHW" to "NCHW">', element="f32").conversion_to(
            scatter(0), (1, 4, 2, 8), chip)
        self.assertEqual((plan.method, plan.bytes_read), ("transfers", 4 * 4 * 2 * 8))

    def test_a_gather_says_why(self):
        a = Layout("#layout.map<(i) -> buffer(i)>", element="f32")
        b = Layout("#layout.map<(i) -> buffer(xor(i, i floordiv 4 : 4), i floordiv 4)>",
                   element="f32")
        plan = a.conversion_to(b, (64,))
        if plan.method == "gather":
            self.assertRegex(plan.how, "element by element: .")
        self.assertEqual(plan.kind, "relayout")

    def test_faults(self):
        a = Layout('#layout.blocked<"NCHW" to "NCHW16c">', element="f32")
        for message, call in (
                ("same element type", lambda: a.conversion_to(Layout(str(a)), (1, 1, 1, 1))),
                ("is not a target", lambda: a.conversion_to(a, (1, 1, 1, 1), "42 : i32")),
                ("rank 3", lambda: a.conversion_to(a, (1, 1, 1))),
                (".", lambda: a.conversion_to(a, (1, 1, 1, 1), "#layout.cpu<>")),
                ("64 bits", lambda: a.conversion_to(a, (2**62,) * 4))):
            with self.assertRaisesRegex(LayoutError, message):
                call()


if __name__ == "__main__":
    unittest.main()
