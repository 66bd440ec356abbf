//===- Program.cpp - Decision nodes and the tensors between them ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Program.h"
#include "layout/Analysis/PartsInPlace.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Interfaces/MeshLoops.h"
#include "layout/Interfaces/RuleCheck.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ParallelCombiningOpInterface.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace mlir::layout;

bool layout::hasKnownLayout(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && (!type.getEncoding() || hasLayout(type));
}

bool layout::hasKnownTensors(Operation *op) {
  return llvm::any_of(op->getOperands(), hasKnownLayout) ||
         llvm::any_of(op->getResults(), hasKnownLayout);
}

static bool isEncoded(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getEncoding();
}

/// Returns true if an operand or a result of `op` is a tensor with an encoding.
static bool statesLayout(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isEncoded) ||
         llvm::any_of(op->getResultTypes(), isEncoded);
}

/// Returns true if an operand or a result of `op` is a tensor with an encoding
/// that is not a layout. Such a tensor cannot be converted.
static bool hasForeignEncoding(Operation *op) {
  auto isForeign = [](Type type) {
    return isEncoded(type) && !hasLayout(type);
  };
  return llvm::any_of(op->getOperandTypes(), isForeign) ||
         llvm::any_of(op->getResultTypes(), isForeign);
}

bool layout::cannotKeepTypes(const NodeClass &node) {
  return !node.isFlowClass() && !node.isFixed && statesLayout(node.op);
}

/// Returns the value of a constant index operand, which counts like an
/// attribute, or -1 for other operands, which rules ignore.
static int64_t getIndex(Value operand) {
  if (!isa<IndexType>(operand.getType()))
    return -1;
  return getConstantIntValue(operand).value_or(-1);
}

/// Hashes an op without its discardable attributes. They do not affect layouts,
/// and some are caches of op interfaces.
static llvm::hash_code hashOp(Operation *op) {
  return llvm::hash_combine(
      op->getName(), op->getName().hashOpProperties(op->getPropertiesStorage()),
      llvm::hash_combine_range(op->operand_type_begin(),
                               op->operand_type_end()),
      llvm::hash_combine_range(op->result_type_begin(), op->result_type_end()));
}

/// Returns true if the regions have equal bodies, or std::nullopt if a body is
/// not one block of ops without regions. Most bodies are a few scalar ops, for
/// which this is faster than a general comparison.
static std::optional<bool> areSimpleBodiesAlike(Region &a, Region &b) {
  if (!a.hasOneBlock() || !b.hasOneBlock())
    return std::nullopt;
  Block &blockA = a.front(), &blockB = b.front();
  if (blockA.getArgumentTypes() != blockB.getArgumentTypes())
    return false;
  SmallVector<std::pair<Operation *, Operation *>, 8> before;
  auto isSameValue = [&](Value x, Value y) {
    if (x.getParentBlock() != &blockA || y.getParentBlock() != &blockB)
      return x == y;
    auto argX = dyn_cast<BlockArgument>(x), argY = dyn_cast<BlockArgument>(y);
    if (argX || argY)
      return argX && argY && argX.getArgNumber() == argY.getArgNumber();
    return cast<OpResult>(x).getResultNumber() ==
               cast<OpResult>(y).getResultNumber() &&
           llvm::is_contained(
               before, std::make_pair(x.getDefiningOp(), y.getDefiningOp()));
  };
  auto isSameOp = [&](Operation &x, Operation &y) {
    return x.getName() == y.getName() &&
           x.getName().compareOpProperties(x.getPropertiesStorage(),
                                           y.getPropertiesStorage()) &&
           x.getDiscardableAttrDictionary() ==
               y.getDiscardableAttrDictionary() &&
           x.getResultTypes() == y.getResultTypes() &&
           x.getNumOperands() == y.getNumOperands() &&
           llvm::all_of(llvm::zip(x.getOperands(), y.getOperands()),
                        [&](auto pair) {
                          auto [ofX, ofY] = pair;
                          return isSameValue(ofX, ofY);
                        });
  };
  auto it = blockB.begin();
  for (Operation &x : blockA) {
    if (it == blockB.end())
      return false;
    Operation &y = *it++;
    for (Operation *op : {&x, &y})
      if (op->getNumRegions() != 0 || op->getNumSuccessors() != 0)
        return std::nullopt;
    if (!isSameOp(x, y))
      return false;
    before.push_back({&x, &y});
  }
  return it == blockB.end();
}

