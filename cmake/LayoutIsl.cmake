# isl, the solver behind lib/Algebra/IntegerSets.cpp.
#
# libLLVM.so may export an isl of its own (Polly's, of another version), and
# symbols of one name from two libraries meet in one process. So isl is linked
# into the objects that use it, before any other library is seen, and its names
# are made local to them.
#
# Debian's archive is made for executables: its code takes `stderr` for a
# variable of the program itself, which a plugin or a Python module cannot give
# it. IntegerSets.cpp defines the variable that it is made to take instead.

find_path(LAYOUT_ISL_INCLUDE_DIR isl/ctx.h)
find_library(LAYOUT_ISL_LIBRARY libisl.a)
# The run-time library is enough; its development package is not asked for.
find_library(LAYOUT_GMP_LIBRARY NAMES gmp libgmp.so.10)
foreach(found LAYOUT_ISL_INCLUDE_DIR LAYOUT_ISL_LIBRARY LAYOUT_GMP_LIBRARY)
  if(NOT ${found})
    message(FATAL_ERROR
      "MLIR Layout needs isl with its static library; ${found} was not found. "
      "Install libisl-dev.")
  endif()
endforeach()

# layout_embed_isl(target source)
# Adds <source>, which uses isl, to the library <target>.
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
