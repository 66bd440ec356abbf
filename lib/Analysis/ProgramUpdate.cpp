//===- ProgramUpdate.cpp - Updates a program after changes ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An unchanged op depends on surrounding ops in few ways:
//
//   dependence                                    | treatment
//   producers and consumers of its tensors        | these tensors are marked
//   types of its operands                         | count as a change of the op
//   scalars made by ops without a node            | must not change
//   in-place uses (tensor.concat, destinations)   | no update near them
//
//===----------------------------------------------------------------------===//

#include "ProgramReader.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <numeric>

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
  // Numbers initially equal positions.
  auto countUp = [](std::vector<unsigned> &numbers, size_t size) {
    numbers.resize(size);
    std::iota(numbers.begin(), numbers.end(), 0);
  };
  for (std::vector<unsigned> *numbers : {&nodeAt, &placeOfNode})
    countUp(*numbers, program.nodes.size());
  for (std::vector<unsigned> *numbers : {&tensorAt, &placeOfTensor})
    countUp(*numbers, program.tensors.size());
  countUp(nodeClassAt, program.nodeClasses.size());
  countUp(tensorClassAt, program.tensorClasses.size());
  numOfNodeClass.resize(nodeClassAt.size());
  for (const Row &row : rows)
    if (row.nodeClass != kNone)
      ++numOfNodeClass[row.nodeClass];
  numOfTensorClass.resize(tensorClassAt.size());
  for (const Tensor &tensor : program.tensors)
    ++numOfTensorClass[tensor.tensorClass];
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

/// Marks the tensors of a row, whose position and class are recomputed: an op
/// of theirs changed, or the order of these may have.
void ProgramReader::markTensors(const Row &row) {
  if (row.node == kNone)
    return;
  for (const Use &use : getUses(row.node))
    marked.insert(use.tensor);
  if (unsigned tensor = tensorOfFirst[row.node]; tensor != kNoTensor)
    marked.insert(tensor);
}

/// Forgets the results of ops in `gone`, except those that ops in `again` still
/// have.
void ProgramReader::forgetResults(const DenseMap<Operation *, Row> &gone,
                                  const DenseSet<Operation *> &again) {
  DenseMap<unsigned, Operation *> opOfNode;
  unsigned least = kNone, most = 0;
  for (auto &[op, row] : gone)
    if (row.node != kNone) {
      opOfNode[row.node] = op;
      least = std::min(least, row.node);
      most = std::max(most, row.node);
    }
  if (opOfNode.empty())
    return;
  for (auto [t, tensor] : llvm::enumerate(program.tensors)) {
    // Skips most tensors.
    if (tensor.producer - least > most - least)
      continue;
    auto it = opOfNode.find(tensor.producer);
    if (it == opOfNode.end())
      continue;
    marked.insert(t);
    if (again.contains(it->second) &&
        llvm::is_contained(it->second->getResults(), tensor.value))
      continue;
    tensorOf.erase(tensor.value);
    tensor.value = Value();
  }
}

/// Finds a new representative op for each class that loses its own. A class
/// without one no longer matches any op.
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

/// Reads the row of an op that is new or changed; `before` is null unless it
/// changed. Returns std::nullopt if unchanged ops may depend on it other than
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

/// Returns true if the use belongs to an op that may compute in place, which
/// depends on other users of the value and on its producer.
static bool mayBeInPlace(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<tensor::ConcatOp>(op))
    return true;
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return destination.isDpsInit(&use);
  return isa<tensor::ExtractSliceOp>(op) &&
         llvm::any_of(op->getUses(), mayBeInPlace);
}

bool ProgramReader::concernsOpsInPlace() const {
  return llvm::any_of(marked, [&](unsigned t) {
    Value value = program.tensors[t].value;
    return value && llvm::any_of(value.getUses(), mayBeInPlace);
  });
}