bool layout::areAlikeButForTypes(Operation *a, Operation *b) {
  if (a->getName() != b->getName() ||
      !a->getName().compareOpProperties(a->getPropertiesStorage(),
                                        b->getPropertiesStorage()) ||
      a->getNumOperands() != b->getNumOperands() ||
      a->getNumRegions() != b->getNumRegions())
    return false;
  for (auto [x, y] : llvm::zip(a->getOperands(), b->getOperands()))
    if (getIndex(x) != getIndex(y))
      return false;
  // The cost of a part depends on its other uses in concatenations.
  if (isa<tensor::ConcatOp>(a))
    for (auto [x, y] : llvm::zip(a->getOpOperands(), b->getOpOperands()))
      if (mayBeMadeInPlace(x) != mayBeMadeInPlace(y) ||
          isStoredAtOnce(x) != isStoredAtOnce(y))
        return false;
  for (auto [x, y] : llvm::zip(a->getRegions(), b->getRegions())) {
    std::optional<bool> alike = areSimpleBodiesAlike(x, y);
    if (!alike)
      alike = OperationEquivalence::isRegionEquivalentTo(
          &x, &y, OperationEquivalence::IgnoreLocations);
    if (!*alike)
      return false;
  }
  return true;
}

/// Returns true if `isMadeInResult` is equal for each init of `a` and the
/// corresponding init of `b`: both or neither need memory besides that of the
/// result. Ops without inits start alike. `a` and `b` have the same name.
static bool startAlike(Operation *a, Operation *b) {
  auto x = dyn_cast<DestinationStyleOpInterface>(a);
  return !x ||
         llvm::all_of(
             llvm::zip(
                 x.getDpsInitsMutable(),
                 cast<DestinationStyleOpInterface>(b).getDpsInitsMutable()),
             [](auto inits) {
               auto &[ofA, ofB] = inits;
               return isMadeInResult(ofA) == isMadeInResult(ofB);
             });
}

bool layout::isTransformableConstant(Value value) {
  while (auto convert = value.getDefiningOp<ConvertOp>())
    value = convert.getSource();
  ElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && !elements.isSplat();
}

/// Returns true if the same operands of both ops can be transformed at compile
/// time.
static bool haveConstantsAlike(Operation *a, Operation *b) {
  return llvm::all_of(
      llvm::zip_equal(a->getOperands(), b->getOperands()), [](auto pair) {
        auto [x, y] = pair;
        return isTransformableConstant(x) == isTransformableConstant(y);
      });
}

static bool areAlike(Operation *a, Operation *b) {
  return a->getOperandTypes() == b->getOperandTypes() &&
         a->getResultTypes() == b->getResultTypes() &&
         areAlikeButForTypes(a, b) && haveConstantsAlike(a, b) &&
         startAlike(a, b);
}

namespace {
/// Hashes ops by address without mixing. Ops are visited nearly in the order of
/// their addresses, so neighbors have neighboring entries and lookups hit the
/// cache.
struct InOrderOfMemory : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return unsigned(reinterpret_cast<uintptr_t>(op) >> 7);
  }
};

/// Reads the decision nodes and the tensors between them from the ops below a
/// root.
class ProgramReader {
public:
  ProgramReader(Operation *root, int64_t assumedTrips,
                const LayoutConstraints &constraints,
                bool usesPerElementAddressing)
      : root(root), constraints(constraints),
        usesPerElementAddressing(usesPerElementAddressing),
        frequencies(root, assumedTrips) {}

  Program run();

private:
  /// `kRematerializable` stands in place of the number of a node: for ops that
  /// are rematerializable and therefore not nodes, and for tensors that no node
  /// makes. `kNoTensor` stands in place of the number of a tensor: for values
  /// that have none yet.
  static constexpr unsigned kRematerializable = ~0u;
  static constexpr unsigned kNoTensor = ~0u;

  struct Use {
    unsigned tensor, node, operand;
    Operation *user;
  };

