//===- PeakMemory.cpp - Live tensors at each program point ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory/PeakMemory.h"
#include "LayoutModel.h"
#include "layout/Support/BufferAlignment.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include <functional>
#include <map>

using namespace mlir;
using namespace mlir::layout;

bool LiveTensor::covers(const LiveTensor &other) const {
  return tensor == other.tensor && isMade >= other.isMade &&
         llvm::includes(consumers, other.consumers) &&
         llvm::includes(movers, other.movers);
}

bool LivenessPoint::covers(const LivenessPoint &other) const {
  const auto *own = live.begin();
  for (const LiveTensor &tensor : other.live) {
    while (own != live.end() && own->tensor < tensor.tensor)
      ++own;
    if (own == live.end() || !own->covers(tensor))
      return false;
  }
  return llvm::all_of(other.fresh, [&](const auto &each) {
    return llvm::is_contained(fresh, each);
  });
}

namespace {
/// Finds the program points and the tensors that are live there. The ops of a
/// function are numbered: an even position is at an op, and the next odd one
/// after it.
class PointFinder {
public:
  PointFinder(Operation *root, const Program &program);
  std::vector<LivenessPoint> run();

private:
  struct Span {
    int64_t begin, end;
  };
  /// The live range, from position `begin` to `end` inclusive, of a tensor
  /// (Made), a copy for a consumer (Requested), or a conversion buffer (Moved).
  struct Life {
    int64_t begin, end;
    unsigned tensor;
    enum Kind { Made, Requested, Moved } kind;
    unsigned consumer;
  };
  /// The tensors that are live at a call of a function, without the results of
  /// the call.
  using Outer = SmallVector<LiveTensor, 0>;

  const NodeClass *getClass(Operation *op) const {
    auto it = nodeOf.find(op);
    return it == nodeOf.end() ? nullptr
                              : &program.getClass(program.nodes[it->second]);
  }
  bool isView(Operation *op) const {
    const NodeClass *known = getClass(op);
    return known && std::holds_alternative<ViewRule>(known->rule);
  }
  void number(Region &region);
  bool escapes(OpOperand &use) const;
  int64_t getUseEnd(OpOperand &use, Block *block);
  int64_t getEnd(Value value);
  Span getSpan(Value value);
  void addLives(unsigned tensor, bool isCalled, std::vector<Life> &lives);
  void addFresh(LivenessPoint &point) const;
  std::vector<LivenessPoint> findInside(FunctionOpInterface function,
                                        bool isCalled,
                                        std::vector<LivenessPoint> &calls);

  Operation *root;
  const Program &program;
  DenseMap<Operation *, unsigned> nodeOf;
  DenseMap<Operation *, Span> spans;
  /// The ops of the current function that have positions, in order: all except
  /// those in the body of an op with a layout rule.
  std::vector<Operation *> ops;
  DenseMap<Operation *, SmallVector<unsigned, 0>> tensorsOf;
  DenseMap<Value, int64_t> ends;
  int64_t next = 0, lastOfFunction = 0;
};
} // namespace

PointFinder::PointFinder(Operation *root, const Program &program)
    : root(root), program(program) {
  for (auto [n, node] : llvm::enumerate(program.nodes))
    if (node.op)
      nodeOf[node.op] = n;
  for (auto [t, tensor] : llvm::enumerate(program.tensors)) {
    Value value = tensor.value;
    Operation *parent = value.getParentBlock()->getParentOp();
    auto function = dyn_cast<FunctionOpInterface>(parent);
    if (!function)
      function = parent->getParentOfType<FunctionOpInterface>();
    tensorsOf[function].push_back(t);
  }
}

void PointFinder::number(Region &region) {
  for (Operation &op : region.getOps()) {
    int64_t begin = next;
    next += 2;
    ops.push_back(&op);
    const NodeClass *known = getClass(&op);
    // Ops in the body of an op with a rule, other than OpaqueRule, have no
    // positions.
    if (op.getNumRegions() &&
        (!known || std::holds_alternative<OpaqueRule>(known->rule))) {
      for (Region &inner : op.getRegions())
        number(inner);
      next += 2;
    }
    spans[&op] = {begin, std::max(begin, next - 2)};
  }
}

/// Returns true if the memory of the tensor may be in use until the end of the
/// block, because the user is a terminator, a call or forwards it by control
/// flow.
bool PointFinder::escapes(OpOperand &use) const {
  Operation *user = use.getOwner();
  return user->hasTrait<OpTrait::IsTerminator>() ||
         isa<CallOpInterface>(user) || program.flow.classOfOperand.count(&use);
}

