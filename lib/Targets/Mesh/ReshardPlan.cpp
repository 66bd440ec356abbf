//===- ReshardPlan.cpp - Messages between two distributions ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/Mesh/ReshardPlan.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Factors.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Solver/LinearAssignment.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;
using namespace mlir::layout;

/// The maximal number of boxes of indices in a plan. ReshardPlan::get fails for
/// a conversion that needs more.
static constexpr int64_t kMostCells = 1 << 20;
/// The maximal number of devices of a mesh, because plans list all messages.
/// ReshardPlan::get fails for a larger mesh.
static constexpr int64_t kMostPlanned = 1024;

int64_t MessageBox::getNumElements() const { return *countIndices(sizes); }

int64_t Message::getNumElements() const {
  int64_t count = 0;
  for (const MessageBox &box : boxes)
    count += box.getNumElements();
  return count;
}

namespace {

using Devices = SmallVector<int64_t, 4>;

/// Consecutive indices of a dim with equal shares, from `begin` to the begin of
/// the next run. A share of an index is what the index adds to the number of a
/// device that holds it.
struct Run {
  int64_t begin;
  Devices shares; // sorted and unique
};

/// The devices that hold each index of a tensor. The number of such a device is
/// a sum of shares: one of the index in each dim, one of the summand if the
/// tensor has partial sums, and one of the copy.
struct Distribution {
  SmallVector<std::vector<Run>> runs; // by dim
  Devices parts;                      // shares of the parts of a sum
  Devices copies;                     // shares of copies, with the start
  int64_t numDevices = 0;

  static std::optional<Distribution> get(RankedTensorType type,
                                         FailureReason refuse);
};

/// A range of a dim along which the shares of both distributions are constant,
/// with these shares, and with its offset in the blocks of each share.
struct Segment {
  int64_t offset = 0, size = 0;
  ArrayRef<int64_t> fromShares, toShares;
  Devices fromOffsets, toOffsets; // in the blocks of these shares
};

/// A box of indices, with the devices that hold it before, by summand of a
/// partial sum, and those that need it afterwards. Devices are sorted by copy,
/// then by the shares of each dim, the last dim fastest. `segments` has per dim
/// the number of the segment in which the box is.
struct Cell {
  MessageBox box; // without offsets in blocks
  SmallVector<unsigned, 4> segments;
  SmallVector<Devices, 1> holders; // by part
  Devices targets;

  bool isHeldBy(int64_t device) const {
    return llvm::any_of(holders, [&](const Devices &devices) {
      return llvm::is_contained(devices, device);
    });
  }
};

class Planner {
public:
  Planner(RankedTensorType type, const ReshardOptions &options)
      : shape(type.getShape()), options(options) {}

  bool findCells(const Distribution &from, const Distribution &to,
                 FailureReason refuse);
  void relabel();
  void send();
  bool split(FailureReason refuse);
  void schedule();

  ReshardPlan plan;

private:
  void sendCell(const Cell &cell);
  void reduceCell(const Cell &cell, int64_t root);
  int64_t chooseSender(const Devices &holders, int64_t to) const;
  void add(unsigned phase, int64_t from, int64_t to, const Cell &cell);
  using Shares = ArrayRef<int64_t> Segment::*;
  using Offsets = Devices Segment::*;
  SmallVector<int64_t, 4> findOffsets(const Cell &cell, const Devices &devices,
                                      int64_t device, Shares shares,
                                      Offsets offsets) const;

  ArrayRef<int64_t> shape;
  const ReshardOptions &options;
  SmallVector<SmallVector<Segment>> segments; // by dim
  std::vector<Cell> cells;
  std::vector<int64_t> sent; // elements, by device
  std::map<std::tuple<unsigned, int64_t, int64_t>, Message> found;
};

} // namespace

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// Returns the sums of all pairs of one of `devices` and one of `shares`, not
/// sorted.
static Devices addShares(ArrayRef<int64_t> devices, ArrayRef<int64_t> shares) {
  Devices sums;
  for (int64_t device : devices)
    for (int64_t share : shares)
      sums.push_back(device + share);
  return sums;
}

static std::string tooManyBoxes() {
  return "it needs more than " + std::to_string(kMostCells) +
         " boxes: use larger blocks";
}

namespace {

/// Computes the numbers of devices at the points of a box of indices and
/// replicas. A share is the difference to the device at the origin.
class DeviceShares {
public:
  DeviceShares(Evaluator device, ArrayRef<int64_t> box)
      : device(std::move(device)), box(box), index(box.size(), 0) {
    start = evaluate();
  }

