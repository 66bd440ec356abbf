// RUN: layout-opt %s -layout-linalg-to-llvm=parallel-loops=false \
// RUN:   | mlir-runner-22 -O3 -e main --entry-point-result=void \
// RUN:     --shared-libs=%mlir_lib_dir/libmlir_runner_utils%shlibext,%mlir_lib_dir/libmlir_c_runner_utils%shlibext \
// RUN:   | FileCheck %s

// Check packing with padding, unpacking, and a non-divisible transposition. Element
// (c, h, w) of the input is (27 c + 9 h + w) mod 50.
func.func private @printMemrefI32(tensor<*xi32> {bufferization.access = "read"}) attributes {llvm.emit_c_interface}

func.func private @input(%e: tensor<11x3x9xi32>) -> tensor<11x3x9xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(c, h, w) -> (c, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<11x3x9xi32>) {
  ^bb0(%o: i32):
    %c = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %v = affine.apply affine_map<(c, h, w) -> ((c * 27 + h * 9 + w) mod 50)>(%c, %h, %w)
    %n = arith.index_cast %v : index to i32
    linalg.yield %n : i32
  } -> tensor<11x3x9xi32>
  return %r : tensor<11x3x9xi32>
}

func.func @pack(%x: tensor<11x3x9xi32>) -> tensor<2x3x9x8xi32> {
  %pad = arith.constant -1 : i32
  %e = tensor.empty() : tensor<2x3x9x8xi32>
  %r = linalg.pack %x padding_value(%pad : i32) inner_dims_pos = [0] inner_tiles = [8]
      into %e : tensor<11x3x9xi32> -> tensor<2x3x9x8xi32>
  return %r : tensor<2x3x9x8xi32>
}

func.func @unpack(%x: tensor<2x3x9x8xi32>) -> tensor<11x3x9xi32> {
  %e = tensor.empty() : tensor<11x3x9xi32>
  %r = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [8]
      into %e : tensor<2x3x9x8xi32> -> tensor<11x3x9xi32>
  return %r : tensor<11x3x9xi32>
}

func.func @transpose(%x: tensor<11x3x9xi32>) -> tensor<9x3x11xi32> {
  %e = tensor.empty() : tensor<9x3x11xi32>
  %r = linalg.transpose ins(%x : tensor<11x3x9xi32>) outs(%e : tensor<9x3x11xi32>) permutation = [2, 1, 0]
  return %r : tensor<9x3x11xi32>
}

func.func @main() {
  %e = tensor.empty() : tensor<11x3x9xi32>
  %x = call @input(%e) : (tensor<11x3x9xi32>) -> tensor<11x3x9xi32>
  %p = call @pack(%x) : (tensor<11x3x9xi32>) -> tensor<2x3x9x8xi32>
  %pu = tensor.cast %p : tensor<2x3x9x8xi32> to tensor<*xi32>
  call @printMemrefI32(%pu) : (tensor<*xi32>) -> ()
  %u = call @unpack(%p) : (tensor<2x3x9x8xi32>) -> tensor<11x3x9xi32>
  %uu = tensor.cast %u : tensor<11x3x9xi32> to tensor<*xi32>
  call @printMemrefI32(%uu) : (tensor<*xi32>) -> ()
  %t = call @transpose(%u) : (tensor<11x3x9xi32>) -> tensor<9x3x11xi32>
  %tu = tensor.cast %t : tensor<9x3x11xi32> to tensor<*xi32>
  call @printMemrefI32(%tu) : (tensor<*xi32>) -> ()
  return
}

// CHECK: sizes = [2, 3, 9, 8]
// CHECK: {{\[\[\[\[}}0, 27, 4, 31, 8, 35, 12, 39]
// CHECK: [42, 19, 46, -1, -1, -1, -1, -1{{\]\]\]\]}}
// CHECK: sizes = [11, 3, 9]
// CHECK: {{\[\[\[}}0, 1, 2, 3, 4, 5, 6, 7, 8]
// CHECK: [38, 39, 40, 41, 42, 43, 44, 45, 46{{\]\]\]}}
// CHECK: sizes = [9, 3, 11]
// CHECK: {{\[\[\[}}0, 27, 4, 31, 8, 35, 12, 39, 16, 43, 20]
// CHECK: {{\[\[}}8, 35, 12, 39, 16, 43, 20, 47, 24, 1, 28]
// CHECK: [26, 3, 30, 7, 34, 11, 38, 15, 42, 19, 46{{\]\]\]}}
