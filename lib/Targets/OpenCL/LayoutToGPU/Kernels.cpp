//===- Kernels.cpp - Emit one kernel per stored tensor --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Sizes.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Utils/EmitIndex.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// Largest work-group sizes in work-items: 16 x 4 along the first two
/// coordinates of an image, because neighbors share pixels along both, and 64
/// for a buffer.
constexpr int64_t kGroupX = 16, kGroupY = 4, kGroupLine = 64;

std::string KernelEmitter::makeName(Operation *op) {
  std::string name = op->getName().getStringRef().str();
  std::replace(name.begin(), name.end(), '.', '_');
  return (name + "_" + Twine(names[name]++) + suffix).str();
}

/// If an earlier kernel is equal to `func`, erases `func` and returns the
/// earlier one. Else keeps `func` for later calls and returns it.
gpu::GPUFuncOp KernelEmitter::findEqual(gpu::GPUFuncOp func) {
  SmallVector<gpu::GPUFuncOp> &known = kernels[func.getFunctionType()];
  for (gpu::GPUFuncOp other : known)
    if (OperationEquivalence::isRegionEquivalentTo(
            &func.getBody(), &other.getBody(),
            OperationEquivalence::IgnoreLocations)) {
      func.erase();
      return other;
    }
  known.push_back(func);
  return func;
}

namespace {

/// A pixel, or an element of a buffer, that a work-item writes.
struct Pixel {
  SmallVector<IndexExpr> axes; // values of the stored axes
  SmallVector<Value> address;  // in the order of the coordinates
  Value isInside;              // null if always true
};

/// The ids of a work-item along each coordinate, and the grid of the launch:
/// `groups` work-groups of `items` work-items along x, y and z.
struct Position {
  SmallVector<Value> ids;
  Value isInside; // null if always true
  SmallVector<Value> groups, items;
  Value part, isFirst; // set if a work-group divides a sum
  int64_t count = 1;   // the number of work-items; 0 if unknown
};

} // namespace

/// Decomposes the id of a work-item along a coordinate into the stored axes of
/// the coordinate, the fastest last. If a work-item covers several positions of
/// the fastest axis (`pixels`), its expression counts blocks of them.
static SmallVector<IndexExpr> emitAxes(KernelScope &scope, Value coordinate,
                                       ArrayRef<StoredAxis> stored,
                                       ArrayRef<SizeExpr> sizes,
                                       int64_t pixels) {
  OpBuilder &b = scope.builder();
  SmallVector<OpFoldResult> extents;
  for (const StoredAxis &axis : stored) {
    SizeExpr extent = axis.extent.substitute(sizes);
    if (pixels > 1 && &axis == &stored.back())
      extent = extent.ceilDiv(pixels);
    extents.push_back(getAsOpFoldResult(scope.emit(extent)));
  }
  SmallVector<IndexExpr> axes;
  for (auto [digit, extent] : llvm::zip_equal(
           emitDigits(b, scope.getLoc(), coordinate, extents), extents)) {
    std::optional<int64_t> known = getConstantIntValue(extent);
    axes.push_back(
        known == 1 ? IndexExpr(SizeExpr(0))
                   : scope.addVariable(digit, known.value_or(kUnknownSize)));
  }
  return axes;
}

/// Returns the number of work-items along a coordinate. Each covers `pixels`
/// positions of the fastest stored axis, the last one perhaps fewer.
static SizeExpr countItems(const Coordinate &coordinate,
                           ArrayRef<StoredAxis> stored, int64_t pixels) {
  if (pixels == 1)
    return coordinate.extent;
  SizeExpr count = stored.back().extent.ceilDiv(pixels);
  for (const StoredAxis &axis : stored.drop_back())
    count = axis.extent * count;
  return count;
}

