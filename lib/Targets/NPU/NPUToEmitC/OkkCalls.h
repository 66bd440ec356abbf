//===- OkkCalls.h - Calls of the chip's kernel API --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds emitc calls of the functions of the chip's kernel API from transfers.
// Emitters use the names of OKKernel, without `okk_bdc_`; a table has the
// function of TPU-KERNEL that computes the same. Shapes and strides are `dim4`
// variables, one per value and function.
//
//     32bit_cpy   okk_bdc_32bit_cpy(..)   tpu_bdc_cpy(.., DT_UINT32)
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_OKKCALLS_H
#define LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_OKKCALLS_H

#include "layout/Dialect/NPU/IR/KernelApi.h"
#include "layout/Dialect/NPU/Utils/Transfers.h"
#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/IR/Builders.h"
#include <map>

namespace mlir::npu {

/// A function of the execution units as the API of the chip has it.
struct KernelFunction {
  std::string name;
  /// The types and the rounding that follow the other arguments.
  SmallVector<StringRef, 3> last;
  /// True if constants are passed as `scalar_t`, whatever their type.
  bool takesScalars = false;
};

class OkkCalls {
public:
  explicit OkkCalls(OpBuilder &builder)
      : builder(builder), loc(builder.getUnknownLoc()) {}

  /// The accesses of a kernel of the simulator to an operand: the OKK_SIM_READ,
  /// WRITE, BROADCAST and LANES flags of sim_compute.h.
  struct ImageUse {
    bool isRead = false, isWritten = false, isBroadcast = false,
         isAlongLanes = false;
  };

  void setLoc(Location newLoc) { loc = newLoc; }
  void setApi(KernelApi newApi) { api = newApi; }
  bool isTpu() const { return api == KernelApi::TPUKernel; }
  StringRef getApiName() const { return npu::getApiName(api); }
  Type getSystemType() { return getType("system_addr_t"); }

  /// Returns true if the shape and the strides of a transfer fit `int`, and its
  /// local addresses 32 bits, the types of OKKernel's parameters.
  static bool canSay(const Transfer &transfer, int64_t bytesPerNpu);

  Value getLocalAddress(int64_t address);
  Value getSystemAddress(Value base, int64_t byte);

  /// Resets the count of calls and the dim4 variables, because the following
  /// calls are in a new function.
  void startFunction();
  /// Returns the number of calls since startFunction.
  int64_t getCount() const { return count; }

  void call(StringRef callee, ValueRange operands);
  /// Builds a call of `function` with `operands` and its last arguments.
  void call(const KernelFunction &function, ArrayRef<Value> operands);
  /// Returns the function that OKKernel calls okk_bdc_`name`.
  KernelFunction getFunction(StringRef name) const;
  /// Builds a call of a function without operands that both APIs have, e.g.
  /// `parallel_start`.
  void callControl(StringRef name);
  void copy(const Transfer &transfer, Value dest, Value source);
  /// Fills the destination of `transfer` with the low bits of `word`, on the
  /// execution units if `isCompute`, else by DMA. If `isAligned`, the box has
  /// the strides of an aligned tensor, and the call passes none.
  void fill(const Transfer &transfer, Value dest, uint64_t word, bool isCompute,
            bool isAligned);
  /// Return a literal (int, bool, float, enumerator), a null pointer, a 32-bit
  /// union, or the address of a dim4, a dim2 or a padding without elements, as
  /// an argument of a call.
  Value getInt(int64_t value) { return getLiteral(Twine(value), "int"); }
  Value getBool(bool value) {
    return getLiteral(value ? "true" : "false", "bool");
  }
  Value getFloat(uint32_t bits);
  Value getNull();
  Value getEnumerator(StringRef name) { return getLiteral(name, "int"); }
  Value getWord(uint32_t bits) { return getUnion(bits, 32); }
  Value getDim4(const LoopSizes &value) { return getSizes(value); }
  Value getDim2(int64_t h, int64_t w);
  Value getNoPadding();
  /// Declares a variable of type variable_t, x32_or_addr_t (if `ofWords`) or
  /// fp32_or_addr_t, which holds either an address or a number, and returns a
  /// pointer to it. The variable holds `address`, or if that is std::nullopt,
  /// the number with the bits `bits`.
  Value getAddressOrNumber(bool ofWords, std::optional<Value> address,
                           uint32_t bits);
  /// Begins a kernel of the simulator (sim_compute.h), which computes on
  /// images: dense row-major copies of the operands. `points` is the number of
  /// executions of its body.
  void beginCompute(StringRef name, int64_t points);
  void addOperand(int64_t bytes, const ImageUse &use);
  void keepInCore(int64_t inner, int64_t count);
  /// Adds a box of elements, the first one at the local `address`, to the
  /// operand that was added last. The destination of `box` has the strides in
  /// local memory; its source has the byte and the strides in the dense copy of
  /// the operand.
  void addBox(const Transfer &box, Value address);
  void runCompute(StringRef kernel);
  void declareTensor(int64_t address, int64_t bytes, int64_t alignment);
  /// Tells the simulator to give each byte of a box of elements the number of
  /// its position in the row-major tensor. The destination of `box` has the
  /// strides in local memory, from `address` on, and the source those in the
  /// row-major tensor.
  void numberElements(const Transfer &box, Value address);
  /// Tells the simulator that the destination of `box`, from the local
  /// `address` on, consists of elements of a tensor, not of holes.
  void declareElements(const Transfer &box, Value address);
  void releaseTensor(int64_t address);

  /// Build an okk_sim_expect call, which tells the simulator what bytes the
  /// commands until okk_sim_expect_end must move: a box of `sizes` with one
  /// side per operand. A side has the address of a tensor or buffer, the number
  /// of the first byte (0 in a buffer), and the difference of numbers per index
  /// of each dim.
  Value getLocalSide(int64_t tensor, int64_t first, ArrayRef<int64_t> strides);
  Value getSystemSide(Value address, ArrayRef<int64_t> strides);
  void expect(ArrayRef<int64_t> sizes, ArrayRef<Value> sides);
  void endExpected();

private:
  /// Returns the function of the DMA engine for elements of `bytes` bytes that
  /// OKKernel calls okk_gdma_32bit_`name` for words.
  KernelFunction getTransfer(const std::string &name, int64_t bytes) const;
  Type getType(StringRef name);
  Value getLiteral(const Twine &text, StringRef type);
  Value getVariable(const std::string &value, StringRef type);
  Value getAddressOf(Value variable, StringRef type);
  Value getUnion(uint64_t bits, int64_t width, StringRef field = {},
                 StringRef fieldType = {});
  void setField(Value structure, StringRef field, Value value);
  /// Returns the address of a dim4 variable with these values. Each emitted
  /// function has one variable per list of values. Checks (`ofCheck`) have
  /// their own variables, so that a program that overwrites one of its
  /// variables does not affect them.
  Value getSizes(const LoopSizes &sizes, bool ofCheck = false);

  OpBuilder &builder;
  Location loc;
  KernelApi api = KernelApi::OKKernel;
  int64_t count = 0;
  std::map<std::pair<LoopSizes, bool>, Value> sizes;
};

} // namespace mlir::npu

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_OKKCALLS_H
