//===- Operators.cpp - Ops that compute on local memory -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/ProgramBuilder.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Targets/NPU/NpuLayouts.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::layout;

/// The inputs of an op on memrefs, and their indexing maps.
struct ProgramBuilder::Inputs {
  SmallVector<Value> memrefs;
  SmallVector<AffineMap> maps;
  /// True if a map differs from that of the original op.
  bool isChanged = false;
};

/// Loads an operand in system memory into every core that computes with it, and
/// appends the local copy to `inputs`. An operand without the channels of the
/// result gets leading dims for them or for their cores (getNpuLoad). Emits an
/// error if the copy does not fit.
LogicalResult ProgramBuilder::loadForAll(linalg::LinalgOp op,
                                         OpOperand &operand, Inputs &inputs) {
  Location loc = op.getLoc();
  OpOperand &init = op.getDpsInitsMutable()[0];
  auto layout = dyn_cast_if_present<NpuScatterAttr>(
      cast<RankedTensorType>(init.get().getType()).getEncoding());
  auto type = cast<RankedTensorType>(operand.get().getType());
  NpuLoad load =
      getNpuLoad(type, op.getMatchingIndexingMap(&operand),
                 op.getMatchingIndexingMap(&init), op.getStaticLoopRanges(),
                 layout, npu::takesStrides(op));
  RankedTensorType loaded = load.type;
  unsigned numNew = load.numNew;
  auto emit = [&] {
    return op.emitError() << "'" << op->getName() << "' reads operand "
                          << operand.getOperandNumber() << " in all cores: ";
  };
  if (failed(npu::getStorage(getMemRefType(loaded), emit)))
    return failure();
  Value source = getMemory(operand.get());
  if (numNew) {
    SmallVector<ReassociationIndices> groups(type.getRank());
    SmallVector<int64_t> ones(numNew, 1);
    llvm::append_range(ones, type.getShape());
    for (unsigned d = 0, e = ones.size(); d < e; ++d)
      if (!groups.empty())
        groups[d < numNew ? 0 : d - numNew].push_back(d);
    auto from = cast<MemRefType>(source.getType());
    if (!from.getLayout().isIdentity()) {
      Value whole = makeScratch(loc, getMemRefType(type));
      copy(loc, source, whole);
      source = whole;
    }
    source = memref::ExpandShapeOp::create(
        builder, loc,
        getMemRefType(RankedTensorType::get(ones, type.getElementType())),
        source, groups);
  }
  Value dest = makeLocal(loc, loaded);
  copy(loc, source, dest, {}, /*broadcasts=*/numNew != 0);
  inputs.memrefs.push_back(dest);
  inputs.maps.push_back(load.map);
  inputs.isChanged |= numNew != 0;
  return success();
}

/// Creates local memory for an operand of which the op uses the sizes but no
/// element, e.g. the window of a pooling, and fills it with 0.
Value ProgramBuilder::makeWindow(linalg::LinalgOp op, RankedTensorType type) {
  auto layout = cast<NpuScatterAttr>(
      cast<RankedTensorType>(op.getDpsInits()[0].getType()).getEncoding());
  Value window = makeLocal(op.getLoc(), getNpuWindow(type, layout));
  fill(op.getLoc(), builder.getZeroAttr(type.getElementType()), window);
  return window;
}

/// Returns the local memory of the result of `init`. If the op reads the init,
/// it is the memory of the init if that may be overwritten, or else a copy.
/// Otherwise it is new memory. Emits an error if the result is not in local
/// memory.
FailureOr<Value> ProgramBuilder::makeInit(linalg::LinalgOp op,
                                          OpOperand &init) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(init.get().getType());
  if (!isa_and_present<NpuScatterAttr>(type.getEncoding())) {
    InFlightDiagnostic diag = op.emitError()
                              << "'" << op->getName()
                              << "' runs on cores, but its result of type "
                              << type << " is not in local memory";
    diag.attachNote()
        << "assign layouts for a target #layout.npu<..>; "
           "npu-tile-and-fuse splits ops that do not fit. If both are "
           "done, the chip's dma_alignment, max_shape and max_stride allow no "
           "transfers of the tensors: use wider elements, or sizes that are "
           "multiples of a word";
    return failure();
  }
  bool isRead = op.payloadUsesValueFromOperand(&init);
  if (isRead && isOverwritable(init) && memory.lookup(init.get()))
    return memory.lookup(init.get());
  Value dest = makeMemory(loc, op.getTiedOpResult(&init));
  if (isRead)
    initialize(loc, init.get(), dest);
  return dest;
}

/// Lowers linalg.transpose and linalg.copy to a copy between any memories.
/// Fails, without an error, for other ops.
LogicalResult ProgramBuilder::lowerOnSystem(linalg::LinalgOp op) {
  if (auto transpose = dyn_cast<linalg::TransposeOp>(*op)) {
    Value source = getMemory(transpose.getInput());
    Value dest = makeMemory(op.getLoc(), op->getResult(0));
    copy(op.getLoc(), source, dest, transpose.getPermutation());
    memory[op->getResult(0)] = dest;
    return success();
  }
  if (isa<linalg::CopyOp>(*op)) {
    Value dest = makeMemory(op.getLoc(), op->getResult(0));
    copy(op.getLoc(), getMemory(op->getOperand(0)), dest);
    memory[op->getResult(0)] = dest;
    return success();
  }
  return failure();
}

