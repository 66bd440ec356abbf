//===- Passes.td - Passes of the layout dialect ------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TRANSFORMS_PASSES
#define LAYOUT_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

defvar targetDescription =
    "an attribute such as `#layout.cpu<lanes = 16>`; the default is "
    "`layout.target` of the op that the pass runs on or of an enclosing "
    "op";

def CompleteTargetPass : Pass<"layout-complete-target", "ModuleOp"> {
  let summary = "Set the vector width of the CPU target";
  let description = [{
    The first pass of `layout-to-cpu`. If the target is a `#layout.cpu` without
    `vector_bits`, sets it to the vector width of the processor that code is
    generated for, so that layouts are chosen by the costs of its vectors.
    Records the target as `layout.target` of the module; lowerings remove it.
    Other targets are recorded unchanged. Does nothing without a target.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Target of the layouts: ", targetDescription)>,
    Option<"vectorBits", "vector-bits", "unsigned",
           "::mlir::layout::getFigures(::mlir::layout::Cpu::host).vectorBits",
           "Width of a vector register in bits; the default is that of the "
           "host">
  ];
}

def SolvePass : Pass<"layout-solve"> {
  let summary = "Decide a layout for every tensor";
  let description = [{
    Chooses layouts that minimize the modeled cost of all ops and conversions,
    and writes the decision as attributes:

    * `layout.operand_layouts` and `layout.result_layouts` on an op have one
      entry per operand and result, `unit` if it is not a tensor. An op without
      them keeps its types;
    * `layout.argument_layouts` on an op with regions has one array per block,
      with one entry per argument;
    * `layout.assignment` on the op that the pass runs on holds the `cost`, the
      `conversion_cost`, a `lower_bound`, and, if constants are limited or have
      a cost, their bytes as `weight_bytes`;
    * `layout.target` on that op records the option `target`. Lowerings remove
      it with the last layout.

    The rest of the IR does not change; `layout-materialize` applies the
    decision. Remarks have the category `layout`:

    | kind | remarks | emitted for |
    |---|---|---|
    | passed | `Convert` | each conversion, with the ops that need it |
    | analysis | `Assignment`, `AssumedSize` | totals; the size of dynamic dims |
    | analysis | `OpaqueOp` | ops without a layout rule |
    | analysis | `StatedLayouts` | ops that cannot run in their types |
    | analysis, missed | `OtherImage`, `NoImage` | tensors whose image is too large |
    | missed | `ManyLayouts`, `NotProven` | dropped candidates; no proven optimum |

    Types that already have a layout are kept. An op that cannot run in them,
    e.g. a `tensor.pad` in front of blocked rows, is decided as if its types
    were row-major, and its tensors are converted from and to the layouts of
    their types. Layout attributes in the input are constraints, which hold for
    all tensors that control flow ties together. Constraints that contradict
    each other are an error that names both.

    Arguments and results of functions keep their types if other modules may
    call the function. Private functions, and public ones with the unit
    attribute `layout.flexible_abi`, get chosen layouts together with their
    calls, and so do values that pass through loops, branches and blocks. Costs
    in a loop are multiplied by its trip count. Ops participate through
    `LayoutOpInterface`.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Target of the layouts: ", targetDescription)>,
    Option<"maxConfigs", "max-configs", "unsigned", /*default=*/"12",
           "Maximum number of layout combinations per op; tripled on a "
           "target with images, where the tensors of an op are chosen "
           "independently">,
    Option<"maxLayouts", "max-layouts", "unsigned", /*default=*/"6",
           "Maximum number of layouts per tensor to propagate from op to op; "
           "doubled on a target with images">,
    Option<"maxTable", "max-table", "int64_t", /*default=*/"1 << 20",
           "Maximum table size of the exact solver in entries; larger problems "
           "use a search with bounds">,
    Option<"maxNodes", "max-nodes", "int64_t", /*default=*/"1 << 18",
           "Maximum number of nodes of that search">,
    Option<"certificate", "certificate", "std::string", /*default=*/"",
           "Output file for the problem, its solution and a proof of the lower "
           "bound, which python -m layout_mlir.certify checks">,
    Option<"weightBudget", "weight-budget", "int64_t", /*default=*/"-1",
           "Maximum bytes of constants, each counted once per layout; -1 for "
           "no limit. On a mesh it is for one device and replaces the 'memory' "
           "of the target">,
    Option<"weightCost", "weight-cost", "unsigned", /*default=*/"0",
           "Cost of storing a byte of constants, in percent of the cost of "
           "moving a byte">,
    Option<"packingCost", "packing-cost", "unsigned", /*default=*/"0",
           "Cost of converting a constant, which happens once, in percent of "
           "the cost of the same conversion at run time">,
    Option<"costsFile", "costs", "std::string", /*default=*/"",
           "Input file with a price list: functions with one op or conversion "
           "each and its cost as `layout.cost`. Unlisted ops have the modeled "
           "cost, scaled to the unit of the list">,
    Option<"writeCostsFile", "write-costs", "std::string", /*default=*/"",
           "Output file for the costs that were used, as a price list">,
    Option<"objective", "objective", "::mlir::layout::Objective",
           /*default=*/"::mlir::layout::Objective::time",
           "Quantity to minimize",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::Objective::time, "time",
                          "The modeled time of ops and conversions"),
               clEnumValN(::mlir::layout::Objective::bytes, "bytes",
                          "The bytes moved by conversions; ops on channels "
                          "require tiles for the lanes"))}]>
  ];
}

