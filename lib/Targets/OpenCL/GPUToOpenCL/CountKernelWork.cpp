//===- CountKernelWork.cpp - Count the work of kernels --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/OpCountEstimate.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/KernelMetadata.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Storage.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::layout {
#define GEN_PASS_DEF_COUNTKERNELWORKPASS
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
/// The work-group size along x, y and z; -1: unknown.
using Group = std::array<int64_t, 3>;
} // namespace

/// Returns the work-group size that the kernel states or all its launches have;
/// -1 along a dimension in which they differ or are not constant, or if there
/// are no launches.
static Group findGroup(gpu::GPUFuncOp kernel, ModuleOp launches) {
  if (std::optional<ArrayRef<int32_t>> known = kernel.getKnownBlockSize())
    return {(*known)[0], (*known)[1], (*known)[2]};
  std::optional<Group> group;
  launches.walk([&](gpu::LaunchFuncOp launch) {
    if (launch.getKernelName() != kernel.getName() ||
        launch.getKernelModuleName() !=
            kernel->getParentOfType<gpu::GPUModuleOp>().getName())
      return;
    gpu::KernelDim3 items = launch.getBlockSizeOperandValues();
    Group own{getConstantIntValue(items.x).value_or(-1),
              getConstantIntValue(items.y).value_or(-1),
              getConstantIntValue(items.z).value_or(-1)};
    if (!group)
      group = own;
    for (auto [count, other] : llvm::zip_equal(*group, own))
      count = count == other ? count : -1;
  });
  return group.value_or(Group{-1, -1, -1});
}

static bool isZero(Value value) { return getConstantIntValue(value) == 0; }

/// Returns how many work-items of a work-group share the executions of the
/// regions of `op`. These are the n along a dimension if `op` is a loop from
/// the id along it by steps of n, or a branch that only id 0 enters; else 1.
static int64_t countSharing(Operation *op, const Group &group) {
  auto itemsAlong = [&](Value value) -> int64_t {
    auto id = value.getDefiningOp<gpu::ThreadIdOp>();
    return id ? group[static_cast<unsigned>(id.getDimension())] : 1;
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    int64_t items = itemsAlong(loop.getLowerBound());
    return getConstantIntValue(loop.getStep()) == items ? items : 1;
  }
  auto branch = dyn_cast<scf::IfOp>(op);
  auto compared = branch ? branch.getCondition().getDefiningOp<arith::CmpIOp>()
                         : arith::CmpIOp();
  return compared && compared.getPredicate() == arith::CmpIPredicate::eq &&
                 isZero(compared.getRhs())
             ? itemsAlong(compared.getLhs())
             : 1;
}

/// Returns how often the regions of `op` run, summed over all work-items of a
/// work-group, if `op` itself runs `times` times in this sum. Returns
/// std::nullopt if that is unknown.
static std::optional<int64_t> countTimes(Operation *op, int64_t times,
                                         const Group &group) {
  int64_t sharing = countSharing(op, group);
  if (sharing < 1 || times % sharing)
    return std::nullopt;
  auto loop = dyn_cast<scf::ForOp>(op);
  std::optional<int64_t> trips = sharing > 1 && loop
                                     ? getConstantIntValue(loop.getUpperBound())
                                     : countTrips(op);
  if (!trips)
    return std::nullopt;
  return times / sharing * *trips;
}

/// Returns the bytes moved by a load or store of device memory, else 0.
static int64_t countBytes(Operation *op) {
  Value memory, value;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    memory = load.getMemRef();
    value = load;
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    memory = store.getMemRef();
    value = store.getValueToStore();
  }
  if (!memory || isGroupMemory(cast<BaseMemRefType>(memory.getType())))
    return 0;
  Type type = value.getType();
  auto vector = dyn_cast<VectorType>(type);
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8 *
         (vector ? vector.getNumElements() : 1);
}

/// Returns the number of work-items along x, y and z that compute: the constant
/// bounds of global ids in the conditions of scf.if ops that contain all memory
/// accesses and regions of the kernel. Along a dimension without such a bound,
/// returns -1: all may compute.
static Group findItems(gpu::GPUFuncOp kernel) {
  Group items{-1, -1, -1};
  Block *block = &kernel.getBody().front();
  while (true) {
    // All work must be in one branch, else there are no such bounds.
    scf::IfOp guard;
    for (Operation &op : *block)
      if (op.getNumRegions() || isa<memref::LoadOp, memref::StoreOp>(op)) {
        if (guard || !isa<scf::IfOp>(op) || op.getNumResults())
          return items;
        guard = cast<scf::IfOp>(op);
      }
    if (!guard || guard.elseBlock())
      return items;
    SmallVector<Value> conditions{guard.getCondition()};
    while (!conditions.empty()) {
      Value condition = conditions.pop_back_val();
      if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
        conditions.append({both.getLhs(), both.getRhs()});
        continue;
      }
      auto compared = condition.getDefiningOp<arith::CmpIOp>();
      auto id = compared ? compared.getLhs().getDefiningOp<gpu::GlobalIdOp>()
                         : gpu::GlobalIdOp();
      std::optional<int64_t> bound =
          id ? getConstantIntValue(compared.getRhs()) : std::nullopt;
      if (bound && *bound >= 0 &&
          compared.getPredicate() == arith::CmpIPredicate::ult) {
        int64_t &least = items[static_cast<unsigned>(id.getDimension())];
        least = least < 0 ? *bound : std::min(least, *bound);
      }
    }
    block = guard.thenBlock();
  }
}

static void countWork(gpu::GPUFuncOp kernel, ModuleOp launches) {
  Group group{1, 1, 1};
  if (seesGroups(kernel))
    group = findGroup(kernel, launches);
  int64_t items = 1;
  for (int64_t count : group)
    if (count < 1 || llvm::MulOverflow(items, count, items))
      return;
  auto getTimes = [&](Operation *op, int64_t times) -> std::optional<int64_t> {
    return isa<gpu::GPUFuncOp>(op) ? times : countTimes(op, times, group);
  };
  Builder b(kernel.getContext());
  auto set = [&](StringRef name, std::optional<int64_t> count) {
    if (count)
      kernel->setAttr(name, b.getI64IntegerAttr(*count));
  };
  set(kOperationsAttrName, sumOverTrips(kernel, items, countResults, getTimes));
  set(kBytesAttrName, sumOverTrips(kernel, items, countBytes, getTimes));
  Group bounds = findItems(kernel);
  if (llvm::any_of(bounds, [](int64_t bound) { return bound >= 0; }))
    kernel->setAttr(kItemsAttrName, b.getDenseI64ArrayAttr(bounds));
}

namespace {
struct CountKernelWork
    : layout::impl::CountKernelWorkPassBase<CountKernelWork> {
  void runOnOperation() override {
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      for (auto kernel : module.getOps<gpu::GPUFuncOp>())
        countWork(kernel, getOperation());
  }
};
} // namespace
