//===- Solve.cpp - Decide layouts -----------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Assignment.h"
#include "layout/Analysis/PriceList.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Interfaces/RuleCheck.h"
#include "layout/Support/WholeFile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ParallelCombiningOpInterface.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::layout {
#define GEN_PASS_DEF_SOLVEPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

static constexpr StringLiteral kCost = "cost";
static constexpr StringLiteral kConversionCost = "conversion_cost";
static constexpr StringLiteral kLowerBound = "lower_bound";
static constexpr StringLiteral kWeightBytes = "weight_bytes";
static constexpr StringLiteral kMemoryBytes = "memory_bytes";

namespace {
/// Writes the chosen layouts as attributes of the ops, except those that keep
/// their types or whose constraints already state them. Ops of one NodeClass
/// with the same configuration share their attributes.
class DecisionWriter {
public:
  DecisionWriter(const LayoutAssignment &assignment, const CostModel &costs,
                 MLIRContext *context)
      : assignment(assignment), costs(costs), context(context),
        unit(UnitAttr::get(context)) {}

  void run();

private:
  using Layouts = SmallVector<Attribute, 4>;

  Attribute getAttr(LayoutId layout) const {
    if (layout == kAnyLayout)
      return unit;
    if (Attribute spelling = costs.getSpelling(layout))
      return spelling;
    return withPadding(MapAttr::get(context, costs.getMap(layout)),
                       costs.getPadding(layout));
  }
  ArrayAttr getArray(ArrayRef<LayoutId> layouts) const {
    Layouts attrs;
    for (LayoutId layout : layouts)
      attrs.push_back(getAttr(layout));
    return ArrayAttr::get(context, attrs);
  }
  void writeOps();
  void collectEnds(const TypeEquivalenceClass &flowClass,
                   const OpConfig &config);
  void writeEnds();
  void setEntry(Operation *op, StringRef name, size_t size, unsigned i,
                Attribute layout);

  const LayoutAssignment &assignment;
  const CostModel &costs;
  MLIRContext *context;
  Attribute unit; // for a value without a layout of its own
  /// The layouts of each attribute that is written because control flow gives
  /// operands or results the type of other values, by the op and the name of
  /// the attribute. An attribute has one entry per operand or result; the
  /// entries of others keep their constraint or are `unit`.
  llvm::MapVector<std::pair<Operation *, StringRef>, Layouts> entries;
  /// The layouts of block arguments, by the op that has the regions.
  llvm::MapVector<Operation *, SmallVector<std::pair<BlockArgument, Attribute>>>
      arguments;
};
} // namespace

void DecisionWriter::writeOps() {
  // The attributes of each NodeClass and configuration. `alone` is the
  // dictionary of an op without other attributes, which most ops are.
  struct Attrs {
    ArrayAttr operands, results;
    DictionaryAttr alone;
  };
  std::vector<SmallVector<Attrs, 4>> attrs(assignment.candidates.size());
  auto operandLayouts = StringAttr::get(context, kOperandLayouts);
  auto resultLayouts = StringAttr::get(context, kResultLayouts);
  for (auto [u, node] : llvm::enumerate(assignment.program.nodes)) {
    const OpConfig &config = assignment.getConfig(u);
    // Constrained ops already have the attributes.
    if (!node.op || config.origin == OpConfig::Origin::AsTyped ||
        config.origin == OpConfig::Origin::Constrained)
      continue;
    auto &ofClass = attrs[node.nodeClass];
    ofClass.resize(assignment.candidates[node.nodeClass].configs.size());
    auto &[operands, results, alone] = ofClass[assignment.choice[u]];
    DictionaryAttr others = node.op->getDiscardableAttrDictionary();
    if (alone && others.empty()) {
      node.op->setDiscardableAttrs(alone);
      continue;
    }
    if (!operands) {
      operands = getArray(config.exact.operands);
      results = getArray(config.exact.results);
    }
    NamedAttrList all(others);
    all.set(operandLayouts, operands);
    all.set(resultLayouts, results);
    DictionaryAttr dictionary = all.getDictionary(context);
    if (others.empty())
      alone = dictionary;
    node.op->setDiscardableAttrs(dictionary);
  }
}

