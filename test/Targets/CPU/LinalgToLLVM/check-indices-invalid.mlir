// RUN: layout-opt %s --layout-cpu-check-indices --verify-diagnostics

func.func @gather(%x: tensor<5x4xf32>, %at: tensor<6x1xindex>) -> tensor<6x1x4xf32> {
  // expected-error @+1 {{'tensor.gather' op has indices that are not checked; decompose it with layout-prepare-decompose-aggregates}}
  %r = tensor.gather %x[%at] gather_dims([0]) : (tensor<5x4xf32>, tensor<6x1xindex>) -> tensor<6x1x4xf32>
  return %r : tensor<6x1x4xf32>
}
