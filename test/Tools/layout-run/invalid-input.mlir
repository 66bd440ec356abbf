// Check errors for arrays of the wrong shape, files that are not arrays, and
// invalid options.

// RUN: rm -rf %t && mkdir -p %t && %python %S/Inputs/bad_npy.py %t
// RUN: mlir-opt-22 %s %lower -o %t/m.mlir
// RUN: layout-run %t/m.mlir --input=%t/good.npy
// RUN: layout-run %t/m.mlir --input=%t/v2.npy

// RUN: not layout-run %t/m.mlir 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not layout-run %t/m.mlir --input=%t/dtype.npy 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: not layout-run %t/m.mlir --input=%t/shape.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not layout-run %t/m.mlir --input=%t/rank.npy 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not layout-run %t/m.mlir --input=%t/unsigned.npy 2>&1 | FileCheck %s --check-prefix=UNSIGNED
// RUN: not layout-run %t/m.mlir --input=%t/big.npy 2>&1 | FileCheck %s --check-prefix=BIG
// RUN: not layout-run %t/m.mlir --input=%t/records.npy 2>&1 | FileCheck %s --check-prefix=RECORDS
// RUN: not layout-run %t/m.mlir --input=%t/fortran.npy 2>&1 | FileCheck %s --check-prefix=FORTRAN
// RUN: not layout-run %t/m.mlir --input=%t/truncated.npy 2>&1 | FileCheck %s --check-prefix=TRUNCATED
// RUN: not layout-run %t/m.mlir --input=%t/longer.npy 2>&1 | FileCheck %s --check-prefix=LONGER
// RUN: not layout-run %t/m.mlir --input=%t/short_header.npy 2>&1 | FileCheck %s --check-prefix=HEADER
// RUN: not layout-run %t/m.mlir --input=%t/magic.npy 2>&1 | FileCheck %s --check-prefix=MAGIC
// RUN: not layout-run %t/m.mlir --input=%t/version.npy 2>&1 | FileCheck %s --check-prefix=VERSION
// RUN: not layout-run %t/m.mlir --input=%t/key.npy 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not layout-run %t/m.mlir --input=%t/huge.npy 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not layout-run %t/m.mlir --input=%t/negative.npy 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not layout-run %t/m.mlir --input=%t/absent.npy 2>&1 | FileCheck %s --check-prefix=ABSENT

// RUN: not layout-run %t/m.mlir --input=%t/good.npy --output=a.npy --output=b.npy 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// RUN: not layout-run %t/m.mlir --input=%t/good.npy --output=%t/no/dir.npy 2>&1 | FileCheck %s --check-prefix=WRITE
// RUN: not layout-run %t/m.mlir --input=%t/good.npy --json=%t/no/dir.json 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: not layout-run %t/m.mlir --input=%t/good.npy --repeat=0 2>&1 | FileCheck %s --check-prefix=REPEAT
// RUN: not layout-run %t/m.mlir --input=%t/good.npy --opt-level=4 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not layout-run %t/m.mlir --input=%t/good.npy --compare 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not layout-run %t/m.mlir %t/m.mlir --input=%t/good.npy --max-rel=nan 2>&1 | FileCheck %s --check-prefix=LIMIT

// COUNT: m.mlir:{{.*}}: error: takes 1 inputs, got 0; its signature is
// DTYPE: m.mlir:{{.*}}: error: takes 'tensor<?x3xf32>' as input 0, got tensor<2x3xf64>
// SHAPE: error: takes 'tensor<?x3xf32>' as input 0, got tensor<3x2xf32>
// RANK: error: takes 'tensor<?x3xf32>' as input 0, got tensor<6xf32>
// UNSIGNED: error: takes {{.*}}tensor<?x3xf32>{{.*}} as input 0, got tensor<2x3xui8>
// BIG: big.npy: has dtype '>f4'
// RECORDS: records.npy: holds records
// FORTRAN: fortran.npy: is in Fortran order; save numpy.ascontiguousarray
// TRUNCATED: truncated.npy: is truncated: 23 bytes of data, the shape needs 24
// LONGER: longer.npy: has bytes left over: 25 bytes of data, the shape needs 24
// HEADER: short_header.npy: is truncated in the header
// MAGIC: magic.npy: is not a .npy file
// VERSION: version.npy: has .npy format version 9
// KEY: key.npy: the header has the unknown key 'shade'
// HUGE: huge.npy: has a shape that is too large
// NEGATIVE: negative.npy: the 'shape' of the header is not a tuple of sizes
// ABSENT: absent.npy: cannot be read: No such file or directory
// OUTPUTS: error: {{.*}}m.mlir has 1 results, but --output is given 2 times
// WRITE: dir.npy: cannot be written: No such file or directory
// JSON: cannot write '{{.*}}dir.json': No such file or directory
// REPEAT: --repeat must be at least 1
// LEVEL: --opt-level must be 0, 1, 2 or 3
// ALONE: --compare and --max-rel need a second module
// LIMIT: --max-rel must be a non-negative number

func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32>
    attributes {llvm.emit_c_interface, layout.signature = (tensor<?x3xf32>) -> tensor<?x3xf32>} {
  return %x : tensor<?x3xf32>
}
