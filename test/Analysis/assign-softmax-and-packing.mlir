// RUN: layout-opt %s --split-input-file --layout-assign='target={#layout.cpu<lanes = 16>}' | FileCheck %s

// A softmax over the width keeps channels in blocks: each of its ops has them.
// CHECK: #[[NCHW16C:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>
// CHECK-LABEL: func @softmax
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-NOT: layout.convert
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: arith.maxnumf
// CHECK: math.exp
// CHECK: arith.divf
// CHECK-NEXT: linalg.yield
// CHECK-NEXT: -> tensor<2x32x28x28xf32, #[[NCHW16C]]>
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw
func.func @softmax(%x: tensor<2x32x30x30xf32>) -> tensor<2x32x26x26xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.01> : tensor<32x32x3x3xf32>
  %e = tensor.empty() : tensor<2x32x28x28xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x32x28x28xf32>) -> tensor<2x32x28x28xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x32x30x30xf32>, tensor<32x32x3x3xf32>)
                                outs(%f : tensor<2x32x28x28xf32>) -> tensor<2x32x28x28xf32>
  %s = linalg.softmax dimension(3) ins(%c : tensor<2x32x28x28xf32>) outs(%e : tensor<2x32x28x28xf32>) -> tensor<2x32x28x28xf32>
  %e2 = tensor.empty() : tensor<2x32x26x26xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x32x26x26xf32>) -> tensor<2x32x26x26xf32>
  %z = linalg.conv_2d_nchw_fchw ins(%s, %w : tensor<2x32x28x28xf32>, tensor<32x32x3x3xf32>)
                                outs(%f2 : tensor<2x32x26x26xf32>) -> tensor<2x32x26x26xf32>
  return %z : tensor<2x32x26x26xf32>
}

// -----

// A softmax over the channels does not.
// CHECK-LABEL: func @softmax_of_channels
// CHECK: arith.divf
// CHECK-NEXT: linalg.yield
// CHECK-NEXT: -> tensor<2x32x28x28xf32>{{$}}
func.func @softmax_of_channels(%x: tensor<2x32x30x30xf32>) -> tensor<2x32x28x28xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.01> : tensor<32x32x3x3xf32>
  %e = tensor.empty() : tensor<2x32x28x28xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x32x28x28xf32>) -> tensor<2x32x28x28xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x32x30x30xf32>, tensor<32x32x3x3xf32>)
                                outs(%f : tensor<2x32x28x28xf32>) -> tensor<2x32x28x28xf32>
  %s = linalg.softmax dimension(1) ins(%c : tensor<2x32x28x28xf32>) outs(%e : tensor<2x32x28x28xf32>) -> tensor<2x32x28x28xf32>
  return %s : tensor<2x32x28x28xf32>
}

// -----

// The pack and the unpack are views of the blocks of the convolutions; only the last op moves elements.
// CHECK: #[[NCHW16C:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>
// CHECK-LABEL: func @packed
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-NOT: layout.convert
// CHECK: linalg.pack {{.*}} : tensor<2x32x28x28xf32, #[[NCHW16C]]> -> tensor<2x2x28x28x16xf32>
// CHECK-NOT: layout.convert
// CHECK: linalg.unpack {{.*}} : tensor<2x2x28x28x16xf32> -> tensor<2x32x28x28xf32, #[[NCHW16C]]>
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-NEXT: layout.convert
func.func @packed(%x: tensor<2x32x30x30xf32>) -> tensor<2x32x26x26xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.01> : tensor<32x32x3x3xf32>
  %e = tensor.empty() : tensor<2x32x28x28xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x32x28x28xf32>) -> tensor<2x32x28x28xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x32x30x30xf32>, tensor<32x32x3x3xf32>)
                                outs(%f : tensor<2x32x28x28xf32>) -> tensor<2x32x28x28xf32>
  %ep = tensor.empty() : tensor<2x2x28x28x16xf32>
  %p = linalg.pack %c inner_dims_pos = [1] inner_tiles = [16] into %ep : tensor<2x32x28x28xf32> -> tensor<2x2x28x28x16xf32>
  %a = math.absf %p : tensor<2x2x28x28x16xf32>
  %u = linalg.unpack %a inner_dims_pos = [1] inner_tiles = [16] into %e : tensor<2x2x28x28x16xf32> -> tensor<2x32x28x28xf32>
  %e2 = tensor.empty() : tensor<2x32x26x26xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x32x26x26xf32>) -> tensor<2x32x26x26xf32>
  %z = linalg.conv_2d_nchw_fchw ins(%u, %w : tensor<2x32x28x28xf32>, tensor<32x32x3x3xf32>)
                                outs(%f2 : tensor<2x32x26x26xf32>) -> tensor<2x32x26x26xf32>
  return %z : tensor<2x32x26x26xf32>
}

// -----

// A pack with padding is not a view: it stays, with a remark.
// RUN: layout-opt %s --split-input-file --layout-assign='target={#layout.cpu<lanes = 16>}' --remarks-filter=layout.* --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: linalg.pack has no layout rule for these operands: its tiles are not proven to divide the sizes, so it may pad; its tensors stay row-major
// CHECK-LABEL: func @padded
// CHECK: linalg.pack {{.*}} : tensor<2x17x28xf32> -> tensor<2x2x28x16xf32>
func.func @padded(%x: tensor<2x17x28xf32>) -> tensor<2x2x28x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x28x16xf32>
  %p = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [1] inner_tiles = [16] into %e : tensor<2x17x28xf32> -> tensor<2x2x28x16xf32>
  return %p : tensor<2x2x28x16xf32>
}