  /// Returns the number of the device at the origin of the box.
  int64_t getStart() const { return start; }

  /// Returns the distinct shares, sorted, that all values of the dims
  /// `replicas` give: differences of device numbers to the device at the
  /// origin. The index along `dim`, if it is given, is `i`; all other indices
  /// are 0.
  Devices find(ArrayRef<unsigned> replicas,
               std::optional<unsigned> dim = std::nullopt, int64_t i = 0);

private:
  int64_t evaluate() {
    int64_t found;
    device.evaluate(index.data(), &found);
    return found;
  }

  Evaluator device;
  ArrayRef<int64_t> box;
  SmallVector<int64_t> index;
  int64_t start;
};

} // namespace

Devices DeviceShares::find(ArrayRef<unsigned> replicas,
                           std::optional<unsigned> dim, int64_t i) {
  SmallVector<int64_t> extents;
  for (unsigned r : replicas)
    extents.push_back(box[r]);
  if (dim)
    index[*dim] = i;
  Devices shares;
  forEachIndex(extents, [&](ArrayRef<int64_t> values) {
    for (auto [r, value] : llvm::zip_equal(replicas, values))
      index[r] = value;
    shares.push_back(evaluate() - start);
    return true;
  });
  index.assign(box.size(), 0);
  llvm::sort(shares);
  shares.erase(llvm::unique(shares), shares.end());
  return shares;
}

/// Returns the replica dims that enumerate the summands of partial sums; `map`
/// numbers them after its logical dims. Empty for other tensors.
static SmallVector<unsigned, 2> getPartialReplicas(RankedTensorType type,
                                                   const LayoutMap &map) {
  SmallVector<unsigned, 2> partial;
  if (auto attr = dyn_cast<PartialAttr>(type.getEncoding()))
    for (StringAttr axis : attr.getAxes())
      partial.push_back(type.getRank() + *getReplicaAlong(map, axis));
  return partial;
}

/// Splits the indices of `dim`, from 0 to `size`, into runs with the same
/// shares: what an index adds to the number of a device that holds it.
/// `replicas` are the replica dims that select the device together with the
/// index, e.g. in a halo. Returns std::nullopt if there are more than
/// kMostCells runs.
static std::optional<std::vector<Run>> findRuns(DeviceShares &devices,
                                                unsigned dim, int64_t size,
                                                ArrayRef<unsigned> replicas) {
  std::vector<Run> runs;
  for (int64_t i = 0; i < size; ++i) {
    Devices shares = devices.find(replicas, dim, i);
    if (runs.empty() || runs.back().shares != shares)
      runs.push_back({i, std::move(shares)});
    if (int64_t(runs.size()) > kMostCells)
      return std::nullopt;
  }
  return runs;
}

std::optional<Distribution> Distribution::get(RankedTensorType type,
                                              FailureReason refuse) {
  FailureOr<LayoutMap> map = getLayoutMap(type);
  if (failed(map) || map->getSpace() != kMeshSpace ||
      map->getCoordinates().empty())
    return refuse([&](raw_ostream &os) {
      os << type << " is not on a mesh: give it a #layout.mesh";
    });
  std::optional<int64_t> numDevices = countDevices(*map, type.getShape());
  if (!numDevices || *numDevices > kMostPlanned)
    return refuse([&](raw_ostream &os) {
      os << "there are ";
      if (numDevices)
        os << *numDevices;
      else
        os << "more than " << kMostDevices;
      os << " devices: messages support at most " << kMostPlanned;
    });
  SmallVector<int64_t> box = map->getBox(type.getShape());
  constexpr int64_t longest = ReshardPlan::kLongestDim;
  if (llvm::any_of(box, [](int64_t size) { return size > longest; }))
    return refuse([&](raw_ostream &os) {
      os << type << " has a dim of more than " << longest
         << " indices: split it by tensor.expand_shape";
    });
  IndexExpr number = getDevice(*map, type.getShape());
  SmallVector<IndexExpr> axes;
  for (const Coordinate &axis : map->getCoordinates().drop_back())
    axes.push_back(axis.value);
  unsigned rank = type.getRank();
  std::vector<Factor> factors = findFactors(number, axes, box, rank);
  std::optional<Evaluator> device = Evaluator::compile(number, box, longest);
  if (!device || llvm::any_of(factors, [&](const Factor &factor) {
        return factor.getLogicalDims(rank).size() > 1;
      }))
    return refuse([&](raw_ostream &os) {
      os << "the devices of " << type
         << " are not a product of ranges of its dims: each coordinate of the "
            "mesh must be a digit of one dim";
    });
  SmallVector<unsigned, 2> partial = getPartialReplicas(type, *map);
  DeviceShares shares(std::move(*device), box);
  Distribution result;
  result.numDevices = *numDevices;
  result.runs.resize(rank);
  result.parts = {0};
  result.copies = {shares.getStart()};
  for (const Factor &factor : factors) {
    ArrayRef<unsigned> dims = factor.getLogicalDims(rank),
                       replicas = factor.getReplicas(rank);
    if (dims.empty()) {
      bool isPartial = llvm::is_contained(partial, replicas.front());
      Devices &devices = isPartial ? result.parts : result.copies;
      devices = addShares(devices, shares.find(replicas));
      continue;
    }
    std::optional<std::vector<Run>> runs =
        findRuns(shares, dims.front(), box[dims.front()], replicas);
    if (!runs)
      return refuse(tooManyBoxes());
    result.runs[dims.front()] = std::move(*runs);
  }
  return result;
}

