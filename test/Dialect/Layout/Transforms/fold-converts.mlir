// Check that conversions of new storage, fills and equal values are folded.
// RUN: layout-opt %s --layout-fold-converts | FileCheck %s

#a = #layout.map<(i, j) -> buffer(j, i)>
#z = #layout.padded<#layout.map<(i, j) -> buffer(i, [j] align 4)>, zero>

// CHECK: #[[BA:.*]] = #layout.map<(d0, d1) -> buffer(d1, d0)>
// CHECK-LABEL: func.func @inverse_pair
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xf32>)
// CHECK-NEXT: return %[[X]]
func.func @inverse_pair(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #a>
  %1 = layout.convert %0 : tensor<3x5xf32, #a> to tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @constant
// CHECK-NEXT: arith.constant dense<{{.*}}> : tensor<2x2xi8, #[[BA]]>
// CHECK-NEXT: return
func.func @constant() -> tensor<2x2xi8, #a> {
  %c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %0 = layout.convert %c : tensor<2x2xi8> to tensor<2x2xi8, #a>
  return %0 : tensor<2x2xi8, #a>
}

// CHECK-LABEL: func.func @fresh_storage
// CHECK-NEXT: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x5xf32, #[[BA]]>
// CHECK-NEXT: return %[[E]]
func.func @fresh_storage(%n: index) -> tensor<?x5xf32, #a> {
  %e = tensor.empty(%n) : tensor<?x5xf32>
  %0 = layout.convert %e : tensor<?x5xf32> to tensor<?x5xf32, #a>
  return %0 : tensor<?x5xf32, #a>
}

// Storage whose padding has a value needs a write.
// CHECK-LABEL: func.func @padding_is_written
// CHECK: tensor.empty() : tensor<3x5xf32>
// CHECK-NEXT: layout.convert
func.func @padding_is_written() -> tensor<3x5xf32, #z> {
  %e = tensor.empty() : tensor<3x5xf32>
  %0 = layout.convert %e : tensor<3x5xf32> to tensor<3x5xf32, #z>
  return %0 : tensor<3x5xf32, #z>
}

// CHECK-LABEL: func.func @fill
// CHECK-SAME: %[[V:.*]]: f32
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<3x5xf32, #[[BA]]>
// CHECK-NEXT: %[[F:.*]] = linalg.fill ins(%[[V]] : f32) outs(%[[E]] : tensor<3x5xf32, #[[BA]]>) -> tensor<3x5xf32, #[[BA]]>
// CHECK-NEXT: return %[[F]]
func.func @fill(%v: f32) -> tensor<3x5xf32, #a> {
  %e = tensor.empty() : tensor<3x5xf32>
  %f = linalg.fill ins(%v : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %0 = layout.convert %f : tensor<3x5xf32> to tensor<3x5xf32, #a>
  return %0 : tensor<3x5xf32, #a>
}

// CHECK-LABEL: func.func @duplicate
// CHECK-NEXT: %[[C:.*]] = layout.convert
// CHECK-NEXT: return %[[C]], %[[C]]
func.func @duplicate(%x: tensor<3x5xf32>) -> (tensor<3x5xf32, #a>, tensor<3x5xf32, #a>) {
  %0 = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #a>
  %1 = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #a>
  return %0, %1 : tensor<3x5xf32, #a>, tensor<3x5xf32, #a>
}

// A conversion that must run stays.
// CHECK-LABEL: func.func @stays
// CHECK-NEXT: layout.convert
func.func @stays(%x: tensor<3x5xf32>) -> tensor<3x5xf32, #a> {
  %0 = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #a>
  return %0 : tensor<3x5xf32, #a>
}

// Loops do not fill holes between elements: these are not padding of loops.
#holes = #layout.map<(i, j) -> buffer(i, j floordiv 48, (j mod 16) floordiv 5, j floordiv 16 mod 3, [(j mod 16) mod 5] align 6)>
// CHECK-LABEL: func.func @stays_filled
// CHECK: linalg.fill {{.*}} -> tensor<?x3xf32>
// CHECK-NEXT: layout.convert
func.func @stays_filled(%v: f32, %n: index) -> tensor<?x3xf32, #holes> {
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %f = linalg.fill ins(%v : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %0 = layout.convert %f : tensor<?x3xf32> to tensor<?x3xf32, #holes>
  return %0 : tensor<?x3xf32, #holes>
}
