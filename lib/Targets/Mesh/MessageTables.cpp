//===- MessageTables.cpp - Message plans as integer tables ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/Mesh/MessageTables.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Factors.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include <map>

using namespace mlir;
using namespace mlir::layout;

/// The maximal number of rows (loop nests over elements) of all ranks, to limit
/// the size of the constants in a program. MessageTables::get fails for a plan
/// that needs more.
static constexpr int64_t kMostRows = 1 << 20;

namespace {

/// Computes addresses, in elements, in a block or a message: a start plus one
/// term per dim, which comes from a table or is linear in the index.
struct Places {
  struct Dim {
    ArrayRef<int64_t> table;
    int64_t first = 0, stride = 0;
  };
  int64_t start = 0;
  SmallVector<Dim, 4> dims;

  int64_t at(unsigned d, int64_t index) const {
    const Dim &dim = dims[d];
    return dim.table.empty() ? (index - dim.first) * dim.stride
                             : dim.table[index - dim.first];
  }
};

/// The addresses, in elements, of the indices of a tensor in the block of each
/// device, as given by the last coordinate of its map.
class BlockPlaces {
public:
  static std::optional<BlockPlaces> get(RankedTensorType type,
                                        FailureReason refuse);

  Places on(int64_t device) const;

private:
  /// The summands of addresses for the indices of a dim, from `first` on.
  struct Table {
    int64_t first = 0;
    std::vector<int64_t> places;
  };
  /// A summand of addresses that may depend on the device, e.g. along a dim
  /// with a halo. tables[positions[device]] has the summand of each index of
  /// `dim`. Without `dim`, for replicas that belong to no dim, it has one
  /// number.
  struct Shared {
    std::optional<unsigned> dim;
    std::vector<int64_t> positions;  // along some mesh axes, by device
    std::map<int64_t, Table> tables; // by position
  };

  bool readTables(const LayoutMap &map, Sizes box);
  bool readShared(const LayoutMap &map, Sizes shape, Sizes box);
  std::optional<Shared> readFactor(const LayoutMap &map, const Factor &factor,
                                   ArrayRef<int64_t> extents,
                                   const Evaluator &point, Sizes box);

  std::optional<Evaluator> place; // owns the tables of `common`
  Places common;
  std::vector<Shared> shared;
};

struct Loop {
  int64_t size = 1, fromStride = 0, toStride = 0;
};

struct Row {
  int64_t from = 0, to = 0;
  SmallVector<Loop, 4> loops;
};

/// A message as sent or received by one rank.
struct Step {
  const Message *message;
  bool isSend;
};

} // namespace

bool BlockPlaces::readTables(const LayoutMap &map, Sizes box) {
  place = Evaluator::compile(map.getCoordinates().back().value, box,
                             ReshardPlan::kLongestDim);
  if (!place || !place->hasOnlyTables())
    return false;
  for (unsigned r = map.getRank(); r < map.getNumDims(); ++r)
    if (llvm::any_of(place->getTable(r),
                     [](int64_t share) { return share != 0; }))
      return false;
  common.start = place->getStart();
  for (unsigned d = 0; d < map.getRank(); ++d)
    common.dims.push_back({place->getTable(d)});
  return true;
}