  void findTiedSlots(Operation *op, llvm::SmallBitVector &operands,
                     llvm::SmallBitVector &results) const;
  SmallVector<RankedTensorType, 0> findConstraint(ValueRange results) const;
  SmallVector<RankedTensorType, 0>
  findConstraint(MutableArrayRef<OpOperand> operands) const;
  RankedTensorType findConstraint(const TypeEquivalenceClass &flowClass) const;
  unsigned getOpClass(Operation *op, bool isInBody);
  unsigned getClassOfFlow(const TypeEquivalenceClass &flowClass,
                          int64_t frequency);
  WalkResult addOp(Operation *op);
  void addNode(Operation *op, unsigned nodeClass);
  void addFlowClasses();
  void addUse(OpOperand &operand, unsigned node, unsigned index);
  void addUses(unsigned node);
  void addTensors();
  unsigned getLoopDepth(Block *block);
  void findFrequencies(TensorClass &wanted, ArrayRef<unsigned> ownUses);
  TensorClass describeTensor(const Tensor &tensor, ArrayRef<unsigned> ownUses);
  unsigned getTensorClass(TensorClass &&wanted);
  void addTensorClass(TensorClass &&added);

  Operation *root;
  const LayoutConstraints &constraints;
  bool usesPerElementAddressing;
  Frequencies frequencies;
  CopyPlacement placement;
  Block *lastBlock = nullptr;
  unsigned lastDepth = 0;
  Program program;
  DenseMap<Operation *, unsigned, InOrderOfMemory>
      nodeOf; // or kRematerializable
  unsigned firstFlowClass = 0;
  /// The number of the tensor that is the first result of each node, or
  /// kNoTensor.
  std::vector<unsigned> tensorOfFirst;
  /// The number of the tensor of each value that is not the first result of a
  /// node.
  DenseMap<Value, unsigned> tensorOf;
  std::vector<Use> uses;
  // The classes, by hash.
  DenseMap<uint64_t, SmallVector<unsigned, 1>> nodeClassesOf, tensorClassesOf;
};
} // namespace

void ProgramReader::findTiedSlots(Operation *op, llvm::SmallBitVector &operands,
                                  llvm::SmallBitVector &results) const {
  operands.resize(op->getNumOperands());
  results.resize(op->getNumResults());
  if (program.flow.classes.empty())
    return;
  for (OpOperand &operand : op->getOpOperands())
    if (program.flow.classOfOperand.contains(&operand))
      operands.set(operand.getOperandNumber());
  for (OpResult result : op->getResults())
    if (program.flow.classOfValue.contains(result))
      results.set(result.getResultNumber());
}

