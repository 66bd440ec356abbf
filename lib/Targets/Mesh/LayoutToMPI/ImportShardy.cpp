//===- ImportShardy.cpp - Import Shardy shardings as constraints ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect `sdy` is not part of MLIR, so its ops are unregistered and its
// attributes are unparsed text.
//
//   "sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=2, "y"=4]>}>
//   %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}
//     -> argument 0 has the constraint #layout.mesh<[x = 2, y = 4], [[x], []]>
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/ControlFlow.h"
#include "layout/Analysis/LayoutConstraints.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::layout {
#define GEN_PASS_DEF_IMPORTSHARDYPASS
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

static constexpr StringLiteral kSharding = "sdy.sharding";

namespace {

/// Scans the text of an attribute and skips white space.
class Scanner {
public:
  explicit Scanner(StringRef text) : rest(text) {}

  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  std::optional<StringRef> takeQuoted() {
    if (!take("\""))
      return std::nullopt;
    auto [text, after] = rest.split('"');
    rest = after;
    return text;
  }
  std::optional<StringRef> takeSymbol() {
    if (!take("@"))
      return std::nullopt;
    if (rest.starts_with("\""))
      return takeQuoted();
    StringRef name = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    rest = rest.drop_front(name.size());
    return name;
  }
  std::optional<int64_t> takeInteger() {
    rest = rest.ltrim();
    int64_t value;
    if (rest.consumeInteger(10, value))
      return std::nullopt;
    return value;
  }
  /// Scans elements separated by commas, which may be none, and `close` after
  /// them. Returns false if `close` is missing or `takeElement` returns false.
  bool takeList(StringRef close, function_ref<bool()> takeElement) {
    if (take(close))
      return true;
    do {
      if (!takeElement())
        return false;
    } while (take(","));
    return take(close);
  }
  bool isAtEnd() { return rest.ltrim().empty(); }

private:
  StringRef rest;
};

class ShardyImporter {
public:
  explicit ShardyImporter(ModuleOp module) : module(module) {}

  LogicalResult run();

private:
  LogicalResult readMesh(Operation *op);
  FailureOr<Attribute> getLayout(Operation *op, Attribute sharding, Type type);
  FailureOr<Mesh> parse(Operation *op, Attribute sharding);
  LogicalResult import(func::FuncOp function);

