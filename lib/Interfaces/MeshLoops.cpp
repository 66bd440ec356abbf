//===- MeshLoops.cpp - Loops of an op distributed over devices ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/MeshLoops.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/IR/Speculation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::layout;

bool layout::liesOnMesh(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getEncoding())
    return false;
  FailureOr<LayoutMap> map = getLayoutMap(tensor);
  return succeeded(map) && map->getSpace() == kMeshSpace &&
         !map->getCoordinates().empty();
}

bool layout::isPartial(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_present<PartialAttr>(tensor.getEncoding());
}

MeshAttr layout::getMeshLayout(RankedTensorType type) {
  Attribute layout = type.getEncoding();
  for (;;) {
    if (auto partial = dyn_cast_if_present<PartialAttr>(layout))
      layout = partial.getLayout();
    else if (auto padded = dyn_cast_if_present<PaddedAttr>(layout))
      layout = padded.getLayout();
    else
      return dyn_cast_if_present<MeshAttr>(layout);
  }
}

RankedTensorType layout::placeOnMesh(RankedTensorType type, const Mesh &axes) {
  auto layout = dyn_cast_if_present<LayoutAttrInterface>(type.getEncoding());
  if (liesOnMesh(type) || isa_and_present<PaddedAttr>(layout))
    return type;
  Mesh mesh = axes;
  mesh.splits.assign(type.getRank(), {});
  auto placed = MeshAttr::get(type.getContext(), mesh, layout);
  if (layout && failed(placed.resolve(type.getShape(), type.getElementType(),
                                      /*emitError=*/nullptr)))
    return type;
  return RankedTensorType::get(type.getShape(), type.getElementType(), placed);
}

RankedTensorType layout::getLocalType(RankedTensorType type) {
  MeshAttr layout = getMeshLayout(type);
  if (!layout)
    return type;
  Attribute local;
  if (layout.getLocal())
    local = withPadding(layout.getLocal(), getPadding(type));
  return RankedTensorType::get(
      *layout.getMesh().getLocalShape(type.getShape(), nullptr),
      type.getElementType(), local);
}

/// Returns the dims in which some devices hold fewer indices than others, or
/// all dims if a layout other than `#layout.mesh` places the tensor on a mesh.
/// Returns no dims if it is on no mesh.
static llvm::SmallBitVector findNonDivisibleDims(RankedTensorType type) {
  MeshAttr layout = getMeshLayout(type);
  llvm::SmallBitVector nonDivisible(type.getRank(),
                                    !layout && liesOnMesh(type));
  if (!layout)
    return nonDivisible;
  Mesh mesh = layout.getMesh();
  auto block = mesh.getLocalShape(type.getShape(), nullptr);
  for (auto [d, split] : llvm::enumerate(mesh.splits)) {
    int64_t size = block ? (*block)[d] : 0;
    for (unsigned axis : split)
      size *= mesh.axes[axis].size;
    nonDivisible[d] = !split.empty() && size != type.getDimSize(d);
  }
  return nonDivisible;
}

/// Returns true if the body of `op` cannot fail on any element and reads no
/// tensor by index.
static bool takesAnyElement(Operation *op) {
  if (!canSpeculate(op))
    return false;
  return !op->walk([&](Operation *inner) {
              return inner != op && llvm::any_of(inner->getOperandTypes(),
                                                 llvm::IsaPred<ShapedType>)
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            }).wasInterrupted();
}

bool layout::computesWholeBlocks(Operation *op, const OpLayoutRule &rule,
                                 TypeRange operands, TypeRange results) {
  auto *loops = std::get_if<LoopsRule>(&rule);
  if (!loops)
    return true;
  bool isEven = true;
  auto isParallel = [&](AffineMap map, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !map)
      return true;
    for (unsigned d : findNonDivisibleDims(tensor).set_bits()) {
      isEven = false;
      auto loop = dyn_cast<AffineDimExpr>(map.getResult(d));
      if (!loop || loops->loops[loop.getPosition()].iterator !=
                       utils::IteratorType::parallel)
        return false;
    }
    return true;
  };
  return llvm::all_of(llvm::zip_equal(loops->operandMaps, operands),
                      [&](auto p) { return std::apply(isParallel, p); }) &&
         llvm::all_of(llvm::zip_equal(loops->resultMaps, results),
                      [&](auto p) { return std::apply(isParallel, p); }) &&
         (isEven || takesAnyElement(op));
}

