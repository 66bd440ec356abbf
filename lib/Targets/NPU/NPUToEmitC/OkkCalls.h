//===- OkkCalls.h - Calls of OKKernel's API ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds emitc calls of OKKernel's functions from transfers. Shapes and strides
// are `dim4` variables, one per value and function.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_OKKCALLS_H
#define LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_OKKCALLS_H

#include "layout/Dialect/NPU/Utils/Transfers.h"
#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/IR/Builders.h"
#include <map>

namespace mlir::npu {

class OkkCalls {
public:
  explicit OkkCalls(OpBuilder &builder)
      : builder(builder), loc(builder.getUnknownLoc()) {}

  /// The accesses of a kernel to an operand.
  struct ImageUse {
    bool isRead = false, isWritten = false, isBroadcast = false,
         isAlongLanes = false;
  };

  void setLoc(Location newLoc) { loc = newLoc; }
  Type getSystemType() { return getType("system_addr_t"); }

  /// Returns true if all numbers of a transfer fit the types of the API.
  static bool canSay(const Transfer &transfer, int64_t bytesPerNpu);

  Value getLocalAddress(int64_t address);
  Value getSystemAddress(Value base, int64_t byte);

  /// Starts a new function for the calls that follow.
  void startFunction();
  /// Returns the number of calls in this function.
  int64_t getCount() const { return count; }

  void call(StringRef callee, ValueRange operands);
  void copy(const Transfer &transfer, Value dest, Value source);
  /// Writes the low bits of `word`, on the execution units or by DMA.
  void fill(const Transfer &transfer, Value dest, uint64_t word,
            bool isCompute);
  /// Return literals, and addresses of structures, as arguments.
  Value getInt(int64_t value) { return getLiteral(Twine(value), "int"); }
  Value getBool(bool value) {
    return getLiteral(value ? "true" : "false", "bool");
  }
  Value getFloat(uint32_t bits);
  Value getNull();
  Value getWord(uint32_t bits);
  Value getDim4(const LoopSizes &value) { return getSizes(value); }
  Value getDim2(int64_t h, int64_t w);
  /// Returns an argument that is a union of an address and a number.
  Value getAddressOrNumber(bool ofWords, std::optional<Value> address,
                           uint32_t bits);
  /// Begins a kernel of the simulator (sim_compute.h), which computes on
  /// images: dense row-major copies of the operands. `points` is the number of
  /// executions of its body.
  void beginCompute(StringRef name, int64_t points);
  void addOperand(int64_t bytes, const ImageUse &use);
  void keepInCore(int64_t inner, int64_t count);
  /// Adds a box of elements of the operand that addOperand added last.
  /// `address` is that of its first element in local memory. The destination of
  /// `box` has its strides there, and the source its part of the image.
  void addBox(const Transfer &box, Value address);
  void runCompute(StringRef kernel);
  void declareTensor(int64_t address, int64_t bytes, int64_t alignment);
  /// Tells the simulator the number of each byte of a box of a tensor, which is
  /// its position in the source of `box`, the row-major tensor.
  void numberElements(const Transfer &box, Value address);
  /// Declares the elements of a box in local memory, its destination.
  void declareElements(const Transfer &box, Value address);
  void releaseTensor(int64_t address);

  /// Declare the elements that the next commands must move.
  Value getLocalSide(int64_t tensor, int64_t first, ArrayRef<int64_t> strides);
  Value getSystemSide(Value address, ArrayRef<int64_t> strides);
  void expect(ArrayRef<int64_t> sizes, ArrayRef<Value> sides);
  void endExpected();

private:
  Type getType(StringRef name);
  Value getLiteral(const Twine &text, StringRef type);
  Value getVariable(const std::string &value, StringRef type);
  Value getAddressOf(Value variable, StringRef type);
  Value getUnion(uint64_t bits, int64_t width, StringRef field = {},
                 StringRef fieldType = {});
  void setField(Value structure, StringRef field, Value value);
  /// Returns the address of a dim4. Checks have their own variables, so that
  /// errors in those of the program do not affect them.
  Value getSizes(const LoopSizes &sizes, bool ofCheck = false);

  OpBuilder &builder;
  Location loc;
  int64_t count = 0;
  std::map<std::pair<LoopSizes, bool>, Value> sizes;
};

} // namespace mlir::npu

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_OKKCALLS_H
