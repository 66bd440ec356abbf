// Check that the preconditions of the LLVM lowering are verified.

// RUN: layout-opt %s --layout-cpu-verify-lowering-input --allow-unregistered-dialect --split-input-file --verify-diagnostics
// RUN: layout-opt %s --layout-linalg-to-llvm --allow-unregistered-dialect --split-input-file --verify-diagnostics -o /dev/null

func.func @foreign(%x: tensor<4xf32>) {
  // expected-error @below {{'foreign.op' op has no lowering to the LLVM dialect here; lower it before this pipeline}}
  "foreign.op"(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

// expected-error @below {{'func.func' op has a value of type 'tensor<4xf32, "sparse">', but the CPU has one memory and tensors must be dense here}}
func.func @encoding(%x: tensor<4xf32, "sparse">) {
  return
}

// -----

// expected-error @below {{'func.func' op has a value of type 'memref<4xf32, 1>', but the CPU has one memory}}
func.func @space(%x: memref<4xf32, 1>) {
  return
}

// -----

func.func @allocation() -> tensor<4xf32> {
  // expected-error @below {{uses the memory space 3 : i64, but the CPU has one memory; remove the memory space}}
  %0 = bufferization.alloc_tensor() {memory_space = 3 : i64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @casts(%x: tensor<4x8xi32>) -> tensor<8x4xi32> {
  %0 = tensor.cast %x : tensor<4x8xi32> to tensor<?x?xi32>
  // expected-error @below {{casts a 'tensor<4x8xi32>' to a 'tensor<8x4xi32>', which is never valid; remove one of the casts}}
  %1 = tensor.cast %0 : tensor<?x?xi32> to tensor<8x4xi32>
  return %1 : tensor<8x4xi32>
}

// -----

func.func @short() -> tensor<5xi16> {
  // expected-error @below {{of type 'tensor<5xi16>' needs 10 bytes, but its resource 'short' holds 8}}
  %0 = arith.constant dense_resource<short> : tensor<5xi16>
  return %0 : tensor<5xi16>
}

{-# dialect_resources: { builtin: { short: "0x020000000100020003000400" } } #-}

// -----

func.func @missing() -> tensor<5xi16> {
  // expected-error @below {{names the resource 'absent', which the module does not have; add it}}
  %0 = arith.constant dense_resource<absent> : tensor<5xi16>
  return %0 : tensor<5xi16>
}

// -----

func.func @one() -> tensor<i16> {
  // expected-error @below {{holds one element as a resource, which has no lowering; write it as dense<..>}}
  %0 = arith.constant dense_resource<one> : tensor<i16>
  return %0 : tensor<i16>
}

{-# dialect_resources: { builtin: { one: "0x020000000100" } } #-}

// -----

module {
  // expected-error @below {{is not in the outermost module, but only that module is lowered; move it there}}
  func.func @inner() {
    return
  }
}

func.func @outer() {
  return
}

// -----

func.func @less_than_nothing(%x: tensor<8xf32>) -> tensor<?xf32> {
  %size = arith.constant -5 : index
  // expected-error @below {{'tensor.extract_slice' op takes -5 elements of dim 0, but a size is at least 0; correct the constant}}
  %0 = tensor.extract_slice %x[0] [%size] [1] : tensor<8xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-error @below {{'func.func' op has a value of type 'tensor<1099511627776x8388608xf32>', whose bytes do not fit 64 bits (L1): the tensor is too large}}
func.func @large(%x: tensor<1099511627776x8388608xf32>) {
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @below {{'arith.addf' op computes on a value of type 'tensor<*xf32>', whose loops are unknown; cast it to a ranked type}}
  %0 = arith.addf %x, %x : tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// expected-error @below {{'func.func' op has a loop of blocks, but deallocation of buffers needs structured loops; convert it with lift-cf-to-scf}}
func.func @blocks(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  cf.br ^next(%x : tensor<4xf32>)
^next(%y: tensor<4xf32>):
  %0 = arith.addf %y, %x : tensor<4xf32>
  cf.cond_br %c, ^next(%0 : tensor<4xf32>), ^end
^end:
  return %0 : tensor<4xf32>
}
