//===- TargetAttr.cpp - What a decision knows of the target ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"

using namespace mlir;
using namespace mlir::layout;

/// Integers by width where `listed` has no sign, else the very type.
static bool standsFor(Type listed, Type type) {
  auto pattern = dyn_cast<IntegerType>(listed);
  auto integer = dyn_cast<IntegerType>(type);
  if (pattern && integer && pattern.isSignless())
    return pattern.getWidth() == integer.getWidth();
  return listed == type;
}

/// The channel types of OpenCL 1.2 that keep values as they are.
static bool hasChannelType(Type type) {
  return type.isF32() || type.isF16() || type.isInteger(8) ||
         type.isInteger(16) || type.isInteger(32);
}

bool TargetAttr::isImageType(Type elementType) const {
  if (!hasImages())
    return false;
  if (!getImageTypes())
    return hasChannelType(elementType);
  return llvm::any_of(
      getImageTypes().getAsValueRange<TypeAttr>(),
      [&](Type listed) { return standsFor(listed, elementType); });
}

LogicalResult TargetAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, StringRef kind, int64_t lanes,
    int64_t lineBytes, int64_t stridedPercent, int64_t flopsPerByte,
    int64_t scalarPercent, int64_t maskPercent, int64_t assumedSize,
    int64_t assumedTrips, int64_t image2dMaxWidth, int64_t image2dMaxHeight,
    int64_t image3dMaxWidth, int64_t image3dMaxHeight, int64_t image3dMaxDepth,
    int64_t imageMaxArraySize, ArrayAttr imageTypes, int64_t launchCost,
    int64_t imageReadPercent, int64_t bufferReadPercent,
    NpuTargetInterface npu) {
  if (kind != "cpu" && kind != "opencl" && kind != "npu")
    return emitError() << "unknown kind of target \"" << kind
                       << "\": the kinds are \"cpu\", \"opencl\" and \"npu\"";
  if ((kind == "npu") != bool(npu))
    return emitError() << (npu ? "target figure 'npu' is of kind \"npu\" only"
                               : "a target of kind \"npu\" names its chip: "
                                 "state `npu = #npu.target<..>`");
  struct Figure {
    StringRef name;
    int64_t value, least;
  };
  // The upper end keeps products of a figure and a tensor's bytes in int64.
  constexpr int64_t most = 1 << 20;
  for (const Figure &figure :
       {Figure{"lanes", lanes, 1}, Figure{"line_bytes", lineBytes, 1},
        Figure{"strided_percent", stridedPercent, 100},
        Figure{"flops_per_byte", flopsPerByte, 1},
        Figure{"scalar_percent", scalarPercent, 100},
        Figure{"mask_percent", maskPercent, 100},
        Figure{"assumed_size", assumedSize, 1},
        Figure{"assumed_trips", assumedTrips, 1},
        Figure{"image2d_max_width", image2dMaxWidth, 1},
        Figure{"image2d_max_height", image2dMaxHeight, 1},
        Figure{"image3d_max_width", image3dMaxWidth, 1},
        Figure{"image3d_max_height", image3dMaxHeight, 1},
        Figure{"image3d_max_depth", image3dMaxDepth, 1},
        Figure{"image_max_array_size", imageMaxArraySize, 1},
        Figure{"launch_cost", launchCost, 0},
        Figure{"image_read_percent", imageReadPercent, 0},
        Figure{"buffer_read_percent", bufferReadPercent, 0}})
    if (figure.value < figure.least || figure.value > most)
      return emitError() << "target figure '" << figure.name << "' is "
                         << figure.value << ": it lies between " << figure.least
                         << " and " << most;
  if (kind == "opencl" && lanes != 4)
    return emitError() << "target figure 'lanes' is " << lanes
                       << ": a target of kind \"opencl\" has the 4 lanes of a "
                          "pixel";
  if (npu && lanes * 4 != std::max<int64_t>(npu.getFigures().euBytes, 4))
    return emitError() << "target figure 'lanes' is " << lanes
                       << ": a unit of this chip works on "
                       << std::max<int64_t>(npu.getFigures().euBytes, 4) / 4
                       << " words of 4 bytes at once";
  if (imageTypes)
    for (Attribute type : imageTypes)
      if (!isa<TypeAttr>(type) ||
          !hasChannelType(cast<TypeAttr>(type).getValue()))
        return emitError() << "target figure 'image_types' lists " << type
                           << ": the channel types of images are f32, f16, and "
                              "integers of 8, 16 and 32 bits";
  bool statesImages =
      imageTypes || image2dMaxWidth != kImage2dSize ||
      image2dMaxHeight != kImage2dSize || image3dMaxWidth != kImage3dSize ||
      image3dMaxHeight != kImage3dSize || image3dMaxDepth != kImage3dSize ||
      imageMaxArraySize != kImageArraySize ||
      (launchCost != kLaunchCost && kind != "npu") ||
      imageReadPercent != kImageReadPercent ||
      bufferReadPercent != kBufferReadPercent;
  if (kind != "opencl" && statesImages)
    return emitError() << "a target of kind \"" << kind
                       << "\" has no images and no kernels that are launched: "
                          "give their figures to the kind \"opencl\"";
  return success();
}
