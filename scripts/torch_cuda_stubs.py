"""usage: torch_cuda_stubs.py SITE_PACKAGES

Makes the PyTorch of PyPI loadable without the CUDA libraries that it is linked with, 4 GB of packages that no machine
without a GPU needs. Writes one library, under the names of all that are missing, which defines the functions that
PyTorch imports. Each returns 100, cudaErrorNoDevice, so that torch.cuda.is_available() is False.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# The folder of CUDA libraries that the libraries of PyTorch search.
FOLDER = "nvidia/cu13/lib"
# A symbol of CUDA, without and with the version that the library must define.
SYMBOL = re.compile(r" [Uw] ((?:_*cu|nccl|nvrtc|nvshmem)[A-Za-z_0-9]*)(?:@(\S+))?$", re.M)
NEEDED = re.compile(r"\(NEEDED\).*\[(lib(?:cu|nccl|nvrtc|nvshmem)\S*)\]")


def read_imports(libraries):
    """Returns {version: functions} of CUDA that the libraries import, and the libraries that they need for them."""
    versions, needed = {}, set()
    for library in libraries:
        symbols = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, capture_output=True, text=True)
        for name, version in SYMBOL.findall(symbols.stdout):
            versions.setdefault(version, set()).add(name)
        dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True)
        needed.update(NEEDED.findall(dynamic.stdout))
    return versions, needed


def write_library(versions, path):
    names = sorted(set().union(*versions.values()))
    source = "".join(f"int {name}(void) {{ return 100; }}\n" for name in names)
    script = "".join(f"{version} {{ {'; '.join(sorted(functions))}; }};\n"
                     for version, functions in sorted(versions.items()) if version)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "stubs.c").write_text(source)
        (folder / "versions").write_text(script)
        subprocess.run(["cc", "-shared", "-fPIC", "-fno-builtin", "-w", f"-Wl,--version-script={folder / 'versions'}",
                        "-o", path, folder / "stubs.c"], check=True)


def main(site_packages):
    packages = pathlib.Path(site_packages)
    versions, needed = read_imports(sorted((packages / "torch/lib").glob("*.so")))
    if not needed:
        return
    folder = packages / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / "libcuda_stubs.so"
    write_library(versions, library)
    for name in sorted(needed):
        if not any(packages.glob(f"nvidia/*/lib/{name}")):
            (folder / name).symlink_to(library.name)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
