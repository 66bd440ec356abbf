//===- ModuleScan.h - Changes of a module -----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stores the address and a hash of the contents of each op of a module, and of
// each op in its body if that is one block. Changes are found by comparing
// every op, or are announced to a listener.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_MODULESCAN_H
#define LAYOUT_LIB_ANALYSIS_MODULESCAN_H

#include "ProgramReader.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {

/// The stored state of one op of the module, and its changes.
class OpScan {
public:
  /// Compares every op in `op`.
  void update(Operation *op);
  /// Compares only the announced ops.
  void updateAnnounced(Operation *op);

  bool isChanged() const { return changed; }

  /// A change of rows that name no symbols, in an op that is otherwise
  /// unchanged: `rows` replace `numBefore` rows starting at `begin`.
  struct LocalChange {
    size_t begin, numBefore;
    std::vector<ProgramReader::NewRow> rows;
  };
  const std::optional<LocalChange> &getLocalChange() const { return local; }

  /// Returns the symbols that ops refer to, by op.
  const llvm::DenseMap<Operation *, SmallVector<StringAttr, 1>> &
  getSymbols() const {
    return symbols;
  }

  /// Updates the hash of a row.
  void refresh(size_t row);

  // Announcements. A row is an op of the body block.
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
  /// A 128-bit hash of the contents of an op.
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

  /// The hash of the op. It includes the body if that is not one block.
  Fingerprint own;
  /// The body and its ops, null unless it is one block.
  Block *body = nullptr;
  std::vector<Row> rows;
  llvm::DenseMap<Operation *, SmallVector<StringAttr, 1>> symbols;

  bool changed = false;
  std::optional<LocalChange> local;

  /// True if the op itself changed, or if the change is unknown. `announced`
  /// holds changed, erased and new rows, `inserted` the new ones in the block.
  bool isAnnounced = false;
  llvm::SmallPtrSet<Operation *, 8> announced, inserted;
};

/// Scans the ops of a module. As a listener, it must receive all changes before
/// an update from announcements.
class ModuleScan : public RewriterBase::Listener {
public:
  /// Compares each op of the module, or only the announced ones.
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
  /// The op of the module that is or contains an op, and its row with the op,
  /// null unless the op is inside of it.
  struct Place {
    OpScan *scan;
    Operation *row;
  };
  std::optional<Place> find(Operation *op);
  void announce(Operation *op);

  llvm::DenseMap<Operation *, std::unique_ptr<OpScan>> scans;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_ANALYSIS_MODULESCAN_H
