# Random conversions, compared element by element with what the layouts mean.
#
# One module, many cases: a plain tensor goes to layout A, to layout B and back;
# storage is printed after each step. What it must hold is computed here, from
# the digits that the text was made of: no project code is asked.
#
# RUN: %python %s generate %t.mlir %t.json
# RUN: layout-opt %t.mlir --convert-layout-to-linalg -o %t.linalg.mlir
# RUN: %python %s finish %t.linalg.mlir %t.finished.mlir
# RUN: mlir-opt-22 %t.finished.mlir --convert-elementwise-to-linalg \
# RUN:   --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
# RUN:   --convert-linalg-to-loops --expand-strided-metadata --lower-affine \
# RUN:   --convert-scf-to-cf --convert-to-llvm --reconcile-unrealized-casts \
# RUN:   -o %t.llvm.mlir
# RUN: mlir-runner-22 -O0 %t.llvm.mlir -e main --entry-point-result=void \
# RUN:   --shared-libs=%mlir_lib_dir/libmlir_runner_utils%shlibext,%mlir_lib_dir/libmlir_c_runner_utils%shlibext > %t.out
# RUN: %python %s check %t.json %t.out | FileCheck-22 %s
# CHECK: {{[1-9][0-9]*}} tensors compared, 0 differ

import itertools
import json
import math
import random
import re
import sys

SEED = 20
CASES = 40
# name -> (printer's type, op that widens to it)
TYPES = {"f32": ("f32", None), "f16": ("f32", "arith.extf"),
         "i8": ("i32", "arith.extsi"), "i32": ("i32", None)}


class Value:
    """A stored value: text, function of the index, extent."""

    def __init__(self, text, at, extent):
        self.text, self.at, self.extent = text, at, extent


def group(values):
    def at(index):
        result = 0
        for value in values:
            result = result * value.extent + value.at(index)
        return result
    extent = 1
    for value in values:
        extent *= value.extent
    return Value("[" + ", ".join(v.text for v in values) + "]", at, extent)


