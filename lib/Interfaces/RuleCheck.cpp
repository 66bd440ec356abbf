//===- RuleCheck.cpp - Checks types against the rule of an op -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/RuleCheck.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/DroppedDims.h"
#include "layout/Interfaces/IterationSpace.h"
#include "layout/Interfaces/MeshLoops.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

class Checker {
public:
  Checker(const OpLayoutRule &rule, ArrayRef<Type> operands,
          ArrayRef<Type> results, FailureReason refuse,
          bool usesPerElementAddressing)
      : rule(rule), operands(operands), results(results), refuse(refuse),
        usesPerElementAddressing(usesPerElementAddressing) {}

  LogicalResult run();

private:
  LogicalResult checkSpaces();
  LogicalResult checkLoops(const LoopsRule &rule);
  LogicalResult checkBlocks(const LoopsRule &rule);
  LogicalResult checkView(const ViewRule &view);
  LogicalResult checkPerDim(const PerDimRule &rule);

  const OpLayoutRule &rule;
  ArrayRef<Type> operands, results;
  FailureReason refuse;
  bool usesPerElementAddressing;
};

} // namespace

static bool isInSpace(Type type, StringRef space) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  FailureOr<LayoutMap> map =
      tensor ? getLayoutMap(tensor) : FailureOr<LayoutMap>();
  return succeeded(map) && map->getSpace().starts_with(space);
}

static bool isImage(Type type) { return isInSpace(type, "image"); }
static bool isLocal(Type type) { return isInSpace(type, "npu"); }

/// Returns true if data can be loaded or stored between the spaces: from or to
/// system memory.
static bool isBetweenMemories(StringRef a, StringRef b) {
  return a == "buffer" || b == "buffer";
}

/// Checks the memory spaces of all tensors. Images and buffers may be mixed.
/// Local memory of an NPU may be mixed with system memory, but only by an op
/// without loops, or by one whose results are all in local memory.
LogicalResult Checker::checkSpaces() {
  // Ops on local memory may read operands that are loaded for them.
  bool mayLoad = !std::holds_alternative<LoopsRule>(rule) ||
                 llvm::all_of(results, isLocal);
  std::string first, firstSpace;
  auto check = [&](Type type, const char *kind, size_t i) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return success();
    FailureOr<LayoutMap> map = getLayoutMap(tensor);
    if (failed(map))
      return refuse([&](raw_ostream &os) {
        os << "has an encoding that is not a layout: " << kind << " " << i
           << " of type " << tensor;
      });
    std::string name = kind + (" " + std::to_string(i));
    std::string space = map->getSpace().str();
    if (firstSpace.empty()) {
      first = name;
      firstSpace = space;
    } else if (space != firstSpace && (space == "npu" || firstSpace == "npu") &&
               !(mayLoad && isBetweenMemories(space, firstSpace))) {
      return refuse("cannot work in two spaces: " + Twine(first) + " is in '" +
                    firstSpace + "' and " + name + " in '" + space +
                    "'; convert one of them with layout.convert");
    }
    return success();
  };
  for (auto [i, type] : llvm::enumerate(operands))
    if (failed(check(type, "operand", i)))
      return failure();
  for (auto [i, type] : llvm::enumerate(results))
    if (failed(check(type, "result", i)))
      return failure();
  return success();
}

namespace {
/// The divisors at which tensors split a loop into digits, and true if the loop
/// is part of an index that is a sum.
struct LoopCuts {
  SmallVector<int64_t, 4> points;
  bool isInSum = false;
};
} // namespace

/// Returns true if each stored axis of a tensor is one digit of a dim, and the
/// digits of a dim cover it without overlap. A dim that a sum of loops indexes
/// must be one digit. If true, adds the divisors of the digits to their loops;
/// if false, may have added some. Returns false for dynamic shapes, replicas,
/// stated padding and other spaces than linear memory.
static bool hasWholeDigits(const OperandAccess &access,
                           MutableArrayRef<LoopCuts> loops) {
  FailureOr<LayoutMap> map = getLayoutMap(access.type);
  if (failed(map) || map->getSpace() != "buffer" ||
      !map->getReplicas().empty() || !access.type.hasStaticShape() ||
      statesPadding(access.type))
    return false;
  ArrayRef<int64_t> shape = access.type.getShape();
  SmallVector<SmallVector<std::pair<int64_t, int64_t>, 4>> digits(shape.size());
  for (const StoredAxis &axis : map->getStoredAxes()) {
    const Digit *digit = axis.value.getSingleDigit();
    if (!digit || !digit->isDim())
      return false;
    int64_t extent = digit->modulus ? digit->modulus
                                    : llvm::divideCeilSigned(shape[digit->dim],
                                                             digit->divisor);
    if (axis.extent.evaluate(shape) != extent)
      return false;
    digits[digit->dim].push_back({digit->divisor, digit->modulus});
  }
  for (auto [expr, own] : llvm::zip(access.map.getResults(), digits)) {
    llvm::sort(own);
    int64_t next = 1;
    for (auto [divisor, modulus] : own) {
      if (divisor != next)
        return false;
      next = divisor * modulus; // 0 after the last
    }
    if (next != 0)
      return false;
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop && own.size() > 1)
      return false;
    expr.walk([&](AffineExpr part) {
      auto dim = dyn_cast<AffineDimExpr>(part);
      if (!dim)
        return;
      LoopCuts &cuts = loops[dim.getPosition()];
      cuts.isInSum |= !loop;
      if (loop)
        for (auto [divisor, modulus] : own)
          cuts.points.push_back(divisor);
    });
  }
  return true;
}

