// Check that a layout has one number in both forms of the graph, also if boxes
// contain several layouts.
//
// RUN: layout-opt %s --layout-print-graph=max-boxes=1 -o /dev/null | FileCheck %s --check-prefix=DOT
// RUN: layout-opt %s --layout-print-graph='max-boxes=1 format=json' -o /dev/null | FileCheck %s --check-prefix=JSON
// DOT: n1 [id=n1 class=layout1 label="math.exp
// DOT: layout0 [id=layout0 class=layout0 label="#layout.map<(d0, d1) -> buffer(d0, d1)>"
// DOT: layout1 [id=layout1 class=layout1 label="#layout.map<(d0, d1) -> buffer({{.*}})>"
// JSON: "id": "n1",
// JSON-NEXT: "tensor": "4x5xf32",
// JSON-NEXT: "layout": "layout1",
// JSON: "op": "math.exp",
// JSON-NEXT: "name": "",
// JSON-NEXT: "tensor": "4x5xf32",
// JSON-NEXT: "layout": "layout0",
// JSON: "op": "math.tanh",
// JSON-NEXT: "name": "",
// JSON-NEXT: "tensor": "4x5xf32",
// JSON-NEXT: "layout": "layout1",
// JSON: "id": "layout0",
// JSON-NEXT: "hue": 100,
// JSON-NEXT: "text": "#layout.map<(d0, d1) -> buffer(d0, d1)>"
// JSON: "id": "layout1",
// JSON-NEXT: "hue": 594,
// JSON-NEXT: "text": "#layout.map<(d0, d1) -> buffer({{.*}})>"
#rows = #layout.map<(i, j) -> buffer(i, j)>
#same = #layout.map<(i, j) -> buffer(offset = i * 5 + j)>
module attributes {layout.target = #layout.cpu<lanes = 16>} {
  func.func @main(%x: tensor<4x5xf32, #rows>) -> tensor<4x5xf32, #same> {
    %0 = math.exp %x : tensor<4x5xf32, #rows>
    %1 = layout.convert %0 : tensor<4x5xf32, #rows> to tensor<4x5xf32, #same>
    %2 = math.tanh %1 : tensor<4x5xf32, #same>
    return %2 : tensor<4x5xf32, #same>
  }
}
