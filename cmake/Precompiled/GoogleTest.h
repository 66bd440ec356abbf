//===- GoogleTest.h - Precompiled header for unit tests ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Precompiled for layout_add_unittest, unless it names another header.
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
