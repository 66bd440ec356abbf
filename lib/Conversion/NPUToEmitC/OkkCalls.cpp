//===- OkkCalls.cpp - Calls of OKKernel's API -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OkkCalls.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::npu;

bool OkkCalls::canSay(const Transfer &transfer, int64_t bytesPerNpu) {
  for (const TransferSide *side : {&transfer.source, &transfer.dest}) {
    for (int d = 0; d < 4; ++d)
      if (!llvm::isInt<32>(transfer.shape[d]) ||
          !llvm::isInt<32>(side->strides[d]))
        return false;
    if (side->isLocal() &&
        !llvm::isUInt<32>(side->unit * bytesPerNpu + side->byte))
      return false;
  }
  return true;
}

Type OkkCalls::getType(StringRef name) {
  return emitc::OpaqueType::get(builder.getContext(), name);
}

Value OkkCalls::getLiteral(const Twine &text, StringRef type) {
  return emitc::LiteralOp::create(builder, loc, getType(type), text.str());
}

Value OkkCalls::getLocalAddress(int64_t address) {
  return getLiteral(Twine(address) + "u", "local_addr_t");
}

Value OkkCalls::getSystemAddress(Value base, int64_t byte) {
  if (byte == 0)
    return base;
  return emitc::AddOp::create(builder, loc, getSystemType(), base,
                              getLiteral(Twine(byte), "system_addr_t"));
}

void OkkCalls::call(StringRef callee, ValueRange operands) {
  emitc::CallOpaqueOp::create(builder, loc, TypeRange(), callee, operands);
}

Value OkkCalls::getVariable(const std::string &value, StringRef type) {
  return emitc::VariableOp::create(
      builder, loc, emitc::LValueType::get(getType(type)),
      emitc::OpaqueAttr::get(builder.getContext(), value));
}

Value OkkCalls::getSizes(const LoopSizes &value, bool ofCheck) {
  Value &address = sizes[{value, ofCheck}];
  if (!address) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "{";
    llvm::interleaveComma(value, os);
    os << "}";
    Value variable = getVariable(text, "dim4");
    address = emitc::AddressOfOp::create(
        builder, loc, emitc::PointerType::get(getType("dim4")), variable);
  }
  return address;
}

void OkkCalls::copy(const Transfer &transfer, Value dest, Value source) {
  std::string name = "okk_gdma_" + std::to_string(transfer.elementBytes * 8) +
                     "bit_cpy_" + (transfer.source.isLocal() ? "L" : "S") +
                     "2" + (transfer.dest.isLocal() ? "L" : "S");
  Value shape = getSizes(transfer.shape);
  Value destStride = getSizes(transfer.dest.strides);
  Value sourceStride = getSizes(transfer.source.strides);
  call(name, {dest, source, shape, destStride, sourceStride});
}

void OkkCalls::fill(const Transfer &transfer, Value dest, uint64_t word,
                    bool isCompute) {
  std::string bits = std::to_string(transfer.elementBytes * 8);
  std::string name = isCompute
                         ? "okk_bdc_32bit_set_C"
                         : "okk_gdma_" + bits + "bit_set_C_" +
                               (transfer.dest.isLocal() ? "local" : "system");
  std::string type = "x" + bits;
  Value variable =
      getVariable("{.u" + bits + " = " + std::to_string(word) + "u}", type);
  Value value = emitc::LoadOp::create(builder, loc, getType(type), variable);
  Value shape = getSizes(transfer.shape);
  Value stride = getSizes(transfer.dest.strides);
  call(name, {dest, value, shape, stride});
}

void OkkCalls::compute(StringRef name, const LoopSizes &shape,
                       ArrayRef<Value> addresses, ArrayRef<LoopSizes> strides) {
  SmallVector<Value> operands(addresses);
  operands.push_back(getSizes(shape));
  for (const LoopSizes &stride : strides)
    operands.push_back(getSizes(stride));
  call(("okk_bdc_" + name).str(), operands);
}

void OkkCalls::declareTensor(int64_t address, int64_t bytes,
                             int64_t alignment) {
  call("okk_sim_declare_tensor",
       {getLocalAddress(address), getLiteral(Twine(bytes) + "u", "unsigned"),
        getLiteral(Twine(alignment) + "u", "unsigned")});
}

void OkkCalls::declareElements(const Transfer &elements, Value address) {
  Value bytes = getLiteral(Twine(elements.elementBytes), "int");
  Value shape = getSizes(elements.shape, true);
  Value stride = getSizes(elements.dest.strides, true);
  call("okk_sim_declare_elements", {address, bytes, shape, stride});
}

void OkkCalls::releaseTensor(int64_t address) {
  call("okk_sim_release_tensor", {getLocalAddress(address)});
}
