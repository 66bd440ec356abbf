// Check that indices are computed in 32 bits if the launches prove that they fit, otherwise in 64 bits; image kernels
// then have no 64-bit arithmetic. A kernel that depends on a size that the launch knows has both versions, and a check.

// RUN: split-file %s %t
// RUN: layout-opt %t/fits.mlir --layout-opencl-narrow-kernel-indices | FileCheck %t/fits.mlir
// RUN: layout-opt %t/wide.mlir --layout-opencl-narrow-kernel-indices | FileCheck %t/wide.mlir
// RUN: layout-opt %t/dynamic.mlir --layout-opencl-narrow-kernel-indices --canonicalize | FileCheck %t/dynamic.mlir
// RUN: layout-translate --layout-to-opencl-c %t/fits.mlir | FileCheck %s --check-prefix=SOURCE
// RUN: layout-opt %t/fits.mlir --layout-opencl-narrow-kernel-indices --layout-opencl-kernels-to-spirv | FileCheck %s --check-prefix=SPIRV

// SOURCE-NOT: long
// SOURCE: const uint [[X:v[0-9]+]] = (uint)get_global_id(0);
// SOURCE: for (uint [[I:i[0-9]+]] = 0u; [[I]] < 3u; [[I]] += 1u)
// SOURCE: read_imagef(a0, kPixels, (int2)((int)([[I]] + v{{[0-9]+}}), 0))
// SOURCE-NOT: long

// 64-bit addresses have 64-bit positions; nothing else has 64 bits.
// SPIRV: spirv.func @k
// SPIRV: %[[ID:.*]] = spirv.CompositeExtract %{{.*}}[0 : i32] : vector<3xi64>
// SPIRV: spirv.UConvert %[[ID]] : i64 to i32
// SPIRV-NOT: i64
// SPIRV: spirv.func @pairs

//--- fits.mlir
module attributes {gpu.container_module} {
  // Two launches: the larger one bounds both.
  func.func @main(%a: memref<1x900xvector<4xf32>, "image2d">, %b: memref<1x900xvector<4xf32>, "image2d">) {
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c56 = arith.constant 56 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @m::@k blocks in (%c3, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<1x900xvector<4xf32>, "image2d">, %b : memref<1x900xvector<4xf32>, "image2d">)
    gpu.launch_func @m::@k blocks in (%c56, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<1x900xvector<4xf32>, "image2d">, %b : memref<1x900xvector<4xf32>, "image2d">)
    gpu.launch_func @m::@pairs blocks in (%c3, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<1x900xvector<4xf32>, "image2d">)
    return
  }
  gpu.module @m {
    // CHECK-LABEL: gpu.func @k
    // CHECK: %[[ID:.*]] = gpu.global_id x upper_bound 192
    // CHECK: %[[N:.*]] = arith.index_castui %[[ID]] : index to i32
    // CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args({{.*}}) -> (vector<4xf32>) : i32
    // CHECK: arith.addi %[[I]], %{{.*}} : i32
    // CHECK: %[[AT:.*]] = arith.index_cast{{(ui)?}} %{{.*}} : i32 to index
    // CHECK: memref.load %{{.*}}[%{{.*}}, %[[AT]]]
    gpu.func @k(%a: memref<1x900xvector<4xf32>, "image2d">, %b: memref<1x900xvector<4xf32>, "image2d">) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant dense<0.0> : vector<4xf32>
      %x = gpu.global_id x
      %first = arith.muli %x, %c4 : index
      %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %zero) -> (vector<4xf32>) {
        %at = arith.addi %i, %first : index
        %v = memref.load %a[%c0, %at] : memref<1x900xvector<4xf32>, "image2d">
        %t = arith.addf %s, %v : vector<4xf32>
        scf.yield %t : vector<4xf32>
      }
      memref.store %sum, %b[%c0, %x] : memref<1x900xvector<4xf32>, "image2d">
      gpu.return
    }
    gpu.func @pairs(%b: memref<1x900xvector<4xf32>, "image2d">) kernel {
      %c0 = arith.constant 0 : index
      %x = gpu.global_id x
      %zero = arith.constant dense<0.0> : vector<4xf32>
      memref.store %zero, %b[%c0, %x] : memref<1x900xvector<4xf32>, "image2d">
      gpu.return
    }
  }
}

