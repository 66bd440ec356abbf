# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
# Check that names of a module are escaped: a package writes files into its own folder only, its manifest is JSON, and
# names of kernels are identifiers.
import json
import pathlib
import sys

from layout_mlir.tools import ToolError, run_tool

folder = pathlib.Path(sys.argv[1])
MODULE = """module attributes {gpu.container_module} {
  gpu.module @"%(module)s" {
    gpu.func @"%(kernel)s"(%%w: memref<4xf32, "buffer">, %%out: memref<4xf32, "buffer">) kernel {
      %%x = gpu.global_id x
      %%a = memref.load %%w[%%x] : memref<4xf32, "buffer">
      memref.store %%a, %%out[%%x] : memref<4xf32, "buffer">
      gpu.return
    }
  }
  memref.global "private" constant @"%(constant)s" : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
  func.func @"%(function)s"() -> memref<4xf32> {
    %%c1 = arith.constant 1 : index
    %%c4 = arith.constant 4 : index
    %%w = gpu.alloc () {layout.constant = @"%(constant)s", "layout.\\22</script>" = "\\FF*/"} : memref<4xf32, "buffer">
    %%o = gpu.alloc () : memref<4xf32, "buffer">
    gpu.launch_func @"%(module)s"::@"%(kernel)s" blocks in (%%c1, %%c1, %%c1) threads in (%%c4, %%c1, %%c1)
        args(%%w : memref<4xf32, "buffer">, %%o : memref<4xf32, "buffer">)
    %%h = memref.alloc() : memref<4xf32>
    gpu.memcpy %%h, %%o : memref<4xf32>, memref<4xf32, "buffer">
    return %%h : memref<4xf32>
  }
}
"""


def write(**names):
    plain = {"module": "kernels", "kernel": "copy", "constant": "w", "function": "main"}
    path = folder / "module.mlir"
    path.write_text(MODULE % {**plain, **names})
    return path


HOSTILE = ["../../outside", "/absolute", "..", "a b", "$(touch x)", "quote\\22 \\5C", "</script>", "line\\0Abreak",
           "\\FF\\FE", "manifest", "x" * 3000, "*/ int main(){}", "na\\C3\\AFve"]
for number, name in enumerate(HOSTILE):
    package = folder / "packages" / str(number)
    inner = write(module=name, constant=name + "c", function=name + "f")
    real = name.replace("\\22", '"').replace("\\5C", "\\").replace("\\0A", "\n")
    if "\\FF" in name or "\\C3" in name:  # not representable on a command line
        inner = write(module=name, constant=name + "c")
        real = "main"
    else:
        real += "f"
    run_tool("layout-translate", "--layout-to-opencl-package", inner, f"--function={real}", "-o", package)
    manifest = json.loads((package / "manifest.json").read_text())
    assert manifest["function"] == real, manifest["function"]
    names = {path.name for path in package.iterdir()}
    assert len(names) == 4, names
    kernel = manifest["kernels"][0]
    files = {kernel["file"], kernel["source"], manifest["commands"][0]["file"], "manifest.json"}
    assert names == files and all(len(file) < 128 for file in files), (names, files)
    assert (package / manifest["commands"][0]["file"]).stat().st_size == 16
assert {path.name for path in (folder / "packages").iterdir()} == set(map(str, range(len(HOSTILE))))
assert {path.name for path in folder.iterdir()} == {"packages", "module.mlir"}


def refuse(text, tool, *args):
    try:
        run_tool(tool, *args)
    except ToolError as error:
        assert text in str(error), error
        return
    raise AssertionError(f"accepted: {text}")


for name in HOSTILE:
    if name != "manifest":
        refuse("which is not an OpenCL C identifier", "layout-opt", "--layout-opencl-kernels-to-spirv",
               write(kernel=name))
for name in ("layoutClUpload", "__opencl_words_kernels"):
    refuse("belong to the runtimes of devices: rename it", "layout-opt", "--layout-gpu-to-opencl",
           write(constant=name))
# Names that are equal after joining their parts.
run_tool("layout-opt", "--layout-gpu-to-opencl", write(module="a_b", kernel="c"))