bool layout::convertsBlocks(RankedTensorType from, RankedTensorType to) {
  auto source = dyn_cast_if_present<MeshAttr>(from.getEncoding()),
       target = dyn_cast_if_present<MeshAttr>(to.getEncoding());
  return source && target && source.getMesh() == target.getMesh() &&
         source.getMesh().halos.empty();
}

LoopsRule layout::withSizesOf(const LoopsRule &rule, TypeRange operands,
                              TypeRange results) {
  LoopsRule sized = rule;
  auto read = [&](AffineMap map, Type type) {
    if (!map)
      return;
    for (auto [expr, size] : llvm::zip_equal(
             map.getResults(), cast<RankedTensorType>(type).getShape()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        sized.loops[loop.getPosition()].size = size;
  };
  for (auto [map, type] : llvm::zip_equal(rule.operandMaps, operands))
    read(map, type);
  for (auto [map, type] : llvm::zip_equal(rule.resultMaps, results))
    read(map, type);
  return sized;
}

bool layout::canSplit(const LoopsRule &rule, unsigned loop) {
  auto indexesAlone = [&](AffineMap map) {
    return !map || llvm::all_of(map.getResults(), [&](AffineExpr index) {
      return isa<AffineDimExpr>(index) || !index.isFunctionOfDim(loop);
    });
  };
  // Rules of elementwise ops and softmax have tileable loops, but no combiners.
  return (rule.loops[loop].tileable || !rule.combiners.empty()) &&
         llvm::all_of(rule.operandMaps, indexesAlone) &&
         llvm::all_of(rule.resultMaps, indexesAlone);
}

bool layout::beginsFresh(Operation *op, unsigned r) {
  auto dest = dyn_cast<DestinationStyleOpInterface>(op);
  Operation *init =
      dest ? dest.getDpsInitOperand(r)->get().getDefiningOp() : nullptr;
  return init && !init->hasTrait<OpTrait::ConstantLike>() &&
         isRematerializable(init, getLayoutRule(init));
}

namespace {

/// The iterations of a loop that a device runs by its coordinate on a mesh
/// axis: those with `loop floordiv divisor mod modulus` equal to the
/// coordinate, or without `mod` if the modulus is 0.
struct Share {
  /// The loop that is split. If std::nullopt, the devices at coordinate 0 of
  /// the axis hold the whole tensor, and the others no element of it.
  std::optional<unsigned> loop;
  /// The divisor and modulus (0: no mod) of the digit of the loop. Both are 0
  /// if the loop has one iteration, which the devices at coordinate 0 run.
  int64_t divisor, modulus;

  bool operator==(const Share &other) const {
    return loop == other.loop && divisor == other.divisor &&
           modulus == other.modulus;
  }
};

/// An operand or result of an op, its indexing map, and the share of its
/// elements that each device of a mesh holds.
struct Access {
  std::string name;
  AffineMap map;
  RankedTensorType type;
  bool isResult = false;
  unsigned number = 0; // of the operand or result
  /// Per mesh axis, the loop iterations whose elements of the tensor a device
  /// holds, or std::nullopt if all devices along the axis hold copies of the
  /// same elements. Empty if the tensor is not on a mesh.
  SmallVector<std::optional<Share>> shares;

  bool isPartialAlong(StringRef axis) const {
    auto partial = dyn_cast_if_present<PartialAttr>(type.getEncoding());
    return partial && llvm::any_of(partial.getAxes(), [&](StringAttr name) {
             return name.getValue() == axis;
           });
  }
};

class MeshLoops {
public:
  MeshLoops(const LoopsRule &rule, FailureReason refuse)
      : rule(rule), refuse(refuse) {}

  LogicalResult add(AffineMap map, Type type, bool isResult, unsigned number);
  LogicalResult check();

private:
  LogicalResult checkAxis(unsigned axis);
  LogicalResult checkParts(const Access &access);
  bool isAddedTo(const Access &operand) const;
  std::optional<Share> getShare(const Access &access, unsigned axis) const {
    return access.shares.empty() ? std::nullopt : access.shares[axis];
  }

  const LoopsRule &rule;
  FailureReason refuse;
  SmallVector<Access> accesses;
  SmallVector<Coordinate> axes; // of the mesh, as in the first tensor
};

} // namespace

/// Returns the dim of which `value`, coordinate `a` of a mesh, is a digit. It
/// is a logical dim, or a replica dim if its number is at least the rank. If
/// the coordinate is always 0, returns the dim that a `#layout.mesh` splits
/// along it, e.g. one of size 1. Otherwise returns std::nullopt.
static std::optional<unsigned> findSplitDim(RankedTensorType type, unsigned a,
                                            const IndexExpr &value) {
  if (const Digit *digit = value.getSingleDigit(); digit && digit->isDim())
    return digit->dim;
  MeshAttr layout = getMeshLayout(type);
  if (!layout || !value.isZero())
    return std::nullopt;
  Mesh mesh = layout.getMesh();
  for (auto [d, split] : llvm::enumerate(mesh.splits))
    if (llvm::is_contained(split, a))
      return unsigned(d);
  return std::nullopt;
}

LogicalResult MeshLoops::add(AffineMap map, Type type, bool isResult,
                             unsigned number) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !map)
    return success();
  std::string name =
      (isResult ? "result " : "operand ") + std::to_string(number);
  Access access{std::move(name), map, tensor, isResult, number, {}};
  if (!liesOnMesh(tensor)) {
    accesses.push_back(std::move(access));
    return success();
  }
  if (MeshAttr mesh = getMeshLayout(tensor);
      mesh && !mesh.getMesh().halos.empty())
    return refuse("has " + access.name +
                  " with a halo, which ops do not compute with; convert it to "
                  "the layout without 'halos' by layout.convert");
  LayoutMap layout = *getLayoutMap(tensor);
  ArrayRef<Coordinate> own = layout.getCoordinates().drop_back();
  if (axes.empty())
    axes.assign(own.begin(), own.end());
  if (!llvm::equal(axes, own, [](const Coordinate &a, const Coordinate &b) {
        return a.name == b.name && a.extent == b.extent;
      }))
    return refuse("works on two meshes: " + access.name +
                  " is on another one; convert it with layout.convert");
  for (auto [a, axis] : llvm::enumerate(own)) {
    bool isZero = axis.value.isZero();
    std::optional<unsigned> dim = findSplitDim(tensor, a, axis.value);
    // There is one device along the axis, or all devices along it have copies.
    if ((isZero && axis.extent.isConstantEqual(1)) ||
        (dim && *dim >= layout.getRank())) {
      access.shares.push_back(std::nullopt);
      continue;
    }
    if (isZero && !dim) {
      access.shares.push_back(Share{std::nullopt, 0, 0});
      continue;
    }
    AffineExpr expr = dim ? map.getResult(*dim) : AffineExpr();
    auto loop = dyn_cast_if_present<AffineDimExpr>(expr);
    if (!loop)
      return refuse("has " + access.name + " split over axis '" + axis.name +
                    "' of the mesh along a dim that is not indexed by a single "
                    "loop; convert it with layout.convert");
    const Digit *digit = axis.value.getSingleDigit();
    access.shares.push_back(Share{loop.getPosition(),
                                  digit ? digit->divisor : 0,
                                  digit ? digit->modulus : 0});
  }
  accesses.push_back(std::move(access));
  return success();
}

