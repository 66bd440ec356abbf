//===- ImageFallback.cpp - Use buffers if images do not fit ---------------===//
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
#include "layout/Dialect/Layout/IR/Speculation.h"
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

/// Returns the map if `type` is stored in an image of dynamic size, else null.
static LayoutMap findDynamicImage(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.hasStaticShape() || !hasLayout(tensor))
    return {};
  FailureOr<LayoutMap> map = getLayoutMap(tensor);
  return succeeded(map) && isImage(*map) ? *map : LayoutMap();
}

static bool isDynamicImage(Type type) { return bool(findDynamicImage(type)); }

static bool takesOrGivesImages(func::FuncOp func) {
  return llvm::any_of(
      llvm::concat<const Type>(func.getArgumentTypes(), func.getResultTypes()),
      isDynamicImage);
}

/// Returns the values of a function that are stored in images of dynamic size:
/// results of ops, except inlined tensors, and block arguments.
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

/// Emits a check per coordinate, except the lane, that the extent of an image
/// is within the limits of the target, after the definition of its tensor
/// `image`. Returns the checks.
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

/// Clones the op that defines `value`, a size or a check, and those of its
/// operands, down to the values in `copies`. Returns the clone of `value`. If
/// an op cannot be cloned, or an operand is not the result of an op, e.g. an
/// argument of a loop body, returns null; clones of other ops may remain.
static Value copy(OpBuilder &b, Value value, IRMapping &copies, Block &entry) {
  if (Value known = copies.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || isa<TensorType>(value.getType()) || op->getNumRegions() ||
      !isMemoryEffectFree(op) ||
      (op->getBlock() != &entry && !canSpeculate(op)))
    return {};
  for (Value operand : op->getOperands())
    if (!copy(b, operand, copies, entry))
      return {};
  b.clone(*op, copies);
  return copies.lookup(value);
}

/// The maximal number of calls that are inlined into a function. Without a
/// limit the number can be exponential in the depth of the calls.
static constexpr size_t kMostInlinedCalls = 1 << 12;

/// Inlines into `probe`, a scratch copy of a function, the calls with images as
/// operands or results. Recursive calls, calls of functions with several
/// blocks, and those after the first kMostInlinedCalls remain. Returns the
/// values of `probe` in images of dynamic size, including those of inlined
/// calls.
static SmallVector<Value> inlineImages(func::FuncOp probe,
                                       SymbolTable &symbols) {
  SmallVector<Value> images = findDynamicImages(probe);
  // Calls and the functions they are inlined from, which bounds recursion.
  SmallVector<std::pair<func::CallOp, SmallVector<func::FuncOp>>> calls;
  auto addCalls = [&](Operation *root, ArrayRef<func::FuncOp> around) {
    root->walk([&](func::CallOp call) {
      calls.push_back({call, llvm::to_vector(around)});
    });
  };
  addCalls(probe, {});
  DenseSet<Operation *> inlined;
  DenseMap<Operation *, SmallVector<Value>> imagesOf;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (inlined.size() == kMostInlinedCalls)
      break;
    auto [call, around] = calls[i];
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || !takesOrGivesImages(callee) ||
        !llvm::hasSingleElement(callee.getBody()) ||
        llvm::is_contained(around, callee))
      continue;
    around.push_back(callee);
    IRMapping copies;
    copies.map(callee.getArguments(), call.getOperands());
    OpBuilder b(call);
    Block &body = callee.getBody().front();
    for (Operation &op : body.without_terminator())
      addCalls(b.clone(op, copies), around);
    auto [known, isNew] = imagesOf.try_emplace(callee);
    if (isNew)
      known->second = findDynamicImages(callee);
    for (Value image : known->second)
      images.push_back(copies.lookupOrDefault(image));
    for (auto [result, given] : llvm::zip_equal(
             call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(copies.lookupOrDefault(given));
    inlined.insert(call);
  }
  llvm::erase_if(images, [&](Value image) {
    return inlined.contains(image.getDefiningOp());
  });
  return images;
}

