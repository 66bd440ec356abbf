//===- OkkCalls.h - Calls of OKKernel's API ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds emitc calls of OKKernel's functions from transfers. Shapes and strides
// are `dim4` variables, one for each value in a function.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_CONVERSION_NPUTOEMITC_OKKCALLS_H
#define LAYOUT_LIB_CONVERSION_NPUTOEMITC_OKKCALLS_H

#include "layout/Dialect/NPU/Utils/Transfers.h"
#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/IR/Builders.h"
#include <map>

namespace mlir {
namespace npu {

class OkkCalls {
public:
  explicit OkkCalls(OpBuilder &builder)
      : builder(builder), loc(builder.getUnknownLoc()) {}

  void setLoc(Location newLoc) { loc = newLoc; }
  Type getSystemType() { return getType("system_addr_t"); }

  /// Whether all numbers of a transfer fit the types of the API.
  static bool canSay(const Transfer &transfer, int64_t bytesPerNpu);

  Value getLocalAddress(int64_t address);
  Value getSystemAddress(Value base, int64_t byte);

  void call(StringRef callee, ValueRange operands);
  void copy(const Transfer &transfer, Value dest, Value source);
  /// Writes the low bits of `word`, on the execution units or by DMA.
  void fill(const Transfer &transfer, Value dest, uint64_t word,
            bool isCompute);
  /// okk_bdc_<name>(dest, sources.., shape, strides of dest and sources).
  void compute(StringRef name, const LoopSizes &shape,
               ArrayRef<Value> addresses, ArrayRef<LoopSizes> strides);
  void declareTensor(int64_t address, int64_t bytes, int64_t alignment);
  void declareElements(const Transfer &elements, Value address);
  void releaseTensor(int64_t address);

private:
  Type getType(StringRef name);
  Value getLiteral(const Twine &text, StringRef type);
  Value getVariable(const std::string &value, StringRef type);
  /// The address of a dim4. Checks have their own, or they would follow
  /// whatever goes wrong in what they check.
  Value getSizes(const LoopSizes &sizes, bool ofCheck = false);

  OpBuilder &builder;
  Location loc;
  std::map<std::pair<LoopSizes, bool>, Value> sizes;
};

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_CONVERSION_NPUTOEMITC_OKKCALLS_H
