//===- ThreadTeam.h - Threads that share parallel loops ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A team is the thread that runs a program and helper threads. The iterations
// of a loop are divided into equal parts. Each thread owns a slice of
// consecutive parts, runs them from the front, and then steals parts from the
// back of other slices:
//
//   caller    share 0..15 | run 0, 1, .. 7, 15          | wait for 14 | return
//   helper          (late)    run 8, 9, .. 13, 14              |
//
// The caller waits only for parts that a helper has begun, never for a helper
// that has no processor. LLVM's OpenMP library ends each loop with a barrier of
// all threads instead, under all of its wait policies: on a loaded machine,
// every loop takes until the last thread was scheduled. Its dynamic number of
// threads uses the load of the machine, and then runs all loops on one thread
// (./dev bench --loaded).
//
// A loop that is shorter than the cost of sharing runs on the caller alone. The
// time of a loop is known from its previous run, or estimated from its first
// part in the first run.
//
// Laws:
//   - Each part runs once, and all have run when `run` returns.
//   - A team runs one loop at a time. `acquire` returns a different team to
//     each caller.
//   - A helper sleeps after some microseconds without a part, and is woken when
//     the loops that it missed exceed a threshold.
//   - A child process has none of the teams of its parent.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_RUNTIME_THREADTEAM_H
#define LAYOUT_LIB_RUNTIME_THREADTEAM_H

#include "SharingMonitor.h"
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace mlir::layout {

/// The parts [begin, end) of a loop that is divided into `count` parts.
struct LoopParts {
  unsigned begin = 0, end = 1;
  /// The number of all parts, or 0 before `start` divides the loop.
  unsigned count = 0;
};

class ThreadTeam {
public:
  /// A function that runs the given parts of a loop. If `parts.count` is 0, it
  /// calls `start` first, which sets `parts`.
  using Body = void (*)(void *context, LoopParts &parts);

  /// Gets a team of at least `threads` threads for exclusive use, or of fewer
  /// if the system cannot create more threads.
  static ThreadTeam &acquire(unsigned threads);
  /// Returns the team to the list of free teams, also after a body has left
  /// `run` by a long jump.
  void release();

  /// Runs all parts of a loop on at most `threads` threads. `identity` is an
  /// address that is equal in all runs of the loop; the time of a run is
  /// recorded under it to decide about the next one.
  void run(Body body, void *context, const void *identity, unsigned threads);

  /// Divides a loop of `trips` iterations into parts, and sets `parts` to those
  /// that the calling body runs first, which may be none. `run` has the other
  /// parts run by later calls of the body, on this or another thread.
  void start(uint64_t trips, LoopParts &parts);

private:
  explicit ThreadTeam(unsigned threads);

  /// The parts [begin, end) of a loop that are assigned to one thread and that
  /// no thread has claimed yet. Packed into one word for atomic updates: the
  /// number of the loop in 32 bits, begin and end in 16 each.
  struct alignas(64) Slice {
    std::atomic<uint64_t> word{0};
  };
  struct alignas(64) Helper {
    std::atomic<bool> isAsleep{false};
    std::mutex mutex;
    std::condition_variable wakeup;
  };
  /// The time of a loop on one thread; `key` is a hash of the loop and its
  /// number of iterations.
  struct LoopTime {
    uint64_t key = 0;
    int64_t nanoseconds = 0;
  };
  struct Start;

  bool addHelper(unsigned self);
  void help(unsigned self);
  void sleep(unsigned self);
  void wake(unsigned self);
  void measureHandover();
  void publish(unsigned self, unsigned begin, unsigned end);
  bool claim(unsigned slice, bool fromFront, LoopParts &parts);
  void runSlices(unsigned self, unsigned &claimed);
  bool finish(unsigned parts);
  void waitForHelpers();
  unsigned chooseSharers(int64_t left);
  void share(unsigned begin, int64_t left);
  void finishShared();
  void record(int64_t nanoseconds, bool wasShared);

  std::vector<Slice> slices;
  std::vector<Helper> helpers; // the first one is the caller's and unused
  std::vector<LoopTime> times; // at key % kKnownLoops
  unsigned numThreads = 1;

  // The loop that runs. A helper reads it after it has claimed parts.
  Body body = nullptr;
  void *context = nullptr;
  unsigned count = 1;
  uint32_t number = 0;
  std::atomic<unsigned> partsPerClaim{1}, sharers{1};

  // State of the running loop that only the caller accesses.
  const void *identity = nullptr;
  uint64_t key = 0;
  int64_t expected = 0; // nanoseconds on one thread, 0 in the first run
  unsigned mostThreads = 1, claimedByCaller = 0;
  bool isShared = false;

  alignas(64) std::atomic<unsigned> unfinished{0};
  std::atomic<bool> callerWaits{false};
  std::mutex mutex;
  std::condition_variable finished;

  // State of the decision whether to share a loop.
  SharingMonitor monitor;
  unsigned measurings = 8; // calls of measureHandover that are left
  unsigned handovers = 0;  // handovers that have been measured
  int64_t handover = 500;  // nanoseconds of the shortest handover
  int64_t leastShared;     // nanoseconds of work worth an awake helper
  int64_t missed = 0;      // nanoseconds of work while helpers slept
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_RUNTIME_THREADTEAM_H
