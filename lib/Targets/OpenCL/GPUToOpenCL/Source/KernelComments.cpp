//===- KernelComments.cpp - Comments of kernels ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Source/KernelSource.h"
#include "layout/Support/EmittedText.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::layout;

/// The maximal number of network nodes that the comment above a kernel lists;
/// some kernels compute a hundred.
constexpr size_t kMostNodes = 4;

std::string layout::getNodeName(Location loc) {
  auto name = loc->findInstanceOf<NameLoc>();
  return name ? toUtf8(name.getName()) : "";
}

Value layout::getMemoryBase(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(
            op))
      return value;
    value = op->getOperand(0);
  }
  return value;
}

static std::string toText(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

/// Describes a kernel operand by the network node or constant in its memory,
/// its type, and the `layout.` attributes of its gpu.alloc.
static std::string describeArgument(Value given) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Value base = getMemoryBase(given);
  auto alloc = base.getDefiningOp<gpu::AllocOp>();
  std::string node = alloc ? getNodeName(alloc.getLoc()) : "";
  if (node.empty() && alloc)
    if (auto data = alloc->getAttrOfType<FlatSymbolRefAttr>(kConstantAttrName))
      node = data.getValue().str();
  if (!node.empty())
    os << node << ", ";
  os << base.getType();
  if (alloc)
    for (NamedAttribute attribute : alloc->getDiscardableAttrs())
      if (attribute.getName() != kConstantAttrName &&
          attribute.getName().strref().starts_with("layout."))
        os << ", " << attribute.getName().strref() << " = "
           << toText(attribute.getValue());
  return text;
}

llvm::StringMap<std::string> layout::describeKernels(gpu::GPUModuleOp module) {
  llvm::MapVector<StringRef, SmallVector<gpu::LaunchFuncOp>> launches;
  module->getParentOp()->walk([&](gpu::LaunchFuncOp launch) {
    if (launch.getKernelModuleName() == module.getName())
      launches[launch.getKernelName()].push_back(launch);
  });
  llvm::StringMap<std::string> comments;
  for (const auto &[kernel, all] : launches) {
    SmallVector<std::string> nodes;
    for (gpu::LaunchFuncOp launch : all)
      if (std::string node = getNodeName(launch.getLoc());
          !node.empty() && !llvm::is_contained(nodes, node))
        nodes.push_back(node);
    std::string text;
    llvm::raw_string_ostream os(text);
    if (!nodes.empty()) {
      os << "// computes";
      for (const std::string &node : ArrayRef(nodes).take_front(kMostNodes))
        os << (node == nodes.front() ? " " : ", ") << toComment(node);
      if (nodes.size() > kMostNodes)
        os << " and " << nodes.size() - kMostNodes << " more";
      os << "\n";
    }
    gpu::LaunchFuncOp first = all.front();
    for (auto [i, given] : llvm::enumerate(first.getKernelOperands()))
      os << "//   a" << i << ": " << toComment(describeArgument(given)) << "\n";
    comments[kernel] = text;
  }
  return comments;
}
