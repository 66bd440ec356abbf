# The tests of test/Targets/OpenCL that need a device, on Intel's OpenCL runtime for CPUs, which ./dev test installs in
# build/intel-opencl. The suite has no tests if it is not installed.

import os
import pathlib

lit_config.load_config(config, os.path.join(config.layout_obj_root, "test", "lit.site.cfg.py"))

config.name = "LAYOUT-IntelOpenCL"
config.test_source_root = os.path.join(config.layout_src_root, "test", "Targets", "OpenCL")
config.test_exec_root = os.path.join(config.layout_obj_root, "test", "IntelOpenCL")

driver = pathlib.Path(config.layout_obj_root, "intel-opencl", "venv", "lib", "libintelocl.so")
if driver.exists():
    # The loader reads the names of drivers from all files of a folder.
    drivers = pathlib.Path(config.test_exec_root, "drivers")
    drivers.mkdir(parents=True, exist_ok=True)
    (drivers / "intel.icd").write_text(f"{driver}\n", encoding="utf-8")
    config.environment["OCL_ICD_VENDORS"] = str(drivers)
    config.environment["LD_LIBRARY_PATH"] = str(driver.parent)
    config.available_features.add("opencl-fp16")
    config.excludes |= {path.name for path in pathlib.Path(config.test_source_root).rglob("*")
                        if path.suffix in config.suffixes
                        and "opencl-device" not in path.read_text(encoding="utf-8")}
else:
    config.suffixes = []
