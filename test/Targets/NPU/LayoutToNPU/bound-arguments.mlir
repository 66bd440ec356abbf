// RUN: layout-opt %s --npu-legalize-linalg --split-input-file | FileCheck %s
// Check that arguments of exp, tanh, sigmoid and sqrt that the chip computes wrongly are clamped, and that bounds which
// follow from the program are left out; run-out-of-range.py compares with numpy.

// A named op.
// CHECK-LABEL: func.func @exponent(
// CHECK: %[[LEAST:.*]] = arith.constant -1.270000e+02 : f32
// CHECK: %[[A:.*]] = arith.maximumf %{{.*}}, %[[LEAST]] : f32
// CHECK: %[[MOST:.*]] = arith.constant 8.872280e+01 : f32
// CHECK: %[[B:.*]] = arith.minimumf %[[A]], %[[MOST]] : f32
// CHECK: math.exp %[[B]] : f32
func.func @exponent(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// Differences to the maximum are at most 0, also behind a reshape.
// CHECK-LABEL: func.func @softmax(
// CHECK-NOT: arith.minimumf
// CHECK: arith.maximumf %{{.*}}, %cst{{.*}} : f32
// CHECK-NEXT: math.exp
// CHECK-NOT: arith.minimumf
// CHECK: return
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce {arith.maximumf} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %rows = tensor.expand_shape %m [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  %g = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, 0)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %rows : tensor<4x8xf32>, tensor<4x1xf32>) outs(%g : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// The maximum of other rows says nothing.
// CHECK-LABEL: func.func @other_rows(
// CHECK: arith.maximumf %{{.*}}, %cst{{.*}} : f32
// CHECK: arith.minimumf
// CHECK-NEXT: math.exp
func.func @other_rows(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce {arith.maximumf} ins(%x : tensor<4x4xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %g = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<4x4xf32>, tensor<4xf32>) outs(%g : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// A window that leaves out the last element is no maximum of all.
// CHECK-LABEL: func.func @window(
// CHECK: arith.maximumf %{{.*}}, %cst{{.*}} : f32
// CHECK: arith.minimumf
// CHECK-NEXT: math.exp
func.func @window(%x: tensor<4xf32>) -> tensor<4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %k = tensor.empty() : tensor<3xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a + b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %k : tensor<4xf32>, tensor<3xf32>) outs(%f : tensor<1xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.maximumf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  %g = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (0)>, affine_map<(a) -> (a)>],
                       iterator_types = ["parallel"]}
      ins(%x, %m : tensor<4xf32>, tensor<1xf32>) outs(%g : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// relu6 bounds what follows, through slices, sums with constants and products.
// CHECK-LABEL: func.func @known(
// CHECK: arith.maximumf
// CHECK: arith.minimumf
// CHECK-NOT: arith.minimumf
// CHECK-NOT: arith.maximumf
// CHECK: linalg.tanh
// CHECK-NOT: arith.minimumf
// CHECK-NOT: arith.maximumf
// CHECK: math.exp
// CHECK-NOT: arith.maximumf
// CHECK: return
func.func @known(%x: tensor<4x8xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %offset = arith.constant dense<[-5.0, 0.0, 7.0, 80.0, 2.0]> : tensor<5xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    %n = arith.minimumf %m, %six : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  %s = tensor.extract_slice %c[0, 2] [4, 5] [1, 1] : tensor<4x8xf32> to tensor<4x5xf32>
  %g = tensor.empty() : tensor<4x5xf32>
  %t = linalg.tanh ins(%s : tensor<4x5xf32>) outs(%g : tensor<4x5xf32>) -> tensor<4x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%s, %offset : tensor<4x5xf32>, tensor<5xf32>) outs(%g : tensor<4x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.addf %a, %b : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<4x5xf32>
  return %t, %r : tensor<4x5xf32>, tensor<4x5xf32>
}

// -----

// The argument of the sigmoid is clamped, and not the other factor.
// CHECK-LABEL: func.func @silu(
// CHECK: %[[A:.*]] = arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK: %[[B:.*]] = arith.minimumf %[[A]], %{{.*}} : f32
// CHECK: %[[N:.*]] = arith.negf %[[B]] : f32
// CHECK: math.exp %[[N]] : f32
// CHECK: arith.divf
// CHECK: ins(%arg0 :
// CHECK: arith.mulf
func.func @silu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    %p = math.exp %n : f32
    %s = arith.addf %p, %one : f32
    %d = arith.divf %one, %s : f32
    %y = arith.mulf %a, %d : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// A sum of squares plus a positive number is never -0; an argument may be.
// CHECK-LABEL: func.func @roots(
// CHECK: arith.addf %{{.*}}, %cst
// CHECK: math.sqrt
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: arith.addf %{{.*}}, %[[ZERO]] : f32
// CHECK: math.sqrt
// CHECK-NOT: math.sqrt
func.func @roots(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %small = arith.constant 1.0e-05 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%m : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %small : f32
    %r = math.sqrt %s : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %g = tensor.empty() : tensor<4x8xf32>
  %r = linalg.sqrt ins(%x : tensor<4x8xf32>) outs(%g : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %d, %r : tensor<4xf32>, tensor<4x8xf32>
}
