//===- LayoutToMPI.h - From tensors on a mesh to a program ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `layout-to-mpi`: lowers conversions over a mesh to messages, and the program,
// which every rank runs, to the LLVM dialect.
//
//   layout-opt net.mlir -layout-to-mpi -o program.mlir
//   mpirun -np 4 layout-run program.mlir --shared-libs=libLayoutMPIRuntime.so
//   ..
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_MESH_PIPELINES_LAYOUTTOMPI_H
#define LAYOUT_TARGETS_MESH_PIPELINES_LAYOUTTOMPI_H

#include "layout/Targets/CPU/Pipelines/LinalgToLLVM.h"

namespace mlir::layout {

struct LayoutToMPIOptions : LinalgToLLVMOptions {
  /// Disables what takes more memory than the live tensors: the arena, which
  /// may have gaps, and Winograd, whose transformed filters are larger than the
  /// constants that a memory budget counts.
  LayoutToMPIOptions() {
    arena = false;
    winograd = false;
    furtherDialects = {"mpi"};
  }

  Option<int64_t> maxExtraBytes{
      *this, "max-extra-bytes",
      llvm::cl::desc(
          "Maximum size in bytes of the messages that a device holds at once; "
          "0: limited only by the 31-bit counts of MPI"),
      llvm::cl::init(0)};
  Option<std::string> implementation{
      *this, "implementation",
      llvm::cl::desc("MPI implementation that the program is linked with: "
                     "OpenMPI or MPICH"),
      llvm::cl::init("OpenMPI")};
};

void buildLayoutToMPIPipeline(OpPassManager &pm,
                              const LayoutToMPIOptions &options);

void registerLayoutToMPIPipelines();

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_MESH_PIPELINES_LAYOUTTOMPI_H
