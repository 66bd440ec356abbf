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
    "an attribute such as `#layout.cpu<lanes = 16>`; without it "
    "`layout.target` of the op that the pass runs on, or of one around it, is "
    "taken";

def CompleteTargetPass : Pass<"layout-complete-target", "ModuleOp"> {
  let summary = "States the vectors of the processor in the target";
  let description = [{
    The beginning of `layout-to-cpu`: a target `#layout.cpu` that states no
    `vector_bits` gets those of the processor that code is made for, so that
    layouts are decided by the prices of its vectors. The target is recorded as
    `layout.target` of the module; lowerings remove it. Other targets stay as
    they are, and without one nothing is done.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("What layouts are for: ", targetDescription)>,
    Option<"vectorBits", "vector-bits", "unsigned",
           "::mlir::layout::getFigures(::mlir::layout::Cpu::host).vectorBits",
           "Bits of one vector register; without it those of the machine that "
           "this runs on">
  ];
}

def SolvePass : Pass<"layout-solve"> {
  let summary = "Decides a layout for every tensor";
  let description = [{
    Chooses layouts such that the modeled cost of all ops and of all
    conversions between them is least, and writes the decision on the ops:
    `layout.operand_layouts` and `layout.result_layouts`, one entry per operand
    and result, `unit` where there is no tensor. An op without these attributes
    keeps its types. `layout.assignment` on the op that the pass runs on holds
    the cost, the part of it that conversions have, and a lower bound, and where
    constants count the bytes that they take, as `weight_bytes`. A target
    that the option gives is recorded there as `layout.target`; lowerings remove
    it with the last layout.

    Nothing else in the IR changes; `layout-materialize` applies the
    decision. Remarks of the category `layout`: `passed` for every conversion
    and who asks for it, `analysis` for the totals, for ops that nothing is
    known of and for ops that cannot run in the layouts of their types, `missed`
    where candidates were dropped or the optimum is not
    proven.

    Types that have a layout already are kept. An op that cannot run in them, such
    as a `tensor.pad` in front of blocked rows, is decided as on row-major types,
    and its tensors are converted from and to the layouts of their types; the
    remark `StatedLayouts` tells why. Kept is also what those attributes
    state on the way in: they constrain the tensors of an op, those that control flow
    ties to each other all together. Constraints that cannot hold are errors that name
    both sides. Kept are also the arguments and results of functions that others
    may call. Those of private functions, and of public ones with the unit
    attribute `layout.flexible_abi`, are chosen as everything else is, together
    with all calls; so is what passes through loops, branches and blocks:
    `layout.argument_layouts` on an op with regions has an array per block, with
    an entry per argument. Loops count as often as they run.
    Ops take part through `LayoutOpInterface`.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("What layouts are for: ", targetDescription)>,
    Option<"maxConfigs", "max-configs", "unsigned", /*default=*/"12",
           "Most combinations of layouts to consider per op; on a target with "
           "images, where the tensors of an op choose apart, three times as "
           "many">,
    Option<"maxLayouts", "max-layouts", "unsigned", /*default=*/"6",
           "Most layouts to carry from op to op per tensor; on a target with "
           "images twice as many">,
    Option<"maxTable", "max-table", "int64_t", /*default=*/"1 << 20",
           "Largest table of the exact solver, in entries; beyond it a search "
           "with bounds takes over">,
    Option<"maxNodes", "max-nodes", "int64_t", /*default=*/"1 << 18",
           "Nodes of that search">,
    Option<"certificate", "certificate", "std::string", /*default=*/"",
           "A file for the problem that was solved, its solution and a proof "
           "of the lower bound, which python -m layout_mlir.certify checks">,
    Option<"weightBudget", "weight-budget", "int64_t", /*default=*/"-1",
           "Most bytes that constants may take, each once for every layout that "
           "it is wanted in, on a mesh on one device, where it counts in place of "
           "the 'memory' of the target">,
    Option<"weightCost", "weight-cost", "unsigned", /*default=*/"0",
           "What a byte of constants that is kept costs, in hundredths of one "
           "that is moved">,
    Option<"packingCost", "packing-cost", "unsigned", /*default=*/"0",
           "What conversions of constants cost, which happen once, in hundredths "
           "of their price">,
    Option<"costsFile", "costs", "std::string", /*default=*/"",
           "A price list: a file of functions, each with one op or conversion "
           "and its price as `layout.cost`. What is not listed has the modeled "
           "price, scaled to the unit of the list">,
    Option<"writeCostsFile", "write-costs", "std::string", /*default=*/"",
           "A file for the prices that were weighed, as a price list">,
    Option<"objective", "objective", "::mlir::layout::Objective",
           /*default=*/"::mlir::layout::Objective::time",
           "What is least",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::Objective::time, "time",
                          "The modeled time of ops and conversions"),
               clEnumValN(::mlir::layout::Objective::bytes, "bytes",
                          "Bytes moved by conversions, where ops that work on "
                          "channels insist on tiles for the lanes"))}]>
  ];
}

