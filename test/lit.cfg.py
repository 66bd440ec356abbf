# The lit suite. A test is a .mlir, .test or .py file with RUN lines.
#
# Tools are called by their bare names: the project's are the ones just built,
# upstream's have Debian's suffix (mlir-opt-22). Substitutions:
#   %python           the project's Python, with the package in reach
#   %torch_python     the Python that has PyTorch, likewise
#   %layout_src_root  the source tree      %layout_obj_root  the build directory
#   %mlir_lib_dir     where libmlir_c_runner_utils%shlibext and its like are
#   %shlibext         .so
#   %cmake %host_cc %host_cxx  as the build was configured with
#   %embed_flags      CMake arguments for a project that uses this one
# Features for REQUIRES: auditwheel, codespell_lib, gguf, jax, material (what builds the documentation site), mypy, onnx,
# pycute and triton (their Python packages are there), host-avx2, host-avx512f; target-cpu, target-opencl, target-npu
# and target-mesh (LAYOUT_TARGETS; tests below Targets/ need no such line); isl, opencl, vulkan, opencl-package, vulkan-package, c-api, plugin
# and python-extension (what CMake may leave out of the build); opencl-device (a device was found, and what its driver
# needs), opencl-fp16 (in test/IntelOpenCL), vulkan-device and vulkan-checks (a device and the validation layer), browser (Chromium, and what drives it), mpi and graphviz, whose absence
# fails with CI=true; asan (Clang's library of AddressSanitizer, %asan);
# vendor-model (the vendor's chip model of an NPU is installed and loads), likewise, unless ./dev noted that
# this machine cannot have it; torch (build/torch), likewise; spirv-val; clang, which compiles OpenCL C; aarch64-cxx (the C++
# library for AArch64).
# Python modules that tests share are in Inputs/.

import os
import platform
import shlex
import subprocess

import lit.formats
import lit.llvm
import lit.util
from lit.llvm.subst import FindTool, ToolSubst

lit.llvm.initialize(lit_config, config)
from lit.llvm import llvm_config

