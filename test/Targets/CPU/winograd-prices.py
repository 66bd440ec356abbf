# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
# Check that a 3x3 convolution costs less than the sum of its products exactly in the layouts in which its kernel uses
# Winograd's transforms, and what it costs then.
import json
import pathlib
import sys

import numpy as np
from layout_mlir.tools import run_tool

folder = pathlib.Path(sys.argv[1])
TARGET = "#layout.cpu<lanes = 8>"
CHANNELS, FILTERS = 16, 8
IMAGES = ["NCHW", "NHWC", "NCHW8c", "NCHW4c"]
WEIGHTS = ["OIHW", "HWIO", "OIHW8o", "OIHW8i8o"]
RESULTS = ["NCHW", "NHWC", "NCHW8c"]


def kind(shape, dims, layout, element):
    encoding = "" if layout == dims else f', #layout.blocked<"{dims}" to "{layout}">'
    return f"tensor<{'x'.join(map(str, shape))}x{element}{encoding}>"


def write(layouts, weights, stride=1, kernel=3, size=(10, 12), element="f32"):
    """Writes a function with one convolution. `weights` is an array, a number for equal elements, or None for an
    argument."""
    height, width = size
    shapes = [(2, CHANNELS, stride * height + kernel - 1, stride * width + kernel - 1),
              (FILTERS, CHANNELS, kernel, kernel), (2, FILTERS, height, width)]
    image, filters, result = (kind(shape, dims, layout, element)
                              for shape, dims, layout in zip(shapes, ("NCHW", "OIHW", "NCHW"), layouts))
    arguments, constant = f"%x: {image}", ""
    if weights is None:
        arguments += f", %w: {filters}"
    else:
        value = weights if isinstance(weights, float) else np.array2string(
            weights, separator=", ", threshold=sys.maxsize, formatter={"float": lambda x: f"{x:.6e}"})
        constant = f"  %w = arith.constant dense<{value}> : {filters}\n"
    path = folder / "conv.mlir"
    path.write_text(f"""func.func @main({arguments}) -> {result} {{
{constant}  %zero = arith.constant 0.0 : {element}
  %e = tensor.empty() : {result}
  %init = linalg.fill ins(%zero : {element}) outs(%e : {result}) -> {result}
  %y = linalg.conv_2d_nchw_fchw {{strides = dense<{stride}> : tensor<2xi64>}} ins(%x, %w : {image}, {filters})
    outs(%init : {result}) -> {result}
  return %y : {result}
}}
""")
    return path


def price(*args, **options):
    table = folder / "costs.json"
    run_tool("layout-opt", write(*args, **options), "-o", "/dev/null",
             f"--layout-print-cost=target={{{TARGET}}} format=json output={table}")
    [row] = [row for row in json.loads(table.read_text())["ops"]["rows"] if "conv" in row["name"]]
    return row["cost"]


def is_transformed(*args, **options):
    text = run_tool("layout-opt", write(*args, **options), f"--layout-set-target=target={{{TARGET}}}",
                    "--convert-layout-to-linalg", "--layout-linalg-to-llvm")
    return "winograd_filters" in text


def shape(kernel=3):
    return FILTERS, CHANNELS, kernel, kernel


varied = np.random.default_rng(3).standard_normal(shape()).astype(np.float32)
cheaper = []
for image in IMAGES:
    for weights in WEIGHTS:
        for result in RESULTS:
            layouts = image, weights, result
            direct, transformed = price(layouts, None), price(layouts, varied)
            assert transformed <= direct, (layouts, transformed, direct)
            assert (transformed < direct) == is_transformed(layouts, varied), (layouts, transformed, direct)
            if transformed < direct:
                cheaper.append(layouts)
                # 2 images of 5x6 tiles; 5 operations cost as much as a byte, and 16 numbers replace 9.
                products, tiles, extra = CHANNELS * FILTERS, 2 * 5 * 6, 4 * CHANNELS * FILTERS * (16 - 9)
                saved = 2 * 9 * products * 2 * 10 * 12 // 5 - tiles * (32 * products + 128 * (CHANNELS + FILTERS)) // 5
                assert direct - transformed == saved - extra, (layouts, direct - transformed, saved - extra)
assert ("NCHW8c", "OIHW8i8o", "NCHW8c") in cheaper and ("NHWC", "HWIO", "NHWC") in cheaper, cheaper
assert ("NCHW", "OIHW8o", "NCHW8c") not in cheaper and ("NCHW4c", "OIHW8o", "NCHW8c") not in cheaper, cheaper

# Other kernels sum products, so they cost the same with any weights.
blocked = "NCHW8c", "OIHW8i8o", "NCHW8c"
for weights, options in [
        (0.5, {}), (varied, {"stride": 2}), (varied.astype(np.float16), {"element": "f16"}),
        (np.random.default_rng(4).standard_normal(shape(5)).astype(np.float32), {"kernel": 5}),
        (varied, {"size": (1, 12)})]:
    assert not is_transformed(blocked, weights, **options), options
    assert price(blocked, weights, **options) == price(blocked, None, **options), options
# An odd size has tiles of which a row is not used.
assert is_transformed(blocked, varied, size=(9, 11))
assert price(blocked, varied, size=(9, 11)) < price(blocked, None, size=(9, 11))
