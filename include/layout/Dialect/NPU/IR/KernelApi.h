//===- KernelApi.h - The kernel API of a chip -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The vendor's chips have two kernel APIs, whose functions compute the same.
// They differ in names, parameters, work memory and the layout of weights:
//
//     OKKernel     BM1684                    okk_bdc_add(..)
//     TPU-KERNEL   BM1684X, BM1688, BM1690   tpu_bdc_fp_add(.., DT_FP32)
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_KERNELAPI_H
#define LAYOUT_DIALECT_NPU_IR_KERNELAPI_H

#include "layout/Dialect/NPU/IR/NPU.h"

namespace mlir::npu {

enum class KernelApi { OKKernel, TPUKernel };

/// Returns the API of the published chip with the cores, the bytes per core and
/// the EU bytes of `chip`, or OKKernel if there is none or `chip` is null.
KernelApi getKernelApi(layout::NpuTargetInterface chip);

/// Returns the name of an API as its vendor writes it.
llvm::StringRef getApiName(KernelApi api);

/// The bytes in each core of the coefficients and of the table that exp,
/// sigmoid and tanh of TPU-KERNEL read, which follow two work tensors of the
/// size of the result in one block of work memory.
constexpr int64_t kCoefficientBytes = 32 * 4, kTableBytes = 192 * 4;

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_IR_KERNELAPI_H
