//===- SourceVectors.cpp - Print vectors and memory as OpenCL C -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Source/KernelSource.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

std::string KernelPrinter::lane(Value vector, unsigned number) {
  std::string text = name(vector);
  return getCLanes(vector.getType()) == 1 ? text : text + "." + "xyzw"[number];
}

SmallVector<std::string> KernelPrinter::lanes(Value vector) {
  SmallVector<std::string> all;
  for (unsigned i = 0; i < getCLanes(vector.getType()); ++i)
    all.push_back(lane(vector, i));
  // A vector of one i1 is a bool.
  if (all.size() == 1 && getElementTypeOrSelf(vector).isInteger(1))
    all[0] = "(" + all[0] + " ? -1 : 0)";
  return all;
}

std::string KernelPrinter::toLane(Value scalar) {
  return scalar.getType().isInteger(1) ? "(" + atom(scalar) + " ? -1 : 0)"
                                       : get(scalar).str();
}

std::string KernelPrinter::fromLane(Type element, const std::string &text) {
  return element.isInteger(1) ? "(" + text + " != 0)" : text;
}

std::string KernelPrinter::join(Type type, ArrayRef<std::string> lanes) {
  return lanes.size() == 1
             ? fromLane(getElementTypeOrSelf(type), lanes[0])
             : "(" + getCType(type) + ")(" + llvm::join(lanes, ", ") + ")";
}

//===----------------------------------------------------------------------===//
// Ops on vectors
//===----------------------------------------------------------------------===//

/// Returns `position == 0 ? texts[0] : position == 1 ? .. : texts.back()`.
static std::string pick(const std::string &position,
                        ArrayRef<std::string> texts) {
  std::string text;
  for (auto [i, each] : llvm::enumerate(texts.drop_back()))
    text += position + " == " + std::to_string(i) + " ? " + each + " : ";
  return text + texts.back();
}

static int64_t getOnly(ArrayAttr numbers) {
  return cast<IntegerAttr>(numbers[0]).getInt();
}

/// Returns the C expression of a vector.extract or vector.insert, or "" for
/// other ops.
std::string KernelPrinter::getElementForm(Operation *op) {
  Type type = op->getResult(0).getType();
  if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
    SmallVector<OpFoldResult> position = extract.getMixedPosition();
    Value source = extract.getSource();
    if (getCLanes(source.getType()) == 1 || position.empty())
      return get(source).str();
    if (std::optional<int64_t> number = getConstantIntValue(position[0]))
      return fromLane(type, lane(source, std::max<int64_t>(*number, 0)));
    SmallVector<std::string> all;
    for (const std::string &each : lanes(source))
      all.push_back(fromLane(type, each));
    return pick(name(cast<Value>(position[0])), all);
  }
  auto insert = dyn_cast<vector::InsertOp>(op);
  if (!insert)
    return "";
  SmallVector<OpFoldResult> position = insert.getMixedPosition();
  Value stored = insert.getValueToStore();
  if (getCLanes(type) == 1 || position.empty())
    return get(stored).str();
  SmallVector<std::string> all = lanes(insert.getDest());
  if (std::optional<int64_t> number = getConstantIntValue(position[0])) {
    all[std::max<int64_t>(*number, 0)] = toLane(stored);
    return join(type, all);
  }
  std::string at = name(cast<Value>(position[0]));
  name(stored);
  for (auto [i, each] : llvm::enumerate(all))
    each =
        at + " == " + std::to_string(i) + " ? " + toLane(stored) + " : " + each;
  return join(type, all);
}

