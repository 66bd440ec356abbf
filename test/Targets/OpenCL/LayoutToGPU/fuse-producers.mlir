// Check which values are computed in the kernel that reads them and which have their own kernel; unneeded loops and
// reads are removed.

// RUN: layout-opt %s --split-input-file --convert-layout-to-gpu | FileCheck %s
// RUN: %python -c "n = 90; t = [f'tensor<{n - k}xf32>' for k in range(81)]; print(f'func.func @main(%%v0: {t[0]}) -> {t[80]} {{', *[f'%%v{k + 1} = tensor.extract_slice %%v{k}[1] [{n - k - 1}] [1] : {t[k]} to {t[k + 1]}' for k in range(80)], f'return %%v80 : {t[80]}', '}', sep='\n')" | layout-opt --convert-layout-to-gpu | FileCheck %s --check-prefix=CHAIN

// One in the middle of 80 slices is stored.
// CHAIN-COUNT-2: gpu.launch_func
// CHAIN-NOT: gpu.launch_func

// A value that two ops read is computed once.
// CHECK: gpu.func @math_exp_0
// CHECK: math.exp
// CHECK-NOT: math.exp
// CHECK-LABEL: func.func @of_sums
func.func @of_two(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %e = math.exp %x : tensor<6xf32>
  %a = arith.addf %e, %x : tensor<6xf32>
  %b = arith.mulf %e, %x : tensor<6xf32>
  return %a, %b : tensor<6xf32>, tensor<6xf32>
}

// -----

// A value that a reduction reads for each of its results is computed before; of two sums that are added, one is stored.
// CHECK: gpu.module
// CHECK: gpu.func
// CHECK-NOT: scf.for
// CHECK: math.exp
// CHECK: gpu.func
// CHECK-NOT: math.exp
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: gpu.func
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK-NOT: gpu.func
// CHECK-LABEL: func.func @of_few_channels
func.func @of_sums(%x: tensor<4x5xf32>, %w: tensor<5x3xf32>, %v: tensor<5x3xf32>) -> tensor<4x3xf32> {
  %zero = arith.constant 0.0 : f32
  %i = tensor.empty() : tensor<4x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%i : tensor<4x3xf32>) -> tensor<4x3xf32>
  %e = math.exp %x : tensor<4x5xf32>
  %a = linalg.matmul ins(%e, %w : tensor<4x5xf32>, tensor<5x3xf32>) outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32>
  %b = linalg.matmul ins(%x, %v : tensor<4x5xf32>, tensor<5x3xf32>) outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32>
  %s = arith.addf %a, %b : tensor<4x3xf32>
  return %s : tensor<4x3xf32>
}

// -----

// A loop with one iteration is removed, and three channels are three lanes.
#img = #layout.rgba_image<in_out_channel, "NHWC">
// CHECK: gpu.func @linalg_generic_0
// CHECK-NOT: scf.for
// CHECK-COUNT-3: arith.addf
// CHECK-NOT: arith.addf
// CHECK-LABEL: func.func @of_a_border
func.func @of_few_channels(%x0: tensor<1x1x6x3xf32>, %s: tensor<6xf32>) -> tensor<6xf32> {
  %x = layout.convert %x0 : tensor<1x1x6x3xf32> to tensor<1x1x6x3xf32, #img>
  %t = linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (w)>],
                       iterator_types = ["reduction", "reduction", "parallel", "reduction"]}
      ins(%x : tensor<1x1x6x3xf32, #img>) outs(%s : tensor<6xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %o, %v : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  return %t : tensor<6xf32>
}

// -----

// Before the first element, the first one is read; after the last one, the last.
// CHECK: gpu.func @tensor_pad_0(%[[X:.*]]: memref<6xf32, "buffer">
// CHECK: %[[BELOW:.*]] = arith.minsi
// CHECK: %[[INSIDE:.*]] = arith.maxsi %[[BELOW]]
// CHECK: memref.load %[[X]][%[[INSIDE]]]
func.func @of_a_border(%x: tensor<6xf32>) -> tensor<9xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[2] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<6xf32> to tensor<9xf32>
  return %p : tensor<9xf32>
}

// -----

// A sum in an image is computed per pixel, although the final result is in a buffer.
#img = #layout.map<(a, b) -> image2d(x = b floordiv 4, y = a, lane = b mod 4)>
#map = affine_map<(a, b) -> (a, b)>
// CHECK-LABEL: func.func @of_sums_in_images
// CHECK: gpu.func @linalg_matmul_0({{.*}}, %[[SUM:.*]]: memref<4x2xvector<4xf32>, "image2d">)
// CHECK: scf.for
// CHECK-NOT: math.absf
// CHECK: memref.store %{{.*}}, %[[SUM]]
// CHECK: gpu.func @linalg_generic_0
// CHECK-NOT: scf.for
// CHECK: math.absf
// CHECK: math.exp
func.func @of_sums_in_images(%x: tensor<4x5xf32>, %w0: tensor<5x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %w = layout.convert %w0 : tensor<5x8xf32> to tensor<5x8xf32, #img>
  %i = tensor.empty() : tensor<4x8xf32, #img>
  %f = linalg.fill ins(%zero : f32) outs(%i : tensor<4x8xf32, #img>) -> tensor<4x8xf32, #img>
  %a = linalg.matmul ins(%x, %w : tensor<4x5xf32>, tensor<5x8xf32, #img>) outs(%f : tensor<4x8xf32, #img>) -> tensor<4x8xf32, #img>
  %b = math.absf %a : tensor<4x8xf32, #img>
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<4x8xf32, #img>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.exp %v : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