/// Emits the position of a work-item in the kernel, and the grid of the launch
/// on the host.
static Position locate(OpBuilder &host, KernelScope &scope,
                       const TensorStorage &storage, ArrayRef<SizeExpr> sizes,
                       ArrayRef<OpFoldResult> hostSizes, PixelBlock block) {
  OpBuilder &b = scope.builder();
  Location loc = scope.getLoc();
  Position position;
  constexpr gpu::Dimension dimensions[] = {gpu::Dimension::x, gpu::Dimension::y,
                                           gpu::Dimension::z};
  for (auto [c, coordinate] : llvm::enumerate(getAddress(storage.map))) {
    Value id = gpu::GlobalIdOp::create(b, loc, b.getIndexType(), dimensions[c],
                                       IntegerAttr());
    position.ids.push_back(id);
    SizeExpr all = countItems(coordinate, storage.map.getStoredAxes(c),
                              c == block.coordinate ? block.pixels : 1);
    SizeExpr extent = all.substitute(sizes);
    std::optional<int64_t> known = extent.getConstant();
    position.count *= known.value_or(0);
    int64_t group = block.parts > 1      ? 1
                    : !storage.isImage() ? kGroupLine
                    : c == 0             ? kGroupX
                    : c == 1             ? kGroupY
                                         : 1;
    if (known)
      group = std::max<int64_t>(std::min(group, *known), 1);
    Value count = emitValues(host, loc, IndexExpr(all), {}, hostSizes).front();
    Value items = arith::ConstantIndexOp::create(host, loc, group);
    position.items.push_back(items);
    position.groups.push_back(
        arith::CeilDivUIOp::create(host, loc, count, items));
    if (group == 1 || (known && *known % group == 0))
      continue;
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, id,
                                         scope.emit(extent));
    position.isInside = scope.both(position.isInside, inside);
  }
  Value one = arith::ConstantIndexOp::create(host, loc, 1);
  position.items.resize(3, one);
  position.groups.resize(3, one);
  if (block.parts > 1) {
    position.count *= block.parts;
    position.items.back() =
        arith::ConstantIndexOp::create(host, loc, block.parts);
    position.part = gpu::ThreadIdOp::create(b, loc, b.getIndexType(),
                                            gpu::Dimension::z, IntegerAttr());
    position.isFirst =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, position.part,
                              arith::ConstantIndexOp::create(b, loc, 0));
  }
  return position;
}

/// Returns the pixels that a work-item writes. The last ones of a block may be
/// past the end of their axis, which the condition of the pixel (`isInside`)
/// excludes at run time.
static SmallVector<Pixel> getPixels(KernelScope &scope,
                                    const TensorStorage &storage,
                                    ArrayRef<SizeExpr> sizes,
                                    const Position &position,
                                    PixelBlock block) {
  SmallVector<Pixel> pixels(block.pixels);
  for (auto [c, id] : llvm::enumerate(position.ids)) {
    ArrayRef<StoredAxis> stored = storage.map.getStoredAxes(c);
    bool isBlocked = block.pixels > 1 && c == block.coordinate;
    SmallVector<IndexExpr> axes =
        emitAxes(scope, id, stored, sizes, isBlocked ? block.pixels : 1);
    for (auto [number, pixel] : llvm::enumerate(pixels)) {
      llvm::append_range(pixel.axes, axes);
      if (!isBlocked) {
        pixel.address.push_back(id);
        continue;
      }
      IndexExpr &fastest = pixel.axes.back(), address;
      fastest = add(scale(fastest, SizeExpr(block.pixels), scope.getExtents()),
                    IndexExpr(SizeExpr(int64_t(number))), scope.getExtents());
      for (auto [axis, value] : llvm::zip_equal(
               stored, ArrayRef(pixel.axes).take_back(stored.size())))
        address = add(
            scale(address, axis.extent.substitute(sizes), scope.getExtents()),
            value, scope.getExtents());
      pixel.isInside =
          scope.emitInRange(fastest, stored.back().extent.substitute(sizes));
      pixel.address.push_back(scope.emit(address));
    }
  }
  if (storage.isImage()) {
    SmallVector<IndexExpr> lane =
        scope.addLane(storage.map.getStoredAxes(position.ids.size()));
    for (Pixel &pixel : pixels)
      llvm::append_range(pixel.axes, lane);
  }
  return pixels;
}