void DecisionWriter::setEntry(Operation *op, StringRef name, size_t size,
                              unsigned i, Attribute layout) {
  Layouts &layouts = entries[{op, name}];
  if (layouts.empty())
    if (Attribute constraints = op->getDiscardableAttr(name))
      llvm::append_range(layouts, cast<ArrayAttr>(constraints));
  layouts.resize(size, unit);
  layouts[i] = layout;
}

void DecisionWriter::collectEnds(const TypeEquivalenceClass &flowClass,
                                 const OpConfig &config) {
  Attribute layout = getAttr(config.exact.operands.front());
  for (auto [i, part] : llvm::enumerate(flowClass.parts)) {
    Operation *owner = part.operand->getOwner();
    setEntry(owner, kOperandLayouts, owner->getNumOperands(),
             part.operand->getOperandNumber(),
             getAttr(config.exact.operands[1 + i]));
  }
  for (OpOperand *operand : flowClass.operands)
    setEntry(operand->getOwner(), kOperandLayouts,
             operand->getOwner()->getNumOperands(), operand->getOperandNumber(),
             layout);
  for (Value value : flowClass.values) {
    if (auto result = dyn_cast<OpResult>(value))
      setEntry(result.getOwner(), kResultLayouts,
               result.getOwner()->getNumResults(), result.getResultNumber(),
               layout);
    else
      arguments[value.getParentBlock()->getParentOp()].push_back(
          {cast<BlockArgument>(value), layout});
  }
}

void DecisionWriter::writeEnds() {
  for (auto &[key, layouts] : entries)
    key.first->setDiscardableAttr(key.second, ArrayAttr::get(context, layouts));
  for (auto &[op, chosen] : arguments) {
    SmallVector<Attribute> blocks;
    llvm::DenseMap<BlockArgument, Attribute> layoutOf(chosen.begin(),
                                                      chosen.end());
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        Layouts layouts;
        for (BlockArgument argument : block.getArguments()) {
          auto it = layoutOf.find(argument);
          layouts.push_back(it == layoutOf.end() ? unit : it->second);
        }
        blocks.push_back(ArrayAttr::get(context, layouts));
      }
    op->setDiscardableAttr(kArgumentLayouts, ArrayAttr::get(context, blocks));
  }
}

void DecisionWriter::run() {
  writeOps();
  for (auto [u, node] : llvm::enumerate(assignment.program.nodes)) {
    const OpConfig &config = assignment.getConfig(u);
    if (!node.op && config.origin != OpConfig::Origin::AsTyped)
      collectEnds(assignment.program.flow.classes[node.flowClass], config);
  }
  writeEnds();
}

void layout::writeDecision(Operation *root, const LayoutAssignment &assignment,
                           const CostModel &costs) {
  DecisionWriter(assignment, costs, root->getContext()).run();
  Builder builder(root->getContext());
  NamedAttrList stats;
  stats.set(kCost, builder.getI64IntegerAttr(assignment.cost));
  stats.set(kConversionCost,
            builder.getI64IntegerAttr(assignment.conversionCost));
  stats.set(kLowerBound, builder.getI64IntegerAttr(assignment.lowerBound));
  if (assignment.weightBytes)
    stats.set(kWeightBytes, builder.getI64IntegerAttr(*assignment.weightBytes));
  if (assignment.memoryBytes)
    stats.set(kMemoryBytes, builder.getI64IntegerAttr(*assignment.memoryBytes));
  root->setDiscardableAttr(kAssignmentAttr,
                           stats.getDictionary(root->getContext()));
}

std::optional<AssignmentStats> layout::readAssignmentStats(Operation *root) {
  auto stats = dyn_cast_if_present<DictionaryAttr>(
      root->getDiscardableAttr(kAssignmentAttr));
  if (!stats)
    return std::nullopt;
  auto cost = stats.getAs<IntegerAttr>(kCost);
  auto conversionCost = stats.getAs<IntegerAttr>(kConversionCost);
  auto lowerBound = stats.getAs<IntegerAttr>(kLowerBound);
  if (!cost || !conversionCost || !lowerBound)
    return std::nullopt;
  AssignmentStats read{cost.getInt(), conversionCost.getInt(),
                       lowerBound.getInt()};
  if (auto memory = stats.getAs<IntegerAttr>(kMemoryBytes))
    read.memoryBytes = memory.getInt();
  return read;
}

