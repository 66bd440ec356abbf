// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(layout-set-target{target={#layout.cpu<lanes = 16, vector_bits = 256>}},func.func(layout-cpu-emit-kernels))" | FileCheck %s

// Functions that expand to chains of dependent ops are computed on four registers at a time, or on two if the extent is
// a multiple of two only.
// CHECK-LABEL: func.func @erf
// CHECK: math.erf {{.*}} : vector<32xf32>
// CHECK-NOT: math.erf
// CHECK-LABEL: func.func @rest
// CHECK: scf.for {{.*}} to %c288{{.*}} step %c32
// CHECK: math.tanh {{.*}} : vector<32xf32>
// CHECK: math.tanh {{.*}} : vector<12xf32>
// CHECK-LABEL: func.func @two
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK-LABEL: func.func @one
// CHECK-COUNT-3: math.exp {{.*}} : vector<8xf32>
// CHECK-LABEL: func.func @short
// CHECK: math.exp {{.*}} : vector<5xf32>
// What is left of a dynamic extent is one register at a time.
// CHECK-LABEL: func.func @dynamic
// CHECK: math.log {{.*}} : vector<32xf32>
// CHECK: math.log {{.*}} : vector<8xf32>
// CHECK: math.log {{.*}} : f32
// Other functions are one instruction, or are not expanded.
// CHECK-LABEL: func.func @root
// CHECK: math.sqrt {{.*}} : vector<8xf32>
// CHECK-LABEL: func.func @double
// CHECK: math.exp {{.*}} : vector<4xf64>

func.func @erf(%x: tensor<96xf32>) -> tensor<96xf32> {
  %e = tensor.empty() : tensor<96xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%x : tensor<96xf32>) outs(%e : tensor<96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.erf %a : f32
    linalg.yield %y : f32
  } -> tensor<96xf32>
  return %r : tensor<96xf32>
}

func.func @rest(%x: tensor<300xf32>) -> tensor<300xf32> {
  %e = tensor.empty() : tensor<300xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%x : tensor<300xf32>) outs(%e : tensor<300xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.tanh %a : f32
    linalg.yield %y : f32
  } -> tensor<300xf32>
  return %r : tensor<300xf32>
}

func.func @two(%x: tensor<48xf32>) -> tensor<48xf32> {
  %e = tensor.empty() : tensor<48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%x : tensor<48xf32>) outs(%e : tensor<48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<48xf32>
  return %r : tensor<48xf32>
}

func.func @one(%x: tensor<24xf32>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<24xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%x : tensor<24xf32>) outs(%e : tensor<24xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<24xf32>
  return %r : tensor<24xf32>
}

func.func @short(%x: tensor<5xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @dynamic(%x: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.log %a : f32
    linalg.yield %y : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @root(%x: tensor<96xf32>) -> tensor<96xf32> {
  %e = tensor.empty() : tensor<96xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%x : tensor<96xf32>) outs(%e : tensor<96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.sqrt %a : f32
    linalg.yield %y : f32
  } -> tensor<96xf32>
  return %r : tensor<96xf32>
}

func.func @double(%x: tensor<96xf64>) -> tensor<96xf64> {
  %e = tensor.empty() : tensor<96xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%x : tensor<96xf64>) outs(%e : tensor<96xf64>) {
  ^bb0(%a: f64, %o: f64):
    %y = math.exp %a : f64
    linalg.yield %y : f64
  } -> tensor<96xf64>
  return %r : tensor<96xf64>
}
