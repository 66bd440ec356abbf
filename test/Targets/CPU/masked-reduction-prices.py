# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
# Check that a masked reduction costs what scalar code costs, because its kernel has no vectors, and that the choice of
# layouts then puts image columns on vector lanes.
import json
import pathlib
import sys

from layout_mlir.tools import run_tool

folder = pathlib.Path(sys.argv[1])
TARGET = "#layout.cpu<lanes = 16, vector_bits = 256>"
COLUMNS, TAPS, FILTERS = 40, 39, 8


def write(channels, tiled):
    """Writes a convolution of one row, whose image and filters have tiles of 16 channels if `tiled` is set."""
    def kind(shape, dims, layout):
        return f'tensor<{"x".join(map(str, shape))}xf32{f", #layout.blocked<{dims!r} to {layout!r}>" if tiled else ""}>'

    image = kind((1, channels, 1, COLUMNS + TAPS - 1), "NCHW", "NCHW16c").replace("'", '"')
    filters = kind((FILTERS, channels, 1, TAPS), "OIHW", "OIHW16i").replace("'", '"')
    result = f"tensor<1x{FILTERS}x1x{COLUMNS}xf32>"
    path = folder / "conv.mlir"
    path.write_text(f"""func.func @main(%x: {image}, %w: {filters}) -> {result} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {result}
  %init = linalg.fill ins(%zero : f32) outs(%e : {result}) -> {result}
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : {image}, {filters}) outs(%init : {result}) -> {result}
  return %y : {result}
}}
""")
    return path


def price(channels, target=TARGET):
    """Returns the price in tiles of 16 channels."""
    table = folder / "costs.json"
    run_tool("layout-opt", write(channels, tiled=True), "-o", "/dev/null",
             f"--layout-print-cost=target={{{target}}} format=json output={table}")
    [row] = [row for row in json.loads(table.read_text())["ops"]["rows"] if "conv" in row["name"]]
    return row["cost"]


def is_vectorized(channels, tiled):
    text = run_tool("layout-opt", write(channels, tiled), f"--layout-to-cpu=target={{{TARGET}}}")
    return "llvm.fmul %" in text and any("vector<" in line for line in text.splitlines() if "llvm.fmul %" in line)


# All 16 channels of a tile are summed: partial sums on lanes. Of 8 or 24 channels, the rest of a tile is masked.
assert is_vectorized(16, tiled=True) and not is_vectorized(8, tiled=True) and not is_vectorized(24, tiled=True)
assert price(8) > 1.5 * price(16)
SCALAR = TARGET.replace("256", "256, scalar_percent = 1100")
assert price(8, SCALAR) > 1.5 * price(8) and price(16, SCALAR) == price(16)
# Without stated layouts, neither is chosen.
for channels in (8, 16, 24):
    assert is_vectorized(channels, tiled=False), channels
print("as expected")
