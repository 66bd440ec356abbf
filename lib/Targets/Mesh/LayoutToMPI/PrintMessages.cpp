//===- PrintMessages.cpp - Print the messages of a mesh -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the plan of every conversion between two distributions on a mesh, as
// text or JSON. A conversion that only changes the local layout of devices
// sends nothing and is skipped.
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/Printing.h"
#include "layout/Interfaces/MeshLoops.h"
#include "layout/Support/EmittedText.h"
#include "layout/Support/Places.h"
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h"
#include "layout/Targets/Mesh/ReshardPlan.h"
#include "llvm/Support/JSON.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PRINTMESSAGESPASS
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
/// A layout.convert between two distributions over a mesh, and its plan of
/// messages, which the pass prints as a list or as a JSON object. `type` is the
/// type of the result.
struct Row {
  Location loc;
  RankedTensorType type;
  ReshardPlan plan;
};
} // namespace

static bool isOnMesh(RankedTensorType type) {
  FailureOr<LayoutMap> map = getLayoutMap(type);
  return succeeded(map) && map->getSpace() == kMeshSpace;
}

/// Returns the plans of all conversions between distributions, except those
/// that only convert the blocks of each device. At the first conversion without
/// a plan, emits an error and fails.
static FailureOr<std::vector<Row>> findPlans(Operation *root,
                                             const ReshardOptions &options) {
  std::vector<Row> rows;
  WalkResult walked = root->walk([&](ConvertOp convert) {
    RankedTensorType from = convert.getSource().getType();
    RankedTensorType to = convert.getResult().getType();
    if (!isOnMesh(from) || !isOnMesh(to) ||
        (from != to && convertsBlocks(from, to)))
      return WalkResult::advance();
    FailureOr<ReshardPlan> plan =
        ReshardPlan::get(from, to, options, [&](const Twine &why) {
          convert.emitOpError() << "has no plan of messages: " << why;
        });
    if (failed(plan))
      return WalkResult::interrupt();
    rows.push_back({convert.getLoc(), to, std::move(*plan)});
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  return rows;
}

static void printNumbers(llvm::json::OStream &json, StringRef name,
                         ArrayRef<int64_t> numbers) {
  json.attributeArray(name, [&] {
    for (int64_t number : numbers)
      json.value(number);
  });
}

static void printMessages(llvm::json::OStream &json, StringRef name,
                          ArrayRef<Message> messages) {
  json.attributeArray(name, [&] {
    for (const Message &message : messages)
      json.object([&] {
        json.attribute("phase", message.phase);
        json.attribute("round", message.round);
        json.attribute("step", message.step);
        json.attribute("from", message.from);
        json.attribute("to", message.to);
        json.attributeArray("boxes", [&] {
          for (const MessageBox &box : message.boxes)
            json.object([&] {
              printNumbers(json, "offsets", box.offsets);
              printNumbers(json, "sizes", box.sizes);
              printNumbers(json, "from_offsets", box.fromOffsets);
              printNumbers(json, "to_offsets", box.toOffsets);
            });
        });
      });
  });
}

static void printJson(ArrayRef<Row> rows, raw_ostream &os) {
  llvm::json::OStream json(os);
  json.array([&] {
    for (const Row &row : rows)
      json.object([&] {
        const ReshardPlan &plan = row.plan;
        json.attribute("location", toUtf8(printPlace(row.loc)));
        json.attribute("shape", printShape(row.type));
        json.attribute("devices", plan.numDevices);
        json.attribute("element_bytes", plan.elementBytes);
        json.attribute("reduction",
                       plan.reduction ? getName(*plan.reduction) : StringRef());
        printNumbers(json, "relabeling", plan.relabeling);
        json.attribute("bytes_sent", plan.bytesSent);
        json.attribute("bytes_bound", plan.bytesBound);
        json.attribute("rounds", plan.numRounds);
        json.attribute("peak_extra_bytes", plan.peakExtraBytes);
        printMessages(json, "copies", plan.copies);
        printMessages(json, "messages", plan.messages);
      });
  });
  os << '\n';
}

static void printText(ArrayRef<Row> rows, raw_ostream &os) {
  for (const Row &row : rows) {
    os << "conversion of " << printShape(row.type) << " at "
       << printPlace(row.loc) << ": ";
    row.plan.print(os);
  }
}

namespace {
struct PrintMessagesPass
    : layout::impl::PrintMessagesPassBase<PrintMessagesPass> {
  using PrintMessagesPassBase::PrintMessagesPassBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    markAllAnalysesPreserved();
    if (maxExtraBytes < 0) {
      root->emitError() << "the option 'max-extra-bytes' is "
                        << maxExtraBytes.getValue()
                        << ": it must be at least 0";
      return signalPassFailure();
    }
    ReshardOptions options;
    options.relabel = relabel;
    if (maxExtraBytes)
      options.maxExtraBytes = maxExtraBytes;
    FailureOr<std::vector<Row>> rows = findPlans(root, options);
    if (failed(rows) || failed(printToFile(root, output, [&](raw_ostream &os) {
          if (format == CostFormat::json)
            printJson(*rows, os);
          else
            printText(*rows, os);
        })))
      signalPassFailure();
  }
};
} // namespace
