# Unit tests and benchmarks.

# layout_add_unittest(name sources... [SEPARATE] [LINK libs...]
#                     [PRECOMPILED header])
# Adds a GoogleTest program. The name must end in "Tests", so that lit finds the
# program and reports each of its cases as a test. PRECOMPILED names a header of
# cmake/Precompiled; the default holds GoogleTest. SEPARATE sources have helpers of
# the same names, and are not joined by a unity build.
#
#   layout_add_unittest(LayoutAlgebraTests MapTest.cpp LINK LayoutAlgebra)
function(layout_add_unittest name)
  cmake_parse_arguments(ARG "SEPARATE" "PRECOMPILED" "LINK" ${ARGN})
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED GoogleTest)
  endif()
  if(NOT name MATCHES "Tests$")
    message(FATAL_ERROR "the unit test ${name} must have a name that ends in Tests")
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest
                                        GTest::gtest_main MLIR LLVM)
  # A precompiled header serves only code of its own kind, -fPIC, and CMake
  # compiles executables with -fPIE. Tests take longer to compile than to run, but
  # Clang takes a precompiled header at its own level of optimization only.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  if(ARG_SEPARATE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  target_compile_options(${name} PRIVATE -fPIC
    $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-O1>)
  layout_use_precompiled(${name} ${ARG_PRECOMPILED})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/Unit)
  set_property(GLOBAL APPEND PROPERTY LAYOUT_UNITTESTS ${name})
endfunction()

# Removes the unit test programs of earlier configurations, which lit would still
# run.
function(layout_remove_stale_unittests)
  get_property(names GLOBAL PROPERTY LAYOUT_UNITTESTS)
  file(GLOB programs LIST_DIRECTORIES FALSE ${PROJECT_BINARY_DIR}/test/Unit/*Tests)
  foreach(program IN LISTS programs)
    get_filename_component(name ${program} NAME)
    if(NOT name IN_LIST names)
      file(REMOVE ${program})
    endif()
  endforeach()
endfunction()

add_custom_target(layout-benchmarks)

# layout_add_benchmark(name sources... [LINK libs...])
# Adds a Google Benchmark program. The target layout-benchmarks builds it, not
# `all`, and `./dev bench` runs it.
function(layout_add_benchmark name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} benchmark::benchmark
                                        benchmark::benchmark_main MLIR LLVM)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
  add_dependencies(layout-benchmarks ${name})
  set_property(GLOBAL APPEND PROPERTY LAYOUT_BENCHMARKS
    ${PROJECT_BINARY_DIR}/benchmarks/${name})
endfunction()

# Writes the list of benchmark programs for `./dev bench`.
function(layout_finish_benchmarks)
  get_property(programs GLOBAL PROPERTY LAYOUT_BENCHMARKS)
  string(REPLACE ";" "\n" index "${programs}")
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/benchmarks.list CONTENT "${index}\n")
endfunction()
