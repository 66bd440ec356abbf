// RUN: layout-opt %s --split-input-file --verify-diagnostics --layout-solve --layout-materialize | FileCheck %s
// Check that a pass without a target option uses the device of the module's
// 'dlti.target_system_spec' that has a target.

// CHECK: func.func @one_device
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "CPU" = #dlti.target_device_spec<"layout.target" = #layout.cpu<lanes = 16>>,
    "GPU" = #dlti.target_device_spec<"max_vector_op_width" = 64 : i32>>} {
  func.func @one_device(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
    %a = math.absf %x : tensor<6x8xf32>
    return %a : tensor<6x8xf32>
  }
}

// -----

// The attribute 'layout.target' of the module overrides its devices.
// CHECK: func.func @nearer
module attributes {
    layout.target = #layout.cpu<lanes = 8>,
    dlti.target_system_spec = #dlti.target_system_spec<
      "CPU" = #dlti.target_device_spec<"layout.target" = 4 : i32>>} {
  func.func @nearer(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
    %a = math.absf %x : tensor<6x8xf32>
    return %a : tensor<6x8xf32>
  }
}

// -----

// expected-error @below {{devices "CPU" and "NPU" of 'dlti.target_system_spec' both state 'layout.target': select one with 'layout.target' on the module or with the option 'target'}}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "CPU" = #dlti.target_device_spec<"layout.target" = #layout.cpu<lanes = 16>>,
    "NPU" = #dlti.target_device_spec<"layout.target" = #layout.cpu<lanes = 8>>>} {
  func.func @f(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
    return %x : tensor<6x8xf32>
  }
}

// -----

// expected-error @below {{'layout.target' of device "CPU" is 4 : i32: it must be a target, such as #layout.cpu<lanes = 16>}}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "CPU" = #dlti.target_device_spec<"layout.target" = 4 : i32>>} {
  func.func @f(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
    return %x : tensor<6x8xf32>
  }
}

// -----

// expected-error @below {{layouts cannot be assigned without a target}}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "CPU" = #dlti.target_device_spec<"max_vector_op_width" = 64 : i32>>} {
  func.func @f(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
    return %x : tensor<6x8xf32>
  }
}
