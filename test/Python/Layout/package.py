# RUN: %python %s %layout_src_root
"""What a wheel says of itself is what the tree is. (Building one takes minutes: docs/python.md.)"""

import pathlib
import re
import sys
import tomllib
import unittest

import layout_mlir

ROOT = pathlib.Path(sys.argv.pop())


class Package(unittest.TestCase):
    def setUp(self):
        self.project = tomllib.loads((ROOT / "pyproject.toml").read_text())

    def test_version_is_the_projects(self):
        version = re.search(r"project\(mlir-layout VERSION ([\d.]+)",
                            (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertEqual(self.project["project"]["version"], version)
        self.assertEqual(layout_mlir.__version__, version)

    def test_what_it_names_exists(self):
        settings = self.project["tool"]["scikit-build"]
        for path in [self.project["project"]["readme"], *settings["wheel"]["packages"]]:
            self.assertTrue((ROOT / path).exists(), path)
        cmake = (ROOT / "python/CMakeLists.txt").read_text()
        for target in settings["build"]["targets"]:
            self.assertIn(f"pybind11_add_module({target} ", cmake)
        for component in settings["install"]["components"]:
            self.assertIn(f"COMPONENT {component} ", cmake)
        self.assertTrue((ROOT / "python/layout_mlir/py.typed").exists())

    def test_it_uses_nothing_of_examples_and_benchmarks(self):
        pattern = re.compile(r"^\s*(?:from|import) (?:bench|demo|networks)\b", re.M)
        for path in (ROOT / "python/layout_mlir").rglob("*.py"):
            self.assertIsNone(pattern.search(path.read_text()), path)

    def test_dependencies_are_those_of_the_tree(self):
        lines = (ROOT / "python/requirements.txt").read_text().splitlines()
        wanted = [line for line in lines if line and not line.startswith("#")]
        self.assertEqual(self.project["project"]["dependencies"], wanted)


if __name__ == "__main__":
    unittest.main()
