//===- SequenceModel.cpp - A choice of layouts, node by node --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The variables and tables of LayoutModel.h as steps of a sequence. A step is a
// node, with the copies of the tensors that it makes, or is the first to read.
// What a pattern says of a consumer is said at the step of that.
//
//===----------------------------------------------------------------------===//

#include "LayoutModel.h"
#include "layout/Solver/SequenceSolver.h"

using namespace mlir;
using namespace mlir::layout;

namespace mlir::layout {
class SequenceModel {
public:
  SequenceModel(LayoutModel &model, SequenceSolver &solver)
      : model(model), program(model.program), solver(solver) {}

  std::optional<LayoutModel::SequenceSolution> solve();

private:
  /// A tensor that a node reads, and which of its consumers the node is.
  struct Read {
    unsigned tensor, consumer;
  };
  /// Of a class of tensors: what is in its pattern, and whom that speaks of
  /// last: a consumer, or -1.
  struct Facts {
    bool hasEntries, hasProducer;
    unsigned numCopies;
    int lastOfProducer = -1;
    SmallVector<int, 2> lastOfCopies;
  };
  struct KnownKind {
    unsigned number, numVariables, numFactors;
    ArrayRef<unsigned> key;
    /// The kind that was met after it last.
    unsigned follower = kNone;
  };
  static constexpr unsigned kNone = ~0u;

  bool findFacts();
  void sortTensors();
  void findKey(unsigned node, unsigned numVariables);
  KnownKind makeKind(unsigned node, unsigned numVariables);
  KnownKind &findKind(unsigned node, unsigned numVariables);
  void addEntries(SequenceSolver::Kind &kind, unsigned tensor,
                  std::optional<unsigned> consumer, int own, int producer,
                  int copies);
  const LayoutModel::Pattern &getPattern(unsigned tensor) const {
    return model.patterns[program.tensors[tensor].tensorClass];
  }
  const Facts &getFacts(unsigned tensor) const {
    return facts[program.tensors[tensor].tensorClass];
  }
  /// Whether the step of a read adds the copies of its tensor.
  bool addsCopies(Read read) const {
    return read.consumer == 0 && !getFacts(read.tensor).hasProducer;
  }
  ArrayRef<Read> getReads(unsigned node) const {
    return ArrayRef(reads).slice(firstRead[node],
                                 firstRead[node + 1] - firstRead[node]);
  }
  ArrayRef<unsigned> getMade(unsigned node) const {
    return ArrayRef(made).slice(firstMade[node],
                                firstMade[node + 1] - firstMade[node]);
  }

  LayoutModel &model;
  const Program &program;
  SequenceSolver &solver;
  std::vector<std::optional<TableId>> ownCosts;
  std::vector<Facts> facts; // per class of tensors
  std::vector<Read> reads;
  std::vector<unsigned> made, firstRead, firstMade;
  /// Of each node, the last one at which something is said of it.
  std::vector<unsigned> lastStep;
  std::vector<unsigned> variableOf, firstCopyOf; // of nodes, of tensors
  SmallVector<unsigned, 32> key;
  std::vector<KnownKind> known;
  unsigned last = kNone; // of these
  DenseMap<ArrayRef<unsigned>, unsigned> knownOf;
  llvm::BumpPtrAllocator keys;
};
} // namespace mlir::layout

/// False where a factor has three variables.
bool SequenceModel::findFacts() {
  for (auto [pattern, tensor] :
       llvm::zip_equal(model.patterns, program.tensorClasses)) {
    unsigned numConsumers = tensor.consumers.size();
    Facts &of = facts.emplace_back();
    of.hasEntries = !pattern.entries.empty();
    of.hasProducer = tensor.producer.has_value();
    of.numCopies = pattern.copies.size();
    of.lastOfCopies.assign(of.numCopies, -1);
    for (const LayoutModel::Pattern::Entry &entry : pattern.entries) {
      if (entry.roles.size() > 2 || tensor.depth != 0)
        return false;
      int consumer = -1;
      for (unsigned role : entry.roles)
        if (0 < role && role <= numConsumers)
          consumer = role - 1;
      for (unsigned role : entry.roles) {
        if (role == 0)
          of.lastOfProducer = std::max(of.lastOfProducer, consumer);
        if (role > numConsumers) {
          int &last = of.lastOfCopies[role - 1 - numConsumers];
          last = std::max(last, consumer);
        }
      }
    }
  }
  return true;
}

