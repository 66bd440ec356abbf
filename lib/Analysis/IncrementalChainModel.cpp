//===- IncrementalChainModel.cpp - Node-by-node layout assignment ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IncrementalChainModel.h"

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// Returns the shape of a class, kNone if it has no factors, or std::nullopt if
/// one has three variables or the tensor is in a loop.
std::optional<unsigned> IncrementalChainModel::readShape(
    unsigned tensorClass, const TensorClass &tensor,
    const LayoutModel::Pattern &pattern, const FactorGraph &graph) {
  if (pattern.entries.empty())
    return kNone;
  Shape shape;
  shape.hasProducer = tensor.producer.has_value();
  shape.numConsumers = tensor.consumers.size();
  shape.lastOfCopies.assign(pattern.copies.size(), -1);
  std::vector<unsigned> words = {tensorClass, unsigned(pattern.copies.size())};
  for (const LayoutModel::Pattern::Entry &entry : pattern.entries) {
    if (entry.roles.size() > 2 || tensor.depth != 0)
      return std::nullopt;
    shape.roles.push_back(entry.roles);
    words.push_back(entry.roles.size());
    llvm::append_range(words, entry.roles);
    int consumer = -1;
    for (unsigned role : entry.roles)
      if (0 < role && role <= shape.numConsumers)
        consumer = role - 1;
    for (unsigned role : entry.roles) {
      if (role == 0)
        shape.lastOfProducer = std::max(shape.lastOfProducer, consumer);
      if (role > shape.numConsumers) {
        int &last = shape.lastOfCopies[role - 1 - shape.numConsumers];
        last = std::max(last, consumer);
      }
    }
  }
  auto [it, isNew] = shapeOf.try_emplace(std::move(words), shapes.size());
  if (isNew)
    shapes.push_back(std::move(shape));
  Shape &known = shapes[it->second];
  known.domains.clear();
  for (LayoutModel::Pattern::Copies copies : pattern.copies)
    known.domains.push_back(copies.domain);
  known.tables.clear();
  for (const LayoutModel::Pattern::Entry &entry : pattern.entries)
    known.tables.push_back(solver.addTable(graph.getTable(entry.table)));
  return it->second;
}

