# RUN: %python %s module > %t.mlir
# RUN: layout-opt %t.mlir --layout-linalg-to-llvm -o %t.llvm.mlir
# RUN: %python %s inputs %t
# RUN: layout-run %t.llvm.mlir --input=%t.x.npy --input=%t.n.npy --input=%t.i.npy --output=%t.0.npy --output=%t.1.npy --output=%t.2.npy --output=%t.3.npy --output=%t.4.npy --output=%t.5.npy --output=%t.6.npy
# RUN: %python %s compare %t
# Check contiguous reductions, whose lanes hold parts of a result: sums, maxima and products of rows with an init, of
# static and dynamic sizes, of floats, integers and `index`, whose lanes are not combined.
import sys

import numpy as np

ROWS, COLUMNS = 13, 45
KINDS = [("f32", "arith.addf"), ("f32", "arith.maximumf"), ("f32", "arith.mulf"), ("i32", "arith.maxsi"), ("i32", "arith.addi"),
         ("index", "arith.maxsi"), ("index", "arith.addi")]
PYTHON = {"arith.addf": np.add, "arith.maximumf": np.maximum, "arith.mulf": np.multiply, "arith.maxsi": np.maximum, "arith.addi": np.add}


def write_module():
    types = {"f32": f"tensor<?x{COLUMNS}xf32>", "i32": f"tensor<{ROWS}x?xi32>", "index": f"tensor<{ROWS}x?xindex>"}
    print(f"func.func @main(%f32: {types['f32']}, %i32: {types['i32']}, %x_index: {types['index']}) -> ({', '.join(f'tensor<{ROWS}x{kind}>' for kind, _ in KINDS)}) {{")
    print(f"  %x_f32 = tensor.cast %f32 : {types['f32']} to tensor<{ROWS}x{COLUMNS}xf32>")
    print(f"  %x_i32 = tensor.cast %i32 : {types['i32']} to {types['i32']}")
    names = {"f32": f"tensor<{ROWS}x{COLUMNS}xf32>", "i32": types["i32"], "index": types["index"]}
    for number, (kind, op) in enumerate(KINDS):
        print(f"  %s{number} = arith.constant {'1.5' if kind == 'f32' else '3'} : {kind}")
        print(f"  %e{number} = tensor.empty() : tensor<{ROWS}x{kind}>")
        print(f"  %f{number} = linalg.fill ins(%s{number} : {kind}) outs(%e{number} : tensor<{ROWS}x{kind}>) -> tensor<{ROWS}x{kind}>")
        print(f"  %r{number} = linalg.reduce {{ {op} }} ins(%x_{kind} : {names[kind]}) outs(%f{number} : tensor<{ROWS}x{kind}>) dimensions = [1]")
    print(f"  return {', '.join(f'%r{n}' for n in range(len(KINDS)))} : {', '.join(f'tensor<{ROWS}x{kind}>' for kind, _ in KINDS)}")
    print("}")


def main(what, base=None):
    if what == "module":
        return write_module()
    if what == "inputs":
        random = np.random.default_rng(5)
        np.save(base + ".x.npy", random.uniform(0.9, 1.1, (ROWS, COLUMNS)).astype("f4"))
        np.save(base + ".n.npy", random.integers(-1000, 1000, (ROWS, COLUMNS)).astype("i4"))
        np.save(base + ".i.npy", random.integers(-1 << 40, 1 << 40, (ROWS, COLUMNS)))
        return None
    inputs = {"f32": np.load(base + ".x.npy"), "i32": np.load(base + ".n.npy"), "index": np.load(base + ".i.npy")}
    for number, (kind, op) in enumerate(KINDS):
        found, start = np.load(f"{base}.{number}.npy"), 1.5 if kind == "f32" else 3
        wanted = PYTHON[op].reduce(inputs[kind].astype("f8" if kind == "f32" else "i8"), axis=1, initial=start)
        limit = 1e-6 * np.abs(wanted) if kind == "f32" else 0
        assert (np.abs(found - wanted) <= limit).all(), (op, found, wanted)
    return None


main(*sys.argv[1:])
