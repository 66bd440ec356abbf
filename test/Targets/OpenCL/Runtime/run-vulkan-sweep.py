# Check that a failure of any call of Vulkan is an error that names the call, leaves no object and no memory of the host
# behind, and is followed by a right run: a library in front of the loader fails one call after another. The program and
# the runtime are compiled with AddressSanitizer, in one translation unit.

# REQUIRES: vulkan-device, vulkan-checks, vulkan-package, target-opencl
# RUN: rm -rf %t && mkdir %t
# RUN: %host_cc -shared -fPIC -Wall -Wextra -Werror %S/Inputs/front-vulkan.c -o %t/front.so -ldl
# RUN: %python %s %t sources %layout_src_root > %t/all.cpp
# RUN: %host_cxx -std=c++17 -O0 -g1 -w -fsanitize=address -I %layout_src_root/include %t/all.cpp -lvulkan -o %t/program
# RUN: %python %s %t | FileCheck %s
# CHECK: 24 functions, {{[0-9]+}} failures

import os
import pathlib
import re
import subprocess
import sys

from layout_mlir.tools import run_tool

PROGRAM = """
#image = #layout.rgba_image<in_out_channel, "NCHW">
func.func @main(%x: tensor<1x4x6x5xf32>) -> tensor<1x4x6x5xf32> {
  %a = layout.convert %x : tensor<1x4x6x5xf32> to tensor<1x4x6x5xf32, #image>
  %f = arith.constant dense<1.5> : tensor<1x4x6x5xf32, #image>
  %b = arith.mulf %a, %f : tensor<1x4x6x5xf32, #image>
  %y = layout.convert %b : tensor<1x4x6x5xf32, #image> to tensor<1x4x6x5xf32>
  return %y : tensor<1x4x6x5xf32>
}
"""
MEMORY, LOST = ("-1", "VK_ERROR_OUT_OF_HOST_MEMORY"), ("-4", "VK_ERROR_DEVICE_LOST")
# Without a cache or timestamps a run goes on.
OPTIONAL = ("vkCreatePipelineCache", "vkCreateQueryPool")
# An allocation that fails is tried again with less memory, or without the objects that wait.
RETRIED = ("vkAllocateMemory", "vkMapMemory")
MOST = 40  # calls of one function


def run(folder, function, number, code):
    """Runs the package three times and returns its status and messages."""
    environment = {"LD_PRELOAD": str(folder / "front.so"), "LAYOUT_VULKAN_CHECK": "1", "LAYOUT_VULKAN_PROFILE": "1",
                   "LAYOUT_VULKAN_CACHE": str(folder / "cache"), "FAIL": function, "AT": str(number), "CODE": code,
                   # Drivers leak, too, so that leaks do not change the exit status.
                   "ASAN_OPTIONS": "exitcode=0:verify_asan_link_order=0"}
    done = subprocess.run([folder / "program", folder / "net", "3"], env={**os.environ, **environment},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1) and "a check of Vulkan failed" not in done.stderr, (function, number, done)
    assert "ERROR: AddressSanitizer" not in done.stderr, (function, number, done.stderr)
    leaks = [leak for leak in done.stderr.split("\n\n") if "leak of" in leak and "mlir::layout" in leak]
    assert not leaks, (function, number, *leaks)
    return done.returncode, done.stderr.split("=====")[0]


def fail_each(folder, function):
    """Fails the calls of a function one by one, until a run does not reach the number; returns the failures."""
    code, name = LOST if function in ("vkQueueSubmit", "vkWaitForFences") else MEMORY
    for number in range(1, MOST):
        status, messages = run(folder, function, number, code)
        if status == 0:
            assert number > 1 or function in OPTIONAL + RETRIED, f"{function} is not called"
            if function in OPTIONAL + RETRIED and number < 3:
                continue
            return number - 1
        errors = re.findall("error: .*", messages)
        assert len(errors) == 1 and f"returned {name}" in errors[0], (function, number, messages)
    raise AssertionError(f"{function} is called too often")


folder = pathlib.Path(sys.argv[1])
if sys.argv[2:3] == ["sources"]:
    root = pathlib.Path(sys.argv[3])
    runtime = root / "lib/Targets/OpenCL/Runtime"
    for path in (*sorted(runtime.glob("Common/*.cpp")), *sorted(runtime.glob("Vulkan/*.cpp")),
                 root / "examples/phone/run-package.cpp"):
        if path.name != "VulkanProgram.cpp":  # which needs MLIR's headers
            print(f'#include "{path}"')
    sys.exit()
(folder / "program.mlir").write_text(PROGRAM)
run_tool("layout-opt", folder / "program.mlir", "--layout-to-vulkan=target={#layout.opencl<address_bits = 32>} kernels-only",
         "-o", folder / "kernels.mlir")
run_tool("layout-translate", "--layout-to-vulkan-package", folder / "kernels.mlir", "-o", folder / "net")
front = pathlib.Path(__file__).with_name("Inputs") / "front-vulkan.c"
text = front.read_text()
functions = {f"vkCreate{name}" for name in re.findall(r"^CREATING\((\w+),", text, re.MULTILINE)}
functions |= set(re.findall(r"^FAILING\((vk\w+),", text, re.MULTILINE)) | {"vkAllocateMemory", "vkCreatePipelineCache", "vkEndCommandBuffer"}
failures = sum(fail_each(folder, function) for function in sorted(functions))
print(f"{len(functions)} functions, {failures} failures")
