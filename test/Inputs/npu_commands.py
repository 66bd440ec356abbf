"""Random operands of commands for BM1684: shapes, start cores, strides and places that do not overlap.

    draw = Draw(seed, "add", 3)
    shape = draw.shape()
    draw.call("bdc_add", draw.result(shape, None), draw.place(shape, None), draw.place(shape, None), shape, None, ..)
    draw.command                                           # npu_machines.py runs it
"""

import random

import numpy as np

from npu_machines import SYSTEM, WINDOW, Command, SystemAddress

CORES, BYTES, EU_BYTES = 64, 1 << 19, 128


class DoesNotFit(Exception):
    """Raised if the operands need more than the window; the caller draws again."""


def rows(core, channels):
    return -(-(core + channels) // CORES)


def aligned(shape, core, element=4):
    _, c, h, w = shape
    lanes = EU_BYTES // element
    plane = -(-h * w // lanes) * lanes
    return plane * rows(core, c), plane, w, 1


def compact(shape, core):
    _, c, h, w = shape
    return h * w * rows(core, c), h * w, w, 1


class Draw:
    def __init__(self, seed, name, number, window=WINDOW, values="floats"):
        self.random = random.Random(f"{seed} {name} {number}")
        self.numbers = np.random.default_rng(self.random.getrandbits(64))
        self.core = self.pick(0, self.integer(0, CORES - 1), self.integer(0, CORES - 1))
        self.window, self.at, self.system_at = window, 0, 0
        local = self.values(values, CORES * window // 4).view(np.uint8).reshape(CORES, window)
        self.command = Command(local, self.values("words", SYSTEM // 4).view(np.uint8))

    def integer(self, low, high):
        return self.random.randint(low, high)

    def pick(self, *choices):
        return self.random.choice(choices)

    def values(self, kind, count):
        """Returns random words: `floats` between 0.5 and 4 of either sign, `words` of any bits, floats of a range
        (low, high), or elements of a list."""
        if kind == "words":
            return np.frombuffer(self.numbers.bytes(4 * count), np.uint32).copy()
        if kind == "floats":
            magnitude = self.numbers.random(count, np.float32) * np.float32(3.5) + np.float32(0.5)
            return np.where(self.numbers.random(count, np.float32) < 0.5, magnitude, -magnitude)
        if isinstance(kind, tuple):
            low, high = kind
            return self.numbers.random(count, np.float32) * np.float32(high - low) + np.float32(low)
        return self.numbers.choice(np.array(kind, np.float32), count)

    def number(self):
        return float(np.float32(self.random.uniform(0.5, 4) * self.pick(-1, 1)))

    def shape(self, n=4, c=130, h=9, w=24):
        return (self.integer(1, n), self.pick(self.integer(1, 8), self.integer(1, c)), self.integer(1, h),
                self.integer(1, w))

    def gaps(self, shape, core, step=1, fewest=0):
        """Returns strides with at least `fewest` unused elements between rows, planes and batches."""
        _, c, h, w = shape
        row = (w - 1) * step + 1 + self.integer(fewest, 5)
        plane = (h - 1) * row + (w - 1) * step + 1 + self.integer(fewest, 9)
        return plane * rows(core, c) + self.integer(fewest, 9), plane, row, step

    def stride(self, shape, steps=(1,)):
        """Returns null or strides of an operand of the execution units."""
        return self.pick(None, aligned(shape, self.core), compact(shape, self.core),
                         self.gaps(shape, self.core, self.pick(*steps)))

    def source_stride(self, shape, steps=(1, 1, 2, 3)):
        """Returns strides as above, of which some may repeat elements."""
        stride = self.stride(shape, steps)
        if stride and self.integer(0, 3) == 0:
            stride = tuple(self.pick(0, each) for each in stride)
        return stride

    def reserve(self, size, align=EU_BYTES, core=None):
        """Returns the address of unused bytes, the same in every core."""
        if align < EU_BYTES:
            self.at += 4 * self.integer(0, 31)
        self.at = -(-self.at // align) * align
        if self.at + size > self.window:
            raise DoesNotFit
        address = self.at + BYTES * (self.core if core is None else core)
        self.at += size
        return address

    def place(self, shape, stride, element=4, core=None, align=None):
        """Returns the address of a new tensor, which is aligned if it has no strides."""
        start = self.core if core is None else core
        steps = stride or aligned(shape, start, element)
        counts = (shape[0], rows(start, shape[1]), shape[2], shape[3])
        last = sum((count - 1) * step for count, step in zip(counts, steps))
        return self.reserve((last + 1) * element, align or (EU_BYTES if stride is None else 4), core)

    def result(self, shape, stride, **options):
        """Returns the address of a new tensor whose elements may differ by rounding."""
        address = self.place(shape, stride, **options)
        self.command.results.append((address, shape, stride or aligned(shape, self.core)))
        return address

    def work(self, shape):
        """Returns the address of work memory, which is not compared."""
        address = self.place(shape, None)
        size = shape[0] * aligned(shape, self.core)[0] * 4
        self.command.scratch.append((address % BYTES, size))
        return address

    def system(self, size, align=1):
        """Returns the address of unused bytes of system memory."""
        self.system_at = -(-self.system_at // align) * align + align * self.integer(0, 7)
        if self.system_at + size > SYSTEM:
            raise DoesNotFit
        address = SystemAddress(self.system_at)
        self.system_at += size
        return address

    def put(self, address, shape, stride, words):
        """Writes 32-bit elements of a tensor."""
        steps, (core, byte) = stride or aligned(shape, self.core), divmod(address, BYTES)
        n, c, h, w = np.indices(shape)
        at = byte // 4 + n * steps[0] + (core + c) // CORES * steps[1] + h * steps[2] + w * steps[3]
        self.command.local.view(np.uint32)[(core + c) % CORES, at] = np.asarray(words).view(np.uint32).reshape(shape)

    def call(self, name, *arguments):
        self.command.calls.append((name, *arguments))

    def round(self, each=0.0, largest=0.0):
        """Lets results differ: relative to the element, and to the largest result."""
        self.command.each, self.command.largest = each, largest
