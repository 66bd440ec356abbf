//===- Passes.td - Tensors on a mesh to messages -----------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_MESH_LAYOUTTOMPI_PASSES_TD
#define LAYOUT_TARGETS_MESH_LAYOUTTOMPI_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertLayoutToMPIPass : Pass<"convert-layout-to-mpi", "ModuleOp"> {
  let summary = "Lower layout.convert between distributions to MPI messages";
  let description = [{
    Lowers a module to one program for all devices of a mesh; the rank of a process is
    the number of its device. A tensor on a mesh becomes the memory of its block on one
    device, `tensor<Nxf32>` for an extent N of the last coordinate of its map.

    ```mlir
    // before
    func.func @swap(%a: tensor<6xf32, #halves>) -> tensor<6xf32, #others> {
      %0 = layout.convert %a : tensor<6xf32, #halves> to tensor<6xf32, #others>
    // after
    func.func @swap(%a: tensor<3xf32>) -> tensor<3xf32> {
      %source = bufferization.to_buffer %a read_only : ..
      %target = memref.alloc() {alignment = 64 : i64} : memref<3xf32>
      %rank = call @layoutMPIEnter(..)
      call @layout_move_elements(..)           // the elements that stay
      scf.for .. {                             // pack and send, or receive and unpack
        scf.if %sends {
          call @layout_send_bytes(..)
        } else {
          call @layout_receive_bytes(..)
        }
      }
      call @layoutMPILeave(..)
      %0 = bufferization.to_tensor %target restrict writable : ..
    ```

    A `layout.convert` between two distributions executes the plan that
    `layout-print-messages` prints. Elements that stay are copied. Each message is packed,
    sent by `mpi.send`, received by `mpi.recv`, and unpacked. A message of partial results
    is reduced (sum, max or min) into those of the receiver instead. The plan is a table of
    constants, which all ranks read with the same code; the size of the code does not
    depend on the mesh.

    All ranks process the messages in one global order, so that there are no deadlocks:
    the sender and the receiver of the first remaining message are always ready for it.
    Messages are ordered by steps, sets of messages in which no rank has two.

    Ops on tensors on a mesh run on the block of the rank (docs/mesh.md). If a loop alone
    indexes dims, all of these dims must have one range of indices on a device. All other
    dims that are read or sliced must be whole on a device. A reduction loop that is split
    over devices yields a `#layout.partial`. Anything else is an error that suggests a
    conversion. Types of functions, calls and control flow change. The module gets
    `"MPI:Implementation"` in its `dlti.map` unless it has one. Programs are linked with
    `libLayoutMPIRuntime`, which initializes MPI, checks that there are as many ranks as
    devices, and ends all ranks if one fails. Run the pass after layouts are assigned, and
    before other passes lower layouts: the blocks of ranks may still have layouts.
  }];
  let options = [
    Option<"maxExtraBytes", "max-extra-bytes", "int64_t", /*default=*/"0",
           "Maximum size in bytes of the messages that a device holds at once; "
           "0: limited only by the 31-bit counts of MPI">,
    Option<"implementation", "implementation", "std::string",
           /*default=*/"\"OpenMPI\"",
           "MPI implementation that the program is linked with: OpenMPI or MPICH">
  ];
  let dependentDialects = [
    "::mlir::DLTIDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::mpi::MPIDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def ImportShardingsPass : Pass<"layout-mesh-import-shardings", "ModuleOp"> {
  let summary = "Import shard.shard annotations as #layout.mesh layouts";
  let description = [{
    Makes the annotation `shard.shard %a to %sharding` of an argument its type
    `#layout.mesh`, with the axes a0, a1, .. of the grid. An annotation of a sharded value
    becomes a `layout.convert`, which `convert-layout-to-mpi` lowers to messages. Result
    types of functions change accordingly.

    ```mlir
    // before
    func.func @swap(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %from = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
      %to = shard.sharding @grid split_axes = [[1], [0]] : !shard.sharding
      %0 = shard.shard %a to %from : tensor<8x8xf32>
      %1 = shard.shard %0 to %to annotate_for_users : tensor<8x8xf32>
      return %1 : tensor<8x8xf32>
    // after, with #x_y = #layout.mesh<[a0 = 2, a1 = 2], [[a0], [a1]]>
    func.func @swap(%a: tensor<8x8xf32, #x_y>) -> tensor<8x8xf32, #y_x> {
      %0 = layout.convert %a : tensor<8x8xf32, #x_y> to tensor<8x8xf32, #y_x>
      return %0 : tensor<8x8xf32, #y_x>
    ```

    Blocks have ceil(size / devices) indices, while upstream requires sizes that are
    multiples of the number of devices. `halo_sizes` become the halos of split dims: the
    indices that a device stores before and after its block. Changing them is a
    conversion.

    Other block sizes, dynamic halos and grids, arguments with another layout, ops that
    compute with sharded tensors, and called functions whose type changes are errors.
  }];
  let dependentDialects = ["::mlir::layout::LayoutDialect"];
}

