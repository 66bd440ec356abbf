//===- FusionSearch.cpp - Search of groups and their cuts -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dynamic program over the stages. Before each stage there are several states
// (labels): the cost so far and the tensors in local memory. From a state, a
// stage runs whole or a group of stages in parts. Tensors that do not fit are
// evicted, the one with the furthest next use first, and loaded again. A group
// must have a stage that does not fit.
//
//===----------------------------------------------------------------------===//

#include "Tiling/FusionGroups.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Targets/NPU/NpuLayouts.h"
#include "layout/Targets/NPU/NpuParts.h"
#include "layout/Targets/NPU/NpuTimes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::layout;

/// The maximum number of stages of a group, and of search states per stage.
static constexpr unsigned kMostStages = 160, kMostLabels = 6;
/// The maximum number of stages of a group that loads inputs in pieces.
static constexpr unsigned kMostSummed = 12;
/// 1 / kSpare of a core stays free, for gaps in and between tensors.
static constexpr int64_t kSpare = 8;
/// Moves of a group within local memory count as 1 / kInside of their bytes, as
/// most tensors are used in place. This decides between otherwise equal plans.
static constexpr int64_t kInside = 16;

namespace {
/// A tensor that a stage defines, together with its reshapes, which are views.
struct Made {
  int64_t bytes = 0, inCore = 0; // in system memory, in each core
  unsigned stage = 0;            // the number of the one that defines it
  SmallVector<unsigned> uses;    // stages that read it, ascending
  bool isReturned = false;

  unsigned getLastUse() const { return uses.empty() ? 0 : uses.back(); }
  std::optional<unsigned> getNextUse(unsigned after) const {
    auto next = llvm::upper_bound(uses, after);
    return next == uses.end() ? std::nullopt : std::optional<unsigned>(*next);
  }
};

/// The loads, the stores and the memory per core of a group that runs alone.
struct Price {
  struct Tensor {
    unsigned made;          // index in Search::tensors
    int64_t bytes;          // moved by all parts together
    int64_t stored = 0;     // bytes of a result to store if results do not stay
    bool isForKept = false; // read only if results stay in local memory
  };
  unsigned first = 0, last = 0;
  Cut cut;
  int64_t peak = 0; // bytes of a core in the part that needs most
  // Loaded constants and arguments: bytes shared by all parts, and per part.
  int64_t sharedBytes = 0, sharedInCore = 0, largestShared = 0;
  int64_t ownBytes = 0;
  int64_t keptBytes = 0; // read only if results stay in local memory
  SmallVector<Tensor, 2> shared, sliced, results;
  int64_t loads = 0; // of constants and arguments
  Cost repeated = 0; // of what several parts compute
  bool fits = true;
  bool isWide = false; // loads constants as f32 that smaller parts load as i8
};

/// A state of the search before a stage: the cost and the tensors in memory.
struct Label {
  Cost cost = 0;
  int64_t bytes = 0;
  SmallVector<unsigned> resident; // tensors in local memory, sorted
  SmallVector<unsigned> stored;   // tensors in system memory, sorted
  // The first stage of the group that led here, and the label before it.
  unsigned before = 0, index = 0;
  Cut cut;
  bool keepsResults = true;
  bool isCrowded = false; // tensors were evicted or did not fit
};

/// Transfers of one direction, and their bytes.
struct Traffic {
  int64_t bytes = 0, transfers = 0;

  void add(int64_t moreBytes, int64_t moreTransfers = 1) {
    bytes += moreBytes;
    transfers += moreTransfers;
  }
};

/// The tensors in memory while a group runs, and its traffic.
struct Occupancy {
  SmallVector<unsigned> resident, stored;
  SmallVector<unsigned> held;    // tensors that must not be evicted
  int64_t taken = 0;             // used bytes of a core
  Traffic loads, stores, inside; // from, to and within local memory
  bool isCrowded = false;
};

class Search {
public:
  Search(const Stages &stages, CostModel &costs, NpuTargetAttr target,
         NarrowConstants &narrow)
      : stages(stages), costs(costs), times(target), narrow(narrow),
        chip(target.getChip()), room(chip.getParams().bytesPerNpu -
                                     chip.getParams().bytesPerNpu / kSpare) {}

