//===- Compute.cpp - Computations of the execution units ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op that matches OKKernel's functions becomes calls of them (Layers.cpp,
// Elements.cpp). Any other op runs as a kernel on dense images, which the
// simulator gathers from local memory and scatters to it. CoreRule.h determines
// how cores access each other's memory.
//
//===----------------------------------------------------------------------===//

#include "CoreRule.h"
#include "FunctionEmitter.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

FailureOr<FunctionEmitter::Operand>
FunctionEmitter::getOperand(linalg::LinalgOp op, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (!npu::isLocal(type)) {
    op->emitError() << "'" << op->getName()
                    << "' runs on execution units, which reach local memory "
                       "only, found "
                    << type << ": move it by npu.copy";
    return failure();
  }
  FailureOr<Storage> storage = getPlaced(op, memref);
  if (failed(storage))
    return failure();
  return Operand{memref, type, *storage};
}

/// Returns the number of the operand by whose elements the simulator counts the
/// steps of the execution units. It is the first operand of `parameters` with
/// one element per iteration, which is in the core that computes the iteration,
/// or else the result.
static unsigned getLanes(linalg::LinalgOp op, ArrayRef<unsigned> parameters,
                         ArrayRef<CoreVisibility> reaches) {
  for (auto [number, reach] : llvm::zip_equal(parameters, reaches))
    if (reach == CoreVisibility::Own &&
        op.getMatchingIndexingMap(&op->getOpOperand(number)).isPermutation())
      return number;
  return op.getDpsInitOperand(0)->getOperandNumber();
}

LogicalResult
FunctionEmitter::checkCores(linalg::LinalgOp op, ArrayRef<Operand> operands,
                            ArrayRef<unsigned> parameters,
                            SmallVectorImpl<CoreTable> &cores,
                            SmallVectorImpl<CoreVisibility> &reaches) {
  auto getCores = [&](unsigned number) -> FailureOr<CoreTable> {
    std::optional<CoreTable> table = getCoreTable(
        operands[number].storage, operands[number].type.getShape());
    if (table)
      return *table;
    return op->emitError() << "'" << op->getName()
                           << "' runs on execution units, which need tensors "
                              "with one dim spread over the cores, found "
                           << operands[number].type;
  };
  unsigned first = op.getDpsInitOperand(0)->getOperandNumber();
  FailureOr<CoreTable> result = getCores(first);
  if (failed(result))
    return failure();
  for (unsigned number : parameters) {
    FailureOr<CoreTable> table = getCores(number);
    if (failed(table))
      return failure();
    CoreVisibility reach =
        getCoreVisibility(op, op->getOpOperand(number), *table, *result);
    if (reach == CoreVisibility::Neither)
      return op->emitError()
             << "'" << op->getName()
             << "' runs on execution units, which see their own memory only: "
                "operand #"
             << number << " starts at core " << table->cores.start
             << ", the result at core " << result->cores.start
             << ", and not every element is in the core that computes its "
                "result ("
             << operands[number].type << " for " << operands[first].type
             << "): move it there by npu.copy. Only operands of a contraction "
                "may be elsewhere, and only if all cores need all of it";
    cores.push_back(std::move(*table));
    reaches.push_back(reach);
  }
  return success();
}

/// Returns two numbers, the first and the second of the pair, for the
/// simulator's check of cores: (byte in the row-major copy of the tensor /
/// first) mod second is an element's index in the dim that is spread over the
/// cores. It is 0 for all elements without such a dim.
static std::pair<int64_t, int64_t> getKey(MemRefType type, int64_t elementBytes,
                                          const CoreTable &cores) {
  int64_t inner = elementBytes;
  if (!cores.dim)
    return {inner * type.getNumElements(), 1};
  for (int64_t size : type.getShape().drop_front(*cores.dim + 1))
    inner *= size;
  return {inner, type.getDimSize(*cores.dim)};
}

LogicalResult FunctionEmitter::emitAsKernel(linalg::LinalgOp op,
                                            ArrayRef<Operand> operands) {
  FailureOr<const DenseKernels::Kernel *> kernel = shared.kernels.get(op);
  if (failed(kernel))
    return failure();
  ArrayRef<unsigned> parameters = (*kernel)->parameters;
  SmallVector<CoreTable> cores;
  SmallVector<CoreVisibility> reaches;
  if (failed(checkCores(op, operands, parameters, cores, reaches)))
    return failure();
  int64_t points = 1;
  for (int64_t range : op.getStaticLoopRanges())
    points *= range;
  if (points == 0)
    return success();
  calls.beginCompute(op->getName().getStringRef(), points);
  TransferLimits limits = getComputeLimits(chip);
  unsigned lanes = getLanes(op, parameters, reaches);
  for (auto [number, table, reach] :
       llvm::zip_equal(parameters, cores, reaches)) {
    const Operand &operand = operands[number];
    OpOperand &use = op->getOpOperand(number);
    OkkCalls::ImageUse image;
    image.isWritten = op.isDpsInit(&use);
    // The op may write only some elements of the result, so the others must be
    // read first.
    image.isRead = op.payloadUsesValueFromOperand(&use) ||
                   !op.getMatchingIndexingMap(&use).isProjectedPermutation();
    image.isBroadcast = reach == CoreVisibility::Broadcast;
    image.isAlongLanes = number == lanes;
    std::optional<std::vector<Transfer>> boxes =
        planImage(op, operand.storage, operand.type, limits);
    if (!boxes)
      return failure();
    int64_t elementBytes = operand.storage.elementBytes;
    calls.addOperand(operand.type.getNumElements() * elementBytes, image);
    if (reach == CoreVisibility::Own) {
      auto [inner, count] = getKey(operand.type, elementBytes, table);
      calls.keepInCore(inner, count);
    }
    bool isExpected = expect(operand.type.getShape(), {operand.memref});
    for (const Transfer &box : *boxes)
      calls.addBox(box, getAddress(operand.memref, box.dest));
    if (isExpected)
      calls.endExpected();
  }
  calls.runCompute((*kernel)->name);
  return success();
}

/// Returns the name of the only op of the body, in quotes and without constants
/// and the terminator, or "body" if there are several ops or none, for an
/// error.
static std::string nameBody(linalg::LinalgOp op) {
  Operation *only = nullptr;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (inner.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (only)
      return "body";
    only = &inner;
  }
  return only ? "'" + only->getName().getStringRef().str() + "'" : "body";
}

LogicalResult FunctionEmitter::emitCompute(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics())
    return op->emitError() << "'" << op->getName()
                           << "' runs on execution units, which need memrefs "
                              "in local memory, found tensors";
  // Has an entry per operand of the op; those of scalars stay empty.
  SmallVector<Operand> operands(op->getNumOperands());
  for (auto [operand, value] : llvm::zip_equal(operands, op->getOperands())) {
    if (!isa<MemRefType>(value.getType()))
      continue;
    FailureOr<Operand> found = getOperand(op, value);
    if (failed(found))
      return failure();
    operand = *found;
  }
  std::string api = calls.getApiName().str();
  std::string why = "no " + api + " function computes its " + nameBody(op);
  if (emitAsLayer(op, operands) || emitAsElements(op, operands, why))
    return success();
  if (shared.strict)
    return op->emitError()
           << "'" << op->getName() << "' has no " << api << " function: " << why
           << "; let layout-to-npu decompose it, write it with ops that are "
              "(docs/npu.md lists them), or convert with "
              "strict-okkernel=false, for the simulator only";
  return emitAsKernel(op, operands);
}
