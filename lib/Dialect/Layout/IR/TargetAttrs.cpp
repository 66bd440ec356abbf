//===- TargetAttrs.cpp - Machine models of targets ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/EngineTimes.h"

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

LogicalResult
CpuTargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t lanes, int64_t lineBytes, int64_t stridedPercent,
                      int64_t flopsPerByte, int64_t scalarPercent,
                      int64_t maskPercent, int64_t assumedSize,
                      int64_t assumedTrips, int64_t vectorBits) {
  return checkParams(emitError, {{"lanes", lanes, 1},
                                 {"line_bytes", lineBytes, 1},
                                 {"strided_percent", stridedPercent, 100},
                                 {"flops_per_byte", flopsPerByte, 1},
                                 {"scalar_percent", scalarPercent, 100},
                                 {"mask_percent", maskPercent, 100},
                                 {"assumed_size", assumedSize, 1},
                                 {"assumed_trips", assumedTrips, 1},
                                 {"vector_bits", vectorBits, 0}});
}

CpuTargetAttr
CpuTargetAttr::forVectors(int64_t bits,
                          function_ref<InFlightDiagnostic()> emitError) const {
  CpuTargetAttr completed =
      getChecked(emitError, getContext(), getLanes(), getLineBytes(),
                 getStridedPercent(), getFlopsPerByte(), getScalarPercent(),
                 getMaskPercent(), getAssumedSize(), getAssumedTrips(), bits);
  return completed && getVectorBits() != 0 ? *this : completed;
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
