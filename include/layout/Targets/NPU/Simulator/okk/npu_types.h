//===- npu_types.h - Types of both kernel APIs ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Defines the addresses, shapes and strides that okk.h, tpu_kernel.h and sim.h
// have in common. C and C++.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_SIMULATOR_OKK_NPU_TYPES_H
#define LAYOUT_TARGETS_NPU_SIMULATOR_OKK_NPU_TYPES_H

typedef unsigned int local_addr_t;
typedef unsigned long long system_addr_t;
typedef unsigned long long global_addr_t;

typedef struct {
  int n, c, h, w;
} dim4;
typedef struct {
  int h, w;
} dim2;

#endif // LAYOUT_TARGETS_NPU_SIMULATOR_OKK_NPU_TYPES_H
