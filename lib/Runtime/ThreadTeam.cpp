//===- ThreadTeam.cpp - Threads that share parallel loops -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadTeam.h"
#include "llvm/ADT/Hashing.h"
#include <algorithm>
#include <chrono>
#include <pthread.h>

using namespace mlir;
using namespace mlir::layout;

/// The time in nanoseconds that a helper thread polls for parts of a loop
/// before it sleeps.
static constexpr int64_t kSpinNanoseconds = 50'000;
/// The number of times that the calling thread, which has run out of parts of a
/// loop, polls whether helper threads have finished theirs, before it sleeps.
static constexpr unsigned kSpinsOfCaller = 2000;
/// The time of the shortest loop that is divided among threads, as a multiple
/// of `handover`, the measured time to hand work to another thread. Most of the
/// time of such a loop is the transfer of cache lines that another core wrote.
static constexpr int64_t kHandoversPerLoop = 40;
/// The lower bound of `leastShared`, the time of the shortest loop that is
/// divided among threads, in nanoseconds.
static constexpr int64_t kLeastShared = 5'000;
/// The upper bound of `leastShared`, the time of the shortest loop that is
/// divided among threads, in nanoseconds.
static constexpr int64_t kMostShared = 50'000;
/// The number of times that the handover of work to a helper thread is
/// measured; the shortest time counts.
static constexpr unsigned kHandovers = 64;
/// The time limit, in nanoseconds, of one attempt to measure the handover of
/// work to a helper thread.
static constexpr int64_t kMeasuringNanoseconds = 200'000;
/// Sleeping helper threads are woken when the loops that ran on the calling
/// thread alone because of their sleep took this many times `leastShared` in
/// sum. Only loops of at least `leastShared`, the time of the shortest loop
/// that is divided among threads, count.
static constexpr int64_t kWakeFactor = 4;
/// The expected time in nanoseconds of the parts of a loop that a thread claims
/// at once. If a single part takes longer, one part is claimed.
static constexpr int64_t kClaimNanoseconds = 2'000;
/// The number of parts per thread that a loop is divided into, unless it has
/// fewer iterations.
static constexpr uint64_t kPartsPerThread = 16;
/// The number of entries in the table of the times of loops, a power of two.
static constexpr size_t kKnownLoops = 1024;

static int64_t readClock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

//===----------------------------------------------------------------------===//
// Free teams
//===----------------------------------------------------------------------===//

namespace {
struct FreeTeams {
  std::mutex mutex;
  std::vector<ThreadTeam *> teams;
};
} // namespace

/// Returns the teams of threads that no loops reserve. The list is never
/// destroyed because the helpers run until the process ends.
static FreeTeams &getFreeTeams() {
  static FreeTeams &free = *[] {
    auto *made = new FreeTeams;
    // A child process copies the memory of helpers, but not their threads.
    pthread_atfork([] { getFreeTeams().mutex.lock(); },
                   [] { getFreeTeams().mutex.unlock(); },
                   [] {
                     getFreeTeams().teams.clear();
                     getFreeTeams().mutex.unlock();
                   });
    return made;
  }();
  return free;
}

ThreadTeam &ThreadTeam::acquire(unsigned threads) {
  FreeTeams &free = getFreeTeams();
  {
    std::lock_guard<std::mutex> lock(free.mutex);
    // Prefer the smallest team, which has the fastest handovers.
    ThreadTeam **best = nullptr;
    for (ThreadTeam *&team : free.teams)
      if (team->slices.size() >= threads &&
          (!best || team->slices.size() < (*best)->slices.size()))
        best = &team;
    if (best) {
      ThreadTeam *team = *best;
      free.teams.erase(free.teams.begin() + (best - free.teams.data()));
      return *team;
    }
  }
  return *new ThreadTeam(threads);
}

