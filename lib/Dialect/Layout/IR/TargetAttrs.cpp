//===- TargetAttrs.cpp - Machine models of targets ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/ChipClock.h"
#include "layout/Support/Kernels/ByteProducts.h"

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

namespace {
/// A parameter of a target and its bounds, which are inclusive.
struct Parameter {
  StringRef name;
  int64_t value, least;
  // Keeps the product of a parameter and the bytes of a tensor within int64.
  int64_t most = 1 << 20;
};
} // namespace

static LogicalResult checkParams(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<Parameter> params) {
  for (const Parameter &param : params)
    if (param.value < param.least || param.value > param.most)
      return emitError() << "target parameter '" << param.name << "' is "
                         << param.value << ": it must be between "
                         << param.least << " and " << param.most;
  return success();
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

LogicalResult CpuTargetAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, int64_t lanes,
    std::optional<int64_t> lineBytes, int64_t stridedPercent,
    int64_t flopsPerByte, int64_t scalarPercent, int64_t maskPercent,
    int64_t assumedSize, int64_t assumedTrips,
    std::optional<int64_t> vectorBits, std::optional<int64_t> vectorRegisters,
    std::optional<int64_t> datapathBits,
    std::optional<int64_t> twoSourcePermuteBytes,
    std::optional<int64_t> dotProductBytes, std::optional<int64_t> l1Bytes,
    std::optional<int64_t> l2Bytes, std::optional<int64_t> llcBytes,
    std::optional<int64_t> l1SetStride, std::optional<int64_t> cores) {
  if (failed(checkParams(emitError, {{"lanes", lanes, 1},
                                     {"strided_percent", stridedPercent, 100},
                                     {"flops_per_byte", flopsPerByte, 1},
                                     {"scalar_percent", scalarPercent, 100},
                                     {"mask_percent", maskPercent, 100},
                                     {"assumed_size", assumedSize, 1},
                                     {"assumed_trips", assumedTrips, 1}})))
    return failure();
  constexpr int64_t mostCache = int64_t(1) << 40;
  SmallVector<Parameter> stated;
  auto add = [&](StringRef name, std::optional<int64_t> value, int64_t least,
                 int64_t most = 1 << 20) {
    if (value)
      stated.push_back({name, *value, least, most});
  };
  add("line_bytes", lineBytes, 1);
  add("vector_bits", vectorBits, 0);
  // A register tile of one result has two factors and a mask.
  add("vector_registers", vectorRegisters, 4);
  add("datapath_bits", datapathBits, 0);
  add("two_source_permute_bytes", twoSourcePermuteBytes, 0);
  if (dotProductBytes && *dotProductBytes != 0 &&
      *dotProductBytes != kWordBytes)
    return emitError() << "target parameter 'dot_product_bytes' is "
                       << *dotProductBytes << ": it must be 0 or "
                       << kWordBytes;
  add("l1_bytes", l1Bytes, 1, mostCache);
  add("l2_bytes", l2Bytes, 1, mostCache);
  add("llc_bytes", llcBytes, 1, mostCache);
  add("l1_set_stride", l1SetStride, 1, mostCache);
  add("cores", cores, 1);
  return checkParams(emitError, stated);
}

CpuModelParams CpuTargetAttr::getParams() const {
  CpuModelParams params;
  params.vectorBits = getVectorBits().value_or(params.vectorBits);
  params.vectorRegisters =
      getVectorRegisters().value_or(params.vectorRegisters);
  params.datapathBits = getDatapathBits().value_or(params.datapathBits);
  params.twoSourcePermuteBytes =
      getTwoSourcePermuteBytes().value_or(params.twoSourcePermuteBytes);
  params.dotProductBytes =
      getDotProductBytes().value_or(params.dotProductBytes);
  params.lineBytes = getLineBytes().value_or(params.lineBytes);
  params.l1Bytes = getL1Bytes().value_or(params.l1Bytes);
  params.l2Bytes = getL2Bytes().value_or(params.l2Bytes);
  params.llcBytes = getLlcBytes().value_or(params.llcBytes);
  params.l1SetStride = getL1SetStride().value_or(params.l1SetStride);
  params.cores = getCores().value_or(params.cores);
  return params;
}