def MaterializePass : Pass<"layout-materialize"> {
  let summary = "Applies a decision of layouts";
  let description = [{
    Gives the tensors the types that `layout.operand_layouts` and
    `layout.result_layouts` state, and inserts `layout.convert` after the
    producer wherever a consumer needs another layout: one per tensor and
    layout. Fresh storage (`tensor.empty`, and `linalg.fill` of it) is made in
    the layout needed, once per layout; constants are converted, which folds.
    The attributes are removed.
  }];
  let dependentDialects = ["::mlir::layout::LayoutDialect"];
}

def PrintCostPass : Pass<"layout-print-cost"> {
  let summary = "Prints what conversions move and what ops cost";
  let description = [{
    A table of every `layout.convert`: where it is, from which layout to which,
    the shape, the storage spaces where they are not both linear memory, bytes
    read and written, the cost on the target, and which ops produce and need it.
    Conversions of constants are listed apart: they happen
    at compile time. Below it the cost of all ops that go through elements, in
    the layouts that their types state (JSON lists it by op), and the lower bound
    that `layout-solve` has left on the op.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Prices are for this target: ", targetDescription)>,
    Option<"format", "format", "::mlir::layout::CostFormat",
           /*default=*/"::mlir::layout::CostFormat::text",
           "`text` or `json`",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::CostFormat::text, "text",
                          "A table for people"),
               clEnumValN(::mlir::layout::CostFormat::json, "json",
                          "For programs"))}]>,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "The file to write, - for standard output">
  ];
}

def PrintGraphPass : Pass<"layout-print-graph"> {
  let summary = "Draws the program, colored by layout";
  let description = [{
    A graph for Graphviz's `dot`: boxes are ops in the color of the layout of
    their result, tensors are arrows, conversions are octagons with the bytes
    that they read and write and who needs them, red where they move any, regions are frames, and a
    legend says which color is which layout. Row-major is grey.

    Ops of which each reads the one before alone, in one layout, are one box that
    counts them, with the names that the model gives to the first and the last;
    where that leaves more than `max-boxes`, connected ops in one layout are,
    and where that does, too, all ops between which no bytes are moved. What costs nothing is not shown: constants, fresh storage and what fills it,
    destinations that are not read, sizes.

    ```sh
    layout-opt net.mlir --layout-assign --layout-print-graph=output=net.dot
    dot -Tsvg net.dot > net.svg
    ```

    Elements of that SVG have the numbers of boxes as ids and those of layouts as
    classes. `format=json` writes the same boxes for programs, with the ops, the
    tensors and their canonical maps, and the rows of `layout-print-cost`.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Conversions are planned for this target: ",
                      targetDescription)>,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "The file to write, - for standard output">,
    Option<"format", "format", "::mlir::layout::GraphFormat",
           /*default=*/"::mlir::layout::GraphFormat::dot",
           "`dot` or `json`",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::GraphFormat::dot, "dot",
                          "A graph for Graphviz"),
               clEnumValN(::mlir::layout::GraphFormat::json, "json",
                          "For programs"))}]>,
    Option<"maxBoxes", "max-boxes", "unsigned", /*default=*/"200",
           "How many boxes show runs; a larger program shows connected ops">
  ];
}

def PrintMessagesPass : Pass<"layout-print-messages"> {
  let summary = "Prints what devices of a mesh send to each other";
  let description = [{
    For every `layout.convert` between two layouts on one mesh, in the order of
    the program, the messages that carry it out (docs/mesh.md): from which device
    to which, in which round, and the boxes of indices. Before them the bytes that
    are sent, the fewest that any plan sends, and the most bytes of messages that
    a device holds at once.

    ```
    conversion of 6x6xf32 at "net.mlir":4:8: 2 messages in 1 rounds on 2 devices, 72 bytes, lower bound 72, at most 72 bytes of messages on a device
      stays on 0: [0:3, 0:3]
      stays on 1: [3:6, 3:6]
      round 0: 0 -> 1: [0:3, 3:6]
      round 0: 1 -> 0: [3:6, 0:3]
    ```

    In a round a device sends one message and receives one. JSON has the same
    figures, for each message also its turn in the round, in which a device does
    one of the two, and for each box where it begins in the local tensors of the
    two devices.
  }];
  let options = [
    Option<"relabel", "relabel", "bool", /*default=*/"false",
           "Let another device stand for a number of the target's where fewer "
           "bytes are sent then; the plan lists them">,
    Option<"maxExtraBytes", "max-extra-bytes", "int64_t", /*default=*/"0",
           "The most bytes of messages that a device may hold at once, 0 for "
           "any number: longer messages are cut">,
    Option<"format", "format", "::mlir::layout::CostFormat",
           /*default=*/"::mlir::layout::CostFormat::text",
           "`text` or `json`",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::CostFormat::text, "text",
                          "For people"),
               clEnumValN(::mlir::layout::CostFormat::json, "json",
                          "For programs"))}]>,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "The file to write, - for standard output">
  ];
}

