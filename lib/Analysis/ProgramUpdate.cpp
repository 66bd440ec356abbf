//===- ProgramUpdate.cpp - Reads what has changed of a program ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is known of an op that did not change depends on ops around it in few
// ways: where its tensors come from and go to, which marks them; types of its
// operands, whose change changes the op; numbers that ops without a node make,
// which must not change in place; and what tensor.concat may do in place, near
// which nothing is kept.
//
//===----------------------------------------------------------------------===//

#include "ProgramReader.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

Program ProgramReader::runAndKeep() {
  Operation &only = root->getRegion(0).front().front();
  if (only.getNumRegions() == 1 && only.getRegion(0).hasOneBlock())
    block = &only.getRegion(0).front();
  Program result = run();
  if (!block)
    return result;
  numUses = uses.size();
  program.nodes = result.nodes;
  program.nodeClasses = result.nodeClasses;
  program.tensors = result.tensors;
  program.tensorClasses = result.tensorClasses;
  return result;
}

WalkResult ProgramReader::addRow(Operation *op) {
  size_t numNodes = program.nodes.size();
  WalkResult result = addOp(op);
  size_t added = program.nodes.size() - numNodes;
  bool isEntered = result == WalkResult::advance() && op->getNumRegions() != 0;
  if (isEntered || added > 1)
    block = nullptr;
  rows.push_back({op, op->getName().getAsOpaquePointer(), lastClass,
                  added == 1 ? unsigned(numNodes) : kNone});
  return result;
}

/// The class of a tensor has to be found again where one of its ops has
/// changed, or the order of these may have.
void ProgramReader::markTensors(const Row &row) {
  isMarked.resize(program.tensors.size(), false);
  if (row.node == kNone)
    return;
  auto [begin, end] = usesOf[row.node];
  for (size_t u = begin; u < end; ++u)
    isMarked[uses[u].tensor] = true;
  if (unsigned tensor = tensorOfFirst[row.node]; tensor != kNoTensor)
    isMarked[tensor] = true;
}

/// Of results of `gone` only those that `again` has are still known by their
/// values.
void ProgramReader::forgetResults(const DenseMap<Operation *, Row> &gone,
                                  const DenseSet<Operation *> &again) {
  DenseMap<unsigned, Operation *> opOfNode;
  for (auto &[op, row] : gone)
    if (row.node != kNone)
      opOfNode[row.node] = op;
  if (opOfNode.empty())
    return;
  for (auto [t, tensor] : llvm::enumerate(program.tensors)) {
    // Most are far away.
    auto it = tensor.producer == kFreeSource ? opOfNode.end()
                                             : opOfNode.find(tensor.producer);
    if (it == opOfNode.end())
      continue;
    isMarked[t] = true;
    if (again.contains(it->second) &&
        llvm::is_contained(it->second->getResults(), tensor.value))
      continue;
    tensorOf.erase(tensor.value);
    tensor.value = Value();
  }
}

/// Classes are known by one of their ops. Those that lose it get another one,
/// or match nothing any more.
void ProgramReader::findOthersForClasses(
    const DenseMap<Operation *, Row> &gone) {
  DenseSet<unsigned> classes;
  for (auto &[op, row] : gone)
    if (row.nodeClass != kNone && program.nodeClasses[row.nodeClass].op == op)
      classes.insert(row.nodeClass);
  for (unsigned nodeClass : classes)
    program.nodeClasses[nodeClass].op = nullptr;
  for (const Row &row : rows) {
    if (classes.empty())
      return;
    if (row.nodeClass == kNone || !classes.contains(row.nodeClass) ||
        gone.contains(row.op))
      continue;
    program.nodeClasses[row.nodeClass].op = row.op;
    classes.erase(row.nodeClass);
  }
}

/// The row of an op that is new or has changed, in which case `before` is not
/// null. Nothing where ops that did not change may depend on it otherwise than
/// by its tensors.
std::optional<ProgramReader::Row> ProgramReader::readRow(Operation *op,
                                                         const Row *before) {
  rows.clear();
  addRow(op);
  Row row = rows.back();
  if (!block)
    return std::nullopt;
  if (!before)
    return row;
  if (before->node == kNone || row.node == kNone || before->name != row.name)
    return std::nullopt;
  program.nodes[before->node] = program.nodes.back();
  program.nodes.pop_back();
  nodeOf[op] = row.node = before->node;
  return row;
}

bool ProgramReader::concernsConcatenations() const {
  auto isConcat = [](Operation *op) { return isa<tensor::ConcatOp>(op); };
  for (auto [t, tensor] : llvm::enumerate(program.tensors))
    if (isMarked[t] && tensor.value &&
        llvm::any_of(tensor.value.getUsers(), isConcat))
      return true;
  return false;
}

