# RUN: %python %s module > %t.mlir
# RUN: layout-opt %t.mlir --layout-linalg-to-llvm -o %t.llvm.mlir
# RUN: layout-opt %t.mlir --layout-to-cpu="target={#layout.cpu<lanes = 8>}" -o %t.laid.mlir
# RUN: %python %s inputs %t
# RUN: layout-run %t.llvm.mlir --cases=%t.cases
# RUN: %python %s compare %t
# RUN: %python %s inputs %t
# RUN: layout-run %t.laid.mlir --cases=%t.cases
# RUN: %python %s compare %t
# RUN: layout-opt %t.mlir --layout-linalg-to-llvm=cpu=host -o %t.host.mlir
# RUN: %python %s inputs %t
# RUN: layout-run %t.host.mlir --cases=%t.cases
# RUN: %python %s compare %t
# Check dynamic extents: zero, one, less than a vector or a block of rows, equal to it, and one more, along lanes, along
# blocks and merged; and all extents up to more than two blocks.
import sys

import numpy as np

N, K, CHANNELS = 40, 19, 16
RUNS = [(0, 3, 5), (1, 0, 4), (1, 1, 1), (1, 5, 7), (2, 3, 8), (1, 6, 9), (3, 7, 16), (5, 2, 17), (2, 13, 31), (1, 33, 33), (1, 20, 64),
        *[(1, extent, extent * 7 % 31) for extent in range(31)]]
TYPES = {"x": f"?x?x{K}", "w": f"{K}x{N}", "i": f"?x{CHANNELS}x?x?", "k": f"{CHANNELS}x{CHANNELS}x3x3", "p": f"{CHANNELS}x{CHANNELS}x1x1"}

MODULE = """
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#x = affine_map<(b, s, n, k) -> (b, s, k)>
#w = affine_map<(b, s, n, k) -> (k, n)>
#o = affine_map<(b, s, n, k) -> (b, s, n)>
#bias = affine_map<(d0, d1, d2) -> (d2)>
func.func @main(%x: tensor<TX>, %w: tensor<TW>, %i: tensor<TI>, %k: tensor<TK>, %p: tensor<TP>)
    -> (tensor<?x?xNxf32>, tensor<?x?x?xf32>, tensor<?xCx?x?xf32>, tensor<?xCx?x?xf32>, tensor<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %B = tensor.dim %x, %c0 : tensor<TX>
  %S = tensor.dim %x, %c1 : tensor<TX>
  // Rows of a batch of sequences, with what ends the kernel.
  %e0 = tensor.empty(%B, %S) : tensor<?x?xNxf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x?xNxf32>) -> tensor<?x?xNxf32>
  %m0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<TX>, tensor<TW>) outs(%f0 : tensor<?x?xNxf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xNxf32>
  %r0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%m0 : tensor<?x?xNxf32>) outs(%e0 : tensor<?x?xNxf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<?x?xNxf32>
  // Scores: all extents but one are dynamic.
  %t = tensor.empty(%B, %S) : tensor<?xKx?xf32>
  %xt = linalg.transpose ins(%x : tensor<TX>) outs(%t : tensor<?xKx?xf32>) permutation = [0, 2, 1]
  %e1 = tensor.empty(%B, %S, %S) : tensor<?x?x?xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %r1 = linalg.batch_matmul ins(%x, %xt : tensor<TX>, tensor<?xKx?xf32>) outs(%f1 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  // Convolutions of images of any size.
  %I = tensor.dim %i, %c0 : tensor<TI>
  %H = tensor.dim %i, %c2 : tensor<TI>
  %W = tensor.dim %i, %c3 : tensor<TI>
  %pad = tensor.pad %i low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<TI> to tensor<TI>
  %e2 = tensor.empty(%I, %H, %W) : tensor<?xCx?x?xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?xCx?x?xf32>) -> tensor<?xCx?x?xf32>
  %r2 = linalg.conv_2d_nchw_fchw ins(%pad, %k : tensor<TI>, tensor<TK>) outs(%f2 : tensor<?xCx?x?xf32>) -> tensor<?xCx?x?xf32>
  %r3 = linalg.conv_2d_nchw_fchw ins(%r2, %p : tensor<TI>, tensor<TP>) outs(%f2 : tensor<?xCx?x?xf32>) -> tensor<?xCx?x?xf32>
  // What adds to what is there must not do it twice.
  %r4 = linalg.batch_matmul ins(%x, %xt : tensor<TX>, tensor<?xKx?xf32>) outs(%r1 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r0, %r1, %r2, %r3, %r4 : tensor<?x?xNxf32>, tensor<?x?x?xf32>, tensor<?xCx?x?xf32>, tensor<?xCx?x?xf32>, tensor<?x?x?xf32>
}
"""


def draw(number):
    batch, rows, width = RUNS[number]
    random = np.random.default_rng(number)
    sizes = {"x": (batch, rows, K), "w": (K, N), "i": (batch, CHANNELS, rows, width), "k": (CHANNELS, CHANNELS, 3, 3),
             "p": (CHANNELS, CHANNELS, 1, 1)}
    return {name: random.integers(-3, 4, size).astype("f4") for name, size in sizes.items()}


def expect(x, w, i, k, p):
    scores = x @ x.transpose(0, 2, 1)
    padded = np.pad(i, ((0, 0), (0, 0), (1, 1), (1, 1)))
    height, width = i.shape[2:]
    conv = sum(np.einsum("nchw,oc->nohw", padded[:, :, a:a + height, b:b + width], k[:, :, a, b])
               for a in range(3) for b in range(3))
    return np.maximum(x @ w, 0), scores, conv, np.einsum("nchw,oc->nohw", conv, p[:, :, 0, 0]), 2 * scores


def main(what, base=None):
    if what == "module":
        text = MODULE.replace("xNx", f"x{N}x").replace("xKx", f"x{K}x").replace("xCx", f"x{CHANNELS}x")
        for name, sizes in TYPES.items():
            text = text.replace("T" + name.upper(), sizes + "xf32")
        print(text)
        return
    cases = []
    for number in range(len(RUNS)):
        inputs, paths = draw(number), [f"{base}.{number}.{result}.npy" for result in range(5)]
        if what == "compare":
            for path, wanted in zip(paths, expect(**inputs)):
                found = np.load(path)
                assert found.shape == wanted.shape and (found == wanted).all(), (RUNS[number], path)
            continue
        for name, array in inputs.items():
            np.save(f"{base}.{number}.{name}.npy", array)
        given = " ".join(f"{base}.{number}.{name}.npy" for name in inputs)
        cases.append(f"{given} -> {' '.join(paths)}\n")
    if cases:
        with open(base + ".cases", "w") as file:
            file.writelines(cases)


main(*sys.argv[1:])
