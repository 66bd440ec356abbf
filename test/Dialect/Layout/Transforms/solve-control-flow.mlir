// Check that layouts of tensors that pass through control flow are chosen like
// all others: a layout shared by two convolutions is not converted in between.
//
// RUN: layout-opt %s -split-input-file \
// RUN:   --layout-assign='target={#layout.cpu<lanes = 16>}' \
// RUN:   | FileCheck %s

// A loop-carried value is converted before and after the loop, and the
// loop-invariant filter before it.
// CHECK: func @loop
// CHECK-COUNT-2: layout.convert
// CHECK: scf.for
// CHECK-NOT: layout.convert
// CHECK: scf.yield
// CHECK: layout.convert
// CHECK-NOT: layout.convert
func.func @loop(%x: tensor<1x64x3x3xf32>, %w: tensor<64x64x1x1xf32>,
                %lo: index, %hi: index, %step: index) -> tensor<1x64x3x3xf32> {
  %out = tensor.empty() : tensor<1x64x3x3xf32>
  %r = scf.for %i = %lo to %hi step %step iter_args(%a = %x) -> tensor<1x64x3x3xf32> {
    %y = linalg.conv_2d_nchw_fchw ins(%a, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
      outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
    %z = arith.maximumf %y, %a : tensor<1x64x3x3xf32>
    scf.yield %z : tensor<1x64x3x3xf32>
  }
  return %r : tensor<1x64x3x3xf32>
}

// -----

// CHECK: func @branches
// CHECK: scf.if
// CHECK-NOT: layout.convert
// CHECK: scf.yield
// CHECK-NOT: layout.convert
// CHECK: scf.yield
// CHECK: }
// CHECK-NEXT: linalg.conv_2d_nchw_fchw
func.func @branches(%x: tensor<1x64x3x3xf32>, %w: tensor<64x64x1x1xf32>, %c: i1) -> tensor<1x64x3x3xf32> {
  %out = tensor.empty() : tensor<1x64x3x3xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
    outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
  %r = scf.if %c -> tensor<1x64x3x3xf32> {
    %a = arith.addf %y, %y : tensor<1x64x3x3xf32>
    scf.yield %a : tensor<1x64x3x3xf32>
  } else {
    scf.yield %y : tensor<1x64x3x3xf32>
  }
  %z = linalg.conv_2d_nchw_fchw ins(%r, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
    outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
  return %z : tensor<1x64x3x3xf32>
}

// -----

// CHECK: func @while
// CHECK: scf.while
// CHECK-NOT: layout.convert
// CHECK: scf.yield
func.func @while(%x: tensor<1x64x3x3xf32>, %w: tensor<64x64x1x1xf32>, %n: index) -> tensor<1x64x3x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %out = tensor.empty() : tensor<1x64x3x3xf32>
  %r:2 = scf.while (%a = %x, %i = %c0) : (tensor<1x64x3x3xf32>, index) -> (tensor<1x64x3x3xf32>, index) {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %a, %i : tensor<1x64x3x3xf32>, index
  } do {
  ^bb0(%a: tensor<1x64x3x3xf32>, %i: index):
    %y = linalg.conv_2d_nchw_fchw ins(%a, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
      outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %y, %j : tensor<1x64x3x3xf32>, index
  }
  return %r#0 : tensor<1x64x3x3xf32>
}

// -----

// The loop of blocks carries the tiled layout; conversions stay outside.
// CHECK: func @blocks
// CHECK: cf.br ^[[HEAD:.*]](%{{.*}} : tensor<1x64x3x3xf32, #{{[a-z0-9]+}}>
// CHECK: ^[[HEAD]]
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-NOT: layout.convert
// CHECK: cf.br ^[[HEAD]]
// CHECK: layout.convert
// CHECK-NEXT: return
func.func @blocks(%x: tensor<1x64x3x3xf32>, %w: tensor<64x64x1x1xf32>, %n: index) -> tensor<1x64x3x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %out = tensor.empty() : tensor<1x64x3x3xf32>
  cf.br ^head(%x, %c0 : tensor<1x64x3x3xf32>, index)
^head(%a: tensor<1x64x3x3xf32>, %i: index):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^exit
^body:
  %y = linalg.conv_2d_nchw_fchw ins(%a, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
    outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%y, %j : tensor<1x64x3x3xf32>, index)
^exit:
  return %a : tensor<1x64x3x3xf32>
}

// -----

// Private functions change their signature with all calls; public ones do not.
// CHECK: func private @block(%{{.*}}: tensor<1x64x3x3xf32, #{{[a-z0-9]+}}>, %{{.*}}: tensor<64x64x1x1xf32, #{{[a-z0-9]+}}>) -> tensor<1x64x3x3xf32, #{{[a-z0-9]+}}>
// CHECK: return
// CHECK: func @calls(%{{.*}}: tensor<1x64x3x3xf32>, %{{.*}}: tensor<64x64x1x1xf32>) -> tensor<1x64x3x3xf32> {
// CHECK-COUNT-2: layout.convert
// CHECK-NEXT: call @block
// CHECK-NEXT: call @block
// CHECK-NEXT: call @block
// CHECK-NEXT: call @block
// CHECK-NEXT: call @block
// CHECK-NEXT: call @block
// CHECK-NEXT: layout.convert
// CHECK-NEXT: return
func.func private @block(%x: tensor<1x64x3x3xf32>, %w: tensor<64x64x1x1xf32>) -> tensor<1x64x3x3xf32> {
  %out = tensor.empty() : tensor<1x64x3x3xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
    outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
  return %y : tensor<1x64x3x3xf32>
}
func.func @calls(%x: tensor<1x64x3x3xf32>, %w: tensor<64x64x1x1xf32>) -> tensor<1x64x3x3xf32> {
  %a = call @block(%x, %w) : (tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x3x3xf32>
  %b = call @block(%a, %w) : (tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x3x3xf32>
  %c = call @block(%b, %w) : (tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x3x3xf32>
  %d = call @block(%c, %w) : (tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x3x3xf32>
  %e = call @block(%d, %w) : (tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x3x3xf32>
  %f = call @block(%e, %w) : (tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x3x3xf32>
  return %f : tensor<1x64x3x3xf32>
}

// -----

// CHECK: func @flexible(%{{.*}}: tensor<1x64x3x3xf32>, %{{.*}}: tensor<64x64x1x1xf32, #{{[a-z0-9]+}}>) -> tensor<1x64x3x3xf32, #{{[a-z0-9]+}}>
// CHECK-NOT: layout.convert
// CHECK: return
func.func @flexible(%x: tensor<1x64x3x3xf32>, %w: tensor<64x64x1x1xf32>) -> tensor<1x64x3x3xf32>
    attributes {layout.flexible_abi} {
  %out = tensor.empty() : tensor<1x64x3x3xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
    outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
  return %y : tensor<1x64x3x3xf32>
}

// -----

// A function whose address is taken keeps its signature.
// CHECK: func private @taken(%{{.*}}: tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32> {
func.func private @taken(%x: tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32> {
  %y = arith.addf %x, %x : tensor<1x64x3x3xf32>
  return %y : tensor<1x64x3x3xf32>
}
func.func @takes() -> ((tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>) {
  %f = constant @taken : (tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
  return %f : (tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
}

// -----

// A value that only one branch needs is converted there.
// CHECK: func @sink
// CHECK-NOT: layout.convert
// CHECK: scf.if
// CHECK: layout.convert
func.func @sink(%x: tensor<1x64x3x3xf32>, %w: tensor<64x64x1x1xf32>, %c: i1) -> f32 {
  %out = tensor.empty() : tensor<1x64x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %i0 = arith.constant 0 : index
  %r = scf.if %c -> f32 {
    %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
      outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
    %z = linalg.conv_2d_nchw_fchw ins(%y, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
      outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
    %a = linalg.conv_2d_nchw_fchw ins(%z, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
      outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
    %b = linalg.conv_2d_nchw_fchw ins(%a, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
      outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
    %d = linalg.conv_2d_nchw_fchw ins(%b, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
      outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
    %f = linalg.conv_2d_nchw_fchw ins(%d, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
      outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
    %e = tensor.extract %f[%i0, %i0, %i0, %i0] : tensor<1x64x3x3xf32>
    scf.yield %e : f32
  } else {
    scf.yield %zero : f32
  }
  return %r : f32
}
