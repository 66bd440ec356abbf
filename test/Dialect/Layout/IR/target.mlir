// REQUIRES: target-npu, target-opencl, target-mesh
// RUN: layout-opt %s --mlir-print-local-scope -split-input-file -verify-diagnostics | FileCheck %s

// Check that omitted target parameters have their defaults and are not printed.
// CHECK: layout.target = #layout.cpu<lanes = 16>
module attributes {layout.target = #layout.cpu<lanes = 16, strided_percent = 120>} {}

// -----

// Parameters of the processor are printed if they are stated.
// CHECK: layout.target = #layout.cpu<lanes = 16, line_bytes = 64, vector_bits = 256, vector_registers = 16, datapath_bits = 128, two_source_permute_bytes = 0, dot_product_bytes = 4, l1_bytes = 32768, l2_bytes = 1048576, llc_bytes = 33554432, l1_set_stride = 4096, cores = 8>
module attributes {layout.target = #layout.cpu<lanes = 16, cores = 8, l1_set_stride = 4096, llc_bytes = 33554432, l2_bytes = 1048576, l1_bytes = 32768, two_source_permute_bytes = 0, dot_product_bytes = 4, datapath_bits = 128, vector_registers = 16, vector_bits = 256, line_bytes = 64>} {}

// -----

// expected-error @below {{target parameter 'vector_registers' is 3: it must be between 4 and 1048576}}
module attributes {layout.target = #layout.cpu<lanes = 16, vector_registers = 3>} {}

// -----

// expected-error @below {{target parameter 'dot_product_bytes' is 2: it must be 0 or 4}}
module attributes {layout.target = #layout.cpu<lanes = 16, dot_product_bytes = 2>} {}

// -----

// expected-error @below {{target parameter 'l1_bytes' is 0: it must be between 1 and 1099511627776}}
module attributes {layout.target = #layout.cpu<lanes = 16, l1_bytes = 0>} {}

// -----

// expected-error @below {{target parameter 'line_bytes' is 0: it must be between 1 and 1048576}}
module attributes {layout.target = #layout.cpu<lanes = 16, line_bytes = 0>} {}

// -----

// expected-error @below {{target parameter 'vector_bits' is 2097152: it must be between 0 and 1048576}}
module attributes {layout.target = #layout.cpu<lanes = 16, vector_bits = 2097152>} {}

// -----

// CHECK: layout.target = #layout.cpu<lanes = 8, strided_percent = 300, assumed_size = 4>
module attributes {layout.target = #layout.cpu<lanes = 8, assumed_size = 4, strided_percent = 300>} {}

// -----

// expected-error @below {{target parameter 'lanes' is 0: it must be between 1 and 1048576}}
module attributes {layout.target = #layout.cpu<lanes = 0>} {}

// -----

// CHECK: layout.target = #layout.opencl<image2d_max_width = 16384, image_types = [f16, i8]>
module attributes {layout.target = #layout.opencl<image2d_max_height = 8192, image2d_max_width = 16384, image_types = [f16, i8]>} {}

// -----

// Without parameters, the target has the guarantees of OpenCL.
// CHECK: layout.target = #layout.opencl}
module attributes {layout.target = #layout.opencl<image2d_max_width = 8192, launch_cost = 131072>} {}

// -----

// expected-error @below {{target parameter 'image2d_max_width' is 0: it must be between 1 and 1048576}}
module attributes {layout.target = #layout.opencl<image2d_max_width = 0>} {}

// -----

// expected-error @below {{target parameter 'item_pixels' is 65: it must be between 1 and 64}}
module attributes {layout.target = #layout.opencl<item_pixels = 65>} {}

// -----

// expected-error @below {{target parameters 'group_items' and 'item_pixels' are 256 and 9: the sums of a group take 36864 bytes of local memory, and OpenCL guarantees 32768}}
module attributes {layout.target = #layout.opencl<group_items = 256, item_pixels = 9>} {}

// -----

// expected-error @below {{target parameter 'fewest_items' is 0: it must be between 1 and 1048576}}
module attributes {layout.target = #layout.opencl<fewest_items = 0>} {}

// -----

// expected-error @below {{target parameter 'address_bits' is 16: OpenCL addresses have 32 or 64 bits}}
module attributes {layout.target = #layout.opencl<address_bits = 16>} {}

// -----

// CHECK: #layout.opencl<half_arithmetic = true, image_fallback = true, address_bits = 32>
module attributes {layout.target = #layout.opencl<address_bits = 32, half_arithmetic = true, fma = false, image_fallback = true>} {}

// -----

// expected-error @below {{target parameter 'image_types' lists f64: the channel types of images are f32, f16, and integers of 8, 16 and 32 bits}}
module attributes {layout.target = #layout.opencl<image_types = [f64]>} {}

// -----

// CHECK: #layout.npu<chip = #npu.target<"BM1684">, launch_cost = 4096>
module attributes {layout.target = #layout.npu<chip = #npu.target<"BM1684">, launch_cost = 4096>} {}

// -----

// expected-error @below {{target parameter 'launch_cost' is -1: it must be between 0 and 1048576}}
module attributes {layout.target = #layout.npu<chip = #npu.target<"BM1684">, launch_cost = -1>} {}

// -----

// CHECK: layout.target = #layout.mesh_target<axes = [x = 2, y = 4], device = #layout.cpu<lanes = 16>, byte_cost = [20, 5], memory = 1024>
module attributes {layout.target = #layout.mesh_target<axes = [x = 2, y = 4], device = #layout.cpu<lanes = 16, strided_percent = 120>, memory = 1024, byte_cost = [20, 5]>} {}

// -----

// expected-error @below {{target parameter 'device' is #layout.opencl: the devices of a mesh must be a #layout.cpu}}
module attributes {layout.target = #layout.mesh_target<axes = [x = 2], device = #layout.opencl>} {}

// -----

// expected-error @below {{target parameter 'byte_cost' has 1 entries for a mesh of 2 axes: state one for each}}
module attributes {layout.target = #layout.mesh_target<axes = [x = 2, y = 2], device = #layout.cpu<lanes = 16>, byte_cost = [1]>} {}

// -----

// expected-error @below {{target parameter 'message_cost' lists 1 : i32: it must be a list of integers}}
module attributes {layout.target = #layout.mesh_target<axes = [x = 2], device = #layout.cpu<lanes = 16>, message_cost = [1 : i32]>} {}

// -----

// expected-error @below {{target parameter 'message_cost' is -1: it must be between 0 and 1099511627776}}
module attributes {layout.target = #layout.mesh_target<axes = [x = 2], device = #layout.cpu<lanes = 16>, message_cost = [-1]>} {}

// -----

// expected-error @below {{axis 'x' is repeated}}
// expected-error @below {{failed to parse Layout_MeshTargetAttr parameter 'axes'}}
module attributes {layout.target = #layout.mesh_target<axes = [x = 2, x = 2], device = #layout.cpu<lanes = 16>>} {}

// -----

// expected-error @below {{target parameter 'memory' is 0: it must be between 1 and 9223372036854775807}}
module attributes {layout.target = #layout.mesh_target<axes = [x = 2], device = #layout.cpu<lanes = 16>, memory = 0>} {}
