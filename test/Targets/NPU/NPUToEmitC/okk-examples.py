# RUN: rm -rf %t && mkdir -p %t
# RUN: %python %s module %layout_src_root/test/vectors/npu_scatter.json > %t/module.mlir
# RUN: layout-opt %t/module.mlir --convert-npu-to-emitc=checks -o %t/emitc.mlir
# RUN: layout-translate --mlir-to-cpp %t/emitc.mlir -o %t/generated.cpp
# RUN: %python %s cases %layout_src_root/test/vectors/npu_scatter.json > %t/cases.inc
# RUN: %host_cxx -std=c++17 -Wall -Wextra -Wpedantic -Werror -I %layout_src_root/include -I %layout_src_root/include/layout/Targets/NPU/Simulator/okk -I %t %t/generated.cpp %S/Inputs/run-examples.cpp %layout_obj_root/lib/libLayoutNpuSimulator.a -o %t/run
# RUN: %t/run | FileCheck %s
# Check every example of the OKKernel manual as a program: a tensor is copied to local memory and back, its bytes are at
# the positions of the test vectors, and nothing else is written.
# CHECK: 21 examples, 0 wrong
import json
import sys

ELEMENTS = {1: "i8", 2: "i16", 4: "f32"}
# The manual's chip of four cores has 1024 bytes each, and BM1684 has 64 cores. BM1688 has 32 cores of 128 KiB, but not
# OKKernel, which a chip with another size has.
BYTES = {4: 1024, 32: 256 << 10, 64: 512 << 10}


def memref(case, layout):
    shape = "x".join(map(str, case["shape"]))
    element = ELEMENTS[case["element_bytes"]]
    return f"memref<{shape}x{element}{layout}>"


def module(cases):
    lines = []
    for number, case in enumerate(cases):
        target = case["target"]
        size = BYTES[target["npus"]]
        chip = (f"#npu.target<npus = {target['npus']}, bytes_per_npu = {size}, "
                f"eu_bytes = {target['eu_bytes']}>")
        layout = case["layout"][:-1] + f", target = {chip}>"
        local = memref(case, f", {layout}, #npu.memory<local>")
        linear = memref(case, ", #npu.memory<system>")
        start = int(case["layout"].split("start = ")[1].split(",")[0].rstrip(">"))
        lines += [
            f"func.func @example{number}(%from: {linear}, %to: {linear}) {{",
            f"  %t = npu.alloc {{address = {start * size}}} : {local}",
            f"  npu.copy %from to %t : {linear} to {local}",
            f"  npu.copy %t to %to : {local} to {linear}",
            "  return",
            "}"]
    return "\n".join(lines)


def array(numbers):
    return "{" + ", ".join(map(str, numbers)) + "}"


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    if sys.argv[1] == "module":
        print(module(cases))
        return
    for number in range(len(cases)):
        print(f"void npu_example{number}(system_addr_t, system_addr_t);")
    print("static const Example examples[] = {")
    for number, case in enumerate(cases):
        target, shape = case["target"], case["shape"]
        print(f"  {{npu_example{number}, {target['npus']}, {BYTES[target['npus']]}, "
              f"{target['eu_bytes']}, {case['element_bytes']}, "
              f"{case['bytes_per_npu']}, {array(shape)}, {{")
        for index, (core, byte) in case["points"]:
            linear = 0
            for i, size in zip(index, shape):
                linear = linear * size + i
            print(f"    {{{linear}, {core}, {byte}}},")
        print("  }},")
    print("};")


main()
