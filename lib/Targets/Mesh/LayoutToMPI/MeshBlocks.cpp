//===- MeshBlocks.cpp - The blocks of a tensor on each device -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeshBlocks.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Families/Mesh.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Targets/Mesh/ReshardPlan.h"

using namespace mlir;
using namespace mlir::layout;

RankedTensorType layout::getBlockMemory(RankedTensorType type) {
  LayoutMap map = *getLayoutMap(type);
  std::optional<int64_t> extent;
  if (type.hasStaticShape())
    extent = map.getCoordinates().back().extent.evaluate(type.getShape());
  return extent ? RankedTensorType::get({*extent}, type.getElementType())
                : RankedTensorType();
}

/// Returns the coordinate of a device along axis `a` of the mesh.
static int64_t getPosition(const Mesh &mesh, unsigned a, int64_t device) {
  for (unsigned b = mesh.axes.size(); --b > a;)
    device /= mesh.axes[b].size;
  return device % mesh.axes[a].size;
}

/// Sets `ranges` to the index range of dim `d` on each device, by the
/// coordinates of `map` that split the dim. `box` has the sizes of the logical
/// and then of the replica dims of the map.
static void findRanges(const Mesh &mesh, const LayoutMap &map,
                       ArrayRef<int64_t> box, unsigned d, int64_t numDevices,
                       DeviceRanges &ranges) {
  // For each index of the dim, the coordinates of its device along the axes
  // that split the dim, as one mixed-radix number.
  std::vector<int64_t> places(box[d], 0);
  for (unsigned a : mesh.splits[d]) {
    const Coordinate &axis = map.getCoordinates()[a];
    std::optional<Evaluator> value =
        Evaluator::compile(axis.value, box, ReshardPlan::kLongestDim);
    assert(value && value->hasOnlyTables() && "of a #layout.mesh");
    ArrayRef<int64_t> table = value->getTable(d);
    for (auto [i, place] : llvm::enumerate(places))
      place = place * mesh.axes[a].size + value->getStart() +
              (table.empty() ? 0 : table[i]);
  }
  struct Range {
    int64_t begin = 0, size = 0;
  };
  DenseMap<int64_t, Range> found;
  for (auto [i, place] : llvm::enumerate(places)) {
    Range &range = found[place];
    if (!range.size)
      range.begin = i;
    ++range.size;
    assert(range.begin + range.size == int64_t(i) + 1 && "blocks are ranges");
  }
  for (int64_t device = 0; device < numDevices; ++device) {
    int64_t place = 0;
    for (unsigned a : mesh.splits[d])
      place = place * mesh.axes[a].size + getPosition(mesh, a, device);
    Range range = found.lookup(place);
    ranges.begins.push_back(range.begin);
    ranges.sizes.push_back(range.size);
  }
  ranges.size = *llvm::max_element(ranges.sizes);
}

/// Sets the index ranges of all split dims in `blocks`. Calls `refuse` and
/// returns false if a split dim has more indices than a message plan supports.
static bool findDims(MeshBlocks &blocks, const Mesh &mesh,
                     FailureReason refuse) {
  RankedTensorType type = blocks.type;
  LayoutMap map = *getLayoutMap(type);
  SmallVector<int64_t> box = map.getBox(type.getShape());
  for (auto [d, split] : llvm::enumerate(mesh.splits)) {
    DeviceRanges &ranges = blocks.dims[d];
    for (unsigned a : split)
      if (mesh.axes[a].size > 1)
        ranges.axes.push_back(mesh.axes[a].name);
    if (ranges.axes.empty())
      continue;
    if (box[d] > ReshardPlan::kLongestDim) {
      refuse("dim " + Twine(d) + " has more than " +
             Twine(ReshardPlan::kLongestDim) +
             " indices: split it by tensor.expand_shape");
      return false;
    }
    findRanges(mesh, map, box, d, blocks.numDevices, ranges);
  }
  return true;
}

FailureOr<MeshBlocks> MeshBlocks::get(RankedTensorType type,
                                      FailureReason refuse) {
  MeshBlocks blocks;
  blocks.type = blocks.block = type;
  blocks.held = withoutLayout(type);
  blocks.dims.resize(type.getRank());
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    blocks.dims[d].size = size;
  if (!liesOnMesh(type))
    return blocks;
  MeshAttr layout = getMeshLayout(type);
  if (!layout)
    return refuse([&](raw_ostream &os) {
      os << type << " has its mesh in a map: ops compute with blocks of "
         << "#layout.mesh";
    });
  if (!layout.getMesh().halos.empty())
    return refuse([&](raw_ostream &os) {
      os << type << " has a halo, which ops do not compute with: convert it to "
         << "the layout without 'halos' by layout.convert";
    });
  if (!type.hasStaticShape())
    return refuse([&](raw_ostream &os) {
      auto *dim = llvm::find_if(type.getShape(), ShapedType::isDynamic);
      os << type << " has blocks of dynamic size, because dim "
         << dim - type.getShape().begin() << " is dynamic: make it static";
    });
  Mesh mesh = layout.getMesh();
  blocks.numDevices = *countDevices(*getLayoutMap(type), type.getShape());
  if (auto partial = dyn_cast<PartialAttr>(type.getEncoding())) {
    blocks.reduction = partial.getReduction();
    for (StringAttr axis : partial.getAxes())
      blocks.partial.push_back(axis.str());
  }
  if (!findDims(blocks, mesh, refuse))
    return failure();
  SmallVector<int64_t> held;
  for (const DeviceRanges &dim : blocks.dims)
    held.push_back(llvm::all_equal(dim.sizes) ? dim.size
                                              : ShapedType::kDynamic);
  blocks.block = getLocalType(type);
  blocks.held = RankedTensorType::get(held, type.getElementType());
  blocks.memory = getBlockMemory(type);
  return blocks;
}

bool MeshBlocks::isWhole() const {
  return partial.empty() && llvm::all_of(dims, [](const DeviceRanges &dim) {
           return dim.isWhole();
         });
}

std::vector<int64_t> MeshBlocks::findFirst(ArrayRef<std::string> axes) const {
  Mesh mesh = getMeshLayout(type).getMesh();
  std::vector<int64_t> first(numDevices, 1);
  for (auto [a, axis] : llvm::enumerate(mesh.axes))
    if (llvm::is_contained(axes, axis.name))
      for (auto [device, value] : llvm::enumerate(first))
        value &= getPosition(mesh, a, device) == 0;
  return first;
}

std::vector<int64_t> MeshBlocks::findNumbers() const {
  Mesh mesh = getMeshLayout(type).getMesh();
  std::vector<int64_t> numbers(numDevices, 0);
  for (auto [a, axis] : llvm::enumerate(mesh.axes))
    if (mesh.isSplit(a))
      for (auto [device, number] : llvm::enumerate(numbers))
        number = number * axis.size + getPosition(mesh, a, device);
  return numbers;
}