/// Returns true if the operand is the initial value of a result that has the
/// same type and the same indexing map.
bool MeshLoops::isAddedTo(const Access &operand) const {
  return llvm::any_of(accesses, [&](const Access &other) {
    return other.isResult && other.number < rule.inits.size() &&
           rule.inits[other.number] == operand.number &&
           other.type == operand.type && other.map == operand.map;
  });
}

/// Checks the partial sums of `access`, if it has any. An operand must be the
/// init of a result of the same type and indexing map. A result is checked
/// along each mesh axis on which it has partial sums. If any tensor of the op
/// is split along the axis, the op must combine the result by the reduction of
/// these sums. Otherwise it must not read the init.
LogicalResult MeshLoops::checkParts(const Access &access) {
  auto partial = dyn_cast_if_present<PartialAttr>(access.type.getEncoding());
  if (!partial)
    return success();
  bool isReduced = access.isResult || isAddedTo(access);
  if (!isReduced)
    return refuse(
        "computes with partial sums (P4): reduce them by layout.convert first");
  if (!access.isResult)
    return success();
  unsigned r = access.number;
  bool accumulates =
      r < rule.inits.size() && rule.inits[r] && rule.isRead[*rule.inits[r]];
  for (auto [axis, coordinate] : llvm::enumerate(axes)) {
    if (!access.isPartialAlong(coordinate.name))
      continue;
    bool isReducedOver =
        llvm::any_of(accesses, [&, axis = axis](const Access &other) {
          return getShare(other, axis).has_value();
        });
    if (isReducedOver && (r >= rule.combiners.size() ||
                          rule.combiners[r] != partial.getReduction()))
      return refuse("does not combine values by " +
                    getName(partial.getReduction()) + ", of which " +
                    access.name + " has parts (P4)");
    // If the init is not read, the value is written on the first device along
    // the axis only.
    if (!isReducedOver && accumulates)
      return refuse("has " + access.name + " in parts along axis '" +
                    coordinate.name +
                    "', which does not split its reduction (P4)");
  }
  return success();
}

