//===- IncrementalChainSolver.cpp - Incremental solver of chains ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/IncrementalChainSolver.h"
#include "TableAlgebra.h"

using namespace mlir::layout;
using llvm::ArrayRef;

/// The maximum number of open variables, above which a graph is wide.
static constexpr size_t kMostOpen = 24;
/// A graph may have kFewSteps distinct transitions, or one in kRepetition of
/// its steps if that is more.
static constexpr size_t kFewSteps = 256, kRepetition = 16;

static constexpr unsigned kNone = ~0u;

namespace {
/// Interns sequences of words and numbers them.
class Words {
public:
  /// Returns the number of a sequence, and true if it is new.
  std::pair<unsigned, bool> add(ArrayRef<unsigned> words) {
    auto it = numbers.find(words);
    if (it != numbers.end())
      return {it->second, false};
    ArrayRef<unsigned> kept = words.copy(allocator);
    sequences.push_back(kept);
    numbers[kept] = sequences.size() - 1;
    return {unsigned(sequences.size() - 1), true};
  }
  ArrayRef<unsigned> operator[](unsigned number) const {
    return sequences[number];
  }

private:
  llvm::BumpPtrAllocator allocator;
  llvm::DenseMap<ArrayRef<unsigned>, unsigned> numbers;
  std::vector<ArrayRef<unsigned>> sequences;
};

/// The variables that are not complete, and the tables between them. Places are
/// relative to the first variable of the current step.
struct State {
  struct Variable {
    int place;
    unsigned domain;
    TableId unary;
    bool isComplete;
  };
  struct Edge {
    unsigned ends[2]; // indices of variables; the first is less
    TableId table;
  };
  llvm::SmallVector<Variable, 8> variables; // by place
  llvm::SmallVector<Edge, 8> edges;

  static State read(ArrayRef<unsigned> words);
  /// Encodes the state with places relative to the next step.
  llvm::SmallVector<unsigned, 64> write(unsigned numAdded) const;
};

/// An eliminated variable, by place, and the variables that select its value.
struct Elimination {
  int place;
  unsigned elimination;
  bool hasFirst, hasSecond;
  int first, second;
  unsigned secondDomain;
};

struct Transition {
  unsigned kind, numAdded;
  unsigned next; // state
  Cost constant;
  unsigned begin, end; // in the list of eliminations
  unsigned lastRun;
  unsigned follower; // the most recent successor of this transition
};

/// Computes a transition.
class Step {
public:
  Step(State &state, TableAlgebra &algebra, int64_t maxTableSize)
      : state(state), algebra(algebra), maxTableSize(maxTableSize) {}

  void run(const IncrementalChainSolver::Kind &kind);

  Cost constant = 0;
  llvm::SmallVector<Elimination, 8> eliminations;

private:
  unsigned find(int place) const;
  unsigned getDegree(unsigned v) const;
  void addUnary(unsigned v, TableId table);
  void addEdge(unsigned a, unsigned b, TableId table);
  void separate(size_t edge);
  bool eliminateOne();
  void eliminate(unsigned v);

  State &state;
  TableAlgebra &algebra;
  int64_t maxTableSize;
};
} // namespace

State State::read(ArrayRef<unsigned> words) {
  State state;
  size_t at = 1;
  for (unsigned i = 0; i < words[0]; ++i, at += 4)
    state.variables.push_back({int(words[at]), words[at + 1],
                               TableId(words[at + 2]), words[at + 3] != 0});
  for (; at < words.size(); at += 3)
    state.edges.push_back({{words[at], words[at + 1]}, TableId(words[at + 2])});
  return state;
}

llvm::SmallVector<unsigned, 64> State::write(unsigned numAdded) const {
  llvm::SmallVector<unsigned, 64> words = {unsigned(variables.size())};
  for (const Variable &variable : variables)
    words.append({unsigned(variable.place - int(numAdded)), variable.domain,
                  unsigned(variable.unary), variable.isComplete});
  for (const Edge &edge : edges)
    words.append({edge.ends[0], edge.ends[1], unsigned(edge.table)});
  return words;
}

unsigned Step::find(int place) const {
  auto *it = llvm::find_if(state.variables, [&](const State::Variable &known) {
    return known.place == place;
  });
  assert(it != state.variables.end() && "a complete variable has no factors");
  return it - state.variables.begin();
}

unsigned Step::getDegree(unsigned v) const {
  return llvm::count_if(state.edges, [&](const State::Edge &edge) {
    return llvm::is_contained(edge.ends, v);
  });
}

void Step::addUnary(unsigned v, TableId table) {
  if (table == kNoTable)
    return;
  TableAlgebra::Result normal = algebra.normalize(table);
  TableId &unary = state.variables[v].unary;
  TableAlgebra::Result sum = algebra.add(unary, normal.table);
  unary = sum.table;
  constant = addCosts(constant, addCosts(normal.constant, sum.constant));
}

