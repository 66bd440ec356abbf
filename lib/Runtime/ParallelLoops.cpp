//===- ParallelLoops.cpp - The runtime of parallel loops ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParallelLoops.h"
#include "Assertions.h"
#include "ThreadTeam.h"
#include "llvm/Support/DynamicLibrary.h"
#include <cstdarg>
#include <dlfcn.h>
#include <mutex>
#include <optional>
#include <string>

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// LLVM's OpenMP library
//===----------------------------------------------------------------------===//

// omp.h is part of clang, not of the system.
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int);

unsigned layout::getDefaultThreads() {
  // Read once, before LoopThreads changes the number.
  static const unsigned number = omp_get_max_threads();
  return number;
}

bool layout::publishOpenMP() {
  Dl_info info;
  return dladdr(reinterpret_cast<void *>(&omp_get_max_threads), &info) &&
         !llvm::sys::DynamicLibrary::LoadLibraryPermanently(info.dli_fname);
}

/// Returns true if `op` has operands or attributes other than operand segment
/// sizes.
static bool hasClauses(Operation *op) {
  return op->getNumOperands() ||
         llvm::any_of(op->getAttrDictionary(), [](NamedAttribute each) {
           return each.getName() != "operandSegmentSizes";
         });
}

/// Returns the only op besides a terminator in the only block of `op`. Returns
/// nullptr if there are more regions, blocks or ops, or if its name is not
/// `name`.
static Operation *getOnlyOp(Operation *op, StringRef name) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return nullptr;
  Block &block = op->getRegion(0).front();
  Operation *first = &block.front();
  bool isOnly = first == &block.back() || first->getNextNode() == &block.back();
  return isOnly && first->getName().getStringRef() == name ? first : nullptr;
}

/// Returns true if `op` is `omp.parallel { omp.wsloop { omp.loop_nest .. } }`
/// with i64 loop bounds and without clauses.
static bool isOneLoop(Operation *op) {
  // Compare op names, because the header of the OpenMP dialect takes a minute
  // to compile.
  if (op->getName().getStringRef() != "omp.parallel" || hasClauses(op))
    return false;
  Operation *loop = getOnlyOp(op, "omp.wsloop");
  Operation *nest = loop ? getOnlyOp(loop, "omp.loop_nest") : nullptr;
  return nest && !hasClauses(loop) &&
         llvm::all_of(nest->getOperandTypes(),
                      [](Type type) { return type.isInteger(64); });
}

/// Returns true if `op`, an op of the OpenMP dialect, is a parallel region that
/// consists of one loop without clauses, or one of the ops inside of such a
/// region. omp.loop_nest, omp.yield and omp.terminator count in any region,
/// because the op around them is checked, too.
static bool isOfOneLoop(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "omp.yield" || name == "omp.terminator" ||
         name == "omp.loop_nest" || isOneLoop(op) ||
         (name == "omp.wsloop" && isOneLoop(op->getParentOp()));
}

LoopRuntime layout::findLoopRuntime(ModuleOp module) {
  auto runtime = LoopRuntime::none;
  module.walk([&](Operation *op) {
    if (!op->getName().getStringRef().starts_with("omp."))
      return WalkResult::advance();
    bool isKnown = isOfOneLoop(op);
    runtime = isKnown ? LoopRuntime::team : LoopRuntime::openMP;
    return isKnown ? WalkResult::advance() : WalkResult::interrupt();
  });
  return runtime;
}

//===----------------------------------------------------------------------===//
// Loops of a team
//===----------------------------------------------------------------------===//

namespace {
/// The type of an outlined region. The arguments are the global and the local
/// thread number and the captured pointer.
using RegionFunction = void (*)(int32_t *, int32_t *, void *);

struct RunningRegion {
  RegionFunction function;
  void *captures;
  /// The message of an assertion that failed in any thread, or std::nullopt.
  std::optional<std::string> message;
  std::mutex mutex; // guards `message`
};

/// The state of a thread that runs compiled code: the team for its parallel
/// loops, or nullptr; the maximum number of threads for a loop; and the parts
/// of a loop that the thread is running, or nullptr outside of loops.
struct Caller {
  ThreadTeam *team = nullptr;
  unsigned threads = 1;
  LoopParts *parts = nullptr;
};
} // namespace