  ModuleOp module;
  llvm::StringMap<Mesh> meshes;
};

struct ImportShardy : layout::impl::ImportShardyPassBase<ImportShardy> {
  void runOnOperation() override {
    if (failed(ShardyImporter(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace

/// Returns the property or discardable attribute `name` of an unregistered op.
/// If it has none, returns null.
static Attribute getUnread(Operation *op, StringRef name) {
  if (auto properties =
          dyn_cast_if_present<DictionaryAttr>(op->getPropertiesAsAttribute()))
    if (Attribute attr = properties.get(name))
      return attr;
  return op->getAttr(name);
}

static StringRef getText(Attribute attr) {
  auto opaque = dyn_cast_if_present<OpaqueAttr>(attr);
  return opaque ? opaque.getAttrData() : StringRef();
}

LogicalResult ShardyImporter::readMesh(Operation *op) {
  auto name = dyn_cast_if_present<StringAttr>(getUnread(op, "sym_name"));
  Attribute attr = getUnread(op, "mesh");
  Scanner scanner(getText(attr));
  Mesh mesh;
  auto takeAxis = [&] {
    std::optional<StringRef> axis = scanner.takeQuoted();
    bool hasSize = axis && scanner.take("=");
    std::optional<int64_t> size =
        hasSize ? scanner.takeInteger() : std::nullopt;
    if (size)
      mesh.axes.push_back({axis->str(), *size});
    return size.has_value();
  };
  bool isRead =
      name && scanner.take("mesh<[") && scanner.takeList("]", takeAxis);
  if (!isRead || !scanner.take(">") || !scanner.isAtEnd())
    return op->emitOpError()
           << "has an unsupported mesh: "
           << (attr ? attr : Attribute(UnitAttr::get(op->getContext())))
           << "; write a name and #sdy.mesh<[\"x\"=2, ..]> without numbers of "
              "devices";
  if (!mesh.check([&](const Twine &why) { op->emitOpError() << why; }))
    return failure();
  meshes.try_emplace(name.getValue(), std::move(mesh));
  return success();
}

FailureOr<Mesh> ShardyImporter::parse(Operation *op, Attribute sharding) {
  auto fail = [&](const Twine &why) -> FailureOr<Mesh> {
    return op->emitError() << "'" << kSharding << "' is " << sharding << ": "
                           << why;
  };
  Scanner scanner(getText(sharding));
  std::optional<StringRef> name;
  if (!scanner.take("sharding<") || !(name = scanner.takeSymbol()) ||
      !scanner.take(",") || !scanner.take("["))
    return fail("expected #sdy.sharding<@mesh, [{\"x\"}, {}]>");
  auto known = meshes.find(*name);
  if (known == meshes.end())
    return fail("the module has no 'sdy.mesh' of that name");
  Mesh mesh = known->second;
  StringRef whyNot = "expected commas in lists of axes and of dims";
  auto refuse = [&](StringRef why) {
    whyNot = why;
    return false;
  };
  auto takeAxis = [&] {
    // `?` permits Shardy to split the dim further, which is not done here.
    if (scanner.take("?"))
      return true;
    std::optional<StringRef> text = scanner.takeQuoted();
    const auto *axis =
        llvm::find_if(ArrayRef(mesh.axes), [&](const MeshAxis &each) {
          return text && each.name == *text;
        });
    if (axis == ArrayRef(mesh.axes).end())
      return refuse("expected axes of the mesh, found another name");
    if (scanner.take(":"))
      return refuse("a part of an axis is not supported by #layout.mesh: make "
                    "it two axes of the mesh");
    mesh.splits.back().push_back(axis - mesh.axes.data());
    return true;
  };
  auto takeDim = [&] {
    if (!scanner.take("{"))
      return refuse("expected the axes of a dim in braces");
    mesh.splits.emplace_back();
    if (!scanner.takeList("}", takeAxis))
      return false;
    // Priorities order Shardy's propagation, which is not used here.
    if (scanner.take("p"))
      scanner.takeInteger();
    return true;
  };
  if (!scanner.takeList("]", takeDim))
    return fail(whyNot);
  auto takeName = [&] { return scanner.takeQuoted().has_value(); };
  while (!scanner.take(">")) {
    if (!scanner.take(",") || !scanner.take("replicated={"))
      return fail("only axes with copies may follow the dims");
    if (!scanner.takeList("}", takeName))
      return fail("expected names of axes");
  }
  if (!scanner.isAtEnd())
    return fail("expected the end of the attribute");
  return mesh;
}

FailureOr<Attribute> ShardyImporter::getLayout(Operation *op,
                                               Attribute sharding, Type type) {
  FailureOr<Mesh> mesh = parse(op, sharding);
  if (failed(mesh))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() != int64_t(mesh->splits.size()))
    return op->emitError() << "'" << kSharding << "' is " << sharding << ", of "
                           << mesh->splits.size()
                           << " dims, on a value of type " << type;
  auto layout =
      MeshAttr::getChecked([&] { return op->emitError(); }, op->getContext(),
                           *mesh, LayoutAttrInterface());
  if (!layout)
    return failure();
  return Attribute(layout);
}

LogicalResult ShardyImporter::import(func::FuncOp function) {
  bool isStated = false;
  auto unit = UnitAttr::get(function.getContext());
  auto read = [&](Type type, Attribute sharding) -> FailureOr<Attribute> {
    if (!sharding)
      return Attribute(unit);
    isStated = true;
    return getLayout(function, sharding, type);
  };
  Builder b(function.getContext());
  SmallVector<Attribute> arguments, results;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    FailureOr<Attribute> layout = read(type, function.getArgAttr(i, kSharding));
    if (failed(layout))
      return failure();
    arguments.push_back(*layout);
    function.removeArgAttr(i, kSharding);
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    FailureOr<Attribute> layout =
        read(type, function.getResultAttr(i, kSharding));
    if (failed(layout))
      return failure();
    results.push_back(*layout);
    function.removeResultAttr(i, b.getStringAttr(kSharding));
  }
  if (!isStated)
    return success();
  if (function.isExternal())
    return function.emitError() << "is only declared, so that its shardings "
                                   "cannot be chosen as layouts here";
  auto isLayout = [&](Attribute entry) { return entry != unit; };
  auto state = [&](Operation *op, StringRef name, ArrayRef<Attribute> layouts) {
    if (op->getDiscardableAttr(name)) {
      op->emitError() << "has both '" << kSharding << "' and '" << name
                      << "': remove one of them";
      return failure();
    }
    op->setDiscardableAttr(name, b.getArrayAttr(layouts));
    return success();
  };
  SmallVector<Attribute> blocks;
  for (Block &block : function.getBody()) {
    SmallVector<Attribute> all(block.getNumArguments(), unit);
    blocks.push_back(
        b.getArrayAttr(block.isEntryBlock() ? ArrayRef(arguments) : all));
    if (auto ret = dyn_cast<func::ReturnOp>(block.getTerminator()))
      if (llvm::any_of(results, isLayout) &&
          failed(state(ret, kOperandLayouts, results)))
        return failure();
  }
  if (llvm::any_of(arguments, isLayout) &&
      failed(state(function, kArgumentLayouts, blocks)))
    return failure();
  if (function.isPublic())
    function->setDiscardableAttr(kFlexibleABI, unit);
  return success();
}

LogicalResult ShardyImporter::run() {
  SmallVector<Operation *> found;
  for (Operation &op : *module.getBody())
    if (op.getName().getStringRef() == "sdy.mesh")
      found.push_back(&op);
  for (Operation *op : found)
    if (failed(readMesh(op)))
      return failure();
  auto walk = module.walk([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op))
      return failed(import(function)) ? WalkResult::interrupt()
                                      : WalkResult::advance();
    bool isOfShardy = op->getName().getDialectNamespace() == "sdy";
    if ((!isOfShardy || llvm::is_contained(found, op)) &&
        !op->getDiscardableAttr(kSharding))
      return WalkResult::advance();
    op->emitOpError() << "states a sharding of a computed value: only those of "
                         "arguments and results of functions are imported; "
                         "state others as 'layout.result_layouts'";
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  for (Operation *op : found)
    op->erase();
  return success();
}
