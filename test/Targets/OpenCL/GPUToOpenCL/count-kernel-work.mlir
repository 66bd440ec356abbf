// Check the counted work of kernels including loops: operations on elements, not on indices, and bytes of device
// memory, not of work-group memory. Counts of a kernel that depends on its work-group are those of all work-items.

// RUN: layout-opt %s --layout-opencl-count-kernel-work | FileCheck %s
// RUN: layout-opt %s --layout-opencl-count-kernel-work --layout-opencl-narrow-kernel-indices --layout-opencl-kernels-to-spirv --layout-opencl-serialize-kernels | FileCheck %s --check-prefix=TABLE

// TABLE: #gpu.kernel_metadata<"dynamic_trip_count", {{.*}}metadata = {layout.any_groups, layout.writes = array<i64: 0>}>
// TABLE-SAME: #gpu.kernel_metadata<"never", (memref<8xf32, "buffer">) -> (), arg_attrs = [{}], metadata = {layout.writes = array<i64: 0>}>, #gpu.kernel_metadata<"split", {{.*}}metadata = {layout.bytes = 132 : i64, layout.may_repeat, layout.operations = 40 : i64, layout.writes = array<i64: 1>}>
// TABLE-SAME: #gpu.kernel_metadata<"stated", {{.*}}metadata = {layout.bytes = 64 : i64, layout.may_repeat, layout.operations = 0 : i64, layout.writes = array<i64: 1>}>
// TABLE-SAME: #gpu.kernel_metadata<"sum", {{.*}}metadata = {layout.any_groups, layout.bytes = 176 : i64, layout.items = array<i64: 30, -1, -1>, layout.may_repeat, layout.operations = 80 : i64, layout.writes = array<i64: 1>}>

module attributes {gpu.container_module} {
  gpu.module @m {
    // 10 iterations read 16 bytes and compute 8 numbers, in 30 of 32 work-items; one write.
    // CHECK: gpu.func @sum
    // CHECK-SAME: attributes {layout.bytes = 176 : i64, layout.items = array<i64: 30, -1, -1>, layout.operations = 80 : i64}
    gpu.func @sum(%a: memref<10x30xvector<4xf32>, "image2d">, %b: memref<4x30xvector<4xf32>, "image2d">) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c10 = arith.constant 10 : index
      %c30 = arith.constant 30 : index
      %zero = arith.constant dense<0.0> : vector<4xf32>
      %x = gpu.global_id x
      %y = gpu.global_id y
      %inside = arith.cmpi ult, %x, %c30 : index
      scf.if %inside {
        %s = scf.for %i = %c0 to %c10 step %c1 iter_args(%acc = %zero) -> (vector<4xf32>) {
          %at = arith.addi %i, %c0 : index
          %v = memref.load %a[%at, %x] : memref<10x30xvector<4xf32>, "image2d">
          %p = arith.mulf %v, %v : vector<4xf32>
          %n = arith.addf %acc, %p : vector<4xf32>
          scf.yield %n : vector<4xf32>
        }
        memref.store %s, %b[%y, %x] : memref<4x30xvector<4xf32>, "image2d">
      }
      gpu.return
    }
    // Only the launch determines the trip count; the kernel writes what it reads.
    // CHECK: gpu.func @dynamic_trip_count
    // CHECK-NOT: layout.
    // CHECK: gpu.func @stated
    gpu.func @dynamic_trip_count(%a: memref<8xf32, "buffer">, %n: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = gpu.global_id x
      scf.for %i = %c0 to %n step %c1 {
        %v = memref.load %a[%x] : memref<8xf32, "buffer">
        %w = arith.addf %v, %v : f32
        memref.store %w, %a[%x] : memref<8xf32, "buffer">
      }
      gpu.return
    }
    // A work-group of 8 work-items moves 8 numbers, also without a visible launch.
    // CHECK-SAME: layout.bytes = 64 : i64, layout.operations = 0 : i64
    // CHECK: gpu.func @split
    gpu.func @stated(%a: memref<8xf32, "buffer">, %b: memref<8xf32, "buffer">) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
      %x = gpu.global_id x
      %v = memref.load %a[%x] : memref<8xf32, "buffer">
      memref.store %v, %b[%x] : memref<8xf32, "buffer">
      gpu.return
    }
    // 8 work-items share 32 iterations, fewer in the last ones: 32 reads and additions. The first work-item adds 8
    // numbers and writes one.
    // CHECK-SAME: attributes {layout.bytes = 132 : i64, layout.operations = 40 : i64}
    gpu.func @split(%a: memref<32xf32, "buffer">, %b: memref<4xf32, "buffer">)
        workgroup(%shared: memref<8xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c32 = arith.constant 32 : index
      %zero = arith.constant 0.0 : f32
      %item = gpu.thread_id z
      %x = gpu.global_id x
      %s = scf.for %i = %item to %c32 step %c8 iter_args(%acc = %zero) -> (f32) {
        %v = memref.load %a[%i] : memref<32xf32, "buffer">
        %n = arith.addf %acc, %v : f32
        scf.yield %n : f32
      }
      memref.store %s, %shared[%item] : memref<8xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %first = arith.cmpi eq, %item, %c0 : index
      scf.if %first {
        %t = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (f32) {
          %v = memref.load %shared[%i] : memref<8xf32, #gpu.address_space<workgroup>>
          %n = arith.addf %acc, %v : f32
          scf.yield %n : f32
        }
        memref.store %t, %b[%x] : memref<4xf32, "buffer">
      }
      gpu.return
    }
    // The size of the work-group is unknown.
    // CHECK: gpu.func @never
    // CHECK-NOT: layout.
    // CHECK: func.func @main
    gpu.func @never(%a: memref<8xf32, "buffer">) kernel {
      %x = gpu.thread_id x
      %v = memref.load %a[%x] : memref<8xf32, "buffer">
      memref.store %v, %a[%x] : memref<8xf32, "buffer">
      gpu.return
    }
  }
  func.func @main(%a: memref<32xf32, "buffer">, %b: memref<4xf32, "buffer">) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    gpu.launch_func @m::@split blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c8)
        args(%a : memref<32xf32, "buffer">, %b : memref<4xf32, "buffer">)
    return
  }
}
