# Check that a failure of any call of Vulkan is an error that names the call, leaves no object behind, and is followed by
# a right run: a library in front of the loader fails one call after another.

# REQUIRES: vulkan-device, vulkan-checks, vulkan-package, target-opencl
# RUN: rm -rf %t && mkdir %t
# RUN: %host_cc -shared -fPIC -Wall -Wextra -Werror %S/Inputs/front-vulkan.c -o %t/front.so -ldl
# RUN: %host_cxx -std=c++17 -I %layout_src_root/include %layout_src_root/examples/phone/run-package.cpp %layout_obj_root/lib/libLayoutVulkanPackage.a %layout_obj_root/lib/libLayoutVulkanRuntime.a %layout_obj_root/lib/libLayoutKernelRuntime.a -lvulkan -o %t/program
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
                   "LAYOUT_VULKAN_CACHE": str(folder / "cache"), "FAIL": function, "AT": str(number), "CODE": code}
    done = subprocess.run([folder / "program", folder / "net", "3"], env={**os.environ, **environment},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1) and "a check of Vulkan failed" not in done.stderr, (function, number, done)
    return done.returncode, done.stderr


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
(folder / "program.mlir").write_text(PROGRAM)
run_tool("layout-opt", folder / "program.mlir", "--layout-to-vulkan=target={#layout.opencl<address_bits = 32>} kernels-only",
         "-o", folder / "kernels.mlir")
run_tool("layout-translate", "--layout-to-vulkan-package", folder / "kernels.mlir", "-o", folder / "net")
front = pathlib.Path(__file__).with_name("Inputs") / "front-vulkan.c"
text = front.read_text()
functions = {f"vkCreate{name}" for name in re.findall(r"^CREATING\((\w+),", text, re.MULTILINE)}
functions |= set(re.findall(r"^FAILING\((vk\w+),", text, re.MULTILINE)) | {"vkAllocateMemory", "vkCreatePipelineCache"}
failures = sum(fail_each(folder, function) for function in sorted(functions))
print(f"{len(functions)} functions, {failures} failures")
