//===- AssignAddresses.cpp - Places for tensors of local memory -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
/// The tensors of one function.
class Assigner {
public:
  explicit Assigner(func::FuncOp function) : function(function) {}

  LogicalResult run();

private:
  LogicalResult reportTooLarge(const Placement &bound);
  void report(const Placement &placement);

  func::FuncOp function;
  LiveTensors tensors;
};
} // namespace

/// Too many bytes live at one time: no place would help.
LogicalResult Assigner::reportTooLarge(const Placement &bound) {
  int64_t time = bound.lowerBoundAt;
  for (auto [alloc, block] : llvm::zip_equal(tensors.allocs, tensors.blocks)) {
    if (block.begin != time)
      continue;
    InFlightDiagnostic diag = alloc.emitOpError();
    diag << "does not fit: the tensors that live here take " << bound.lowerBound
         << " bytes of every unit, which has " << tensors.chip.getBytesPerNpu()
         << "; " << bound.lowerBound - tensors.chip.getBytesPerNpu()
         << " are too many";
    for (auto [other, live] : llvm::zip_equal(tensors.allocs, tensors.blocks))
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
      << remark::metric("Tensors", int64_t(tensors.allocs.size()))
      << remark::metric("PeakBytes", placement.peak)
      << remark::metric("LowerBound", placement.lowerBound)
      << remark::metric("BytesPerUnit", tensors.chip.getBytesPerNpu());
}

LogicalResult Assigner::run() {
  if (failed(tensors.collect(function)))
    return failure();
  if (tensors.allocs.empty())
    return success();
  Placement bound = boundBlocks(tensors.blocks);
  if (bound.lowerBound > tensors.chip.getBytesPerNpu())
    return reportTooLarge(bound);
  std::optional<Placement> placement = placeBlocks(tensors.blocks);
  if (!placement)
    return function.emitOpError()
           << "has no place for its tensors that was found: at most "
           << bound.lowerBound << " of the " << tensors.chip.getBytesPerNpu()
           << " bytes of a unit live at one time, but fixed addresses, banks "
              "or alignments leave holes";
  Builder builder(function.getContext());
  for (auto [alloc, place] :
       llvm::zip_equal(tensors.allocs, placement->places)) {
    auto scatter =
        cast<layout::NpuScatterAttr>(alloc.getMemref().getType().getLayout());
    alloc.setAddressAttr(builder.getI64IntegerAttr(
        scatter.getStart() * tensors.chip.getBytesPerNpu() + place));
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
