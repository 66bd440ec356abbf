//===- SharingMonitor.h - Decides whether to share loops --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a loaded machine, a helper that has begun a part may lose its processor
// for milliseconds while the caller waits; two threads may then be slower than
// one. A loop cannot afford to query the load, so the times of loops are
// observed.
//
// The slowdown of a window of loops is its elapsed time divided by the time
// that the loops need on one undisturbed thread: 0.5 for two undisturbed
// threads, 1.5 for one thread next to a busy process per processor, with two
// processors.
//
//   slowdown of a shared window           then
//   at most 0.9, or that of one thread    share the next window
//   more                                  one thread for 4, 8 .. 128 windows,
//                                         then share one
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_RUNTIME_SHARINGMONITOR_H
#define LAYOUT_LIB_RUNTIME_SHARINGMONITOR_H

#include <algorithm>
#include <cstdint>

namespace mlir::layout {

class SharingMonitor {
public:
  /// The length of a window of consecutive loops: the sum of their times on one
  /// undisturbed thread. A window also ends if its elapsed time is twice this.
  static constexpr int64_t kWindowNanoseconds = 10'000'000;
  /// Loops remain divided after a window (10 ms of loops) divided among threads
  /// whose slowdown is at most this number, whatever the slowdown on one
  /// thread. The slowdown is the elapsed time / the time on one undisturbed
  /// thread, so it is below 1 if threads help.
  static constexpr double kMostSlowdown = 0.9;
  /// The number of windows (10 ms of loops each) that run on one thread after a
  /// window of loops divided among threads was too slow. The number doubles
  /// with each further divided window that is too slow, until one is fast
  /// enough.
  static constexpr unsigned kLeastWindows = 4;
  /// The maximum number of windows (10 ms of loops each) that run on one thread
  /// before one window is divided among threads again.
  static constexpr unsigned kMostWindows = 128;

  /// Returns true if the next loop should be divided among threads, and false
  /// if it should run on one thread.
  bool isSharing() const { return windowsAlone == 0; }

  /// Adds the times of a loop, in nanoseconds, to the current window:
  /// `expected`, the known time on one undisturbed thread, and `taken`, the
  /// elapsed time. The loop must have been divided among threads if isSharing()
  /// was true, and run on one thread otherwise.
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
  double slowdownAlone = 0; // of the last single-thread window
  unsigned windowsAlone = 0, nextWindowsAlone = kLeastWindows;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_RUNTIME_SHARINGMONITOR_H
