//===- Profile.h - Times of commands ----------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of layoutClPrintProfile: a row for each kernel and direction of
// copies, from the events of their commands.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_PROFILE_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_PROFILE_H

#include "Session.h"

namespace mlir::layout::opencl {

/// What a command moves and computes; less than 0 where it is not known.
struct Work {
  double bytes = -1, operations = -1;
};

bool isProfiling();
/// Takes over the event, which may be null.
void addToProfile(const std::string &name, cl_event event, Work work);
/// Reads the times of the commands that are done; to be called after a wait.
void collectProfile();

/// Nanoseconds from the start to the end of a command; false where its queue
/// does not measure.
bool readTime(cl_event event, uint64_t &nanoseconds);

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_PROFILE_H