/// Computes the addresses of one factor of the box (Factors.h): of a dim with
/// its replicas, or of replicas. Returns std::nullopt if it has several dims,
/// if a mesh axis mixes factors, or if a device holds an index at two
/// addresses.
std::optional<BlockPlaces::Shared>
BlockPlaces::readFactor(const LayoutMap &map, const Factor &factor,
                        ArrayRef<int64_t> extents, const Evaluator &point,
                        Sizes box) {
  ArrayRef<unsigned> dims = factor.getLogicalDims(map.getRank());
  if (dims.size() > 1)
    return std::nullopt;
  unsigned numAxes = extents.size() - 1;
  SmallVector<int64_t> strides(numAxes, 0); // 0 for axes of other factors
  int64_t size = 1;
  for (unsigned a = numAxes; a-- > 0;) {
    bool isOwn = false, isOther = false;
    map.getCoordinates()[a].value.walkDims([&](unsigned d) {
      (llvm::is_contained(factor.dims, d) ? isOwn : isOther) = true;
    });
    if (isOwn && isOther)
      return std::nullopt;
    if (isOwn) {
      strides[a] = size;
      size *= extents[a];
    }
  }
  Shared found;
  int64_t numIndices = 1;
  if (!dims.empty()) {
    found.dim = dims.front();
    numIndices = box[dims.front()];
  }
  auto getPosition = [&](ArrayRef<int64_t> axes) {
    int64_t position = 0;
    for (auto [coordinate, stride] : llvm::zip_equal(axes, strides))
      position += coordinate * stride;
    return position;
  };
  SmallVector<int64_t> replicaBox(factor.box), values(extents.size());
  if (found.dim)
    replicaBox[*found.dim] = 1;
  bool isOnce = true;
  for (int64_t i = 0; i < numIndices; ++i)
    forEachIndex(replicaBox, [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t> whole(index);
      if (found.dim)
        whole[*found.dim] = i;
      point.evaluate(whole.data(), values.data());
      int64_t own = values.back() - common.start;
      Table &table =
          found.tables[getPosition(ArrayRef(values).take_front(numAxes))];
      if (table.places.empty())
        table.first = i;
      size_t at = i - table.first;
      if (at < table.places.size()) {
        isOnce &= table.places[at] == own;
      } else {
        table.places.resize(at);
        table.places.push_back(own);
      }
      return true;
    });
  if (!isOnce)
    return std::nullopt;
  forEachIndex(extents.take_front(numAxes), [&](ArrayRef<int64_t> axes) {
    found.positions.push_back(getPosition(axes));
    return true;
  });
  return found;
}

/// Computes the addresses of a map under which the address of an index depends
/// on the device, because only some devices hold a replica of it, e.g. in a
/// halo. Returns false if an address is not a sum of one summand per factor of
/// the box.
bool BlockPlaces::readShared(const LayoutMap &map, Sizes shape, Sizes box) {
  SmallVector<IndexExpr> values;
  for (const Coordinate &coordinate : map.getCoordinates())
    values.push_back(coordinate.value);
  std::optional<SmallVector<int64_t>> extents = map.storageExtent(shape);
  std::optional<Evaluator> point =
      Evaluator::compile(values, box, ReshardPlan::kLongestDim);
  if (!point || !extents)
    return false;
  SmallVector<int64_t> zeros(box.size(), 0), start(values.size());
  point->evaluate(zeros.data(), start.data());
  common.start = start.back();
  common.dims.resize(map.getRank());
  for (const Factor &factor :
       findFactors(values, ArrayRef(values).drop_back(), box, map.getRank())) {
    std::optional<Shared> found =
        readFactor(map, factor, *extents, *point, box);
    if (!found)
      return false;
    shared.push_back(std::move(*found));
  }
  return true;
}

std::optional<BlockPlaces> BlockPlaces::get(RankedTensorType type,
                                            FailureReason refuse) {
  LayoutMap map = getLayoutMap(type)->specialize(type.getShape());
  SmallVector<int64_t> box = map.getBox(type.getShape());
  BlockPlaces places;
  if (places.readTables(map, box) ||
      places.readShared(map, type.getShape(), box))
    return places;
  return refuse([&](raw_ostream &os) {
    os << "positions in the blocks of " << type
       << " are not a sum of one position for each dim, or differ between "
          "copies of an element: choose another local layout";
  });
}

Places BlockPlaces::on(int64_t device) const {
  Places places = common;
  for (const Shared &some : shared) {
    auto found = some.tables.find(some.positions[device]);
    // A device without indices needs no addresses.
    if (found == some.tables.end())
      continue;
    const Table &table = found->second;
    if (some.dim)
      places.dims[*some.dim] = {table.places, table.first, 0};
    else
      places.start += table.places.front();
  }
  return places;
}

/// Returns the addresses of a box in a message, whose elements are stored in
/// row-major order from `start` on.
static Places getPackedPlaces(const MessageBox &box, int64_t start) {
  Places places;
  places.start = start;
  places.dims.resize(box.sizes.size());
  int64_t stride = 1;
  for (size_t d = box.sizes.size(); d-- > 0; stride *= box.sizes[d])
    places.dims[d] = {{}, box.offsets[d], stride};
  return places;
}

