//===- ParallelLoops.h - What runs the loops of OpenMP ops ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled code calls LLVM's OpenMP library for its parallel loops, by the
// functions of that library's binary interface. A region that is one loop
//
//   omp.parallel { omp.wsloop { omp.loop_nest .. } }
//
// calls five of them, which this library has too: they give the loop to a
// ThreadTeam. A module that has other ops or clauses of OpenMP, as a program of
// somebody else may, is run by LLVM's library.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_RUNTIME_PARALLELLOOPS_H
#define LAYOUT_LIB_RUNTIME_PARALLELLOOPS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::layout {

class ThreadTeam;

enum class LoopRuntime { none, team, openMP };

/// Returns what runs the parallel loops of `module`.
LoopRuntime findLoopRuntime(ModuleOp module);

/// Returns the number of threads of a program that is compiled without one.
unsigned getDefaultThreads();

/// Lets compiled code find LLVM's OpenMP library, which may be one that only an
/// extension of Python sees. Returns false if it is not in this process.
bool publishOpenMP();

/// Returns the functions that compiled code calls for loops of a team.
ArrayRef<std::pair<StringRef, void *>> getTeamFunctions();

/// Gives the calling thread threads for the parallel loops that it runs.
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