  Plan run();

private:
  void collectTensors();
  void collectEnds();
  int64_t getInCore(RankedTensorType type, bool hasAnyChannel);
  int64_t getInCore(Value tensor, ArrayRef<int64_t> sizes);
  bool crossesAsBytes(Value tensor, ArrayRef<int64_t> sizes);
  llvm::SmallDenseMap<unsigned, unsigned> findWholes(unsigned first,
                                                     unsigned last);
  int64_t getPeak(const GroupParts &group, int64_t part);
  Price getPrice(const GroupParts &group, Cost repeated);
  Price getWholePrice(unsigned stage);
  void addRead(Price &price, Value tensor, int64_t bytes, int64_t inCore,
               bool isShared);
  void addResults(Price &price, const GroupParts *group);
  void hold(Occupancy &now, const Price &price, bool keepsResults);
  void evict(Occupancy &now, const Price &price,
             function_ref<bool(unsigned)> mayGo);
  bool load(Occupancy &now, const Price &price, bool keepsResults);
  Label extend(const Label &label, const Price &price, bool keepsResults);
  void reach(unsigned first, const Price &price);
  void add(unsigned stage, Label label);
  void reachByGroups(unsigned last);
  bool findCrowded(int64_t &bytes);
  bool isHeavy(unsigned stage) const;

  const Stages &stages;
  CostModel &costs;
  NpuTimes times;
  NarrowConstants &narrow;
  NpuTargetInterface chip;
  int64_t room;
  std::vector<Made> tensors;
  DenseMap<Value, unsigned> numbers;
  DenseMap<std::pair<Type, unsigned>, int64_t> inCore;
  DenseMap<Type, bool> crossing; // results of crossesAsBytes
  std::vector<Price> whole;      // of each stage alone, in one part
  std::vector<bool> isCrowded;
  llvm::BitVector isEnd; // stages before which groups may begin or end
  std::vector<std::vector<Label>> labels; // before each stage
};
} // namespace

/// Returns the bytes of a box, at most 2^48, so that sums do not overflow.
static int64_t getBytes(Type element, ArrayRef<int64_t> sizes) {
  Cost bytes = getElementBytes(element);
  for (int64_t size : sizes)
    bytes = scaleCost(bytes, size);
  return std::min<Cost>(bytes, int64_t(1) << 48);
}

static RankedTensorType getTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isIntOrFloat()
             ? type
             : RankedTensorType();
}

void Search::collectTensors() {
  for (auto [s, stage] : llvm::enumerate(stages.all)) {
    Operation *op = stage.op;
    for (Value operand : op->getOperands())
      if (auto known = numbers.find(operand); known != numbers.end()) {
        SmallVector<unsigned> &uses = tensors[known->second].uses;
        if (uses.empty() || uses.back() != s)
          uses.push_back(s);
      }
    for (Value result : op->getResults()) {
      RankedTensorType type = getTensor(result);
      if (!type)
        continue;
      if (getReshapedDims(op)) {
        if (auto known = numbers.find(op->getOperand(0));
            known != numbers.end())
          numbers[result] = known->second;
      } else {
        numbers[result] = tensors.size();
        tensors.emplace_back();
        tensors.back().bytes = getBytes(type.getElementType(), type.getShape());
        tensors.back().inCore = getInCore(type, /*hasAnyChannel=*/false);
        tensors.back().stage = s;
      }
      if (auto known = numbers.find(result); known != numbers.end())
        tensors[known->second].isReturned |= stages.isReturned(result);
    }
  }
}

