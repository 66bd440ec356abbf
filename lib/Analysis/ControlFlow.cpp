//===- ControlFlow.cpp - Tensors tied by control flow ---------------------===//
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

/// Builds ties by union-find. Drops fixed uses, and all uses tied to them.
class TieFinder {
public:
  explicit TieFinder(Operation *root) : root(root) {}

  ControlFlow run();

private:
  unsigned getNode(TensorUse use);
  void tie(TensorUse x, TensorUse y);
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
  /// The parts, each with the use of the tensor into which it is inserted.
  std::vector<std::pair<unsigned, TiedPart>> parts;
};

} // namespace

Type layout::getType(TensorUse use) {
  if (auto *operand = dyn_cast<OpOperand *>(use))
    return operand->get().getType();
  return cast<Value>(use).getType();
}

unsigned TieFinder::getNode(TensorUse use) {
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

unsigned TieFinder::findRoot(unsigned node) {
  while (parent[node] != node)
    node = parent[node] = parent[parent[node]];
  return node;
}

void TieFinder::tie(TensorUse x, TensorUse y) {
  if (!isa<RankedTensorType>(getType(x)))
    return;
  unsigned a = findRoot(getNode(x)), b = findRoot(getNode(y));
  if (getType(x) != getType(y))
    isFixed[a] = true;
  // The earlier use becomes the root, which keeps the order of the IR.
  parent[std::max(a, b)] = std::min(a, b);
  isFixed[std::min(a, b)] |= isFixed[std::max(a, b)];
}

void TieFinder::visitRegionBranch(RegionBranchOpInterface op) {
  RegionBranchSuccessorMapping mapping;
  op.getSuccessorOperandInputMapping(mapping);
  DenseSet<Value> reached;
  auto visit = [&](OpOperand &operand) {
    auto it = mapping.find(&operand);
    if (it == mapping.end())
      return;
    for (Value input : it->second) {
      tie(&operand, input);
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

/// Ties the shared tensors of a parallel loop, into which its concurrent bodies
/// insert parts, and its results.
void TieFinder::visitParallelLoop(LoopLikeOpInterface loop,
                                  InParallelOpInterface end) {
  bool hasResults = loop->getNumResults() == loop.getInits().size();
  for (auto [i, init, argument] :
       llvm::enumerate(loop.getInitsMutable(), loop.getRegionIterArgs())) {
    tie(&init, argument);
    if (hasResults)
      tie(&init, loop->getResult(i));
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
      tie(&dest, dest.get());
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

void TieFinder::visitBranch(BranchOpInterface op) {
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
        tie(&forwarded[a - operands.getProducedOperandCount()], argument);
    }
  }
}

/// Fixes the arguments of blocks whose predecessors state no operands.
void TieFinder::visitBlockArguments(Operation *op) {
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

void TieFinder::visitFunction(FunctionOpInterface function,
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
      tie(&operands[i], argument);
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
        tie(&first->getOpOperand(i), &operand);
      for (Operation *user : users)
        tie(&operand, user->getResult(i));
    }
    first = last;
  }
}

void TieFinder::visitSymbolTable(Operation *op) {
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

ControlFlow TieFinder::run() {
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
  std::vector<unsigned> tieOf(uses.size(), ~0u);
  for (unsigned node = 0; node < uses.size(); ++node) {
    unsigned first = findRoot(node);
    if (isFixed[first])
      continue;
    if (first == node) {
      tieOf[node] = flow.ties.size();
      flow.ties.push_back(
          {cast<RankedTensorType>(getType(uses[node])), {}, {}});
    }
    TypeEquivalenceClass &tie = flow.ties[tieOf[first]];
    if (auto *operand = dyn_cast<OpOperand *>(uses[node])) {
      tie.operands.push_back(operand);
      flow.tieOfOperand[operand] = tieOf[first];
    } else {
      Value value = cast<Value>(uses[node]);
      tie.values.push_back(value);
      flow.tieOfValue[value] = tieOf[first];
    }
  }
  for (auto &[node, part] : parts) {
    unsigned tie = tieOf[findRoot(node)];
    if (tie == ~0u)
      continue;
    flow.tieOfOperand[part.operand] = tie;
    flow.ties[tie].parts.push_back(std::move(part));
  }
  return flow;
}

ControlFlow layout::findTypeEquivalenceClasses(Operation *root) {
  return TieFinder(root).run();
}
