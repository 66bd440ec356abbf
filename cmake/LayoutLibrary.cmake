# Helpers that give every library and tool of the project the same settings.

# layout_add_library(name sources... [DEPENDS targets...] [LINK libs...])
# A static library that is installed and exported as layout::<name>. LINK takes
# project libraries and MLIR component names; the latter all resolve to
# libMLIR.so.
function(layout_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set(own)
  foreach(lib IN LISTS ARG_LINK)
    if(lib MATCHES "^Layout")
      list(APPEND own ${lib})
    endif()
  endforeach()
  target_link_libraries(${name} PUBLIC ${own} MLIR LLVM)
  install(TARGETS ${name} EXPORT LayoutTargets ARCHIVE DESTINATION lib)
  set_property(GLOBAL APPEND PROPERTY LAYOUT_LIBS ${name})
endfunction()

# layout_add_tool(name sources... [LINK libs...])
function(layout_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  # libMLIR.so is outside the loader's default path on Debian.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${name} EXPORT LayoutTargets RUNTIME DESTINATION bin)
  set_property(GLOBAL APPEND PROPERTY LAYOUT_TOOLS ${name})
endfunction()
