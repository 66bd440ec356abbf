# RUN: %python %s module %t
# RUN: layout-opt %t.mlir --layout-linalg-to-llvm -o %t.v3.mlir
# RUN: layout-opt %t.mlir --layout-linalg-to-llvm=cpu=host -o %t.host.mlir
# RUN: layout-opt %t.mlir --layout-to-cpu="target={#layout.cpu<lanes = 16>} cpu=host" -o %t.laid.mlir
# RUN: %python %s inputs %t
# RUN: layout-run %t.v3.mlir --cases=%t.cases
# RUN: %python %s compare %t
# RUN: %python %s inputs %t
# RUN: layout-run %t.host.mlir --cases=%t.cases
# RUN: %python %s compare %t
# RUN: %python %s inputs %t
# RUN: layout-run %t.laid.mlir --cases=%t.cases
# RUN: %python %s compare %t
# Compare sums of byte products with NumPy's in i32: all signs, weights that are constant or not, rows that are dynamic,
# empty or one, reductions that are not a multiple of four, extreme bytes, batches, transposed operands, convolutions.
import sys

import numpy as np

ROWS = [0, 1, 2, 5, 33]
# The columns n, the summed k, and whether elements are unsigned.
PRODUCTS = [(n, k, signs) for n, k in ((40, 66), (7, 4))
            for signs in ((True, False), (False, False), (True, True), (False, True))]
PRODUCTS += [(n, k, (number % 2 == 0, False)) for number, (n, k) in enumerate(
    ((1, 64), (16, 3), (33, 257), (5, 0), (0, 9), (65, 1), (19, 2)))]
IMAGE, FILTERS = (2, 9, 8, 6), 20  # n, h, w, c


def extend(name, is_unsigned):
    return f"    %{name}32 = arith.ext{'ui' if is_unsigned else 'si'} %{name} : i8 to i32\n"


def body(signs):
    return ("  ^bb0(%a: i8, %b: i8, %c: i32):\n" + extend("a", signs[0]) + extend("b", signs[1]) +
            "    %p = arith.muli %a32, %b32 : i32\n    %s = arith.addi %c, %p : i32\n    linalg.yield %s : i32\n")


def text(array):
    """A constant of bytes. Numbers are signless."""
    return f'dense<"0x{array.tobytes().hex().upper()}">' if array.size else "dense<>"


def product(name, maps, iterators, operands, into, signs):
    types = [kind for _, kind in operands]
    return (f"  %{name} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{iterators}]}}\n"
            f"      ins({', '.join(value for value, _ in operands)} : {', '.join(types)}) outs({into[0]} : {into[1]}) {{\n"
            f"{body(signs)}  }} -> {into[1]}\n")


def bytes_of(random, shape):
    """Random bytes, a third of which are extreme."""
    extreme = random.choice(np.array([0, 127, 128, 255], "u1"), shape)
    return np.where(random.random(shape) < 1 / 3, extreme, random.integers(0, 256, shape, "u1"))


def weights(number):
    n, k, _ = PRODUCTS[number]
    return bytes_of(np.random.default_rng(number), (k, n))


def filters():
    return bytes_of(np.random.default_rng(77), (3, 3, IMAGE[-1], FILTERS))


P = '"parallel", "parallel", "reduction"'
MK, KN, NK, MN = (f"affine_map<(m, n, k) -> ({dims})>" for dims in ("m, k", "k, n", "n, k", "m, n"))


