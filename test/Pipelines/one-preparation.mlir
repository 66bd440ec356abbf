// Check that each pipeline prepares a program once, and that a second
// preparation changes nothing. The NPU's inliner needs cropped pads, too.

// DEFINE: %{twice} = grep -oE 'layout-prepare-(lower-tosa|inline-globals|crop-pads|convert-elementwise|decompose-[a-z-]+|fold-broadcasts)|layout-cpu-check-indices' | sort | uniq -d | FileCheck %s --check-prefix=TWICE --allow-empty
// REQUIRES: target-npu, target-opencl, target-mesh
// RUN: echo "module {}" > %t.empty.mlir
// RUN: layout-opt %t.empty.mlir --layout-to-cpu --dump-pass-pipeline -o /dev/null 2>&1 | %{twice}
// RUN: layout-opt %t.empty.mlir --layout-linalg-to-llvm --dump-pass-pipeline -o /dev/null 2>&1 | %{twice}
// RUN: layout-opt %t.empty.mlir --layout-to-upstream --dump-pass-pipeline -o /dev/null 2>&1 | %{twice}
// RUN: layout-opt %t.empty.mlir --layout-to-opencl='target={#layout.opencl}' --dump-pass-pipeline -o /dev/null 2>&1 | %{twice}
// RUN: layout-opt %t.empty.mlir --layout-to-npu='target={#layout.npu<chip = #npu.target<"BM1684">>}' --dump-pass-pipeline -o /dev/null 2>&1 | sed s/layout-prepare-crop-pads,// | %{twice}
// RUN: layout-opt %t.empty.mlir --layout-to-mpi --dump-pass-pipeline -o /dev/null 2>&1 | %{twice}
// TWICE-NOT: {{.}}

// RUN: layout-opt %s --layout-prepare -o %t.once.mlir
// RUN: layout-opt %t.once.mlir --layout-prepare -o %t.again.mlir
// RUN: diff %t.once.mlir %t.again.mlir
// RUN: FileCheck %s < %t.once.mlir

// CHECK-LABEL: func.func @main
// CHECK-NOT: tosa.
// CHECK-NOT: linalg.softmax
// CHECK-NOT: low[-1]
// CHECK: tensor.extract_slice
// CHECK: linalg.generic
module attributes {layout.target = #layout.cpu<lanes = 16>} {
  ml_program.global private @table(dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>) : tensor<5xf32>
  func.func @main(%x: tensor<4x6xf32>) -> tensor<4x5xf32> {
    %zero = arith.constant 0.0 : f32
    %t = ml_program.global_load_const @table : tensor<5xf32>
    %r = tosa.exp %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %p = tensor.pad %r low[0, -1] high[0, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
    } : tensor<4x6xf32> to tensor<4x5xf32>
    %e = tensor.empty() : tensor<4x5xf32>
    %b = linalg.broadcast ins(%t : tensor<5xf32>) outs(%e : tensor<4x5xf32>) dimensions = [0]
    %s = arith.addf %p, %b : tensor<4x5xf32>
    %m = linalg.softmax dimension(1) ins(%s : tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
    return %m : tensor<4x5xf32>
  }
}
