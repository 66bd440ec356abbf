# RUN: rm -rf %t && mkdir -p %t
# RUN: layout-opt %S/Inputs/mutants.mlir --convert-npu-to-emitc=checks -o %t/emitc.mlir
# RUN: layout-translate --mlir-to-cpp %t/emitc.mlir -o %t/program.cpp
# RUN: %python %s %t/program.cpp > %t/mutants.cpp
# RUN: %host_cxx -std=c++17 -Wall -Wextra -Werror -I %layout_src_root/include -I %layout_src_root/include/layout/Runtime/okk %t/mutants.cpp %S/Inputs/run-mutants.cpp %layout_obj_root/lib/libLayoutNpuSimulator.a -o %t/run
# RUN: %t/run | FileCheck %s
# A generated program with one number changed: a stride that matters, an address,
# where a tensor is. The simulator reports a rule that is broken, or, where all
# accesses are to elements that may be there, other elements come back.
# CHECK: the program itself: 0 errors, right
# CHECK: {{[1-9][0-9][0-9]}} mutants: {{[1-9][0-9][0-9]}} break a rule, {{[0-9]+}} move elements to other places, 0 missed
import re
import sys

UNITS, BYTES = 4, 2048
DIM4 = re.compile(r"dim4 (v\d+) = \{([^}]*)\};")
POINTER = re.compile(r"dim4\* (v\d+) = &(v\d+);")
COPY = re.compile(r"okk_gdma_(\d+)bit_cpy_(.)2(.)\((.*)\);")
DECLARE = re.compile(r"okk_sim_declare_tensor\((\d+)u, (\d+)u, (\d+)u\);")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().split("\n")
    values, pointers = {}, {}
    for line in lines:
        if match := DIM4.search(line):
            values[match[1]] = [int(x) for x in match[2].split(",")]
        if match := POINTER.search(line):
            pointers[match[1]] = values[match[2]]
    mutants = []  # (what, line number, lines instead of it)

    def change_dim4(number, arguments, which, d, by, call):
        changed = list(pointers[arguments[which]])
        changed[d] += by
        replaced = list(arguments)
        replaced[which] = "&mutant"
        mutants.append((f"{call}: stride {'nchw'[d]} {by:+} of argument {which}",
                        number,
                        ["  dim4 mutant = {" + ", ".join(map(str, changed)) + "};",
                         f"  {call}({', '.join(replaced)});"]))

    for number, line in enumerate(lines):
        if match := COPY.search(line):
            call = line.strip().split("(")[0]
            arguments = match[4].split(", ")
            shape = pointers[arguments[2]]
            # The destination comes first.
            for which, address, memory in ((3, arguments[0], match[3]),
                                           (4, arguments[1], match[2])):
                for d in range(4):
                    wraps = (memory == "S" or d != 1 or
                             int(address.rstrip("u")) // BYTES + shape[1] > UNITS)
                    if d == 3 or (shape[d] > 1 and wraps):
                        change_dim4(number, arguments, which, d, 1, call)
                        change_dim4(number, arguments, which, d, -1, call)
            for which, memory in ((0, match[3]), (1, match[2])):
                if memory == "L":
                    for by in (1, 4, 128, BYTES):
                        replaced = list(arguments)
                        moved = int(arguments[which].rstrip("u")) + by
                        replaced[which] = f"{moved}u"
                        mutants.append((f"{call}: address {by:+}", number,
                                        [f"  {call}({', '.join(replaced)});"]))
        if match := DECLARE.search(line):
            address, size, alignment = map(int, match.groups())
            for what, to in (("overlap", address - 128), ("overlap", address + 128),
                             ("alignment", address + 2)):
                mutants.append((f"declaration: {what} {to}", number,
                                [f"  okk_sim_declare_tensor({to}u, {size}u, {alignment}u);"]))
    print("\n".join(lines))
    for index, (_, number, instead) in enumerate(mutants):
        text = "\n".join(lines[1:number] + instead + lines[number + 1:])
        print(text.replace("void program(", f"void mutant{index}("))
    print("struct Mutant { const char *what; void (*run)(system_addr_t, "
          "system_addr_t, system_addr_t, system_addr_t, system_addr_t, "
          "system_addr_t); };")
    print("extern const Mutant mutants[];\nextern const int numMutants;")
    print("const Mutant mutants[] = {")
    for index, (what, _, _) in enumerate(mutants):
        print(f'  {{"{what}", mutant{index}}},')
    print(f"}};\nconst int numMutants = {len(mutants)};")


main()
