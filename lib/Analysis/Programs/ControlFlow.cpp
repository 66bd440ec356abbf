//===- ControlFlow.cpp - Equal types through control flow -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/ControlFlow.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ParallelCombiningOpInterface.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

/// Builds equivalence classes of uses by union-find. Drops the classes that
/// contain a use whose type is fixed.
class EquivalenceFinder {
public:
  explicit EquivalenceFinder(Operation *root) : root(root) {}

  ControlFlow run();

private:
  unsigned getNode(TensorUse use);
  void unify(TensorUse x, TensorUse y);
  void fix(TensorUse use) { isFixed[getNode(use)] = true; }
  void visitRegionBranch(RegionBranchOpInterface op);
  void visitParallelLoop(LoopLikeOpInterface loop, InParallelOpInterface end);
  void visitBranch(BranchOpInterface op);
  void visitBlockArguments(Operation *op);
  void visitSymbolTable(Operation *op);
  void visitFunction(FunctionOpInterface function, ArrayRef<Operation *> users);
  unsigned findRoot(unsigned node);

  Operation *root;
  std::vector<TensorUse> uses;
  std::vector<unsigned> parent;
  std::vector<char> isFixed;
  DenseMap<void *, unsigned> nodeOf;
  /// The inserted slices, each with the number of the use of the tensor into
  /// which it is inserted.
  std::vector<std::pair<unsigned, InsertedPart>> parts;
};

} // namespace

Type layout::getType(TensorUse use) {
  if (auto *operand = dyn_cast<OpOperand *>(use))
    return operand->get().getType();
  return cast<Value>(use).getType();
}

unsigned EquivalenceFinder::getNode(TensorUse use) {
  auto [it, isNew] = nodeOf.try_emplace(use.getOpaqueValue(), uses.size());
  if (isNew) {
    uses.push_back(use);
    parent.push_back(it->second);
    // A type with a layout is fixed.
    auto type = dyn_cast<RankedTensorType>(getType(use));
    isFixed.push_back(!type || type.getEncoding());
  }
  return it->second;
}

unsigned EquivalenceFinder::findRoot(unsigned node) {
  while (parent[node] != node)
    node = parent[node] = parent[parent[node]];
  return node;
}

void EquivalenceFinder::unify(TensorUse x, TensorUse y) {
  if (!isa<RankedTensorType>(getType(x)))
    return;
  unsigned a = findRoot(getNode(x)), b = findRoot(getNode(y));
  if (getType(x) != getType(y))
    isFixed[a] = true;
  // The earlier use becomes the root, which keeps the order of the IR.
  parent[std::max(a, b)] = std::min(a, b);
  isFixed[std::min(a, b)] |= isFixed[std::max(a, b)];
}

void EquivalenceFinder::visitRegionBranch(RegionBranchOpInterface op) {
  RegionBranchSuccessorMapping mapping;
  op.getSuccessorOperandInputMapping(mapping);
  DenseSet<Value> reached;
  auto visit = [&](OpOperand &operand) {
    auto it = mapping.find(&operand);
    if (it == mapping.end())
      return;
    for (Value input : it->second) {
      unify(&operand, input);
      reached.insert(input);
    }
  };
  for (OpOperand &operand : op->getOpOperands())
    visit(operand);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        for (OpOperand &operand : block.getTerminator()->getOpOperands())
          visit(operand);
  // Fixes values that the op itself creates, such as the tiles of scf.forall.
  auto fixIfMade = [&](Value value) {
    if (isa<RankedTensorType>(value.getType()) && !reached.contains(value))
      fix(value);
  };
  llvm::for_each(op->getResults(), fixIfMade);
  for (Region &region : op->getRegions())
    if (!region.empty())
      llvm::for_each(region.getArguments(), fixIfMade);
}

/// Unifies each shared tensor of a parallel loop, into which its concurrent
/// bodies insert slices, with its block argument and its result. Fixes its type
/// if the loop has no results.
void EquivalenceFinder::visitParallelLoop(LoopLikeOpInterface loop,
                                          InParallelOpInterface end) {
  bool hasResults = loop->getNumResults() == loop.getInits().size();
  for (auto [i, init, argument] :
       llvm::enumerate(loop.getInitsMutable(), loop.getRegionIterArgs())) {
    unify(&init, argument);
    if (hasResults)
      unify(&init, loop->getResult(i));
    else
      fix(&init);
  }
  for (Operation &op : end.getYieldingOps()) {
    auto combining = dyn_cast<ParallelCombiningOpInterface>(op);
    if (!combining)
      continue;
    OpLayoutRule rule = getLayoutRule(&op);
    auto *perDim = std::get_if<PerDimRule>(&rule);
    for (OpOperand &dest : combining.getUpdatedDestinations()) {
      unify(&dest, dest.get());
      // Without a rule the destination must keep its type.
      if (!perDim)
        fix(&dest);
      for (OpOperand &operand : op.getOpOperands()) {
        auto type = dyn_cast<RankedTensorType>(operand.get().getType());
        if (!type || operand.getOperandNumber() == dest.getOperandNumber())
          continue;
        if (type.getEncoding())
          fix(&dest);
        parts.push_back(
            {getNode(&dest), {&operand, perDim ? *perDim : PerDimRule()}});
      }
    }
  }
}