void ProgramBuilder::lowerWithoutIterations(linalg::LinalgOp op) {
  for (auto [init, result] :
       llvm::zip_equal(op.getDpsInits(), op->getResults())) {
    Value dest = makeMemory(op.getLoc(), result);
    if (cast<RankedTensorType>(result.getType()).getNumElements())
      initialize(op.getLoc(), init, dest);
    memory[result] = dest;
  }
}

LogicalResult ProgramBuilder::collectInputs(linalg::LinalgOp op, Inputs &inputs,
                                            Numbers &numbers) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (!type) {
      TypedAttr value;
      if (!matchPattern(input->get(), m_Constant(&value)))
        return op.emitError() << "'" << op->getName()
                              << "' reads a number that is not a constant: NPU "
                                 "programs need a constant here";
      numbers.push_back({input->getOperandNumber(), value});
      continue;
    }
    if (type.getEncoding()) {
      inputs.memrefs.push_back(getMemory(input->get()));
      inputs.maps.push_back(op.getMatchingIndexingMap(input));
    } else if (!op.payloadUsesValueFromOperand(input)) {
      inputs.memrefs.push_back(makeWindow(op, type));
      inputs.maps.push_back(op.getMatchingIndexingMap(input));
    } else if (failed(loadForAll(op, *input, inputs))) {
      return failure();
    }
  }
  return success();
}

void ProgramBuilder::makeGeneric(linalg::LinalgOp op, const Inputs &inputs,
                                 ValueRange inits, const Numbers &numbers) {
  SmallVector<AffineMap> maps;
  SmallVector<Value> operands;
  llvm::append_range(operands, inputs.memrefs);
  llvm::append_range(maps, inputs.maps);
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&init));
  bool hasWork = inits.size() > size_t(op.getNumDpsInits());
  if (hasWork) {
    auto ofResult = cast<MemRefType>(inits[0].getType());
    auto ofWork = cast<MemRefType>(inits.back().getType());
    // Work memory that is not like the result is not indexed by the loops.
    AffineExpr zero = getAffineConstantExpr(0, op.getContext());
    maps.push_back(
        ofWork == ofResult
            ? maps.back()
            : AffineMap::get(op.getNumLoops(), 0,
                             SmallVector<AffineExpr>(ofWork.getRank(), zero),
                             op.getContext()));
  }
  auto generic = linalg::GenericOp::create(
      builder, op.getLoc(), operands, inits, maps, op.getIteratorTypesArray());
  Block *block = builder.createBlock(&generic.getRegion());
  IRMapping mapping;
  for (auto [i, argument] : llvm::enumerate(op.getBlock()->getArguments())) {
    auto number = llvm::find_if(
        numbers, [&](const auto &number) { return number.first == i; });
    if (number != numbers.end()) {
      mapping.map(argument, arith::ConstantOp::create(builder, op.getLoc(),
                                                      number->second)
                                .getResult());
      continue;
    }
    mapping.map(argument, block->addArgument(argument.getType(), op.getLoc()));
  }
  for (Operation &inner : *op.getBlock())
    builder.clone(inner, mapping);
  // The work buffer is a second result, which nothing reads.
  if (hasWork) {
    block->addArgument(block->getArguments().back().getType(), op.getLoc());
    Operation *yield = block->getTerminator();
    yield->insertOperands(1, yield->getOperand(0));
  }
  builder.setInsertionPointToEnd(body);
}

LogicalResult ProgramBuilder::lowerLinalg(linalg::LinalgOp op) {
  for (Operation &inner : *op.getBlock())
    if (llvm::any_of(inner.getOperandTypes(),
                     [](Type type) { return isa<TensorType>(type); }))
      return op.emitError()
             << "'" << op->getName() << "' reads a tensor in its body by '"
             << inner.getName()
             << "', for which cores have no command: npu-legalize-linalg "
                "makes reads at indices of the loops operands; for rows at "
                "data-dependent indices, multiply by a matrix of ones and "
                "zeros, or read them outside of the program";
  if (succeeded(lowerOnSystem(op)))
    return success();
  if (llvm::is_contained(op.getStaticLoopRanges(), 0)) {
    lowerWithoutIterations(op);
    return success();
  }
  SmallVector<Value> inits;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    FailureOr<Value> made = makeInit(op, init);
    if (failed(made))
      return failure();
    inits.push_back(*made);
  }
  Inputs inputs;
  Numbers numbers;
  if (failed(collectInputs(op, inputs, numbers)))
    return failure();
  for (auto [result, init] : llvm::zip_equal(op->getResults(), inits))
    memory[result] = init;
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  RankedTensorType work;
  if (isa_and_present<NpuScatterAttr>(result.getEncoding()))
    work = getNpuWork(op, result);
  if (work)
    inits.push_back(makeLocal(op.getLoc(), work));
  if (!inputs.isChanged && numbers.empty() && !work) {
    SmallVector<Value> operands(inputs.memrefs);
    llvm::append_range(operands, inits);
    mlir::clone(builder, op, TypeRange(), operands);
    return success();
  }
  makeGeneric(op, inputs, inits, numbers);
  return success();
}