/// Finds the reduction in the kernel of `tensor`: its op, or one that is
/// inlined into it through elementwise ops and views of static shape. Changes
/// `index` from that of an element of `tensor` to that of the reduction's
/// result. Without a reduction, returns null and leaves `index` unspecified.
static Operation *findReduction(OpResult tensor, const FusionPlan &plan,
                                SmallVectorImpl<IndexExpr> &index,
                                Sizes extents) {
  Operation *op = tensor.getOwner();
  if (getComputeKind(op) == ComputeKind::Reduction)
    return op;
  OpLayoutRule rule = getLayoutRule(op);
  if (auto *view = std::get_if<ViewRule>(&rule)) {
    auto source = dyn_cast<OpResult>(op->getOperand(0));
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!source || !plan.isInlined(source) || !type.hasStaticShape())
      return nullptr;
    index = getSourceIndex(
        *view, index, llvm::to_vector_of<SizeExpr>(type.getShape()), extents);
    return findReduction(source, plan, index, extents);
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp && !OpTrait::hasElementwiseMappableTraits(op))
    return nullptr;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!plan.isInlined(operand.get()) ||
        (linalgOp && !linalgOp.getMatchingIndexingMap(&operand).isIdentity()))
      continue;
    SmallVector<IndexExpr> same = llvm::to_vector(index);
    if (Operation *found =
            findReduction(cast<OpResult>(operand.get()), plan, same, extents)) {
      index = same;
      return found;
    }
  }
  return nullptr;
}

/// Chooses the pixels that a work-item computes for the reduction `op`, by the
/// counts of reads that the cost model also uses. `item` has the index of the
/// reduction's result. Returns one pixel if the op has several results or no
/// LoopsRule, or reads an operand without a layout map.
static PixelBlock chooseBlock(Operation *op, const KernelItem &item,
                              BlockLimits limits) {
  if (!mayComputeBlocks(op))
    return {};
  OpLayoutRule found = getLayoutRule(op);
  auto *rule = std::get_if<LoopsRule>(&found);
  if (!rule)
    return {};
  KernelLoops loops = KernelLoops::get(rule->loops);
  SmallVector<std::tuple<AffineMap, LayoutMap, RankedTensorType>> operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!rule->operandMaps[i] || !rule->isRead[i])
      continue;
    auto type = cast<RankedTensorType>(operand.getType());
    FailureOr<LayoutMap> map = getLayoutMap(type);
    if (failed(map))
      return {};
    loops.addOperand(rule->operandMaps[i], *map);
    operands.push_back({rule->operandMaps[i], *map, type});
  }
  KernelCount kernel(loops, rule->resultMaps.front(), item, limits.assumedSize);
  for (auto &[map, layout, type] : operands)
    kernel.addOperand(map, layout, limits.assumeSizes(type.getShape()),
                      /*elementBytes=*/1);
  return kernel.chooseBlock(limits, findGroupCombiner(op));
}

/// Emits the condition that the storage position `axes` holds an element, not
/// padding: `dims`, the index that the inverse of `map` gives, is within
/// `sizes`, and `map` stores it at this position. Numbers of replicas, which
/// follow the logical dims in `dims`, need no check. If the condition is
/// proven, returns null.
static Value emitIsElement(KernelScope &scope, const LayoutMap &map,
                           ArrayRef<IndexExpr> axes, ArrayRef<IndexExpr> dims,
                           ArrayRef<SizeExpr> sizes) {
  Value result;
  for (auto [x, size] : llvm::zip(dims, sizes))
    result = scope.both(result, scope.emitInRange(x, size));
  // If the inverse has the same index at several positions, only the one that
  // the map gives holds the element.
  for (auto [axis, here] : llvm::zip_equal(map.getStoredAxes(), axes)) {
    IndexExpr own = substitute(axis.value, dims, sizes, scope.getExtents());
    if (own == here)
      continue;
    OpBuilder &b = scope.builder();
    Value same =
        scope.emitLanes({own, here}, [&](ArrayRef<IndexExpr> xs) -> Value {
          return arith::CmpIOp::create(b, scope.getLoc(),
                                       arith::CmpIPredicate::eq,
                                       scope.emit(xs[0]), scope.emit(xs[1]));
        });
    result = scope.both(result, same);
  }
  return result;
}

/// Returns the element of each pixel: its index by the `inverse` of the
/// tensor's map, and the condition that the pixel holds an element, which is
/// null if that is proven.
static SmallVector<ElementPoint> emitPoints(KernelScope &scope,
                                            const LayoutMap &map,
                                            ArrayRef<IndexExpr> inverse,
                                            ArrayRef<SizeExpr> sizes,
                                            ArrayRef<Pixel> pixels) {
  SmallVector<ElementPoint> points;
  for (const Pixel &pixel : pixels) {
    SmallVector<IndexExpr> dims;
    for (const IndexExpr &dim : inverse)
      dims.push_back(substitute(dim, pixel.axes, sizes, scope.getExtents()));
    Value isElement = emitIsElement(scope, map, pixel.axes, dims, sizes);
    dims.truncate(map.getRank());
    points.push_back({dims, isElement});
  }
  return points;
}

