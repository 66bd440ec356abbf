// RUN: layout-opt %s --layout-cpu-group-byte-products | FileCheck %s
// RUN: layout-opt %s --layout-set-target="target={#layout.cpu<lanes = 16, vector_bits = 512, dot_product_bytes = 4>} cpu=x86-64-v4" --layout-cpu-group-byte-products | FileCheck %s --check-prefix=VNNI
// RUN: layout-opt %s --layout-set-target="target={#layout.cpu<lanes = 4, vector_bits = 128>}" --layout-cpu-group-byte-products | FileCheck %s --check-prefix=NEON
// NEON-NOT: cpu.dot_bytes

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Constant weights are packed: word k of column n has the rows 4 * k to 4 * k + 3. The last word ends with zeros, with
// which the other input is padded.
// CHECK-LABEL: func.func @constant_weights(
// CHECK-DAG: %[[W:.*]] = arith.constant dense_resource<byte_words> : tensor<2x4xi32>
// CHECK-DAG: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[0, 3]
// CHECK-DAG: %[[X:.*]] = cpu.view_words %[[PADDED]] : tensor<?x8xi8> -> tensor<?x2xi32>
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[W]] : tensor<?x2xi32>, tensor<2x4xi32>)
// CHECK-NEXT: ^bb0(%[[P:.*]]: i32, %[[Q:.*]]: i32, %[[SUM:.*]]: i32):
// CHECK-NEXT: %[[DOT:.*]] = cpu.dot_bytes %[[P]], %[[Q]] {lhs_unsigned} : i32
// CHECK-NEXT: arith.addi %[[SUM]], %[[DOT]] : i32
func.func @constant_weights(%x: tensor<?x5xi8>, %init: tensor<?x4xi32>) -> tensor<?x4xi32> {
  %w = arith.constant dense<[[1, -1, 0, 0], [2, -2, 0, 0], [3, -3, 0, 0], [4, -4, 0, 0], [5, -5, 0, 127]]> : tensor<5x4xi8>
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x5xi8>, tensor<5x4xi8>) outs(%init : tensor<?x4xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %0 = arith.extui %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %c, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<?x4xi32>
  return %r : tensor<?x4xi32>
}

// Two signed inputs stay signed. With VNNI, the signs of %x are flipped, and 128 times the sums of columns, 6 and -6, are
// subtracted from the init.
// CHECK-LABEL: func.func @signed(
// CHECK: cpu.dot_bytes %{{.*}}, %{{[^ ]*}} : i32
// VNNI-LABEL: func.func @signed(
// VNNI: %[[BITS:.*]] = arith.constant -2139062144 : i32
// VNNI: arith.xori %{{.*}}, %[[BITS]] : i32
// VNNI: %[[OFFSETS:.*]] = arith.constant dense<[-768, 768]> : tensor<2xi32>
// VNNI: linalg.generic {{.*}} ins(%arg1, %[[OFFSETS]] : tensor<?x2xi32>, tensor<2xi32>)
// VNNI: cpu.dot_bytes %{{.*}}, %{{.*}} {lhs_unsigned} : i32
func.func @signed(%x: tensor<?x4xi8>, %init: tensor<?x2xi32>) -> tensor<?x2xi32> {
  %w = arith.constant dense<[[1, -1], [2, -2], [0, 0], [3, -3]]> : tensor<4x2xi8>
  %r = linalg.matmul ins(%x, %w : tensor<?x4xi8>, tensor<4x2xi8>) outs(%init : tensor<?x2xi32>) -> tensor<?x2xi32>
  return %r : tensor<?x2xi32>
}

// The other input is copied, so that four rows are adjacent, if many products use it.
// CHECK-LABEL: func.func @copied(
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]]
// CHECK: %[[MOVED:.*]] = linalg.transpose ins(%[[SPLIT]] : tensor<2x4x3xi8>) {{.*}} permutation = [0, 2, 1]
// CHECK: cpu.view_words %[[MOVED]] : tensor<2x3x4xi8> -> tensor<2x3x1xi32>
// CHECK: cpu.dot_bytes
func.func @copied(%x: tensor<?x8xi8>, %w: tensor<8x3xi8>, %init: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %r = linalg.matmul ins(%x, %w : tensor<?x8xi8>, tensor<8x3xi8>) outs(%init : tensor<?x3xi32>) -> tensor<?x3xi32>
  return %r : tensor<?x3xi32>
}

// One row uses each element of the weights once: a copy of them does not pay off.
// CHECK-LABEL: func.func @one_row(
// CHECK: linalg.matmul
func.func @one_row(%x: tensor<1x8xi8>, %w: tensor<8x3xi8>, %init: tensor<1x3xi32>) -> tensor<1x3xi32> {
  %r = linalg.matmul ins(%x, %w : tensor<1x8xi8>, tensor<8x3xi8>) outs(%init : tensor<1x3xi32>) -> tensor<1x3xi32>
  return %r : tensor<1x3xi32>
}

