//===- ThreadTeam.h - Threads that share parallel loops ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A team is the thread that runs a program and helper threads. The iterations
// of a loop are cut into equal parts. Each thread gets a slice of consecutive
// parts, takes them from the front, and then takes parts from the back of other
// slices:
//
//   caller    share 0..15 | run 0, 1, .. 7, 15          | wait for 14 | return
//   helper          (late)    run 8, 9, .. 13, 14              |
//
// The caller waits only for parts that a helper has begun, never for a helper
// that has no processor. LLVM's OpenMP library ends each loop with a barrier of
// all threads instead, under each of its wait policies: beside other programs
// every loop takes until the last thread has had a processor. Its dynamic
// number of threads counts the load of the machine, and has one thread for all
// loops then (./dev bench --loaded).
//
// A loop that takes less time than handing over parts gains runs on the caller
// alone. How long a loop takes is known from its run before; in its first run,
// from its first part.
//
// Laws:
//   - Each part runs once, and all have run when `run` returns.
//   - A team runs one loop at a time. `acquire` gives each caller another team.
//   - A helper sleeps after some microseconds without a part, and is woken when
//     the loops that it missed would have been worth it.
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

/// The parts [begin, end) of a loop that is cut into `count` parts.
struct LoopParts {
  unsigned begin = 0, end = 1;
  /// The number of all parts, or 0 if `start` has not cut the loop yet.
  unsigned count = 0;
};

class ThreadTeam {
public:
  /// Runs parts of a loop. If `count` is 0, calls `start` first.
  using Body = void (*)(void *context, LoopParts &parts);

  /// Returns a team of at least `threads` threads that no other caller uses, or
  /// of fewer if the system cannot create more threads.
  static ThreadTeam &acquire(unsigned threads);
  /// Gives the team back, also after a body has left `run` by a long jump.
  void release();

  /// Runs all parts of a loop on at most `threads` threads. `identity` is the
  /// same in each run of the loop.
  void run(Body body, void *context, const void *identity, unsigned threads);

  /// Sets the parts that the first call of a body runs of `trips` iterations.
  void start(uint64_t trips, LoopParts &parts);

private:
  explicit ThreadTeam(unsigned threads);

  /// The parts that one thread takes from the front, in one word so that all of
  /// it changes at once: the number of the loop, the begin and the end.
  struct alignas(64) Slice {
    std::atomic<uint64_t> word{0};
  };
  struct alignas(64) Helper {
    std::atomic<bool> isAsleep{false};
    std::mutex mutex;
    std::condition_variable wakeup;
  };
  /// The time that the loop of `key` takes on one thread.
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
  std::vector<LoopTime> times; // by a hash of the key
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
