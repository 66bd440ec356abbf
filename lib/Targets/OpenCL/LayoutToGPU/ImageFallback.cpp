//===- ImageFallback.cpp - Buffers where images do not fit ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImageFallback.h"
#include "FusionPlan.h"
#include "Sizes.h"
#include "TensorStorage.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Utils/EmitIndex.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::layout;

/// The image of a dynamic size that a type is stored in, or null.
static LayoutMap findDynamicImage(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.hasStaticShape() || !hasLayout(tensor))
    return {};
  FailureOr<LayoutMap> map = getLayoutMap(tensor);
  return succeeded(map) && isImage(*map) ? *map : LayoutMap();
}

static bool isDynamicImage(Type type) { return bool(findDynamicImage(type)); }

/// Those that are made in a function, others than what a kernel computes where
/// it reads it.
static SmallVector<Value> findDynamicImages(func::FuncOp func) {
  FusionPlan plan(func);
  SmallVector<Value> images;
  auto add = [&](Value value) {
    if (isDynamicImage(value.getType()))
      images.push_back(value);
  };
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isComputed = getComputeKind(op) != ComputeKind::None;
    for (Value result : op->getResults())
      if (!isComputed || plan.isStored(result))
        add(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), add);
  });
  return images;
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

/// Whether an image is within the limits, beside where the tensor is made.
static SmallVector<Value> emitFits(Value image, OpenClTargetAttr target) {
  OpBuilder b(image.getContext());
  b.setInsertionPointAfterValue(image);
  Location loc = image.getLoc();
  LayoutMap map = findDynamicImage(image.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, image);
  ImageFit fit =
      ImageFit::get(map, cast<RankedTensorType>(image.getType()), target);
  SmallVector<Value> checks;
  for (auto [coordinate, most] : llvm::zip(getAddress(map), fit.most)) {
    Value extent =
        emitValues(b, loc, IndexExpr(coordinate.extent), {}, sizes).front();
    Value limit = arith::ConstantIndexOp::create(b, loc, most);
    checks.push_back(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule,
                                           extent, limit));
  }
  return checks;
}

/// Computes `value` once more from the values that have copies; null where
/// something else is needed.
static Value copy(OpBuilder &b, Value value, IRMapping &copies, Block &entry) {
  if (Value known = copies.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || isa<TensorType>(value.getType()) || op->getNumRegions() ||
      !isMemoryEffectFree(op) ||
      (op->getBlock() != &entry && !isSpeculatable(op)))
    return {};
  for (Value operand : op->getOperands())
    if (!copy(b, operand, copies, entry))
      return {};
  b.clone(*op, copies);
  return copies.lookup(value);
}

/// Whether all images of `probe`, a copy of a function that is not needed any
/// more, fit; null where there are none whose sizes are known at the start.
static Value emitCheck(OpBuilder &b, func::FuncOp probe, ValueRange arguments,
                       OpenClTargetAttr target) {
  SmallVector<Value> images = findDynamicImages(probe);
  SmallVector<SmallVector<Value>> fits;
  for (Value image : images)
    fits.push_back(emitFits(image, target));
  resolveSizes(probe);
  Block &entry = probe.getBody().front();
  IRMapping copies;
  copies.map(entry.getArguments(), arguments);
  Value all;
  unsigned number = 0;
  for (auto [image, checks] : llvm::zip_equal(images, fits)) {
    bool isKnown = true;
    for (Value check : checks) {
      Value known = copy(b, check, copies, entry);
      isKnown &= bool(known);
      if (known)
        all =
            all ? arith::AndIOp::create(b, probe.getLoc(), all, known) : known;
    }
    number += isKnown;
    if (!isKnown)
      remark::missed(image.getLoc(), remark::RemarkOpts::name("ImageFallback")
                                         .category("convert-layout-to-gpu"))
          << "the size of an image is not known where its function starts, and "
             "is checked when it is made";
  }
  if (all)
    remark::passed(probe.getLoc(), remark::RemarkOpts::name("ImageFallback")
                                       .category("convert-layout-to-gpu"))
        << "kernels on buffers where one of " + std::to_string(number) +
               " images does not fit";
  return all;
}

//===----------------------------------------------------------------------===//
// The versions
//===----------------------------------------------------------------------===//

namespace {
class Versions {
public:
  explicit Versions(ModuleOp module) : symbols(module) {}

