//===- NpuBytes.cpp - Conversions of i8 to f32 on cores -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpuCandidates.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "layout/Dialect/NPU/IR/KernelApi.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "layout/Dialect/NPU/Utils/Commands.h"
#include "layout/Targets/NPU/NpuSeeds.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// The source or the result of a conversion of i8 to f32, and its indexing map.
struct Converted {
  RankedTensorType type;
  NpuScatterAttr layout;
  AffineMap map;
};
} // namespace

/// Returns true if okk_bdc_int8_to_fp32 commands can convert `bytes` to
/// `floats`, or if the chip or the sizes `ranges` of the loops are unknown.
static bool hasCommandsForBytes(const Converted &bytes, const Converted &floats,
                                ArrayRef<int64_t> ranges,
                                NpuTargetInterface target) {
  auto chip = dyn_cast<npu::ChipAttr>(target);
  if (!chip || ShapedType::isDynamicShape(ranges))
    return true;
  SmallVector<npu::CommandOperand> operands;
  for (const Converted *each : {&floats, &bytes}) {
    Type element = each->type.getElementType();
    FailureOr<LayoutMap> map =
        each->layout.resolve(each->type.getShape(), element, nullptr);
    if (failed(map))
      return false;
    operands.push_back({*map, SmallVector<int64_t>(each->type.getShape()),
                        each->map, getElementBytes(element)});
  }
  npu::TransferLimits limits = npu::getComputeLimits(chip);
  std::optional<std::vector<npu::Command>> commands =
      npu::planCommands(operands, ranges, limits, nullptr);
  return commands && npu::dropStrides(*commands, chip.getEuBytes(), limits,
                                      /*mayBeCompact=*/true);
}

bool NpuCandidates::isCommandOfBytes(const OpConfig &config) const {
  auto compute = dyn_cast<linalg::LinalgOp>(node.op);
  std::optional<npu::ElementFunction> function;
  if (compute)
    function = npu::getElementFunction(compute);
  if (!function || function->kind != npu::ElementFunction::FromBytes)
    return true;
  auto get = [&](bool isResult, unsigned index, LayoutId layout) {
    return Converted{
        builder.getType(isResult, index),
        dyn_cast_if_present<NpuScatterAttr>(costs.getSpelling(layout)),
        builder.getMap(isResult, index)};
  };
  unsigned source = function->arguments.front().operand;
  Converted bytes = get(false, source, config.exact.operands[source]);
  Converted floats = get(true, 0, config.exact.results.front());
  return !bytes.layout || !floats.layout ||
         hasCommandsForBytes(bytes, floats, compute.getStaticLoopRanges(),
                             chip);
}

bool layout::isDequantizedInPlace(NpuScatterAttr layout,
                                  RankedTensorType floats,
                                  NpuTargetInterface chip) {
  MLIRContext *context = floats.getContext();
  RankedTensorType bytes = floats.clone(IntegerType::get(context, 8));
  AffineMap map = AffineMap::getMultiDimIdentityMap(floats.getRank(), context);
  // int8_to_fp32 of OKKernel has work memory of the size of its result.
  bool hasWork = npu::getKernelApi(chip) == npu::KernelApi::OKKernel;
  return hasCommandsForBytes({bytes, layout, map}, {floats, layout, map},
                             floats.getShape(), chip) &&
         (hasWork ? 2 : 1) * getNpuBytes(layout, floats) +
                 getNpuBytes(layout, bytes) <=
             chip.getParams().bytesPerNpu;
}

bool NpuCandidates::acceptsInt8Operand(unsigned operand) {
  RankedTensorType type = builder.getType(/*isResult=*/false, operand);
  SmallVector<OpConfig> seeds = getSeeds();
  return !seeds.empty() && llvm::all_of(seeds, [&](const OpConfig &config) {
    auto layout = dyn_cast_if_present<NpuScatterAttr>(
        costs.getSpelling(config.exact.operands[operand]));
    return layout && isDequantizedInPlace(layout, type, chip);
  });
}

bool layout::acceptsInt8Operand(OpOperand &operand, CostModel &costs,
                                NpuTargetInterface chip) {
  NodeClass node;
  node.op = operand.getOwner();
  node.rule = getLayoutRule(node.op);
  return std::holds_alternative<LoopsRule>(node.rule) &&
         NpuCandidates(node, costs, chip)
             .acceptsInt8Operand(operand.getOperandNumber());
}