/// By the nodes that read and make them.
void SequenceModel::sortTensors() {
  size_t numNodes = program.nodes.size();
  firstRead.assign(numNodes + 2, 0);
  firstMade.assign(numNodes + 2, 0);
  lastStep.resize(numNodes);
  for (unsigned n = 0; n < numNodes; ++n)
    lastStep[n] = n;
  for (auto [t, tensor] : llvm::enumerate(program.tensors)) {
    const Facts &its = facts[tensor.tensorClass];
    if (!its.hasEntries)
      continue;
    ArrayRef<unsigned> consumers = program.getConsumers(tensor);
    for (unsigned node : consumers)
      ++firstRead[node + 2];
    if (!its.hasProducer)
      continue;
    ++firstMade[tensor.producer + 2];
    if (int last = its.lastOfProducer; last >= 0) {
      unsigned &step = lastStep[tensor.producer];
      step = std::max(step, consumers[last]);
    }
  }
  for (std::vector<unsigned> *first : {&firstRead, &firstMade})
    for (size_t n = 2; n < first->size(); ++n)
      (*first)[n] += (*first)[n - 1];
  reads.resize(firstRead.back());
  made.resize(firstMade.back());
  // What is at n + 1 moves from the first of node n to that of the next.
  for (auto [t, tensor] : llvm::enumerate(program.tensors)) {
    const Facts &its = facts[tensor.tensorClass];
    if (!its.hasEntries)
      continue;
    for (auto [k, node] : llvm::enumerate(program.getConsumers(tensor)))
      reads[firstRead[node + 1]++] = {unsigned(t), unsigned(k)};
    if (its.hasProducer)
      made[firstMade[tensor.producer + 1]++] = t;
  }
}

/// All that the kind of a step depends on, within one program.
void SequenceModel::findKey(unsigned node, unsigned numVariables) {
  ArrayRef<Read> reads = getReads(node);
  ArrayRef<unsigned> made = getMade(node);
  key.resize_for_overwrite(3 + 5 * reads.size() + made.size());
  unsigned *end = key.data();
  *end++ = program.nodes[node].nodeClass;
  *end++ = lastStep[node] == node;
  *end++ = reads.size();
  for (Read read : reads) {
    const Tensor &tensor = program.tensors[read.tensor];
    const Facts &its = facts[tensor.tensorClass];
    *end++ = tensor.tensorClass;
    *end++ = read.consumer;
    if (its.hasProducer) {
      *end++ = numVariables - variableOf[tensor.producer];
      *end++ = lastStep[tensor.producer] == node;
    }
    if (!addsCopies(read) && its.numCopies != 0)
      *end++ = numVariables - firstCopyOf[read.tensor];
  }
  for (unsigned tensor : made)
    *end++ = program.tensors[tensor].tensorClass;
  key.truncate(end - key.data());
}

/// The entries of the pattern of a tensor that speak of a consumer, or of none.
/// The places of variables follow.
void SequenceModel::addEntries(SequenceSolver::Kind &kind, unsigned tensor,
                               std::optional<unsigned> consumer, int own,
                               int producer, int copies) {
  unsigned numConsumers = program.getConsumers(program.tensors[tensor]).size();
  for (const LayoutModel::Pattern::Entry &entry : getPattern(tensor).entries) {
    std::optional<unsigned> its;
    SequenceSolver::Factor factor;
    for (unsigned role : entry.roles) {
      if (role == 0) {
        factor.variables.push_back(producer);
      } else if (role <= numConsumers) {
        its = role - 1;
        factor.variables.push_back(own);
      } else {
        factor.variables.push_back(copies + int(role - 1 - numConsumers));
      }
    }
    if (its != consumer)
      continue;
    factor.table = solver.addTable(model.graph.getTable(entry.table));
    kind.factors.push_back(std::move(factor));
  }
}