def module():
    """Each product by constant weights, by weights of the program, and by transposed ones of the program; two
    convolutions; a batch of products of the program."""
    arguments, types, lines = [], [], ["  %zero = arith.constant 0 : i32\n  %c0 = arith.constant 0 : index\n"]
    results = []

    def argument(name, kind):
        arguments.append(f"%{name}: {kind}")
        return f"%{name}", kind

    def fill(name, kind, sizes=""):
        lines.append(f"  %e{name} = tensor.empty({sizes}) : {kind}\n  %f{name} = linalg.fill ins(%zero : i32) "
                     f"outs(%e{name} : {kind}) -> {kind}\n")
        return f"%f{name}", kind

    for number, (n, k, signs) in enumerate(PRODUCTS):
        x, w, t = (argument(f"{letter}{number}", f"tensor<{shape}xi8>")
                   for letter, shape in (("x", f"?x{k}"), ("w", f"{k}x{n}"), ("t", f"{n}x{k}")))
        lines.append(f"  %m{number} = tensor.dim {x[0]}, %c0 : {x[1]}\n"
                     f"  %k{number} = arith.constant {text(weights(number))} : {w[1]}\n")
        kind = f"tensor<?x{n}xi32>"
        for letter, other, map_ in (("k", (f"%k{number}", w[1]), KN), ("w", w, KN), ("t", t, NK)):
            name = f"{letter}r{number}"
            lines.append(product(name, [MK, map_, MN], P, [x, other], fill(name, kind, f"%m{number}"), signs))
            results.append((f"%{name}", kind))
    image = argument("image", f"tensor<{'x'.join(map(str, IMAGE))}xi8>")
    lines.append(f"  %filters = arith.constant {text(filters())} : tensor<3x3x{IMAGE[-1]}x{FILTERS}xi8>\n")
    kind = f"tensor<{IMAGE[0]}x{IMAGE[1] - 2}x{IMAGE[2] - 2}x{FILTERS}xi32>"
    for name, signs in (("conv", (False, False)), ("uconv", (True, False))):
        maps = [f"affine_map<(n, h, w, f, a, b, c) -> ({dims})>"
                for dims in ("n, h + a, w + b, c", "a, b, c, f", "n, h, w, f")]
        iterators = ", ".join(['"parallel"'] * 4 + ['"reduction"'] * 3)
        filters_ = ("%filters", f"tensor<3x3x{IMAGE[-1]}x{FILTERS}xi8>")
        lines.append(product(name, maps, iterators, [image, filters_], fill(name, kind), signs))
        results.append((f"%{name}", kind))
    left, right = argument("left", "tensor<3x?x12xi8>"), argument("right", "tensor<3x?x12xi8>")
    lines.append(f"  %c1 = arith.constant 1 : index\n  %rows = tensor.dim %left, %c1 : {left[1]}\n"
                 f"  %cols = tensor.dim %right, %c1 : {right[1]}\n")
    maps = [f"affine_map<(b, m, n, k) -> ({dims})>" for dims in ("b, m, k", "b, n, k", "b, m, n")]
    lines.append(product("batch", maps, '"parallel", ' + P, [left, right],
                         fill("batch", "tensor<3x?x?xi32>", "%rows, %cols"), (False, False)))
    results.append(("%batch", "tensor<3x?x?xi32>"))
    types = ", ".join(kind for _, kind in results)
    return (f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n{''.join(lines)}"
            f"  return {', '.join(name for name, _ in results)} : {types}\n}}\n")


def draw(rows):
    random = np.random.default_rng(rows)
    inputs = []
    for n, k, _ in PRODUCTS:
        inputs += [bytes_of(random, shape) for shape in ((rows, k), (k, n), (n, k))]
    return [*inputs, bytes_of(random, IMAGE), bytes_of(random, (3, rows, 12)), bytes_of(random, (3, rows + 1, 12))]


def wide(array, is_unsigned):
    return array.view("u1" if is_unsigned else "i1").astype("i4")


def expect(inputs):
    *operands, image, left, right = inputs
    results = []
    for number, (_, _, signs) in enumerate(PRODUCTS):
        x, w, t = operands[3 * number:3 * number + 3]
        results += [wide(x, signs[0]) @ wide(other, signs[1]) for other in (weights(number), w, t.T)]
    for is_unsigned in (False, True):
        windows = np.lib.stride_tricks.sliding_window_view(wide(image, is_unsigned), (3, 3), (1, 2))
        results.append(np.einsum("nhwcab,abcf->nhwf", windows, wide(filters(), False)))
    return [*results, wide(left, False) @ wide(right, False).transpose(0, 2, 1)]


def main(what, base):
    if what == "module":
        with open(base + ".mlir", "w") as file:
            file.write(module())
        return
    cases = []
    for rows in ROWS:
        inputs = draw(rows)
        wanted = expect(inputs)
        names = [f"{base}.{rows}.{number}.npy" for number in range(len(inputs))]
        paths = [f"{base}.{rows}.result{number}.npy" for number in range(len(wanted))]
        if what == "compare":
            for number, (path, right) in enumerate(zip(paths, wanted)):
                found = np.load(path)
                assert found.shape == right.shape and (found == right).all(), (rows, number, found, right)
            continue
        for name, array in zip(names, inputs):
            np.save(name, array.view("i1"))
        cases.append(f"{' '.join(names)} -> {' '.join(paths)}\n")
    if cases:
        with open(base + ".cases", "w") as file:
            file.writelines(cases)


main(*sys.argv[1:])