/// Returns true if each stored axis of every tensor is one digit of a dim,
/// every loop has digits, of any two divisors of a loop one divides the other,
/// and a loop that is part of a sum is not split. Then the op has an iteration
/// space; otherwise it may have one. A fast path that covers most candidates.
static bool runsOnWholeDigits(ArrayRef<OperandAccess> accesses,
                              size_t numLoops) {
  SmallVector<LoopCuts> loops(numLoops);
  for (const OperandAccess &access : accesses)
    if (!hasWholeDigits(access, loops))
      return false;
  return llvm::all_of(loops, [](LoopCuts &loop) {
    llvm::sort(loop.points);
    for (size_t i = 1; i < loop.points.size(); ++i)
      if (loop.points[i] % loop.points[i - 1] != 0)
        return false;
    return !loop.points.empty() && !(loop.isInSum && loop.points.back() != 1);
  });
}

/// Checks an op with tensors on a mesh: every device must hold what its loops
/// need, and be able to run them on the parts in its own memory.
LogicalResult Checker::checkBlocks(const LoopsRule &rule) {
  if (failed(checkLoopsOnMesh(rule, operands, results, refuse)))
    return failure();
  SmallVector<Type> locals;
  bool hasLocal = false;
  for (ArrayRef<Type> types : {operands, results})
    for (Type type : types) {
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        type = getLocalType(tensor);
      hasLocal |= hasLayout(type) && !liesOnMesh(type);
      locals.push_back(type);
    }
  if (!hasLocal)
    return success();
  ArrayRef<Type> onDevice = locals;
  ArrayRef<Type> reads = onDevice.take_front(operands.size());
  ArrayRef<Type> writes = onDevice.drop_front(operands.size());
  LoopsRule local = withSizesOf(rule, reads, writes);
  return checkRule(local, reads, writes, refuse, usesPerElementAddressing);
}

/// Checks that the op has an iteration space, i.e. that all tensors split its
/// loops at the same digits. Ops with tensors in images or in local memory of
/// an NPU pass, because these are addressed by their own maps. Ops without
/// iterations pass, too.
LogicalResult Checker::checkLoops(const LoopsRule &rule) {
  for (ArrayRef<Type> types : {operands, results})
    if (llvm::any_of(types, isImage) || llvm::any_of(types, isLocal))
      return success();
  // Loops without iterations access nothing.
  if (llvm::any_of(rule.loops, [](const LoopRule &loop) { return !loop.size; }))
    return success();
  SmallVector<OperandAccess> accesses;
  auto add = [&](Type type, AffineMap map, bool isResult) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && map)
      accesses.push_back({map, tensor, isResult});
  };
  for (auto [type, map] : llvm::zip(operands, rule.operandMaps))
    add(type, map, false);
  for (auto [type, map] : llvm::zip(results, rule.resultMaps))
    add(type, map, true);
  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> sizes;
  for (const LoopRule &loop : rule.loops) {
    iterators.push_back(loop.iterator);
    sizes.push_back(loop.size);
  }
  bool isKnown = runsOnWholeDigits(accesses, sizes.size());
  assert(
      (!isKnown || succeeded(getIterationSpace(accesses, iterators, sizes))) &&
      "whole digits that nest have an iteration space");
  if (isKnown)
    return success();
  std::string whyNot;
  if (succeeded(
          getIterationSpace(accesses, iterators, sizes,
                            refuse ? FailureReason(whyNot) : FailureReason())))
    return success();
  return refuse("cannot run on the layouts of its operands: " + Twine(whyNot) +
                "; convert them with layout.convert");
}

