//===- Profile.h - Timing of commands ---------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects the rows of layoutClPrintProfile, one per kernel and direction of
// copies, from the events of commands.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_PROFILE_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_PROFILE_H

#include "Common/ProfileTable.h"
#include "Session.h"

namespace mlir::layout::opencl {

bool isProfiling();
/// Adds the command of `event` to the row `name` of the profile, which then
/// owns the event. A null event is ignored.
void addToProfile(const std::string &name, cl_event event, Work work);
/// Adds the times of finished commands to the rows of the profile; other
/// commands remain pending. Called after a wait for the queue.
void collectProfile();

/// Sets `nanoseconds` to the duration of a finished command. Returns false if
/// the command has not finished, or its queue has no profiling.
bool readTime(cl_event event, uint64_t &nanoseconds);

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_PROFILE_H
