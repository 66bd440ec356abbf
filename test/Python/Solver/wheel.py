# REQUIRES: c-api, auditwheel
# RUN: %python %s %layout_src_root %layout_obj_root %t
"""Checks that the wheel layout-solver works in an environment with NumPy alone, without the repository and LLVM."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import zipfile

import numpy

ROOT, BUILD, WORK = map(pathlib.Path, (sys.argv.pop(1) for _ in range(3)))
MOST_BYTES = 5_000_000


def call(*command, **options):
    """Returns the output of a command, which runs in an unrelated directory without the paths of the project."""
    done = subprocess.run([str(each) for each in command], cwd="/", text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}, **options)
    if done.returncode:
        raise AssertionError(f"{command}\nexit status {done.returncode}\n{done.stdout}")
    return done.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        call(sys.executable, "-B", ROOT / "scripts/wheel.py", ROOT, BUILD, WORK, 6, "layout-solver")
        cls.wheel, = WORK.glob("*.whl")
        call(sys.executable, "-m", "venv", "--without-pip", WORK / "venv")
        cls.python = WORK / "venv/bin/python"
        site, = WORK.glob("venv/lib/python*/site-packages")
        packages = pathlib.Path(numpy.__file__).parent.parent
        for path in [packages / "numpy", *packages.glob("numpy.libs"), *packages.glob("numpy-*info")]:
            (site / path.name).symlink_to(path)
        cls.pip("install", "--no-index", "--no-compile", cls.wheel)
        cls.package = site / "layout_solver"

    @classmethod
    def tearDownClass(cls):
        cls.pip("uninstall", "--yes", "layout-solver")
        left = list(cls.package.rglob("*")) if cls.package.exists() else []
        shutil.rmtree(WORK)
        assert not [path for path in left if path.is_file() and path.suffix != ".pyc"], left

    @classmethod
    def pip(cls, *arguments):
        return call(sys.executable, "-m", "pip", "--python", cls.python, "--disable-pip-version-check", *arguments)

    def test_size_and_tag(self):
        self.assertRegex(self.wheel.name, r"^layout_solver-[\d.]+-py3-none-manylinux_2_\d\d_x86_64\.whl$")
        self.assertLess(self.wheel.stat().st_size, MOST_BYTES)
        installed = sum(path.stat().st_size for path in self.package.rglob("*") if path.is_file())
        self.assertLess(installed, MOST_BYTES)
        print(f"the wheel has {self.wheel.stat().st_size} bytes, installed {installed}")

    def test_contents(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
        self.assertEqual({name.partition("/")[0].partition("-")[0] for name in names}, {"layout_solver"})
        licenses = {name.rpartition("/licenses/")[2] for name in names if "/licenses/" in name}
        self.assertLessEqual({"LICENSE", "llvm-22-dev", "libstdc++-12-dev"}, licenses)
        self.assertIn("layout_solver/py.typed", names)

    def test_page(self):
        said = call(self.python, ROOT / "scripts/doc_examples.py", ROOT / "docs/solver-api.md")
        self.assertRegex(said, r"[1-9]\d* examples in 1 files, 0 failed")

    def test_libraries(self):
        maps = call(self.python, "-B", "-c", "import layout_solver\nprint(open('/proc/self/maps').read())")
        loaded = {path for path in re.findall(r" (/.*\.so.*)", maps) if "/numpy" not in path}
        self.assertIn(str(self.package / "libLayoutSolverC.so"), loaded)
        self.assertFalse([path for path in loaded if re.search("LLVM|MLIR|Layout(?!SolverC)", path)], loaded)
        linked = set(re.findall(r"^\s*(\S+?)\.so", call("ldd", self.package / "libLayoutSolverC.so"), re.M))
        self.assertLessEqual(linked, {"linux-vdso", "libm", "libc", "/lib64/ld-linux-x86-64"})

    def test_the_same_tests(self):
        self.assertIn("OK", call(self.python, "-B", ROOT / "test/Python/Solver/problem.py"))


unittest.main()
