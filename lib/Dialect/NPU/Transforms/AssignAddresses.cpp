//===- AssignAddresses.cpp - Assign addresses in local memory -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BankCommands.h"
#include "LiveTensors.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"

namespace mlir::npu {
#define GEN_PASS_DEF_NPUASSIGNADDRESSESPASS
#include "layout/Dialect/NPU/Transforms/Passes.h.inc"
} // namespace mlir::npu

using namespace mlir;
using namespace mlir::npu;

namespace {
/// Assigns addresses to the tensors in local memory of one function.
class Assigner {
public:
  Assigner(func::FuncOp function, bool reusesHoles)
      : function(function), reusesHoles(reusesHoles), tensors(reusesHoles) {}

  LogicalResult run();

private:
  LogicalResult reportTooLarge(const AddressPlacement &bound);
  AddressPlacement avoidConflicts(const AddressPlacement &careless);
  void report(const AddressPlacement &placement);

  func::FuncOp function;
  bool reusesHoles;
  LiveTensors tensors;
  /// The bank conflicts of the final placement, those of the placement with the
  /// lowest peak that was found, and a lower bound. It is std::nullopt if the
  /// chip does not state its banks.
  struct Conflicts {
    BankConflicts left, careless, bound;
  };
  std::optional<Conflicts> conflicts;
  int64_t leastPeak = 0;
};
} // namespace

/// Emits an error and fails: the tensors that are live at `bound.lowerBoundAt`
/// need more bytes than a core has. Notes list these tensors.
LogicalResult Assigner::reportTooLarge(const AddressPlacement &bound) {
  int64_t time = bound.lowerBoundAt;
  for (auto [alloc, block] : llvm::zip_equal(tensors.allocs, tensors.blocks)) {
    if (block.begin != time)
      continue;
    InFlightDiagnostic diag = alloc.emitOpError();
    diag << "does not fit: the tensors that are live here need "
         << bound.lowerBound << " bytes of " << (reusesHoles ? "one" : "every")
         << " core, which has " << tensors.chip.getBytesPerNpu() << "; "
         << bound.lowerBound - tensors.chip.getBytesPerNpu() << " are too many";
    for (auto [other, live] : llvm::zip_equal(tensors.allocs, tensors.blocks))
      if (live.begin <= time && time < live.end)
        diag.attachNote(other.getLoc()) << live.size << " bytes of them";
    return diag;
  }
  llvm_unreachable("the bound is met where a tensor begins");
}

/// Returns the placement with the fewest bank conflicts that is found, or
/// `careless`, a placement with a low peak, if none is better. Records the
/// conflicts of both. If the chip does not state its banks, returns `careless`
/// and records no conflicts.
AddressPlacement Assigner::avoidConflicts(const AddressPlacement &careless) {
  leastPeak = careless.peak;
  std::optional<int64_t> bankBytes = tensors.chip.getBankBytes();
  if (!bankBytes)
    return careless;
  std::vector<BankCommand> commands =
      getBankCommands(function, tensors.allocs, tensors.chip);
  BankPlacer placer(tensors.blocks, commands, *bankBytes,
                    *tensors.chip.getBanks());
  AddressPlacement placement = placer.improve(careless);
  conflicts = {placer.count(placement.places), placer.count(careless.places),
               placer.getBound()};
  return placement;
}

void Assigner::report(const AddressPlacement &placement) {
  auto text = remark::analysis(function.getLoc(),
                               remark::RemarkOpts::name("LocalMemory")
                                   .category("npu")
                                   .function(function.getName()));
  text << "addresses assigned"
       << remark::metric("Tensors", int64_t(tensors.allocs.size()))
       << remark::metric("PeakBytes", placement.peak)
       << remark::metric("LeastPeak", leastPeak)
       << remark::metric("LowerBound", placement.lowerBound)
       << remark::metric("BytesPerCore", tensors.chip.getBytesPerNpu());
  if (conflicts)
    text << remark::metric("BankConflicts", conflicts->left.commands)
         << remark::metric("CarelessConflicts", conflicts->careless.commands)
         << remark::metric("ConflictBound", conflicts->bound.commands)
         << remark::metric("ConflictCycleBound", conflicts->bound.cycles)
         << remark::metric("ConflictCycles", conflicts->left.cycles);
}

LogicalResult Assigner::run() {
  if (failed(tensors.collect(function)))
    return failure();
  if (tensors.allocs.empty())
    return success();
  AddressPlacement bound = boundBlocks(tensors.blocks);
  if (bound.lowerBound > tensors.chip.getBytesPerNpu())
    return reportTooLarge(bound);
  std::optional<AddressPlacement> placement = placeBlocks(tensors.blocks);
  if (!placement && reusesHoles) {
    // Retry with tensors that own their holes, too, which may succeed if the
    // search with holes fails.
    std::vector<PlacedBlock> rows = tensors.blocks;
    for (PlacedBlock &block : rows)
      block.owned.reset();
    if (placement = placeBlocks(rows); placement)
      placement->lowerBound = bound.lowerBound;
  }
  if (!placement)
    return function.emitOpError()
           << "has tensors for which no addresses were found: at most "
           << bound.lowerBound << " of the " << tensors.chip.getBytesPerNpu()
           << " bytes of a core are live at one time, but fixed addresses, "
              "banks or alignments leave holes; use fewer banks or fixed "
              "addresses, or smaller tensors";
  placement = avoidConflicts(*placement);
  Builder builder(function.getContext());
  for (auto [alloc, place] :
       llvm::zip_equal(tensors.allocs, placement->places)) {
    auto scatter =
        cast<layout::NpuScatterAttr>(alloc.getMemref().getType().getLayout());
    alloc.setAddressAttr(builder.getI64IntegerAttr(
        scatter.getStart() * tensors.chip.getBytesPerNpu() + place));
  }
  if (reusesHoles)
    function->setAttr(kReusesHoles, builder.getUnitAttr());
  report(*placement);
  return verifyMemory(function, /*exactBytes=*/reusesHoles);
}

namespace {
struct NPUAssignAddressesPass
    : public npu::impl::NPUAssignAddressesPassBase<NPUAssignAddressesPass> {
  using NPUAssignAddressesPassBase::NPUAssignAddressesPassBase;

  void runOnOperation() override {
    if (failed(Assigner(getOperation(), reuseHoles).run()))
      signalPassFailure();
  }
};
} // namespace