void ThreadTeam::release() {
  if (isShared) {
    // The caller has left the loop: claim its remaining parts, so that no
    // helper begins another.
    LoopParts parts;
    for (unsigned slice = 0; slice < slices.size(); ++slice)
      while (claim(slice, /*fromFront=*/true, parts))
        claimedByCaller += parts.end - parts.begin;
    finishShared();
  }
  FreeTeams &free = getFreeTeams();
  std::lock_guard<std::mutex> lock(free.mutex);
  free.teams.push_back(this);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

static uint64_t pack(uint32_t number, unsigned begin, unsigned end) {
  return static_cast<uint64_t>(number) << 32 | begin << 16 | end;
}
static unsigned getBegin(uint64_t word) { return word >> 16 & 0xffff; }
static unsigned getEnd(uint64_t word) { return word & 0xffff; }
static bool hasParts(const std::atomic<uint64_t> &word) {
  uint64_t read = word.load(std::memory_order_acquire);
  return getBegin(read) < getEnd(read);
}

void ThreadTeam::publish(unsigned self, unsigned begin, unsigned end) {
  slices[self].word.store(pack(number, begin, end));
}

/// Claims parts of the current loop, at most `partsPerClaim`, from the front or
/// the back of the parts that remain to thread `slice`, and sets `parts` to
/// them. Returns false if none remain. The word of a slice contains the number
/// of its loop, so parts of an earlier loop cannot be claimed by mistake.
bool ThreadTeam::claim(unsigned slice, bool fromFront, LoopParts &parts) {
  std::atomic<uint64_t> &word = slices[slice].word;
  unsigned wanted = partsPerClaim.load(std::memory_order_relaxed);
  uint64_t read = word.load(std::memory_order_acquire);
  for (;;) {
    unsigned begin = getBegin(read), end = getEnd(read);
    if (begin >= end)
      return false;
    unsigned taken = std::min(wanted, end - begin);
    uint64_t rest = pack(read >> 32, fromFront ? begin + taken : begin,
                         fromFront ? end : end - taken);
    if (!word.compare_exchange_weak(read, rest, std::memory_order_acq_rel))
      continue;
    parts.begin = fromFront ? begin : end - taken;
    parts.end = parts.begin + taken;
    return true;
  }
}

/// Runs the parts in the slice of thread `self`, then those in the slices of
/// other threads, until all slices are empty. `claimed` counts the parts that
/// this thread has claimed, before it runs them, so it is exact also if a body
/// leaves by a long jump.
void ThreadTeam::runSlices(unsigned self, unsigned &claimed) {
  unsigned threads = sharers.load(std::memory_order_relaxed);
  LoopParts parts;
  for (unsigned step = 0; step < threads; ++step)
    while (claim((self + step) % threads, /*fromFront=*/step == 0, parts)) {
      claimed += parts.end - parts.begin;
      parts.count = count;
      body(context, parts);
    }
}

/// Marks `parts` more parts as finished. Returns true if they were the last of
/// the loop, and false if others are left or `parts` is 0.
bool ThreadTeam::finish(unsigned parts) {
  return parts && unfinished.fetch_sub(parts) == parts;
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

struct ThreadTeam::Start {
  ThreadTeam *team;
  unsigned self;
};

bool ThreadTeam::addHelper(unsigned self) {
  auto *start = new Start{this, self};
  auto enter = [](void *given) -> void * {
    Start copy = *static_cast<Start *>(given);
    delete static_cast<Start *>(given);
    copy.team->help(copy.self);
    return nullptr;
  };
  pthread_t thread;
  if (pthread_create(&thread, nullptr, enter, start)) {
    delete start;
    return false;
  }
  pthread_detach(thread);
  return true;
}

void ThreadTeam::help(unsigned self) {
  int64_t last = readClock();
  for (unsigned spins = 1;; ++spins) {
    if (hasParts(slices[self].word)) {
      unsigned claimed = 0;
      runSlices(self, claimed);
      if (finish(claimed) && callerWaits.load()) {
        std::lock_guard<std::mutex> lock(mutex);
        finished.notify_one();
      }
      last = readClock();
      continue;
    }
    relax();
    if (spins % 32 || readClock() - last < kSpinNanoseconds)
      continue;
    sleep(self);
    last = readClock();
  }
}

void ThreadTeam::sleep(unsigned self) {
  Helper &helper = helpers[self];
  std::unique_lock<std::mutex> lock(helper.mutex);
  // Either this thread sees parts that are published from now on, or the
  // publisher sees that this thread is asleep: both store before they load,
  // with sequential consistency.
  helper.isAsleep.store(true);
  helper.wakeup.wait(lock, [&] {
    uint64_t read = slices[self].word.load();
    return getBegin(read) < getEnd(read);
  });
  helper.isAsleep.store(false);
}

void ThreadTeam::wake(unsigned self) {
  std::lock_guard<std::mutex> lock(helpers[self].mutex);
  helpers[self].wakeup.notify_one();
}

/// Sets `leastShared`, the time of the shortest loop that is divided among
/// threads, to 40 times the shortest time in which an awake helper thread ran
/// an empty part, clamped to 5 .. 50 microseconds. Leaves it unchanged if the
/// helper does not run in time; the next loops then measure again, 8 times at
/// most in total.
void ThreadTeam::measureHandover() {
  body = [](void *, LoopParts &) {};
  sharers.store(2);
  int64_t end = readClock() + kMeasuringNanoseconds;
  for (--measurings; handovers < kHandovers; ++handovers) {
    int64_t begin = readClock();
    unfinished.store(1);
    ++number;
    publish(1, 0, 1);
    if (helpers[1].isAsleep.load())
      wake(1);
    while (unfinished.load(std::memory_order_acquire) && readClock() < end)
      relax();
    LoopParts parts;
    if (claim(1, /*fromFront=*/true, parts)) { // the helper does not run
      finish(1);
      return;
    }
    waitForHelpers();
    handover = std::min(handover, readClock() - begin);
  }
  measurings = 0;
  leastShared =
      std::clamp(kHandoversPerLoop * handover, kLeastShared, kMostShared);
}

ThreadTeam::ThreadTeam(unsigned threads)
    : slices(threads), helpers(threads), times(kKnownLoops),
      leastShared(kHandoversPerLoop * handover) {
  while (numThreads < threads && addHelper(numThreads))
    ++numThreads;
  if (numThreads == 1)
    measurings = 0;
}

//===----------------------------------------------------------------------===//
// The caller
//===----------------------------------------------------------------------===//

void ThreadTeam::waitForHelpers() {
  for (unsigned spin = 0; spin < kSpinsOfCaller; ++spin) {
    if (!unfinished.load(std::memory_order_acquire))
      return;
    relax();
  }
  // A helper has lost its processor. Sleep, so that it can run on this one.
  callerWaits.store(true);
  {
    std::unique_lock<std::mutex> lock(mutex);
    finished.wait(lock, [&] { return !unfinished.load(); });
  }
  callerWaits.store(false);
}

/// Returns the number of threads that share a loop of `left` nanoseconds on one
/// thread. Returns 1 if the loop is too short to be divided, if recent loops on
/// several threads were slow, or if all helper threads sleep and are not worth
/// waking.
unsigned ThreadTeam::chooseSharers(int64_t left) {
  if (left < leastShared || !monitor.isSharing())
    return 1;
  missed += left;
  unsigned threads = std::min<int64_t>(mostThreads, 1 + left / leastShared);
  bool isAwake = missed >= kWakeFactor * leastShared;
  for (unsigned self = 1; self < threads && !isAwake; ++self)
    isAwake = !helpers[self].isAsleep.load(std::memory_order_relaxed);
  return isAwake ? threads : 1;
}

/// Divides the parts from `begin` on among the slices of as many threads as
/// `chooseSharers` returns for `left`, the time of these parts in nanoseconds
/// on one thread. For 1, leaves `isShared` false, and the caller runs them
/// alone.
void ThreadTeam::share(unsigned begin, int64_t left) {
  unsigned threads = chooseSharers(left), parts = count - begin;
  if (threads == 1)
    return;
  bool wakes = missed >= kWakeFactor * leastShared;
  missed = 0;
  partsPerClaim.store(std::max<int64_t>(kClaimNanoseconds * parts / left, 1),
                      std::memory_order_relaxed);
  sharers.store(threads, std::memory_order_relaxed);
  unfinished.store(parts);
  claimedByCaller = 0;
  isShared = true;
  ++number;
  for (unsigned self = 0; self < threads; ++self)
    publish(self, begin + parts * self / threads,
            begin + parts * (self + 1) / threads);
  for (unsigned self = 1; self < threads && wakes; ++self)
    if (helpers[self].isAsleep.load())
      wake(self);
}

void ThreadTeam::finishShared() {
  if (!finish(claimedByCaller))
    waitForHelpers();
  isShared = false;
}

/// Records `nanoseconds`, estimated from the last run, as the time of the
/// current loop on one thread. It counts as at most twice the previous time,
/// because the run may have been interrupted. A run on several threads reads
/// data written by other cores and therefore never raises the time.
void ThreadTeam::record(int64_t nanoseconds, bool wasShared) {
  LoopTime &time = times[key % kKnownLoops];
  if (time.key == key)
    nanoseconds = std::min(nanoseconds,
                           wasShared ? time.nanoseconds : 2 * time.nanoseconds);
  time = {key, std::max<int64_t>(nanoseconds, 1)};
}

void ThreadTeam::start(uint64_t trips, LoopParts &parts) {
  count = std::clamp<uint64_t>(
      trips, 1, mostThreads == 1 ? 1 : mostThreads * kPartsPerThread);
  key = llvm::hash_combine(identity, trips);
  const LoopTime &time = times[key % kKnownLoops];
  expected = time.key == key ? time.nanoseconds : 0;
  if (expected && count > 1)
    share(0, expected);
  if (expected && !isShared)
    count = 1;
  parts = {0, 1, count};
  // Helpers may already have claimed all parts of the caller's slice.
  if (isShared && claim(0, /*fromFront=*/true, parts))
    claimedByCaller += parts.end - parts.begin;
  else if (isShared)
    parts.end = parts.begin;
}

void ThreadTeam::run(Body body, void *context, const void *identity,
                     unsigned threads) {
  if (measurings)
    measureHandover();
  this->body = body;
  this->context = context;
  this->identity = identity;
  mostThreads = std::min(threads, numThreads);
  int64_t begin = readClock();
  LoopParts parts;
  body(context, parts);
  unsigned done = isShared ? 0 : 1;
  if (!isShared && count > 1) {
    // Estimate the time of the other parts from that of the first part.
    share(1, std::max<int64_t>(readClock() - begin, 1) * (count - 1));
    if (!isShared) {
      parts = {1, count, count};
      body(context, parts);
      done = count;
    }
  }
  bool wasShared = isShared;
  if (wasShared) {
    runSlices(0, claimedByCaller);
    done += claimedByCaller;
  }
  int64_t own = readClock() - begin;
  if (wasShared)
    finishShared();
  if (expected >= leastShared && wasShared == monitor.isSharing())
    monitor.add(expected, wasShared ? readClock() - begin : own);
  if (done)
    record(own * count / done, wasShared);
}