/// A size of a tensor, as the tensor and a dim, or as an index value and -1.
using AskedSize = std::pair<Value, int64_t>;

static AskedSize identify(Value size) {
  auto dim = size.getDefiningOp<tensor::DimOp>();
  if (dim && dim.getConstantIndex())
    return {dim.getSource(), *dim.getConstantIndex()};
  return {size, -1};
}

/// Maps the size of a tensor that a loop or a branch carries to an equal size
/// outside of it.
using CarriedSizes = DenseMap<AskedSize, AskedSize>;

static void resolveSizes(func::FuncOp probe, const CarriedSizes &carried) {
  bool isChanged = true;
  while (isChanged) {
    isChanged = false;
    resolveSizes(probe);
    probe.walk([&](tensor::DimOp dim) {
      auto [value, d] = carried.lookup(identify(dim));
      if (!value)
        return;
      OpBuilder b(dim);
      dim.replaceAllUsesWith(
          d < 0 ? value
                : tensor::DimOp::create(b, dim.getLoc(), value, d).getResult());
      dim.erase();
      isChanged = true;
    });
  }
}

namespace {
/// A dynamic dim `d` of an image that is a result of scf.for or scf.if. At the
/// end of each region, a cast in `yielded` has the size of the yielded image as
/// its operand, which keeps the size alive while sizes are resolved.
struct CarriedDim {
  OpResult result;
  int64_t d;
  SmallVector<UnrealizedConversionCastOp, 2> yielded; // one per region
};
} // namespace

static SmallVector<CarriedDim> askCarriedDims(Operation *op) {
  SmallVector<CarriedDim> dims;
  for (OpResult result : op->getResults()) {
    if (!isDynamicImage(result.getType()))
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d))
        continue;
      CarriedDim &dim = dims.emplace_back(CarriedDim{result, d, {}});
      for (Region &region : op->getRegions()) {
        OpBuilder b(region.front().getTerminator());
        Value tensor = region.front().getTerminator()->getOperand(
            result.getResultNumber());
        Value size = tensor::DimOp::create(b, op->getLoc(), tensor, d);
        dim.yielded.push_back(UnrealizedConversionCastOp::create(
            b, op->getLoc(), b.getI64Type(), size));
      }
    }
  }
  return dims;
}

/// Replaces sizes of results of scf.for and scf.if by equal sizes outside of
/// them: that of the initial value, if no iteration changes it, or the one that
/// both branches yield. Other sizes remain.
static void resolveRegions(func::FuncOp probe) {
  CarriedSizes carried;
  SmallVector<Operation *> ops; // innermost first
  probe.walk([&](Operation *op) {
    if (isa<scf::ForOp>(op) || (isa<scf::IfOp>(op) && op->getNumResults()))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    SmallVector<CarriedDim> dims = askCarriedDims(op);
    if (dims.empty())
      continue;
    resolveSizes(probe, carried);
    for (auto &[result, d, yielded] : dims) {
      AskedSize size = identify(yielded.front().getOperand(0));
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        Value argument = loop.getTiedLoopRegionIterArg(result);
        AskedSize first = {loop.getInitArgs()[result.getResultNumber()], d};
        if (size == AskedSize(argument, d)) {
          carried[{argument, d}] = first;
          carried[{result, d}] = first;
        }
      } else if (identify(yielded.back().getOperand(0)) == size &&
                 !op->isAncestor(size.first.getParentRegion()->getParentOp())) {
        carried[{result, d}] = size;
      }
      for (UnrealizedConversionCastOp each : yielded)
        each.erase();
    }
  }
  resolveSizes(probe, carried);
}

