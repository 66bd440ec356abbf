"""make_wheel.py FOLDER: writes a wheel with a small model, and a table with it and a missing model."""

import hashlib
import pathlib
import sys
import zipfile

import onnx

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,8] x) => (float[n,8] y) { s = Sigmoid (x) y = Mul (x, s) }"""


def make_wheel(folder):
    path = folder / "wheels" / "layout_no_such_package-1.0-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pack/gate.onnx", onnx.parser.parse_model(MODEL).SerializeToString())
    folder.joinpath("table.toml").write_text(f'''[[package]]
name = "layout-no-such-package"
version = "1.0"
sha256 = "{hashlib.sha256(path.read_bytes()).hexdigest()}"
models = [
    {{ path = "pack/gate.onnx", kind = "nothing", shapes = {{ x = [4, 8] }} }},
    {{ path = "pack/other.onnx", kind = "nothing" }},
]
''')


if __name__ == "__main__":
    make_wheel(pathlib.Path(sys.argv[1]))