LogicalResult MeshLoops::checkAxis(unsigned axis) {
  const Access *first = nullptr;
  std::optional<Share> share;
  for (const Access &access : accesses)
    if (!share && (share = getShare(access, axis)))
      first = &access;
  if (!share)
    return success();
  std::string along = " along axis '" + axes[axis].name + "' of the mesh";
  for (const Access &access : accesses) {
    std::optional<Share> own = getShare(access, axis);
    if (own && *own == *share)
      continue;
    bool isIndexed = !share->loop || access.map.isFunctionOfDim(*share->loop);
    if (own || isIndexed)
      return refuse("needs one split of its loops" + along +
                    ", found different ones in " + first->name + " and " +
                    access.name + "; convert one of them with layout.convert");
    if (access.isResult && !access.isPartialAlong(axes[axis].name))
      return refuse("splits a reduction" + along + ", so " + access.name +
                    " has partial sums: state #layout.partial and reduce it by "
                    "layout.convert (P4)");
  }
  if (share->loop && !canSplit(rule, *share->loop))
    return refuse("needs all indices of a dim of " + first->name +
                  " on a device, which is split" + along +
                  "; convert it with layout.convert");
  return success();
}

LogicalResult MeshLoops::check() {
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (failed(checkAxis(axis)))
      return failure();
  for (const Access &access : accesses)
    if (failed(checkParts(access)))
      return failure();
  return success();
}

LogicalResult layout::checkLoopsOnMesh(const LoopsRule &rule,
                                       TypeRange operands, TypeRange results,
                                       FailureReason refuse) {
  MeshLoops loops(rule, refuse);
  for (auto [i, type] : llvm::enumerate(operands))
    if (failed(loops.add(rule.operandMaps[i], type, /*isResult=*/false, i)))
      return failure();
  for (auto [i, type] : llvm::enumerate(results))
    if (failed(loops.add(rule.resultMaps[i], type, /*isResult=*/true, i)))
      return failure();
  return loops.check();
}
