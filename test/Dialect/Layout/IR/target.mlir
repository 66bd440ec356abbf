// RUN: layout-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// Figures that are not written have their defaults, and are not printed.
// CHECK: layout.target = #layout.target<kind = "cpu", lanes = 16>
module attributes {layout.target = #layout.target<kind = "cpu", lanes = 16, line_bytes = 64>} {}

// -----

// CHECK: layout.target = #layout.target<kind = "cpu", lanes = 8, strided_percent = 300, assumed_size = 4>
module attributes {layout.target = #layout.target<kind = "cpu", lanes = 8, assumed_size = 4, strided_percent = 300>} {}

// -----

// expected-error @below {{unknown kind of target "tpu": the kinds are "cpu", "opencl" and "npu"}}
module attributes {layout.target = #layout.target<kind = "tpu", lanes = 16>} {}

// -----

// expected-error @below {{target figure 'lanes' is 0: it lies between 1 and 1048576}}
module attributes {layout.target = #layout.target<kind = "cpu", lanes = 0>} {}

// -----

// CHECK: layout.target = #layout.target<kind = "opencl", lanes = 4, image2d_max_width = 16384, image_types = [f16, i8]>
module attributes {layout.target = #layout.target<kind = "opencl", lanes = 4, image2d_max_height = 8192, image2d_max_width = 16384, image_types = [f16, i8]>} {}

// -----

// expected-error @below {{target figure 'lanes' is 16: a target of kind "opencl" has the 4 lanes of a pixel}}
module attributes {layout.target = #layout.target<kind = "opencl", lanes = 16>} {}

// -----

// expected-error @below {{target figure 'image2d_max_width' is 0: it lies between 1 and 1048576}}
module attributes {layout.target = #layout.target<kind = "opencl", lanes = 4, image2d_max_width = 0>} {}

// -----

// expected-error @below {{target figure 'image_types' lists f64: the channel types of images are f32, f16, and integers of 8, 16 and 32 bits}}
module attributes {layout.target = #layout.target<kind = "opencl", lanes = 4, image_types = [f64]>} {}

// -----

// expected-error @below {{a target of kind "cpu" has no images and no kernels that are launched: give their figures to the kind "opencl"}}
module attributes {layout.target = #layout.target<kind = "cpu", lanes = 16, launch_cost = 10>} {}

// -----

// CHECK: #layout.target<kind = "npu", lanes = 32, launch_cost = 4096, npu = #npu.target<"BM1684">>
module attributes {layout.target = #layout.target<kind = "npu", lanes = 32, npu = #npu.target<"BM1684">, launch_cost = 4096>} {}

// -----

// expected-error @below {{a target of kind "npu" names its chip: state `npu = #npu.target<..>`}}
module attributes {layout.target = #layout.target<kind = "npu", lanes = 32>} {}

// -----

// expected-error @below {{target figure 'npu' is of kind "npu" only}}
module attributes {layout.target = #layout.target<kind = "cpu", lanes = 32, npu = #npu.target<"BM1684">>} {}

// -----

// expected-error @below {{target figure 'lanes' is 16: a unit of this chip works on 32 words of 4 bytes at once}}
module attributes {layout.target = #layout.target<kind = "npu", lanes = 16, npu = #npu.target<"BM1684">>} {}