/// Sets `isEnd`: a group may begin or end before each op, except an elementwise
/// op after which no more bytes are live than before it.
void Search::collectEnds() {
  unsigned count = stages.all.size();
  SmallVector<int64_t> crossing(count + 1, 0);
  for (auto [s, stage] : llvm::enumerate(stages.all))
    for (Value result : stage.op->getResults())
      if (auto made = numbers.find(result); made != numbers.end())
        for (unsigned t = s + 1; t <= stages.getLastUse(result); ++t)
          crossing[t] += tensors[made->second].bytes;
  isEnd.resize(count + 1, true);
  for (unsigned s = 1; s < count; ++s)
    if (auto linalg = dyn_cast<linalg::LinalgOp>(stages.all[s].op);
        linalg && linalg::isElementwise(linalg) &&
        crossing[s + 1] <= crossing[s])
      isEnd.reset(s);
}

/// Returns the bytes of a core for a tensor in its most compact layout, with
/// any dim as channel if `hasAnyChannel`, else dim 1 of four or the last one.
int64_t Search::getInCore(RankedTensorType type, bool hasAnyChannel) {
  auto [known, isNew] = inCore.try_emplace({type, hasAnyChannel}, 0);
  if (!isNew)
    return known->second;
  unsigned rank = type.getRank();
  int64_t least = getBytes(type.getElementType(), type.getShape());
  auto consider = [&](NpuScatterAttr layout) {
    if (layout)
      least = std::min(least, getNpuBytes(layout, type));
  };
  for (unsigned channel = 0; channel < rank; ++channel) {
    unsigned usual = rank == 4 ? 1 : rank - 1;
    if (!hasAnyChannel && channel != usual)
      continue;
    for (NpuMode mode : {NpuMode::Aligned, NpuMode::Compact, NpuMode::Matrix})
      for (bool isPacked : {false, true})
        if (mode == NpuMode::Aligned || !isPacked)
          consider(getNpuLayout(type, {mode, /*start=*/0, isPacked},
                                getNpuAxes(rank, channel, mode), chip));
  }
  return inCore[{type, hasAnyChannel}] = least;
}

int64_t Search::getInCore(Value tensor, ArrayRef<int64_t> sizes) {
  RankedTensorType type = getTensor(tensor);
  return type
             ? getInCore(RankedTensorType::get(sizes, type.getElementType()),
                         !numbers.contains(tensor) && !liesUnderWindows(tensor))
             : 0;
}

/// Returns true if a box of `sizes` of a constant is loaded as i8. If it has
/// two dims, cores must be able to convert it to f32 in the matrix layout.
bool Search::crossesAsBytes(Value tensor, ArrayRef<int64_t> sizes) {
  if (!narrow.canBeNarrow(tensor))
    return false;
  auto type = RankedTensorType::get(sizes, getElementTypeOrSelf(tensor));
  auto [known, isNew] = crossing.try_emplace(type, true);
  if (isNew && sizes.size() == 2) {
    NpuMode mode = NpuMode::Matrix;
    NpuScatterAttr layout =
        getNpuLayout(type, {mode, /*start=*/0, /*isPacked=*/false},
                     getNpuAxes(/*rank=*/2, /*channel=*/1, mode), chip);
    known->second = layout && isDequantizedInPlace(layout, type, chip);
  }
  return known->second;
}

/// Adds a load to `price`: one for all parts if `isShared`, or else one each.
void Search::addRead(Price &price, Value tensor, int64_t bytes, int64_t inCore,
                     bool isShared) {
  auto made = numbers.find(tensor);
  if (made != numbers.end()) {
    (isShared ? price.shared : price.sliced).push_back({made->second, bytes});
    return;
  }
  if (isShared) {
    price.sharedBytes += bytes;
    price.sharedInCore += inCore;
    price.largestShared = std::max(price.largestShared, inCore);
  } else {
    price.ownBytes += bytes;
  }
  price.loads += isShared ? 1 : price.cut.count();
}