static Value toStored(OpBuilder &b, Location loc, Value value, Type stored) {
  Type element = getElementTypeOrSelf(value);
  if (element == stored)
    return value;
  Type type = stored;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = VectorType::get(vector.getShape(), stored);
  if (element.isIndex())
    return arith::IndexCastOp::create(b, loc, type, value);
  return arith::ExtUIOp::create(b, loc, type, value);
}

/// Emits stores of `values`, one per pixel, to `memory`. Where a pixel holds no
/// element, stores the padding that `type` states, or else any value.
static void emitStores(KernelScope &scope, RankedTensorType type,
                       const TensorStorage &storage, Value memory,
                       ArrayRef<Pixel> pixels, ArrayRef<ElementPoint> points,
                       ArrayRef<Value> values) {
  OpBuilder &k = scope.builder();
  Location loc = scope.getLoc();
  for (auto [each, point, pixel] : llvm::zip_equal(values, points, pixels)) {
    Value value = each;
    if (TypedAttr padding = getPadding(type))
      value = scope.select(point.valid, value,
                           arith::ConstantOp::create(k, loc, padding));
    value = toStored(k, loc, value, storage.getStoredElement());
    if (storage.isImage())
      value = scope.broadcast(value);
    OpBuilder::InsertionGuard guard(k);
    if (pixel.isInside)
      k.setInsertionPointToStart(
          scf::IfOp::create(k, loc, pixel.isInside).thenBlock());
    SmallVector<Value> address = llvm::to_vector(llvm::reverse(pixel.address));
    memref::StoreOp::create(k, loc, value, scope.import(memory), address);
  }
}

/// Replaces `tensor` by the memory of its source if they can share it, and
/// returns true; otherwise returns false. `tensor` must be the result of a
/// conversion, cast or view, both must be static and have the same storage, the
/// source must not be inlined, and must have the padding that `tensor` states,
/// if any.
bool KernelEmitter::storeAsAlias(OpBuilder &b, OpResult tensor,
                                 const TensorStorage &storage) {
  Operation *op = tensor.getOwner();
  auto type = cast<RankedTensorType>(tensor.getType());
  OpLayoutRule rule = getLayoutRule(op);
  auto *view = std::get_if<ViewRule>(&rule);
  bool isSame = isa<ConvertOp, tensor::CastOp>(op);
  if (!isSame && (!view || op->getNumOperands() != 1))
    return false;
  Value source = op->getOperand(0);
  auto from = dyn_cast<RankedTensorType>(source.getType());
  if (!from || plan.isInlined(source) || !type.hasStaticShape() ||
      !from.hasStaticShape() ||
      (getPadding(type) && getPadding(type) != getPadding(from)))
    return false;
  FailureOr<TensorStorage> own = getTensorStorage(from);
  if (failed(own))
    return false;
  LayoutMap map = own->map;
  if (!isSame)
    map = applyView(map, view->toSource);
  if (!map || map.specialize(type.getShape()) !=
                  storage.map.specialize(type.getShape()))
    return false;
  Value memory = castToDevice(b, op->getLoc(), source).front();
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(type.getContext(), type.getShape());
  tensor.replaceAllUsesWith(
      castFromDevice(b, op->getLoc(), type, memory, sizes));
  return true;
}

/// Emits a remark at `loc` with the image and buffer reads of a work-item of
/// the kernel, and with `items`, the number of work-items, unless it is 0
/// (dynamic).
static void remarkReads(gpu::GPUFuncOp func, Location loc,
                        const AccessCount &accesses,
                        const TensorStorage &storage, int64_t items,
                        PixelBlock block) {
  std::string reads;
  llvm::raw_string_ostream os(reads);
  auto count = [&](int64_t all, int64_t inLoops, StringRef of) {
    os << all << " " << of << " reads";
    if (inLoops > 0)
      os << " (" << inLoops << " in loops)";
  };
  os << "kernel " << func.getName() << ": ";
  count(accesses.imageReads, accesses.imageReadsInLoops, "image");
  os << " and ";
  count(accesses.bufferReads, accesses.bufferReadsInLoops, "buffer");
  os << " for each ";
  if (items > 0)
    os << "of " << items << " ";
  StringRef unit = storage.isImage() ? "pixel" : "element";
  bool isBlock = block.pixels > 1 || block.parts > 1;
  if (isBlock)
    os << (items > 0 ? "items" : "item") << " of " << block.pixels << " ";
  os << unit << ((isBlock ? block.pixels : items) > 1 ? "s" : "");
  if (block.parts > 1)
    os << " in groups of " << block.parts;
  os << (accesses.isPerTrip ? " and iteration of its loops" : "");
  remark::passed(
      loc, remark::RemarkOpts::name("Kernel").category("convert-layout-to-gpu"))
      << reads;
}