def PrintRulesPass : Pass<"layout-print-rules"> {
  let summary = "Prints what each op asks of layouts";
  let description = [{
    One line for every op with tensors, from which the decision, the prices and
    the verifier work; docs/rules.md explains the notation:

    ```
    func.func @main blocks (fixed, fixed)
      %0 = tensor.empty any layout
      %1 = linalg.matmul ([i, k], [k, j], [i, j]) -> [i, j], loops i=4 j=8 k=16, reduces k, tiles i j k, 2 ops per point
      %2 = tensor.collapse_shape view (d0, d1) -> (d0 * 8 + d1)
      %3 = tensor.splat keeps its types: it has no LayoutOpInterface and is not elementwise
      func.return (fixed)
    ```

    Nothing is decided, so no target is needed.
  }];
  let options = [
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "The file to write, - for standard output">
  ];
}

def PrintStrategiesPass : Pass<"layout-print-strategies"> {
  let summary = "Prints what the optimum costs beside simple rules";
  let description = [{
    A table of what the program costs, how many conversions move bytes, and how
    many bytes these are as often as they run: with the layouts that
    `layout-solve` decides, with all types as they are, and with the layouts that
    rules of other compilers choose over the same candidates, where ops that have
    a need, such as channels in tiles, insist on it: `forward` follows the first
    operand, `priority` spreads from ops with needs, `rank` lowers the ranks of
    converted tensors, `majority` follows most neighbors, `bidirectional` the
    first operand and then the consumers, and with `greedy` each op says what it
    is stored in and nothing is shared. All have the same prices.

    Stands where `layout-solve` would, before anything is decided.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Prices are for this target: ", targetDescription)>,
    Option<"format", "format", "::mlir::layout::CostFormat",
           /*default=*/"::mlir::layout::CostFormat::text",
           "`text` or `json`",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::CostFormat::text, "text",
                          "A table for people"),
               clEnumValN(::mlir::layout::CostFormat::json, "json",
                          "For programs"))}]>,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "The file to write, - for standard output">
  ];
}

