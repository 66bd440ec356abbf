# RUN: %python %s module > %t.mlir
# RUN: layout-opt %t.mlir --layout-linalg-to-llvm -o %t.llvm.mlir
# RUN: %python %s input %t.x.npy
# RUN: layout-run %t.llvm.mlir --input=%t.x.npy --output=%t.y.npy
# RUN: %python %s compare %t.x.npy %t.y.npy
# Check sums under a condition, for every form of a condition that ends a loop, and for some that must not end it: the
# sums are compared with numpy, element by element.
import sys

import numpy as np

# p is parallel, i and k are summed over; the condition as ops, and in Python.
SIZES = {"p": 13, "i": 5, "k": 7}
CONDITIONS = [  # left side, predicate, right side, and the connective with another condition
    [("k", "slt", 4)], [("k", "sle", 4)], [("k", "ult", 4)], [("k", "ule", 4)],
    [(4, "sgt", "k")], [(4, "sge", "k")], [(4, "ugt", "k")], [(4, "uge", "k")],
    [("k", "sgt", 2)], [(2, "slt", "k")], [("k", "eq", 3)], [("k", "ne", 3)],
    [("k", "slt", 0)], [("k", "slt", 100)],
    [("k * 3 + 1", "slt", 9)], [("k * 3 + 1", "sle", 10)], [("k * 3 + 1", "slt", 10)],
    [("i * 3 + k", "slt", 8)], [("p + k", "slt", 6)], [("k - p", "slt", 2)],
    [("k - p", "ult", 3)], [("p", "slt", 6)], [("p", "slt", 6), ("k", "slt", 3)],
    [("i", "slt", 3), ("k", "sle", 3)], [("k", "slt", 5), ("k", "slt", 3)],
    [("k", "slt", "p")], [("k", "slt", 6), ("k", "sgt", 1)],
    # By another sum, which no constant moves to the other side.
    [("k - i", "slt", 2)], [("k - i", "ult", 3)], [("i", "sgt", "k")], [("i", "ugt", "k")],
    [("i", "sge", "k")], [("i", "uge", "k")],
]
# If the condition is false, another number replaces the sum: no loop may end early.
RESETS = [[("k", "slt", 4)], [("i", "slt", 3)], [("i * 3 + k", "slt", 8)], [("p", "slt", 6)]]
RESET = 7
PYTHON = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


def get_numbers(side, p, i, k):
    values = {"p": p, "i": i, "k": k}
    return side if isinstance(side, int) else eval(side, {}, values)


def holds(condition, p, i, k):
    result = True
    for left, predicate, right in condition:
        a, b = get_numbers(left, p, i, k), get_numbers(right, p, i, k)
        if predicate[0] == "u":
            a, b, predicate = a % 2**64, b % 2**64, "s" + predicate[1:]
        name = predicate[1:] if predicate[0] == "s" else predicate
        result &= eval(f"a {PYTHON[name]} b", {}, {"a": a, "b": b})
    return result


class Body:
    def __init__(self):
        self.lines, self.count = [], 0

    def add(self, text):
        self.count += 1
        self.lines.append(f"      %v{self.count} = {text}")
        return f"%v{self.count}"

    def get(self, side):
        if isinstance(side, int):
            return self.add(f"arith.constant {side} : index")
        if side in "pik":
            return "%" + side
        for sign, op in ((" + ", "addi"), (" - ", "subi")):
            if sign in side:
                left, right = side.split(sign)
                right = int(right) if right.isdigit() else right
                return self.add(f"arith.{op} {self.get(left)}, {self.get(right)} : index")
        left, right = side.split(" * ")
        return self.add(f"arith.muli {self.get(left)}, {self.get(int(right))} : index")

    def condition(self, parts):
        bits = [self.add(f"arith.cmpi {predicate}, {self.get(left)}, {self.get(right)} : index")
                for left, predicate, right in parts]
        while len(bits) > 1:
            bits.append(self.add(f"arith.andi {bits.pop()}, {bits.pop()} : i1"))
        return bits[0]


def make_module():
    size = SIZES
    x, y = f"tensor<{size['p']}x{size['i']}x{size['k']}xf32>", f"tensor<{size['p']}xf32>"
    cases = CONDITIONS + RESETS
    print(f"""func.func @main(%x: {x}) -> tensor<{len(cases)}x{size['p']}xf32> {{
  %zero = arith.constant 100.0 : f32
  %reset = arith.constant {RESET}.0 : f32
  %e = tensor.empty() : {y}""")
    for n, condition in enumerate(cases):
        other = "%acc" if n < len(CONDITIONS) else "%reset"
        body = Body()
        guard = body.condition(condition)
        print(f"""  %f{n} = linalg.fill ins(%zero : f32) outs(%e : {y}) -> {y}
  %r{n} = linalg.generic {{
      indexing_maps = [affine_map<(p, i, k) -> (p, i, k)>, affine_map<(p, i, k) -> (p)>],
      iterator_types = ["parallel", "reduction", "reduction"]}}
      ins(%x : {x}) outs(%f{n} : {y}) {{
    ^bb0(%a: f32, %acc: f32):
      %p = linalg.index 0 : index
      %i = linalg.index 1 : index
      %k = linalg.index 2 : index
{chr(10).join(body.lines)}
      %sum = arith.addf %acc, %a : f32
      %kept = arith.select {guard}, %sum, {other} : f32
      linalg.yield %kept : f32
  }} -> {y}""")
    all_y = f"tensor<{len(cases)}x{size['p']}xf32>"
    print(f"  %all = tensor.empty() : {all_y}")
    last = "%all"
    for n in range(len(cases)):
        print(f"  %s{n} = tensor.insert_slice %r{n} into {last}[{n}, 0] [1, {size['p']}] [1, 1] "
              f": {y} into {all_y}")
        last = f"%s{n}"
    print(f"  return {last} : {all_y}\n}}")


def main():
    if sys.argv[1] == "module":
        make_module()
        return
    shape = tuple(SIZES.values())
    if sys.argv[1] == "input":
        # Distinct powers would not fit; whole numbers keep sums exact.
        np.save(sys.argv[2], np.random.default_rng(7).integers(1, 1000, shape).astype("f4"))
        return
    x, y = np.load(sys.argv[2]), np.load(sys.argv[3])
    for n, condition in enumerate(CONDITIONS + RESETS):
        for p in range(shape[0]):
            expected = 100
            for i, k in np.ndindex(shape[1:]):
                if holds(condition, p, i, k):
                    expected += x[p, i, k]
                elif n >= len(CONDITIONS):
                    expected = RESET
            assert y[n, p] == expected, (condition, p, y[n, p], expected)


main()
