//===- TargetAttr.cpp - What a decision knows of the target ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"

using namespace mlir;
using namespace mlir::layout;

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef kind, int64_t lanes,
                                 int64_t lineBytes, int64_t stridedPercent,
                                 int64_t flopsPerByte, int64_t scalarPercent,
                                 int64_t assumedSize, int64_t assumedTrips) {
  if (kind != "cpu")
    return emitError() << "unknown kind of target \"" << kind
                       << "\": the kinds are \"cpu\"";
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
        Figure{"assumed_size", assumedSize, 1},
        Figure{"assumed_trips", assumedTrips, 1}})
    if (figure.value < figure.least || figure.value > most)
      return emitError() << "target figure '" << figure.name << "' is "
                         << figure.value << ": it lies between " << figure.least
                         << " and " << most;
  return success();
}
