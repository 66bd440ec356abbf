// Check the errors of the lowering of kernels to SPIR-V for Vulkan.
// RUN: layout-opt %s -layout-vulkan-kernels-to-spirv -split-input-file -verify-diagnostics

gpu.module @m {
  // expected-error @+1 {{has argument 0: 'memref<3x4x4xvector<4xf32>, "image2d_array">' is not lowered to Vulkan, whose samplers return zeros outside of an image2d only; store the tensor in an image2d or a buffer}}
  gpu.func @f(%in: memref<3x4x4xvector<4xf32>, "image2d_array">) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error @+1 {{has 132 bytes of scalar arguments, but Vulkan guarantees 128 bytes of push constants; make sizes static}}
  gpu.func @f(%0: i64, %1: i64, %2: i64, %3: i64, %4: i64, %5: i64, %6: i64, %7: i64, %8: i64, %9: i64, %10: i64,
              %11: i64, %12: i64, %13: i64, %14: i64, %15: i64, %16: i8) kernel { gpu.return }
}

// -----

// The checks of OpenCL hold, too.
gpu.module @m {
  // expected-error @+1 {{has argument 0: 'memref<3x4xvector<4xi64>, "image2d">' has no channel type for 'i64'}}
  gpu.func @f(%in: memref<3x4xvector<4xi64>, "image2d">) kernel { gpu.return }
}
