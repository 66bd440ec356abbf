//===- BucketElimination.h - Bucket elimination -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bucket elimination. The bucket of a variable contains the remaining factors
// over it at its elimination. Minimizing their sum over the variable gives a
// message, a factor over the remaining variables.
//
// A bucket with the same tables in the same places as an earlier one reuses its
// message, so that repeated layers are computed once.
//
// Laws: the constants of all buckets sum to the least cost, unless it exceeds
// the range of Cost; `substituteBack` gives an assignment with this cost.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_ELIMINATION_BUCKETELIMINATION_H
#define LAYOUT_LIB_SOLVER_ELIMINATION_BUCKETELIMINATION_H

#include "CoreGraph.h"
#include "Elimination/TableAlgebra.h"
#include "Elimination/TableSum.h"

namespace mlir::layout {

struct Bucket {
  unsigned variable;
  llvm::ArrayRef<unsigned> factors; // eliminated here
  WideCost constant;
};

class BucketElimination {
public:
  /// Creates an elimination of all variables of `core` in the given order,
  /// which appends messages to `core` as factors. No message may have 2^32
  /// entries or more. After more than `maxTotalSize` computed entries, `run`
  /// ends with TooLarge.
  BucketElimination(CoreGraph &core, llvm::ArrayRef<unsigned> order,
                    TableAlgebra &algebra, int64_t maxTotalSize);

  enum class Result {
    Done,
    NothingAllowed,
    TooLarge, // more than `maxTotalSize` entries were computed
  };
  Result run();

  /// Returns the work so far: the sum, over all messages that were computed, of
  /// their numbers of entries times the number of factors in the bucket.
  int64_t getWork() const { return work; }

  size_t getNumBuckets() const { return records.size(); }
  Bucket getBucket(size_t index) const;

  /// Sets every variable of `assignment`, the last eliminated one first, to the
  /// value that is cheapest for the values of the variables eliminated after
  /// it. Requires that `run` returned Done.
  void substituteBack(std::vector<unsigned> &assignment) const;

private:
  /// The factors of one bucket, and the variables of their message.
  struct Group {
    llvm::SmallVector<unsigned, 4> factors;
    llvm::SmallVector<unsigned, 8> scope; // without the variable; in order
  };
  struct Record {
    unsigned variable;
    size_t factorsEnd;
    WideCost constant;
  };

  Result eliminate(unsigned variable);
  llvm::SmallVector<unsigned, 8> joinScopes(llvm::ArrayRef<unsigned> scope,
                                            unsigned factor,
                                            unsigned variable) const;
  /// The message of a bucket: the sum of a constant and of two tables, either
  /// of which may be kNoTable. `ofHubs` is over the hubs of the scope only,
  /// `rest` over all of it. A hub is a variable of more than 32 factors. Costs
  /// of hubs grow with the number of equal layers; in one table they would make
  /// the messages of these layers different.
  struct Message {
    TableId rest, ofHubs;
    Cost constant;
  };
  Message minimizeOut(unsigned variable, const Group &group);
  llvm::ArrayRef<unsigned> getHubs(const Group &group) const;
  void send(llvm::ArrayRef<unsigned> scope, TableId table);

  CoreGraph &core;
  TableAlgebra &algebra;
  int64_t maxTotalSize;
  int64_t totalSize = 0; // entries computed
  int64_t work = 0;

  llvm::ArrayRef<unsigned> order;
  std::vector<unsigned> places; // per variable, its index in `order`
  std::vector<char> isHub;      // per variable, whether many factors mention it
  std::vector<char> isDone;     // per factor, whether it is in a bucket

  llvm::SmallVector<Record, 0> records;
  llvm::SmallVector<unsigned, 0> bucketFactors;

  /// The message of each bucket that was computed. The key of a bucket has the
  /// domains of its variables, the number of hubs and, per factor, its table
  /// and the positions of its variables in Group::scope. So buckets of repeated
  /// layers have one key.
  llvm::DenseMap<llvm::ArrayRef<unsigned>, Message> known;
  llvm::BumpPtrAllocator keys;
  SumBuffers buffers;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_ELIMINATION_BUCKETELIMINATION_H
