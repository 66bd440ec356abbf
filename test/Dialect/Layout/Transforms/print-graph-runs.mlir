// Check the condensed graph of a network: sequences of ops in one layout are
// one box, forks and joins are kept, and free ops are omitted.
//
// RUN: layout-opt %s --layout-print-graph -o /dev/null | FileCheck %s --implicit-check-not='tensor.empty' --implicit-check-not='linalg.fill' --implicit-check-not='arith.constant' --implicit-check-not='tensor.dim'

// CHECK: [[X:n[0-9]+]] [{{.*}} label="argument 0\n4x?xf32"
// CHECK: [[CHAIN:n[0-9]+]] [{{.*}} label="math.exp x 2\nmath.tanh\nfirst .. third\n4x?xf32"
// CHECK: [[LEFT:n[0-9]+]] [{{.*}} label="math.absf\nleft\n4x?xf32"
// CHECK: [[RIGHT:n[0-9]+]] [{{.*}} label="math.sin\n
// CHECK: [[SUM:n[0-9]+]] [{{.*}} label="arith.addf\n
// CHECK: [[VIEW:n[0-9]+]] [{{.*}} label="layout.convert\na view\narith.negf needs 'to'\narith.addf makes 'from'" shape=octagon
// CHECK: [[NEG:n[0-9]+]] [{{.*}} label="arith.negf\nlinalg.generic\na_name_of_many_character..._of_a_network_could_hold\n
// CHECK: [[X]] -> [[CHAIN]] [{{.*}} edgetooltip="4x?xf32"
// CHECK-NEXT: [[CHAIN]] -> [[LEFT]]
// CHECK-NEXT: [[CHAIN]] -> [[RIGHT]]
// CHECK-NEXT: [[LEFT]] -> [[SUM]]
// CHECK-NEXT: [[RIGHT]] -> [[SUM]]
// CHECK-NEXT: [[SUM]] -> [[VIEW]]
// CHECK-NEXT: [[VIEW]] -> [[NEG]]
// CHECK-NEXT: [[NEG]] -> [[RETURN:n[0-9]+]]

// Above this number of boxes, the graph shows connected ops of one layout as one box.
// RUN: layout-opt %s --layout-print-graph=max-boxes=6 -o /dev/null | FileCheck %s --check-prefix=FEW
// FEW: [[X:n[0-9]+]] [{{.*}} label="argument 0
// FEW: [[ALL:n[0-9]+]] [{{.*}} label="math.exp x 2\nmath.tanh\nmath.absf\nmath.sin\nand 1 more kinds\nfirst .. left\n4x?xf32" shape=box
// FEW: [[VIEW:n[0-9]+]] [{{.*}} label="layout.convert
// FEW: [[X]] -> [[ALL]]
// FEW-NEXT: [[ALL]] -> [[VIEW]]

// If these are still too many, ops without traffic between them are merged.
// RUN: layout-opt %s --layout-print-graph=max-boxes=5 -o /dev/null | FileCheck %s --check-prefix=FEWEST --implicit-check-not=octagon
// FEWEST: [[X:n[0-9]+]] [{{.*}} label="argument 0
// FEWEST: [[ALL:n[0-9]+]] [{{.*}} label="math.exp x 2\nmath.tanh\nmath.absf\nmath.sin\nand 4 more kinds\nfirst .. a_name_of_many_character..._of_a_network_could_hold\n4x?xf32" shape=box
// FEWEST: [[RETURN:n[0-9]+]] [{{.*}} label="func.return
// FEWEST: [[X]] -> [[ALL]]
// FEWEST-NEXT: [[ALL]] -> [[RETURN]]
#rows = #layout.map<(i, j) -> buffer(i, j)>
module attributes {layout.target = #layout.cpu<lanes = 16>} {
  func.func @main(%x: tensor<4x?xf32>, %dest: tensor<4x?xf32, #rows>) -> tensor<4x?xf32, #rows> {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<4x?xf32>
    %0 = math.exp %x : tensor<4x?xf32> loc("first")
    %1 = math.tanh %0 : tensor<4x?xf32> loc("second")
    %2 = math.exp %1 : tensor<4x?xf32> loc("third")
    %left = math.absf %2 : tensor<4x?xf32> loc("left")
    %right = math.sin %2 : tensor<4x?xf32>
    %sum = arith.addf %left, %right : tensor<4x?xf32>
    %as = layout.convert %sum : tensor<4x?xf32> to tensor<4x?xf32, #rows>
    %neg = arith.negf %as : tensor<4x?xf32, #rows> loc("a_name_of_many_characters_which_no_box_of_a_picture_of_a_network_could_hold")
    %copy = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%neg : tensor<4x?xf32, #rows>) outs(%dest : tensor<4x?xf32, #rows>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<4x?xf32, #rows>
    return %copy : tensor<4x?xf32, #rows>
  }
}