void Search::addResults(Price &price, const GroupParts *group) {
  for (unsigned s = price.first; s <= price.last; ++s)
    for (Value result : stages.all[s].op->getResults()) {
      auto made = numbers.find(result);
      if (made == numbers.end() || (group && !group->isResult(result)))
        continue;
      // Reshapes of one tensor count once. The group must define that tensor.
      if (llvm::any_of(price.results, [&](const Price::Tensor &other) {
            return other.made == made->second;
          }))
        continue;
      price.fits &= tensors[made->second].stage >= price.first;
      int64_t bytes = tensors[made->second].bytes;
      if (group)
        bytes = getBytes(getElementTypeOrSelf(result),
                         stages.getUsedBehind(result, price.last).sizes);
      int64_t stored = bytes;
      if (group && group->isBehind(s))
        for (Value part : stages.all[s].op->getOperands()) {
          std::optional<unsigned> maker = stages.findMaker(part);
          if (!maker || *maker < price.first || group->isBehind(*maker))
            stored -=
                getBytes(getElementTypeOrSelf(part),
                         cast<RankedTensorType>(part.getType()).getShape());
        }
      price.results.push_back({made->second, bytes, stored});
    }
}

Price Search::getWholePrice(unsigned stage) {
  Price price;
  price.first = price.last = stage;
  Operation *op = stages.all[stage].op;
  if (getReshapedDims(op))
    return price;
  llvm::SmallSetVector<Value, 4> read(op->operand_begin(), op->operand_end());
  for (Value tensor : read) {
    RankedTensorType type = getTensor(tensor);
    if (type && !isFresh(tensor))
      addRead(
          price, tensor,
          NarrowConstants::getBytes(type, type.getNumElements(),
                                    crossesAsBytes(tensor, type.getShape())),
          getInCore(tensor, type.getShape()), /*isShared=*/true);
  }
  addResults(price, nullptr);
  if (!findOverwritten(op))
    for (const Price::Tensor &result : price.results)
      price.peak += tensors[result.made].inCore;
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  price.fits =
      !linalg || !isForCores(linalg) || !getNpuSeeds(op, costs, chip).empty();
  return price;
}

/// Maps tensors computed in their slice of a tensor.concat result to the
/// outermost such result in stages `first` to `last` (included), by numbers.
llvm::SmallDenseMap<unsigned, unsigned> Search::findWholes(unsigned first,
                                                           unsigned last) {
  llvm::SmallDenseMap<unsigned, unsigned> wholeOf;
  for (unsigned s = last + 1; s-- > first;) {
    auto concat = dyn_cast<tensor::ConcatOp>(stages.all[s].op);
    if (!concat)
      continue;
    for (OpOperand &part : concat->getOpOperands()) {
      auto made = numbers.find(part.get());
      if (made == numbers.end() || !mayBeMadeInPlace(part) ||
          tensors[made->second].getLastUse() != s)
        continue;
      unsigned whole = numbers.lookup(concat.getResult());
      auto outer = wholeOf.find(whole);
      wholeOf[made->second] = outer == wholeOf.end() ? whole : outer->second;
    }
  }
  return wholeOf;
}

