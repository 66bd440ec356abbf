//===- ImportShardings.cpp - Import upstream's shardings ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An annotation of a value becomes its type on a mesh; one of a use that
// differs becomes a conversion.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Families/Mesh.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::layout {
#define GEN_PASS_DEF_IMPORTSHARDINGSPASS
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {

class ShardingImporter {
public:
  explicit ShardingImporter(func::FuncOp function) : function(function) {}

  LogicalResult run();

private:
  FailureOr<RankedTensorType> getType(shard::ShardOp op);
  LogicalResult import(shard::ShardOp op);
  LogicalResult checkUses();

  func::FuncOp function;
  SymbolTableCollection symbols;
};

struct ImportShardings
    : layout::impl::ImportShardingsPassBase<ImportShardings> {
  void runOnOperation() override {
    getOperation()->walk([&](func::FuncOp function) {
      if (failed(ShardingImporter(function).run()))
        signalPassFailure();
    });
  }
};

} // namespace

/// Returns true if `type` is a tensor with a `#layout.mesh`, as this pass
/// creates.
static bool isSharded(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_nonnull<MeshAttr>(tensor.getEncoding());
}

FailureOr<RankedTensorType> ShardingImporter::getType(shard::ShardOp op) {
  auto type = cast<RankedTensorType>(op.getSrc().getType());
  if (type.getEncoding() && !isSharded(type))
    return op.emitOpError()
           << "shards a value of type " << type
           << ", which already has a layout: state the sharding as "
              "#layout.mesh there, or remove the layout";
  auto sharding = op.getSharding().getDefiningOp<shard::ShardingOp>();
  if (!sharding)
    return op.emitOpError()
           << "has a sharding that is not a 'shard.sharding': state it there";
  if (!sharding.getStaticShardedDimsOffsets().empty())
    return sharding.emitOpError()
           << "has blocks of other sizes than ceil(size / devices), which "
              "#layout.mesh does not support: remove the offsets";
  ArrayRef<int64_t> haloSizes = sharding.getStaticHaloSizes();
  if (ShapedType::isDynamicShape(haloSizes))
    return sharding.emitOpError()
           << "has halos of dynamic sizes: messages need static sizes";
  auto grid = shard::getGridOrNull(op, sharding.getGridAttr(), symbols);
  if (!grid)
    return sharding.emitOpError() << "does not name a 'shard.grid'";
  Mesh mesh;
  for (auto [i, size] : llvm::enumerate(grid.getShape())) {
    if (ShapedType::isDynamic(size))
      return grid.emitOpError()
             << "has a dynamic size: messages need a static number of devices";
    mesh.axes.push_back({"a" + std::to_string(i), size});
  }
  for (shard::GridAxesAttr axes : sharding.getSplitAxes())
    mesh.splits.emplace_back(axes.asArrayRef().begin(),
                             axes.asArrayRef().end());
  // Trailing unsplit dims may be omitted, but a sharding has at least one dim.
  size_t rank = type.getRank();
  while (mesh.splits.size() > rank && mesh.splits.back().empty())
    mesh.splits.pop_back();
  if (mesh.splits.size() > rank)
    return op.emitOpError() << "splits more dims than " << type << " has";
  mesh.splits.resize(rank);
  // Halos have two numbers per split dim, if any.
  std::vector<Halo> halos(rank);
  for (auto [split, halo] : llvm::zip_equal(mesh.splits, halos))
    if (!split.empty() && !haloSizes.empty()) {
      halo = {haloSizes[0], haloSizes[1]};
      haloSizes = haloSizes.drop_front(2);
    }
  mesh.setHalos(std::move(halos));
  auto emitError = [&] { return op.emitOpError(); };
  auto layout = MeshAttr::getChecked(emitError, op.getContext(), mesh,
                                     LayoutAttrInterface());
  if (!layout)
    return failure();
  auto sharded = RankedTensorType::getChecked(emitError, type.getShape(),
                                              type.getElementType(), layout);
  if (!sharded)
    return failure();
  return sharded;
}

LogicalResult ShardingImporter::import(shard::ShardOp op) {
  FailureOr<RankedTensorType> type = getType(op);
  if (failed(type))
    return failure();
  Value source = op.getSrc();
  if (!isSharded(source.getType())) {
    if (source.getParentBlock() != &function.getBody().front() ||
        !isa<BlockArgument>(source))
      return op.emitOpError()
             << "shards a computed value: only arguments of functions and "
                "values that are already sharded can have shardings here";
    source.setType(*type);
  }
  if (source.getType() != *type) {
    OpBuilder b(op);
    source = ConvertOp::create(b, op.getLoc(), *type, source);
  }
  op.getResult().replaceAllUsesWith(source);
  op.erase();
  return success();
}

/// Emits an error and fails if an op other than a conversion or a return uses a
/// tensor with a `#layout.mesh`.
LogicalResult ShardingImporter::checkUses() {
  WalkResult walk = function.walk([](Operation *op) {
    if (isa<ConvertOp, func::ReturnOp>(op) ||
        llvm::none_of(op->getOperandTypes(), isSharded))
      return WalkResult::advance();
    op->emitOpError() << "computes with a tensor that is sharded: only "
                         "resharding is imported";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult ShardingImporter::run() {
  SmallVector<shard::ShardOp> ops;
  function.walk([&](shard::ShardOp op) { ops.push_back(op); });
  if (ops.empty())
    return success();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "has several blocks: shardings are "
                                     "imported into functions with one";
  for (shard::ShardOp op : ops)
    if (failed(import(op)))
      return failure();
  if (failed(checkUses()))
    return failure();
  function.walk([](shard::ShardingOp op) {
    if (op->use_empty())
      op.erase();
  });
  Block &body = function.getBody().front();
  auto type = FunctionType::get(function.getContext(), body.getArgumentTypes(),
                                body.getTerminator()->getOperandTypes());
  if (type != function.getFunctionType() &&
      !SymbolTable::symbolKnownUseEmpty(function,
                                        function->getParentOfType<ModuleOp>()))
    return function.emitOpError() << "is called, and its shardings change its "
                                     "type: inline it first";
  function.setFunctionType(type);
  return success();
}