static StringRef getFunctionName(Operation *op) {
  auto function = op ? dyn_cast<FunctionOpInterface>(op) : nullptr;
  if (op && !function)
    function = op->getParentOfType<FunctionOpInterface>();
  return function ? function.getName() : StringRef();
}

static remark::RemarkOpts options(StringRef name, Operation *op) {
  return remark::RemarkOpts::name(name).category("layout").function(
      getFunctionName(op));
}

static std::string print(LayoutId layout, const CostModel &costs) {
  std::string text = "#layout.map<" + costs.getMap(layout).str() + ">";
  if (TypedAttr padding = costs.getPadding(layout))
    llvm::raw_string_ostream(text) << " padded with " << padding;
  return text;
}

/// Returns true for ops that need no layout rule, because their kind fixes
/// their types: terminators, calls, insertions of parallel loops, and ops of
/// the layout dialect.
static bool isBoundary(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() || isa<CallOpInterface>(op) ||
         isa<ParallelCombiningOpInterface>(op) ||
         isa_and_nonnull<LayoutDialect>(op->getDialect());
}

static void remarkConversion(const PlannedConversion &conversion,
                             const LayoutAssignment &assignment,
                             CostModel &costs) {
  Operation *producer = conversion.value.getDefiningOp();
  Operation *anchor = assignment.getAnchor(conversion.consumers.front().first);
  auto remark =
      remark::passed(conversion.value.getLoc(), options("Convert", anchor));
  // Maps are slow to print, so print them only for an enabled remark.
  if (!remark)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "conversion of " << conversion.value.getType() << " from "
     << print(conversion.from, costs) << " to " << print(conversion.to, costs)
     << " because ";
  llvm::interleave(
      conversion.consumers, os,
      [&](auto &consumer) {
        os << assignment.getAnchor(consumer.first)->getName() << " "
           << describe(*consumer.second, costs);
      },
      " and ");
  os << ", and ";
  if (producer && conversion.producer)
    os << producer->getName() << " " << describe(*conversion.producer, costs);
  else
    os << "the value is an argument, whose type is fixed";
  if (conversion.frequency != 1)
    os << "; it runs " << conversion.frequency << " times";
  remark << text << remark::metric("BytesRead", conversion.plan.bytesRead)
         << remark::metric("BytesWritten", conversion.plan.bytesWritten)
         << remark::metric("Cost", conversion.cost);
}

/// Emits the remark on a tensor whose best image exceeds the limits of the
/// target.
static void remarkNote(Operation *op, const StorageNote &note,
                       CostModel &costs) {
  Value value = note.slot.isResult ? Value(op->getResult(note.slot.index))
                                   : op->getOperand(note.slot.index);
  auto remark = note.instead
                    ? remark::analysis(op->getLoc(), options("OtherImage", op))
                    : remark::missed(op->getLoc(), options("NoImage", op));
  if (!remark)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << (note.slot.isResult ? "result " : "operand ") << note.slot.index
     << " of " << op->getName() << ", " << value.getType() << ", would be "
     << note.whatNot;
  if (note.instead)
    os << ": it is proposed as " << print(*note.instead, costs) << " instead";
  else
    os << ": it stays in linear memory";
  remark << text;
}

/// Emits the remark on an op that cannot run in the layouts that its types
/// state, with the reason.
static void remarkStatedLayouts(Operation *op, const OpLayoutRule &rule,
                                const CostModel &costs) {
  auto remark = remark::analysis(op->getLoc(), options("StatedLayouts", op));
  if (!remark)
    return;
  std::string whyNot;
  (void)checkRule(op, rule, whyNot,
                  costs.getModel().usesPerElementAddressing());
  remark << (op->getName().getStringRef() +
             " cannot run in the layouts that its types state, so its tensors "
             "are converted: it " +
             whyNot)
                .str();
}

