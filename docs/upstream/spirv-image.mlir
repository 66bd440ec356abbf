// A module with an image for OpenCL cannot be written in the SPIR-V dialect: OpTypeImage needs a sampled type of void,
// which the parser of types refuses, and an access qualifier, which the type does not have. spirv-image.md is the
// proposal.

// REQUIRES: spirv-val
// RUN: split-file %s %t
// RUN: mlir-translate-22 --no-implicit-module --serialize-spirv %t/sampled.mlir -o %t/sampled.spv
// RUN: not spirv-val --target-env opencl1.2 %t/sampled.spv 2>&1 | FileCheck %s --check-prefix=IF-MENDED-SHORTEN-OpenCLSpirvPatcher
// RUN: not mlir-translate-22 --no-implicit-module --serialize-spirv %t/void.mlir -o %t/void.spv 2>&1 | FileCheck %s --check-prefix=IF-MENDED-SHORTEN-OpenCLSpirvPatcher-none

// IF-MENDED-SHORTEN-OpenCLSpirvPatcher: Sampled Type must be OpTypeVoid in the OpenCL environment
// IF-MENDED-SHORTEN-OpenCLSpirvPatcher-none: cannot use 'none' to compose SPIR-V types

//--- sampled.mlir
spirv.module Physical64 OpenCL requires #spirv.vce<v1.0, [Kernel, Addresses, ImageBasic], []> {
  spirv.func @write(%out: !spirv.image<f32, Dim2D, NoDepth, NonArrayed, SingleSampled, SamplerUnknown, Unknown>,
                    %at: vector<2xi32>, %v: vector<4xf32>) "None" {
    spirv.ImageWrite %out, %at, %v : !spirv.image<f32, Dim2D, NoDepth, NonArrayed, SingleSampled, SamplerUnknown, Unknown>, vector<2xi32>, vector<4xf32>
    spirv.Return
  }
  spirv.EntryPoint "Kernel" @write
}

//--- void.mlir
spirv.module Physical64 OpenCL requires #spirv.vce<v1.0, [Kernel, Addresses, ImageBasic], []> {
  spirv.func @write(%out: !spirv.image<none, Dim2D, NoDepth, NonArrayed, SingleSampled, SamplerUnknown, Unknown>,
                    %at: vector<2xi32>, %v: vector<4xf32>) "None" {
    spirv.ImageWrite %out, %at, %v : !spirv.image<none, Dim2D, NoDepth, NonArrayed, SingleSampled, SamplerUnknown, Unknown>, vector<2xi32>, vector<4xf32>
    spirv.Return
  }
  spirv.EntryPoint "Kernel" @write
}