def InlineGlobalsPass : Pass<"layout-inline-globals"> {
  let summary = "Makes constants of globals that nobody changes";
  let description = [{
    What is read from an immutable `ml_program.global` that has a value, or as a
    tensor from a constant `memref.global`, becomes an `arith.constant`, which
    has whatever layout it is asked for and is packed when it is lowered.
    Private globals that nobody reads any more go. Globals that are not constant
    keep their types.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FoldBroadcastsPass : Pass<"layout-fold-broadcasts"> {
  let summary = "Takes away copies that only add dims to a tensor";
  let description = [{
    A linalg op that copies a tensor to one with more dims of extent 1 becomes a
    `tensor.expand_shape`, or another constant, and a contraction that reads a
    tensor repeated along other dims reads the tensor itself: the weights of an
    imported product stay constants. What only elementwise ops read stays, as
    `layout-fuse-elementwise` takes it.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def DensifyConvolutionsPass : Pass<"layout-densify-convolutions"> {
  let summary = "Makes dense convolutions of those that read zeros";
  let description = [{
    An imported transposed convolution is a linalg op on an image with zeros
    between its pixels, be they inserted by a slice with strides or by a pad
    between two reshapes. It becomes sub-pixel convolutions: one of the pixels
    themselves for each remainder of the indices of results, with the taps that
    meet pixels there, whose results are put into every so many places. Sizes
    are static; steps, dilations, groups, ranks and borders are any. What would
    take more than 64 convolutions is left.

    Products with the zeros in between are not made, on any target, as the
    transposed convolution itself has none. So an infinite weight, which times
    such a zero is no number, changes only results for which it meets a pixel.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def FoldConstantSlicesPass : Pass<"layout-fold-constant-slices"> {
  let summary = "Makes constants of what is sliced and turned around of constants";
  let description = [{
    A slice of a constant, and a linalg op that copies elements of one whose
    indices are sums of multiples of its loops, as the taps of an imported
    transposed convolution, become constants, which are packed when they are
    lowered. What would be larger than the constant is left. So is a
    `linalg.transpose`, which is a matter of layouts, but on targets that would
    move it.
  }];
  let options = [
    Option<"transposes", "transposes", "bool", "false",
           "Make constants of transposed ones, too">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CheckInputPass : Pass<"layout-check-input"> {
  let summary = "Refuses ops that nothing is known of";
  let description = [{
    The first pass of the roads to devices, whose ops are all moved or computed
    there: an op of no registered dialect is an error, and in a function one of a
    dialect that no road lowers, unless it implements
    `linalg::AggregatedOpInterface`, and one with a tensor whose encoding is no
    layout.
  }];
}

def LowerTosaPass : Pass<"layout-lower-tosa"> {
  let summary = "Rewrites TOSA as linalg, where there is some";
  let description = [{
    Functions with ops of the TOSA dialect go through upstream's conversion to
    linalg, arith, scf and tensor, so that layouts are decided for what the ops
    do. Other functions are left as they are.
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
    ```

    becomes

    ```mlir
    %s = tensor.extract_slice %x[1] [5] [1] : tensor<6xf32> to tensor<5xf32>
    %p = tensor.pad %s low[0] high[2] { .. } : tensor<5xf32> to tensor<7xf32>
    ```

    Amounts that are known at run time only are compared with 0 there. If the
    source states a layout, the slice is row-major.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LowerPacksPass : Pass<"layout-lower-packs"> {
  let summary = "Rewrite linalg.pack and linalg.unpack as pads, reshapes, "
                "transpositions and slices";
  let description = [{
    For targets that have no lowering of `linalg.pack` and `linalg.unpack`. With
    `views=false` those that neither pad nor cut stay: the decision takes them
    for changes of layout, which need not move elements.

    ```mlir
    %p = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0]
        inner_tiles = [4] into %d : tensor<6xf32> -> tensor<2x4xf32>
    ```

    becomes

    ```mlir
    %0 = tensor.pad %x low[0] high[2] { .. } : tensor<6xf32> to tensor<8xf32>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 4]
        : tensor<8xf32> into tensor<2x4xf32>
    %p = linalg.transpose ins(%1 : tensor<2x4xf32>) outs(%d : tensor<2x4xf32>)
        permutation = [0, 1]
    ```

    An op whose tiles are not known stays.
  }];
  let options = [
    Option<"views", "views", "bool", "true",
           "Rewrite ops that neither pad nor cut, too">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def SequenceForallsPass : Pass<"layout-sequence-foralls"> {
  let summary = "Rewrite scf.forall on tensors as scf.for";
  let description = [{
    For targets whose ops are each spread over the whole device. The
    `tensor.parallel_insert_slice` ops of a body become `tensor.insert_slice`
    into tensors that the loop carries; what the body reads of a shared tensor
    is the value before the loop.

    ```mlir
    %r = scf.forall (%i) in (6) shared_outs(%o = %a) -> tensor<6x8xf32> {
      %s = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : ..
      %t = math.exp %s : tensor<1x8xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %t into %o[%i, 0] [1, 8] [1, 1] : ..
      }
    }
    ```

    becomes

    ```mlir
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
  let summary = "Gives every layout its canonical form";
  let description = [{
    Every family in a type becomes the one `#layout.map` that it denotes, and a
    row-major layout becomes no layout: types that store alike are then the same
    type (L5). Types of values, of functions, of constants and inside attributes
    are all visited. The pass never changes where an element lives.

    With `keep-families`, `#layout.npu_scatter` and `#layout.mesh` stay, the
    latter with its `local` layout in canonical form: the commands of an NPU and
    the blocks of a rank ask for the family, not for its map.
  }];
  let options = [
    Option<"keepFamilies", "keep-families", "bool", "false",
           "Leave #layout.npu_scatter and #layout.mesh, which lowerings ask for">,
  ];
}

def FoldConvertsPass : Pass<"layout-fold-converts"> {
  let summary = "Removes conversions that need not run";
  let description = [{
    Folds chains and inverse pairs of `layout.convert`, conversions of constants
    (the constant takes the type, and is packed when it is lowered), of fresh
    storage and of filled tensors, and the second of two equal conversions.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def VerifyLayoutsPass : Pass<"layout-verify"> {
  let summary = "Proves that every layout is valid and every op's rule is met";
  let description = [{
    Checks each laid-out type again (L1, L2), as passes build types unchecked,
    and each op against its rule: the loops of a structured op run over digits
    that all its operands store, a view has the storage of its source (L7), a
    pad or slice leaves tiles whole. What cannot be proven is an error that
    names the op, the layout and the way out. Nothing is changed.

    For a target with images only views and memories are checked of an op: its
    kernels find each element of each tensor by its own map.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("What layouts are for, where that is known: ",
                      targetDescription)>
  ];
}

#endif // LAYOUT_TRANSFORMS_PASSES
