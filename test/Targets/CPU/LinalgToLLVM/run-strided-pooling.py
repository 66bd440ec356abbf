# RUN: %python %s module > %t.mlir
# RUN: layout-opt %t.mlir --layout-linalg-to-llvm -o %t.llvm.mlir
# RUN: layout-opt %t.mlir --layout-to-cpu="target={#layout.cpu<lanes = 16>}" -o %t.laid-out.mlir
# RUN: %python %s inputs %t
# RUN: layout-run %t.llvm.mlir %t.laid-out.mlir --compare --max-rel=0 --input=%t.x.npy --output=%t.0.npy --output=%t.1.npy --output=%t.2.npy --output=%t.3.npy
# RUN: %python %s compare %t
# Check pooling with strides of 2 to 5 along rows, with lanes at these strides: rows of whole vectors, rows with a
# partial vector, and rows shorter than a vector.
import sys

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

CHANNELS, ROWS = 3, 7
# Stride, width of the window, results per row.
KINDS = [(2, 3, 29), (3, 2, 16), (4, 4, 5), (5, 3, 11)]
COLUMNS = max(stride * (results - 1) + window for stride, window, results in KINDS)


def write_module():
    source = f"tensor<1x{CHANNELS}x{ROWS}x{COLUMNS}xf32>"
    types = [f"tensor<1x{CHANNELS}x{ROWS}x{results}xf32>" for _, _, results in KINDS]
    print(f"func.func @main(%x: {source}) -> ({', '.join(types)}) {{\n  %low = arith.constant 0xFF800000 : f32")
    for n, ((stride, window, results), type) in enumerate(zip(KINDS, types)):
        width = stride * (results - 1) + window
        part = f"tensor<1x{CHANNELS}x{ROWS}x{width}xf32>"
        print(f"  %p{n} = tensor.extract_slice %x[0, 0, 0, 0] [1, {CHANNELS}, {ROWS}, {width}] [1, 1, 1, 1] : {source} to {part}")
        print(f"  %e{n} = tensor.empty() : {type}\n  %w{n} = tensor.empty() : tensor<1x{window}xf32>")
        print(f"  %f{n} = linalg.fill ins(%low : f32) outs(%e{n} : {type}) -> {type}")
        print(f"  %r{n} = linalg.pooling_nchw_max {{dilations = dense<1> : vector<2xi64>, strides = dense<[1, {stride}]> : vector<2xi64>}} "
              f"ins(%p{n}, %w{n} : {part}, tensor<1x{window}xf32>) outs(%f{n} : {type}) -> {type}")
    print(f"  return {', '.join(f'%r{n}' for n in range(len(KINDS)))} : {', '.join(types)}\n}}")


def main(what, base=None):
    if what == "module":
        return write_module()
    if what == "inputs":
        x = np.random.default_rng(7).standard_normal((1, CHANNELS, ROWS, COLUMNS)).astype("f4")
        np.save(base + ".x.npy", x)
        return None
    x = np.load(base + ".x.npy")
    for n, (stride, window, results) in enumerate(KINDS):
        wanted = sliding_window_view(x, window, axis=3)[..., ::stride, :][..., :results, :].max(axis=-1)
        found = np.load(f"{base}.{n}.npy")
        assert np.array_equal(found, wanted), (stride, found, wanted)
    return None


main(*sys.argv[1:])