  /// A private copy of a function.
  func::FuncOp add(func::FuncOp func, const Twine &suffix) {
    func::FuncOp version = func.clone();
    version.setPrivate();
    version.setName((func.getName() + suffix).str());
    version.removeArgAttrsAttr();
    version.removeResAttrsAttr();
    version->setDiscardableAttrs(DictionaryAttr::get(func.getContext()));
    symbols.insert(version, std::next(Block::iterator(func)));
    return version;
  }
  func::FuncOp addOnBuffers(func::FuncOp func);
  void erase(func::FuncOp func) { symbols.erase(func); }

private:
  SymbolTable symbols;
  DenseMap<func::FuncOp, func::FuncOp> onBuffers;
};
} // namespace

/// What a view of storage takes and shows stays as it is. Gives the ops that
/// keep their types.
static DenseSet<Operation *> convertAroundViews(func::FuncOp func) {
  SmallVector<StorageViewOp> views;
  func.walk([&](StorageViewOp view) { views.push_back(view); });
  DenseSet<Operation *> kept;
  for (StorageViewOp view : views) {
    kept.insert(view);
    OpBuilder b(view);
    Value source = view.getSource(), result = view.getResult();
    if (isDynamicImage(source.getType())) {
      auto from = ConvertOp::create(b, view.getLoc(), source.getType(), source);
      kept.insert(from);
      view.getSourceMutable().assign(from);
    }
    b.setInsertionPointAfter(view);
    if (isDynamicImage(result.getType())) {
      auto to = ConvertOp::create(b, view.getLoc(), result.getType(), result);
      result.replaceAllUsesExcept(to, to);
    }
  }
  return kept;
}

func::FuncOp Versions::addOnBuffers(func::FuncOp func) {
  if (func::FuncOp known = onBuffers.lookup(func))
    return known;
  func::FuncOp version = onBuffers[func] = add(func, "_on_buffers");
  version->setAttr(kFallbackAttrName, UnitAttr::get(func.getContext()));
  DenseSet<Operation *> kept = convertAroundViews(version);
  AttrTypeReplacer replacer;
  replacer.addReplacement([](RankedTensorType type) -> std::optional<Type> {
    if (!isDynamicImage(type))
      return std::nullopt;
    return withoutLayout(type);
  });
  SmallVector<ConvertOp> converts;
  version.walk([&](Operation *op) {
    if (kept.contains(op))
      return;
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                               /*replaceTypes=*/true);
    if (auto convert = dyn_cast<ConvertOp>(op))
      converts.push_back(convert);
  });
  for (ConvertOp convert : converts)
    if (convert.getSource().getType() == convert.getType()) {
      convert.replaceAllUsesWith(convert.getSource());
      convert.erase();
    }
  // Functions that take or give images have versions of their own.
  version.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (callee &&
        llvm::any_of(llvm::concat<const Type>(callee.getArgumentTypes(),
                                              callee.getResultTypes()),
                     isDynamicImage))
      call.setCallee(addOnBuffers(callee).getName());
  });
  return version;
}

/// The function chooses one of two versions of itself.
static void addFallback(func::FuncOp func, Versions &versions,
                        OpenClTargetAttr target) {
  func::FuncOp probe = versions.add(func, "_sizes");
  Location loc = func.getLoc();
  OpBuilder b(func.getContext());
  Block *entry = new Block;
  for (BlockArgument argument : func.getArguments())
    entry->addArgument(argument.getType(), argument.getLoc());
  b.setInsertionPointToStart(entry);
  Value fits = emitCheck(b, probe, entry->getArguments(), target);
  versions.erase(probe);
  if (!fits) {
    delete entry;
    return;
  }
  func::FuncOp inImages = versions.add(func, "_in_images");
  func::FuncOp onBuffers = versions.addOnBuffers(func);
  func.getBody().dropAllReferences();
  func.getBody().getBlocks().clear();
  func.getBody().push_back(entry);
  auto call = [&](func::FuncOp version) {
    return [&, version](OpBuilder &b, Location loc) mutable {
      auto op = func::CallOp::create(b, loc, version, entry->getArguments());
      scf::YieldOp::create(b, loc, op.getResults());
    };
  };
  auto choice =
      scf::IfOp::create(b, loc, fits, call(inImages), call(onBuffers));
  func::ReturnOp::create(b, loc, choice.getResults());
}

void layout::addImageFallbacks(ModuleOp module, OpenClTargetAttr target) {
  SmallVector<func::FuncOp> functions;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal() && !findDynamicImages(func).empty() &&
        llvm::none_of(llvm::concat<const Type>(func.getArgumentTypes(),
                                               func.getResultTypes()),
                      isDynamicImage))
      functions.push_back(func);
  Versions versions(module);
  for (func::FuncOp func : functions)
    addFallback(func, versions, target);
}