int64_t PointFinder::getUseEnd(OpOperand &use, Block *block) {
  Operation *user = use.getOwner(), *top = block->findAncestorOpInBlock(*user);
  auto it = top ? spans.find(top) : spans.end();
  if (it == spans.end() || !block->getParent()->hasOneBlock())
    return lastOfFunction;
  if (escapes(use))
    return spans.lookup(&block->back()).end;
  int64_t end = it->second.end;
  // The result of a view or slice may be read in the memory of its source.
  if ((isView(user) || isa<tensor::ExtractSliceOp>(user)) && user == top)
    for (Value result : user->getResults())
      end = std::max(end, getEnd(result));
  return end;
}

int64_t PointFinder::getEnd(Value value) {
  if (auto known = ends.find(value); known != ends.end())
    return known->second;
  int64_t end = 0;
  for (OpOperand &use : value.getUses())
    end = std::max(end, getUseEnd(use, value.getParentBlock()));
  return ends[value] = end;
}

PointFinder::Span PointFinder::getSpan(Value value) {
  Block *block = value.getParentBlock();
  bool isStraight = block->getParent()->hasOneBlock();
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return {isStraight ? spans.lookup(value.getDefiningOp()).end : 0,
            getEnd(value)};
  auto it = spans.find(block->getParentOp());
  if (it == spans.end())
    return {0, lastOfFunction};
  return it->second;
}

void PointFinder::addLives(unsigned number, bool isCalled,
                           std::vector<Life> &lives) {
  const Tensor &tensor = program.tensors[number];
  Value value = tensor.value;
  Block *block = value.getParentBlock();
  Span span = getSpan(value);
  Operation *producer = value.getDefiningOp();
  bool isOfCaller =
      isCalled && !producer && isa<FunctionOpInterface>(block->getParentOp());
  // Operands that control flow forwards belong to one node, the flow class.
  DenseMap<unsigned, std::pair<int64_t, bool>> endOf;
  for (OpOperand &use : value.getUses()) {
    auto flowClass = program.flow.classOfOperand.find(&use);
    auto node = nodeOf.find(use.getOwner());
    unsigned consumer;
    if (flowClass != program.flow.classOfOperand.end())
      consumer = program.nodes.size() - program.flow.classes.size() +
                 flowClass->second;
    else if (node != nodeOf.end())
      consumer = node->second;
    else
      continue;
    auto &[end, isInner] = endOf[consumer];
    end = std::max(end, getUseEnd(use, block));
    isInner |= use.getOwner()->getBlock() != block;
  }
  int64_t behind = span.begin + 1;
  // The memory of an argument stays live, because its owner keeps it.
  int64_t kept = producer ? behind : span.end;
  for (auto [c, node] : llvm::enumerate(program.getConsumers(tensor))) {
    auto [end, isInner] = endOf.lookup(node);
    end = std::max(end, behind);
    lives.push_back({behind, end, number, Life::Requested, unsigned(c)});
    // A copy in an inner block may be made later: the buffer and the source
    // stay live until the last use.
    lives.push_back(
        {behind, isInner ? end : behind, number, Life::Moved, unsigned(c)});
    if (isInner)
      kept = std::max(kept, end);
  }
  if (!isOfCaller)
    lives.push_back({span.begin, kept, number, Life::Made, 0});
}

void PointFinder::addFresh(LivenessPoint &point) const {
  auto node = nodeOf.find(point.op);
  if (node == nodeOf.end())
    return;
  if (isa<ConvertOp>(point.op))
    point.fresh.push_back({node->second, 0});
  auto dest = dyn_cast<DestinationStyleOpInterface>(point.op);
  for (OpOperand &operand : point.op->getOpOperands()) {
    Operation *source = operand.get().getDefiningOp();
    if (!source || !hasKnownLayout(operand.get()) ||
        (dest && dest.isDpsInit(&operand)) || nodeOf.count(source) ||
        matchPattern(source, m_Constant()) ||
        !isRematerializable(source, getLayoutRule(source)))
      continue;
    point.fresh.push_back({node->second, operand.getOperandNumber()});
  }
}

/// Appends `point`, unless its live tensors are a subset of those of the last
/// point, and first removes points at the end whose live tensors are a subset
/// of its own.
static void addPoint(std::vector<LivenessPoint> &points, LivenessPoint point) {
  while (!points.empty() && point.covers(points.back()))
    points.pop_back();
  if (points.empty() || !points.back().covers(point))
    points.push_back(std::move(point));
}