def ReplicateOnMeshPass : Pass<"layout-mesh-replicate", "ModuleOp"> {
  let summary = "Place plain tensors on every device of the mesh";
  let description = [{
    During layout assignment a tensor without a layout is whole on every device. This
    pass makes that explicit in the types of all tensors of functions and of their
    signatures, with the axes of the target: every rank is called with whole tensors and
    returns whole tensors. Run it after `layout-assign` and before
    `convert-layout-to-mpi`. The module has the `#layout.mesh_target` as `layout.target`.

    ```mlir
    // before
    func.func @f(%a: tensor<4x?xf32>, %b: tensor<4x4xf32, #rows>)
    // after, with #whole = #layout.mesh<[x = 2], [[], []]>
    func.func @f(%a: tensor<4x?xf32, #whole>, %b: tensor<4x4xf32, #rows>)
    ```

    A layout without a mesh, e.g. a blocked one, becomes the local layout on every device.
    If `#layout.mesh` does not accept it as one, e.g. `#layout.padded`, the type does not
    change.

    A declared function with tensors as arguments or results is an error, because its
    type cannot change.
  }];
  let dependentDialects = ["::mlir::layout::LayoutDialect"];
}

def ImportShardyPass : Pass<"layout-mesh-import-shardy", "ModuleOp"> {
  let summary = "Import Shardy shardings as layout constraints";
  let description = [{
    Converts `#sdy.sharding<@mesh, [{"x"}, {"y"} ]>` on arguments and results of functions
    to layout constraints: `layout.argument_layouts` of the function and
    `layout.operand_layouts` of its return, with the axes of the `sdy.mesh`. A public
    function gets `layout.flexible_abi`, which permits `layout-assign` to change its type.
    `layout-assign` then chooses all other layouts.

    ```mlir
    // before
    "sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=2, "y"=4]>}> : () -> ()
    func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {"y"}p1]>})
    // after
    func.func @main(%a: tensor<8x8xf32>) attributes {layout.argument_layouts
        = [[#layout.mesh<[x = 2, y = 4], [[x], [y]]>]], layout.flexible_abi}
    ```

    The dialect `sdy` is not part of MLIR, so its ops must be in generic form, and the
    tool needs `--allow-unregistered-dialect`. Dims that Shardy may split further (`?`)
    are not, and priorities (`p1`) are ignored. Sub-axes, meshes with device ids, and
    shardings of intermediate values are errors.
  }];
  let dependentDialects = ["::mlir::layout::LayoutDialect"];
}

def ExportShardingsPass : Pass<"layout-mesh-export-shardings", "ModuleOp"> {
  let summary = "Export #layout.mesh layouts as shard.shard annotations";
  let description = [{
    The inverse of `layout-mesh-import-shardings`: tensors become plain, a `shard.grid` gets the
    sizes of the axes, and each value on a mesh is annotated by
    `shard.shard %v to %sharding`. A `layout.convert` becomes an annotation of its source
    for its users.

    ```mlir
    // before
    %0 = layout.convert %a : tensor<10x6xf32, #rows> to tensor<10x6xf32, #columns>
    // after
    %rows = shard.sharding @mesh split_axes = [[0], []] : !shard.sharding
    %on = shard.shard %a to %rows : tensor<10x6xf32>
    %columns = shard.sharding @mesh split_axes = [[], [1, 0]] : !shard.sharding
    %0 = shard.shard %on to %columns annotate_for_users : tensor<10x6xf32>
    ```

    Partial sums are not annotated: upstream's partitioner derives them from the operands
    of the op, and reduces them for the annotation that follows. The attributes
    `layout.target` and `layout.assignment` of the module are removed, because they refer
    to layouts. Axes lose their names, and are imported as a0, a1, ..

    Layouts that `shard` cannot express are errors: two meshes, layouts in the memory of a
    device, and distributions other than `#layout.mesh`.
  }];
  let dependentDialects = ["::mlir::shard::ShardDialect"];
}

def PrintMessagesPass : Pass<"layout-print-messages"> {
  let summary = "Print the messages of layout.convert on a mesh of devices";
  let description = [{
    Prints the messages of every `layout.convert` between two distributions of a tensor over a mesh
    of devices, in program order (docs/mesh.md): source and destination device, round, and the boxes
    of indices. A header line has the bytes sent, a lower bound on the bytes of any plan, and the
    peak bytes of messages that a device holds at once. The IR does not change.

    ```
    conversion of 6x6xf32 at "net.mlir":4:8: 2 messages in 1 rounds on 2 devices, 72 bytes, lower bound 72, at most 72 bytes of messages on a device
      stays on 0: [0:3, 0:3]
      stays on 1: [3:6, 3:6]
      round 0: 0 -> 1: [0:3, 3:6]
      round 0: 1 -> 0: [3:6, 0:3]
    ```

    In one round a device sends at most one message and receives at most one. `format=json` also has
    the `step` of each message, the part of its round in which a device either sends or receives, and
    the position of each box in the local tensors of both devices.
  }];
  let options = [
    Option<"relabel", "relabel", "bool", /*default=*/"false",
           "Permute the device numbers of the result if fewer bytes are sent; the plan lists the "
           "permutation">,
    Option<"maxExtraBytes", "max-extra-bytes", "int64_t", /*default=*/"0",
           "Maximum bytes of messages that a device holds at once, 0 for no limit; longer messages "
           "are split">,
    Option<"format", "format", "::mlir::layout::CostFormat",
           /*default=*/"::mlir::layout::CostFormat::text",
           "`text` or `json`",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::CostFormat::text, "text",
                          "Readable text"),
               clEnumValN(::mlir::layout::CostFormat::json, "json",
                          "JSON"))}]>,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "Output file, - for standard output">
  ];
}

#endif // LAYOUT_TARGETS_MESH_LAYOUTTOMPI_PASSES_TD