/// Returns the ranges of dim `d` along which the shares of both distributions
/// are constant, ascending, with their offsets in the blocks of devices.
static SmallVector<Segment> getSegments(const Distribution &from,
                                        const Distribution &to, unsigned d,
                                        int64_t size) {
  SmallVector<Segment> segments;
  std::map<int64_t, int64_t> fromSizes, toSizes; // of earlier segments
  ArrayRef<Run> fromRuns = from.runs[d], toRuns = to.runs[d];
  auto getEnd = [&](ArrayRef<Run> runs) {
    return runs.size() > 1 ? runs[1].begin : size;
  };
  for (int64_t begin = 0; begin < size;) {
    int64_t end = std::min(getEnd(fromRuns), getEnd(toRuns));
    Segment segment{
        begin, end - begin, fromRuns.front().shares, toRuns.front().shares,
        {},    {}};
    for (int64_t share : segment.fromShares)
      segment.fromOffsets.push_back(
          std::exchange(fromSizes[share], fromSizes[share] + segment.size));
    for (int64_t share : segment.toShares)
      segment.toOffsets.push_back(
          std::exchange(toSizes[share], toSizes[share] + segment.size));
    segments.push_back(std::move(segment));
    for (ArrayRef<Run> *runs : {&fromRuns, &toRuns})
      if (getEnd(*runs) == end)
        *runs = runs->drop_front();
    begin = end;
  }
  return segments;
}

bool Planner::findCells(const Distribution &from, const Distribution &to,
                        FailureReason refuse) {
  SmallVector<int64_t> counts;
  for (auto [d, size] : llvm::enumerate(shape)) {
    segments.push_back(getSegments(from, to, d, size));
    counts.push_back(segments.back().size());
  }
  std::optional<int64_t> count = countIndices(counts);
  // Every copy of a box may be a message.
  if (!count || *count > kMostCells / int64_t(to.copies.size())) {
    refuse(tooManyBoxes());
    return false;
  }
  forEachIndex(counts, [&](ArrayRef<int64_t> numbers) {
    Cell cell;
    for (int64_t part : from.parts)
      cell.holders.push_back(addShares(from.copies, {part}));
    cell.targets = to.copies;
    for (auto [d, number] : llvm::enumerate(numbers)) {
      const Segment &segment = segments[d][number];
      cell.segments.push_back(number);
      cell.box.offsets.push_back(segment.offset);
      cell.box.sizes.push_back(segment.size);
      for (Devices &devices : cell.holders)
        devices = addShares(devices, segment.fromShares);
      cell.targets = addShares(cell.targets, segment.toShares);
    }
    cells.push_back(std::move(cell));
    return true;
  });
  return true;
}

void Planner::relabel() {
  // Elements of a block that its device already holds need no message.
  SmallVector<SmallVector<int64_t>> gain(
      plan.numDevices, SmallVector<int64_t>(plan.numDevices, 0));
  for (const Cell &cell : cells)
    for (int64_t target : cell.targets)
      for (const Devices &holders : cell.holders)
        for (int64_t holder : holders)
          gain[target][holder] -= cell.box.getNumElements();
  plan.relabeling = solveLinearAssignment(gain);
  for (Cell &cell : cells)
    for (int64_t &target : cell.targets)
      target = plan.relabeling[target];
}

