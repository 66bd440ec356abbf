//===- NpuTargetAttr.cpp - The figures of an NPU chip ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

LogicalResult NpuTargetAttr::verify(EmitErrorFn emitError, int64_t npus,
                                    int64_t bytesPerNpu, int64_t euBytes,
                                    std::optional<int64_t> banks) {
  struct Figure {
    StringRef name;
    int64_t value;
  };
  for (const Figure &figure :
       {Figure{"npus", npus}, Figure{"bytes_per_npu", bytesPerNpu},
        Figure{"eu_bytes", euBytes}, Figure{"banks", banks.value_or(1)}})
    if (figure.value < 1)
      return emitError() << "target figure '" << figure.name << "' is "
                         << figure.value << ": it is at least 1";
  if (!llvm::isPowerOf2_64(euBytes))
    return emitError() << "target figure 'eu_bytes' is " << euBytes
                       << ": it is a power of two";
  int64_t total;
  if (llvm::MulOverflow(npus, bytesPerNpu, total))
    return emitError() << npus << " units of " << bytesPerNpu
                       << " bytes have addresses that do not fit 64 bits";
  if (banks && bytesPerNpu % *banks != 0)
    return emitError() << "target figure 'banks' is " << *banks
                       << ": it divides the " << bytesPerNpu
                       << " bytes of a unit evenly";
  return success();
}
