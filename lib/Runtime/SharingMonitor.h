//===- SharingMonitor.h - Whether other threads help at present -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beside other programs a helper that has begun a part may lose its processor
// for milliseconds, and the caller waits: then loops may take longer by two
// threads than by one. Nothing tells a process how busy others are at a price
// that a loop can afford, so loops are observed.
//
// Windows of loops are compared by their slowdown: the time that they took, by
// the time that they take on one thread that nothing interrupts. It is 0.5
// for two threads that nothing disturbs, and 1.5 for one thread beside a busy
// process for each of two processors.
//
//   slowdown of a shared window           then
//   at most 0.9, or that of one thread    share the next window
//   more                                  one thread for 4, 8 .. 128 windows,
//                                         then share one
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_RUNTIME_SHARINGMONITOR_H
#define LAYOUT_LIB_RUNTIME_SHARINGMONITOR_H

#include <algorithm>
#include <cstdint>

namespace mlir::layout {

class SharingMonitor {
public:
  /// The length of a window: the sum of the times that its loops need on one
  /// thread. A window that takes twice this length ends early.
  static constexpr int64_t kWindowNanoseconds = 10'000'000;
  /// The largest slowdown of a shared window after which loops stay shared,
  /// however fast one thread is.
  static constexpr double kMostSlowdown = 0.9;
  /// The number of windows on one thread after the first shared window that was
  /// too slow.
  static constexpr unsigned kLeastWindows = 4;
  /// The largest number of windows on one thread between two shared windows.
  static constexpr unsigned kMostWindows = 128;

  /// Returns true if loops are to be shared.
  bool isSharing() const { return windowsAlone == 0; }

  /// Adds a loop that has run in the present mode: `expected` are the
  /// nanoseconds that it needs on one thread, `taken` those that it took.
  void add(int64_t expected, int64_t taken) {
    windowExpected += expected;
    windowTaken += taken;
    if (windowExpected < kWindowNanoseconds &&
        windowTaken < 2 * kWindowNanoseconds)
      return;
    double slowdown = static_cast<double>(windowTaken) / windowExpected;
    windowExpected = windowTaken = 0;
    if (!isSharing()) {
      slowdownAlone = slowdown;
      --windowsAlone;
    } else if (slowdown <= std::max(kMostSlowdown, slowdownAlone)) {
      nextWindowsAlone = kLeastWindows;
    } else {
      windowsAlone = nextWindowsAlone;
      nextWindowsAlone = std::min(2 * nextWindowsAlone, kMostWindows);
    }
  }

private:
  int64_t windowExpected = 0, windowTaken = 0;
  double slowdownAlone = 0; // in the last window of one thread
  unsigned windowsAlone = 0, nextWindowsAlone = kLeastWindows;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_RUNTIME_SHARINGMONITOR_H