/// Replaces an edge whose table is a sum of two unary tables.
void Step::separate(size_t e) {
  State::Edge edge = state.edges[e];
  if (edge.table != kNoTable) {
    TableAlgebra::Separation parts =
        algebra.separate(edge.table, state.variables[edge.ends[0]].domain);
    if (!parts.isPossible)
      return;
    addUnary(edge.ends[0], parts.rows);
    addUnary(edge.ends[1], parts.columns);
  }
  state.edges.erase(state.edges.begin() + e);
}

/// Adds a factor of `a` and `b`; `table` has a row for each value of `a`.
void Step::addEdge(unsigned a, unsigned b, TableId table) {
  if (b < a) {
    table = algebra.transpose(table, state.variables[a].domain);
    std::swap(a, b);
  }
  TableAlgebra::Result normal = algebra.normalize(table);
  constant = addCosts(constant, normal.constant);
  auto *it = llvm::find_if(state.edges, [&](const State::Edge &edge) {
    return edge.ends[0] == a && edge.ends[1] == b;
  });
  if (it == state.edges.end()) {
    state.edges.push_back({{a, b}, normal.table});
    it = &state.edges.back();
  } else {
    TableAlgebra::Result sum = algebra.add(it->table, normal.table);
    it->table = sum.table;
    constant = addCosts(constant, sum.constant);
  }
  separate(it - state.edges.begin());
}

void Step::eliminate(unsigned v) {
  llvm::SmallVector<unsigned, 2> neighbors;
  llvm::SmallVector<TableAlgebra::Side, 2> sides;
  for (const State::Edge &edge : state.edges)
    if (llvm::is_contained(edge.ends, v)) {
      bool isTransposed = edge.ends[1] == v;
      neighbors.push_back(edge.ends[isTransposed ? 0 : 1]);
      sides.push_back({edge.table, isTransposed});
    }
  if (neighbors.size() == 2 && neighbors[1] < neighbors[0]) {
    std::swap(neighbors[0], neighbors[1]);
    std::swap(sides[0], sides[1]);
  }
  sides.resize(2);
  llvm::erase_if(state.edges, [&](const State::Edge &edge) {
    return llvm::is_contained(edge.ends, v);
  });
  State::Variable gone = state.variables[v];
  unsigned number = algebra.eliminate(
      {gone.domain, gone.unary, sides[0], sides[1], kNoTable});
  Elimination record = {gone.place, number, false, false, 0, 0, 1};
  if (!neighbors.empty()) {
    record.hasFirst = true;
    record.first = state.variables[neighbors[0]].place;
  }
  if (neighbors.size() == 2) {
    record.hasSecond = true;
    record.second = state.variables[neighbors[1]].place;
    record.secondDomain = state.variables[neighbors[1]].domain;
  }
  eliminations.push_back(record);
  TableAlgebra::Result sum = algebra.getSum(number);
  constant = addCosts(constant, sum.constant);
  if (sum.table != kNoTable && neighbors.size() == 1)
    addUnary(neighbors[0], sum.table);
  if (sum.table != kNoTable && neighbors.size() == 2)
    addEdge(neighbors[0], neighbors[1], sum.table);
  state.variables.erase(state.variables.begin() + v);
  for (State::Edge &edge : state.edges)
    for (unsigned &end : edge.ends)
      end -= end > v;
}

/// Eliminates the first complete variable with the fewest neighbors. Returns
/// false if there is none with at most two.
bool Step::eliminateOne() {
  for (unsigned degree = 0; degree <= 2; ++degree)
    for (unsigned v = 0; v < state.variables.size(); ++v) {
      if (!state.variables[v].isComplete || getDegree(v) != degree)
        continue;
      int64_t size = 1;
      for (const State::Edge &edge : state.edges)
        if (llvm::is_contained(edge.ends, v))
          size *= state.variables[edge.ends[edge.ends[0] == v]].domain;
      if (size > maxTableSize)
        continue;
      eliminate(v);
      return true;
    }
  return false;
}

void Step::run(const IncrementalChainSolver::Kind &kind) {
  for (auto [place, domain] : llvm::enumerate(kind.domains))
    state.variables.push_back({int(place), domain, kNoTable, false});
  for (const IncrementalChainSolver::Factor &factor : kind.factors)
    if (factor.variables.size() == 1)
      addUnary(find(factor.variables[0]), factor.table);
    else
      addEdge(find(factor.variables[0]), find(factor.variables[1]),
              factor.table);
  for (int place : kind.complete)
    state.variables[find(place)].isComplete = true;
  while (eliminateOne())
    ;
  llvm::sort(state.edges, [](const State::Edge &a, const State::Edge &b) {
    return std::tie(a.ends[0], a.ends[1]) < std::tie(b.ends[0], b.ends[1]);
  });
}

