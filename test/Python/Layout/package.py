# RUN: %python %s %layout_src_root
"""Checks that the metadata of a wheel match the tree; wheel.py builds one."""

import importlib
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
        solver = tomllib.loads((ROOT / "python/solver-wheel/pyproject.toml").read_text())
        self.assertEqual(solver["project"]["version"], version)
        self.assertIn(f'__version__ = "{version}"', (ROOT / "python/layout_solver/__init__.py").read_text())

    def test_what_it_names_exists(self):
        settings = self.project["tool"]["scikit-build"]
        for path in [self.project["project"]["readme"], *settings["wheel"]["packages"]]:
            self.assertTrue((ROOT / path).exists(), path)
        for folder in "python", "python/wheel":
            cmake = (ROOT / folder / "CMakeLists.txt").read_text()
            for target in settings["build"]["targets"]:
                self.assertRegex(cmake, rf"add_custom_target\({target}\b")
            for component in settings["install"]["components"]:
                self.assertRegex(cmake, rf"COMPONENT {component}\b")
        self.assertTrue((ROOT / "python/layout_mlir/py.typed").exists())

    def test_it_uses_nothing_of_examples_and_benchmarks(self):
        pattern = re.compile(r"^\s*(?:from|import) (?:bench|demo|networks)\b", re.M)
        for path in (ROOT / "python/layout_mlir").rglob("*.py"):
            self.assertIsNone(pattern.search(path.read_text()), path)

    def test_a_command_for_each_tool(self):
        tools = {name for path in ROOT.glob("tools/*/CMakeLists.txt")
                 for name in re.findall(r"layout_add_tool\(([\w-]+)", path.read_text())}
        scripts = self.project["project"]["scripts"]
        self.assertEqual(set(scripts), {"layout", *tools})
        for place in scripts.values():
            module, _, name = place.partition(":")
            self.assertTrue(callable(getattr(importlib.import_module(module), name)), place)

    def test_extras_have_one_version_of_a_package(self):
        versions = {}
        for packages in self.project["project"]["optional-dependencies"].values():
            for package in packages:
                name, version = re.fullmatch(r"([\w-]+)(?:\[.*\])?==(.*)", package).groups()
                self.assertEqual(versions.setdefault(name, version), version, package)


if __name__ == "__main__":
    unittest.main()