static thread_local Caller caller;

static void runParts(void *context, LoopParts &parts) {
  auto &region = *static_cast<RunningRegion *>(context);
  caller.parts = &parts;
  int32_t number = 0;
  auto call = [&] { region.function(&number, &number, region.captures); };
  if (!callGuarded(call)) {
    std::lock_guard<std::mutex> locked(region.mutex);
    region.message = getLastMessage().str();
  }
  caller.parts = nullptr;
}

/// Implements __kmpc_fork_call of OpenMP: runs the parallel region `function`
/// on the team of the calling thread, or on this thread alone if it has no team
/// or is inside a parallel loop. `captured`, the number of pointers that the
/// region captures, is 0 or 1.
static void forkCall(void *, int32_t captured, RegionFunction function, ...) {
  va_list captures;
  va_start(captures, function);
  RunningRegion region;
  region.function = function;
  region.captures = captured ? va_arg(captures, void *) : nullptr;
  va_end(captures);
  if (!caller.team || caller.parts) {
    // The region is nested in a parallel loop, or its thread has no team.
    LoopParts all{0, 1, 1}, *outer = caller.parts;
    caller.parts = &all;
    int32_t number = 0;
    function(&number, &number, region.captures);
    caller.parts = outer;
    return;
  }
  caller.team->run(runParts, &region, reinterpret_cast<const void *>(function),
                   caller.threads);
  if (!region.message)
    return;
  putsOfModule(region.message->c_str());
  region.message.reset(); // the jump runs no destructors
  abortOfModule();
}

/// Implements __kmpc_for_static_init_8u of OpenMP: narrows `lower` and `upper`,
/// the first and last iteration of a loop, to the iterations that this thread
/// runs now. If these are none, `upper` is `lower` - 1. Sets `isLast` to
/// whether they include the last one, and `stride` to the number of all
/// iterations.
static void startLoop(void *, int32_t, int32_t, int32_t *isLast,
                      uint64_t *lower, uint64_t *upper, int64_t *stride,
                      int64_t, int64_t) {
  LoopParts &parts = *caller.parts;
  uint64_t trips = *upper - *lower + 1, first = *lower;
  if (!parts.count)
    caller.team->start(trips, parts);
  *lower = first + trips * parts.begin / parts.count;
  *upper = first + trips * parts.end / parts.count - 1;
  *isLast = parts.end == parts.count;
  *stride = trips;
}

static int32_t getThreadNumber(void *) { return 0; }
static void endLoop(void *, int32_t) {}

ArrayRef<std::pair<StringRef, void *>> layout::getTeamFunctions() {
  static const std::pair<StringRef, void *> functions[] = {
      {"__kmpc_fork_call", reinterpret_cast<void *>(forkCall)},
      {"__kmpc_for_static_init_8u", reinterpret_cast<void *>(startLoop)},
      {"__kmpc_for_static_fini", reinterpret_cast<void *>(endLoop)},
      {"__kmpc_global_thread_num", reinterpret_cast<void *>(getThreadNumber)},
      // The barrier after a loop that ends its region.
      {"__kmpc_barrier", reinterpret_cast<void *>(endLoop)}};
  return functions;
}

LoopThreads::LoopThreads(LoopRuntime runtime, unsigned threads) {
  if (runtime == LoopRuntime::openMP)
    omp_set_num_threads(threads);
  if (runtime != LoopRuntime::team || threads == 1)
    return;
  team = &ThreadTeam::acquire(threads);
  caller = {team, threads};
}

LoopThreads::~LoopThreads() {
  if (!team)
    return;
  caller = {};
  team->release();
}
