//===- Bufferize.cpp - Tensors to buffers, and deallocation ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs upstream's passes, and adds a remedy to their errors.
//
//===----------------------------------------------------------------------===//

#include "Functions/OutlinedKernels.h"
#include "Functions/SetAside.h"
#include "Memory/Allocations.h"
#include "layout/Support/AdviceOnErrors.h"
#include "layout/Support/BorrowedBuffers.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SubsetOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_BUFFERIZEPASS
#define GEN_PASS_DEF_FREEBUFFERSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Makes a branch of scf.if yield a copy of its tensor if the size of this
/// tensor contradicts `cast`, a cast of the result. Such a branch is never
/// executed, but upstream would look for a destination in the result of the
/// cast, which has another size.
static void copyShapeChangingYields(tensor::CastOp cast) {
  auto branches = cast.getSource().getDefiningOp<scf::IfOp>();
  if (!branches)
    return;
  unsigned number = llvm::cast<OpResult>(cast.getSource()).getResultNumber();
  for (Region &region : branches->getRegions()) {
    Operation *yield = region.front().getTerminator();
    OpOperand &given = yield->getOpOperand(number);
    auto inner = given.get().getDefiningOp<tensor::CastOp>();
    if (!inner || succeeded(verifyCompatibleShape(inner.getSource().getType(),
                                                  cast.getType())))
      continue;
    OpBuilder b(yield);
    given.set(bufferization::AllocTensorOp::create(
        b, cast.getLoc(), llvm::cast<RankedTensorType>(given.get().getType()),
        ValueRange(), /*copy=*/given.get()));
  }
}

/// Hides a zero offset of a vector write. Upstream considers a write at the
/// beginning of a tensor complete if no vector dim is shorter than the tensor
/// dim of the same number. If the tensor has more dims, e.g. `vector<8xf32>`
/// into `tensor<1x9x16xf32>`, it must compare the last ones, and other elements
/// would be lost. See docs/upstream/bufferize-partial-write.mlir.
static void guardPartialTransferWrite(vector::TransferWriteOp write) {
  auto tensor = dyn_cast<RankedTensorType>(write.getShapedType());
  VectorType vector = write.getVectorType();
  if (!tensor || tensor.getRank() <= vector.getRank() ||
      (tensor.hasStaticShape() &&
       tensor.getNumElements() == vector.getNumElements()) ||
      !llvm::all_of(write.getIndices(), isZeroInteger))
    return;
  OpBuilder b(write);
  Value zero =
      arith::ConstantOp::create(b, write.getLoc(), b.getI64IntegerAttr(0));
  write.getIndicesMutable().slice(0, 1).assign(
      arith::IndexCastOp::create(b, write.getLoc(), b.getIndexType(), zero)
          .getResult());
}

/// Returns true if `op` returns an empty tensor or a reshape of one.
static bool isEmptyTensor(Operation *op) {
  if (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return isEmptyTensor(op->getOperand(0).getDefiningOp());
  return isa_and_nonnull<tensor::EmptyOp>(op);
}

/// Clones empty tensors for each use, right before the op. Memory is then
/// allocated late and not kept between uses, and two tensors that a loop
/// carries do not share memory. If slices of an empty tensor are extracted,
/// these slices and insertions into it keep the original, so that a slice is
/// written in place. Only other uses get clones.
static void separateEmptyTensors(ModuleOp module) {
  SmallVector<Operation *> shared;
  module.walk([&](Operation *op) {
    if (isEmptyTensor(op))
      shared.push_back(op);
  });
  // Reshapes first, so that each one has its own empty tensor.
  for (Operation *empty : llvm::reverse(shared)) {
    bool isSliced =
        llvm::any_of(empty->getUsers(), llvm::IsaPred<tensor::ExtractSliceOp>);
    for (OpOperand &use : llvm::make_early_inc_range(empty->getUses())) {
      Operation *user =
          empty->getBlock()->findAncestorOpInBlock(*use.getOwner());
      if (!user ||
          (isSliced && isa<OffsetSizeAndStrideOpInterface>(use.getOwner())))
        continue;
      use.set(OpBuilder(user).clone(*empty)->getResult(0));
    }
    if (empty->use_empty())
      empty->erase();
  }
}

/// Gives each outlined kernel the buffer types of its calls as argument types,
/// and clones it for each further list of types. Calls then need no
/// memref.cast.
static void specializeKernels(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) { calls.push_back(call); });
  DenseMap<Operation *, SmallVector<func::FuncOp, 1>> versions;
  for (func::CallOp call : calls) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!kernel || !kernel->hasAttr(layout::kKernelAttrName))
      continue;
    for (OpOperand &operand : call->getOpOperands())
      while (Operation *cast = operand.get().getDefiningOp()) {
        auto sized = dyn_cast<memref::CastOp>(cast);
        if (!isa<UnrealizedConversionCastOp>(cast) &&
            !(sized && memref::CastOp::canFoldIntoConsumerOp(sized)))
          break;
        operand.set(cast->getOperand(0));
        if (cast->use_empty())
          cast->erase();
      }
    SmallVectorImpl<func::FuncOp> &known = versions[kernel];
    auto *found = llvm::find_if(known, [&](func::FuncOp version) {
      return TypeRange(version.getArgumentTypes()) == call.getOperandTypes();
    });
    if (found == known.end()) {
      func::FuncOp version = kernel;
      if (!known.empty())
        symbols.insert(version = kernel.clone());
      layout::setArgumentTypes(version, call.getOperandTypes());
      found = known.insert(known.end(), version);
    }
    call.setCallee(found->getName());
  }
}