struct IncrementalChainSolver::Memory {
  explicit Memory(int64_t maxTableSize)
      : algebra(noTables), maxTableSize(maxTableSize) {}

  TableStore noTables;
  TableAlgebra algebra;
  int64_t maxTableSize;
  Words kindWords, states;
  std::vector<Kind> kinds;
  std::vector<Elimination> eliminations;
  std::vector<Transition> transitions;
  /// Transitions by state and kind.
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> numbers;
  unsigned run = 0;
  /// The transitions and the assignment of the last run.
  std::vector<unsigned> taken, assignment;

  unsigned getTransition(unsigned state, unsigned kind);
};

IncrementalChainSolver::IncrementalChainSolver(int64_t maxTableSize)
    : memory(std::make_unique<Memory>(maxTableSize)) {}
IncrementalChainSolver::~IncrementalChainSolver() = default;

TableId IncrementalChainSolver::addTable(ArrayRef<Cost> entries) {
  return memory->algebra.store.intern(entries);
}

unsigned IncrementalChainSolver::addKind(const Kind &kind) {
  llvm::SmallVector<unsigned, 64> words = {unsigned(kind.domains.size()),
                                           unsigned(kind.factors.size())};
  llvm::append_range(words, kind.domains);
  for (const Factor &factor : kind.factors) {
    words.append({unsigned(factor.table), unsigned(factor.variables.size())});
    for (int variable : factor.variables)
      words.push_back(variable);
  }
  for (int variable : kind.complete)
    words.push_back(variable);
  auto [number, isNew] = memory->kindWords.add(words);
  if (isNew)
    memory->kinds.push_back(kind);
  return number;
}

unsigned IncrementalChainSolver::Memory::getTransition(unsigned from,
                                                       unsigned kind) {
  auto [it, isNew] = numbers.try_emplace({from, kind}, transitions.size());
  if (!isNew)
    return it->second;
  State state = State::read(states[from]);
  Step step(state, algebra, maxTableSize);
  step.run(kinds[kind]);
  unsigned begin = eliminations.size();
  llvm::append_range(eliminations, step.eliminations);
  unsigned next = kNone, numAdded = kinds[kind].domains.size();
  if (state.variables.size() <= kMostOpen && step.constant != kInfiniteCost)
    next = states.add(state.write(numAdded)).first;
  transitions.push_back({kind, numAdded, next, step.constant, begin,
                         unsigned(eliminations.size()), 0, kNone});
  return transitions.size() - 1;
}

std::optional<IncrementalChainSolver::Result>
IncrementalChainSolver::solve(ArrayRef<unsigned> kinds) {
  Memory &known = *memory;
  ++known.run;
  size_t numDifferent = 0;
  size_t most = std::max(kFewSteps, kinds.size() / kRepetition);
  Result answer;
  std::vector<unsigned> &taken = known.taken;
  taken.clear();
  size_t numVariables = 0;
  unsigned state = known.states.add({0u}).first;
  unsigned start = state;
  for (unsigned kind : kinds) {
    // Sequences repeat, so the transition is usually the previous successor.
    unsigned number =
        taken.empty() ? kNone : known.transitions[taken.back()].follower;
    if (number == kNone || known.transitions[number].kind != kind) {
      number = known.getTransition(state, kind);
      if (!taken.empty())
        known.transitions[taken.back()].follower = number;
    }
    Transition &transition = known.transitions[number];
    if (std::exchange(transition.lastRun, known.run) != known.run)
      ++numDifferent;
    if (transition.next == kNone || numDifferent > most)
      return std::nullopt;
    taken.push_back(number);
    answer.cost = addCosts(answer.cost, transition.constant);
    numVariables += transition.numAdded;
    state = transition.next;
  }
  // Variables are left, or the cost exceeds the range.
  if (state != start || answer.cost >= kInfiniteCost / 2)
    return std::nullopt;

  known.assignment.resize(numVariables);
  answer.assignment = known.assignment;
  unsigned *end = known.assignment.data() + numVariables;
  for (size_t i = kinds.size(); i-- > 0;) {
    const Transition &transition = known.transitions[taken[i]];
    end -= transition.numAdded;
    for (unsigned e = transition.end; e-- > transition.begin;) {
      const Elimination &gone = known.eliminations[e];
      size_t index = gone.hasFirst ? end[gone.first] : 0;
      if (gone.hasSecond)
        index = index * gone.secondDomain + end[gone.second];
      end[gone.place] = known.algebra.getChoice(gone.elimination, index);
    }
  }
  return answer;
}