LogicalResult Checker::checkView(const ViewRule &view) {
  auto source = dyn_cast<RankedTensorType>(operands.front());
  auto result = dyn_cast<RankedTensorType>(results.front());
  LayoutMap viewed = applyView(*getLayoutMap(source), view.toSource);
  if (equalOn(viewed, *getLayoutMap(result), result.getShape()) ==
      ProofResult::Proved)
    return success();
  return refuse([&](raw_ostream &os) {
    os << "is a view of '" << source << "', whose storage " << viewed.str()
       << " is not proven to be that of '" << result
       << "' (L7); convert one of them with layout.convert";
  });
}

/// Returns true if the digits of dim `d` in `x` split it at divisors of
/// `divisor` only, so that blocks of `divisor` indices are whole tiles.
static bool hasWholeTiles(const IndexExpr &x, unsigned d, int64_t divisor) {
  return llvm::all_of(x.terms, [&](const DigitTerm &term) {
    const Digit &digit = term.digit;
    if (!digit.isDim()) {
      bool mentions = false;
      digit.walkDims([&](unsigned dim) { mentions |= dim == d; });
      return !mentions;
    }
    return digit.dim != d || cutsAtDivisorsOf(digit, divisor);
  });
}

LogicalResult Checker::checkPerDim(const PerDimRule &rule) {
  SmallVector<RankedTensorType> types;
  for (ArrayRef<Type> range : {operands, results})
    for (Type type : range)
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        types.push_back(tensor);
  // DMA transfers of local memory address each element by its index.
  if (llvm::any_of(types, isLocal))
    return success();
  // Tensors of full rank come before those without the dropped dims.
  llvm::stable_sort(types, [](RankedTensorType a, RankedTensorType b) {
    return a.getRank() > b.getRank();
  });
  std::optional<LayoutMap> whole, part;
  for (RankedTensorType type : types) {
    LayoutMap map = *getLayoutMap(type);
    bool isWhole = type.getRank() == int64_t(rule.tileSizeMustDivide.size());
    std::optional<LayoutMap> &wanted = isWhole ? whole : part;
    if (!wanted)
      wanted = isWhole ? map : dropDims(*whole, rule.dropped);
    if (isWhole ? *wanted != map
                : equalOn(*wanted, map, type.getShape()) != ProofResult::Proved)
      return refuse([&](raw_ostream &os) {
        os << "needs one layout on all its tensors, found " << wanted->str()
           << " and " << map.str()
           << "; convert one of them with layout.convert";
      });
    for (auto [d, divisor] : llvm::enumerate(rule.tileSizeMustDivide))
      for (const Coordinate &coordinate : map.getCoordinates())
        if (isWhole && divisor && !isImage(type) &&
            !hasWholeTiles(coordinate.value, d, divisor))
          return refuse([&, d = d](raw_ostream &os) {
            os << "changes dim " << d << ", which layout " << map.str()
               << " divides; convert the tensor with layout.convert";
          });
  }
  return success();
}

LogicalResult Checker::run() {
  if (!relatesTensors(rule))
    return success();
  if (failed(checkSpaces()))
    return failure();
  auto *loops = std::get_if<LoopsRule>(&rule);
  bool onMesh =
      llvm::any_of(operands, liesOnMesh) || llvm::any_of(results, liesOnMesh);
  if (loops && onMesh)
    return checkBlocks(*loops);
  if (llvm::any_of(operands, isPartial) || llvm::any_of(results, isPartial))
    return refuse(
        "computes with partial sums (P4): reduce them by layout.convert first");
  if (auto *view = std::get_if<ViewRule>(&rule))
    return checkView(*view);
  if (usesPerElementAddressing)
    return success();
  if (loops)
    return checkLoops(*loops);
  return checkPerDim(std::get<PerDimRule>(rule));
}

LogicalResult layout::checkRule(const OpLayoutRule &rule,
                                ArrayRef<Type> operands, ArrayRef<Type> results,
                                FailureReason refuse,
                                bool usesPerElementAddressing) {
  return Checker(rule, operands, results, refuse, usesPerElementAddressing)
      .run();
}

LogicalResult layout::checkRule(Operation *op, const OpLayoutRule &rule,
                                FailureReason refuse,
                                bool usesPerElementAddressing) {
  auto *loops = std::get_if<LoopsRule>(&rule);
  return checkRule(rule, SmallVector<Type>(op->getOperandTypes()),
                   SmallVector<Type>(op->getResultTypes()), refuse,
                   usesPerElementAddressing || (loops && loops->runsAnywhere));
}

bool layout::canWriteAs(Operation *source, Type type) {
  SmallVector<Type> operands;
  for (Type operand : source->getOperandTypes())
    operands.push_back(isa<ShapedType>(operand) ? type : operand);
  return succeeded(checkRule(getLayoutRule(source), operands, type));
}