/// Finds the points in a function, with its own live tensors only, without
/// those of its callers. If `isCalled`, its arguments belong to the callers.
/// Appends the points at which it calls functions to `calls`.
std::vector<LivenessPoint>
PointFinder::findInside(FunctionOpInterface function, bool isCalled,
                        std::vector<LivenessPoint> &calls) {
  spans.clear();
  ops.clear();
  ends.clear();
  next = 2; // 0 is the function entry, with the arguments
  number(function.getFunctionBody());
  lastOfFunction = next;
  std::vector<Life> lives;
  for (unsigned tensor : tensorsOf.lookup(function))
    addLives(tensor, isCalled, lives);
  llvm::stable_sort(
      lives, [](const Life &a, const Life &b) { return a.begin < b.begin; });
  DenseMap<int64_t, Operation *> opAt;
  opAt[0] = function;
  std::vector<int64_t> positions = {0, 1};
  for (Operation *op : ops) {
    Span span = spans.lookup(op);
    opAt[span.begin] = op;
    opAt[span.end] = op;
    if (!hasKnownTensors(op))
      continue;
    for (int64_t position : {span.begin, span.end}) {
      positions.push_back(position);
      positions.push_back(position + 1);
    }
  }
  llvm::sort(positions);
  positions.erase(llvm::unique(positions), positions.end());

  std::vector<LivenessPoint> points;
  std::vector<Life> alive;
  size_t begun = 0;
  for (int64_t position : positions) {
    while (begun < lives.size() && lives[begun].begin <= position)
      alive.push_back(lives[begun++]);
    llvm::erase_if(alive,
                   [&](const Life &life) { return life.end < position; });
    LivenessPoint point{opAt.lookup(position & ~int64_t(1)), {}, {}};
    std::map<unsigned, LiveTensor> live;
    for (const Life &life : alive) {
      LiveTensor &tensor = live[life.tensor];
      tensor.tensor = life.tensor;
      if (life.kind == Life::Made)
        tensor.isMade = true;
      else
        (life.kind == Life::Requested ? tensor.consumers : tensor.movers)
            .push_back(life.consumer);
    }
    for (auto &[number, tensor] : live) {
      llvm::sort(tensor.consumers);
      llvm::sort(tensor.movers);
      point.live.push_back(std::move(tensor));
    }
    if (position % 2 == 0) {
      addFresh(point);
      if (isa<CallOpInterface>(point.op))
        calls.push_back(point);
    }
    addPoint(points, std::move(point));
  }
  return points;
}

std::vector<LivenessPoint> PointFinder::run() {
  struct Function {
    bool isCalledAlone = false;
    std::vector<LivenessPoint> points, calls;
    std::vector<Outer> outer;
    bool isOpen = false;
  };
  llvm::MapVector<Operation *, Function> functions;
  root->walk([&](FunctionOpInterface function) {
    if (!function.isExternal())
      functions[function];
  });
  SymbolTableCollection symbols;
  auto getCallee = [&](Operation *call) -> Operation * {
    Operation *callee =
        cast<CallOpInterface>(call).resolveCallableInTable(&symbols);
    return callee && functions.contains(callee) ? callee : nullptr;
  };
  root->walk([&](CallOpInterface call) {
    if (Operation *callee = getCallee(call))
      functions[callee].isCalledAlone =
          cast<SymbolOpInterface>(callee).isPrivate();
  });
  for (auto &[op, function] : functions)
    function.points = findInside(cast<FunctionOpInterface>(op),
                                 function.isCalledAlone, function.calls);

  auto merge = [](LivenessPoint point, const Outer &outer) {
    llvm::append_range(point.live, outer);
    llvm::stable_sort(point.live, [](const LiveTensor &a, const LiveTensor &b) {
      return a.tensor < b.tensor;
    });
    return point;
  };
  std::vector<LivenessPoint> all;
  // Adds the tensors that are live at calls on the path to a function.
  std::function<void(Operation *, const Outer &)> visit =
      [&](Operation *op, const Outer &outer) {
        Function &function = functions[op];
        if (function.isOpen)
          return;
        function.isOpen = true;
        for (const LivenessPoint &point : function.points)
          addPoint(all, merge(point, outer));
        for (const LivenessPoint &call : function.calls)
          if (Operation *callee = getCallee(call.op)) {
            LivenessPoint there = merge(call, outer);
            llvm::erase_if(there.live, [&](const LiveTensor &live) {
              return program.tensors[live.tensor].value.getDefiningOp() ==
                     call.op;
            });
            std::vector<Outer> &known = functions[callee].outer;
            if (llvm::any_of(known, [&](const Outer &other) {
                  return LivenessPoint{call.op, other, {}}.covers(
                      LivenessPoint{call.op, there.live, {}});
                }))
              continue;
            known.push_back(there.live);
            visit(callee, there.live);
          }
        function.isOpen = false;
      };
  for (auto &[op, function] : functions)
    if (!function.isCalledAlone)
      visit(op, {});
  // Private functions that no other function reaches.
  for (auto &[op, function] : functions)
    if (function.isCalledAlone && function.outer.empty())
      visit(op, {});
  return all;
}

