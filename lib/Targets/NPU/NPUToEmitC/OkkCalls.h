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

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_OKKCALLS_H
#define LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_OKKCALLS_H

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

  /// What a kernel does with an operand.
  struct ImageUse {
    bool isRead = false, isWritten = false, isBroadcast = false,
         isAlongLanes = false;
  };

  void setLoc(Location newLoc) { loc = newLoc; }
  Type getSystemType() { return getType("system_addr_t"); }

  /// Whether all numbers of a transfer fit the types of the API.
  static bool canSay(const Transfer &transfer, int64_t bytesPerNpu);

  Value getLocalAddress(int64_t address);
  Value getSystemAddress(Value base, int64_t byte);

  /// What is emitted next is in another function.
  void startFunction();
  /// How many calls this one has.
  int64_t getCount() const { return count; }

  void call(StringRef callee, ValueRange operands);
  void copy(const Transfer &transfer, Value dest, Value source);
  /// Writes the low bits of `word`, on the execution units or by DMA.
  void fill(const Transfer &transfer, Value dest, uint64_t word,
            bool isCompute);
  /// A number, a truth and the address of a structure of numbers, as arguments.
  Value getInt(int64_t value) { return getLiteral(Twine(value), "int"); }
  Value getBool(bool value) {
    return getLiteral(value ? "true" : "false", "bool");
  }
  Value getFloat(uint32_t bits);
  Value getNull();
  Value getWord(uint32_t bits);
  Value getDim4(const LoopSizes &value) { return getSizes(value); }
  Value getDim2(int64_t h, int64_t w);
  /// What a function takes as an address or as a number.
  Value getAddressOrNumber(bool ofWords, std::optional<Value> address,
                           uint32_t bits);
  /// A kernel on images of local tensors (sim_compute.h).
  void beginCompute(StringRef name, int64_t points);
  void addOperand(int64_t bytes, const ImageUse &use);
  void keepInCore(int64_t inner, int64_t count);
  /// A box of the last operand: the source is its image.
  void addBox(const Transfer &box, Value address);
  void runCompute(StringRef kernel);
  void declareTensor(int64_t address, int64_t bytes, int64_t alignment);
  /// The source of the box is a row-major image, whose bytes are the numbers.
  void numberElements(const Transfer &box, Value address);
  void releaseTensor(int64_t address);

  /// What the next commands are to move.
  Value getLocalSide(int64_t tensor, int64_t first, ArrayRef<int64_t> strides);
  Value getSystemSide(Value address, ArrayRef<int64_t> strides);
  void expect(ArrayRef<int64_t> sizes, ArrayRef<Value> sides);
  void endExpected();

private:
  Type getType(StringRef name);
  Value getLiteral(const Twine &text, StringRef type);
  Value getVariable(const std::string &value, StringRef type);
  Value getAddressOf(Value variable, StringRef type);
  Value getUnion(uint64_t bits, int64_t width);
  void setField(Value structure, StringRef field, Value value);
  /// The address of a dim4. Checks have their own, or they would follow
  /// whatever goes wrong in what they check.
  Value getSizes(const LoopSizes &sizes, bool ofCheck = false);

  OpBuilder &builder;
  Location loc;
  int64_t count = 0;
  std::map<std::pair<LoopSizes, bool>, Value> sizes;
};

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_OKKCALLS_H