SequenceModel::KnownKind SequenceModel::makeKind(unsigned node,
                                                 unsigned numVariables) {
  SequenceSolver::Kind kind;
  auto addCopies = [&](unsigned tensor) {
    int first = kind.domains.size();
    for (auto copy : getPattern(tensor).copies)
      kind.domains.push_back(copy.domain);
    for (auto [j, last] : llvm::enumerate(getFacts(tensor).lastOfCopies))
      if (last < 0)
        kind.complete.push_back(first + int(j));
    return first;
  };
  SmallVector<int, 4> copiesOf;
  for (Read read : getReads(node))
    copiesOf.push_back(addsCopies(read)
                           ? addCopies(read.tensor)
                           : int(firstCopyOf[read.tensor]) - int(numVariables));
  int own = kind.domains.size();
  unsigned nodeClass = program.nodes[node].nodeClass;
  kind.domains.push_back(model.getConfigs(nodeClass).size());
  if (ownCosts[nodeClass])
    kind.factors.push_back(
        {{own}, solver.addTable(model.graph.getTable(*ownCosts[nodeClass]))});
  for (auto [read, copies] : llvm::zip_equal(getReads(node), copiesOf)) {
    int producer = 0;
    const Facts &its = getFacts(read.tensor);
    if (its.hasProducer) {
      unsigned producerNode = program.tensors[read.tensor].producer;
      producer = int(variableOf[producerNode]) - int(numVariables);
      if (its.lastOfProducer == int(read.consumer) &&
          lastStep[producerNode] == node)
        kind.complete.push_back(producer);
    }
    if (addsCopies(read))
      addEntries(kind, read.tensor, std::nullopt, own, producer, copies);
    addEntries(kind, read.tensor, read.consumer, own, producer, copies);
    for (auto [j, last] : llvm::enumerate(its.lastOfCopies))
      if (last == int(read.consumer))
        kind.complete.push_back(copies + int(j));
  }
  for (unsigned tensor : getMade(node))
    addEntries(kind, tensor, std::nullopt, own, own, addCopies(tensor));
  if (lastStep[node] == node)
    kind.complete.push_back(own);
  return {solver.addKind(kind), unsigned(kind.domains.size()),
          unsigned(kind.factors.size()), ArrayRef<unsigned>(key).copy(keys)};
}

/// That of the next node. Programs repeat, so it is mostly the one that came
/// behind the last kind before.
SequenceModel::KnownKind &SequenceModel::findKind(unsigned node,
                                                  unsigned numVariables) {
  findKey(node, numVariables);
  unsigned found = last == kNone ? kNone : known[last].follower;
  if (found == kNone || known[found].key != ArrayRef<unsigned>(key)) {
    auto it = knownOf.find(ArrayRef<unsigned>(key));
    if (it == knownOf.end()) {
      known.push_back(makeKind(node, numVariables));
      it = knownOf.try_emplace(known.back().key, known.size() - 1).first;
    }
    found = it->second;
    if (last != kNone)
      known[last].follower = found;
  }
  return known[last = found];
}

std::optional<LayoutModel::SequenceSolution> SequenceModel::solve() {
  ownCosts = model.makeTables();
  if (!findFacts())
    return std::nullopt;
  sortTensors();
  LayoutModel::SequenceSolution solution;
  std::vector<unsigned> kinds;
  kinds.reserve(program.nodes.size());
  variableOf.resize(program.nodes.size());
  firstCopyOf.resize(program.tensors.size());
  for (unsigned node = 0; node < program.nodes.size(); ++node) {
    unsigned numVariables = solution.numVariables;
    const KnownKind &kind = findKind(node, numVariables);
    unsigned place = numVariables;
    for (Read read : getReads(node))
      if (addsCopies(read)) {
        firstCopyOf[read.tensor] = place;
        place += getFacts(read.tensor).numCopies;
      }
    variableOf[node] = place++;
    for (unsigned tensor : getMade(node)) {
      firstCopyOf[tensor] = place;
      place += getFacts(tensor).numCopies;
    }
    kinds.push_back(kind.number);
    solution.numVariables += kind.numVariables;
    solution.numFactors += kind.numFactors;
  }
  std::optional<SequenceSolver::Answer> answer = solver.solve(kinds);
  if (!answer)
    return std::nullopt;
  solution.cost = answer->cost;
  solution.choice.reserve(variableOf.size());
  for (unsigned variable : variableOf)
    solution.choice.push_back(answer->assignment[variable]);
  return solution;
}

std::optional<LayoutModel::SequenceSolution>
LayoutModel::solveAsSequence(SequenceSolver &solver) {
  return SequenceModel(*this, solver).solve();
}