def digits_of(rng, d, size):
    """dim d cut at random nested factors, most significant digit first."""
    factors = [rng.choice([2, 3, 4, 8, 16])
               for _ in range(rng.choice([0, 0, 1, 1, 2]))]
    values, below = [], 1
    for factor in factors:
        text = f"d{d}" if below == 1 else f"(d{d} floordiv {below})"
        values.append(Value(f"{text} mod {factor}",
                            lambda i, b=below, f=factor: i[d] // b % f, factor))
        below *= factor
    text = f"d{d}" if below == 1 else f"d{d} floordiv {below}"
    values.append(Value(text, lambda i, b=below: i[d] // b,
                        -(-size // below)))
    if not factors and rng.random() < 0.15:
        low, high = rng.randrange(3), rng.randrange(3)
        values = [Value(f"pad(d{d}, {low}, {high})",
                        lambda i: i[d] + low, size + low + high)]
    return values[::-1]


def random_layout(rng, shape):
    """Text, position of an index, number of positions."""
    values = [v for d, size in enumerate(shape)
              for v in digits_of(rng, d, size)]
    rng.shuffle(values)
    kind = rng.random()
    if kind < 0.15:
        # Explicit strides with holes.
        terms, stride = [], rng.randrange(1, 3)
        for value in reversed(values):
            terms.append((value, stride))
            stride *= max(value.extent, 1) + rng.randrange(2)
        text = " + ".join(f"({v.text}) * {s}" for v, s in terms)
        extent = 1 + sum((v.extent - 1) * s for v, s in terms)
        return (f"buffer(offset = {text})",
                lambda i: sum(v.at(i) * s for v, s in terms), max(extent, 0))
    if kind < 0.35 and len(values) > 1:
        # The last ones as one group, rounded up.
        cut = rng.randrange(len(values))
        inner = group(values[cut:])
        k = rng.choice([4, 32])
        values = values[:cut] + [Value(f"{inner.text} align {k}", inner.at,
                                       -(-inner.extent // k) * k)]
    whole = group(values)
    return "buffer(" + whole.text[1:-1] + ")", whole.at, whole.extent


def make_case(rng, number):
    rank = rng.randrange(1, 5)
    shape = [rng.choice([1, 2, 3, 5, 7, 17]) for _ in range(rank)]
    if number == 0:
        shape, rank = [3, 17, 2, 5], 4
    if rng.random() < 0.05:
        shape[rng.randrange(rank)] = 0
    dtype = rng.choice(sorted(TYPES))
    names = ", ".join(f"d{d}" for d in range(rank))
    layouts = []
    for _ in range(2):
        text, at, extent = random_layout(rng, shape)
        padding = rng.choice([None, None, 0, 5])
        encoding = f"#layout.map<({names}) -> {text}>"
        if padding is not None:
            value = "zero" if padding == 0 else (
                f"{padding}.0 : {dtype}" if dtype[0] == "f"
                else f"{padding} : {dtype}")
            encoding = f"#layout.padded<{encoding}, {value}>"
        table = [at(i) for i in itertools.product(*map(range, shape))]
        layouts.append((encoding, table, extent, padding))
    return shape, dtype, layouts


def dense(shape, numbers, suffix):
    if not shape:
        return f"{next(numbers)}{suffix}"
    inner = (dense(shape[1:], numbers, suffix) for _ in range(shape[0]))
    return "[" + ", ".join(inner) + "]"


def generate(module_path, expected_path):
    print("seed", SEED)
    rng = random.Random(SEED)
    expected, text, calls = [], [], []
    for number in range(CASES):
        shape, dtype, layouts = make_case(rng, number)
        plain = f"tensor<{''.join(f'{size}x' for size in shape)}{dtype}>"
        logical = [(i * 7 + number) % 100 + 1
                   for i in range(math.prod(shape))]
        suffix = ".0" if dtype[0] == "f" else ""
        data = dense(shape, iter(logical), suffix) if logical else ""
        text += [f"func.func private @input{number}() -> {plain} {{",
                 f"  %0 = arith.constant dense<{data}> : {plain}",
                 f"  return %0 : {plain}", "}"]
        body, source, source_type = [], "%x", plain
        for step, (encoding, table, extent, padding) in enumerate(
                layouts + [(None, range(len(logical)), len(logical), None)]):
            name = f"show_{dtype}_{number}_{step}"
            type_ = plain[:-1] + (f", {encoding}>" if encoding else ">")
            text.append(f"func.func private @{name}({type_})")
            body += [f"  %{step} = layout.convert {source} : {source_type} to {type_}",
                     f"  call @{name}(%{step}) : ({type_}) -> ()"]
            source, source_type = f"%{step}", type_
            want = [padding] * extent
            for position, value in zip(table, logical):
                want[position] = value
            expected.append({"case": f"{number}: {plain} {encoding}", "want": want})
        text += [f"func.func private @case{number}(%x: {plain}) {{", *body,
                 "  return", "}"]
        calls += [f"  %{number} = call @input{number}() : () -> {plain}",
                  f"  call @case{number}(%{number}) : ({plain}) -> ()"]
    text += ["func.func @main() {", *calls, "  return", "}"]
    with open(module_path, "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")
    with open(expected_path, "w", encoding="utf-8") as file:
        json.dump(expected, file)


def finish(module_path, finished_path):
    """Gives the functions that show storage a body that prints it."""
    def define(match):
        name, dtype, shape = match.groups()
        wide, widen = TYPES[dtype]
        own, shown = f"tensor<{shape}{dtype}>", f"tensor<{shape}{wide}>"
        any_ = f"tensor<*x{wide}>"
        widened = f"{widen} %x : {own} to {shown}" if widen else \
            f"tensor.cast %x : {own} to {shown}"
        return (f"func.func private @{name}(%x: {own}) {{\n  %0 = {widened}\n"
                f"  %1 = tensor.cast %0 : {shown} to {any_}\n"
                f"  call @printMemref{wide.upper()}(%1) : ({any_}) -> ()\n"
                "  return\n}")
    with open(module_path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"func.func private @(show_(\w+?)_\d+_\d+)\(tensor<([\dx]*?)[fi]\d+>\)",
                  define, text)
    printers = "".join(
        f"func.func private @printMemref{t}(tensor<*x{t.lower()}>) "
        "attributes {llvm.emit_c_interface}\n" for t in ("F32", "I32"))
    with open(finished_path, "w", encoding="utf-8") as file:
        file.write(text.replace("module {", "module {\n" + printers, 1))


def check(expected_path, printed_path):
    with open(expected_path, encoding="utf-8") as file:
        expected = json.load(file)
    with open(printed_path, encoding="utf-8") as file:
        printed = file.read().split("Unranked Memref")[1:]
    differ = int(len(printed) != len(expected))
    if differ:
        print(len(printed), "tensors printed,", len(expected), "expected")
    for want, text in zip(expected, printed):
        if not want["want"]:
            continue  # the printer shows one element in any case
        data = text.split("data =", 1)[1]
        got = [float(number) for number in re.findall(r"-?(?:[\d.]+(?:e[-+]?\d+)?|nan|inf)", data)]
        if len(got) != len(want["want"]) or any(
                w is not None and w != g for w, g in zip(want["want"], got)):
            differ += 1
            print("case", want["case"], "\n want", want["want"], "\n got ", got)
    print(len(expected), "tensors compared,", differ, "differ")


if __name__ == "__main__":
    {"generate": generate, "finish": finish, "check": check}[sys.argv[1]](*sys.argv[2:])
