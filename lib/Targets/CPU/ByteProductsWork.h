//===- ByteProductsWork.h - Work of sums of byte products -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the operations of a sum of i8 products that
// layout-cpu-group-byte-products computes by words of four bytes. It does so in
// layouts in which a reduction is contiguous in one operand.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_BYTEPRODUCTSWORK_H
#define LAYOUT_LIB_TARGETS_CPU_BYTEPRODUCTSWORK_H

#include "StoredOp.h"

namespace mlir::layout {

/// Returns the scalar operations of `op`, whose loops have `points` iterations,
/// by words if kernels compute it so, else `direct`. Dynamic sizes count as
/// `assumed`.
Cost getByteProductsWork(Operation *op, const StoredOp &stored,
                         const CpuModelParams &params, int64_t assumed,
                         Cost points, Cost direct);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_BYTEPRODUCTSWORK_H