void EquivalenceFinder::visitBranch(BranchOpInterface op) {
  for (unsigned i = 0, e = op->getNumSuccessors(); i < e; ++i) {
    SuccessorOperands operands = op.getSuccessorOperands(i);
    MutableOperandRange forwarded = operands.getMutableForwardedOperands();
    for (auto [a, argument] :
         llvm::enumerate(op->getSuccessor(i)->getArguments())) {
      if (!isa<RankedTensorType>(argument.getType()))
        continue;
      if (operands.isOperandProduced(a))
        fix(argument);
      else
        unify(&forwarded[a - operands.getProducedOperandCount()], argument);
    }
  }
}

/// Fixes the types of block arguments if a predecessor ends in an op that does
/// not implement BranchOpInterface, which would state their operands.
void EquivalenceFinder::visitBlockArguments(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : llvm::drop_begin(region, region.empty() ? 0 : 1))
      for (Block *predecessor : block.getPredecessors())
        if (!isa<BranchOpInterface>(predecessor->getTerminator()))
          for (BlockArgument argument : block.getArguments())
            if (isa<RankedTensorType>(argument.getType()))
              fix(argument);
}

static bool hasTensors(FunctionOpInterface function) {
  return llvm::any_of(function.getArgumentTypes(),
                      llvm::IsaPred<RankedTensorType>) ||
         llvm::any_of(function.getResultTypes(),
                      llvm::IsaPred<RankedTensorType>);
}

void EquivalenceFinder::visitFunction(FunctionOpInterface function,
                                      ArrayRef<Operation *> users) {
  auto isCall = [&](Operation *user) {
    auto call = dyn_cast<CallOpInterface>(user);
    auto callee = call ? dyn_cast<SymbolRefAttr>(call.getCallableForCallee())
                       : SymbolRefAttr();
    return callee && root->isProperAncestor(user) &&
           callee.getLeafReference() == function.getNameAttr() &&
           call.getArgOperands().size() == function.getNumArguments() &&
           user->getNumResults() == function.getNumResults();
  };
  if (!llvm::all_of(users, isCall))
    return;
  // An argument of a function without callers is still chosen.
  for (BlockArgument argument : function.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      (void)getNode(argument);
  for (Operation *user : users) {
    MutableOperandRange operands =
        cast<CallOpInterface>(user).getArgOperandsMutable();
    for (auto [i, argument] : llvm::enumerate(function.getArguments()))
      unify(&operands[i], argument);
  }
  Operation *first = nullptr;
  for (Block &block : function.getFunctionBody()) {
    if (!block.mightHaveTerminator() ||
        !block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
      continue;
    Operation *last = block.getTerminator();
    for (OpOperand &operand : last->getOpOperands()) {
      unsigned i = operand.getOperandNumber();
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      (void)getNode(&operand);
      if (first)
        unify(&first->getOpOperand(i), &operand);
      for (Operation *user : users)
        unify(&operand, user->getResult(i));
    }
    first = last;
  }
}

void EquivalenceFinder::visitSymbolTable(Operation *op) {
  SmallVector<FunctionOpInterface> functions;
  for (Operation &inner : op->getRegion(0).getOps()) {
    auto function = dyn_cast<FunctionOpInterface>(inner);
    if (function && !function.isExternal() && hasTensors(function) &&
        (!function.isPublic() || function->hasAttr(kFlexibleABI)))
      functions.push_back(function);
  }
  if (functions.empty())
    return;
  SymbolTableCollection tables;
  SymbolUserMap users(tables, op);
  for (FunctionOpInterface function : functions)
    visitFunction(function, users.getUsers(function));
}

ControlFlow EquivalenceFinder::run() {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumRegions() == 0) {
      if (auto branch = dyn_cast<BranchOpInterface>(op))
        visitBranch(branch);
      return;
    }
    auto loop = dyn_cast<LoopLikeOpInterface>(op);
    auto parallel =
        loop && op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock()
            ? dyn_cast<InParallelOpInterface>(op->getRegion(0).front().back())
            : InParallelOpInterface();
    if (op != root && parallel)
      visitParallelLoop(loop, parallel);
    else if (op != root)
      if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
        visitRegionBranch(branch);
    visitBlockArguments(op);
    if (op->hasTrait<OpTrait::SymbolTable>())
      visitSymbolTable(op);
  });

  ControlFlow flow;
  std::vector<unsigned> classOf(uses.size(), ~0u);
  for (unsigned node = 0; node < uses.size(); ++node) {
    unsigned first = findRoot(node);
    if (isFixed[first])
      continue;
    if (first == node) {
      classOf[node] = flow.classes.size();
      flow.classes.push_back(
          {cast<RankedTensorType>(getType(uses[node])), {}, {}});
    }
    TypeEquivalenceClass &flowClass = flow.classes[classOf[first]];
    if (auto *operand = dyn_cast<OpOperand *>(uses[node])) {
      flowClass.operands.push_back(operand);
      flow.classOfOperand[operand] = classOf[first];
    } else {
      Value value = cast<Value>(uses[node]);
      flowClass.values.push_back(value);
      flow.classOfValue[value] = classOf[first];
    }
  }
  for (auto &[node, part] : parts) {
    unsigned flowClass = classOf[findRoot(node)];
    if (flowClass == ~0u)
      continue;
    flow.classOfOperand[part.operand] = flowClass;
    flow.classes[flowClass].parts.push_back(std::move(part));
  }
  return flow;
}

ControlFlow layout::findTypeEquivalenceClasses(Operation *root) {
  return EquivalenceFinder(root).run();
}