/// Emits the condition that all images of a function and its callees are within
/// the limits of the target, computed from `arguments`. `probe` is a scratch
/// copy of the function. Returns a null value if no image needs a check, and
/// failure if a size is not known at the start of the function.
static FailureOr<Value> emitCheck(OpBuilder &b, func::FuncOp probe,
                                  SymbolTable &symbols, ValueRange arguments,
                                  OpenClTargetAttr target) {
  SmallVector<Value> images = inlineImages(probe, symbols);
  SmallVector<SmallVector<Value>> fits;
  for (Value image : images)
    fits.push_back(emitFits(image, target));
  resolveRegions(probe);
  Block &entry = probe.getBody().front();
  IRMapping copies;
  copies.map(entry.getArguments(), arguments);
  Value all;
  for (auto [image, checks] : llvm::zip_equal(images, fits))
    for (Value check : checks) {
      Value known = copy(b, check, copies, entry);
      if (!known) {
        remark::missed(image.getLoc(), remark::RemarkOpts::name("ImageFallback")
                                           .category("convert-layout-to-gpu"))
            << "the size of an image is unknown at the start of its function, "
               "so the function runs on buffers";
        return failure();
      }
      all = all ? arith::AndIOp::create(b, probe.getLoc(), all, known) : known;
    }
  if (all)
    remark::passed(probe.getLoc(), remark::RemarkOpts::name("ImageFallback")
                                       .category("convert-layout-to-gpu"))
        << "kernels run on buffers if one of " + std::to_string(images.size()) +
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

  /// Adds a private copy of a function, whose name ends with `suffix`, without
  /// attributes of the function, its arguments and its results.
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
  SymbolTable &getSymbols() { return symbols; }

private:
  SymbolTable symbols;
  DenseMap<func::FuncOp, func::FuncOp> onBuffers;
};
} // namespace

/// Inserts conversions around each layout.storage_view of a dynamic image,
/// whose types must remain when other images become buffers. Returns the ops
/// whose types must not change.
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
  // Callees with images as arguments or results have versions of their own.
  version.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (callee && takesOrGivesImages(callee))
      call.setCallee(addOnBuffers(callee).getName());
  });
  return version;
}

/// Replaces the body of `func` by a check of the image sizes and calls of its
/// versions in images and on buffers. If a size is not known at the start, only
/// calls the latter; if there is nothing to check, does nothing.
static void addFallback(func::FuncOp func, Versions &versions,
                        OpenClTargetAttr target) {
  func::FuncOp probe = versions.add(func, "_sizes");
  Location loc = func.getLoc();
  OpBuilder b(func.getContext());
  Block *entry = new Block;
  for (BlockArgument argument : func.getArguments())
    entry->addArgument(argument.getType(), argument.getLoc());
  b.setInsertionPointToStart(entry);
  FailureOr<Value> fits =
      emitCheck(b, probe, versions.getSymbols(), entry->getArguments(), target);
  versions.erase(probe);
  if (succeeded(fits) && !*fits) {
    delete entry;
    return;
  }
  auto call = [&](OpBuilder &b, func::FuncOp version) {
    return func::CallOp::create(b, loc, version, entry->getArguments())
        .getResults();
  };
  ValueRange results;
  func::FuncOp onBuffers = versions.addOnBuffers(func);
  if (failed(fits)) {
    results = call(b, onBuffers);
  } else {
    func::FuncOp inImages = versions.add(func, "_in_images");
    auto yield = [&](func::FuncOp version) {
      return [&, version](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, call(b, version));
      };
    };
    results =
        scf::IfOp::create(b, loc, *fits, yield(inImages), yield(onBuffers))
            .getResults();
  }
  func::ReturnOp::create(b, loc, results);
  func.getBody().dropAllReferences();
  func.getBody().getBlocks().clear();
  func.getBody().push_back(entry);
}

void layout::addImageFallbacks(ModuleOp module, OpenClTargetAttr target) {
  SmallVector<func::FuncOp> functions;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal() && !takesOrGivesImages(func) &&
        !findDynamicImages(func).empty())
      functions.push_back(func);
  Versions versions(module);
  for (func::FuncOp func : functions)
    addFallback(func, versions, target);
}
