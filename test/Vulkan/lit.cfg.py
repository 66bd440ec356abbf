# The tests of test/Targets/OpenCL/LayoutToGPU that need a device, on a Vulkan device, with all calls checked by the
# validation layer. The suite has no tests if there is no device or no layer.

import os
import pathlib

lit_config.load_config(config, os.path.join(config.layout_obj_root, "test", "lit.site.cfg.py"))

config.name = "LAYOUT-Vulkan"
config.test_source_root = os.path.join(config.layout_src_root, "test", "Targets", "OpenCL", "LayoutToGPU")
config.test_exec_root = os.path.join(config.layout_obj_root, "test", "Vulkan")

if {"vulkan-device", "vulkan-checks"} <= config.available_features:
    # The device that these tests require.
    config.available_features.add("opencl-device")
    config.environment["LAYOUT_VULKAN_CHECK"] = "1"
    config.environment["LAYOUT_TEST_API"] = "vulkan"
    config.substitutions += [("-layout-gpu-to-opencl", "-layout-gpu-to-vulkan"),
                             ("--layout-to-opencl", "--layout-to-vulkan")]
    config.excludes |= {path.name for path in pathlib.Path(config.test_source_root).rglob("*")
                        if path.suffix in config.suffixes
                        and "opencl-device" not in path.read_text(encoding="utf-8")}
    # An Fma of Vulkan may round twice.
    config.excludes.add("run-fma.py")
else:
    config.suffixes = []
