// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s
// RUN: layout-opt %s | layout-opt --mlir-print-local-scope | FileCheck %s
// Check replicas: dims of storage that no index determines.

// CHECK-LABEL: @one_copy_per_device
// CHECK-SAME: #layout.map<(d0, d1) replicate(r0 : 4) -> mesh(device = r0, offset = [d0, d1])>
func.func private @one_copy_per_device(
  tensor<3x5xf32, #layout.map<(i, j) replicate(r : 4) -> mesh(device = r, offset = [i, j])>>)

// Names and order of replicas, and replicas of extent 1, do not affect the map.
// CHECK-LABEL: @spellings
// CHECK-SAME: tensor<3x5xf32, #[[MAP:.*]]>, tensor<3x5xf32, #[[MAP]]>, tensor<3x5xf32, #[[MAP]]>
func.func private @spellings(
  tensor<3x5xf32, #layout.map<(i, j) replicate(a : 2, b : 4) -> mesh(x = a, y = [b, i], z = j)>>,
  tensor<3x5xf32, #layout.map<(i, j) replicate(q : 4, r : 2) -> mesh(x = r, y = [q, i], z = j)>>,
  tensor<3x5xf32, #layout.map<(i, j) replicate(q : 4, one : 1, r : 2) -> mesh(x = [one, r], y = [q, i], z = j)>>)

// A replica is split like any dim, and its size is static.
// CHECK-LABEL: @digits_of_a_replica
// CHECK-SAME: #layout.map<(d0) replicate(r0 : 6) -> mesh(x = r0 floordiv 2, y = r0 mod 2, z = d0 * 6)>
func.func private @digits_of_a_replica(
  tensor<?xf32, #layout.map<(i) replicate(r : 6) -> mesh(x = r floordiv 2, y = r mod 2, z = i * size(r))>>)

// CHECK-LABEL: @in_a_buffer
// CHECK-SAME: #layout.map<(d0, d1) replicate(r0 : 2) -> buffer(d0, r0, d1)>
func.func private @in_a_buffer(
  tensor<?x8xf32, #layout.map<(i, j) replicate(r : 2) -> buffer(i, r, j)>>)
