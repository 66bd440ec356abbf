# REQUIRES: python-extension, auditwheel, onnx
# RUN: %python %s %layout_src_root %layout_obj_root %t %if torch %{ %torch_python %}
"""Checks that a wheel works without the repository and LLVM's libraries."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import unittest
import zipfile

ROOT, BUILD, WORK = map(pathlib.Path, (sys.argv.pop(1) for _ in range(3)))
# The Python that has PyTorch, if there is one.
TORCH = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else None
# The libraries that every system with the platform tag has, and those of Python's own modules.
SYSTEM = re.compile(r"/(usr/)?lib(64|/x86_64-linux-gnu)/(ld-linux-x86-64\.so\.2|lib(bz2|c|m|dl|rt|z|expat|lzma|pthread|util|gcc_s|stdc\+\+)\.so\.\d)")
TOOLS = ["layout-lsp-server", "layout-opt", "layout-reduce", "layout-run", "layout-solve", "layout-translate"]


def call(*command, env=None, **kwargs):
    """Returns the output of a command, which runs in an unrelated directory."""
    done = subprocess.run([str(each) for each in command], cwd="/", env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **kwargs)
    if done.returncode:
        raise AssertionError(f"{command}\nexit status {done.returncode}\n{done.stdout}")
    return done.stdout


def list_files(folder):
    return {str(path) for path in folder.rglob("*") if path.is_file()}


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        call(sys.executable, "-B", ROOT / "scripts/wheel.py", ROOT, BUILD, WORK, 0, "layout-mlir")
        cls.wheel, = WORK.glob("*.whl")
        cls.venv = WORK / "a folder"
        call(sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", cls.venv)
        # The packages of the extra `onnx` are those of the project's environment.
        site, = cls.venv.glob("lib/python*/site-packages")
        (site / "packages.pth").write_text(sysconfig.get_path("purelib"))
        cls.before = list_files(cls.venv)
        cls.pip("install", "--no-index", "--no-compile", f"{cls.wheel}[onnx,jax]")
        cls.package = site / "layout_mlir"
        # OpenMP's library would search there for a race detector.
        cls.environment = {"PATH": f"{cls.venv}/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                           "LD_LIBRARY_PATH": "/usr/lib/llvm-22/lib", "OMP_TOOL": "disabled"}

    @classmethod
    def pip(cls, *arguments):
        # Modules that the programs compiled are beside their sources, not in the build folder.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPYCACHEPREFIX"}
        return call(sys.executable, "-m", "pip", "--python", cls.venv / "bin/python", "--disable-pip-version-check",
                    *arguments, env=environment)

    def run_there(self, command, *arguments, **kwargs):
        return call(self.venv / "bin" / command, *arguments, env=self.environment, **kwargs)

    def check_libraries(self, paths):
        """Checks that each library is the wheel's, Python's or one of every system."""
        shared = {path for path in paths if ".so" in path}
        self.assertTrue(any("libLLVM-" in path for path in shared), shared)
        pythons = sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), "/usr/lib/python3"
        for path in shared:
            if not path.startswith((str(self.venv), *pythons)):
                self.assertRegex(path, SYSTEM)

    def test_tag(self):
        self.assertRegex(self.wheel.name, r"^layout_mlir-[\d.]+-cp311-cp311-manylinux_2_\d\d_x86_64\.whl$")
        with self.assertRaisesRegex(AssertionError, "is not a supported wheel"):
            self.pip("download", "--no-index", "--no-deps", "--only-binary=:all:", "--python-version=3.12",
                     "--dest", WORK / "other", self.wheel)

    def test_torch_backend(self):
        found = self.run_there("python", "-c", "from importlib.metadata import entry_points; "
                               "print(entry_points(group='torch_dynamo_backends')['layout'].value)")
        self.assertEqual(found, "layout_mlir.torch_backend:layout\n")

    def test_tools(self):
        for tool in TOOLS:
            with self.subTest(tool=tool):
                self.assertEqual(self.run_there(tool, "--version"),
                                 call(BUILD / "bin" / tool, "--version"))
                loaded = call(self.package / "bin" / tool, "--version", env={**self.environment, "LD_DEBUG": "files"})
                self.check_libraries(re.findall(r"calling init: (.*)", loaded))

    def test_pipeline(self):
        module = "func.func @f(%x: tensor<4x6xf32>) -> tensor<4x6xf32> { return %x : tensor<4x6xf32> }"
        self.assertIn("llvm.func @f", self.run_there("layout-opt", "--layout-linalg-to-llvm", input=module))
        plugin = self.run_there("layout", "--plugin").strip()
        self.assertIn("layout.map<", call("mlir-opt-22", f"--load-dialect-plugin={plugin}",
                                          input="func.func private @f(tensor<4xf32, #layout.map<(i) -> buffer(i)>>)"))

    def test_libraries_of_the_extension(self):
        paths = self.run_there("python", "-c", "from layout_mlir import compile\n"
                               "compile('func.func @main() { return }')()\nprint(open('/proc/self/maps').read())")
        self.check_libraries(re.findall(r" (/.*)", paths))

    def test_examples_of_the_documentation(self):
        self.assertIn(" 0 failed", self.run_there("python", ROOT / "scripts/doc_examples.py", ROOT / "README.md",
                                                  ROOT / "docs/python.md"))

    def test_quick_start_of_onnx_runtime(self):
        self.assertIn(" 0 failed", self.run_there("python", ROOT / "scripts/doc_examples.py", ROOT / "docs/embedding.md"))

    @unittest.skipUnless(TORCH, "there is no PyTorch")
    def test_quick_start_of_pytorch(self):
        """The wheel is the only package of an environment that sees those of the environment with PyTorch."""
        venv = WORK / "torch"
        call(TORCH, "-m", "venv", "--without-pip", "--system-site-packages", venv)
        site, packages = (next(folder.glob("lib/python*/site-packages")) for folder in (venv, TORCH.parents[1]))
        (site / "packages.pth").write_text(str(packages))
        call(sys.executable, "-m", "pip", "--python", venv / "bin/python", "--disable-pip-version-check", "install",
             "--no-index", "--no-compile", "--no-deps", self.wheel)
        # Without an import of the package, torch.compile finds the backend by the entry point.
        found = call(venv / "bin/python", "-c", "import torch\n"
                     "f = torch.compile(torch.exp, backend='layout')\n"
                     "with torch.no_grad(): torch.testing.assert_close(f(torch.ones(3)), torch.ones(3).exp())\n"
                     "import layout_mlir; print(layout_mlir.__file__)", env=self.environment)
        self.assertTrue(found.splitlines()[-1].startswith(str(site)), found)
        self.assertIn(" 0 failed", call(venv / "bin/python", ROOT / "scripts/doc_examples.py",
                                        ROOT / "docs/tutorials/pytorch.md", env=self.environment))

    def test_model(self):
        model = WORK / "small.onnx"
        call(sys.executable, ROOT / "test/Python/Inputs/make_onnx.py", "small", model)
        said = self.run_there("layout", "run", model, "--repeat", "1")
        self.assertRegex(said, r"result 0: largest difference .* \(within 0.0001\)")
        self.assertRegex(said, r"from ONNX Runtime .* \(within 0.001\)")
        exported = ROOT / "test/Integration/Inputs/jax-relu-of-product.bc"
        self.assertIn("(within 0.0001)", self.run_there("layout", "run", exported, "--repeat", "1"))

    def test_demo(self):
        said = self.run_there("layout", "demo", "mobilenet_v2", "--small", "--repeat", "1")
        self.assertRegex(said, r"result 0: largest difference .* \(within 0.0001\)")

    def test_simulator(self):
        program = ROOT / "test/Targets/NPU/NPUToEmitC/Inputs/package.mlir"
        self.assertRegex(self.run_there("layout", "npu", program), r"transfers +3\n")
        self.environment = {**self.environment, "CXX": "no-compiler"}
        with self.assertRaisesRegex(AssertionError, "no-compiler was not found: install .*g\\+\\+"):
            self.run_there("layout", "npu", program)

    def test_commands(self):
        self.assertRegex(self.run_there("layout", "--version"), r"^layout \d+\.\d+\.\d+\n$")
        for command in "run", "demo", "networks", "import", "npu":
            self.assertIn(f"usage: layout {command} ", self.run_there("layout", command, "--help"))

    def test_licenses(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
        licenses = {name.rpartition("/licenses/")[2] for name in names if "/licenses/" in name}
        self.assertLessEqual({"LICENSE", "libllvm22", "libisl-dev", "LGPL-3"}, licenses)

    def test_data_files(self):
        files = {str(path.relative_to(ROOT / "python")) for path in (ROOT / "python/layout_mlir").rglob("*")
                 if path.is_file() and "__pycache__" not in path.parts}
        with zipfile.ZipFile(self.wheel) as archive:
            names = set(archive.namelist())
        self.assertLessEqual(files | {"layout_solver/libLayoutSolverC.so", "layout_solver/certify.py"}, names)

    @classmethod
    def tearDownClass(cls):
        cls.pip("uninstall", "--yes", "layout-mlir")
        left = list_files(cls.venv) - cls.before
        shutil.rmtree(WORK)
        assert not left, left


if __name__ == "__main__":
    unittest.main()