config.name = "LAYOUT"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".py"]
# Inputs belong to the tests beside them; the others are no tests.
config.excludes = ["Inputs", "CMakeLists.txt", "lit.cfg.py",
                   "lit.site.cfg.py", "lit.local.cfg", "__init__.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.layout_obj_root, "test")

supported, reason = lit_config.maxIndividualTestTimeIsSupported
if supported:
    lit_config.maxIndividualTestTime = 300
else:
    lit_config.note("tests have no time limit: " + reason.strip().splitlines()[0])

tools_dir = os.path.join(config.layout_obj_root, "bin")
llvm_config.with_environment("PATH", [tools_dir, config.llvm_tools_dir], append_path=True)
with open(os.path.join(config.layout_obj_root, "python.path"), encoding="utf-8") as file:
    llvm_config.with_environment("PYTHONPATH", file.read().split(":") + [
        os.path.join(config.test_source_root, "Inputs")], append_path=True)
# Most processes import the importers: 0.35 s without compiled modules, 0.12 s with them.
llvm_config.with_environment("PYTHONPYCACHEPREFIX", os.path.join(config.layout_obj_root, "pycache"))
config.environment.pop("PYTHONDONTWRITEBYTECODE", None)
llvm_config.with_environment("LAYOUT_BUILD_DIR", config.layout_obj_root)
llvm_config.with_system_environment(["HOME", "TMPDIR", "LC_ALL", "CCACHE_DIR", "LAYOUT_CHIP_MODELS"])

torch_venv = os.path.join(config.layout_obj_root, "torch", "venv")
config.substitutions += [
    ("%torch_python", shlex.quote(os.path.join(torch_venv, "bin", "python"))),
    ("%python", shlex.quote(config.python)),
    ("%layout_src_root", config.layout_src_root),
    ("%layout_obj_root", config.layout_obj_root),
    ("%mlir_lib_dir", config.mlir_lib_dir),
    ("%shlibext", config.shlibext),
    ("%cmake", config.cmake),
    ("%host_cc", config.host_cc),
    ("%host_cxx", config.host_cxx),
    ("%embed_flags", " ".join(shlex.quote(flag) for flag in [
        "-G", config.cmake_generator,
        "-DMLIR_DIR=" + config.mlir_cmake_dir,
        "-DCMAKE_C_COMPILER=" + config.host_cc,
        "-DCMAKE_CXX_COMPILER=" + config.host_cxx,
        "-DCMAKE_EXE_LINKER_FLAGS=" + config.host_linker_flags,
        "-DCMAKE_SHARED_LINKER_FLAGS=" + config.host_linker_flags,
        "-DCMAKE_UNITY_BUILD=" + config.unity_build])),
    # Objects of what other configurations build instead (test/CMakeLists.txt).
    ("%stand_ins", os.path.join(config.layout_obj_root, "test/CMakeFiles/layout-stand-ins.dir/__")),
]

# Full paths, so that neither a tool of another build nor an older LLVM in PATH
# can stand in. One that is not built stays as it is, and its test fails with
# "command not found". A pass in a pipeline, as in 'builtin.module(layout-solve)', is
# no tool.
llvm_config.add_tool_substitutions(
    [ToolSubst(tool, unresolved="ignore", pre=r".-^\/\<(,") for tool in (
        "layout-opt", "layout-translate", "layout-run", "layout-solve",
        "layout-reduce", "layout-lsp-server", "layout-baselines")],
    [tools_dir])
llvm_config.add_tool_substitutions(
    [ToolSubst("FileCheck", unresolved="fatal"), ToolSubst("not", unresolved="fatal"),
     ToolSubst("count", unresolved="fatal"), ToolSubst("split-file", unresolved="fatal")]
    + [ToolSubst(name + "-22", command=FindTool(name), unresolved="fatal")
       for name in ("mlir-opt", "mlir-runner", "mlir-translate")],
    [config.llvm_tools_dir])
# One line of input is enough to see what a FileCheck failure was about.
config.environment["FILECHECK_OPTS"] = "--dump-input-context=8"
# Tests run beside each other: threads that wait leave the processors to others.
config.environment["OMP_WAIT_POLICY"] = "passive"


def python_has(module):
    return subprocess.run(
        [config.python, "-c", "import " + module], env=config.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def cpu_flags():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("flags"):
                    return line.split(":", 1)[1].split()
    except OSError:
        pass
    return []


for package in ("auditwheel", "codespell_lib", "gguf", "jax", "material", "mypy", "onnx", "pycute", "triton"):
    if python_has(package):
        config.available_features.add(package)
config.available_features.update("target-" + target for target in config.targets)
for feature, is_built in (("isl", config.has_isl), ("opencl", config.has_opencl),
                          ("vulkan", config.has_vulkan),
                          ("opencl-package", config.has_opencl_package),
                          ("vulkan-package", config.has_vulkan and config.has_opencl_package),
                          ("c-api", config.has_c_api), ("plugin", config.has_plugin),
                          ("python-extension", config.has_python_extension)):
    if is_built:
        config.available_features.add(feature)
for flag in ("avx2", "avx512f"):
    if flag in cpu_flags():
        config.available_features.add("host-" + flag)

# Programs of the simulator compute little, so compiling them takes most of a test. run-negative-padding.py
# keeps the default options.
config.environment["LAYOUT_NPU_CXXFLAGS"] = "-O0"
if "clang" in os.path.basename(config.host_cxx):
    # LLVM's linker takes a third of the time of Debian's.
    config.environment["LAYOUT_NPU_CXXFLAGS"] += f" -fuse-ld=lld -B{config.llvm_tools_dir} -Wno-unused-command-line-argument"

# Kernels: drivers and the runtime keep what they translated, here between tests
# only; nothing of one user's device or cache gets in.
# What is compiled in one run of a test is no part of the next.
config.environment["LAYOUT_CACHE"] = ""
config.environment["LAYOUT_OPENCL_CACHE"] = ""
config.environment["LAYOUT_VULKAN_CACHE"] = ""
config.environment["POCL_CACHE_DIR"] = os.path.join(config.test_exec_root, "pocl-cache")


def why_no_opencl_device():
    """Nothing if there is one."""
    import ctypes
    try:
        library = ctypes.CDLL("libOpenCL.so.1")
    except OSError as error:
        return f"OpenCL: {error}"
    count = ctypes.c_uint(0)
    code = library.clGetPlatformIDs(0, None, ctypes.byref(count))
    if code != 0 or count.value == 0:
        return f"OpenCL: clGetPlatformIDs returned {code} and {count.value} platforms"
    platforms = (ctypes.c_void_p * count.value)()
    library.clGetPlatformIDs(count, platforms, None)
    for platform in platforms:
        device = ctypes.c_void_p()
        every_type = ctypes.c_ulong(0xFFFFFFFF)
        if library.clGetDeviceIDs(ctypes.c_void_p(platform), every_type, 1, ctypes.byref(device), None) != 0:
            continue
        return None
    return "OpenCL: no platform has a device"


def why_no_vulkan_device():
    """Returns the reason why there is no Vulkan device, or an empty string."""
    import ctypes
    try:
        library = ctypes.CDLL("libvulkan.so.1")
    except OSError as error:
        return f"Vulkan: {error}"
    # A VkInstanceCreateInfo without extensions; its type is 1.
    info = (ctypes.c_uint64 * 8)(1)
    instance, count = ctypes.c_void_p(), ctypes.c_uint(0)
    code = library.vkCreateInstance(info, None, ctypes.byref(instance))
    if code == 0:
        code = library.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None)
        library.vkDestroyInstance(instance, None)
    return "" if count.value else f"Vulkan: no device was found (code {code})"


def why_no_vulkan_checks():
    """Returns the reason why calls of Vulkan are not checked, or an empty string."""
    manifest = "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"
    return "" if os.path.exists(manifest) else f"{manifest} does not exist"


def why_no_vendor_model():
    """Returns the reason why the vendor's chip model does not load, or an empty string."""
    done = subprocess.run([config.python, "-m", "layout_mlir.npu_chip_model"],
                          env={**config.environment, "CXX": config.host_cxx}, capture_output=True, text=True)
    return done.returncode and (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]


def require(feature, reason, subject, is_excused=False):
    """Adds the feature, unless there is a reason why it is missing. With CI=true a missing one is an error, if it is
    not excused."""
    if not reason:
        config.available_features.add(feature)
    elif os.environ.get("CI") == "true" and not is_excused:
        lit_config.error(f"{reason}; with CI=true the tests {subject} must run")
    else:
        lit_config.warning(f"{reason}; tests {subject} are skipped")


if config.has_opencl:
    require("opencl-device", why_no_opencl_device(), "on an OpenCL device")
    translator = lit.util.which("llvm-spirv-15", os.environ.get("PATH", ""))
    require("llvm-spirv", "" if translator else "llvm-spirv-15 is not in PATH",
            "of SPIR-V on devices that take none")
if config.has_vulkan:
    require("vulkan-device", why_no_vulkan_device(), "on a Vulkan device")
    require("vulkan-checks", why_no_vulkan_checks(), "that check calls of Vulkan")
lacking = [f"{name} is not in PATH" for name in ("chromium", "chromedriver")
           if not lit.util.which(name, os.environ.get("PATH", ""))]
lacking += [f"{config.python} has no {package}" for package in ("selenium", "PIL") if not python_has(package)]
require("browser", ", ".join(lacking), "in a browser")
drawer = lit.util.which("dot", os.environ.get("PATH", ""))
require("graphviz", "" if drawer else "dot is not in PATH", "of pictures of networks")
starter = lit.util.which("mpirun", os.environ.get("PATH", ""))
require("mpi", "" if starter and config.has_mpi else "libopenmpi-dev or openmpi-bin is not installed",
        "of programs over a mesh")
# ./dev writes this file where the models cannot be installed, e.g. without a network.
require("vendor-model", why_no_vendor_model(), "on the vendor's chip model",
        os.path.exists(os.path.join(config.layout_obj_root, ".chip-models-unavailable")))
# ./dev test writes the first file at the end of an installation, and the second where it fails.
require("torch", "" if os.path.exists(os.path.join(torch_venv, ".cuda-stubs")) else f"{torch_venv} has no PyTorch",
        "of torch.compile", os.path.exists(os.path.join(torch_venv, ".torch-unavailable")))
if os.path.exists("/usr/include/oneapi/dnnl/dnnl.h"):
    config.available_features.add("onednn")
emulates = lit.util.which("qemu-aarch64", os.environ.get("PATH", "")) and \
    os.path.exists("/usr/aarch64-linux-gnu/lib/crt1.o")
require("aarch64", "" if emulates else "qemu-user or libc6-dev-arm64-cross is not installed",
        "of kernels for AArch64")
if os.path.exists("/usr/aarch64-linux-gnu/include/c++"):
    config.available_features.add("aarch64-cxx")
if lit.util.which("spirv-val", os.environ.get("PATH", "")):
    config.available_features.add("spirv-val")
if lit.util.which("clang-22", os.environ.get("PATH", "")):
    config.available_features.add("clang")
    asan = subprocess.run(["clang-22", f"-print-file-name=libclang_rt.asan-{platform.machine()}.so"], check=False,
                          capture_output=True, text=True).stdout.strip()
    if os.path.isabs(asan):
        config.available_features.add("asan")
        config.substitutions.append(("%asan", asan))