static void launch(OpBuilder &host, Location loc, gpu::GPUFuncOp func,
                   const Position &position, ValueRange arguments) {
  auto getDims = [](ArrayRef<Value> sizes) {
    return gpu::KernelDim3{sizes[0], sizes[1], sizes[2]};
  };
  gpu::LaunchFuncOp::create(host, loc, func, getDims(position.groups),
                            getDims(position.items),
                            /*dynamicSharedMemorySize=*/Value(), arguments);
}

LogicalResult KernelEmitter::store(OpResult tensor, FailureReason refuse) {
  Operation *op = tensor.getOwner();
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  FailureOr<TensorStorage> storage = getTensorStorage(type, refuse);
  if (failed(storage))
    return failure();
  if (isa<StorageViewOp>(op) && hasLayout(type) &&
      !areSizesShown(type, cast<RankedTensorType>(op->getOperand(0).getType())))
    return refuse("its sizes do not follow from its storage; make them static, "
                  "or pass the logical tensor and convert it");
  OpBuilder host(op);
  host.setInsertionPointAfter(op);
  if (storeAsAlias(host, tensor, *storage))
    return success();
  std::optional<std::vector<IndexExpr>> inverse =
      getBackwardValues(storage->map, type.getShape());
  if (!inverse)
    return refuse(
        "its layout " + storage->map.str() +
        " has no known inverse, so a work-item cannot compute its index; "
        "choose one that consists of digits, such as a buffer");

  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto func =
      gpu::GPUFuncOp::create(b, loc, makeName(op), b.getFunctionType({}, {}));
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  KernelScope scope(host, func);
  SmallVector<SizeExpr> sizes = scope.getSizes(tensor);
  SmallVector<OpFoldResult> hostSizes =
      tensor::getMixedSizes(host, loc, tensor);
  KernelItem item =
      KernelItem::get(storage->map, limits.assumeSizes(type.getShape()));
  Operation *reduction =
      findReduction(tensor, plan, item.index, item.variables.getExtents());
  PixelBlock block;
  if (reduction && mayComputeBlocks(op))
    block = chooseBlock(reduction, item, limits);
  Position position = locate(host, scope, *storage, sizes, hostSizes, block);
  if (position.isInside)
    scope.endUnless(position.isInside);
  SmallVector<Pixel> pixels =
      getPixels(scope, *storage, sizes, position, block);
  SmallVector<ElementPoint> points =
      emitPoints(scope, storage->map, *inverse, sizes, pixels);
  DenseMap<Value, Value> memories; // by stored tensor: one argument each
  ElementEmitter element(scope, plan, [&](Value stored) {
    Value &memory = memories[stored];
    if (!memory)
      memory = castToDevice(host, loc, stored).front();
    return memory;
  });
  if (block.window)
    element.unroll(reduction, *block.window);
  if (block.parts > 1)
    element.split({reduction, findGroupCombiner(reduction), block.splitLoop,
                   block.parts, position.part, position.isFirst});
  SmallVector<Value> values = element.computeAll(tensor, points);
  if (values.empty())
    return refuse(element.getReason());
  Value memory = allocateOnDevice(host, loc, *storage, hostSizes);
  emitStores(scope, type, *storage, memory, pixels, points, values);
  scope.finish();

  remarkReads(func, reduction ? reduction->getLoc() : loc,
              element.getAccesses(), *storage, position.count, block);

  launch(host, loc, findEqual(func), position, scope.getImports());
  Value result = castFromDevice(host, loc, type, memory, hostSizes);
  tensor.replaceUsesWithIf(result, [&](OpOperand &use) {
    // Sizes are resolved from the op itself.
    return !isa<tensor::DimOp>(use.getOwner());
  });
  return success();
}
