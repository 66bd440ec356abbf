// Check that each op with tensors prints one line, except below an op with a rule, and that the module is unchanged.
//
// RUN: layout-opt %s --layout-print-rules -o %t.mlir | FileCheck %s --match-full-lines
// RUN: layout-opt %s -o %t.same.mlir && diff %t.mlir %t.same.mlir
// RUN: layout-opt %s --layout-print-rules=output=%t.txt -o /dev/null
// RUN: FileCheck %s --match-full-lines < %t.txt
// RUN: layout-opt %s --pass-pipeline='builtin.module(func.func(layout-print-rules))' -o /dev/null \
// RUN:   | FileCheck %s --match-full-lines
// RUN: not layout-opt %s --layout-print-rules=output=%t/no/such/folder.txt 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD
// BAD: error: the option 'output': cannot write '{{.*}}no/such/folder.txt': No such file or directory

// CHECK:      func.func @"two words" blocks (fixed, _)
// CHECK-NEXT:   %1 = linalg.generic ([i], unread [i]) -> [i], loops i=8, tiles i, 1 op per point
// CHECK-NEXT:   func.return (fixed)
// CHECK-NOT:  {{.}}
module {
  func.func @"two words"(%x: tensor<8xf32>, %s: f32) -> tensor<8xf32> {
    %t = arith.mulf %s, %s : f32
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                         iterator_types = ["parallel"]}
        ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %p = arith.addf %a, %t : f32
      linalg.yield %p : f32
    } -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}
