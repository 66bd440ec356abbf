// one-shot-bufferize takes the results of a call for different buffers, although the callee returns one buffer twice:
// the store to the first result changes the second one, which is read later.

// RUN: mlir-opt-22 %s --one-shot-bufferize='bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map' | FileCheck %s --check-prefix=IF-MENDED-REMOVE-CopyAliasedResults

// IF-MENDED-REMOVE-CopyAliasedResults: func.func @twice(%[[X:.*]]: memref<4xf32>)
// IF-MENDED-REMOVE-CopyAliasedResults: return %[[X]], %[[X]]
// IF-MENDED-REMOVE-CopyAliasedResults: %[[R:.*]]:2 = call @twice
// IF-MENDED-REMOVE-CopyAliasedResults-NEXT: memref.store %{{.*}}, %[[R]]#0
// IF-MENDED-REMOVE-CopyAliasedResults-NEXT: memref.load %[[R]]#1
func.func @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
func.func @caller(%v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r:2 = call @twice(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %w = tensor.insert %v into %r#0[%c0] : tensor<4xf32>
  %a = tensor.extract %r#1[%c0] : tensor<4xf32>
  %b = tensor.extract %w[%c0] : tensor<4xf32>
  %s = arith.subf %b, %a : f32
  return %s : f32
}