std::optional<Program>
ProgramReader::update(Program last, size_t begin, size_t numBefore,
                      ArrayRef<NewRow> ops,
                      const LayoutConstraints &newConstraints) {
  constraints = &newConstraints;
  // Limits the memory of dead uses.
  if (uses.size() > 2 * numUses + 1024)
    return std::nullopt;
  marked.clear();
  DenseMap<Operation *, Row> gone, same;
  OperationName concat(tensor::ConcatOp::getOperationName(),
                       block->getParentOp()->getContext());
  auto isConcat = [&](const Row &row) {
    return row.name == concat.getAsOpaquePointer();
  };
  for (const Row &row : ArrayRef(rows).slice(begin, numBefore)) {
    if (isConcat(row))
      return std::nullopt;
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
    if (!read || isConcat(*read))
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
  if (concernsOpsInPlace())
    return std::nullopt;
  rows = std::move(all);
  Change change = replaceNodes(last, begin, numBefore, added);
  orderNodeClasses(last, change);
  std::vector<Moved> moved = findPlaces(last, change);
  replaceTensors(last, change, moved);
  orderTensorClasses(last, moved);
  return last;
}

/// Replaces the nodes of changed rows. Uses the class numbers of `program`.
ProgramReader::Change ProgramReader::replaceNodes(Program &ordered,
                                                  size_t begin,
                                                  size_t numBefore,
                                                  ArrayRef<Row> added) {
  auto hasNode = [](const Row &row) { return row.node != kNone; };
  auto gone = ArrayRef(rows).slice(begin, numBefore);
  auto first = std::find_if(rows.begin() + begin, rows.end(), hasNode);
  Change change;
  change.begin = first == rows.end() ? nodeAt.size() : placeOfNode[first->node];
  change.numBefore = llvm::count_if(gone, hasNode);
  numOfNodeClass.resize(program.nodeClasses.size());
  for (const Row &row : gone)
    if (row.nodeClass != kNone)
      --numOfNodeClass[row.nodeClass];
  std::vector<Node> nodes;
  std::vector<unsigned> numbers;
  for (const Row &row : added) {
    if (row.nodeClass != kNone)
      ++numOfNodeClass[row.nodeClass];
    if (!hasNode(row))
      continue;
    nodes.push_back({row.nodeClass, row.op, 0});
    numbers.push_back(row.node);
  }
  change.numAfter = nodes.size();
  replaceRows<Node>(ordered.nodes, change.begin, change.numBefore, nodes);
  replaceRows<unsigned>(nodeAt, change.begin, change.numBefore, numbers);
  replaceRows<Row>(rows, begin, numBefore, added);
  placeOfNode.resize(program.nodes.size());
  size_t end = change.numBefore == change.numAfter
                   ? change.begin + change.numAfter
                   : nodeAt.size();
  for (size_t place = change.begin; place < end; ++place)
    placeOfNode[nodeAt[place]] = place;
  return change;
}

/// Returns the new class numbers, by the old ones, or an empty list if all
/// remaining classes keep theirs.
static std::vector<unsigned> renumber(ArrayRef<unsigned> classesBefore,
                                      ArrayRef<unsigned> newNumber) {
  std::vector<unsigned> result;
  bool isSame = true;
  for (auto [number, known] : llvm::enumerate(classesBefore)) {
    result.push_back(newNumber[known]);
    isSame &= result.back() == number || result.back() == ~0u;
  }
  if (isSame)
    result.clear();
  return result;
}

void ProgramReader::orderNodeClasses(Program &ordered, const Change &change) {
  newNodeClass.assign(program.nodeClasses.size(), kNone);
  size_t numClasses = numOfNodeClass.size() - llvm::count(numOfNodeClass, 0u);
  std::vector<unsigned> before = std::move(nodeClassAt);
  nodeClassAt.clear();
  firstOfClasses.clear();
  ordered.nodeClasses.clear();
  for (size_t r = 0; nodeClassAt.size() < numClasses; ++r) {
    const Row &row = rows[r];
    if (row.nodeClass == kNone || newNodeClass[row.nodeClass] != kNone)
      continue;
    newNodeClass[row.nodeClass] = nodeClassAt.size();
    nodeClassAt.push_back(row.nodeClass);
    ordered.nodeClasses.push_back(program.nodeClasses[row.nodeClass]);
    ordered.nodeClasses.back().op = row.op;
    ordered.nodeClasses.back().incidentTensors.clear();
    firstOfClasses.push_back(r);
  }
  MutableArrayRef<Node> nodes(ordered.nodes);
  for (Node &node : nodes.slice(change.begin, change.numAfter))
    node.nodeClass = newNodeClass[node.nodeClass];
  std::vector<unsigned> renumbered = renumber(before, newNodeClass);
  if (renumbered.empty())
    return;
  for (MutableArrayRef<Node> part :
       {nodes.take_front(change.begin),
        nodes.drop_front(change.begin + change.numAfter)})
    for (Node &node : part)
      node.nodeClass = renumbered[node.nodeClass];
}

/// Computes the new positions of marked tensors with uses. Tensors are sorted
/// by their first uses.
std::vector<ProgramReader::Moved>
ProgramReader::findPlaces(const Program &last, const Change &change) {
  placeOfTensor.resize(program.tensors.size(), kNone);
  unsigned changedEnd = change.begin + change.numAfter;
  DenseMap<unsigned, SmallVector<unsigned, 4>> changedUsers;
  for (unsigned place = change.begin; place < changedEnd; ++place)
    for (const Use &use : getUses(nodeAt[place])) {
      SmallVector<unsigned, 4> &users = changedUsers[use.tensor];
      if (users.empty() || users.back() != place)
        users.push_back(place);
    }
  // No unmarked tensor is first read by a changed node.
  auto getFirst = [&](const Tensor &tensor) {
    return change.move(last.consumers[tensor.firstConsumer]);
  };
  auto getRank = [&](unsigned place, unsigned tensor) {
    ArrayRef<Use> own = getUses(nodeAt[place]);
    return llvm::find_if(own,
                         [&](const Use &use) { return use.tensor == tensor; }) -
           own.begin();
  };
  std::vector<Moved> moved;
  for (unsigned t : marked) {
    Moved tensor;
    tensor.number = t;
    tensor.before = placeOfTensor[t];
    ArrayRef<unsigned> before;
    if (tensor.before != kNone)
      before = last.getConsumers(last.tensors[tensor.before]);
    for (unsigned node : before)
      if (node < change.begin)
        tensor.consumers.push_back(node);
    llvm::append_range(tensor.consumers, changedUsers.lookup(t));
    for (unsigned node : before)
      if (node >= change.begin + change.numBefore)
        tensor.consumers.push_back(change.move(node));
    if (!tensor.consumers.empty()) {
      unsigned first = tensor.consumers.front();
      tensor.order = {first, getRank(first, t)};
      auto isBefore = [&](const Tensor &other) {
        unsigned its = getFirst(other);
        if (its != first || its < changedEnd)
          return its < first;
        return getRank(its, tensorAt[&other - last.tensors.data()]) <
               tensor.order.second;
      };
      tensor.place = first < change.begin
                         ? tensor.before
                         : llvm::partition_point(last.tensors, isBefore) -
                               last.tensors.begin();
    }
    moved.push_back(std::move(tensor));
  }
  llvm::sort(moved,
             [](const Moved &a, const Moved &b) { return a.order < b.order; });
  return moved;
}

void ProgramReader::replaceTensors(Program &ordered, const Change &change,
                                   ArrayRef<Moved> moved) {
  size_t begin = ordered.tensors.size(), end = 0;
  for (const Moved &tensor : moved) {
    if (tensor.before != kNone) {
      begin = std::min<size_t>(begin, tensor.before);
      end = std::max<size_t>(end, tensor.before + 1);
      placeOfTensor[tensor.number] = kNone;
    }
    if (!tensor.consumers.empty()) {
      begin = std::min<size_t>(begin, tensor.place);
      end = std::max<size_t>(end, tensor.place);
    }
  }
  begin = std::min(begin, end);
  auto getFirstConsumer = [&](size_t place) -> size_t {
    return place < ordered.tensors.size() ? ordered.tensors[place].firstConsumer
                                          : ordered.consumers.size();
  };
  size_t firstConsumer = getFirstConsumer(begin),
         endConsumer = getFirstConsumer(end);
  std::vector<Tensor> tensors;
  std::vector<unsigned> numbers, consumers;
  auto add = [&](unsigned number, unsigned tensorClass) {
    const Tensor &known = program.tensors[number];
    bool isFixed = known.producer == kRematerializable;
    tensors.push_back(
        {known.value, tensorClass,
         isFixed ? kRematerializable : placeOfNode[known.producer],
         unsigned(firstConsumer + consumers.size())});
    numbers.push_back(number);
  };
  const Moved *next = moved.begin();
  for (size_t place = begin;; ++place) {
    for (; next != moved.end() && next->place == place; ++next) {
      add(next->number, kNone);
      llvm::append_range(consumers, next->consumers);
    }
    if (place == end)
      break;
    const Tensor &tensor = ordered.tensors[place];
    if (marked.contains(tensorAt[place]))
      continue;
    add(tensorAt[place], tensor.tensorClass);
    for (unsigned node : ordered.getConsumers(tensor))
      consumers.push_back(change.move(node));
  }

  replaceRows<Tensor>(ordered.tensors, begin, end - begin, tensors);
  replaceRows<unsigned>(tensorAt, begin, end - begin, numbers);
  replaceRows<unsigned>(ordered.consumers, firstConsumer,
                        endConsumer - firstConsumer, consumers);
  size_t newEnd = begin + tensors.size(),
         newEndConsumer = firstConsumer + consumers.size();
  for (size_t place = begin, e = newEnd == end ? end : tensorAt.size();
       place < e; ++place)
    placeOfTensor[tensorAt[place]] = place;
  // Renumbers the other tensors.
  for (auto [t, tensor] : llvm::enumerate(ordered.tensors)) {
    if (begin <= t && t < newEnd)
      continue;
    if (t >= newEnd)
      tensor.firstConsumer += newEndConsumer - endConsumer;
    unsigned &producer = tensor.producer;
    if (producer < change.begin || producer == kRematerializable)
      continue;
    producer = producer < change.begin + change.numBefore
                   ? placeOfNode[program.tensors[tensorAt[t]].producer]
                   : change.move(producer);
  }
  if (change.numBefore == change.numAfter)
    return;
  MutableArrayRef<unsigned> all(ordered.consumers);
  for (MutableArrayRef<unsigned> part :
       {all.take_front(firstConsumer), all.drop_front(newEndConsumer)})
    for (unsigned &node : part)
      node = change.move(node);
}

void ProgramReader::orderTensorClasses(Program &ordered,
                                       ArrayRef<Moved> moved) {
  for (const Moved &tensor : moved) {
    unsigned &known = program.tensors[tensor.number].tensorClass;
    if (tensor.before != kNone)
      --numOfTensorClass[known];
    if (tensor.consumers.empty())
      continue;
    SmallVector<unsigned> own;
    for (unsigned node : tensor.consumers) {
      auto [begin, end] = usesOf[nodeAt[node]];
      for (unsigned u = begin; u < end; ++u)
        if (uses[u].tensor == tensor.number)
          own.push_back(u);
    }
    known = getTensorClass(describeTensor(program.tensors[tensor.number], own));
    numOfTensorClass.resize(program.tensorClasses.size());
    ++numOfTensorClass[known];
  }
  std::vector<unsigned> newClass(program.tensorClasses.size(), kNone);
  std::vector<unsigned> before = std::move(tensorClassAt);
  tensorClassAt.clear();
  ordered.tensorClasses.clear();
  size_t numClasses =
      numOfTensorClass.size() - llvm::count(numOfTensorClass, 0u);
  for (size_t t = 0; tensorClassAt.size() < numClasses; ++t) {
    unsigned known = program.tensors[tensorAt[t]].tensorClass;
    if (newClass[known] != kNone)
      continue;
    newClass[known] = tensorClassAt.size();
    tensorClassAt.push_back(known);
    TensorClass copy = program.tensorClasses[known];
    copy.first = ordered.tensors[t].value;
    if (copy.producer)
      copy.producer = newNodeClass[*copy.producer];
    for (TensorClass::Consumer &consumer : copy.consumers)
      consumer.nodeClass = newNodeClass[consumer.nodeClass];
    addTensorClass(ordered, std::move(copy));
  }
  std::vector<unsigned> renumbered = renumber(before, newClass);
  if (!renumbered.empty())
    for (Tensor &tensor : ordered.tensors)
      if (tensor.tensorClass != kNone)
        tensor.tensorClass = renumbered[tensor.tensorClass];
  for (const Moved &tensor : moved)
    if (unsigned place = placeOfTensor[tensor.number]; place != kNone)
      ordered.tensors[place].tensorClass =
          newClass[program.tensors[tensor.number].tensorClass];
}
