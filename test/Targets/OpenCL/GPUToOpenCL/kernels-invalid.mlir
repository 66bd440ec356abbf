// Check the errors of the lowering of kernels to SPIR-V.
// RUN: layout-opt %s -layout-opencl-kernels-to-spirv -split-input-file -verify-diagnostics

gpu.module @m {
  gpu.func @both(%in: memref<3x4xvector<4xf32>, "image2d">, %i: index) kernel {
    // expected-note @+1 {{loaded here}}
    %v = memref.load %in[%i, %i] : memref<3x4xvector<4xf32>, "image2d">
    // expected-error @+1 {{stores to argument 0 of the kernel 'both', which also loads from it: an image of OpenCL 1.2 is either read_only or write_only; write to another image}}
    memref.store %v, %in[%i, %i] : memref<3x4xvector<4xf32>, "image2d">
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{has argument 0: 'memref<3x4xvector<4xi64>, "image2d">' has no channel type for 'i64': a CL_RGBA image holds f32 (CL_FLOAT), f16 (CL_HALF_FLOAT), i8, i16 or i32 (CL_SIGNED_INT); use a buffer for other types}}
  gpu.func @f(%in: memref<3x4xvector<4xi64>, "image2d">) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error @+1 {{has argument 0: 'memref<3x4xvector<4xbf16>, "image2d">' has no channel type for 'bf16'}}
  gpu.func @f(%in: memref<3x4xvector<4xbf16>, "image2d">) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error @+1 {{has argument 1: 'memref<3x4xf32, "image2d">' must have pixels of four channels, such as vector<4xf32>, in memory space "image2d"}}
  gpu.func @f(%i: index, %in: memref<3x4xf32, "image2d">) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error @+1 {{has argument 0: 'memref<3x4xf32, "buffer">' must have rank 1 and no layout in memory space "buffer"}}
  gpu.func @f(%in: memref<3x4xf32, "buffer">) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error @+1 {{has argument 0: 'memref<4xf32, "npu">' is not memory of an OpenCL device: its memory space must be "buffer", "image2d", "image2d_array" or "image3d"}}
  gpu.func @f(%in: memref<4xf32, "npu">) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error @+1 {{has argument 0: 'memref<4xf32>' is not memory of an OpenCL device}}
  gpu.func @f(%in: memref<4xf32>) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error @+1 {{has argument 0: 'i1' is not a type of kernel arguments; pass index, i8 to i64, f16, f32 or f64}}
  gpu.func @f(%in: i1) kernel { gpu.return }
}

// -----

gpu.module @m {
  gpu.func @f(%in: memref<16xf32, "buffer">, %i: index) kernel {
    %a = memref.load %in[%i] : memref<16xf32, "buffer">
    // expected-error @+1 {{creates 'vector<8xf32>', but OpenCL kernels support vectors of at most 4 elements}}
    %v = vector.broadcast %a : f32 to vector<8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{is not a kernel; a function that kernels call must be inlined into them}}
  gpu.func @f(%i: index) { gpu.return }
}

// -----

gpu.module @m {
  gpu.func @f(%in: memref<16xf16, "buffer">, %out: memref<16xi16, "buffer">, %i: index) kernel {
    %a = memref.load %in[%i] : memref<16xf16, "buffer">
    // expected-error @+1 {{reads the bits of an f16, but f16 is computed in f32}}
    %b = arith.bitcast %a : f16 to i16
    memref.store %b, %out[%i] : memref<16xi16, "buffer">
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @f(%in: memref<3x4xvector<4xf32>, "image2d">, %i: index) kernel {
    // expected-error @+1 {{uses an image; images are only loaded and stored, by memref.load and memref.store}}
    %a = memref.cast %in : memref<3x4xvector<4xf32>, "image2d"> to memref<?x4xvector<4xf32>, "image2d">
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @f(%b: memref<4xi32, "buffer">, %i: index) kernel {
    %v = memref.load %b[%i] : memref<4xi32, "buffer">
    // expected-error @+2 {{failed to legalize operation 'math.ipowi'}}
    // expected-note @+1 {{OpenCL kernels do not support it; write it with ops of arith, math, vector, memref and scf that kernels support, or compute it on the host}}
    %w = math.ipowi %v, %v : i32
    memref.store %w, %b[%i] : memref<4xi32, "buffer">
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @f(%b: memref<4xf32, "buffer">, %i: index) kernel {
    %v = memref.load %b[%i] : memref<4xf32, "buffer">
    %n = arith.truncf %v : f32 to bf16
    // expected-error @+1 {{computes with bf16, but OpenCL kernels only round to it: compute with f32, between arith.extf and arith.truncf}}
    %s = arith.addf %n, %n : bf16
    %w = arith.extf %s : bf16 to f32
    memref.store %w, %b[%i] : memref<4xf32, "buffer">
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{names a kernel 'a b', which is not an OpenCL C identifier: use at most 100 letters, digits and underscores}}
  gpu.func @"a b"() kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error @+1 {{has private memory, which is not lowered to OpenCL; keep it in values}}
  gpu.func @f() private(%w: memref<4xf32, #gpu.address_space<private>>) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error @+1 {{has workgroup memory 'memref<4x4xf32, #gpu.address_space<workgroup>>': it must have one static dim in the space #gpu.address_space<workgroup>, of elements}}
  gpu.func @f() workgroup(%w: memref<4x4xf32, #gpu.address_space<workgroup>>) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error @+1 {{has workgroup memory 'memref<4xf16, #gpu.address_space<workgroup>>'}}
  gpu.func @f() workgroup(%w: memref<4xf16, #gpu.address_space<workgroup>>) kernel { gpu.return }
}

// -----

gpu.module @m {
  gpu.func @f() workgroup(%w: memref<4xf32, #gpu.address_space<workgroup>>) kernel {
    // expected-error @+1 {{uses workgroup memory, which is only loaded and stored, by memref.load and memref.store}}
    memref.dealloc %w : memref<4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
