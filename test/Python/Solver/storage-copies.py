# REQUIRES: c-api
# RUN: %python %s
"""Checks the storage orders of copies in captured programs against transpositions and reshapes of NumPy."""

import random
import unittest

import numpy as np
from layoutbench.capture import Capture
from layoutbench.storage_copies import Program, merge, regroup


def read(digits):
    """Returns the elements of 0, 1, .. that digits address, in the order of memory."""
    offsets = np.zeros(1, int)
    for size, stride in digits:
        offsets = (offsets[:, None] + stride * np.arange(size)).ravel()
    return offsets.tolist()


class StorageCopies(unittest.TestCase):
    def test_chains_of_copies(self):
        draw = random.Random(0)
        for _ in range(200):
            sizes = [draw.choice((1, 2, 3, 4, 6)) for _ in range(draw.randint(1, 4))]
            value, program = np.arange(np.prod(sizes)), Program(Capture("none", "chain"))
            program.add_input("v0", value.size, 4)
            for i in range(draw.randint(1, 4)):
                shape = draw.sample(sizes, len(sizes))  # a view, as a reshape makes it
                groups = regroup(program.get_digits(f"v{i}"), shape)
                if groups is None:
                    break
                order = draw.sample(range(len(shape)), len(shape))
                program.add_copy(f"v{i + 1}", f"v{i}", [groups[dim] for dim in order])
                value = value.reshape(shape).transpose(order).ravel()
                digits = program.get_digits(f"v{i + 1}")
                self.assertEqual(read(digits), value.tolist(), (sizes, shape, order))
                self.assertEqual(merge(digits), list(digits))
                if (np.diff(value) == 1).all():  # one spelling of the order without a change
                    self.assertEqual(len(digits), 1)

    def test_splits_that_cross_digits_are_refused(self):
        self.assertEqual(regroup([(6, 1)], [2, 3]), [[(2, 3)], [(3, 1)]])
        self.assertIsNone(regroup([(3, 1), (2, 3)], [2, 3]))
        self.assertIsNone(regroup([(4, 1)], [8]))
        self.assertEqual(regroup([(1, 1)], [1, 1]), [[], []])

    def test_copies_of_one_order_are_one_layout(self):
        capture = Capture("none", "shared")
        program = Program(capture)
        program.add_input("x", 6, 4)
        columns = [[(3, 1)], [(2, 3)]]
        for name in ("a", "b"):
            program.add_copy(name, "x", columns)
            program.add_op(f"product of {name}", [name, "weight"], 6, 4, is_loop=False)
            program.add_output(f"product of {name}")
        program.add_op("constant", ["weight"], 6, 4, is_loop=True)
        program.add_op("loop", ["a"], 6, 4, is_loop=True)
        self.assertEqual(program.write().get_layouts("x"), ["stored", "3x1 2x3"])
        self.assertEqual([op[0] for op in capture.ops], ["argument", "product of a", "result", "product of b", "result",
                                                         "loop", "loop"])


if __name__ == "__main__":
    unittest.main()
