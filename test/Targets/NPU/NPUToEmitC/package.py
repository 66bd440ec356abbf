# RUN: rm -rf %t
# RUN: layout-translate --npu-to-package --checks %S/Inputs/package.mlir -o %t
# RUN: FileCheck %S/Inputs/package.mlir < %t/manifest.json
# RUN: %python %s %t
# RUN: env CXX=%host_cxx %python -m layout_mlir.npu %S/Inputs/package.mlir | FileCheck %s
# RUN: not env CXX=%host_cxx %python -m layout_mlir.npu %S/Inputs/package-invalid.mlir 2>&1 | FileCheck %s --check-prefix=INVALID
# RUN: not layout-translate --npu-to-package %S/Inputs/package.mlir --function=f -o %t 2>&1 | FileCheck %s --check-prefix=FUNCTION
# RUN: not layout-translate --npu-to-package %S/Inputs/package.mlir 2>&1 | FileCheck %s --check-prefix=DIRECTORY
# RUN: not layout-translate --mlir-to-cpp --checks %S/Inputs/package.mlir 2>&1 | FileCheck %s --check-prefix=CHECKS
# Check the bytes of the constant block, and the counts of the command.
# CHECK: transfers 3
# CHECK: bytes_s2l 24
# CHECK: bytes_l2s 48
# INVALID: the program violates rules of the chip:
# INVALID-NEXT: the source reads byte 0 of core 0, which was never written
# FUNCTION: has no function 'f' with a body to make a package of
# DIRECTORY: name the directory of the package with -o
# CHECKS: --checks does not apply here
import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
block = np.fromfile(folder / "constants.bin", np.uint8)
wanted = np.zeros(64 * 5 + 6, np.uint8)
# Each at a multiple of 64.
wanted[0:12] = np.full(3, 1.5, np.float32).view(np.uint8)
wanted[64:67] = np.array([1, -2, 3], np.int8).view(np.uint8)
wanted[128:152] = np.array([1, 2, 3], np.int64).view(np.uint8)
wanted[192:200] = np.array([1, 2], np.float32).view(np.uint8)
wanted[256:270] = np.full(7, 0.5, np.float16).view(np.uint8)
wanted[320:326] = np.full(3, -7, np.int16).view(np.uint8)
assert np.array_equal(block, wanted), block
assert "OKKERNEL_FUNC_REGISTER" in (folder / "program.cpp").read_text()