std::optional<Program>
ProgramReader::update(size_t begin, size_t numBefore, ArrayRef<NewRow> ops,
                      const LayoutConstraints &newConstraints) {
  constraints = &newConstraints;
  // What is no longer used adds up.
  if (uses.size() > 2 * numUses + 1024)
    return std::nullopt;
  isMarked.assign(program.tensors.size(), false);
  DenseMap<Operation *, Row> gone, same;
  for (const Row &row : ArrayRef(rows).slice(begin, numBefore)) {
    markTensors(row);
    gone[row.op] = row;
  }
  DenseSet<Operation *> again;
  for (NewRow row : ops)
    if (auto it = gone.find(row.op); it != gone.end()) {
      if (!row.isUnchanged) {
        again.insert(row.op);
        continue;
      }
      same.insert(*it);
      gone.erase(it);
      if (isa<tensor::ConcatOp>(row.op))
        return std::nullopt;
    }
  forgetResults(gone, again);
  findOthersForClasses(gone);
  for (auto &[op, row] : gone)
    if (!again.contains(op))
      nodeOf.erase(op);

  std::vector<Row> all = std::move(rows), added;
  for (NewRow row : ops) {
    if (row.isUnchanged) {
      added.push_back(same.lookup(row.op));
      continue;
    }
    auto it = gone.find(row.op);
    std::optional<Row> read =
        readRow(row.op, it == gone.end() ? nullptr : &it->second);
    if (!read)
      return std::nullopt;
    added.push_back(*read);
  }
  tensorOfFirst.resize(program.nodes.size(), kNoTensor);
  usesOf.resize(program.nodes.size());
  for (auto [row, isNew] : llvm::zip_equal(added, ops)) {
    if (row.node != kNone && !isNew.isUnchanged)
      addUses(row.node);
    markTensors(row);
  }
  if (concernsConcatenations())
    return std::nullopt;
  rows = std::move(all);
  replaceRows<Row>(rows, begin, numBefore, added);
  return putInOrder();
}

Program ProgramReader::putInOrder() {
  Program ordered;
  ordered.nodes.reserve(rows.size());
  std::vector<unsigned> newClass(program.nodeClasses.size(), kNone);
  std::vector<unsigned> placeOf(program.nodes.size()); // of nodes
  std::vector<unsigned> nodeAt;
  nodeAt.reserve(rows.size());
  firstOfClasses.clear();
  for (auto [r, row] : llvm::enumerate(rows)) {
    if (row.nodeClass == kNone)
      continue;
    unsigned &number = newClass[row.nodeClass];
    if (number == kNone) {
      number = ordered.nodeClasses.size();
      ordered.nodeClasses.push_back(program.nodeClasses[row.nodeClass]);
      ordered.nodeClasses.back().op = row.op;
      ordered.nodeClasses.back().meets.clear();
      firstOfClasses.push_back(r);
    }
    if (row.node == kNone)
      continue;
    placeOf[row.node] = nodeAt.size();
    nodeAt.push_back(row.node);
    ordered.nodes.push_back({number, row.op, 0});
  }
  std::vector<unsigned> tensorAt = orderTensors(ordered, nodeAt, placeOf);
  orderTensorClasses(ordered, tensorAt, newClass);
  return ordered;
}

/// Puts tensors in the order of their first uses, and finds the classes of
/// those that are marked.
std::vector<unsigned> ProgramReader::orderTensors(Program &ordered,
                                                  ArrayRef<unsigned> nodeAt,
                                                  ArrayRef<unsigned> placeOf) {
  struct Place {
    unsigned tensor = kNone, lastNode = kNone;
  };
  std::vector<Place> placeOfTensor(program.tensors.size());
  std::vector<unsigned> tensorAt, next;
  DenseMap<unsigned, SmallVector<unsigned, 4>> usesOfMarked;
  // Nodes with what they read, in new numbers.
  std::vector<std::pair<unsigned, unsigned>> reads;
  reads.reserve(numUses);
  tensorAt.reserve(nodeAt.size());
  next.reserve(nodeAt.size());
  ordered.tensors.reserve(nodeAt.size());
  for (auto [n, node] : llvm::enumerate(nodeAt))
    for (size_t u = usesOf[node].begin, e = usesOf[node].end; u < e; ++u) {
      unsigned t = uses[u].tensor;
      Place &place = placeOfTensor[t];
      if (place.tensor == kNone) {
        const Tensor &tensor = program.tensors[t];
        bool isFixed = tensor.producer == kFreeSource;
        place.tensor = tensorAt.size();
        tensorAt.push_back(t);
        next.push_back(0);
        ordered.tensors.push_back(
            {tensor.value, 0, isFixed ? kFreeSource : placeOf[tensor.producer],
             0});
      }
      if (isMarked[t])
        usesOfMarked[t].push_back(u);
      if (place.lastNode == node)
        continue;
      place.lastNode = node;
      ++next[place.tensor];
      reads.push_back({unsigned(n), place.tensor});
    }

  unsigned first = 0;
  for (auto [tensor, count] : llvm::zip_equal(ordered.tensors, next)) {
    tensor.firstConsumer = first;
    first += std::exchange(count, first);
  }
  ordered.consumers.resize(reads.size());
  for (auto [node, tensor] : reads)
    ordered.consumers[next[tensor]++] = node;
  for (auto &[t, own] : usesOfMarked)
    program.tensors[t].tensorClass =
        getTensorClass(describeTensor(program.tensors[t], own));
  return tensorAt;
}

void ProgramReader::orderTensorClasses(Program &ordered,
                                       ArrayRef<unsigned> tensorAt,
                                       ArrayRef<unsigned> newNodeClass) {
  std::vector<unsigned> newClass(program.tensorClasses.size(), kNone);
  for (auto [tensor, t] : llvm::zip_equal(ordered.tensors, tensorAt)) {
    unsigned known = program.tensors[t].tensorClass;
    if (newClass[known] == kNone) {
      newClass[known] = ordered.tensorClasses.size();
      TensorClass copy = program.tensorClasses[known];
      copy.first = tensor.value;
      if (copy.producer)
        copy.producer = newNodeClass[*copy.producer];
      for (TensorClass::Consumer &consumer : copy.consumers)
        consumer.nodeClass = newNodeClass[consumer.nodeClass];
      addTensorClass(ordered, std::move(copy));
    }
    tensor.tensorClass = newClass[known];
  }
}
