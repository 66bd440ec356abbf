// Check which loops are marked as parallel.
// RUN: layout-opt %s -pass-pipeline="builtin.module(func.func(layout-cpu-emit-kernels),layout-cpu-bufferize,func.func(layout-cpu-tile-transposes),canonicalize,cse)" | FileCheck %s
// RUN: layout-opt %s -pass-pipeline="builtin.module(func.func(layout-cpu-emit-kernels{parallel-loops=false}),layout-cpu-bufferize,func.func(layout-cpu-tile-transposes{parallel-loops=false}))" | FileCheck %s --check-prefix=NONE
// NONE-NOT: layout.parallel

#id = affine_map<(i, j) -> (i, j)>

// Loops over tiles are marked, reductions are not.
// CHECK-LABEL: func.func @product
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (vector
// CHECK: vector.transfer_read
// CHECK: scf.yield {{.*}} : vector
// CHECK-NEXT: }
// CHECK: {layout.parallel}
// CHECK: {layout.parallel}
func.func @product(%x: tensor<64x128xf32>, %y: tensor<128x256xf32>, %z: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %r = linalg.matmul ins(%x, %y : tensor<64x128xf32>, tensor<128x256xf32>)
                     outs(%z : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}

// Loops that end before threads could start stay sequential.
// CHECK-LABEL: func.func @short
// CHECK-NOT: layout.parallel
// CHECK: return
func.func @short(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.matmul ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>)
                     outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// A dynamic size may be large. The last tile overlaps the previous one and is not parallel: two threads must not write
// an element at the same time.
// CHECK-LABEL: func.func @dynamic
// CHECK: {layout.parallel}
// CHECK: return
// CHECK-LABEL: func.func @dynamic_lanes
// CHECK: scf.for
// CHECK-NOT: arith.minsi
// CHECK: {layout.parallel}
// CHECK: scf.for
// CHECK: arith.minsi
// CHECK-NOT: layout.parallel
// CHECK: scf.for
// CHECK: {layout.parallel}
// CHECK: return
func.func @dynamic(%x: tensor<?x8xf32>, %z: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %r = linalg.exp ins(%x : tensor<?x8xf32>) outs(%z : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
func.func @dynamic_lanes(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A failed assertion must end the run from the calling thread.
// CHECK-LABEL: func.func @asserts
// CHECK-NOT: layout.parallel
// CHECK: cf.assert
// CHECK-NOT: layout.parallel
// CHECK: return
func.func @asserts(%x: tensor<1024x1024xi32>) -> tensor<1024x1024xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1024x1024xi32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1024x1024xi32>) outs(%e : tensor<1024x1024xi32>) {
  ^bb0(%a: i32, %b: i32):
    %positive = arith.cmpi sge, %a, %zero : i32
    cf.assert %positive, "negative"
    linalg.yield %a : i32
  } -> tensor<1024x1024xi32>
  return %r : tensor<1024x1024xi32>
}

// The last tile of a non-divisible transposition overlaps the previous one and follows it.
// CHECK-LABEL: func.func @transpose
// CHECK: scf.for %{{.*}} = %c0 to %c992 step %c32
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c512 step %c16
// CHECK-NOT: arith.minsi
// CHECK: {layout.parallel}
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c512 step %c16
// CHECK: arith.addi %[[COLUMN]], %c506368
// CHECK: vector.load
// CHECK: return
func.func @transpose(%x: tensor<1021x512xf32>) -> tensor<512x1021xf32> {
  %e = tensor.empty() : tensor<512x1021xf32>
  %r = linalg.transpose ins(%x : tensor<1021x512xf32>) outs(%e : tensor<512x1021xf32>) permutation = [1, 0]
  return %r : tensor<512x1021xf32>
}

// The sums of a global pooling are split into several tiles, although they fit into registers.
// CHECK-LABEL: func.func @pooled
// CHECK: {layout.parallel}
// CHECK: return
func.func @pooled(%x: tensor<6x4096x16xf32>, %z: tensor<6x16xf32>) -> tensor<6x16xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(c, p, l) -> (c, p, l)>, affine_map<(c, p, l) -> (c, l)>],
      iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<6x4096x16xf32>) outs(%z : tensor<6x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<6x16xf32>
  return %r : tensor<6x16xf32>
}
