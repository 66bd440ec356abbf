//===- Registration.cpp - Lowerings of the Mesh target --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/Registration.h"
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h"
#include "layout/Targets/Mesh/Pipelines/LayoutToMPI.h"
#include "mlir/Conversion/MPIToLLVM/MPIToLLVM.h"
#include "mlir/Dialect/MPI/IR/MPI.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

void layout::registerMeshLoweringModels(DialectRegistry &registry) {
  registry.insert<mpi::MPIDialect>();
  mpi::registerConvertMPIToLLVMInterface(registry);
}

void layout::registerMeshLowerings() {
  registerLayoutToMPIPasses();
  registerLayoutToMPIPipelines();
}
