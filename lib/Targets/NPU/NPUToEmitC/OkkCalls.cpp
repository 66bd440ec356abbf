//===- OkkCalls.cpp - Calls of the chip's kernel API ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OkkCalls.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::npu;

//===----------------------------------------------------------------------===//
// Functions of TPU-KERNEL
//===----------------------------------------------------------------------===//

namespace {
/// The type arguments of a function of TPU-KERNEL: none; one, of f32 or of
/// words; the destination and the source of a comparison; or both of a shift
/// and its rounding.
enum class Types { None, Float, Word, Floats, Words, Shift };

/// A function of TPU-KERNEL, with the name of the function of OKKernel that
/// computes the same. Both names lack their prefix.
struct TpuFunction {
  StringLiteral okk, tpu;
  Types types;
};
} // namespace

static constexpr TpuFunction kTpuFunctions[] = {
    {"32bit_cpy", "cpy", Types::Word},
    {"32bit_set_C", "set_C", Types::Word},
    {"relu", "relu", Types::Float},
    {"neg", "neg", Types::Float},
    {"max", "max", Types::Float},
    {"max_C", "max_C", Types::Float},
    {"min", "min", Types::Float},
    {"min_C", "min_C", Types::Float},
    {"add", "fp_add", Types::Float},
    {"add_C", "fp_add_C", Types::Float},
    {"sub", "fp_sub", Types::Float},
    {"sub_C", "fp_sub_C", Types::Float},
    {"C_sub", "fp_C_sub", Types::Float},
    {"mul", "fp_mul", Types::Float},
    {"mul_C", "fp_mul_C", Types::Float},
    {"div", "fp32_div", Types::None},
    {"div_C", "fp32_div_C", Types::None},
    {"C_div", "fp32_C_div", Types::None},
    {"mac", "fp32_mac", Types::None},
    {"mac_C", "fp32_mac_C", Types::None},
    {"reciprocal", "fp32_reciprocal", Types::None},
    {"sqrt", "fp32_sqrt", Types::None},
    {"rsqrt", "fp32_rsqrt", Types::None},
    {"exp", "fp32_exp", Types::None},
    {"sigmoid", "fp32_sigmoid", Types::None},
    {"tanh", "fp32_tanh", Types::None},
    {"32bit_and", "and", Types::Word},
    {"32bit_and_C", "and_C", Types::Word},
    {"32bit_or", "or", Types::Word},
    {"32bit_or_C", "or_C", Types::Word},
    {"32bit_xor", "xor", Types::Word},
    {"32bit_xor_C", "xor_C", Types::Word},
    {"32bit_arithmetic_shift_C", "arithmetic_shift_C", Types::Shift},
    {"32bit_logical_shift_C", "logical_shift_C", Types::Shift},
    {"greater_select_value", "greater", Types::Floats},
    {"greater_C_select_value", "greater_C", Types::Floats},
    {"equal_select_value", "equal", Types::Words},
    {"equal_C_select_value", "equal_C", Types::Words},
    {"greater_select", "greater_select", Types::Floats},
    {"matmul", "fp32_mm", Types::None},
};

static SmallVector<StringRef, 3> getTypes(Types types, bool isSigned) {
  switch (types) {
  case Types::None:
    return {};
  case Types::Float:
    return {"DT_FP32"};
  case Types::Word:
    return {"DT_UINT32"};
  case Types::Floats:
    return {"DT_FP32", "DT_FP32"};
  case Types::Words:
    return {"DT_UINT32", "DT_UINT32"};
  case Types::Shift:
    if (isSigned)
      return {"DT_INT32", "DT_INT32", "RM_DOWN"};
    return {"DT_UINT32", "DT_UINT32", "RM_DOWN"};
  }
  llvm_unreachable("unknown types");
}

KernelFunction OkkCalls::getFunction(StringRef name) const {
  if (!isTpu())
    return {("okk_bdc_" + name).str(), {}, false};
  const TpuFunction *function = llvm::find_if(
      kTpuFunctions, [&](const TpuFunction &each) { return each.okk == name; });
  assert(function != std::end(kTpuFunctions) && "the table has all functions");
  bool takesScalars =
      function->types != Types::None && function->types != Types::Shift;
  return {("tpu_bdc_" + function->tpu).str(),
          getTypes(function->types, name.contains("arithmetic")), takesScalars};
}

void OkkCalls::call(const KernelFunction &function, ArrayRef<Value> operands) {
  SmallVector<Value> all(operands);
  for (StringRef name : function.last)
    all.push_back(getEnumerator(name));
  call(function.name, all);
}

void OkkCalls::callControl(StringRef name) {
  call(((isTpu() ? "tpu_" : "okk_") + name).str(), {});
}

//===----------------------------------------------------------------------===//
// Values and calls
//===----------------------------------------------------------------------===//

/// Returns the type of integers of `bytes` bytes, by which TPU-KERNEL moves
/// any elements of this size.
static StringRef getWordType(int64_t bytes) {
  return bytes == 4 ? "DT_UINT32" : bytes == 2 ? "DT_UINT16" : "DT_UINT8";
}