/// Splits a range of a dim into segments along which the addresses in `from`
/// and in `to` have constant strides. Returns the first index and the loop of
/// each.
static SmallVector<std::pair<int64_t, Loop>> getRuns(unsigned d, int64_t begin,
                                                     int64_t end,
                                                     const Places &from,
                                                     const Places &to) {
  SmallVector<std::pair<int64_t, Loop>> runs;
  for (int64_t i = begin; i < end; ++i) {
    if (!runs.empty()) {
      Loop &loop = runs.back().second;
      int64_t fromStride = from.at(d, i) - from.at(d, i - 1),
              toStride = to.at(d, i) - to.at(d, i - 1);
      if (loop.size == 1 ||
          (loop.fromStride == fromStride && loop.toStride == toStride)) {
        loop = {loop.size + 1, fromStride, toStride};
        continue;
      }
    }
    runs.push_back({i, Loop()});
  }
  return runs;
}

/// Drops loops with one iteration, and merges an outer loop with the next inner
/// one if the two together have constant strides.
static SmallVector<Loop, 4> mergeLoops(ArrayRef<Loop> loops) {
  SmallVector<Loop, 4> merged;
  for (const Loop &loop : loops) {
    if (loop.size == 1)
      continue;
    if (!merged.empty() &&
        merged.back().fromStride == loop.fromStride * loop.size &&
        merged.back().toStride == loop.toStride * loop.size)
      merged.back() = {merged.back().size * loop.size, loop.fromStride,
                       loop.toStride};
    else
      merged.push_back(loop);
  }
  return merged;
}

/// Adds the rows, i.e. loop nests, that move the elements of a box. Returns
/// false, without adding any, if there would be more than kMostRows in total.
static bool addRows(const MessageBox &box, const Places &from, const Places &to,
                    std::vector<Row> &rows) {
  SmallVector<SmallVector<std::pair<int64_t, Loop>>> runs;
  SmallVector<int64_t> counts;
  for (auto [d, offset, size] : llvm::enumerate(box.offsets, box.sizes)) {
    runs.push_back(getRuns(d, offset, offset + size, from, to));
    counts.push_back(runs.back().size());
  }
  std::optional<int64_t> count = countIndices(counts);
  if (!count || *count > kMostRows - int64_t(rows.size()))
    return false;
  forEachIndex(counts, [&](ArrayRef<int64_t> numbers) {
    Row row{from.start, to.start, {}};
    SmallVector<Loop> loops;
    for (auto [d, number] : llvm::enumerate(numbers)) {
      auto [begin, loop] = runs[d][number];
      row.from += from.at(d, begin);
      row.to += to.at(d, begin);
      loops.push_back(loop);
    }
    row.loops = mergeLoops(loops);
    rows.push_back(std::move(row));
    return true;
  });
  return true;
}

/// Returns the messages in the order in which each rank handles its own: by
/// phase, round and step, because concurrent messages of one step wait least
/// for each other.
static std::vector<const Message *> orderMessages(const ReshardPlan &plan) {
  std::vector<const Message *> order;
  for (const Message &message : plan.messages)
    order.push_back(&message);
  llvm::stable_sort(order, [](const Message *a, const Message *b) {
    return std::tuple(a->phase, a->round, a->step) <
           std::tuple(b->phase, b->round, b->step);
  });
  return order;
}

namespace {
class TableBuilder {
public:
  TableBuilder(const ReshardPlan &plan, const BlockPlaces &from,
               const BlockPlaces &to)
      : plan(plan), from(from), to(to) {}

  bool addMoves();
  MessageTables finish();

private:
  struct Range {
    size_t begin = 0, end = 0; // rows
  };
  bool addMessage(const Step &step);

  const ReshardPlan &plan;
  const BlockPlaces &from, &to;
  std::vector<Row> rows;
  std::vector<Range> copies;                              // by rank
  std::vector<std::vector<std::pair<Step, Range>>> steps; // by phase and rank
};
} // namespace

bool TableBuilder::addMessage(const Step &step) {
  const Message &message = *step.message;
  int64_t rank = step.isSend ? message.from : message.to;
  // The second phase sends values that were reduced in the target.
  Places block = (step.isSend && message.phase == 0 ? from : to).on(rank);
  Range range{rows.size(), 0};
  int64_t start = 0;
  for (const MessageBox &box : message.boxes) {
    Places packed = getPackedPlaces(box, start);
    if (!(step.isSend ? addRows(box, block, packed, rows)
                      : addRows(box, packed, block, rows)))
      return false;
    start += box.getNumElements();
  }
  range.end = rows.size();
  steps[message.phase * plan.numDevices + rank].push_back({step, range});
  return true;
}