//===----------------------------------------------------------------------===//
// Senders
//===----------------------------------------------------------------------===//

/// Returns the device of `holders` that sends the fewest elements so far. Of
/// several, the one whose number is nearest to `to`.
int64_t Planner::chooseSender(const Devices &holders, int64_t to) const {
  return *llvm::min_element(holders, [&](int64_t a, int64_t b) {
    return std::tuple(sent[a], std::abs(a - to), a) <
           std::tuple(sent[b], std::abs(b - to), b);
  });
}

/// Returns the offsets of the box of a cell in the block of `device`. The
/// device must be in `devices`, which are the holders or the targets of the
/// cell; `shares` and `offsets` select the fields of Segment of the same side.
SmallVector<int64_t, 4> Planner::findOffsets(const Cell &cell,
                                             const Devices &devices,
                                             int64_t device, Shares shares,
                                             Offsets offsets) const {
  SmallVector<int64_t, 4> found(shape.size());
  size_t number = llvm::find(devices, device) - devices.begin();
  for (size_t d = shape.size(); d-- > 0;) {
    const Segment &segment = segments[d][cell.segments[d]];
    size_t count = (segment.*shares).size();
    found[d] = (segment.*offsets)[number % count] + cell.box.offsets[d] -
               segment.offset;
    number /= count;
  }
  return found;
}

void Planner::add(unsigned phase, int64_t from, int64_t to, const Cell &cell) {
  MessageBox box = cell.box;
  auto findInTarget = [&](int64_t device) {
    return findOffsets(cell, cell.targets, device, &Segment::toShares,
                       &Segment::toOffsets);
  };
  box.toOffsets = findInTarget(to);
  if (phase == 0)
    box.fromOffsets =
        findOffsets(cell,
                    *llvm::find_if(cell.holders,
                                   [&](const Devices &devices) {
                                     return llvm::is_contained(devices, from);
                                   }),
                    from, &Segment::fromShares, &Segment::fromOffsets);
  else // the reduced values
    box.fromOffsets = findInTarget(from);
  Message &message = found[{phase, from, to}];
  message.phase = phase;
  message.from = from;
  message.to = to;
  message.boxes.push_back(box);
  if (from != to)
    sent[from] += box.getNumElements();
}

/// Plans the messages that send all summands of a partial sum to the device
/// `root` (phase 0), and the sum from there to the other targets (phase 1).
void Planner::reduceCell(const Cell &cell, int64_t root) {
  for (const Devices &holders : cell.holders)
    add(0,
        llvm::is_contained(holders, root) ? root : chooseSender(holders, root),
        root, cell);
  for (int64_t target : cell.targets)
    if (target != root)
      add(1, root, target, cell);
}

/// Returns number `n` of `count` nearly equal boxes into which a box is split
/// along its longest dim.
static MessageBox takePiece(const MessageBox &box, int64_t n, int64_t count) {
  MessageBox piece = box;
  if (box.sizes.empty())
    return piece;
  unsigned d = llvm::max_element(box.sizes) - box.sizes.begin();
  int64_t begin = box.sizes[d] * n / count;
  piece.sizes[d] = box.sizes[d] * (n + 1) / count - begin;
  for (auto *offsets : {&piece.offsets, &piece.fromOffsets, &piece.toOffsets})
    if (!offsets->empty())
      (*offsets)[d] += begin;
  return piece;
}

void Planner::sendCell(const Cell &cell) {
  if (!plan.reduction) {
    for (int64_t target : cell.targets)
      add(0,
          cell.isHeldBy(target) ? target
                                : chooseSender(cell.holders.front(), target),
          target, cell);
    return;
  }
  // Each device that holds a part and needs the sum reduces a piece of it.
  Devices roots = llvm::filter_to_vector<4>(
      cell.targets, [&](int64_t target) { return cell.isHeldBy(target); });
  if (roots.empty())
    roots = cell.targets;
  int64_t count = cell.box.sizes.empty() ? 1 : roots.size();
  for (int64_t n = 0; n < count; ++n) {
    Cell piece = cell;
    piece.box = takePiece(cell.box, n, count);
    if (piece.box.getNumElements())
      reduceCell(piece, roots[n]);
  }
}

void Planner::send() {
  sent.resize(plan.numDevices, 0);
  for (const Cell &cell : cells) {
    int64_t transfers = cell.holders.size() - 1;
    bool isHeld = false;
    for (int64_t target : cell.targets) {
      isHeld |= cell.isHeldBy(target);
      transfers += plan.reduction || !cell.isHeldBy(target);
    }
    transfers -= plan.reduction && isHeld;
    plan.bytesBound += transfers * cell.box.getNumElements();
    sendCell(cell);
  }
  plan.bytesBound *= plan.elementBytes;
}