void layout::emitDecisionRemarks(Operation *root,
                                 const LayoutAssignment &assignment,
                                 CostModel &costs) {
  if (!root->getContext()->getRemarkEngine())
    return;
  for (const PlannedConversion &conversion : assignment.conversions)
    remarkConversion(conversion, assignment, costs);
  for (const Node &node : assignment.program.nodes) {
    Operation *op = node.op;
    if (!op)
      continue;
    const NodeClass &known = assignment.program.getClass(node);
    auto *opaque = std::get_if<OpaqueRule>(&known.rule);
    if (opaque && !known.isFixed && !isBoundary(op))
      remark::analysis(op->getLoc(), options("OpaqueOp", op))
          << (op->getName().getStringRef() +
              " has no layout rule for these operands" +
              (opaque->why.empty() ? "" : ": ") + opaque->why +
              "; its tensors stay row-major")
                 .str();
    if (cannotKeepTypes(known))
      remarkStatedLayouts(op, known.rule, costs);
    for (const StorageNote &note : assignment.candidates[node.nodeClass].notes)
      remarkNote(op, note, costs);
    if (assignment.candidates[node.nodeClass].isTruncated)
      remark::missed(op->getLoc(), options("ManyLayouts", op))
          << (op->getName().getStringRef() +
              " has more than the allowed combinations of layouts: some were "
              "not considered")
                 .str();
  }
  if (assignment.hasAssumedSizes)
    remark::analysis(root->getLoc(), options("AssumedSize", root))
        << "dynamic sizes are priced as " +
               std::to_string(costs.getModel().getAssumedSize());
  remark::analysis(root->getLoc(), options("Assignment", root))
      << "layouts assigned" << remark::metric("Cost", assignment.cost)
      << remark::metric("LowerBound", assignment.lowerBound)
      << remark::metric("Gap", assignment.cost - assignment.lowerBound)
      << remark::metric("Conversions", assignment.conversions.size())
      << remark::metric("ConversionCost", assignment.conversionCost);
  if (!assignment.exact)
    remark::missed(root->getLoc(), options("NotProven", root))
        << "the assignment is not proven to be the cheapest"
        << remark::metric("Gap", assignment.cost - assignment.lowerBound);
}

namespace {
struct SolvePass : layout::impl::SolvePassBase<SolvePass> {
  using SolvePassBase::SolvePassBase;
  SolvePass(const SolvePassOptions &options,
            std::shared_ptr<CostProvider> provider)
      : SolvePassBase(options), provider(std::move(provider)) {}

  /// Reads the price list of the option `costs`, if it is set. Emits an error
  /// and fails if it cannot be read. Parsing loads dialects, which must happen
  /// before passes run.
  LogicalResult initialize(MLIRContext *context) override {
    if (costsFile.empty())
      return success();
    prices = std::make_shared<OwningOpRef<ModuleOp>>(
        readPriceList(costsFile, context));
    return success(bool(*prices));
  }

  /// Returns the provider of all costs, the price list if there is one, or a
  /// null pointer if the target model determines them. Reports an error and
  /// fails if there is a provider but `objective=bytes` or `weight-cost` is
  /// set, or if the price list is invalid.
  FailureOr<std::shared_ptr<CostProvider>> getProvider(TargetInterface target) {
    if (!provider && !prices)
      return std::shared_ptr<CostProvider>();
    if (objective == Objective::bytes)
      return getOperation()->emitError()
             << "the options 'costs' and 'objective=bytes' exclude each other: "
                "external prices are not in bytes";
    if (weightCost != 0)
      return getOperation()->emitError()
             << "the options 'costs' and 'weight-cost' exclude each other: "
                "external prices are not in bytes";
    if (!prices)
      return provider;
    FailureOr<std::unique_ptr<PriceList>> list =
        PriceList::get(prices->get(), target);
    if (failed(list))
      return failure();
    return std::shared_ptr<CostProvider>(std::move(*list));
  }