def MaterializePass : Pass<"layout-materialize"> {
  let summary = "Apply a layout decision and insert layout.convert";
  let description = [{
    Sets the types of tensors to the layouts in `layout.operand_layouts` and
    `layout.result_layouts`, and removes the attributes. Inserts a
    `layout.convert` after the producer if a consumer needs another layout, one
    per tensor and layout. Fresh storage (`tensor.empty`, and `linalg.fill` of
    it) is cloned for each layout instead; conversions of constants fold.

    ```mlir
    %a = math.absf %x {layout.operand_layouts = [#columns],
    layout.result_layouts = [#columns]} : tensor<6x8xf32> return %a :
    tensor<6x8xf32>
    // becomes
    %0 = layout.convert %x : tensor<6x8xf32> to tensor<6x8xf32, #columns> %a =
    math.absf %0 : tensor<6x8xf32, #columns> %1 = layout.convert %a :
    tensor<6x8xf32, #columns> to tensor<6x8xf32> return %1 : tensor<6x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::layout::LayoutDialect"];
}

def PrintCostPass : Pass<"layout-print-cost"> {
  let summary = "Print the costs of layout.convert and of other ops";
  let description = [{
    Prints a table of every `layout.convert`: its location, both layouts, the
    shape, the storage spaces if they are not both linear memory, bytes read and
    written, the cost on the target, and the ops that produce and need it.
    Conversions of constants are listed separately, because they happen at
    compile time. The end of the table has the cost of all ops that compute or
    move elements, in the layouts of their types (JSON lists it by op), and the
    lower bound of `layout-solve`.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Target of the costs: ", targetDescription)>,
    Option<"format", "format", "::mlir::layout::CostFormat",
           /*default=*/"::mlir::layout::CostFormat::text",
           "`text` or `json`",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::CostFormat::text, "text",
                          "Readable text"),
               clEnumValN(::mlir::layout::CostFormat::json, "json",
                          "JSON"))}]>,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "Output file, - for standard output">
  ];
}

def PrintGraphPass : Pass<"layout-print-graph"> {
  let summary = "Draw the program, colored by layout";
  let description = [{
    Prints a graph for Graphviz's `dot`. Boxes are ops in the color of the
    layout of their result, and arrows are tensors. Octagons are conversions,
    with the bytes read and written and the ops that need them; those that move
    bytes are red. Frames are regions. A legend lists the layouts and their
    colors; row-major is grey.

    Chains of ops in one layout, each of which reads only the one before, are
    one box, with their number and the source names of the first and last op. If
    there are more than `max-boxes` boxes, connected ops in one layout are one
    box, and if there are still too many, all ops that are connected without
    moving bytes. Ops that are free are hidden: constants, fresh storage and its
    fills, destinations that are not read, and sizes.

    ```sh
    layout-opt net.mlir --layout-assign --layout-print-graph=output=net.dot
    dot -Tsvg net.dot > net.svg
    ```

    Elements of the SVG have the box number as id and the layout number as
    class. `format=json` prints the same boxes with their ops, tensors,
    canonical maps, and the rows of `layout-print-cost`.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Target of the conversion plans: ", targetDescription)>,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "Output file, - for standard output">,
    Option<"format", "format", "::mlir::layout::GraphFormat",
           /*default=*/"::mlir::layout::GraphFormat::dot",
           "`dot` or `json`",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::GraphFormat::dot, "dot",
                          "A graph for Graphviz"),
               clEnumValN(::mlir::layout::GraphFormat::json, "json",
                          "JSON"))}]>,
    Option<"maxBoxes", "max-boxes", "unsigned", /*default=*/"200",
           "Maximum number of boxes, above which connected ops are one box">
  ];
}

def PrintMessagesPass : Pass<"layout-print-messages"> {
  let summary = "Print the messages of layout.convert on a mesh of devices";
  let description = [{
    Prints the messages of every `layout.convert` between two distributions on
    one mesh, in program order (docs/mesh.md): source and destination device,
    round, and the boxes of indices. A header line has the bytes sent, a lower
    bound on them, and the peak bytes of messages that a device holds at once.

    ```
    conversion of 6x6xf32 at "net.mlir":4:8: 2 messages in 1 rounds on 2 devices, 72 bytes, lower bound 72, at most 72 bytes of messages on a device
      stays on 0: [0:3, 0:3]
      stays on 1: [3:6, 3:6]
      round 0: 0 -> 1: [0:3, 3:6]
      round 0: 1 -> 0: [3:6, 0:3]
    ```

    In one round a device sends at most one message and receives at most one.
    JSON also has the `turn` of each message, a step of the round in which a
    device either sends or receives, and the position of each box in the local
    tensors of both devices.
  }];
  let options = [
    Option<"relabel", "relabel", "bool", /*default=*/"false",
           "Permute the device numbers of the result if fewer bytes are sent; "
           "the plan lists the permutation">,
    Option<"maxExtraBytes", "max-extra-bytes", "int64_t", /*default=*/"0",
           "Maximum bytes of messages that a device holds at once, 0 for no "
           "limit; longer messages are split">,
    Option<"format", "format", "::mlir::layout::CostFormat",
           /*default=*/"::mlir::layout::CostFormat::text",
           "`text` or `json`",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::CostFormat::text, "text",
                          "Readable text"),
               clEnumValN(::mlir::layout::CostFormat::json, "json",
                          "JSON"))}]>,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "Output file, - for standard output">
  ];
}

def PrintRulesPass : Pass<"layout-print-rules"> {
  let summary = "Print the layout rule of each op";
  let description = [{
    Prints one line per op with tensors: the rule that the solver, the cost
    model and the verifier use. docs/rules.md explains the notation.

    ```
    func.func @main blocks (fixed, fixed)
      %0 = tensor.empty any layout
      %1 = linalg.matmul ([i, k], [k, j], [i, j]) -> [i, j], loops i=4 j=8 k=16, reduces k, tiles i j k, 2 ops per point
      %2 = tensor.collapse_shape view (d0, d1) -> (d0 * 8 + d1)
      %3 = tensor.splat keeps its types: it has no LayoutOpInterface and is not elementwise
      func.return (fixed)
    ```

    Makes no decision, so no target is needed.
  }];
  let options = [
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "Output file, - for standard output">
  ];
}

def PrintStrategiesPass : Pass<"layout-print-strategies"> {
  let summary = "Compare the cost of the optimum with simple heuristics";
  let description = [{
    Prints a table of the cost of the program, the number of conversions that
    move bytes, and the bytes that they move at run time, for several
    strategies. All use the same costs. The heuristics choose among the same
    candidates, but ops with a preferred layout, e.g. with tiled channels, keep
    it.

    | strategy | layouts |
    |---|---|
    | `optimum` | as `layout-solve` decides |
    | `as-typed` | all types stay |
    | `forward` | follow the first operand |
    | `priority` | spread from the ops with preferences |
    | `rank` | lower the ranks of converted tensors |
    | `majority` | follow most neighbors |
    | `bidirectional` | follow the first operand, then the consumers |
    | `greedy` | each op chooses alone, and conversions are not shared |

    Use it in place of `layout-solve`, on a program without a decision.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Target of the costs: ", targetDescription)>,
    Option<"format", "format", "::mlir::layout::CostFormat",
           /*default=*/"::mlir::layout::CostFormat::text",
           "`text` or `json`",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::CostFormat::text, "text",
                          "Readable text"),
               clEnumValN(::mlir::layout::CostFormat::json, "json",
                          "JSON"))}]>,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "Output file, - for standard output">
  ];
}

def InlineGlobalsPass : Pass<"layout-inline-globals"> {
  let summary = "Replace reads of immutable globals by arith.constant";
  let description = [{
    Replaces tensors read from an immutable `ml_program.global` with a value, or
    from a constant `memref.global`, by an `arith.constant`. A constant can have
    any layout and is packed when it is lowered. Private globals without uses
    are erased. Mutable globals keep their types.

    ```mlir
    %a = ml_program.global_load @shared : tensor<32xf32>
    // becomes
    %a = arith.constant dense<2.0> : tensor<32xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FoldBroadcastsPass : Pass<"layout-fold-broadcasts"> {
  let summary = "Replace rank-expanding broadcasts by reshapes";
  let description = [{
    Replaces a linalg op that copies a tensor and only adds dims of extent 1 by
    a `tensor.expand_shape`, or by a constant if the source is one. A
    contraction that reads a tensor repeated along other dims reads the tensor
    itself, so the weights of an imported matmul stay constants. Copies that
    only elementwise ops read stay; `layout-fuse-elementwise` fuses them.

    ```mlir
    %b = linalg.broadcast ins(%w : tensor<?x3xf32>) outs(%e :
    tensor<1x?x1x3x1xf32>) dimensions = [0, 2, 4]
    // becomes
    %b = tensor.expand_shape %w [[0, 1, 2], [3, 4]] .. : tensor<?x3xf32> into
    tensor<1x?x1x3x1xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def DensifyConvolutionsPass : Pass<"layout-densify-convolutions"> {
  let summary = "Decompose transposed convolutions into sub-pixel convolutions";
  let description = [{
    Importers write a transposed convolution as a linalg op on an image with
    zeros between its pixels, inserted by a `tensor.insert_slice` with strides
    or by a `tensor.pad` between two reshapes. The pass replaces it by one
    convolution of the pixels per remainder of the result indices, with the taps
    that meet pixels there, and inserts the results with a stride:

    ```mlir
    %v = tensor.insert_slice %x into %zeros[0, 0, 1] [1, 4, 5] [1, 1, 2] :
    tensor<1x4x5xf32> into tensor<1x4x11xf32> %r = linalg.conv_1d_ncw_fcw
    ins(%v, %w : tensor<1x4x11xf32>, tensor<3x4x2xf32>) outs(%i :
    tensor<1x3x10xf32>)
    // becomes, for the even results and likewise for the odd ones,
    %w1 = tensor.extract_slice %w[0, 0, 1] [3, 4, 1] [1, 1, 2] : .. %y0 =
    linalg.conv_1d_ncw_fcw ins(%x, %w1 : tensor<1x4x5xf32>, tensor<3x4x1xf32>)
    outs(%i0 : tensor<1x3x5xf32>) %p0 = tensor.insert_slice %y0 into %empty[0,
    0, 0] [1, 3, 5] [1, 1, 2] : ..
    ```

    Sizes must be static; strides, dilations, groups, ranks and borders are
    arbitrary. Ops that need more than 64 convolutions stay.

    No target computes the products with these zeros, which a transposed
    convolution does not have. An infinite weight, whose product with zero is
    NaN, thus affects only results for which it meets a pixel.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def FoldConstantSlicesPass : Pass<"layout-fold-constant-slices"> {
  let summary = "Fold slices, copies and transposes of constants";
  let description = [{
    Folds `tensor.extract_slice` of constants, and linalg ops that copy elements
    of a constant at affine indices, e.g. the flipped taps of an imported
    transposed convolution, into constants, which are packed when they are
    lowered. Results that would be larger than the constant stay.
    `linalg.transpose` also stays by default, because a choice of layouts can
    make it free; targets that would move elements set `transposes`.

    ```mlir
    %w = arith.constant dense_resource<w> : tensor<2x2xi16> %r =
    tensor.extract_slice %w[0, 1] [2, 1] [1, 1] : tensor<2x2xi16> to
    tensor<2xi16>
    // becomes
    %r = arith.constant dense_resource<w_1> : tensor<2xi16>
    ```
  }];
  let options = [
    Option<"transposes", "transposes", "bool", "false",
           "Fold linalg.transpose of constants, too">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CheckInputPass : Pass<"layout-check-input"> {
  let summary = "Reject ops that the device pipelines cannot lower";
  let description = [{
    The first pass of the pipelines to devices, on which every op runs. Reports
    an error for an op of an unregistered dialect, and for a live op of a
    function that

    * is of a dialect that no pipeline lowers, unless it implements
      `linalg::AggregatedOpInterface`,
    * states a negative size, or
    * has a tensor whose encoding is not a layout.
  }];
}

def LowerTosaPass : Pass<"layout-lower-tosa"> {
  let summary = "Lower TOSA to linalg, arith, scf and tensor";
  let description = [{
    Runs the upstream conversions on functions with TOSA ops, so that layouts
    are decided for the computations of these ops. Other functions do not
    change.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CropPadsPass : Pass<"layout-crop-pads"> {
  let summary = "Rewrite negative amounts of tensor.pad as slices";
  let description = [{
    A `tensor.pad` whose `low` or `high` is negative, or is not proven to be at
    least 0, becomes a `tensor.extract_slice` and a `tensor.pad` that adds
    elements only, as ONNX and StableHLO define negative padding:

    ```mlir
    %p = tensor.pad %x low[-1] high[2] { .. } : tensor<6xf32> to tensor<7xf32>
    // becomes
    %s = tensor.extract_slice %x[1] [5] [1] : tensor<6xf32> to tensor<5xf32>
    %p = tensor.pad %s low[0] high[2] { .. } : tensor<5xf32> to tensor<7xf32>
    ```

    Dynamic amounts are compared with 0 at run time. If the source has a layout,
    the slice is row-major.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LowerPacksPass : Pass<"layout-lower-packs"> {
  let summary = "Rewrite linalg.pack and linalg.unpack as pads, reshapes, "
                "transposes and slices";
  let description = [{
    For targets that have no lowering of `linalg.pack` and `linalg.unpack`. With
    `views=false`, ops that neither pad nor slice stay: the decision treats them
    as changes of layout, which need not move elements.

    ```mlir
    %p = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0]
        inner_tiles = [4] into %d : tensor<6xf32> -> tensor<2x4xf32>
    // becomes
    %0 = tensor.pad %x low[0] high[2] { .. } : tensor<6xf32> to tensor<8xf32>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 4]
        : tensor<8xf32> into tensor<2x4xf32>
    %p = linalg.transpose ins(%1 : tensor<2x4xf32>) outs(%d : tensor<2x4xf32>)
        permutation = [0, 1]
    ```

    Ops with dynamic tile sizes stay.
  }];
  let options = [
    Option<"views", "views", "bool", "true",
           "Rewrite ops that neither pad nor slice, too">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def SequenceForallsPass : Pass<"layout-sequence-foralls"> {
  let summary = "Rewrite scf.forall on tensors as scf.for";
  let description = [{
    For targets that distribute each op over the whole device. The
    `tensor.parallel_insert_slice` ops of a body become `tensor.insert_slice`
    into iter_args of the loop; reads of a shared tensor in the body see its
    value before the loop.

    ```mlir
    %r = scf.forall (%i) in (6) shared_outs(%o = %a) -> tensor<6x8xf32> {
      %s = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : ..
      %t = math.exp %s : tensor<1x8xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %t into %o[%i, 0] [1, 8] [1, 1] : ..
      }
    }
    // becomes
    %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %a) -> (tensor<6x8xf32>) {
      %s = tensor.extract_slice %a[%i, 0] [1, 8] [1, 1] : ..
      %t = math.exp %s : tensor<1x8xf32>
      %n = tensor.insert_slice %t into %p[%i, 0] [1, 8] [1, 1] : ..
      scf.yield %n : tensor<6x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CanonicalizeLayoutsPass : Pass<"layout-canonicalize"> {
  let summary = "Replace every layout by its canonical form";
  let description = [{
    Replaces every layout in a type by the one `#layout.map` that it denotes,
    and a row-major layout by no encoding, so that types with identical storage
    are equal (L5). Visits types of values, functions and constants, and types
    inside attributes. The pass never changes where an element is stored.

    ```mlir
    tensor<2x17x3x5xf32, #layout.blocked<"NCHW" to "NCHW16c">>
    // becomes
    tensor<2x17x3x5xf32, #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv
    16, d2, d3, d1 mod 16)>>
    ```

    With `keep-families`, `#layout.npu_scatter` and `#layout.mesh` stay, the
    latter with its `local` layout in canonical form: the commands of an NPU and
    the blocks of a rank require the family, not its map.
  }];
  let options = [
    Option<"keepFamilies", "keep-families", "bool", "false",
           "Keep #layout.npu_scatter and #layout.mesh for the lowerings">,
  ];
}

def FoldConvertsPass : Pass<"layout-fold-converts"> {
  let summary = "Remove redundant layout.convert ops";
  let description = [{
    Folds chains and inverse pairs of `layout.convert`, conversions of constants
    (the constant gets the type and is packed when it is lowered), of fresh
    storage and of filled tensors, and the second of two equal conversions.

    ```mlir
    %0 = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #a> %1 =
    layout.convert %0 : tensor<3x5xf32, #a> to tensor<3x5xf32> %c =
    arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8> %2 = layout.convert
    %c : tensor<2x2xi8> to tensor<2x2xi8, #a>
    // becomes %x for %1, and
    %2 = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8, #a>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def VerifyLayoutsPass : Pass<"layout-verify"> {
  let summary = "Prove that every layout is valid and every layout rule holds";
  let description = [{
    Verifies each type with a layout again (L1, L2), because passes build types
    unchecked, and each op against its rule: the loops of a structured op run
    over digits that all its operands store, a view has the storage of its
    source (L7), a pad or slice keeps whole tiles. Reports an error with the op,
    the layout and the way out if a proof fails. The IR does not change.

    For a target with images, only the rules of views and memory are checked,
    because its kernels address each element of each tensor by its own map.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Target of the layouts, if there is one: ",
                      targetDescription)>
  ];
}

#endif // LAYOUT_TRANSFORMS_PASSES