//--- wide.mlir
module attributes {gpu.container_module} {
  func.func @main(%n: index, %a: memref<?xf32, "buffer">) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %large = arith.constant 2147483648 : index
    gpu.launch_func @m::@dynamic blocks in (%n, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<?xf32, "buffer">)
    gpu.launch_func @m::@one_is_dynamic blocks in (%n, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<?xf32, "buffer">)
    gpu.launch_func @m::@one_is_dynamic blocks in (%c64, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<?xf32, "buffer">)
    gpu.launch_func @m::@large blocks in (%large, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<?xf32, "buffer">)
    gpu.launch_func @m::@large_product blocks in (%c64, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<?xf32, "buffer">)
    return
  }
  gpu.module @m {
    // CHECK-LABEL: gpu.func @dynamic
    // CHECK-NOT: i32
    gpu.func @dynamic(%a: memref<?xf32, "buffer">) kernel {
      %x = gpu.global_id x
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %a[%x] : memref<?xf32, "buffer">
      gpu.return
    }
    // CHECK-LABEL: gpu.func @one_is_dynamic
    // CHECK-NOT: i32
    gpu.func @one_is_dynamic(%a: memref<?xf32, "buffer">) kernel {
      %x = gpu.global_id x
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %a[%x] : memref<?xf32, "buffer">
      gpu.return
    }
    // CHECK-LABEL: gpu.func @large
    // CHECK-NOT: i32
    gpu.func @large(%a: memref<?xf32, "buffer">) kernel {
      %x = gpu.global_id x
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %a[%x] : memref<?xf32, "buffer">
      gpu.return
    }
    // CHECK-LABEL: gpu.func @large_product
    // CHECK: arith.index_castui %{{.*}} : index to i32
    // CHECK: arith.muli %{{.*}}, %{{.*}} : index
    // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{[^:]*}} {
    gpu.func @large_product(%a: memref<?xf32, "buffer">) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %most = arith.constant 2147483647 : index
      %x = gpu.global_id x
      %far = arith.muli %x, %most : index
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %a[%far] : memref<?xf32, "buffer">
      // One step after the last iteration does not fit.
      scf.for %i = %c0 to %most step %c1 {
        memref.store %zero, %a[%i] : memref<?xf32, "buffer">
      }
      gpu.return
    }
  }
}

//--- dynamic.mlir
module attributes {gpu.container_module} {
  // Row y of n rows of h: the largest number is that of the work-items, 4 g, which equals n * h, or one of the sizes.
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: %[[G:.*]]: index, %[[N:.*]]: index, %[[H:.*]]: index
  // CHECK-DAG: %[[LIMIT:.*]] = arith.constant 0x41DFFFFFFF800000 : f64
  // CHECK: arith.uitofp
  // CHECK: %[[FITS:.*]] = arith.cmpf olt, %{{.*}}, %[[LIMIT]] : f64
  // CHECK: scf.if %[[FITS]]
  // CHECK: %[[N32:.*]] = arith.index_cast %[[N]] : index to i32
  // CHECK: gpu.launch_func @m::@k {{.*}} args(%[[N32]] : i32
  // CHECK: else
  // CHECK: gpu.launch_func @m_wide::@k {{.*}} args(%[[N]] : index
  func.func @main(%g: index, %n: index, %h: index, %a: memref<?x?xvector<4xf32>, "image2d">, %b: memref<?x?xvector<4xf32>, "image2d">) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    gpu.launch_func @m::@k blocks in (%c1, %g, %c1) threads in (%c4, %c4, %c1)
      args(%n : index, %h : index, %a : memref<?x?xvector<4xf32>, "image2d">, %b : memref<?x?xvector<4xf32>, "image2d">)
    return
  }
  gpu.module @m {
    // CHECK-LABEL: gpu.module @m
    // CHECK: gpu.func @k(%[[N:.*]]: i32, %[[H:.*]]: i32
    // CHECK: gpu.global_id y upper_bound 2147483647
    // CHECK: arith.divui %{{.*}}, %[[H]] : i32
    // CHECK: scf.for {{.*}} to %[[N]] {{.*}} : i32
    // CHECK: arith.minsi {{.*}} : i32
    // CHECK-LABEL: gpu.module @m_wide
    // CHECK: gpu.func @k(%{{.*}}: index, %[[H:.*]]: index
    // CHECK: arith.divui %{{.*}}, %[[H]] : index
    gpu.func @k(%n: index, %h: index, %a: memref<?x?xvector<4xf32>, "image2d">, %b: memref<?x?xvector<4xf32>, "image2d">) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant dense<0.0> : vector<4xf32>
      %x = gpu.global_id x
      %y = gpu.global_id y
      %row = arith.divui %y, %h : index
      %last = arith.subi %n, %c1 : index
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (vector<4xf32>) {
        %next = arith.addi %i, %row : index
        %in = arith.minsi %next, %last : index
        %first = arith.muli %in, %h : index
        %v = memref.load %a[%first, %x] : memref<?x?xvector<4xf32>, "image2d">
        %t = arith.addf %s, %v : vector<4xf32>
        scf.yield %t : vector<4xf32>
      }
      memref.store %sum, %b[%y, %x] : memref<?x?xvector<4xf32>, "image2d">
      gpu.return
    }
  }
}