static bool hasReadingBody(Operation *op) {
  return op
      ->walk([&](Operation *inner) {
        return inner != op && llvm::any_of(inner->getOperands(), hasKnownLayout)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

SmallVector<RankedTensorType, 0>
ProgramReader::findConstraint(ValueRange results) const {
  SmallVector<RankedTensorType, 0> found;
  for (Value result : results)
    found.push_back(constraints.lookup(result));
  return found;
}

SmallVector<RankedTensorType, 0>
ProgramReader::findConstraint(MutableArrayRef<OpOperand> operands) const {
  SmallVector<RankedTensorType, 0> found;
  for (OpOperand &operand : operands)
    found.push_back(constraints.lookup(operand));
  return found;
}

/// Returns the constraint of a flow class, whose uses all have the same one, or
/// a null type if there is none.
RankedTensorType
ProgramReader::findConstraint(const TypeEquivalenceClass &flowClass) const {
  if (constraints.empty())
    return {};
  for (OpOperand *operand : flowClass.operands)
    if (RankedTensorType type = constraints.lookup(*operand))
      return type;
  for (Value value : flowClass.values)
    if (RankedTensorType type = constraints.lookup(value))
      return type;
  return {};
}

/// Returns true if `a` and `b` are the same value, any two block arguments, or
/// results of equal ops whose operands are made alike in turn, such as fills of
/// fresh storage. Visits at most `mostOps` ops on a path, beyond which it
/// returns false, and does not query any rule.
static bool areMadeAlike(Value a, Value b, unsigned mostOps = 3) {
  if (a == b)
    return true;
  auto x = dyn_cast<OpResult>(a), y = dyn_cast<OpResult>(b);
  if (!x || !y)
    return !x && !y;
  return mostOps != 0 && x.getResultNumber() == y.getResultNumber() &&
         areAlike(x.getOwner(), y.getOwner()) &&
         llvm::all_of(llvm::zip(x.getOwner()->getOperands(),
                                y.getOwner()->getOperands()),
                      [&](auto pair) {
                        auto [ofX, ofY] = pair;
                        return areMadeAlike(ofX, ofY, mostOps - 1);
                      });
}

/// Returns true if `op` starts its reductions like `known`, an equal op with
/// this rule: both or neither from an init that is made at no cost
/// (`beginsFresh`), and with equal combiners.
static bool beginsAlike(Operation *known, const OpLayoutRule &rule,
                        Operation *op) {
  auto *loops = std::get_if<LoopsRule>(&rule);
  if (!loops || llvm::none_of(loops->loops, [](const LoopRule &loop) {
        return loop.iterator == utils::IteratorType::reduction;
      }))
    return true;
  // Avoids the rule of a named op, which is slow to build.
  if (loops->inits.size() == loops->combiners.size() &&
      llvm::all_of(loops->inits, [&](std::optional<unsigned> init) {
        return init &&
               areMadeAlike(known->getOperand(*init), op->getOperand(*init));
      }))
    return true;
  OpLayoutRule own = getLayoutRule(op);
  auto *others = std::get_if<LoopsRule>(&own);
  return others && others->combiners == loops->combiners &&
         llvm::all_of(llvm::seq<unsigned>(loops->combiners.size()),
                      [&](unsigned r) {
                        return beginsFresh(known, r) == beginsFresh(op, r);
                      });
}

unsigned ProgramReader::getOpClass(Operation *op, bool isInBody) {
  llvm::SmallBitVector operands, results;
  findTiedSlots(op, operands, results);
  int64_t frequency = frequencies.get(op->getBlock());
  SmallVector<RankedTensorType, 0> constrainedOperands, constrainedResults;
  if (!constraints.empty()) {
    constrainedOperands = findConstraint(op->getOpOperands());
    constrainedResults = findConstraint(ValueRange(op->getResults()));
    if (!llvm::any_of(constrainedOperands,
                      [](Type type) { return bool(type); }) &&
        !llvm::any_of(constrainedResults,
                      [](Type type) { return bool(type); })) {
      constrainedOperands.clear();
      constrainedResults.clear();
    }
  }
  SmallVector<unsigned, 1> &known =
      nodeClassesOf[llvm::hash_combine(hashOp(op), frequency)];
  for (unsigned c : known) {
    const NodeClass &candidate = program.nodeClasses[c];
    if (candidate.op && candidate.frequency == frequency &&
        candidate.isInBody == isInBody && candidate.flowOperands == operands &&
        candidate.flowResults == results &&
        candidate.constrainedOperands == constrainedOperands &&
        candidate.constrainedResults == constrainedResults &&
        areAlike(candidate.op, op) &&
        beginsAlike(candidate.op, candidate.rule, op))
      return c;
  }
  NodeClass added;
  added.op = op;
  added.rule = getLayoutRule(op);
  // An op that depends on control flow or on its parent cannot choose alone.
  if (operands.any() || results.any() || isInBody ||
      isa<ParallelCombiningOpInterface>(op))
    added.rule = OpLayoutRule();
  added.isInBody = isInBody;
  bool isConstrained =
      !constrainedOperands.empty() || !constrainedResults.empty();
  added.isFixed =
      isConstrained || hasForeignEncoding(op) ||
      (statesLayout(op) &&
       succeeded(checkRule(op, added.rule, {}, usesPerElementAddressing)));
  added.hasReadingBody =
      !std::holds_alternative<OpaqueRule>(added.rule) && hasReadingBody(op);
  added.flowOperands = std::move(operands);
  added.flowResults = std::move(results);
  added.constrainedOperands = std::move(constrainedOperands);
  added.constrainedResults = std::move(constrainedResults);
  added.frequency = frequency;
  known.push_back(program.nodeClasses.size());
  program.nodeClasses.push_back(std::move(added));
  return known.back();
}

WalkResult ProgramReader::addOp(Operation *op) {
  if (op == root)
    return WalkResult::advance();
  if (!hasKnownTensors(op))
    return WalkResult::advance();
  // Constants are numerous and all different, and need no class.
  if (op->getNumOperands() == 0 &&
      llvm::none_of(op->getResults(),
                    [&](Value result) {
                      return isEncoded(result.getType()) ||
                             constraints.lookup(result);
                    }) &&
      std::holds_alternative<RematerializableRule>(getLayoutRule(op))) {
    nodeOf[op] = kRematerializable;
    return WalkResult::skip();
  }
  unsigned nodeClass = getOpClass(op, /*isInBody=*/false);
  addNode(op, nodeClass);
  if (std::holds_alternative<OpaqueRule>(program.nodeClasses[nodeClass].rule))
    return WalkResult::advance();
  // The rule of an op covers its body, except for what it reads from outside.
  if (program.nodeClasses[nodeClass].hasReadingBody)
    op->walk([&](Operation *inner) {
      if (inner != op && llvm::any_of(inner->getOperands(), hasKnownLayout))
        addNode(inner, getOpClass(inner, /*isInBody=*/true));
    });
  return WalkResult::skip();
}

void ProgramReader::addNode(Operation *op, unsigned nodeClass) {
  const NodeClass &known = program.nodeClasses[nodeClass];
  if (!known.isFixed && !cannotKeepTypes(known) &&
      isRematerializable(op, known.rule)) {
    nodeOf[op] = kRematerializable;
  } else if (!std::holds_alternative<ShapeRule>(known.rule)) {
    nodeOf[op] = program.nodes.size();
    program.nodes.push_back({nodeClass, op, 0});
  }
}

static bool haveSameParts(const NodeClass &nodeClass,
                          const TypeEquivalenceClass &flowClass) {
  return llvm::equal(nodeClass.insertedParts, flowClass.parts,
                     [](const NodeClass::Part &a, const InsertedPart &b) {
                       return a.type == b.operand->get().getType() &&
                              a.rule.tileSizeMustDivide ==
                                  b.rule.tileSizeMustDivide &&
                              a.rule.dropped == b.rule.dropped;
                     });
}

unsigned ProgramReader::getClassOfFlow(const TypeEquivalenceClass &flowClass,
                                       int64_t frequency) {
  SmallVector<RankedTensorType, 0> constrained;
  if (RankedTensorType constraint = findConstraint(flowClass))
    constrained.push_back(constraint);
  SmallVector<unsigned, 1> &known =
      nodeClassesOf[llvm::hash_combine(flowClass.type, frequency)];
  for (unsigned c : known)
    if (program.nodeClasses[c].flowType == flowClass.type &&
        program.nodeClasses[c].constrainedOperands == constrained &&
        program.nodeClasses[c].frequency == frequency &&
        haveSameParts(program.nodeClasses[c], flowClass))
      return c;
  NodeClass added;
  added.flowType = flowClass.type;
  for (const InsertedPart &part : flowClass.parts)
    added.insertedParts.push_back(
        {cast<RankedTensorType>(part.operand->get().getType()), part.rule});
  added.isFixed = !constrained.empty();
  added.constrainedOperands = std::move(constrained);
  added.frequency = frequency;
  known.push_back(program.nodeClasses.size());
  program.nodeClasses.push_back(std::move(added));
  return known.back();
}

void ProgramReader::addFlowClasses() {
  firstFlowClass = program.nodes.size();
  // Flow classes cost nothing, so their frequency does not matter.
  for (auto [j, flowClass] : llvm::enumerate(program.flow.classes))
    program.nodes.push_back(
        {getClassOfFlow(flowClass, /*frequency=*/1), nullptr, unsigned(j)});
}

void ProgramReader::addUse(OpOperand &operand, unsigned node, unsigned index) {
  Value value = operand.get();
  if (!hasKnownLayout(value))
    return;
  Operation *producer = value.getDefiningOp();
  auto it = producer ? nodeOf.find(producer) : nodeOf.end();
  if (it != nodeOf.end() && it->second == kRematerializable)
    return;
  unsigned from = it == nodeOf.end() ? kRematerializable : it->second;
  bool isFirst = from != kRematerializable && producer->getResult(0) == value;
  unsigned &tensor = isFirst
                         ? tensorOfFirst[from]
                         : tensorOf.try_emplace(value, kNoTensor).first->second;
  if (tensor == kNoTensor) {
    tensor = program.tensors.size();
    if (!program.flow.classes.empty())
      if (auto flowClass = program.flow.classOfValue.find(value);
          flowClass != program.flow.classOfValue.end())
        from = firstFlowClass + flowClass->second;
    program.tensors.push_back({value, 0, from, 0});
  }
  uses.push_back({tensor, node, index, operand.getOwner()});
}

/// Appends a class of tensors, and adds it to `incidentTensors` of the node
/// classes of its producer and consumers.
void ProgramReader::addTensorClass(TensorClass &&added) {
  unsigned number = program.tensorClasses.size();
  auto meet = [&](unsigned nodeClass, OperandOrResult slot) {
    program.nodeClasses[nodeClass].incidentTensors.push_back({slot, number});
  };
  if (added.producer)
    meet(*added.producer, {true, added.result});
  SmallVector<std::pair<unsigned, unsigned>> met;
  for (const TensorClass::Consumer &consumer : added.consumers)
    for (unsigned operand : consumer.operands)
      if (!llvm::is_contained(met,
                              std::make_pair(consumer.nodeClass, operand))) {
        met.push_back({consumer.nodeClass, operand});
        meet(consumer.nodeClass, {false, operand});
      }
  program.tensorClasses.push_back(std::move(added));
}

unsigned ProgramReader::getTensorClass(TensorClass &&wanted) {
  llvm::hash_code hash =
      llvm::hash_combine(wanted.type, wanted.producer.value_or(~0u),
                         wanted.result, wanted.frequency, wanted.depth);
  for (const TensorClass::Consumer &consumer : wanted.consumers)
    hash = llvm::hash_combine(
        hash, consumer.nodeClass, consumer.frequency, consumer.depth,
        llvm::hash_combine_range(consumer.operands.begin(),
                                 consumer.operands.end()));
  SmallVector<unsigned, 1> &known = tensorClassesOf[hash];
  for (unsigned c : known) {
    const TensorClass &other = program.tensorClasses[c];
    if (other.type == wanted.type && other.producer == wanted.producer &&
        other.result == wanted.result && other.frequency == wanted.frequency &&
        other.depth == wanted.depth &&
        llvm::equal(other.consumers, wanted.consumers,
                    [](const auto &a, const auto &b) {
                      return a.nodeClass == b.nodeClass &&
                             a.operands == b.operands &&
                             a.frequency == b.frequency && a.depth == b.depth;
                    }))
      return c;
  }
  known.push_back(program.tensorClasses.size());
  addTensorClass(std::move(wanted));
  return known.back();
}

/// Returns the loop depth of a block. Caches that of the last block, because
/// tensors are visited block by block.
unsigned ProgramReader::getLoopDepth(Block *block) {
  if (block != lastBlock) {
    lastBlock = block;
    lastDepth = placement.getLoopDepth(block);
  }
  return lastDepth;
}

/// Sets the frequencies and loop depths of the copies of a tensor, for all
/// consumers and for each. `ownUses` are the indices in `uses` of the uses of
/// the tensor, sorted like the consumers.
void ProgramReader::findFrequencies(TensorClass &wanted,
                                    ArrayRef<unsigned> ownUses) {
  Block *block = wanted.first.getParentBlock();
  SmallVector<Operation *, 4> users;
  for (unsigned use : ownUses)
    users.push_back(uses[use].user);
  Block *shared = placement.find(wanted.first, users);
  wanted.frequency = frequencies.get(shared);
  wanted.depth = getLoopDepth(shared);
  if (llvm::all_of(
          users, [&](Operation *user) { return user->getBlock() == block; })) {
    for (TensorClass::Consumer &consumer : wanted.consumers) {
      consumer.frequency = wanted.frequency;
      consumer.depth = wanted.depth;
    }
    return;
  }
  size_t next = 0;
  for (TensorClass::Consumer &consumer : wanted.consumers) {
    size_t begin = next;
    while (next < ownUses.size() &&
           uses[ownUses[next]].node == uses[ownUses[begin]].node)
      ++next;
    Block *own = placement.find(wanted.first,
                                ArrayRef(users).slice(begin, next - begin));
    consumer.frequency = frequencies.get(own);
    consumer.depth = getLoopDepth(own);
  }
}

/// Adds the operands of a node that is an op to `uses`, except those of flow
/// classes.
void ProgramReader::addUses(unsigned node) {
  Operation *op = program.nodes[node].op;
  const NodeClass &nodeClass = program.getClass(program.nodes[node]);
  for (OpOperand &operand : op->getOpOperands())
    if (!nodeClass.flowOperands.test(operand.getOperandNumber()))
      addUse(operand, node, operand.getOperandNumber());
}

/// Returns a description of a tensor as a class, to be compared with the known
/// classes. `ownUses` are its uses, sorted by node.
TensorClass ProgramReader::describeTensor(const Tensor &tensor,
                                          ArrayRef<unsigned> ownUses) {
  TensorClass wanted;
  wanted.type = cast<RankedTensorType>(tensor.value.getType());
  wanted.first = tensor.value;
  if (tensor.producer != kRematerializable) {
    const Node &producer = program.nodes[tensor.producer];
    wanted.producer = producer.nodeClass;
    wanted.result =
        producer.op ? cast<OpResult>(tensor.value).getResultNumber() : 0;
  }
  unsigned last = ~0u;
  for (unsigned i : ownUses) {
    const Use &use = uses[i];
    if (use.node != last) {
      wanted.consumers.push_back({program.nodes[use.node].nodeClass, {}, 1, 0});
      last = use.node;
    }
    SmallVector<unsigned, 1> &operands = wanted.consumers.back().operands;
    if (!llvm::is_contained(operands, use.operand))
      operands.push_back(use.operand);
  }
  findFrequencies(wanted, ownUses);
  return wanted;
}

void ProgramReader::addTensors() {
  tensorOfFirst.assign(program.nodes.size(), kNoTensor);
  program.tensors.reserve(program.nodes.size());
  uses.reserve(2 * program.nodes.size());
  for (auto [u, node] : llvm::enumerate(program.nodes)) {
    if (node.op) {
      addUses(u);
      continue;
    }
    for (OpOperand *operand : program.flow.classes[node.flowClass].operands)
      addUse(*operand, u, 0);
    for (auto [i, part] :
         llvm::enumerate(program.flow.classes[node.flowClass].parts))
      addUse(*part.operand, u, 1 + i);
  }

  // Sorts the uses by tensor, in the order of the nodes.
  std::vector<unsigned> first(program.tensors.size() + 1, 0);
  for (const Use &use : uses)
    ++first[use.tensor + 1];
  for (size_t t = 1; t < first.size(); ++t)
    first[t] += first[t - 1];
  std::vector<unsigned> sorted(uses.size());
  std::vector<unsigned> next(first.begin(), first.end() - 1);
  for (auto [i, use] : llvm::enumerate(uses))
    sorted[next[use.tensor]++] = i;

  program.consumers.reserve(uses.size());
  for (auto [t, tensor] : llvm::enumerate(program.tensors)) {
    tensor.firstConsumer = program.consumers.size();
    ArrayRef<unsigned> own =
        ArrayRef(sorted).slice(first[t], first[t + 1] - first[t]);
    unsigned last = ~0u;
    for (unsigned i : own)
      if (unsigned node = uses[i].node; node != last)
        program.consumers.push_back(last = node);
    tensor.tensorClass = getTensorClass(describeTensor(tensor, own));
  }
}

Program ProgramReader::run() {
  program.flow = findTypeEquivalenceClasses(root);
  nodeOf.reserve(frequencies.getNumOps());
  program.nodes.reserve(frequencies.getNumOps());
  root->walk<WalkOrder::PreOrder>([&](Operation *op) { return addOp(op); });
  addFlowClasses();
  addTensors();
  return std::move(program);
}

Program layout::readProgram(Operation *root, int64_t assumedTrips,
                            const LayoutConstraints &constraints,
                            bool usesPerElementAddressing) {
  return ProgramReader(root, assumedTrips, constraints,
                       usesPerElementAddressing)
      .run();
}
