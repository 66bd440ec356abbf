//===- user-target.cpp - Layouts for a machine of another project ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A processor outside of this project: a grid of cores whose matrix engines
// multiply tiles of 32 x 32 elements, each tile four faces of 16 x 16. A tensor
// is stored row by row, or tile by tile:
//
//   100 x 200   4 x 7 tiles, 2 x 2 faces in a tile, 16 x 16 elements in a face
//
// The attribute `#tiles.grid<8>` is the target, with 8 cores. It implements
// TargetInterface, whose model is the only description of the machine.
//
// The program reads a module from standard input, runs the pipeline of its
// first argument (default: `layout-assign`), and writes the module.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/BoundedIndex.h"
#include "layout/Algebra/Proof.h"
#include "layout/Analysis/ConfigBuilder.h"
#include "layout/Analysis/TargetModel.h"
#include "layout/Registration/Registration.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::layout;

constexpr int64_t kTile = 32, kFace = 16;
/// The size of one memory transfer in bytes.
constexpr int64_t kBurstBytes = 64;
/// Operations of one core in the time in which memory moves one byte: by its
/// matrix engine on tiles, and by its scalar processor otherwise.
constexpr int64_t kTiledOps = 256, kScalarOps = 1;

/// Returns the tiled layout of the last two dims. Tiles, faces and elements are
/// row-major.
static LayoutMap getTiles(unsigned rank) {
  SmallVector<BoundedIndex> digits;
  for (unsigned d = 0; d + 2 < rank; ++d)
    digits.push_back(BoundedIndex::dim(d));
  BoundedIndex row = BoundedIndex::dim(rank - 2),
               column = BoundedIndex::dim(rank - 1);
  for (int64_t size : {kTile, kFace}) {
    digits.push_back(floorDiv(row, size));
    digits.push_back(floorDiv(column, size));
    row = mod(row, size);
    column = mod(column, size);
  }
  digits.push_back(row);
  digits.push_back(column);
  BoundedIndex offset = group(digits);
  return LayoutMap::get(rank, "buffer",
                        {{"offset", offset.value, offset.extent}});
}

static bool isTiled(const LayoutMap &map, ArrayRef<int64_t> shape) {
  return shape.size() >= 2 &&
         equalOn(map, getTiles(shape.size()), shape) == ProofResult::Proved;
}

namespace {

class GridModel : public TargetModel {
public:
  explicit GridModel(int64_t cores)
      : TargetModel(/*assumedSize=*/kTile), cores(cores) {}

  bool canStore(const LayoutMap &map, RankedTensorType type) const override {
    return equalOn(map, LayoutMap::rowMajor(type.getRank()), type.getShape()) ==
               ProofResult::Proved ||
           isTiled(map, type.getShape());
  }

  /// Returns true because kernels compute the address of each element in both
  /// layouts.
  bool usesPerElementAddressing() const override { return true; }

  /// Returns the cost of a conversion: the bytes that it reads and writes,
  /// times ceil(64 / n) for contiguous segments of n bytes, because memory
  /// moves bursts of 64 bytes.
  Cost getCost(const ConversionPlan &plan) const override {
    int64_t run = std::clamp<int64_t>(plan.runBytes, 1, kBurstBytes);
    return scaleCost(plan.bytesRead + plan.bytesWritten,
                     llvm::divideCeil(kBurstBytes, run));
  }

  /// Returns the bytes that the op reads and writes plus the time of its
  /// arithmetic on all cores.
  Cost getLoopsCost(Operation *op, const LoopsRule &rule,
                    const OpLayouts &layouts, CostModel &costs) override {
    Cost bytes = 0, work = rule.opsPerPoint;
    bool onTiles = true;
    auto add = [&](Value value, LayoutId layout) {
      auto type = cast<RankedTensorType>(value.getType());
      bytes = addCosts(bytes, costs.getStoredBytes(type, layout));
      onTiles &=
          type.getRank() < 2 || isTiled(costs.getMap(layout), type.getShape());
    };
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (rule.operandMaps[i] && rule.isRead[i])
        add(operand, layouts.operands[i]);
    for (auto [result, layout] :
         llvm::zip_equal(op->getResults(), layouts.results))
      add(result, layout);
    for (const LoopRule &loop : rule.loops)
      work = scaleCost(work, ShapedType::isDynamic(loop.size) ? getAssumedSize()
                                                              : loop.size);
    return addCosts(bytes, work / (cores * (onTiles ? kTiledOps : kScalarOps)));
  }

  /// Adds a candidate in which all matrices of the op are tiled.
  void seed(const NodeClass &op, CostModel &costs, Candidates &known,
            AddConfig add) override {
    ConfigBuilder builder(op, costs);
    std::optional<OpConfig> config = builder.assign([&](bool isResult,
                                                        unsigned index) {
      unsigned rank = builder.getType(isResult, index).getRank();
      return std::optional<LayoutId>(rank < 2 ? costs.getRowMajor(rank)
                                              : costs.intern(getTiles(rank)));
    });
    if (config)
      config->origin = OpConfig::Origin::Lanes;
    add(std::move(config));
  }

  void describe(const OpConfig &config, raw_ostream &os) const override {
    os << "feeds the matrix engines with tiles of " << kTile << " x " << kTile;
  }

private:
  int64_t cores;
};

struct GridStorage : AttributeStorage {
  using KeyTy = int64_t;
  explicit GridStorage(int64_t cores) : cores(cores) {}
  bool operator==(int64_t other) const { return cores == other; }
  static GridStorage *construct(AttributeStorageAllocator &allocator,
                                int64_t cores) {
    return new (allocator.allocate<GridStorage>()) GridStorage(cores);
  }
  int64_t cores;
};

class GridAttr : public Attribute::AttrBase<GridAttr, Attribute, GridStorage,
                                            TargetInterface::Trait> {
public:
  using Base::Base;
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GridAttr)
  static constexpr StringLiteral name = "tiles.grid";
  int64_t getCores() const { return getImpl()->cores; }
  std::unique_ptr<TargetModel> createModel() const {
    return std::make_unique<GridModel>(getCores());
  }
};

class TilesDialect : public Dialect {
public:
  static StringRef getDialectNamespace() { return "tiles"; }
  explicit TilesDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<TilesDialect>()) {
    addAttributes<GridAttr>();
  }
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TilesDialect)

  Attribute parseAttribute(DialectAsmParser &parser, Type) const override {
    int64_t cores = 0;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword("grid") || parser.parseLess() ||
        parser.parseInteger(cores) || parser.parseGreater())
      return {};
    if (cores >= 1)
      return GridAttr::get(getContext(), cores);
    parser.emitError(loc) << "a grid has at least one core";
    return {};
  }

  void printAttribute(Attribute attr, DialectAsmPrinter &os) const override {
    os << "grid<" << cast<GridAttr>(attr).getCores() << ">";
  }
};

} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<TilesDialect>();
  layout::registerAllDialects(registry);
  layout::registerAllPasses();

  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>("-", &context);
  PassManager pm(&context);
  if (!module ||
      failed(parsePassPipeline(argc > 1 ? argv[1] : "layout-assign", pm)) ||
      failed(pm.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
