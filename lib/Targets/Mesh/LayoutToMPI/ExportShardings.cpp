//===- ExportShardings.cpp - Export layouts as shardings ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inverse of ImportShardings.cpp: a layout becomes an annotation of its
// value, a conversion one for the users of its source.
//
//===----------------------------------------------------------------------===//

#include "Retype.h"
#include "layout/Analysis/Assignment.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Interfaces/MeshLoops.h"
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::layout {
#define GEN_PASS_DEF_EXPORTSHARDINGSPASS
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {

class Exporter {
public:
  explicit Exporter(ModuleOp module) : module(module) {}

  LogicalResult run();

private:
  LogicalResult check(Location loc, Type type);
  void makeGrid();
  Value getSharding(OpBuilder &b, Location loc, MeshAttr layout);
  void annotate(Value value);
  void annotate(ConvertOp convert);

  ModuleOp module;
  std::optional<Mesh> mesh; // the axes of all meshes
  FlatSymbolRefAttr grid;
};

struct ExportShardings
    : layout::impl::ExportShardingsPassBase<ExportShardings> {
  void runOnOperation() override {
    if (failed(Exporter(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace

/// Returns the encoding of `type` if it is a `#layout.mesh`, which shard.shard
/// can express. Returns a null attribute for other types, e.g. for one with
/// partial sums.
static MeshAttr getSayable(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_if_present<MeshAttr>(tensor.getEncoding())
                : MeshAttr();
}

LogicalResult Exporter::check(Location loc, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getEncoding())
    return success();
  Attribute layout = tensor.getEncoding();
  if (auto partial = dyn_cast<PartialAttr>(layout))
    layout = partial.getLayout();
  auto attr = dyn_cast<MeshAttr>(layout);
  if (!attr)
    return emitError(loc) << "a value of type " << tensor
                          << " has a distribution that no #layout.mesh "
                             "describes, so 'shard' cannot describe it either";
  if (attr.getLocal())
    return emitError(loc)
           << "a value of type " << tensor
           << " has a layout in the memory of a device, which 'shard' cannot "
              "describe: use a device with 'lanes = 1', which has none";
  if (!mesh)
    mesh = attr.getMesh();
  if (mesh->axes != attr.getMesh().axes)
    return emitError(loc) << "a value of type " << tensor
                          << " is on a different mesh than the values before: "
                             "the program must have one 'shard.grid'";
  return success();
}

/// Sets `grid` to a shard.grid whose shape is the sizes of the axes of `mesh`:
/// one of the module, whatever its name is, or else a new one.
void Exporter::makeGrid() {
  SmallVector<int64_t> shape;
  for (const MeshAxis &axis : mesh->axes)
    shape.push_back(axis.size);
  for (auto known : module.getOps<shard::GridOp>())
    if (known.getShape() == ArrayRef<int64_t>(shape)) {
      grid = FlatSymbolRefAttr::get(known);
      return;
    }
  OpBuilder b(module.getContext());
  auto made = shard::GridOp::create(b, module.getLoc(), "mesh", shape);
  grid = FlatSymbolRefAttr::get(
      SymbolTable(module).insert(made, module.getBody()->begin()));
}

Value Exporter::getSharding(OpBuilder &b, Location loc, MeshAttr layout) {
  SmallVector<shard::GridAxesAttr> splits;
  SmallVector<int64_t> haloSizes;
  const Mesh &own = layout.getMesh();
  for (auto [d, split] : llvm::enumerate(own.splits)) {
    SmallVector<int16_t> axes(split.begin(), split.end());
    splits.push_back(shard::GridAxesAttr::get(b.getContext(), axes));
    if (!own.halos.empty() && !split.empty())
      haloSizes.append({own.halos[d].before, own.halos[d].after});
  }
  // A sharding has at least one dim.
  if (splits.empty())
    splits.push_back(
        shard::GridAxesAttr::get(b.getContext(), ArrayRef<int16_t>()));
  auto sharding = shard::ShardingOp::create(b, loc, grid, splits);
  // Upstream's builder would take halos as offsets of blocks.
  sharding.setStaticHaloSizes(haloSizes);
  return sharding;
}

void Exporter::annotate(Value value) {
  OpBuilder b(module.getContext());
  b.setInsertionPointAfterValue(value);
  Value sharding = getSharding(b, value.getLoc(), getSayable(value.getType()));
  auto annotated = shard::ShardOp::create(b, value.getLoc(), value.getType(),
                                          value, sharding);
  value.replaceAllUsesExcept(annotated, annotated);
}

void Exporter::annotate(ConvertOp convert) {
  OpBuilder b(convert);
  Value source = convert.getSource();
  MeshAttr layout = getSayable(convert.getResult().getType());
  if (!layout) { // whole on every device
    Mesh whole = *mesh;
    whole.splits.assign(convert.getType().getRank(), {});
    whole.halos.clear();
    layout = MeshAttr::get(b.getContext(), whole, LayoutAttrInterface());
  }
  Value sharding = getSharding(b, convert.getLoc(), layout);
  // A conversion that reduces partial sums annotates their value itself.
  bool isOwn = isPartial(source.getType()) && source.hasOneUse();
  auto annotated =
      shard::ShardOp::create(b, convert.getLoc(), convert.getType(), source,
                             sharding, /*annotate_for_users=*/!isOwn);
  convert.getResult().replaceAllUsesWith(annotated);
  convert.erase();
}

LogicalResult Exporter::run() {
  SmallVector<Value> values;
  SmallVector<ConvertOp> converts;
  auto walk = module.walk([&](Operation *op) {
    auto add = [&](Value value) {
      if (getSayable(value.getType()) && !value.getDefiningOp<ConvertOp>())
        values.push_back(value);
      return check(value.getLoc(), value.getType());
    };
    if (auto convert = dyn_cast<ConvertOp>(op))
      converts.push_back(convert);
    for (Value result : op->getResults())
      if (failed(add(result)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (failed(add(argument)))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  if (!mesh)
    return success();
  makeGrid();
  for (Value value : values)
    annotate(value);
  for (ConvertOp convert : converts)
    annotate(convert);
  module->removeDiscardableAttr(kTargetAttr);
  module->removeDiscardableAttr(kAssignmentAttr);
  return retypeTensors(
      module, [](RankedTensorType type) { return withoutLayout(type); });
}