static std::string toList(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{";
  llvm::interleaveComma(values, os);
  os << "}";
  return text;
}

bool OkkCalls::canSay(const Transfer &transfer, int64_t bytesPerNpu) {
  for (const TransferSide *side : {&transfer.source, &transfer.dest}) {
    for (int d = 0; d < 4; ++d)
      if (!llvm::isInt<32>(transfer.shape[d]) ||
          !llvm::isInt<32>(side->strides[d]))
        return false;
    if (side->isLocal() &&
        !llvm::isUInt<32>(side->core * bytesPerNpu + side->byte))
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

void OkkCalls::startFunction() {
  count = 0;
  sizes.clear();
}

void OkkCalls::call(StringRef callee, ValueRange operands) {
  ++count;
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
    address = getAddressOf(getVariable(toList(value), "dim4"), "dim4");
  }
  return address;
}

void OkkCalls::copy(const Transfer &transfer, Value dest, Value source) {
  std::string path = std::string("cpy_") +
                     (transfer.source.isLocal() ? "L" : "S") + "2" +
                     (transfer.dest.isLocal() ? "L" : "S");
  Value shape = getSizes(transfer.shape);
  Value destStride = getSizes(transfer.dest.strides);
  Value sourceStride = getSizes(transfer.source.strides);
  SmallVector<Value> operands{dest, source, shape, destStride, sourceStride};
  call(getTransfer(path, transfer.elementBytes), operands);
}

KernelFunction OkkCalls::getTransfer(const std::string &name,
                                     int64_t bytes) const {
  if (isTpu())
    return {"tpu_gdma_" + name, {getWordType(bytes)}, true};
  return {"okk_gdma_" + std::to_string(bytes * 8) + "bit_" + name, {}, false};
}

void OkkCalls::fill(const Transfer &transfer, Value dest, uint64_t word,
                    bool isCompute, bool isAligned) {
  KernelFunction function =
      isCompute ? getFunction("32bit_set_C")
                : getTransfer(transfer.dest.isLocal() ? "set_C_local"
                                                      : "set_C_system",
                              transfer.elementBytes);
  Value value = getUnion(word, transfer.elementBytes * 8);
  Value shape = getSizes(transfer.shape);
  Value stride = isAligned ? getNull() : getSizes(transfer.dest.strides);
  call(function, {dest, value, shape, stride});
}

/// Returns a float literal that reads back as `bits`, or an expression for
/// infinity and NaN, which keeps its payload.
Value OkkCalls::getFloat(uint32_t bits) {
  APFloat value(APFloat::IEEEsingle(), APInt(32, bits));
  if (value.isInfinity())
    return getLiteral(
        value.isNegative() ? "-__builtin_inff()" : "__builtin_inff()", "float");
  if (value.isNaN())
    return getUnion(bits, 32, isTpu() ? "f32" : "fp32", "float");
  char text[64];
  snprintf(text, sizeof(text), "%.9ef", double(value.convertToFloat()));
  return getLiteral(text, "float");
}

Value OkkCalls::getNull() {
  return emitc::LiteralOp::create(
      builder, loc, emitc::PointerType::get(getType("void")), "nullptr");
}

/// Returns a union that holds `width` bits (scalar_t, x32, x16 or x8). If
/// `field` is not empty, returns the member of that name of such a union, as a
/// value of type `fieldType`.
Value OkkCalls::getUnion(uint64_t bits, int64_t width, StringRef field,
                         StringRef fieldType) {
  std::string type = isTpu() ? "scalar_t" : "x" + std::to_string(width);
  Value variable = getVariable("{}", type);
  setField(variable, "u" + std::to_string(width),
           getLiteral(Twine(bits) + "u", "unsigned"));
  if (field.empty())
    return emitc::LoadOp::create(builder, loc, getType(type), variable);
  Type loaded = getType(fieldType);
  Value place = emitc::MemberOp::create(
      builder, loc, emitc::LValueType::get(loaded), field, variable);
  return emitc::LoadOp::create(builder, loc, loaded, place);
}

void OkkCalls::setField(Value structure, StringRef field, Value value) {
  Value place = emitc::MemberOp::create(
      builder, loc, emitc::LValueType::get(value.getType()), field, structure);
  emitc::AssignOp::create(builder, loc, place, value);
}

Value OkkCalls::getAddressOf(Value variable, StringRef type) {
  return emitc::AddressOfOp::create(
      builder, loc, emitc::PointerType::get(getType(type)), variable);
}

Value OkkCalls::getDim2(int64_t h, int64_t w) {
  return getAddressOf(getVariable(toList({h, w}), "dim2"), "dim2");
}

Value OkkCalls::getNoPadding() {
  return getAddressOf(getVariable("{}", "padding_t"), "padding_t");
}

Value OkkCalls::getAddressOrNumber(bool ofWords, std::optional<Value> address,
                                   uint32_t bits) {
  if (isTpu()) {
    Value variable = getVariable("{}", "variable_t");
    setField(variable, "type", getEnumerator(address ? "TENSOR" : "SCALAR"));
    setField(variable, address ? "context.addr" : "context.scalar",
             address ? *address : getWord(bits));
    return getAddressOf(variable, "variable_t");
  }
  StringRef type = ofWords ? "x32_or_addr_t" : "fp32_or_addr_t";
  Value variable = getVariable("{}", type);
  setField(variable, "is_addr", getBool(address.has_value()));
  if (address)
    setField(variable, "context.addr", *address);
  else
    setField(variable, "context.val", ofWords ? getWord(bits) : getFloat(bits));
  return getAddressOf(variable, type);
}

void OkkCalls::beginCompute(StringRef name, int64_t points) {
  Value text = emitc::LiteralOp::create(
      builder, loc, emitc::PointerType::get(getType("const char")),
      ("\"" + name + "\"").str());
  call("okk_sim_compute_begin", {text, getLiteral(Twine(points), "long long")});
}

void OkkCalls::addOperand(int64_t bytes, const ImageUse &use) {
  SmallVector<StringRef> access;
  if (use.isRead)
    access.push_back("OKK_SIM_READ");
  if (use.isWritten)
    access.push_back("OKK_SIM_WRITE");
  if (use.isBroadcast)
    access.push_back("OKK_SIM_BROADCAST");
  if (use.isAlongLanes)
    access.push_back("OKK_SIM_LANES");
  call("okk_sim_operand", {getLiteral(Twine(bytes), "long long"),
                           getLiteral(join(access, " | "), "int")});
}

void OkkCalls::keepInCore(int64_t inner, int64_t count) {
  call("okk_sim_own", {getLiteral(Twine(inner), "long long"),
                       getLiteral(Twine(count), "long long")});
}

void OkkCalls::addBox(const Transfer &box, Value address) {
  Value bytes = getLiteral(Twine(box.elementBytes), "int");
  Value byte = getLiteral(Twine(box.source.byte), "long long");
  Value shape = getSizes(box.shape);
  Value stride = getSizes(box.dest.strides);
  Value imageStride = getSizes(box.source.strides);
  call("okk_sim_box", {address, byte, bytes, shape, stride, imageStride});
}

void OkkCalls::runCompute(StringRef kernel) {
  call("okk_sim_compute_run", {getLiteral(kernel, "okk_sim_kernel")});
}

void OkkCalls::declareTensor(int64_t address, int64_t bytes,
                             int64_t alignment) {
  call("okk_sim_declare_tensor",
       {getLocalAddress(address), getLiteral(Twine(bytes) + "u", "unsigned"),
        getLiteral(Twine(alignment) + "u", "unsigned")});
}

void OkkCalls::declareElements(const Transfer &box, Value address) {
  Value bytes = getLiteral(Twine(box.elementBytes), "int");
  Value shape = getSizes(box.shape, true);
  Value stride = getSizes(box.dest.strides, true);
  call("okk_sim_declare_elements", {address, bytes, shape, stride});
}

void OkkCalls::numberElements(const Transfer &box, Value address) {
  LoopSizes byteStrides = box.source.strides;
  for (int64_t &stride : byteStrides)
    stride *= box.elementBytes;
  Value bytes = getLiteral(Twine(box.elementBytes), "int");
  Value shape = getSizes(box.shape, true);
  Value stride = getSizes(box.dest.strides, true);
  Value first = getLiteral(Twine(box.source.byte), "long long");
  Value byteStride = getSizes(byteStrides, true);
  call("okk_sim_number_elements",
       {address, bytes, shape, stride, first, byteStride});
}

void OkkCalls::releaseTensor(int64_t address) {
  call("okk_sim_release_tensor", {getLocalAddress(address)});
}

Value OkkCalls::getLocalSide(int64_t tensor, int64_t first,
                             ArrayRef<int64_t> strides) {
  SmallVector<Value> operands{getLocalAddress(tensor),
                              getLiteral(Twine(first), "long long"),
                              getLiteral(toList(strides), "list")};
  return emitc::CallOpaqueOp::create(builder, loc, getType("OkkSimSide"),
                                     "okk_sim_local", operands)
      .getResult(0);
}

Value OkkCalls::getSystemSide(Value address, ArrayRef<int64_t> strides) {
  SmallVector<Value> operands{address, getLiteral(toList(strides), "list")};
  return emitc::CallOpaqueOp::create(builder, loc, getType("OkkSimSide"),
                                     "okk_sim_system", operands)
      .getResult(0);
}

void OkkCalls::expect(ArrayRef<int64_t> sizes, ArrayRef<Value> sides) {
  SmallVector<Value> operands{getLiteral(toList(sizes), "list")};
  llvm::append_range(operands, sides);
  call("okk_sim_expect", operands);
}

void OkkCalls::endExpected() { call("okk_sim_expect_end", {}); }
