// Check that a package directory has everything that another runtime needs.

// RUN: rm -rf %t && layout-translate --layout-to-opencl-package %s -o %t
// RUN: FileCheck %s --input-file=%t/manifest.json
// RUN: FileCheck %s --input-file=%t/kernels.cl --check-prefix=SOURCE
// RUN: %python -c "import json, struct; d = r'%t/'; m = json.load(open(d + 'manifest.json')); assert struct.unpack('<4f', open(d + 'weights.bin', 'rb').read()) == (1, 2, 3, 4); assert open(d + 'kernels.spv', 'rb').read(4) == bytes.fromhex('03022307'); print([c['command'] for c in m['commands']], [c.get('arguments') for c in m['commands']][2])" | FileCheck %s --check-prefix=ORDER

// ORDER: ['upload', 'upload', 'launch', 'download', 'release', 'release', 'release']
// ORDER-SAME: [{'memory': 1}, {'memory': 2}, {'scalar': 3}, {'scalar': 0.5}, {'memory': 0}]

// SOURCE: #pragma OPENCL FP_CONTRACT OFF
// SOURCE: // a0: stem/conv, memref<8xf16, "buffer">
// SOURCE: // a4: stem/conv, memref<3x?xvector<4xf16>, "image2d">, layout.map = #layout.map<(
// SOURCE: void kernel_k(

// Keys are sorted.
// CHECK:      "commands": [
// CHECK:        "command": "upload",
// CHECK-NEXT:   "input": 0,
// CHECK-NEXT:   "memory": 1
// CHECK:        "command": "upload",
// CHECK-NEXT:   "file": "weights.bin",
// CHECK-NEXT:   "memory": 2
// CHECK:        "file": "kernels.spv",
// CHECK:        "groups": [
// CHECK-NEXT:     2,
// CHECK-NEXT:     1,
// CHECK-NEXT:     1
// CHECK:        "kernel": "k"
// CHECK:        "command": "download",
// CHECK-NEXT:   "memory": 1,
// CHECK-NEXT:   "output": 0
// CHECK:      "function": "main",
// CHECK:      "inputs": [
// CHECK:        "name": "photo",
// CHECK-NEXT:   "sizes": [
// CHECK-NEXT:     2,
// CHECK-NEXT:     4
// CHECK-NEXT:   ],
// CHECK-NEXT:   "type": "memref<2x4xf16>"
// CHECK:      "kernels": [
// CHECK-NEXT:   {
// CHECK-NEXT:   "any_groups": true,
// CHECK:        "element": "f16",
// CHECK-NEXT:   "kind": "buffer",
// CHECK-NEXT:   "name": "photo"
// CHECK:        "kind": "buffer",
// CHECK-NEXT:   "name": "weights"
// CHECK:        "kind": "scalar",
// CHECK-NEXT:   "name": "scalar",
// CHECK-NEXT:   "type": "i64"
// An f16 is passed as f32.
// CHECK:        "kind": "scalar",
// CHECK-NEXT:   "name": "scalar_1",
// CHECK-NEXT:   "type": "f32"
// CHECK:        "access": "write_only",
// CHECK-NEXT:   "element": "f16",
// CHECK-NEXT:   "kind": "image2d",
// CHECK-NEXT:   "name": "stem/conv"
// CHECK:        "bytes": 10,
// CHECK-NEXT:   "file": "kernels.spv",
// CHECK-NEXT:   "may_repeat": true,
// CHECK-NEXT:   "name": "k",
// CHECK-NEXT:   "operations": 1,
// CHECK-NEXT:   "source": "kernels.cl",
// CHECK-NEXT:   "source_name": "kernel_k"
// CHECK:      "memory": [
// CHECK:        "channel_order": "CL_RGBA",
// CHECK-NEXT:   "channel_type": "CL_HALF_FLOAT",
// CHECK-NEXT:   "height": 3,
// CHECK-NEXT:   "kind": "image2d",
// CHECK-NEXT:   "layout.map": "#layout.map<(d0, d1) -> image2d(
// CHECK-NEXT:   "name": "stem/conv",
// CHECK-NEXT:   "width": 2
// Memory of an input is the input; a constant has the name of its symbol.
// CHECK:        "element": "f16",
// CHECK-NEXT:   "elements": 8,
// CHECK-NEXT:   "kind": "buffer",
// CHECK-NEXT:   "name": "photo"
// CHECK:        "elements": 4,
// CHECK-NEXT:   "kind": "buffer",
// CHECK-NEXT:   "name": "weights"
// Equal names get a number.
// CHECK:        "elements": 2,
// CHECK-NEXT:   "kind": "buffer",
// CHECK-NEXT:   "name": "stem/conv_1"
// CHECK:      "outputs": [
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%in: memref<8xf16, "buffer">, %w: memref<4xf32, "buffer">, %n: index, %s: f16, %out: memref<3x2xvector<4xf16>, "image2d">) kernel {
      %x = gpu.global_id x
      %a = memref.load %in[%x] : memref<8xf16, "buffer">
      %b = arith.mulf %a, %s : f16
      %v = vector.broadcast %b : f16 to vector<4xf16>
      memref.store %v, %out[%n, %x] : memref<3x2xvector<4xf16>, "image2d">
      gpu.return
    }
  }
  memref.global "private" constant @weights : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
  func.func @main(%x: memref<2x4xf16> loc("photo")) -> memref<8xf16> {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %half = arith.constant 0.5 : f16
    %image = gpu.alloc (%c2) {layout.map = #layout.map<(h, c) -> image2d(x = c floordiv 4, y = h, lane = c mod 4)>} : memref<3x?xvector<4xf16>, "image2d"> loc("stem/conv")
    %static = memref.cast %image : memref<3x?xvector<4xf16>, "image2d"> to memref<3x2xvector<4xf16>, "image2d">
    %in = gpu.alloc () : memref<8xf16, "buffer"> loc("stem/conv")
    %w = gpu.alloc () : memref<4xf32, "buffer">
    %free = gpu.alloc () : memref<2xf32, "buffer"> loc(callsite("stem/conv" at "main"))
    %flat = memref.collapse_shape %x [[0, 1]] : memref<2x4xf16> into memref<8xf16>
    gpu.memcpy %in, %flat : memref<8xf16, "buffer">, memref<8xf16>
    %weights = memref.get_global @weights : memref<4xf32>
    gpu.memcpy %w, %weights : memref<4xf32, "buffer">, memref<4xf32>
    gpu.launch_func @kernels::@k blocks in (%c2, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%in : memref<8xf16, "buffer">, %w : memref<4xf32, "buffer">, %c3 : index, %half : f16, %static : memref<3x2xvector<4xf16>, "image2d">)
    %out = memref.alloc() : memref<8xf16>
    gpu.memcpy %out, %in : memref<8xf16>, memref<8xf16, "buffer">
    gpu.dealloc %image : memref<3x?xvector<4xf16>, "image2d">
    gpu.dealloc %w : memref<4xf32, "buffer">
    gpu.dealloc %in : memref<8xf16, "buffer">
    return %out : memref<8xf16>
  }
}
