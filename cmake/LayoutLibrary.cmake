# Helpers that apply the same settings to all libraries and tools.

# The generated and the precompiled headers, which sources include.
add_custom_target(layout-headers)

# layout_add_library(name sources... [NO_MLIR] [DEPENDS targets...]
#                    [LINK libs...] [PRECOMPILED header])
# Adds a static library that is installed and exported as layout::<name>. Its
# sources include private headers by their path below the library's folder. LINK
# lists project libraries and MLIR components; all components resolve to
# libMLIR.so. NO_MLIR is for libraries that link only LLVM. PRECOMPILED names a
# header of cmake/Precompiled that all sources are compiled with, because MLIR's
# headers take longer to compile than the sources.
function(layout_add_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "PRECOMPILED" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
    add_dependencies(layout-headers ${ARG_DEPENDS})
  endif()
  layout_use_precompiled(${name} "${ARG_PRECOMPILED}")
  set(own)
  foreach(lib IN LISTS ARG_LINK)
    if(lib MATCHES "^Layout")
      list(APPEND own ${lib})
    endif()
  endforeach()
  set(upstream MLIR LLVM)
  if(ARG_NO_MLIR)
    set(upstream LLVM)
  endif()
  target_link_libraries(${name} PUBLIC ${own} ${upstream})
  install(TARGETS ${name} EXPORT LayoutTargets ARCHIVE DESTINATION lib)
  set_property(GLOBAL APPEND PROPERTY LAYOUT_LIBS ${name})
endfunction()

option(LAYOUT_PRECOMPILED_HEADERS "Compile MLIR's headers once" ON)

# layout_use_precompiled(target header)
# Compiles the sources of `target` with cmake/Precompiled/<header>.h, if given.
function(layout_use_precompiled target header)
  if(NOT header OR NOT LAYOUT_PRECOMPILED_HEADERS)
    return()
  endif()
  layout_precompile(${header})
  set_target_properties(${target} PROPERTIES LAYOUT_PRECOMPILED ${header})
  target_precompile_headers(${target} REUSE_FROM LayoutPrecompiled${header})
  # ccache stores objects that use a precompiled header only if the output of
  # the preprocessor refers to that header.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

# layout_precompile(header)
# Adds the target that compiles cmake/Precompiled/<header>.h, once.
function(layout_precompile header)
  set(target LayoutPrecompiled${header})
  if(TARGET ${target})
    return()
  endif()
  file(WRITE ${PROJECT_BINARY_DIR}/cmake/${target}.cpp "")
  add_library(${target} OBJECT ${PROJECT_BINARY_DIR}/cmake/${target}.cpp)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  if(header STREQUAL "GoogleTest")
    target_link_libraries(${target} PRIVATE GTest::gmock)
  endif()
  set(source ${PROJECT_SOURCE_DIR}/cmake/Precompiled/${header}.h)
  target_precompile_headers(${target} PRIVATE ${source})
  add_dependencies(layout-headers ${target})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    layout_share_precompiled(${target} ${source})
  endif()
endfunction()

# layout_share_precompiled(target source)
# Lets ccache share objects between build directories, although Clang writes the
# paths of a build directory and the times of headers to precompiled headers.
# These are not cached, and ccache hashes a checksum file in their place.
function(layout_share_precompiled target source)
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
  layout_write_checksum(${source}
    ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch)
endfunction()

# layout_write_checksum(source precompiled)
# Writes what ccache hashes in place of the precompiled header of `source`.
function(layout_write_checksum source precompiled)
  file(SHA256 ${source} hash)
  file(WRITE ${precompiled}.sum
    "${hash} ${LLVM_PACKAGE_VERSION} ${CMAKE_BUILD_TYPE}")
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY
    CMAKE_CONFIGURE_DEPENDS ${source})
endfunction()

# layout_add_tool(name sources... [NO_MLIR] [LINK libs...])
# Adds an executable that is installed and exported as layout::<name>.
function(layout_add_tool name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set(upstream MLIR LLVM)
  if(ARG_NO_MLIR)
    set(upstream LLVM)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} ${upstream})
  # libMLIR.so is outside the loader's default path on Debian.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${name} EXPORT LayoutTargets RUNTIME DESTINATION bin)
  set_property(GLOBAL APPEND PROPERTY LAYOUT_TOOLS ${name})
endfunction()