/// Returns a part's peak bytes of a core, without outside tensors read whole.
int64_t Search::getPeak(const GroupParts &group, int64_t part) {
  unsigned first = group.getFirst(), last = group.getLast();
  llvm::SmallDenseMap<unsigned, unsigned> wholeOf = findWholes(first, last);
  // Tensors are live from definition to last use; views need no memory.
  SmallVector<int64_t> live(last - first + 1, 0);
  auto add = [&](unsigned from, unsigned to, int64_t bytes) {
    for (unsigned s = from; s <= std::min(to, last); ++s)
      live[s - first] += bytes;
  };
  for (unsigned s = first; s <= last; ++s) {
    Operation *op = stages.all[s].op;
    for (Value result : op->getResults()) {
      auto made = numbers.find(result);
      if (made == numbers.end() || getReshapedDims(op) ||
          wholeOf.contains(made->second))
        continue;
      unsigned from = s;
      for (auto [inner, whole] : wholeOf)
        if (whole == made->second)
          from = std::min(from, std::max(first, tensors[inner].stage));
      int64_t bytes = getInCore(result, group.getBox(result, part).sizes);
      add(from, std::max(s, tensors[made->second].getLastUse()), bytes);
      // The result overwrites an operand of the group: one memory for both.
      if (OpOperand *operand = findOverwritten(op);
          operand && *stages.findMaker(operand->get()) >= first)
        live[s - first] -= bytes;
    }
    llvm::SmallSetVector<Value, 4> counted;
    for (auto &[operand, box] : group.getReadsOf(s, part).boxes) {
      Value tensor = operand->get();
      if (group.isStreamed(tensor)) {
        SmallVector<int64_t> sizes(ArrayRef<int64_t>(box.sizes));
        int64_t &size = sizes[*stages.all[s].findSummedDim(*operand)];
        size = llvm::divideCeil(size, group.countPieces(s));
        add(s, s, getInCore(tensor, sizes));
        continue;
      }
      auto made = numbers.find(tensor);
      bool isOutside =
          !isFresh(tensor) &&
          (made == numbers.end() ? !stages.findMaker(tensor)
                                 : tensors[made->second].stage < first &&
                                       !wholeOf.contains(made->second));
      if (!isOutside || !counted.insert(tensor) ||
          group.getBox(tensor, 0) == TensorBox::getWhole(getTensor(tensor)))
        continue;
      // A reshape of a tensor from outside is live as long as that tensor.
      unsigned end = getReshapedDims(op) && made != numbers.end()
                         ? tensors[made->second].getLastUse()
                         : s;
      add(s, end, getInCore(tensor, box.sizes));
    }
  }
  return *llvm::max_element(live);
}

/// Returns the price of a group. Several parts compute the same for `repeated`.
Price Search::getPrice(const GroupParts &group, Cost repeated) {
  Price price;
  price.first = group.getFirst();
  price.last = group.getLast();
  price.cut = group.getCut();
  price.repeated = repeated;
  int64_t parts = price.cut.count();
  llvm::SmallMapVector<Value, int64_t, 8> read;         // number of readers
  DenseMap<Value, std::pair<unsigned, int64_t>> pieces; // dim, number of pieces
  for (unsigned s = price.first; s <= price.last; ++s) {
    for (auto &[operand, box] : group.getReadsOf(s, 0).boxes) {
      Value tensor = operand->get();
      if (!getTensor(tensor) || isFresh(tensor) || group.isMadeHere(tensor))
        continue;
      read[tensor] += !group.isBehind(s);
      if (group.isStreamed(tensor))
        pieces[tensor] = {*stages.all[s].findSummedDim(*operand),
                          group.countPieces(s)};
    }
  }
  for (auto [tensor, readers] : read) {
    RankedTensorType type = getTensor(tensor);
    int64_t elements = 0;
    bool isShared = !group.isStreamed(tensor);
    bool isNarrow = narrow.canBeNarrow(tensor);
    for (int64_t part = 0; part < parts; ++part) {
      const TensorBox &box = group.getBox(tensor, part);
      isShared &= box == TensorBox::getWhole(type);
      elements += ShapedType::getNumElements(box.sizes);
      SmallVector<int64_t> sizes(ArrayRef<int64_t>(box.sizes));
      if (auto cut = pieces.find(tensor); cut != pieces.end())
        sizes[cut->second.first] =
            llvm::divideCeil(sizes[cut->second.first], cut->second.second);
      isNarrow = isNarrow && crossesAsBytes(tensor, sizes);
    }
    price.isWide |= narrow.canBeNarrow(tensor) && !isNarrow;
    int64_t bytes = NarrowConstants::getBytes(
        type, isShared ? type.getNumElements() : elements, isNarrow);
    if (readers == 0) {
      if (auto made = numbers.find(tensor); made != numbers.end())
        price.sliced.push_back({made->second, bytes, 0, /*isForKept=*/true});
      else
        price.keptBytes += bytes;
      continue;
    }
    // Each stage that sums over a tensor loads all its pieces.
    if (group.isStreamed(tensor)) {
      bytes *= readers;
      price.loads += (price.cut.sums * readers - 1) * parts;
    }
    addRead(price, tensor, bytes, getInCore(tensor, type.getShape()), isShared);
  }
  addResults(price, &group);
  // Parts at the borders lack halos; all others are alike.
  for (int64_t part : {int64_t(0), parts / 2, parts - 1})
    price.peak = std::max(price.peak, getPeak(group, part));
  return price;
}