CpuTargetAttr CpuTargetAttr::complete(const CpuModelParams &cpu) const {
  const CpuModelParams defaults;
  auto choose = [&](std::optional<int64_t> stated,
                    auto CpuModelParams::*param) {
    if (!stated && cpu.*param != defaults.*param)
      stated = cpu.*param;
    return stated;
  };
  return get(getContext(), getLanes(),
             choose(getLineBytes(), &CpuModelParams::lineBytes),
             getStridedPercent(), getFlopsPerByte(), getScalarPercent(),
             getMaskPercent(), getAssumedSize(), getAssumedTrips(),
             choose(getVectorBits(), &CpuModelParams::vectorBits),
             choose(getVectorRegisters(), &CpuModelParams::vectorRegisters),
             choose(getDatapathBits(), &CpuModelParams::datapathBits),
             choose(getTwoSourcePermuteBytes(),
                    &CpuModelParams::twoSourcePermuteBytes),
             choose(getDotProductBytes(), &CpuModelParams::dotProductBytes),
             choose(getL1Bytes(), &CpuModelParams::l1Bytes),
             choose(getL2Bytes(), &CpuModelParams::l2Bytes),
             choose(getLlcBytes(), &CpuModelParams::llcBytes),
             choose(getL1SetStride(), &CpuModelParams::l1SetStride),
             choose(getCores(), &CpuModelParams::cores));
}

//===----------------------------------------------------------------------===//
// OpenCL
//===----------------------------------------------------------------------===//

/// Returns true if `listed` covers `type`: a signless integer covers all
/// integers of its width, any other type only itself.
static bool standsFor(Type listed, Type type) {
  auto pattern = dyn_cast<IntegerType>(listed);
  auto integer = dyn_cast<IntegerType>(type);
  if (pattern && integer && pattern.isSignless())
    return pattern.getWidth() == integer.getWidth();
  return listed == type;
}

/// Returns true if OpenCL 1.2 has a channel type that stores values of `type`
/// unchanged.
static bool hasChannelType(Type type) {
  return type.isF32() || type.isF16() || type.isInteger(8) ||
         type.isInteger(16) || type.isInteger(32);
}

bool OpenClTargetAttr::isImageType(Type elementType) const {
  if (!getImageTypes())
    return hasChannelType(elementType);
  return llvm::any_of(
      getImageTypes().getAsValueRange<TypeAttr>(),
      [&](Type listed) { return standsFor(listed, elementType); });
}

LogicalResult OpenClTargetAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, int64_t image2dMaxWidth,
    int64_t image2dMaxHeight, int64_t image3dMaxWidth, int64_t image3dMaxHeight,
    int64_t image3dMaxDepth, int64_t imageMaxArraySize, ArrayAttr imageTypes,
    int64_t launchCost, int64_t imageReadPercent, int64_t bufferReadPercent,
    int64_t itemPixels, int64_t fewestItems, int64_t groupItems,
    int64_t splitReads, int64_t flopsPerByte, int64_t assumedSize,
    int64_t assumedTrips, bool /*halfArithmetic*/, bool /*fma*/,
    bool /*imageFallback*/, int64_t addressBits) {
  if (failed(checkParams(emitError,
                         {{"image2d_max_width", image2dMaxWidth, 1},
                          {"image2d_max_height", image2dMaxHeight, 1},
                          {"image3d_max_width", image3dMaxWidth, 1},
                          {"image3d_max_height", image3dMaxHeight, 1},
                          {"image3d_max_depth", image3dMaxDepth, 1},
                          {"image_max_array_size", imageMaxArraySize, 1},
                          {"launch_cost", launchCost, 0},
                          {"image_read_percent", imageReadPercent, 0},
                          {"buffer_read_percent", bufferReadPercent, 0},
                          {"item_pixels", itemPixels, 1, 64},
                          {"fewest_items", fewestItems, 1},
                          {"group_items", groupItems, 1, 256},
                          {"split_reads", splitReads, 0},
                          {"flops_per_byte", flopsPerByte, 1},
                          {"assumed_size", assumedSize, 1},
                          {"assumed_trips", assumedTrips, 1}})))
    return failure();
  if (addressBits != 32 && addressBits != 64)
    return emitError() << "target parameter 'address_bits' is " << addressBits
                       << ": OpenCL addresses have 32 or 64 bits";
  // Each work-item stores `item_pixels` pixels of 16 bytes.
  constexpr int64_t localBytes = 32768;
  if (groupItems * itemPixels * 16 > localBytes)
    return emitError()
           << "target parameters 'group_items' and 'item_pixels' are "
           << groupItems << " and " << itemPixels
           << ": the sums of a group take " << groupItems * itemPixels * 16
           << " bytes of local memory, and OpenCL guarantees " << localBytes;
  if (imageTypes)
    for (Attribute type : imageTypes)
      if (!isa<TypeAttr>(type) ||
          !hasChannelType(cast<TypeAttr>(type).getValue()))
        return emitError() << "target parameter 'image_types' lists " << type
                           << ": the channel types of images are f32, f16, and "
                              "integers of 8, 16 and 32 bits";
  return success();
}

