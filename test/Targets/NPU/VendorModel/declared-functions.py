# REQUIRES: vendor-model, target-npu
# RUN: rm -rf %t && mkdir -p %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check that the vendor's chip models have every function that the header of their API declares. Emitted programs are
# compiled with this header, so they call no other function.
# CHECK: BM1684: {{[1-9][0-9]+}} functions of okk.h, 0 missing
# CHECK-NEXT: BM1684X: {{[1-9][0-9]+}} functions of tpu_kernel.h, 0 missing
# CHECK-NEXT: BM1688: {{[1-9][0-9]+}} functions of tpu_kernel.h, 0 missing
import os
import pathlib
import re
import shlex
import subprocess
import sys

from layout_mlir.isolated import isolated
from layout_mlir.npu_chip_model import LIBRARIES, ChipModel, find_models, make_host
from layout_mlir.npu_compiler import find_includes

folder = pathlib.Path(sys.argv[1])


def get_declared(header):
    source = folder / "header.c"
    source.write_text(f'#include "{header}"\n')
    done = subprocess.run([*shlex.split(os.environ["CXX"]), "-E", "-P", *find_includes(), "-x", "c", source], check=True,
                          stdout=subprocess.PIPE, text=True)
    return set(re.findall(r"\b((?:okk|tpu)_\w+)\s*\(", done.stdout))


def find_missing(library, names):
    chip = ChipModel(find_models() / library, host)
    return [name for name in names if not hasattr(chip.library, name)]


host = make_host(None, folder)
for name, library in LIBRARIES.items():
    header = "okk.h" if name == "BM1684" else "tpu_kernel.h"
    declared = get_declared(header)
    missing = isolated(find_missing, library, sorted(declared))
    print(f"{name}: {len(declared)} functions of {header}, {len(missing)} missing {' '.join(missing)}".rstrip())
