//===- ParallelLoops.h - The runtime of parallel loops ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled code calls the ABI of LLVM's OpenMP library for parallel loops. A
// region with a single loop
//
//   omp.parallel { omp.wsloop { omp.loop_nest .. } }
//
// calls five of its functions, which this library implements with a ThreadTeam.
// A module with other OpenMP ops or clauses, e.g. from another compiler, runs
// on LLVM's library.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_RUNTIME_PARALLELLOOPS_H
#define LAYOUT_LIB_RUNTIME_PARALLELLOOPS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::layout {

class ThreadTeam;

enum class LoopRuntime { none, team, openMP };

/// Returns the runtime that runs the parallel loops of `module`: `none` if
/// there is no op of OpenMP; `team`, the threads of this library, if all of
/// these ops are in parallel regions of one loop without clauses; or else
/// `openMP`, LLVM's library.
LoopRuntime findLoopRuntime(ModuleOp module);

/// Returns the number of threads of a program compiled without a thread count:
/// OMP_NUM_THREADS if it is set, and otherwise the number of available
/// processors.
unsigned getDefaultThreads();

/// Makes LLVM's OpenMP library visible to compiled code, even if only a Python
/// extension has loaded it. Returns false if it is not in this process.
bool publishOpenMP();

/// Returns the functions of the OpenMP ABI that this library implements for
/// regions of one loop, as symbol names and addresses, which compiled code is
/// linked to.
ArrayRef<std::pair<StringRef, void *>> getTeamFunctions();

/// Reserves threads for the parallel loops that the calling thread runs while
/// the object exists. With `team` and more than one thread, takes helper
/// threads of this library; with `openMP`, sets the number of threads of LLVM's
/// library. Otherwise does nothing.
class LoopThreads {
public:
  LoopThreads(LoopRuntime runtime, unsigned threads);
  LoopThreads(const LoopThreads &) = delete;
  LoopThreads &operator=(const LoopThreads &) = delete;
  ~LoopThreads();

private:
  ThreadTeam *team = nullptr;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_RUNTIME_PARALLELLOOPS_H