bool IncrementalChainModel::readClasses(LayoutModel &model) {
  std::vector<std::optional<TableId>> ownCosts = model.makeTables();
  for (auto [c, nodeClass] : llvm::enumerate(nodeClasses)) {
    if (nodeClass >= nodeTables.size())
      nodeTables.resize(nodeClass + 1);
    NodeTables &tables = nodeTables[nodeClass];
    tables = {unsigned(model.getConfigs(c).size()), std::nullopt};
    if (ownCosts[c])
      tables.ownCosts = solver.addTable(model.graph.getTable(*ownCosts[c]));
  }
  shapeOfClass.clear();
  for (auto [tensorClass, tensor, pattern] : llvm::zip_equal(
           tensorClasses, model.program.tensorClasses, model.patterns)) {
    std::optional<unsigned> shape =
        readShape(tensorClass, tensor, pattern, model.graph);
    if (!shape)
      return false;
    shapeOfClass.push_back(*shape);
  }
  for (Kind &kind : knownKinds)
    kind.number = kNone;
  return true;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

/// Updates `classes` and `kinds` to the nodes of the program.
void IncrementalChainModel::replaceNodes(const Program &program) {
  auto getClass = [&](unsigned node) {
    return nodeClasses[program.nodes[node].nodeClass];
  };
  unsigned before = classes.size(), now = program.nodes.size(), begin = 0;
  while (begin < std::min(before, now) && classes[begin] == getClass(begin))
    ++begin;
  while (begin < std::min(before, now) &&
         classes[before - 1] == getClass(now - 1))
    --before, --now;
  change = {begin, before, now};
  std::vector<unsigned> added;
  for (unsigned node = begin; node < now; ++node)
    added.push_back(getClass(node));
  replaceRows<unsigned>(classes, begin, before - begin, added);
  // These kinds are found later.
  replaceRows<unsigned>(kinds, begin, before - begin, added);
}

bool IncrementalChainModel::isSame(unsigned row, const Tensor &tensor,
                                   ArrayRef<unsigned> consumersNow) const {
  const Row &before = rows[row];
  if (before.shape != shapeOfClass[tensor.tensorClass] ||
      (before.producer != kNone &&
       change.move(before.producer) != tensor.producer))
    return false;
  for (auto [c, consumer] : llvm::enumerate(getConsumers(row)))
    if (change.move(consumer) != consumersNow[c])
      return false;
  return true;
}

/// Updates `rows` and `consumers` to the program, and marks the nodes that read
/// or make a changed tensor, before or after the change.
void IncrementalChainModel::replaceTensors(const Program &program) {
  unsigned before = getNumRows(), begin = 0;
  size_t first = 0, end = program.tensors.size();
  auto isUnsaid = [&](const Tensor &tensor) {
    return shapeOfClass[tensor.tensorClass] == kNone;
  };
  auto isSame = [&](unsigned row, const Tensor &tensor) {
    return this->isSame(
        row, tensor,
        ArrayRef(program.consumers).drop_front(tensor.firstConsumer));
  };
  for (; first < end; ++first) {
    if (isUnsaid(program.tensors[first]))
      continue;
    if (begin == before || !isSame(begin, program.tensors[first]))
      break;
    ++begin;
  }
  for (; first < end; --end) {
    if (isUnsaid(program.tensors[end - 1]))
      continue;
    if (begin == before || !isSame(before - 1, program.tensors[end - 1]))
      break;
    --before;
  }
  for (unsigned r = begin; r < before; ++r) {
    if (rows[r].producer != kNone)
      mark(change.move(rows[r].producer));
    for (unsigned consumer : getConsumers(r))
      mark(change.move(consumer));
  }

  unsigned firstConsumer = rows[begin].firstConsumer,
           endConsumer = rows[before].firstConsumer;
  std::vector<Row> added;
  std::vector<unsigned> addedConsumers;
  for (; first < end; ++first) {
    const Tensor &tensor = program.tensors[first];
    if (isUnsaid(tensor))
      continue;
    unsigned shape = shapeOfClass[tensor.tensorClass];
    added.push_back({shape, shapes[shape].hasProducer ? tensor.producer : kNone,
                     firstConsumer + unsigned(addedConsumers.size())});
    mark(added.back().producer);
    for (unsigned consumer : program.getConsumers(tensor)) {
      addedConsumers.push_back(consumer);
      mark(consumer);
    }
  }
  // Renumbers the other rows.
  if (change.endBefore != change.end) {
    for (unsigned &consumer : consumers)
      consumer = change.move(consumer);
    for (Row &row : rows)
      if (row.producer != kNone)
        row.producer = change.move(row.producer);
  }
  unsigned moved = addedConsumers.size() - (endConsumer - firstConsumer);
  if (moved != 0)
    for (Row &row : MutableArrayRef(rows).drop_front(before))
      row.firstConsumer += moved;
  replaceRows<unsigned>(consumers, firstConsumer, endConsumer - firstConsumer,
                        addedConsumers);
  replaceRows<Row>(rows, begin, before - begin, added);
}

void IncrementalChainModel::mark(unsigned node) {
  if (node == kNone)
    return;
  marks[node] = kKind;
  marksBegin = std::min(marksBegin, node);
  marksEnd = std::max(marksEnd, node + 1);
}

/// Returns a superset of the rows that nodes from `begin` to `end` read or
/// make, or that are made before and read after them.
ArrayRef<unsigned> IncrementalChainModel::getRowsNear(unsigned begin,
                                                      unsigned end) {
  if (nearBegin <= begin && end <= nearEnd)
    return near;
  constexpr unsigned kSlack = 64;
  nearBegin = begin - std::min(begin, kSlack);
  nearEnd = end + kSlack;
  near.clear();
  for (unsigned r = 0; r < getNumRows(); ++r)
    if (nearBegin <= getConsumers(r).back() && getAnchor(r) < nearEnd)
      near.push_back(r);
  return near;
}

/// Marks the nodes whose steps may change: changed nodes, nodes that read or
/// make a changed tensor, and nodes with a factor on a variable from before one
/// of these. The anchors of their tensors need up-to-date lists, too.
void IncrementalChainModel::findChange(const Program &program) {
  replaceNodes(program);
  marks.assign(classes.size(), kNothing);
  marksBegin = kNone, marksEnd = 0;
  nearBegin = kNone, nearEnd = 0;
  if (change.begin != change.endBefore || change.begin != change.end) {
    marksBegin = change.begin;
    marksEnd = change.end;
    std::fill(marks.begin() + change.begin, marks.begin() + change.end, kKind);
  }
  replaceTensors(program);
  if (marksBegin == kNone)
    return;
  unsigned begin = marksBegin, end = marksEnd;
  for (unsigned r : getRowsNear(begin, end))
    if (getAnchor(r) < end)
      for (unsigned consumer : getConsumers(r))
        if (begin <= consumer)
          mark(consumer);
  for (unsigned r : getRowsNear(marksBegin, marksEnd))
    if (llvm::any_of(getConsumers(r), [&](unsigned consumer) {
          return marks[consumer] == kKind;
        })) {
      unsigned anchor = getAnchor(r);
      marks[anchor] = std::max<uint8_t>(marks[anchor], kLists);
      marksBegin = std::min(marksBegin, anchor);
    }
}

/// Sorts rows by the marked nodes that read and make them.
void IncrementalChainModel::sortRows() {
  slots.resize(marks.size());
  lastStep.clear();
  for (unsigned node = marksBegin; node < marksEnd; ++node)
    if (marks[node] != kNothing) {
      slots[node] = lastStep.size();
      lastStep.push_back(node);
    }
  firstRead.assign(lastStep.size() + 2, 0);
  firstMade.assign(lastStep.size() + 2, 0);
  auto isMarked = [&](unsigned node) {
    return node != kNone && marks[node] != kNothing;
  };
  ArrayRef<unsigned> near;
  if (!lastStep.empty())
    near = getRowsNear(marksBegin, marksEnd);
  for (unsigned r : near) {
    for (unsigned node : getConsumers(r))
      if (isMarked(node))
        ++firstRead[slots[node] + 2];
    unsigned producer = rows[r].producer;
    if (!isMarked(producer))
      continue;
    ++firstMade[slots[producer] + 2];
    if (int last = getShape(r).lastOfProducer; last >= 0) {
      unsigned &step = lastStep[slots[producer]];
      step = std::max(step, getConsumers(r)[last]);
    }
  }
  for (std::vector<unsigned> *first : {&firstRead, &firstMade})
    for (size_t n = 2; n < first->size(); ++n)
      (*first)[n] += (*first)[n - 1];
  reads.resize(firstRead.back());
  made.resize(firstMade.back());
  // Entry n + 1 advances from the start of slot n to the start of the next.
  for (unsigned r : near) {
    for (auto [k, node] : llvm::enumerate(getConsumers(r)))
      if (isMarked(node))
        reads[firstRead[slots[node] + 1]++] = {r, unsigned(k)};
    if (unsigned producer = rows[r].producer; isMarked(producer))
      made[firstMade[slots[producer] + 1]++] = r;
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Computes the key of a step's kind, which has all inputs of makeKind.
void IncrementalChainModel::findKey(unsigned node, unsigned numVariables) {
  ArrayRef<Read> reads = getReads(node);
  ArrayRef<unsigned> made = getMade(node);
  auto isLast = [&](unsigned of) { return lastStep[slots[of]] == node; };
  key.resize_for_overwrite(3 + 5 * reads.size() + made.size());
  unsigned *end = key.data();
  *end++ = classes[node];
  *end++ = isLast(node);
  *end++ = reads.size();
  for (Read read : reads) {
    const Row &row = rows[read.row];
    const Shape &shape = shapes[row.shape];
    *end++ = row.shape;
    *end++ = read.consumer;
    if (shape.hasProducer) {
      *end++ = numVariables - variableOf[slots[row.producer]];
      *end++ = isLast(row.producer);
    }
    if (!addsCopies(shape, read.consumer) && !shape.domains.empty())
      *end++ = numVariables - firstCopyOf[read.row];
  }
  for (unsigned row : made)
    *end++ = rows[row].shape;
  key.truncate(end - key.data());
}

/// Adds the factors of a tensor with the given consumer, or without one. `own`,
/// `producer` and `copies` are the positions of the variables.
template <typename Shape>
static void addFactors(IncrementalChainSolver::Kind &kind, const Shape &shape,
                       std::optional<unsigned> consumer, int own, int producer,
                       int copies) {
  for (auto [roles, table] : llvm::zip_equal(shape.roles, shape.tables)) {
    std::optional<unsigned> its;
    IncrementalChainSolver::Factor factor;
    factor.table = table;
    for (unsigned role : roles) {
      if (role == 0) {
        factor.variables.push_back(producer);
      } else if (role <= shape.numConsumers) {
        its = role - 1;
        factor.variables.push_back(own);
      } else {
        factor.variables.push_back(copies + int(role - 1 - shape.numConsumers));
      }
    }
    if (its == consumer)
      kind.factors.push_back(std::move(factor));
  }
}

/// Builds a kind from its key, with the tables of the current program.
void IncrementalChainModel::makeKind(Kind &known) {
  IncrementalChainSolver::Kind kind;
  auto addCopies = [&](const Shape &shape) {
    int first = kind.domains.size();
    llvm::append_range(kind.domains, shape.domains);
    for (auto [j, last] : llvm::enumerate(shape.lastOfCopies))
      if (last < 0)
        kind.complete.push_back(first + int(j));
    return first;
  };
  struct KeyRead {
    const Shape *shape;
    unsigned consumer;
    int producer = 0, copies = 0;
    bool isLast = false;
  };
  const unsigned *next = known.key.begin();
  const NodeTables &tables = nodeTables[*next++];
  bool isLast = *next++;
  SmallVector<KeyRead, 4> reads(*next++);
  for (KeyRead &read : reads) {
    read.shape = &shapes[*next++];
    read.consumer = *next++;
    if (read.shape->hasProducer) {
      read.producer = -int(*next++);
      read.isLast = *next++;
    }
    if (addsCopies(*read.shape, read.consumer))
      read.copies = addCopies(*read.shape);
    else if (!read.shape->domains.empty())
      read.copies = -int(*next++);
  }
  int own = kind.domains.size();
  kind.domains.push_back(tables.domain);
  if (tables.ownCosts)
    kind.factors.push_back({{own}, *tables.ownCosts});
  for (const KeyRead &read : reads) {
    if (read.isLast && read.shape->lastOfProducer == int(read.consumer))
      kind.complete.push_back(read.producer);
    if (addsCopies(*read.shape, read.consumer))
      addFactors(kind, *read.shape, std::nullopt, own, read.producer,
                 read.copies);
    addFactors(kind, *read.shape, read.consumer, own, read.producer,
               read.copies);
    for (auto [j, last] : llvm::enumerate(read.shape->lastOfCopies))
      if (last == int(read.consumer))
        kind.complete.push_back(read.copies + int(j));
  }
  for (; next != known.key.end(); ++next) {
    const Shape &shape = shapes[*next];
    addFactors(kind, shape, std::nullopt, own, own, addCopies(shape));
  }
  if (isLast)
    kind.complete.push_back(own);
  known.number = solver.addKind(kind);
  known.numVariables = kind.domains.size();
  known.numFactors = kind.factors.size();
  known.own = own;
}

/// Returns the kind of the next node. First tries the kind that last followed
/// the previous one, because programs repeat.
unsigned IncrementalChainModel::findKind(unsigned node, unsigned numVariables) {
  findKey(node, numVariables);
  unsigned found = lastKind == kNone ? kNone : knownKinds[lastKind].follower;
  if (found == kNone || knownKinds[found].key != ArrayRef<unsigned>(key)) {
    auto it = kindOf.find(ArrayRef<unsigned>(key));
    if (it == kindOf.end()) {
      knownKinds.emplace_back().key = ArrayRef<unsigned>(key).copy(keys);
      it = kindOf.try_emplace(knownKinds.back().key, knownKinds.size() - 1)
               .first;
    }
    found = it->second;
    if (lastKind != kNone)
      knownKinds[lastKind].follower = found;
  }
  return lastKind = found;
}

/// Computes the kinds of all steps and their numbers in the solver.
IncrementalChainModel::Solution IncrementalChainModel::findSteps() {
  Solution solution;
  unsigned numNodes = classes.size();
  numbers.resize(numNodes);
  variableOf.resize(lastStep.size());
  firstCopyOf.resize(getNumRows());
  lastKind = kNone;
  for (unsigned node = 0; node < numNodes; ++node) {
    unsigned place = solution.numVariables;
    if (marks[node] == kKind)
      kinds[node] = findKind(node, place);
    Kind &kind = knownKinds[kinds[node]];
    if (kind.number == kNone)
      makeKind(kind);
    numbers[node] = kind.number;
    solution.numVariables += kind.numVariables;
    solution.numFactors += kind.numFactors;
    if (marks[node] == kNothing)
      continue;
    auto placeCopies = [&](unsigned row) {
      firstCopyOf[row] = place;
      place += getShape(row).domains.size();
    };
    for (Read read : getReads(node))
      if (addsCopies(getShape(read.row), read.consumer))
        placeCopies(read.row);
    variableOf[slots[node]] = place++;
    for (unsigned row : getMade(node))
      placeCopies(row);
  }
  return solution;
}

std::optional<IncrementalChainModel::Solution>
IncrementalChainModel::solve(LayoutModel &model) {
  if (!readClasses(model))
    return std::nullopt;
  findChange(model.program);
  sortRows();
  Solution solution = findSteps();
  std::optional<IncrementalChainSolver::Result> answer = solver.solve(numbers);
  if (!answer)
    return std::nullopt;
  solution.cost = answer->cost;
  solution.choice.reserve(kinds.size());
  const unsigned *values = answer->assignment.data();
  for (unsigned number : kinds) {
    const Kind &kind = knownKinds[number];
    solution.choice.push_back(values[kind.own]);
    values += kind.numVariables;
  }
  return solution;
}
