// RUN: layout-opt %s -layout-print-cost -o /dev/null | FileCheck %s
// RUN: layout-opt %s -layout-print-cost=format=json -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: layout-opt %s -layout-print-cost="format=json output=%t.json" -o /dev/null
// RUN: %python -c "import json; t = json.load(open(r'%t.json')); r = t['conversions']['rows']; print(len(r), len(t['constants']['rows']), sum(x['bytes_read'] for x in r) == t['conversions']['bytes_read'])" | FileCheck %s --check-prefix=LOADED

// Segments of one element cost strided_percent less the share of a line that an
// element is; views are free; constants are listed separately.
// CHECK: conversions: 3, 16872 bytes read, 16872 bytes written, cost 40170
// CHECK: 1x64x8x8xf32  relayout
// CHECK-NEXT: from row-major
// CHECK-NEXT: to   #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>
// CHECK-NEXT: read 16384, written 16384, runs of 4 bytes, cost 39009
// CHECK-NEXT: digits d0:1 d1/16:4 d2:8 d3:8 d1%16:16; from [d0] [d1/16 d1%16] [d2] [d3]; to [d0] [d1/16] [d2] [d3] [d1%16]; copy all
// CHECK-NEXT: math.absf needs 'to', 'from' is the type of an argument
// CHECK: 1x64x1x1xf32 view
// CHECK: read 0, written 0, runs of 0 bytes, cost 0
// CHECK: 488, written 488
// CHECK: conversions of constants: 2, 262 bytes read, 262 bytes written
// CHECK: arith.constant makes 'from'
// CHECK: 2x3xi8
// CHECK: packed by the lowering
// Two tensors of 16384 bytes, and 4096 points on lanes at 5 per byte.
// CHECK: ops: 1, cost 33587
// JSON: "conversions": {
// JSON: "count": 3
// JSON: "kind": "relayout"
// JSON: "ops": {
// JSON-NEXT: "count": 1,
// JSON-NEXT: "cost": 33587,
// JSON: "name": "math.absf",
// JSON-NEXT: "cost": 33587
// LOADED: 3 2 True
#c16 = #layout.map<(n, c, h, w) -> buffer(n, c floordiv 16, h, w, c mod 16)>
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @f(%x: tensor<1x64x8x8xf32>, %y: tensor<1x64x1x1xf32>, %z: tensor<?x61x2x1xf32>) {
  %0 = layout.convert %x : tensor<1x64x8x8xf32> to tensor<1x64x8x8xf32, #c16>
  %1 = math.absf %0 : tensor<1x64x8x8xf32, #c16>
  %2 = layout.convert %y : tensor<1x64x1x1xf32> to tensor<1x64x1x1xf32, #c16>
  %3 = layout.convert %z : tensor<?x61x2x1xf32> to tensor<?x61x2x1xf32, #c16>
  %k = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<8x8xf32>
  %4 = layout.convert %k : tensor<8x8xf32> to tensor<8x8xf32, #layout.map<(i, j) -> buffer(j, i)>>
  %p = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8, #layout.map<(i, j) -> buffer(j, i)>>
  return
}
}