/// Adds to `now` what all parts hold: shared operands and, with `keepsResults`,
/// results. Other and returned results are stored. Counts the loads and stores.
void Search::hold(Occupancy &now, const Price &price, bool keepsResults) {
  int64_t parts = price.cut.count();
  for (const Price::Tensor &read : price.shared) {
    now.held.push_back(read.made);
    if (llvm::is_contained(now.resident, read.made))
      continue;
    now.loads.add(read.bytes);
    now.resident.push_back(read.made);
  }
  for (const Price::Tensor &result : price.results) {
    const Made &made = tensors[result.made];
    bool isNeeded = made.getLastUse() > price.last;
    if (made.isReturned || (isNeeded && !keepsResults)) {
      now.stores.add(result.stored, parts);
      now.stored.push_back(result.made);
    }
    if (!isNeeded || !keepsResults)
      continue;
    now.held.push_back(result.made);
    now.resident.push_back(result.made);
    if (parts == 1) // the peak contains the result
      now.taken -= made.inCore;
    else
      now.inside.add(result.bytes, 0);
  }
  for (unsigned made : now.resident)
    now.taken += tensors[made].inCore;
}

/// Evicts tensors for which `mayGo` holds, furthest next use first, until the
/// group fits a core or none is left. Stores those that are not stored yet.
void Search::evict(Occupancy &now, const Price &price,
                   function_ref<bool(unsigned)> mayGo) {
  while (now.taken + price.sharedInCore > room) {
    std::optional<unsigned> victim;
    unsigned furthest = 0;
    for (unsigned made : now.resident) {
      unsigned nextUse = tensors[made].getNextUse(price.last).value_or(~0u);
      if (mayGo(made) && (!victim || nextUse > furthest)) {
        victim = made;
        furthest = nextUse;
      }
    }
    if (!victim)
      return;
    now.isCrowded = true;
    now.taken -= tensors[*victim].inCore;
    llvm::erase(now.resident, *victim);
    if (!llvm::is_contained(now.stored, *victim)) {
      now.stores.add(tensors[*victim].bytes);
      now.stored.push_back(*victim);
    }
  }
}

/// Counts a group's loads. Returns true if they fit, also if only part by part.
bool Search::load(Occupancy &now, const Price &price, bool keepsResults) {
  int64_t parts = price.cut.count();
  for (const Price::Tensor &read : price.sliced) {
    bool isInside = llvm::is_contained(now.resident, read.made);
    if (read.isForKept && !keepsResults) {
      if (!llvm::is_contained(now.stored, read.made)) {
        now.stores.add(tensors[read.made].bytes);
        now.stored.push_back(read.made);
      }
      continue;
    }
    (isInside ? now.inside : now.loads).add(read.bytes, parts);
  }
  now.loads.bytes += price.sharedBytes + (keepsResults ? price.keptBytes : 0);
  int64_t tooMany = now.taken + price.sharedInCore - room;
  if (price.fits && tooMany <= 0)
    return true;
  // Shared operands that do not fit together are loaded again for each part.
  if (parts > 1 && price.sharedInCore &&
      now.taken + price.largestShared <= room) {
    now.loads.add((parts - 1) * price.sharedBytes *
                      std::min<int64_t>(tooMany, price.sharedInCore) /
                      price.sharedInCore,
                  parts);
    return true;
  }
  // An op that must be split alone counts as 4 more moves of its tensors.
  now.isCrowded = true;
  for (const Price::Tensor &result : price.results)
    now.loads.bytes += 4 * result.bytes;
  for (const Price::Tensor &read : price.shared)
    now.loads.bytes += 4 * read.bytes;
  return false;
}