/// Returns true if `op` allocates or frees memory that layout-cpu-plan-memory
/// frees.
static bool isPlanned(Operation *op) {
  return op->hasAttr(bufferization::BufferizationDialect::kManualDeallocation);
}

/// Returns true if the only memory that `function` has to free is that of
/// vector loads and stores (takesOwnMemory). It may return other memory that it
/// allocates, each as a whole or as one view, and pass it to calls that borrow.
static bool ownsOnlyVectors(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return false;
  Block &block = function.getBody().front();
  llvm::SmallPtrSet<Operation *, 4> returned;
  for (Value value : block.getTerminator()->getOperands()) {
    if (!isa<BaseMemRefType>(value.getType()))
      continue;
    while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
      value = view.getViewSource();
    auto alloc = value.getDefiningOp<memref::AllocOp>();
    if (!alloc || alloc->getBlock() != &block || isPlanned(alloc) ||
        !returned.insert(alloc).second)
      return false;
  }
  return llvm::all_of(block.without_terminator(), [&](Operation &op) {
    if (isa<memref::AllocOp, memref::DeallocOp>(op))
      return isPlanned(&op) || returned.contains(&op) ||
             layout::takesOwnMemory(&op);
    return (isa<func::CallOp>(op) && op.hasAttr(layout::kBorrowsAttrName)) ||
           layout::leavesAllocationsAlone(op, /*mayHoldOwn=*/true);
  });
}

/// Frees the memory of vector loads and stores at the ends of its regions.
static void freeVectors(func::FuncOp function) {
  function.walk([](memref::AllocOp alloc) {
    if (isPlanned(alloc) || !layout::takesOwnMemory(alloc))
      return;
    OpBuilder b(alloc->getBlock()->getTerminator());
    memref::DeallocOp::create(b, alloc.getLoc(), alloc);
  });
}

