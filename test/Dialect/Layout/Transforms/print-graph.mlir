// Check the Graphviz graph of a program: ops in the color of their layout,
// conversions with their bytes, regions as frames.
//
// RUN: layout-opt %s --layout-solve --layout-materialize \
// RUN:   --layout-print-graph=output=%t.dot -o /dev/null
// RUN: FileCheck %s < %t.dot
// RUN: not layout-opt %s --layout-print-graph=output=%t/no/such/folder.dot 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD
// BAD: error: the option 'output': cannot write '{{.*}}no/such/folder.dot': No such file or directory

// CHECK: digraph layouts {
// CHECK: subgraph cluster_0 {
// CHECK: label="func.func @main";
// CHECK: [[X:n[0-9]+]] [id=[[X]] class=plain label="argument 0\n1x64x7x7xf32" shape=ellipse fillcolor="[[GREY:[0-9. ]+]]"];
// CHECK: [[CONVERT:n[0-9]+]] [id=[[CONVERT]] class=moves label="layout.convert\n12544 + 12544 bytes\nscf.for needs 'to'\n'from' is the type of an argument" shape=octagon fillcolor="[[RED:[0-9. ]+]]"];
// CHECK: subgraph cluster_1 {
// CHECK: label="scf.for";
// CHECK: [[CONV:n[0-9]+]] [id=[[CONV]] class=layout0 label="linalg.conv_2d_nchw_fchw\nconv1\n1x64x7x7xf32" shape=box fillcolor="[[BLUE:[0-9. ]+]]"];
// CHECK: [[X]] -> [[CONVERT]] [class=plain edgetooltip="1x64x7x7xf32" color="[[GREY]]"];
// CHECK: subgraph cluster_legend {
// CHECK: plain [id=plain class=plain label="row-major" fillcolor="[[GREY]]"];
// CHECK: layout0 [id=layout0 class=layout0 label="#layout.map<{{.*}}>" fillcolor="[[BLUE]]"];

// The same boxes with their ops, as JSON.
// RUN: layout-opt %s --layout-solve --layout-materialize \
// RUN:   --layout-print-graph=format=json -o /dev/null | FileCheck %s --check-prefix=JSON
// JSON: "id": "n0",
// JSON-NEXT: "tensor": "1x64x7x7xf32",
// JSON-NEXT: "layout": "plain",
// JSON-NEXT: "map": 0,
// JSON-NEXT: "argument": 0,
// JSON: "id": "[[CONVERT:n[0-9]+]]",
// JSON-NEXT: "tensor": "1x64x7x7xf32",
// JSON-NEXT: "layout": "layout0",
// JSON-NEXT: "map": 1,
// JSON-NEXT: "conversion": {
// JSON: "bytes_read": 12544,
// JSON: "why": "scf.for needs 'to', 'from' is the type of an argument",
// JSON: "read": {
// JSON-NEXT: "tensor": "1x64x7x7xf32",
// JSON-NEXT: "layout": "plain",
// JSON-NEXT: "map": 0
// JSON: "reads": [
// JSON-NEXT: "n0"
// JSON: "op": "layout.convert",
// JSON: "op": "linalg.conv_2d_nchw_fchw",
// JSON-NEXT: "name": "conv1",
// JSON: "layouts": [
// JSON: "id": "layout0",
// JSON-NEXT: "hue": 100,
// JSON-NEXT: "text": "#layout.map<{{.*}}>"
// JSON: "maps": [
// JSON-NEXT: "(d0, d1, d2, d3) -> buffer(d0, d1, d2, d3)",
// JSON-NEXT: "(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)"
module attributes {layout.target = #layout.cpu<lanes = 16>} {
  func.func @main(%x: tensor<1x64x7x7xf32>, %n: index) -> tensor<1x64x7x7xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %w = arith.constant dense<0.5> : tensor<64x64x1x1xf32>
    %out = tensor.empty() : tensor<1x64x7x7xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<1x64x7x7xf32> {
      %y = linalg.conv_2d_nchw_fchw ins(%a, %w : tensor<1x64x7x7xf32>, tensor<64x64x1x1xf32>)
        outs(%out : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32> loc("conv1")
      scf.yield %y : tensor<1x64x7x7xf32>
    }
    return %r : tensor<1x64x7x7xf32>
  }
}