/// Merges boxes that are adjacent along one dim and equal in all others.
static void mergeBoxes(SmallVectorImpl<MessageBox> &boxes, unsigned rank) {
  for (unsigned d = 0; d < rank; ++d) {
    // Boxes that are equal in all dims but `d` become neighbors.
    auto getKey = [&](const MessageBox &box) {
      SmallVector<int64_t> key(box.offsets.begin(), box.offsets.end());
      key.append(box.sizes.begin(), box.sizes.end());
      key[d] = key[rank + d] = 0;
      return key;
    };
    llvm::stable_sort(boxes, [&](const MessageBox &a, const MessageBox &b) {
      return std::tuple(getKey(a), a.offsets[d]) <
             std::tuple(getKey(b), b.offsets[d]);
    });
    SmallVector<MessageBox> merged;
    for (const MessageBox &box : boxes) {
      bool isNext =
          !merged.empty() && getKey(merged.back()) == getKey(box) &&
          merged.back().offsets[d] + merged.back().sizes[d] == box.offsets[d];
      if (isNext)
        merged.back().sizes[d] += box.sizes[d];
      else
        merged.push_back(box);
    }
    boxes.assign(merged.begin(), merged.end());
  }
}

/// Adds the messages to the plan, split so that a device can hold one that it
/// sends and one that it receives within the limit of the options. Returns
/// false, with a reason to `refuse`, if one element to send and one to receive
/// exceed the limit.
bool Planner::split(FailureReason refuse) {
  int64_t most = std::numeric_limits<int64_t>::max();
  if (options.maxExtraBytes) {
    most = *options.maxExtraBytes / 2 / plan.elementBytes;
    if (most < 1) {
      refuse("a device that sends and receives an element holds " +
             Twine(2 * plan.elementBytes) + " bytes, more than " +
             Twine(*options.maxExtraBytes) + ": raise the limit");
      return false;
    }
  }
  for (auto &[key, message] : found) {
    mergeBoxes(message.boxes, shape.size());
    if (message.from == message.to) {
      plan.copies.push_back(std::move(message));
      continue;
    }
    SmallVector<MessageBox> rest(llvm::reverse(message.boxes));
    message.boxes.clear();
    int64_t count = 0; // of elements in `message`
    while (!rest.empty()) {
      MessageBox box = rest.pop_back_val();
      if (box.getNumElements() > most) {
        rest.push_back(takePiece(box, 1, 2));
        rest.push_back(takePiece(box, 0, 2));
        continue;
      }
      if (count > most - box.getNumElements()) {
        plan.messages.push_back(message);
        message.boxes.clear();
        count = 0;
      }
      count += box.getNumElements();
      message.boxes.push_back(std::move(box));
    }
    plan.messages.push_back(std::move(message));
  }
  return true;
}

/// Sets the steps of the messages of one round, so that a device does not send
/// and receive in one step. Along a chain of messages from device to device,
/// steps alternate between 0 and 1; the last one of a ring of an odd number of
/// devices is 2. Chains start at a device that receives no message.
static void setSteps(MutableArrayRef<Message> round, int64_t numDevices) {
  std::vector<Message *> sends(numDevices, nullptr); // those without a step
  std::vector<bool> receives(numDevices, false);
  for (Message &message : round) {
    sends[message.from] = &message;
    receives[message.to] = true;
  }
  auto follow = [&](int64_t first) {
    Message *last = nullptr;
    int64_t device = first;
    while (Message *message = std::exchange(sends[device], nullptr)) {
      message->step = last ? 1 - last->step : 0;
      device = message->to;
      last = message;
    }
    // A ring of an odd number of devices.
    if (last && device == first && last->step == 0)
      last->step = 2;
  };
  for (const Message &message : round)
    if (!receives[message.from])
      follow(message.from);
  for (const Message &message : round)
    follow(message.from);
}

