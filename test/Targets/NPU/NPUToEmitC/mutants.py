# RUN: rm -rf %t && mkdir -p %t
# RUN: layout-opt %S/Inputs/mutants.mlir --convert-npu-to-emitc=checks -o %t/emitc.mlir
# RUN: layout-translate --mlir-to-cpp %t/emitc.mlir -o %t/program.cpp
# RUN: %python %s %t/program.cpp > %t/mutants.cpp
# RUN: %host_cxx -std=c++17 -Wall -Wextra -Wpedantic -Werror -Wno-unused-variable -I %layout_src_root/include -I %layout_src_root/include/layout/Targets/NPU/Simulator/okk %t/mutants.cpp %S/Inputs/run-mutants.cpp %layout_obj_root/lib/libLayoutNpuSimulator.a -o %t/run
# RUN: %t/run | FileCheck %s
# Check that the simulator reports a violated rule for a generated program with one changed number: a size or a stride
# that matters, or an address. The report precedes any comparison of results.
# CHECK: the program itself: 0 errors, right
# CHECK: [[ALL:[0-9][0-9][0-9]]] mutants: [[ALL]] break a rule, 0 move elements to other places, 0 missed
import re
import sys

UNITS, BYTES = 4, 2048
DIM4 = re.compile(r"dim4 (v\d+) = \{([^}]*)\};")
POINTER = re.compile(r"dim4\* (v\d+) = &(v\d+);")
CALL = re.compile(r"(okk_gdma_\d+bit_cpy_(.)2(.)|okk_bdc_\w+|okk_sim_box)\((.*)\);")
DECLARE = re.compile(r"okk_sim_declare_tensor\((\d+)u, (\d+)u, (\d+)u\);")


class Call:
    """A call: the arguments that are addresses, the shape, and the strides."""

    def __init__(self, match):
        self.name, self.arguments = match[1], match[4].split(", ")
        if self.name == "okk_sim_box":  # address, byte of the image, element bytes, shape, strides
            self.shape, self.operands = 3, [(0, 4, "L"), (None, 5, "S")]
        elif self.name.startswith("okk_bdc"):  # neg or set_C
            sources = 0 if self.name.endswith("set_C") else 1
            self.shape = 2
            self.operands = [(0, 3, "L"), (1, 4, "L")][:sources + 1]
        else:  # the destination is the first argument
            self.shape, self.operands = 2, [(0, 3, match[3]), (1, 4, match[2])]

    def replace(self, which, by):
        arguments = list(self.arguments)
        arguments[which] = by
        return f"  {self.name}({', '.join(arguments)});"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().split("\n")
    # Kernels precede it.
    start = next(i for i, line in enumerate(lines) if "void npu_program(" in line)
    values, pointers = {}, {}
    for line in lines:
        if match := DIM4.search(line):
            values[match[1]] = [int(x) for x in match[2].split(",")]
        if match := POINTER.search(line):
            pointers[match[1]] = values[match[2]]
    mutants = []  # (description, line number, replacement lines)

    def change_dim4(number, call, which, d, by, what):
        changed = list(pointers[call.arguments[which]])
        changed[d] += by
        if what == "shape" and changed[d] < 1:
            return
        mutants.append((f"{call.name}: {what} {'nchw'[d]} {by:+} of argument {which}", number,
                        ["  dim4 mutant = {" + ", ".join(map(str, changed)) + "};",
                         call.replace(which, "&mutant")]))

    for number, line in enumerate(lines[start:], start):
        if match := CALL.search(line):
            call = Call(match)
            shape = pointers[call.arguments[call.shape]]
            for d in range(4):
                for by in (1, -1):
                    change_dim4(number, call, call.shape, d, by, "shape")
            for place, strides, memory in call.operands:
                # Aligned operands have no strides.
                for d in range(4 if call.arguments[strides] != "nullptr" else 0):
                    wraps = (memory == "S" or d != 1 or
                             int(call.arguments[place].rstrip("u")) // BYTES + shape[1] > UNITS)
                    # Rows of kernels may have any stride.
                    isRow = d == 3 and call.name != "okk_sim_box"
                    if isRow or (shape[d] > 1 and wraps):
                        change_dim4(number, call, strides, d, 1, "stride")
                        change_dim4(number, call, strides, d, -1, "stride")
                if memory == "L":
                    for by in (1, 4, 128, BYTES):
                        moved = int(call.arguments[place].rstrip("u")) + by
                        mutants.append((f"{call.name}: address {by:+}", number,
                                        [call.replace(place, f"{moved}u")]))
        if match := DECLARE.search(line):
            address, size, alignment = map(int, match.groups())
            for what, to in (("overlap", address - 128), ("overlap", address + 128),
                             ("alignment", address + 2)):
                mutants.append((f"declaration: {what} {to}", number,
                                [f"  okk_sim_declare_tensor({to}u, {size}u, {alignment}u);"]))
    print("\n".join(lines))
    for index, (_, number, instead) in enumerate(mutants):
        text = "\n".join(lines[start:number] + instead + lines[number + 1:])
        print(text.replace("void npu_program(", f"void mutant{index}("))
    print("struct Mutant { const char *what; void (*run)(system_addr_t, "
          "system_addr_t, system_addr_t, system_addr_t, system_addr_t, "
          "system_addr_t); };")
    print("extern const Mutant mutants[];\nextern const int numMutants;")
    print("const Mutant mutants[] = {")
    for index, (what, _, _) in enumerate(mutants):
        print(f'  {{"{what}", mutant{index}}},')
    print(f"}};\nconst int numMutants = {len(mutants)};")


main()
