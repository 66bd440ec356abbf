// Check that images are chosen on a device that reads them through a cache that buffers lack, and not
// on a device without one.
//
// REQUIRES: target-opencl
// RUN: layout-opt %s -layout-assign='target={#layout.opencl}' | FileCheck %s --check-prefix=CACHED
// RUN: layout-opt %s -layout-assign='target={#layout.opencl<image_read_percent = 90, buffer_read_percent = 40>}' | FileCheck %s --check-prefix=BARE
// RUN: layout-baselines %s -layout-baseline='rule=greedy target={#layout.opencl}' -layout-insert-for-each \
// RUN:   -layout-print-cost='target={#layout.opencl}' | FileCheck %s --check-prefix=GREEDY
// RUN: layout-opt %s -layout-assign='target={#layout.opencl}' \
// RUN:   -layout-print-cost='format=json target={#layout.opencl}' -o /dev/null | FileCheck %s --check-prefix=JSON

// CACHED: #[[IMAGE:.*]] = #layout.map<(d0, d1, d2, d3) -> image2d(x = [d1 floordiv 4, d3], y = [d0, d2], lane = d1 mod 4)>
// CACHED: layout.convert %arg0 {{.*}} to tensor<1x64x28x28xf32, #[[IMAGE]]>
// CACHED-COUNT-3: linalg.conv_2d_nchw_fchw {{.*}} -> tensor<1x64x28x28xf32, #[[IMAGE]]>

// Filters stay in buffers: reading them as pixels is no faster.
// BARE: arith.constant dense<5.000000e-01> : tensor<64x64x1x1xf32>
// BARE-NOT: layout.convert %arg0
// BARE: return

// By the greedy rule each op has a fixed layout, and each convolution that reads the argument
// converts it.
// GREEDY: conversions: 3, {{.*}}
// GREEDY-NEXT: of these buffer to image2d: 2
// GREEDY-NEXT: of these image2d to buffer: 1
// GREEDY: 1x64x28x28xf32 relayout buffer to image2d
// GREEDY-NEXT: from row-major
// GREEDY-COUNT-2: layout.convert %arg0

// JSON: "transitions": {
// JSON-NEXT: "buffer to image2d": 1,
// JSON-NEXT: "image2d to buffer": 1
// JSON: "transition": "buffer to image2d"

#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @main(%x: tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<64x64x1x1xf32>
  %v = arith.constant dense<0.25> : tensor<64x64x1x1xf32>
  %e = tensor.empty() : tensor<1x64x28x28xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x28x28xf32>, tensor<64x64x1x1xf32>)
    outs(%f : tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  %b = linalg.conv_2d_nchw_fchw ins(%x, %v : tensor<1x64x28x28xf32>, tensor<64x64x1x1xf32>)
    outs(%f : tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  %c = linalg.generic {indexing_maps = [#id, #id, #id],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a, %b : tensor<1x64x28x28xf32>, tensor<1x64x28x28xf32>) outs(%e : tensor<1x64x28x28xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<1x64x28x28xf32>
  %d = linalg.conv_2d_nchw_fchw ins(%c, %w : tensor<1x64x28x28xf32>, tensor<64x64x1x1xf32>)
    outs(%f : tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  return %d : tensor<1x64x28x28xf32>
}