//===----------------------------------------------------------------------===//
// NPU
//===----------------------------------------------------------------------===//

int64_t NpuTargetAttr::getLanes() const {
  return std::max<int64_t>(getChip().getParams().euBytes, 4) / 4;
}

LogicalResult
NpuTargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      NpuTargetInterface chip, int64_t launchCost,
                      int64_t flopsPerByte, int64_t assumedSize,
                      int64_t assumedTrips) {
  return checkParams(
      emitError,
      {{"launch_cost", launchCost == kFromChip ? 0 : launchCost, 0},
       {"flops_per_byte", flopsPerByte == kFromChip ? 1 : flopsPerByte, 1},
       {"assumed_size", assumedSize, 1},
       {"assumed_trips", assumedTrips, 1}});
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

static int64_t getParameter(ArrayAttr params, unsigned axis, int64_t standard) {
  return params ? cast<IntegerAttr>(params[axis]).getInt() : standard;
}

int64_t MeshTargetAttr::getByteCostAlong(unsigned axis) const {
  return getParameter(getByteCost(), axis, kByteCost);
}

int64_t MeshTargetAttr::getMessageCostAlong(unsigned axis) const {
  return getParameter(getMessageCost(), axis, kMessageCost);
}

CpuTargetAttr MeshTargetAttr::getDeviceTarget() const {
  return cast<CpuTargetAttr>(getDevice());
}

LogicalResult
MeshTargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, Mesh axes,
                       Attribute device, ArrayAttr byteCost,
                       ArrayAttr messageCost, int64_t memory) {
  if (!isa_and_present<CpuTargetAttr>(device))
    return emitError() << "target parameter 'device' is " << device
                       << ": the devices of a mesh must be a #layout.cpu";
  auto checkAxes = [&](StringRef name, ArrayAttr params,
                       int64_t most) -> LogicalResult {
    if (!params)
      return success();
    if (params.size() != axes.axes.size())
      return emitError() << "target parameter '" << name << "' has "
                         << params.size() << " entries for a mesh of "
                         << axes.axes.size() << " axes: state one for each";
    for (Attribute param : params) {
      auto value = dyn_cast<IntegerAttr>(param);
      if (!value || !value.getType().isInteger(64))
        return emitError() << "target parameter '" << name << "' lists "
                           << param << ": it must be a list of integers";
      if (failed(checkParams(emitError, {{name, value.getInt(), 0, most}})))
        return failure();
    }
    return success();
  };
  if (failed(checkAxes("byte_cost", byteCost, 1 << 20)) ||
      failed(checkAxes("message_cost", messageCost, int64_t(1) << 40)))
    return failure();
  return checkParams(emitError, {{"memory", memory, 1, kAnyMemory}});
}