/// Sets the round of each message: the longest first, each in the first round
/// of its phase in which its sender sends no other message and its receiver
/// receives none. Then sets the steps of each round.
void Planner::schedule() {
  llvm::stable_sort(plan.messages, [](const Message &a, const Message &b) {
    return std::tuple(a.phase, -a.getNumElements()) <
           std::tuple(b.phase, -b.getNumElements());
  });
  std::vector<std::vector<int64_t>> sends, receives; // by round and device
  unsigned firstRound = 0, phase = 0;
  for (Message &message : plan.messages) {
    if (message.phase != phase) {
      phase = message.phase;
      firstRound = sends.size();
    }
    int64_t bytes = message.getNumElements() * plan.elementBytes;
    plan.bytesSent += bytes;
    unsigned round = firstRound;
    while (round < sends.size() &&
           (sends[round][message.from] || receives[round][message.to]))
      ++round;
    if (round == sends.size()) {
      sends.emplace_back(plan.numDevices, 0);
      receives.emplace_back(plan.numDevices, 0);
    }
    sends[round][message.from] = receives[round][message.to] = bytes;
    message.round = round;
  }
  plan.numRounds = sends.size();
  for (unsigned round = 0; round < sends.size(); ++round)
    for (int64_t device = 0; device < plan.numDevices; ++device)
      plan.peakExtraBytes = std::max(
          plan.peakExtraBytes, sends[round][device] + receives[round][device]);
  llvm::stable_sort(plan.messages, [](const Message &a, const Message &b) {
    return std::tuple(a.round, a.from) < std::tuple(b.round, b.from);
  });
  MutableArrayRef<Message> rest(plan.messages);
  while (!rest.empty()) {
    unsigned round = rest.front().round;
    MutableArrayRef<Message> messages = rest.take_while(
        [&](const Message &message) { return message.round == round; });
    setSteps(messages, plan.numDevices);
    rest = rest.drop_front(messages.size());
  }
}

FailureOr<ReshardPlan> ReshardPlan::get(RankedTensorType from,
                                        RankedTensorType to,
                                        const ReshardOptions &options,
                                        FailureReason refuse) {
  std::optional<int64_t> bytes = getWholeBytes(from.getElementType());
  if (!from.hasStaticShape() || !bytes)
    return refuse([&](raw_ostream &os) {
      os << from << " has dynamic sizes or elements without whole "
         << "bytes: messages need static shapes and elements of whole bytes";
    });
  std::optional<Distribution> before = Distribution::get(from, refuse);
  std::optional<Distribution> after = Distribution::get(to, refuse);
  if (!before || !after)
    return failure();
  if (before->numDevices != after->numDevices)
    return refuse("it goes from a mesh of " + Twine(before->numDevices) +
                  " devices to one of " + Twine(after->numDevices) +
                  ": state both layouts over the same devices");
  if (isa<PartialAttr>(to.getEncoding()))
    return refuse("messages cannot create partial sums (P4)");
  Planner planner(from, options);
  planner.plan.numDevices = before->numDevices;
  planner.plan.elementBytes = *bytes;
  if (auto partial = dyn_cast<PartialAttr>(from.getEncoding()))
    planner.plan.reduction = partial.getReduction();
  if (!planner.findCells(*before, *after, refuse))
    return failure();
  if (options.relabel)
    planner.relabel();
  planner.send();
  if (!planner.split(refuse))
    return failure();
  planner.schedule();
  return std::move(planner.plan);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printBoxes(const Message &message, raw_ostream &os) {
  for (const MessageBox &box : message.boxes) {
    os << " [";
    llvm::interleaveComma(llvm::zip_equal(box.offsets, box.sizes), os,
                          [&](auto range) {
                            auto [offset, size] = range;
                            os << offset << ':' << offset + size;
                          });
    os << ']';
  }
}

int64_t ReshardPlan::getMostElements() const {
  int64_t most = 0;
  for (const Message &message : messages)
    most = std::max(most, message.getNumElements());
  return most;
}

void ReshardPlan::print(raw_ostream &os) const {
  os << messages.size() << " messages in " << numRounds << " rounds on "
     << numDevices << " devices, " << bytesSent << " bytes, lower bound "
     << bytesBound << ", at most " << peakExtraBytes
     << " bytes of messages on a device\n";
  if (!relabeling.empty()) {
    os << "  numbers of the target are devices ";
    llvm::interleaveComma(relabeling, os);
    os << '\n';
  }
  for (const Message &copy : copies) {
    os << "  stays on " << copy.from << ':';
    printBoxes(copy, os);
    os << '\n';
  }
  for (const Message &message : messages) {
    os << "  round " << message.round << ": " << message.from << " -> "
       << message.to << ':';
    if (reduction && message.phase == 0)
      os << ' ' << getName(*reduction);
    printBoxes(message, os);
    os << '\n';
  }
}