// Both inputs are views if the reduction is the last dim of both.
// CHECK-LABEL: func.func @views(
// CHECK: cpu.view_words %{{.*}} : tensor<1x8xi8> -> tensor<1x2xi32>
// CHECK: cpu.view_words %{{.*}} : tensor<3x8xi8> -> tensor<3x2xi32>
// CHECK: cpu.dot_bytes
func.func @views(%x: tensor<1x8xi8>, %w: tensor<3x8xi8>, %init: tensor<1x3xi32>) -> tensor<1x3xi32> {
  %r = linalg.matmul indexing_maps = [#mk, affine_map<(m, n, k) -> (n, k)>, #mn]
      ins(%x, %w : tensor<1x8xi8>, tensor<3x8xi8>) outs(%init : tensor<1x3xi32>) -> tensor<1x3xi32>
  return %r : tensor<1x3xi32>
}

// Words of a reduction of a dynamic size, of two elements, or in no last dim are not formed, and other elements have no
// words.
// CHECK-LABEL: func.func @stay(
// CHECK-NOT: cpu.dot_bytes
// CHECK: return
func.func @stay(%x: tensor<8x?xi8>, %y: tensor<?x8xi8>, %a: tensor<8x2xi8>, %b: tensor<2x8xi8>, %i: tensor<1x4x9x9xi8>,
                %f: tensor<8x4x3x3xi8>, %s: tensor<8x8xi16>, %init: tensor<8x8xi32>, %conv: tensor<1x8x7x7xi32>, %none: tensor<8x0xi8>, %empty: tensor<8x0xi32>)
    -> (tensor<8x0xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<1x8x7x7xi32>, tensor<8x8xi32>, tensor<8x8xi32>) {
  %0 = linalg.matmul ins(%x, %y : tensor<8x?xi8>, tensor<?x8xi8>) outs(%init : tensor<8x8xi32>) -> tensor<8x8xi32>
  %1 = linalg.matmul ins(%a, %b : tensor<8x2xi8>, tensor<2x8xi8>) outs(%init : tensor<8x8xi32>) -> tensor<8x8xi32>
  %2 = linalg.conv_2d_nchw_fchw ins(%i, %f : tensor<1x4x9x9xi8>, tensor<8x4x3x3xi8>) outs(%conv : tensor<1x8x7x7xi32>)
      -> tensor<1x8x7x7xi32>
  %3 = linalg.matmul ins(%s, %s : tensor<8x8xi16>, tensor<8x8xi16>) outs(%init : tensor<8x8xi32>) -> tensor<8x8xi32>
  // The size is static in the type of one input only.
  %columns = tensor.cast %y : tensor<?x8xi8> to tensor<8x8xi8>
  %4 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, #mn]
      ins(%columns, %x : tensor<8x8xi8>, tensor<8x?xi8>) outs(%init : tensor<8x8xi32>) -> tensor<8x8xi32>
  // There is no product.
  %5 = linalg.matmul ins(%columns, %none : tensor<8x8xi8>, tensor<8x0xi8>) outs(%empty : tensor<8x0xi32>) -> tensor<8x0xi32>
  return %5, %0, %1, %2, %3, %4 : tensor<8x0xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<1x8x7x7xi32>, tensor<8x8xi32>, tensor<8x8xi32>
}

// Without an instruction for bytes, words that are used often are those of halves, and twice as many: the bytes 0 and 2,
// then 1 and 3, extended by their own signs.
// CHECK-LABEL: func.func @halves(
// CHECK: %[[X:.*]] = cpu.view_words %{{.*}} : tensor<8x4xi8> -> tensor<8x1xi32>
// CHECK: %[[SPLIT:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<8x1xi32>) outs(%{{.*}} : tensor<8x1x2xi32>)
// CHECK: linalg.index 2
// CHECK: arith.shrui
// CHECK-NEXT: %{{.*}} = arith.constant 16711935 : i32
// CHECK-NEXT: arith.andi
// CHECK-NEXT: linalg.yield
// CHECK: %[[H:.*]] = tensor.collapse_shape %[[SPLIT]] {{\[\[}}0], [1, 2]] : tensor<8x1x2xi32> into tensor<8x2xi32>
// CHECK: %[[W:.*]] = arith.constant dense_resource<half_words> : tensor<2x8xi32>
// CHECK: linalg.generic {{.*}} ins(%[[H]], %[[W]] : tensor<8x2xi32>, tensor<2x8xi32>)
// CHECK: cpu.dot_halves
// VNNI-LABEL: func.func @halves(
// VNNI: cpu.dot_bytes
func.func @halves(%x: tensor<8x4xi8>, %init: tensor<8x8xi32>) -> tensor<8x8xi32> {
  %w = arith.constant dense<-3> : tensor<4x8xi8>
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x4xi8>, tensor<4x8xi8>) outs(%init : tensor<8x8xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %0 = arith.extui %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %c, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<8x8xi32>
  return %r : tensor<8x8xi32>
}

// CHECK-LABEL: func.func @seven_rows(
// CHECK: cpu.dot_bytes
func.func @seven_rows(%x: tensor<7x4xi8>, %w: tensor<4x8xi8>, %init: tensor<7x8xi32>) -> tensor<7x8xi32> {
  %r = linalg.matmul ins(%x, %w : tensor<7x4xi8>, tensor<4x8xi8>) outs(%init : tensor<7x8xi32>) -> tensor<7x8xi32>
  return %r : tensor<7x8xi32>
}
