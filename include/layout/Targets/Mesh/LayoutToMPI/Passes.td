//===- Passes.td - Tensors on a mesh to messages -----------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_MESH_LAYOUTTOMPI_PASSES
#define LAYOUT_TARGETS_MESH_LAYOUTTOMPI_PASSES

include "mlir/Pass/PassBase.td"

def ConvertLayoutToMPIPass : Pass<"convert-layout-to-mpi", "ModuleOp"> {
  let summary = "Turns conversions between distributions into messages of MPI";
  let description = [{
    One program for all devices of a mesh; the rank of a process is the number of
    its device. Every tensor on a mesh becomes the memory of its block on one
    device, `tensor<Nxf32>` for the N positions that the last coordinate of its
    map counts. Every `layout.convert` between two distributions becomes the plan
    that `layout-print-messages` shows: what stays is copied, and each message is
    packed, sent by `mpi.send`, received by `mpi.recv` and unpacked, or combined
    where it has parts of sums. Who sends what, and where it lies in both blocks,
    is a table of constants that all ranks read with the same code, which does not
    grow with the mesh.

    All ranks go through the messages in one order, so that none waits forever:
    of the messages that are left, the first one has both its ranks at it. They
    are in the order of their turns, in which no rank is busy twice.

    Ops that compute with tensors on a mesh compute with the block of the rank
    (docs/mesh.md): all dims that a loop indexes alone have one range of indices on a
    device, other dims that it reads or cuts are whole there, and a loop that reduces
    and is split leaves a `#layout.partial`. Anything else is an error that says which
    conversion helps. Functions, calls and control flow change their types. The module says which MPI
    it is for, `"MPI:Implementation"` in its `dlti.map`, unless it does already.
    Programs are linked with `libLayoutMPIRuntime`, which starts MPI, checks that
    there are as many ranks as devices, and ends all ranks where one fails.
  }];
  let options = [
    Option<"maxExtraBytes", "max-extra-bytes", "int64_t", /*default=*/"0",
           "The most bytes of messages that a device holds at once; 0: as many "
           "as MPI can count">,
    Option<"implementation", "implementation", "std::string",
           /*default=*/"\"OpenMPI\"",
           "Whose MPI the program is linked with: OpenMPI or MPICH">
  ];
  let dependentDialects = [
    "::mlir::DLTIDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::mpi::MPIDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def ImportShardingsPass : Pass<"layout-import-shardings", "ModuleOp"> {
  let summary = "Turns shardings of upstream's dialect shard into layouts";
  let description = [{
    The annotation of an argument, `shard.shard %a to %sharding`, gives it the
    type `#layout.mesh` of that sharding, with the axes a0, a1, .. of the grid; of
    what is sharded already it is a `layout.convert`, which
    `convert-layout-to-mpi` makes messages of. Functions return what they return
    then. Blocks have ceil(size / devices) indices, where upstream asks for sizes
    that the devices divide. `halo_sizes` are the halos of the dims that are
    split; a change of them is a conversion, too.

    Blocks of other sizes, halos and grids of unknown size, arguments with another
    layout, and ops that compute with sharded tensors are errors. So is a function
    that is called where its type changes.
  }];
  let dependentDialects = ["::mlir::layout::LayoutDialect"];
}

def PlaceOnMeshPass : Pass<"layout-place-on-mesh", "ModuleOp"> {
  let summary = "Gives every plain tensor a copy on each device of the mesh";
  let description = [{
    For the assignment of layouts a tensor without a layout is whole on every
    device. This says so in its type, `#layout.mesh<[x = 2], [[], []]>` with the axes
    of the target, of all tensors of functions, those of their signatures included:
    what every rank is called with and returns. Runs after `layout-assign`, whose
    target is the `#layout.mesh_target` of the module.

    Functions that are only declared keep their types, which is an error where tensors
    go in or out.
  }];
  let dependentDialects = ["::mlir::layout::LayoutDialect"];
}

def ImportShardyPass : Pass<"layout-import-shardy", "ModuleOp"> {
  let summary = "Turns shardings of Shardy into layouts that the assignment keeps";
  let description = [{
    `#sdy.sharding<@mesh, [{"x"}, {"y"} ]>` on an argument or result of a function is
    stated as `layout.argument_layouts` of the function, or `layout.operand_layouts` of
    what returns, with the axes of the `sdy.mesh`; a public function gets
    `layout.flexible_abi`. `layout-assign` then decides the rest. The dialect `sdy` is
    not a part of MLIR, so its ops come in generic form, and the tool needs
    `--allow-unregistered-dialect`.

    A dim that is open for more axes (`{?}`) is stated as it is, and priorities have no
    meaning. Parts of axes, meshes with numbers of devices, and shardings of what a
    function computes are errors.
  }];
  let dependentDialects = ["::mlir::layout::LayoutDialect"];
}

def ExportShardingsPass : Pass<"layout-export-shardings", "ModuleOp"> {
  let summary = "Turns layouts on a mesh into shardings of upstream's dialect shard";
  let description = [{
    The way back of `layout-import-shardings`: tensors get plain types, `shard.grid`
    has the sizes of the axes, and each value on a mesh is annotated by
    `shard.shard %v to %sharding`. A `layout.convert` is an annotation for the users
    of its source. Parts of sums are not annotated: a partitioner of upstream finds
    them from the operands of the op, and reduces them for the annotation that
    follows. `layout.target` and `layout.assignment` of the module, which speak of layouts, go.

    Axes have no names there: the import calls them a0, a1, .. What `shard` cannot
    say is an error: two meshes, layouts in the memory of a device, distributions that
    are no `#layout.mesh`.
  }];
  let dependentDialects = ["::mlir::shard::ShardDialect"];
}

#endif // LAYOUT_TARGETS_MESH_LAYOUTTOMPI_PASSES