/// Returns the state after a group that runs in state `label`, with evictions.
/// If it does not fit, a cut group costs infinity, a stage alone 4 more moves.
Label Search::extend(const Label &label, const Price &price,
                     bool keepsResults) {
  Occupancy now;
  now.resident = label.resident;
  now.stored = label.stored;
  now.taken = price.peak;
  now.loads = {price.ownBytes, price.loads};
  hold(now, price, keepsResults);
  auto isHeld = [&](unsigned made) {
    return llvm::is_contained(now.held, made);
  };
  evict(now, price, [&](unsigned made) {
    return !isHeld(made) &&
           llvm::none_of(price.sliced, [&](const Price::Tensor &read) {
             return read.made == made;
           });
  });
  evict(now, price, [&](unsigned made) { return !isHeld(made); });
  bool fits = load(now, price, keepsResults);
  Label next;
  next.isCrowded = now.isCrowded;
  next.cost = !fits && !price.cut.isWhole() ? kInfiniteCost : label.cost;
  next.bytes = label.bytes + now.loads.bytes + now.stores.bytes;
  auto spend = [&](Direction direction, const Traffic &traffic, int64_t bytes) {
    next.cost = addCosts(
        next.cost, times.getTransfers(direction, traffic.transfers, bytes));
  };
  spend(Direction::S2L, now.loads, now.loads.bytes);
  spend(Direction::L2S, now.stores, now.stores.bytes);
  spend(Direction::L2L, now.inside, now.inside.bytes / kInside);
  next.cost = addCosts(next.cost, price.repeated);
  auto isGone = [&](unsigned made) {
    return tensors[made].getLastUse() <= price.last;
  };
  llvm::erase_if(now.resident, isGone);
  llvm::erase_if(now.stored, isGone);
  llvm::sort(now.resident);
  llvm::sort(now.stored);
  next.resident = std::move(now.resident);
  next.stored = std::move(now.stored);
  next.before = price.first;
  next.cut = price.cut;
  next.keepsResults = keepsResults;
  return next;
}

/// Adds a state; keeps the best per set of local tensors, of these the 6 best.
void Search::add(unsigned stage, Label label) {
  std::vector<Label> &all = labels[stage];
  for (Label &other : all)
    if (other.resident == label.resident) {
      if (label.cost < other.cost)
        other = std::move(label);
      return;
    }
  all.push_back(std::move(label));
  if (all.size() <= kMostLabels)
    return;
  all.erase(llvm::max_element(
      all, [](const Label &a, const Label &b) { return a.cost < b.cost; }));
}

void Search::reach(unsigned first, const Price &price) {
  for (auto [i, label] : llvm::enumerate(labels[first]))
    for (bool keeps : {true, false}) {
      if (!keeps && price.cut.count() == 1)
        continue;
      Label next = extend(label, price, keeps);
      next.index = i;
      if (next.cost < kInfiniteCost)
        add(price.last + 1, std::move(next));
    }
}

/// Returns true if a stage can load inputs in pieces and exceeds `room` / 2.
bool Search::isHeavy(unsigned stage) const {
  const Price &price = whole[stage];
  int64_t bytes = price.peak + price.sharedInCore;
  for (const Price::Tensor &read : price.shared)
    bytes += tensors[read.made].inCore;
  return stages.all[stage].summed && bytes > room / 2;
}

