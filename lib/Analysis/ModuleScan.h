//===- ModuleScan.h - What has changed of a module --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Knows the ops of a module, and of each of them that has one block the ops in
// it, by address and by a hash of all that they consist of. What has changed is
// found by a look at every op, or is what a listener was told.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_MODULESCAN_H
#define LAYOUT_LIB_ANALYSIS_MODULESCAN_H

#include "ProgramReader.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir {
namespace layout {

/// What was seen of an op of the module, and what has changed since.
class OpScan {
public:
  /// Looks at every op in `op`.
  void update(Operation *op);
  /// Looks at what was announced, and at nothing where that was nothing.
  void updateAnnounced(Operation *op);

  bool isChanged() const { return changed; }

  /// Where nothing but rows has changed, and none of them names symbols:
  /// instead of `numBefore` rows from `begin` on there are these.
  struct LocalChange {
    size_t begin, numBefore;
    std::vector<ProgramReader::NewRow> rows;
  };
  const std::optional<LocalChange> &getLocalChange() const { return local; }

  /// What the ops name, by op.
  const llvm::DenseMap<Operation *, SmallVector<StringAttr, 1>> &
  getSymbols() const {
    return symbols;
  }

  /// Takes a row as it is now.
  void refresh(size_t row);

  // Announcements. A row is an op of the one block.
  void announce() { isAnnounced = true; }
  void announceRow(Operation *row) { announced.insert(row); }
  void announceNew(Operation *row) {
    announced.insert(row);
    inserted.insert(row);
  }
  void announceErased(Operation *row) {
    announced.insert(row);
    inserted.erase(row);
  }

private:
  /// 128 bits of a hash of what an op consists of.
  using Fingerprint = std::pair<uint64_t, uint64_t>;
  class FingerprintWriter;
  struct Row {
    Operation *op;
    Fingerprint fingerprint;
  };

  bool skipChanged(Block::iterator &at, size_t &row) const;
  void replace(size_t first, size_t end, Block::iterator from,
               Block::iterator to);
  bool readSymbols(Operation *op, bool withBody);
  void forgetAnnouncements();
  bool knows(Operation *op) const;

  /// The op itself, which is with its body where that is not one block.
  Fingerprint own;
  /// Of one block, the ops.
  Block *body = nullptr;
  std::vector<Row> rows;
  llvm::DenseMap<Operation *, SmallVector<StringAttr, 1>> symbols;

  bool changed = false;
  std::optional<LocalChange> local;

  /// That the op itself has changed, or what is not known; rows that have
  /// changed, have gone or are new; and of these those that are in the block.
  bool isAnnounced = false;
  llvm::SmallPtrSet<Operation *, 8> announced, inserted;
};

/// Of the ops of a module. As a listener it has to be told of what changes
/// before it is asked for what was announced.
class ModuleScan : public RewriterBase::Listener {
public:
  /// Looks at each op of the module, or at what was announced.
  void update(ModuleOp module, bool isAnnounced);

  OpScan &operator[](Operation *op) { return *scans.find(op)->second; }

  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override;
  void notifyBlockInserted(Block *block, Region *previous,
                           Region::iterator previousIt) override;
  void notifyBlockErased(Block *block) override;
  void notifyOperationModified(Operation *op) override;
  void notifyOperationErased(Operation *op) override;

private:
  /// Of the op of the module that has `op`, or is it, and the one in its body;
  /// null where that is the op itself. Nothing where none is known.
  struct Place {
    OpScan *scan;
    Operation *row;
  };
  std::optional<Place> find(Operation *op);
  void announce(Operation *op);

  llvm::DenseMap<Operation *, std::unique_ptr<OpScan>> scans;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_ANALYSIS_MODULESCAN_H
