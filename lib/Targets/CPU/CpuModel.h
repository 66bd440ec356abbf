//===- CpuModel.h - The model of linear memory ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Costs are in units of one byte that memory moves.
//
//   conversion = (read + written) * (1 + (strided_percent - 1)
//                                       * (line - segment) / (line - 1))
//     segment: bytes that are contiguous in source and result, at most a cache
//     line; one element if the copy gathers
//
//   op = bytes * b + points * ops * w / flops_per_byte
//     bytes: stored bytes of operands and results, padding included
//     points: iterations, with tiled loops rounded up to whole tiles
//
//   vectorized loop      | w                                  | b
//   ---------------------|------------------------------------|---------------
//   parallel, contiguous | fill                               | 1
//   parallel, strided    | fill * strided_percent             | 1
//   reduction, unmasked  | fill * strided_percent             | 1
//                        |   * (sum + L * log2(L)) / sum      |
//                        |   * 1.5 if operand rows exceed L1  |
//   none                 | scalar_percent * computed / 256    | strided_percent
//                        |   (1 on a CPU without vectors)     |
//
//     computed: bits of a vector that are computed in one part, vector_bits or
//     datapath_bits; L: its elements; fill = roundup(trips, L) / trips, where
//     digits contiguous in all tensors are one loop; sum: summands of one
//     result. 3x3 convolutions whose kernels use Winograd's transforms have the
//     operations and the filters of these (WinogradWork.h).
//
//   further factor       | applies to
//   ---------------------|----------------------------------------------------
//   1 + vector / line    | w if a window slides along the lanes; times fill,
//   (at most 1.5 if all  | also the bytes of the operand under the window
//   its reads are shared)|
//   strided_percent      | operand bytes that are summed once, in rows that
//                        | fill all registers
//   mask_percent         | w if a reduction is masked (PaddingMasks.h); its
//                        | loop then ends at the size of its dim
//
// Padding that a result states and the body does not produce adds the cost of
// the conversion that writes it. StoredOp.h chooses the loop on lanes.
//
// Candidates of contractions tile channel loops by the target's lanes. Any op
// may state what its padding holds if that saves masks (PaddingStates.h).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_CPUMODEL_H
#define LAYOUT_LIB_TARGETS_CPU_CPUMODEL_H

#include "layout/Analysis/Candidates.h"

namespace mlir::layout {

struct StoredOp;

class CpuModel : public TargetModel {
public:
  explicit CpuModel(CpuTargetAttr target)
      : TargetModel(target.getAssumedSize(), target.getAssumedTrips()),
        target(target), params(target.getParams()) {}

  Cost getCost(const ConversionPlan &plan) const override;
  Cost getLoopsCost(Operation *op, const LoopsRule &rule,
                    const OpLayouts &layouts, CostModel &costs) override;
  void seed(const NodeClass &op, CostModel &costs, Candidates &known,
            AddConfig add) override;
  void carry(const NodeClass &op, OperandOrResult slot, LayoutId layout,
             CostModel &costs, Candidates &known, AddConfig add) override;
  void addStates(const Program &program, const CandidateLimits &limits,
                 CostModel &costs, std::vector<Candidates> &all) override;
  void describe(const OpConfig &config, raw_ostream &os) const override;

private:
  /// Calls `add` with `config`, unless `op` is a sum of products without a
  /// window, such as a matmul, and `config` vectorizes another loop than the
  /// first configuration in `known`. The second operand would then be read one
  /// element per row, and its rows are on different pages, which the cost of
  /// the work does not include. BERT with tokens on lanes takes 490 ms instead
  /// of 270 ms on AVX2.
  void addOnLanes(const NodeClass &op, CostModel &costs,
                  const Candidates &known, std::optional<OpConfig> config,
                  AddConfig add) const;

  Cost addLaneSums(Cost work, Operation *op, const LoopsRule &rule, int64_t run,
                   int64_t row) const;
  Cost getTensorBytesCost(
      const StoredOp &stored, Operation *op, const LoopsRule &rule,
      const OpLayouts &layouts, CostModel &costs, std::optional<unsigned> lane,
      llvm::function_ref<void(Cost &, bool slides, bool shares)> fillVectors);

  /// Returns true if the operand rows of `row` elements that one register tile
  /// of results reads exceed L1, so that the next tile reads them again from
  /// L2. Returns false if a window slides over an operand, because it reuses
  /// the previous window, or if each element of a summed operand is read for
  /// one result only.
  bool exceedsL1(Operation *op, const LoopsRule &rule, int64_t row) const;

  /// Returns the number of elements of the widest result type in `bits` bits: at
  /// least 1, and at most the `lanes` that the target attribute states.
  int64_t getElements(Operation *op, int64_t bits) const;

  /// Returns the number of elements of a vector that the CPU computes in one
  /// part.
  int64_t getVectorSize(Operation *op) const;

  CpuTargetAttr target;
  const CpuModelParams params;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_CPUMODEL_H