/// Adds states for the groups that end with stage `last`: for each first stage,
/// cuts into ever more parts, up to the first that leaves half of a core free.
void Search::reachByGroups(unsigned last) {
  RankedTensorType type = getTensor(stages.all[last].op->getResult(0));
  if (!isEnd[last + 1] || !type || !stages.all[last].hasParts)
    return;
  unsigned least = last + 1 >= kMostStages ? last + 1 - kMostStages : 0;
  if (std::find(isCrowded.begin() + least, isCrowded.begin() + last + 1,
                true) == isCrowded.begin() + last + 1)
    return;
  unsigned leastSummed = last >= kMostSummed ? last - kMostSummed + 1 : 0;
  bool isAnyHeavy = llvm::any_of(llvm::seq(leastSummed, last + 1),
                                 [&](unsigned s) { return isHeavy(s); });
  for (ArrayRef<Cut> cuts :
       getCuts(type, getRowStep(stages, last), isAnyHeavy)) {
    Cost leastCost = kInfiniteCost;
    for (const Label &label : labels[last + 1])
      leastCost = std::min(leastCost, label.cost);
    unsigned easy = last + 1; // groups that begin here or later fit well
    for (const Cut &cut : cuts) {
      GroupParts group(stages, last, cut);
      bool holdsCrowded = false, isEasy = true;
      Cost repeated = 0;
      while (group.getFirst() > least && group.addStage()) {
        unsigned first = group.getFirst();
        if (auto op = dyn_cast<linalg::LinalgOp>(stages.all[first].op))
          repeated = addCosts(
              repeated, times.getLoopTime(op, group.countRepeated(first)));
        if (cut.sums > 1 && first < leastSummed)
          break;
        holdsCrowded |= isCrowded[first];
        if (!holdsCrowded || !isEnd[first] || first >= easy)
          continue;
        Price price = getPrice(group, repeated);
        if (price.peak > room || repeated > leastCost)
          break;
        if (price.fits)
          reach(first, price);
        isEasy &= price.peak + price.sharedInCore <= room / 2 && !price.isWide;
        if (isEasy)
          easy = first;
      }
      if (easy == least)
        break;
    }
  }
}

/// Estimates an untiled run. Appends to `isCrowded` whether each stage evicts
/// or does not fit, and sets `bytes` to the traffic. Returns true if any does.
bool Search::findCrowded(int64_t &bytes) {
  Label label;
  bool isAny = false;
  for (unsigned s = 0, e = stages.all.size(); s < e; ++s) {
    label = extend(label, whole[s], /*keepsResults=*/true);
    isCrowded.push_back(label.isCrowded);
    isAny |= label.isCrowded;
  }
  bytes = label.bytes;
  return isAny;
}

Plan Search::run() {
  collectTensors();
  collectEnds();
  for (unsigned s = 0, e = stages.all.size(); s < e; ++s)
    whole.push_back(getWholePrice(s));
  Plan plan;
  if (!findCrowded(plan.bytes))
    return plan;
  labels.resize(stages.all.size() + 1);
  labels[0].emplace_back();
  for (unsigned s = 0, e = stages.all.size(); s < e; ++s) {
    reach(s, whole[s]);
    reachByGroups(s);
  }
  const Label *end =
      &*llvm::min_element(labels.back(), [](const Label &a, const Label &b) {
        return a.cost < b.cost;
      });
  plan.bytes = end->bytes;
  for (unsigned s = stages.all.size(); s;) {
    if (!end->cut.isWhole())
      plan.groups.push_back({end->before, s - 1, end->cut, end->keepsResults});
    s = end->before;
    end = &labels[s][end->index];
  }
  std::reverse(plan.groups.begin(), plan.groups.end());
  return plan;
}

Plan layout::findFusionGroups(const Stages &stages, CostModel &costs,
                              NpuTargetAttr target, NarrowConstants &narrow) {
  return Search(stages, costs, target, narrow).run();
}