std::vector<LivenessPoint> layout::findLivenessPoints(Operation *root,
                                                      const Program &program) {
  return PointFinder(root, program).run();
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// Returns the bytes that are allocated for a buffer: kBufferAlignment more
/// than `bytes`, or 0 for an empty one.
static int64_t allocate(int64_t bytes) {
  return bytes ? addCosts(bytes, kBufferAlignment) : 0;
}

LayoutId MemoryModel::getMade(const TensorClass &tensor,
                              unsigned producerConfig) const {
  LayoutId made = tensor.producer ? candidates[*tensor.producer]
                                        .configs[producerConfig]
                                        .layouts.results[tensor.result]
                                  : kAnyLayout;
  return made == kAnyLayout ? costs.getLayoutOf(tensor.type) : made;
}

int64_t MemoryModel::getMadeBytes(const TensorClass &tensor,
                                  unsigned producerConfig) {
  // A view that has a price moves elements, so its result has memory of its
  // own.
  if (isView(tensor) &&
      candidates[*tensor.producer].configs[producerConfig].cost == 0)
    return 0;
  int64_t bytes =
      costs.getStoredBytes(tensor.type, getMade(tensor, producerConfig));
  return tensor.producer ? allocate(bytes) : bytes;
}

int64_t MemoryModel::getRequestedBytes(const TensorClass &tensor, bool isMade,
                                       unsigned producerConfig,
                                       LayoutId layout) {
  if (dependsOnProducer(tensor, isMade) &&
      layout == getMade(tensor, producerConfig))
    return isMade ? 0 : getMadeBytes(tensor, producerConfig);
  return allocate(costs.getStoredBytes(tensor.type, layout));
}

bool MemoryModel::dependsOnProducer(const TensorClass &tensor,
                                    bool isMade) const {
  return isMade || isView(tensor);
}

int64_t MemoryModel::getBufferBytes(const TensorClass &tensor,
                                    unsigned producerConfig, LayoutId layout) {
  LayoutId made = getMade(tensor, producerConfig);
  if (made == layout)
    return 0;
  auto [it, isNew] = buffers.try_emplace({tensor.type, {made, layout}});
  if (isNew)
    it->second = allocate(costs.getModel().getBufferBytes(
        costs.getStoredType(tensor.type, made),
        costs.getStoredType(tensor.type, layout)));
  return it->second;
}

int64_t MemoryModel::getFreshBytes(unsigned node, unsigned operand,
                                   unsigned config) {
  if (auto convert = dyn_cast<ConvertOp>(program.nodes[node].op))
    return allocate(costs.getModel().getBufferBytes(
        convert.getSource().getType(), convert.getResult().getType()));
  unsigned nodeClass = program.nodes[node].nodeClass;
  auto type = cast<RankedTensorType>(
      program.nodes[node].op->getOperand(operand).getType());
  LayoutId layout =
      candidates[nodeClass].configs[config].layouts.operands[operand];
  return allocate(costs.getStoredBytes(
      type, layout == kAnyLayout ? costs.getLayoutOf(type) : layout));
}

int64_t MemoryModel::getBytes(const LivenessPoint &point,
                              ArrayRef<unsigned> choice) {
  int64_t bytes = 0;
  for (const LiveTensor &live : point.live) {
    const Tensor &tensor = program.tensors[live.tensor];
    const TensorClass &known = program.tensorClasses[tensor.tensorClass];
    unsigned made = known.producer ? choice[tensor.producer] : 0;
    if (live.isMade)
      bytes = addCosts(bytes, getMadeBytes(known, made));
    auto visit = [&](ArrayRef<unsigned> consumers, auto take) {
      for (unsigned c : consumers) {
        unsigned node = program.getConsumers(tensor)[c];
        const OpConfig &config =
            candidates[program.nodes[node].nodeClass].configs[choice[node]];
        llvm::for_each(
            LayoutModel::getNeeds(config, known.consumers[c].operands), take);
      }
    };
    SmallVector<LayoutId, 4> requested;
    visit(live.consumers, [&](LayoutId layout) {
      if (!llvm::is_contained(requested, layout))
        requested.push_back(layout);
    });
    for (LayoutId layout : requested)
      bytes =
          addCosts(bytes, getRequestedBytes(known, live.isMade, made, layout));
    int64_t buffer = 0;
    visit(live.movers, [&](LayoutId layout) {
      buffer = std::max(buffer, getBufferBytes(known, made, layout));
    });
    bytes = addCosts(bytes, buffer);
  }
  for (auto [node, operand] : point.fresh)
    bytes = addCosts(bytes, getFreshBytes(node, operand, choice[node]));
  return bytes;
}
