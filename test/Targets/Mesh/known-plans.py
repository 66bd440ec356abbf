# RUN: %python %s
"""Checks that the decision costs no more than handwritten plans and is proven: `./dev bench --mesh`."""

import argparse
import pathlib
import tempfile
import unittest

from bench import mesh


class KnownPlans(unittest.TestCase):
    def check(self, name, byte_cost, message_cost):
        args = argparse.Namespace(byte_cost=byte_cost, message_cost=message_cost)
        with tempfile.TemporaryDirectory() as folder, self.subTest(name=name, byte_cost=byte_cost):
            row = mesh.measure(name, args, pathlib.Path(folder))
            self.assertLessEqual(row["optimum"]["cost"], row["plan"]["cost"])
            self.assertLessEqual(row["optimum"]["cost"], row["one"]["cost"])
            if message_cost < 20000:  # otherwise the plan may be slower than one device
                self.assertLess(row["plan"]["cost"], row["one"]["cost"])
            self.assertEqual(row["one"]["bytes"], 0)
            self.assertGreater(row["plan"]["bytes"], 0)

    def test_transformers(self):
        for network in "llama", "bert":
            for axes in mesh.MESHES:
                self.check(f"{network} {axes}", 10, 1000)

    def test_convolutions(self):
        for axes in mesh.MESHES:
            self.check(f"resnet {axes}", 10, 1000)

    def test_slow_links(self):
        for name in "llama 2", "llama 2x2", "resnet 4":
            self.check(name, 30, 20000)


if __name__ == "__main__":
    unittest.main()
