//===- TargetInterface.h - Attributes that are targets ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `TargetInterface`, which makes an attribute of any dialect a target of
// `layout-assign`. The attributes of this project (`#layout.cpu`,
// `#layout.opencl`, `#layout.npu`, ..) implement it by external models
// (layout/Targets/Registration.h).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_TARGETINTERFACE_H
#define LAYOUT_ANALYSIS_TARGETINTERFACE_H

#include "mlir/IR/Attributes.h"
#include <memory>

namespace mlir::layout {
class TargetModel;
} // namespace mlir::layout

#include "layout/Analysis/TargetInterface.h.inc"

#endif // LAYOUT_ANALYSIS_TARGETINTERFACE_H