/// Returns the C expression of a vector.shuffle, interleave,
/// extract_strided_slice or insert_strided_slice, or "" for other ops.
std::string KernelPrinter::getShuffleForm(Operation *op) {
  Type type = op->getResult(0).getType();
  SmallVector<std::string> all;
  if (auto shuffle = dyn_cast<vector::ShuffleOp>(op)) {
    SmallVector<std::string> from = lanes(shuffle.getV1());
    llvm::append_range(from, lanes(shuffle.getV2()));
    for (int64_t number : shuffle.getMask())
      all.push_back(from[std::max<int64_t>(number, 0)]);
  } else if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    all = lanes(slice.getSource());
    all.erase(all.begin(), all.begin() + getOnly(slice.getOffsets()));
    all.truncate(getCLanes(type));
  } else if (auto insert = dyn_cast<vector::InsertStridedSliceOp>(op)) {
    all = lanes(insert.getDest());
    llvm::copy(lanes(insert.getValueToStore()),
               all.begin() + getOnly(insert.getOffsets()));
  } else if (auto interleave = dyn_cast<vector::InterleaveOp>(op)) {
    for (auto [a, b] : llvm::zip_equal(lanes(interleave.getLhs()),
                                       lanes(interleave.getRhs())))
      llvm::append_values(all, a, b);
  } else {
    return "";
  }
  return join(type, all);
}

/// Returns the C expression of a reduction, which combines the lanes in order
/// and then the accumulator, or "" if its kind or type is not supported.
std::string KernelPrinter::reduce(vector::ReductionOp op) {
  using vector::CombiningKind;
  Type type = op.getType();
  bool isWide = isa<FloatType>(type) || type.isIndex() ||
                type.getIntOrFloatBitWidth() >= 32;
  const char *symbol = op.getKind() == CombiningKind::ADD   ? " + "
                       : op.getKind() == CombiningKind::MUL ? " * "
                                                            : "";
  const char *function = op.getKind() == CombiningKind::MAXNUMF   ? "fmax"
                         : op.getKind() == CombiningKind::MINNUMF ? "fmin"
                         : op.getKind() == CombiningKind::MAXUI   ? "max"
                         : op.getKind() == CombiningKind::MINUI   ? "min"
                                                                  : "";
  if (type.isInteger(1) || (*symbol ? !isWide : !*function))
    return "";
  SmallVector<std::string> all = lanes(op.getVector());
  if (Value before = op.getAcc())
    all.push_back(atom(before));
  std::string text = all.front();
  for (const std::string &each : ArrayRef(all).drop_front())
    text = *symbol ? text + symbol + each
                   : function + ("(" + text + ", " + each + ")");
  return text;
}

std::string KernelPrinter::getVectorForm(Operation *op) {
  Type type = op->getResult(0).getType();
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    Value source = broadcast.getSource();
    if (getCLanes(type) == getCLanes(source.getType()))
      return get(source).str();
    return "(" + getCType(type) + ")(" + toLane(source) + ")";
  }
  if (auto elements = dyn_cast<vector::FromElementsOp>(op)) {
    if (getCLanes(type) == 1)
      return get(elements.getElements()[0]).str();
    return join(type,
                llvm::map_to_vector(elements.getElements(),
                                    [&](Value each) { return toLane(each); }));
  }
  if (isa<vector::ShapeCastOp>(op))
    return get(op->getOperand(0)).str();
  if (auto reduction = dyn_cast<vector::ReductionOp>(op))
    return reduce(reduction);
  std::string text = getElementForm(op);
  return text.empty() ? getShuffleForm(op) : text;
}

//===----------------------------------------------------------------------===//
// Positions and memory
//===----------------------------------------------------------------------===//

std::string KernelPrinter::getPositionForm(Operation *op) {
  auto call = [](const char *what, gpu::Dimension dimension) {
    return what + ("(" + std::to_string(static_cast<int>(dimension)) + ")");
  };
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](gpu::GlobalIdOp id) {
        return call("get_global_id", id.getDimension());
      })
      .Case([&](gpu::ThreadIdOp id) {
        return call("get_local_id", id.getDimension());
      })
      .Case([&](gpu::BlockIdOp id) {
        return call("get_group_id", id.getDimension());
      })
      .Case([&](gpu::BlockDimOp size) {
        return call("get_local_size", size.getDimension());
      })
      .Case([&](gpu::GridDimOp size) {
        return call("get_num_groups", size.getDimension());
      })
      .Default(std::string());
}

