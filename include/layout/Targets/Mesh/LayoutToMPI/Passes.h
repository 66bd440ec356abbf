//===- Passes.h - Passes from meshes to messages ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_MESH_LAYOUTTOMPI_PASSES_H
#define LAYOUT_TARGETS_MESH_LAYOUTTOMPI_PASSES_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MPI/IR/MPI.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::layout {

#define GEN_PASS_DECL
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h.inc"

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_MESH_LAYOUTTOMPI_PASSES_H