bool TableBuilder::addMoves() {
  unsigned numPhases = 0;
  for (const Message &message : plan.messages)
    numPhases = std::max(numPhases, message.phase + 1);
  steps.resize(numPhases * plan.numDevices);
  copies.resize(plan.numDevices);
  std::vector<SmallVector<const Message *>> copiesOf(plan.numDevices);
  for (const Message &copy : plan.copies)
    copiesOf[copy.from].push_back(&copy);
  for (int64_t rank = 0; rank < plan.numDevices; ++rank) {
    copies[rank].begin = rows.size();
    Places before = from.on(rank), after = to.on(rank);
    for (const Message *copy : copiesOf[rank])
      for (const MessageBox &box : copy->boxes)
        if (!addRows(box, before, after, rows))
          return false;
    copies[rank].end = rows.size();
  }
  for (const Message *message : orderMessages(plan))
    for (bool isSend : {true, false})
      if (!addMessage({message, isSend}))
        return false;
  return true;
}

MessageTables TableBuilder::finish() {
  MessageTables tables;
  tables.mostElements = plan.getMostElements();
  for (const Row &row : rows)
    tables.numLoops = std::max<unsigned>(tables.numLoops, row.loops.size());
  std::vector<int64_t> &numbers = tables.numbers;
  for (const Row &row : rows) {
    numbers.push_back(row.from);
    numbers.push_back(row.to);
    SmallVector<Loop> loops(tables.numLoops - row.loops.size());
    llvm::append_range(loops, row.loops);
    for (const Loop &loop : loops) {
      numbers.push_back(loop.size);
      numbers.push_back(loop.fromStride);
      numbers.push_back(loop.toStride);
    }
  }
  SmallVector<int64_t> firstSteps; // by phase and rank
  for (const auto &ofRank : steps) {
    firstSteps.push_back(numbers.size());
    for (const auto &[step, range] : ofRank) {
      const Message &message = *step.message;
      int64_t count = message.getNumElements();
      numbers.insert(numbers.end(),
                     {step.isSend ? message.to : message.from, step.isSend,
                      count, int64_t(range.begin) * tables.getRowSize(),
                      int64_t(range.end) * tables.getRowSize()});
    }
  }
  firstSteps.push_back(numbers.size());
  tables.copies = numbers.size();
  for (const Range &range : copies)
    numbers.push_back(range.begin * tables.getRowSize());
  numbers.push_back(copies.back().end * tables.getRowSize());
  for (size_t i = 0; i + 1 < firstSteps.size(); i += plan.numDevices) {
    tables.phases.push_back(numbers.size());
    numbers.insert(numbers.end(), firstSteps.begin() + i,
                   firstSteps.begin() + i + plan.numDevices + 1);
  }
  return tables;
}

FailureOr<MessageTables> MessageTables::get(const ReshardPlan &plan,
                                            RankedTensorType from,
                                            RankedTensorType to,
                                            FailureReason refuse) {
  std::optional<BlockPlaces> source = BlockPlaces::get(from, refuse),
                             target = BlockPlaces::get(to, refuse);
  if (!source || !target)
    return failure();
  TableBuilder builder(plan, *source, *target);
  if (!builder.addMoves())
    return refuse("it needs more than " + Twine(kMostRows) +
                  " moves of elements with one stride: choose local layouts "
                  "with longer contiguous segments");
  return builder.finish();
}

void MessageTables::forEachMove(
    int64_t rank,
    llvm::function_ref<void(int64_t elements, int64_t run)> visit) const {
  auto visitRows = [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; row += getRowSize()) {
      int64_t elements = 1, size = 1;
      bool isRun = false;
      for (unsigned i = 0; i < numLoops; ++i) {
        const int64_t *loop = &numbers[row + 2 + 3 * i];
        size = loop[0];
        elements *= size;
        isRun = loop[1] == 1 && loop[2] == 1;
      }
      visit(elements, isRun ? size : 1);
    }
  };
  visitRows(numbers[copies + rank], numbers[copies + rank + 1]);
  for (int64_t phase : phases)
    for (int64_t step = numbers[phase + rank]; step < numbers[phase + rank + 1];
         step += kStepSize)
      visitRows(numbers[step + 3], numbers[step + 4]);
}
