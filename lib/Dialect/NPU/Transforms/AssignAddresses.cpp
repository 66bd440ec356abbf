//===- AssignAddresses.cpp - Places for tensors of local memory -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"
#include "layout/Dialect/NPU/Utils/Placement.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"

namespace mlir::npu {
#define GEN_PASS_DEF_NPUASSIGNADDRESSESPASS
#include "layout/Dialect/NPU/Transforms/Passes.h.inc"
} // namespace mlir::npu

using namespace mlir;
using namespace mlir::npu;

namespace {
/// The tensors of one function.
class Assigner {
public:
  explicit Assigner(func::FuncOp function) : function(function) {}

  LogicalResult run();

private:
  LogicalResult collect();
  LogicalResult addBlock(AllocOp alloc, int64_t begin, int64_t end);
  LogicalResult reportTooLarge(const Placement &bound);
  void report(const Placement &placement);

  func::FuncOp function;
  SmallVector<AllocOp> allocs;
  std::vector<PlacedBlock> blocks;
  ChipAttr chip;
};
} // namespace

/// Ops are times; a tensor lives to its npu.dealloc, or to the end.
LogicalResult Assigner::collect() {
  if (function.getBody().empty())
    return success();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "has several blocks: npu-assign-addresses orders the life of "
              "tensors by one";
  Block &block = function.getBody().front();
  DenseMap<Operation *, int64_t> ends;
  int64_t time = 0;
  WalkResult walked = function.walk([&](AllocOp alloc) {
    if (alloc->getBlock() == &block)
      return WalkResult::advance();
    alloc.emitOpError() << "stands in a region: npu-assign-addresses orders "
                           "the life of tensors in the function's block";
    return WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    return failure();
  DenseMap<Operation *, int64_t> times;
  for (Operation &op : block)
    times[&op] = time++;
  for (Operation &op : block)
    if (auto dealloc = dyn_cast<DeallocOp>(op))
      ends[dealloc.getMemref().getDefiningOp()] = times[&op];
  for (AllocOp alloc : block.getOps<AllocOp>())
    if (failed(addBlock(alloc, times[alloc],
                        ends.count(alloc) ? ends[alloc] : time)))
      return failure();
  return success();
}

LogicalResult Assigner::addBlock(AllocOp alloc, int64_t begin, int64_t end) {
  MemRefType type = alloc.getMemref().getType();
  FailureOr<Storage> storage =
      getStorage(type, [&] { return alloc.emitOpError(); });
  if (failed(storage))
    return failure();
  if (!chip)
    chip = storage->target;
  if (chip != storage->target)
    return alloc.emitOpError()
           << "is on " << storage->target
           << ", another tensor of the function on " << chip;
  PlacedBlock block;
  block.begin = begin;
  block.end = end;
  block.size = getReservedBytes(*storage, type.getShape());
  block.place = alloc.getByte();
  block.limit = chip.getBytesPerNpu();
  int64_t first = 0;
  if (std::optional<uint64_t> bank = alloc.getBank()) {
    first = int64_t(*bank) * *chip.getBankBytes();
    // The tensor begins in the bank; it may end in a later one.
    block.limit =
        std::min(*block.limit, first + *chip.getBankBytes() - 1 + block.size);
  }
  int64_t start = getStartUnit(*storage) * chip.getBytesPerNpu();
  int64_t step = getAlignment(*storage);
  int64_t alignment = int64_t(alloc.getAlignment().value_or(1));
  block.fit = [=](int64_t least) {
    least = std::max(least, first);
    // Addresses have the layout's alignment, bytes the op's.
    int64_t byte = (start + least + step - 1) / step * step - start;
    for (int64_t tried = 0; byte % alignment != 0 && tried < alignment; ++tried)
      byte += step;
    return byte;
  };
  allocs.push_back(alloc);
  blocks.push_back(std::move(block));
  return success();
}

/// Too many bytes live at one time: no place would help.
LogicalResult Assigner::reportTooLarge(const Placement &bound) {
  int64_t time = bound.lowerBoundAt;
  for (auto [alloc, block] : llvm::zip_equal(allocs, blocks)) {
    if (block.begin != time)
      continue;
    InFlightDiagnostic diag = alloc.emitOpError();
    diag << "does not fit: the tensors that live here take " << bound.lowerBound
         << " bytes of every unit, which has " << chip.getBytesPerNpu() << "; "
         << bound.lowerBound - chip.getBytesPerNpu() << " are too many";
    for (auto [other, live] : llvm::zip_equal(allocs, blocks))
      if (live.begin <= time && time < live.end)
        diag.attachNote(other.getLoc()) << live.size << " bytes of them";
    return diag;
  }
  llvm_unreachable("the bound is met where a tensor begins");
}

void Assigner::report(const Placement &placement) {
  remark::analysis(function.getLoc(), remark::RemarkOpts::name("LocalMemory")
                                          .category("npu")
                                          .function(function.getName()))
      << "addresses assigned"
      << remark::metric("Tensors", int64_t(allocs.size()))
      << remark::metric("PeakBytes", placement.peak)
      << remark::metric("LowerBound", placement.lowerBound)
      << remark::metric("BytesPerUnit", chip.getBytesPerNpu());
}

LogicalResult Assigner::run() {
  if (failed(collect()))
    return failure();
  if (allocs.empty())
    return success();
  Placement bound = boundBlocks(blocks);
  if (bound.lowerBound > chip.getBytesPerNpu())
    return reportTooLarge(bound);
  std::optional<Placement> placement = placeBlocks(blocks);
  if (!placement)
    return function.emitOpError()
           << "has no place for its tensors that was found: at most "
           << bound.lowerBound << " of the " << chip.getBytesPerNpu()
           << " bytes of a unit live at one time, but fixed addresses, banks "
              "or alignments leave holes";
  Builder builder(function.getContext());
  for (auto [alloc, place] : llvm::zip_equal(allocs, placement->places)) {
    auto scatter =
        cast<layout::NpuScatterAttr>(alloc.getMemref().getType().getLayout());
    alloc.setAddressAttr(builder.getI64IntegerAttr(
        scatter.getStart() * chip.getBytesPerNpu() + place));
  }
  report(*placement);
  return verifyMemory(function, /*exactBytes=*/false);
}

namespace {
struct NPUAssignAddressesPass
    : public npu::impl::NPUAssignAddressesPassBase<NPUAssignAddressesPass> {
  void runOnOperation() override {
    if (failed(Assigner(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