/// Returns true if `module` has an op of one of these kinds.
template <typename... Ops> static bool hasAny(ModuleOp module) {
  WalkResult walk = module.walk([](Operation *op) {
    return isa<Ops...>(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

namespace {

/// Traces a tensor back through the destination operands of the ops that
/// compute it. All tensors on the way have the same sizes.
class SizeSources {
public:
  /// Returns the tensor at the end of the trace, which no op computes from a
  /// destination operand.
  Value find(Value value) {
    while (Value previous = getPrevious(value))
      value = previous;
    return value;
  }

private:
  /// Returns the previous tensor of the trace, in general the destination
  /// operand of the op that computes `value`. Returns a null value at the end
  /// of the trace.
  Value getPrevious(Value value) {
    auto [known, isNew] = previous.try_emplace(value);
    if (!isNew)
      return known->second;
    Value found = findPrevious(value);
    return previous[value] = found;
  }

  Value findPrevious(Value value) {
    if (auto argument = llvm::dyn_cast<BlockArgument>(value)) {
      auto loop =
          llvm::dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
      return init ? getPrevious(loop.getTiedLoopResult(argument)) : Value();
    }
    auto result = llvm::cast<OpResult>(value);
    return llvm::TypeSwitch<Operation *, Value>(result.getOwner())
        .Case([](tensor::InsertSliceOp op) { return op.getDest(); })
        .Case([](tensor::InsertOp op) { return op.getDest(); })
        .Case([&](DestinationStyleOpInterface op) {
          return op.getTiedOpOperand(result)->get();
        })
        .Case([&](scf::ForallOp op) {
          return op.getTiedOpOperand(result)->get();
        })
        .Case([&](scf::IfOp op) {
          unsigned number = result.getResultNumber();
          Value first = find(op.thenYield().getOperand(number));
          return first == find(op.elseYield().getOperand(number)) ? first
                                                                  : Value();
        })
        .Case([&](scf::ForOp op) {
          BlockArgument argument = op.getTiedLoopRegionIterArg(result);
          Value given = op.getTiedLoopYieldedValue(argument)->get();
          while (given && given != argument)
            given = getPrevious(given);
          return given ? op.getTiedLoopInit(result)->get() : Value();
        })
        .Default(Value());
  }

  DenseMap<Value, Value> previous;
};

/// Returns true if a tensor that may be computed in an empty tensor is inserted
/// into another one, whose memory it could use. Tensors computed in slices are
/// excluded, because they use it already, and analyzing them again takes as
/// long as the rest of bufferization.
bool mayInsertEmpty(ModuleOp module) {
  SizeSources sources;
  WalkResult walk = module.walk([&](SubsetInsertionOpInterface op) {
    Value source = op.getSourceOperand().get();
    return isa<TensorType>(source.getType()) &&
                   !sources.find(source).getDefiningOp<tensor::ExtractSliceOp>()
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

struct Bufferize : layout::impl::BufferizePassBase<Bufferize> {
  void runOnOperation() override {
    // Bufferization may insert constants into the region of vector.mask, where
    // only one op is allowed.
    if (hasAny<vector::MaskOp>(getOperation())) {
      OpPassManager masks(ModuleOp::getOperationName());
      masks.addNestedPass<func::FuncOp>(vector::createLowerVectorMaskPass());
      if (failed(runPipeline(masks, getOperation())))
        return signalPassFailure();
    }
    {
      // Outlined kernels have buffers only.
      layout::SetAside kernels;
      for (auto function : getOperation().getOps<func::FuncOp>())
        if (function->hasAttr(layout::kKernelAttrName) &&
            !function.isExternal())
          kernels.add(function);
      if (failed(bufferizeTensors()))
        return signalPassFailure();
    }
    specializeKernels(getOperation());
  }

private:
  LogicalResult bufferizeTensors() {
    getOperation()->walk(
        [](tensor::CastOp op) { copyShapeChangingYields(op); });
    getOperation()->walk(
        [](vector::TransferWriteOp op) { guardPartialTransferWrite(op); });
    separateEmptyTensors(getOperation());
    // Upstream compares slices by bounds of their sizes. For the size of a loop
    // result, it compares the yielded value with the init, and so on for
    // earlier loops, so that time doubles with each loop of a chain.
    if (hasAny<tensor::DimOp>(getOperation())) {
      OpPassManager sizes(ModuleOp::getOperationName());
      sizes.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
      if (failed(runPipeline(sizes, getOperation())))
        return failure();
      SizeSources sources;
      getOperation()->walk([&](tensor::DimOp op) {
        op.getSourceMutable().assign(sources.find(op.getSource()));
      });
    }
    OpPassManager pipeline(ModuleOp::getOperationName());
    if (mayInsertEmpty(getOperation()))
      pipeline.addPass(bufferization::createEmptyTensorEliminationPass());
    bufferization::OneShotBufferizePassOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
    options.functionBoundaryTypeConversion =
        bufferization::LayoutMapOption::IdentityLayoutMap;
    pipeline.addPass(bufferization::createOneShotBufferizePass(options));
    layout::AdviceOnErrors advice(
        &getContext(), "upstream's bufferization, which assigns memory to "
                       "tensors, does not support this op here; write it with "
                       "tensor, linalg and scf ops, or on memrefs");
    return runPipeline(pipeline, getOperation());
  }
};

struct FreeBuffers : layout::impl::FreeBuffersPassBase<FreeBuffers> {
  void runOnOperation() override {
    OpPassManager pipeline(ModuleOp::getOperationName());
    bufferization::buildBufferDeallocationPipeline(pipeline);
    // Deallocation clones buffers of unknown ownership where branches merge.
    pipeline.addPass(createConvertBufferizationToMemRefPass());
    // Upstream's passes search all functions for aliases and unknown owners,
    // which most functions do not have.
    layout::SetAside others;
    bool isNeeded = false;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (!ownsOnlyVectors(function)) {
        isNeeded = true;
        continue;
      }
      freeVectors(function);
      others.add(function);
    }
    if (!isNeeded)
      return;
    layout::AdviceOnErrors advice(
        &getContext(),
        "upstream's deallocation, which inserts the deallocation of each "
        "buffer, does not support this op here; write the function on tensors, "
        "and remove ops that free memory or have unknown effects on it");
    if (failed(runPipeline(pipeline, getOperation())))
      signalPassFailure();
  }
};

} // namespace
