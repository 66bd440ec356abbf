//===- ThreadTeamTest.cpp - Threads that share parallel loops -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadTeam.h"
#include "SharingMonitor.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <chrono>
#include <csetjmp>
#include <memory>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir::layout;

namespace {

void computeFor(std::chrono::nanoseconds time) {
  auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// A loop that counts how often each iteration runs.
struct CountedLoop {
  explicit CountedLoop(uint64_t trips, std::chrono::nanoseconds time = {})
      : counts(new std::atomic<int>[trips]), trips(trips), time(time) {
    for (uint64_t i = 0; i < trips; ++i)
      counts[i] = 0;
  }

  static void runParts(void *context, LoopParts &parts) {
    auto &loop = *static_cast<CountedLoop *>(context);
    if (!parts.count)
      loop.team->start(loop.trips, parts);
    uint64_t end = loop.trips * parts.end / parts.count;
    for (uint64_t i = loop.trips * parts.begin / parts.count; i < end; ++i) {
      ++loop.counts[i];
      bool isCaller = std::this_thread::get_id() == loop.caller;
      if (!isCaller)
        loop.wasHelped = true;
      else if (i == loop.jumpsAt)
        std::longjmp(loop.target, 1);
      computeFor(loop.time);
    }
  }

  void run(ThreadTeam &givenTeam, unsigned threads) {
    team = &givenTeam;
    team->run(runParts, this, this, threads);
  }

  /// Runs until another thread has run an iteration, for at most a minute.
  /// Returns the number of runs.
  int runUntilHelped(ThreadTeam &givenTeam, unsigned threads) {
    auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    int times = 0;
    for (; !wasHelped && std::chrono::steady_clock::now() < end; ++times)
      run(givenTeam, threads);
    return times;
  }

  /// Returns true if each iteration has run `times` times.
  bool hasRun(int times) const {
    return std::all_of(counts.get(), counts.get() + trips,
                       [&](auto &each) { return each == times; });
  }

  std::unique_ptr<std::atomic<int>[]> counts;
  uint64_t trips;
  std::chrono::nanoseconds time;
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> wasHelped{false};
  ThreadTeam *team = nullptr;
  uint64_t jumpsAt = ~0ull;
  std::jmp_buf target;
};

/// Runs loops of several lengths until some of them are shared.
void expectEachIterationOnce(unsigned threads) {
  ThreadTeam &team = ThreadTeam::acquire(threads);
  for (uint64_t trips : {0, 1, 2, 3, 15, 16, 17, 100, 1009}) {
    CountedLoop empty(trips), slow(trips, std::chrono::microseconds(2));
    constexpr int times = 20;
    for (int i = 0; i < times; ++i) {
      empty.run(team, threads);
      slow.run(team, threads);
    }
    EXPECT_TRUE(empty.hasRun(times)) << threads << " threads, " << trips;
    EXPECT_TRUE(slow.hasRun(times)) << threads << " threads, " << trips;
  }
  team.release();
}

TEST(ThreadTeam, RunsEachIterationOnce) {
  for (unsigned threads : {1, 2, 3, 16})
    expectEachIterationOnce(threads);
}

TEST(ThreadTeam, SharesLongLoopsAlone) {
  ThreadTeam &team = ThreadTeam::acquire(2);
  CountedLoop longLoop(64, std::chrono::milliseconds(1));
  EXPECT_TRUE(longLoop.hasRun(longLoop.runUntilHelped(team, 2)));
  EXPECT_TRUE(longLoop.wasHelped);
  // The first run may be interrupted, and then looks long.
  CountedLoop shortLoop(2);
  for (int i = 0; i < 100; ++i)
    shortLoop.run(team, 2);
  shortLoop.wasHelped = false;
  for (int i = 0; i < 100; ++i)
    shortLoop.run(team, 2);
  EXPECT_FALSE(shortLoop.wasHelped);
  EXPECT_TRUE(shortLoop.hasRun(200));
  CountedLoop alone(64, std::chrono::milliseconds(1));
  alone.run(team, 1);
  EXPECT_FALSE(alone.wasHelped);
  team.release();
}

TEST(ThreadTeam, CallersHaveTeamsOfTheirOwn) {
  ThreadTeam *first = &ThreadTeam::acquire(2);
  ThreadTeam *second = &ThreadTeam::acquire(2);
  EXPECT_NE(first, second);
  first->release();
  ThreadTeam *again = &ThreadTeam::acquire(2);
  EXPECT_EQ(again, first);
  again->release();
  second->release();

  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([] { expectEachIterationOnce(3); });
  for (std::thread &each : callers)
    each.join();
}

/// A failed assertion ends a run by a long jump.
TEST(ThreadTeam, RunsAgainAfterALongJump) {
  ThreadTeam &team = ThreadTeam::acquire(2);
  for (int i = 0; i < 4; ++i) {
    CountedLoop loop(64, std::chrono::microseconds(100));
    // The caller runs the first iteration.
    loop.jumpsAt = 0;
    if (setjmp(loop.target) == 0)
      loop.run(team, 2);
    team.release();
    ASSERT_EQ(&team, &ThreadTeam::acquire(2));
  }
  CountedLoop loop(64, std::chrono::microseconds(100));
  for (int i = 0; i < 4; ++i)
    loop.run(team, 2);
  EXPECT_TRUE(loop.hasRun(4));
  team.release();
}

TEST(ThreadTeam, ChildProcessMakesTeams) {
  ThreadTeam &team = ThreadTeam::acquire(2);
  CountedLoop loop(64, std::chrono::microseconds(200));
  loop.run(team, 2);
  team.release();
  pid_t child = fork();
  if (child == 0) {
    alarm(90);
    ThreadTeam &made = ThreadTeam::acquire(2);
    CountedLoop inChild(64, std::chrono::microseconds(200));
    int times = inChild.runUntilHelped(made, 2);
    _exit(&made != &team && inChild.hasRun(times) && inChild.wasHelped ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

constexpr int64_t kWindow = SharingMonitor::kWindowNanoseconds;

TEST(SharingMonitor, SharesWhileItIsFaster) {
  SharingMonitor monitor;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(monitor.isSharing());
    monitor.add(kWindow, kWindow * 6 / 10);
  }
}

TEST(SharingMonitor, SharesEverLessOftenWhileItIsSlower) {
  SharingMonitor monitor;
  std::vector<unsigned> alone;
  for (int shared = 0; shared < 8; ++shared) {
    monitor.add(kWindow, 3 * kWindow);
    for (alone.push_back(0); !monitor.isSharing(); ++alone.back())
      monitor.add(kWindow, kWindow * 15 / 10);
  }
  EXPECT_EQ(alone, (std::vector<unsigned>{4, 8, 16, 32, 64, 128, 128, 128}));
  // Without other load it shares again, and restarts with few windows.
  monitor.add(kWindow, kWindow / 2);
  EXPECT_TRUE(monitor.isSharing());
  monitor.add(kWindow, 3 * kWindow);
  for (unsigned i = 0; i < SharingMonitor::kLeastWindows; ++i) {
    EXPECT_FALSE(monitor.isSharing());
    monitor.add(kWindow, kWindow);
  }
  EXPECT_TRUE(monitor.isSharing());
}

/// On a loaded machine, two threads may get more processor time than one.
TEST(SharingMonitor, SharesIfOneThreadIsSlower) {
  SharingMonitor monitor;
  monitor.add(kWindow, kWindow * 13 / 10);
  while (!monitor.isSharing())
    monitor.add(kWindow, kWindow * 15 / 10);
  for (int i = 0; i < 10; ++i) {
    monitor.add(kWindow, kWindow * 13 / 10);
    EXPECT_TRUE(monitor.isSharing());
  }
}

TEST(SharingMonitor, EndsASlowWindowEarly) {
  SharingMonitor monitor;
  monitor.add(1, 2 * kWindow - 1);
  EXPECT_TRUE(monitor.isSharing());
  monitor.add(1, 1);
  EXPECT_FALSE(monitor.isSharing());
}

} // namespace