  LogicalResult writePrices(const LayoutAssignment &assignment,
                            CostModel &model, TargetInterface target) {
    WholeFile file(writeCostsFile);
    if (!file.getError())
      writePriceList(assignment, model, target, file.os());
    if (std::error_code code = file.commit())
      return getOperation()->emitError()
             << "the option 'write-costs': cannot write '" << writeCostsFile
             << "': " << code.message();
    return success();
  }

  LogicalResult writeCertificate(const LayoutAssignment &assignment) {
    if (assignment.certificate.empty())
      return getOperation()->emitError()
             << "the option 'certificate': costs are too large for a file in "
                "wcsp format";
    WholeFile file(certificate);
    file.os() << assignment.certificate;
    if (std::error_code code = file.commit())
      return getOperation()->emitError()
             << "the option 'certificate': cannot write '" << certificate
             << "': " << code.message();
    return success();
  }

  /// Emits an error: the option `weight-budget` is infeasible if constants need
  /// at least `least` bytes and that is more than `budget`; or else, no
  /// assignment within it was found. The caller must fail the pass.
  void reportBudget(int64_t least, int64_t budget) {
    InFlightDiagnostic error = getOperation()->emitError()
                               << "the option 'weight-budget': ";
    if (least > budget)
      error << "constants need at least " << least
            << " bytes in layouts on which all ops can run, but " << budget
            << " are allowed";
    else
      error << "no layouts in which constants need at most " << budget
            << " bytes were found, nor a proof that none exist; a larger "
            << "budget or 'max-nodes' of layout-solve may help";
  }

  void runOnOperation() override {
    Operation *root = getOperation();
    // Require a target only if there are tensors to decide.
    bool hasTensors = root->walk([&](Operation *op) {
                            return hasKnownTensors(op) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
                          })
                          .wasInterrupted();
    FailureOr<TargetInterface> wanted = failure();
    if (hasTensors && failed(wanted = layout::getTarget(root, target)))
      return signalPassFailure();
    FailureOr<LayoutConstraints> constraints = readConstraints(root);
    if (failed(constraints))
      return signalPassFailure();
    if (!hasTensors)
      return;
    if (maxConfigs == 0 || maxTable < 1) {
      root->emitError() << "'max-configs' and 'max-table' must be at least 1";
      return signalPassFailure();
    }
    if (weightBudget < -1) {
      root->emitError()
          << "'weight-budget' must be a number of bytes, at least 0";
      return signalPassFailure();
    }
    FailureOr<std::shared_ptr<CostProvider>> provider = getProvider(*wanted);
    if (failed(provider))
      return signalPassFailure();
    CostModel costs(*wanted, objective, provider->get());
    SolveOptions solve;
    solve.maxTableSize = maxTable;
    solve.maxNodes = maxNodes;
    solve.certify = !certificate.empty();
    WeightOptions weights;
    if (weightBudget != -1)
      weights.budget = weightBudget.getValue();
    else
      weights.memory = getMemoryLimit(costs);
    weights.costPercent = weightCost;
    weights.packingPercent = packingCost;
    LayoutAssignment assignment = assignLayouts(
        root, costs, {maxConfigs, maxLayouts}, solve, *constraints, weights);
    if (assignment.leastMemoryBytes) {
      reportMemory(root, assignment);
      return signalPassFailure();
    }
    if (assignment.leastWeightBytes) {
      reportBudget(*assignment.leastWeightBytes, *weights.budget);
      return signalPassFailure();
    }
    if (solve.certify && failed(writeCertificate(assignment)))
      return signalPassFailure();
    if (!writeCostsFile.empty() &&
        failed(writePrices(assignment, costs, *wanted)))
      return signalPassFailure();
    emitDecisionRemarks(root, assignment, costs);
    writeDecision(root, assignment, costs);
    if (!target.empty())
      root->setAttr(kTargetAttr, *wanted);
  }

  std::shared_ptr<CostProvider> provider;
  std::shared_ptr<OwningOpRef<ModuleOp>> prices;
};
} // namespace

std::unique_ptr<Pass>
layout::createSolvePass(const SolvePassOptions &options,
                        std::shared_ptr<CostProvider> provider) {
  return std::make_unique<SolvePass>(options, std::move(provider));
}
