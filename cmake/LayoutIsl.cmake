# isl, the integer set library that lib/Algebra/Proofs/IntegerSets.cpp uses.
#
# libLLVM.so may export another version of isl (Polly's), whose symbols would
# conflict in one process. Therefore isl is linked into the objects that use it,
# before other libraries, and its symbols are made local.
#
# Debian's archive is compiled for executables: its code expects `stderr` in the
# program itself, which plugins and Python modules do not provide. The symbol is
# renamed to a variable that IntegerSets.cpp defines.

find_path(LAYOUT_ISL_INCLUDE_DIR isl/ctx.h)
find_library(LAYOUT_ISL_LIBRARY libisl.a)
# The run-time library suffices, without its development package.
find_library(LAYOUT_GMP_LIBRARY NAMES gmp libgmp.so.10)
foreach(found LAYOUT_ISL_INCLUDE_DIR LAYOUT_ISL_LIBRARY LAYOUT_GMP_LIBRARY)
  if(NOT ${found})
    message(FATAL_ERROR
      "MLIR Layout needs isl with its static library; ${found} was not found. "
      "Install libisl-dev.")
  endif()
endforeach()

# layout_embed_isl(target source)
# Adds <source>, which uses isl, and isl itself to the library <target>.
function(layout_embed_isl target source)
  set(objects ${target}WithIsl)
  add_library(${objects} OBJECT ${source})
  target_include_directories(${objects} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_include_directories(${objects} SYSTEM PRIVATE ${LAYOUT_ISL_INCLUDE_DIR})
  set(linked ${CMAKE_CURRENT_BINARY_DIR}/${objects}.linked.o)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/${objects}.o)
  set(isl ${CMAKE_CURRENT_BINARY_DIR}/${objects}.isl.a)
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${CMAKE_OBJCOPY} --redefine-sym stderr=layout_isl_stderr
            ${LAYOUT_ISL_LIBRARY} ${isl}
    COMMAND ${CMAKE_LINKER} -r -o ${linked} $<TARGET_OBJECTS:${objects}> ${isl}
    COMMAND ${CMAKE_OBJCOPY} --wildcard --localize-symbol=isl_* ${linked}
            ${embedded}
    DEPENDS ${objects} $<TARGET_OBJECTS:${objects}> ${LAYOUT_ISL_LIBRARY}
    BYPRODUCTS ${linked} ${isl}
    COMMENT "Embedding isl in ${target}"
    COMMAND_EXPAND_LISTS
    VERBATIM)
  set_source_files_properties(${embedded} PROPERTIES
    EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${target} PRIVATE ${embedded})
  get_filename_component(gmp ${LAYOUT_GMP_LIBRARY} NAME)
  target_link_libraries(${target} PRIVATE
    $<BUILD_INTERFACE:${LAYOUT_GMP_LIBRARY}> $<INSTALL_INTERFACE:-l:${gmp}>)
endfunction()