static DeviceStorage getChecked(Operation *op, MemRefType type) {
  return *getDeviceStorage(type, [&] { return op->emitError(); });
}

/// Returns the i32 operand of a widening cast, else `index`.
static Value getNarrow(Value index) {
  Operation *op = index.getDefiningOp();
  return isWideningCast(op) ? op->getOperand(0) : index;
}

/// Returns the C text of (x, y), or of (x, y, slice, 0) for three indices.
/// `indices` are slowest first.
std::string KernelPrinter::getCoordinates(ValueRange indices) {
  SmallVector<std::string> all;
  for (Value index : llvm::reverse(indices)) {
    std::optional<int64_t> number = getConstantIntValue(index);
    all.push_back(number ? std::to_string(*number)
                         : "(int)" + atom(getNarrow(index)));
  }
  if (all.size() == 3)
    all.push_back("0");
  return "(int" + std::to_string(all.size()) + ")(" + llvm::join(all, ", ") +
         ")";
}

/// Returns the C text of an index into a buffer. An unsigned cast from i32 is
/// left out, because C widens implicitly.
StringRef KernelPrinter::getOffset(Value index) {
  return get(isa_and_nonnull<arith::IndexCastUIOp>(index.getDefiningOp())
                 ? getNarrow(index)
                 : index);
}

/// Returns the suffix of read_image and write_image for pixels of type
/// `channel`: i for integers, f for floats, h for f16 with half arithmetic.
char KernelPrinter::getImageSuffix(Type channel) const {
  return isa<IntegerType>(channel)      ? 'i'
         : channel.isF16() && hasHalves ? 'h'
                                        : 'f';
}

std::string KernelPrinter::getLoadForm(memref::LoadOp op) {
  if (isGroupMemory(op.getMemRefType()))
    return get(op.getMemref()).str() + "[" +
           getOffset(op.getIndices()[0]).str() + "]";
  DeviceStorage storage = getChecked(op, op.getMemRefType());
  std::string memory = get(op.getMemref()).str();
  if (!storage.isImage()) {
    std::string index = getOffset(op.getIndices()[0]).str();
    return storage.element.isF16() && !hasHalves
               ? "vload_half(" + index + ", " + memory + ")"
               : memory + "[" + index + "]";
  }
  bool isFloat = isa<FloatType>(storage.element);
  std::string pixel = std::string("read_image") +
                      getImageSuffix(storage.element) + "(" + memory +
                      ", kPixels, " + getCoordinates(op.getIndices()) + ")";
  if (isFloat)
    return pixel;
  if (!storage.element.isInteger(32))
    pixel = "convert_" + getSignedCType(op.getType()) + "(" + pixel + ")";
  return "as_" + getCType(op.getType()) + "(" + pixel + ")";
}

void KernelPrinter::printStore(memref::StoreOp op) {
  if (isGroupMemory(op.getMemRefType())) {
    line() << get(op.getMemref()) << "[" << getOffset(op.getIndices()[0])
           << "] = " << get(op.getValue()) << ";\n";
    return;
  }
  DeviceStorage storage = getChecked(op, op.getMemRefType());
  std::string memory = get(op.getMemref()).str();
  Value value = op.getValue();
  if (storage.isImage()) {
    bool isFloat = isa<FloatType>(storage.element);
    std::string pixel = isFloat ? get(value).str() : asSigned(value);
    if (!isFloat && !storage.element.isInteger(32))
      pixel = "convert_int4(" + pixel + ")";
    line() << "write_image" << getImageSuffix(storage.element) << "(" << memory
           << ", " << getCoordinates(op.getIndices()) << ", " << pixel
           << ");\n";
    return;
  }
  StringRef index = getOffset(op.getIndices()[0]);
  if (storage.element.isF16() && !hasHalves)
    line() << "vstore_half(" << get(value) << ", " << index << ", " << memory
           << ");\n";
  else
    line() << memory << "[" << index << "] = " << get(value) << ";\n";
}
