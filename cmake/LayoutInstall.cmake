# The installed package, for use from another project:
#
#   find_package(Layout REQUIRED CONFIG)
#   target_link_libraries(my-compiler PRIVATE layout::Layout)
#
# or a single library instead of all, e.g. layout::LayoutSolver.
#
# This file is included after all calls of layout_add_library and
# layout_add_tool, which add libraries and tools to the export set.

include(CMakePackageConfigHelpers)

set(layout_cmake_dir lib/cmake/layout)
set(layout_include_dir include)
get_property(LAYOUT_EXPORTED_LIBS GLOBAL PROPERTY LAYOUT_LIBS)
list(TRANSFORM LAYOUT_EXPORTED_LIBS PREPEND "layout::")

# The headers of the C API are in a separate directory.
foreach(dir include/layout include/layout-c)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${dir} ${PROJECT_BINARY_DIR}/${dir}
    DESTINATION include OPTIONAL
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
    PATTERN "CMakeFiles" EXCLUDE)
endforeach()

install(EXPORT LayoutTargets NAMESPACE layout:: DESTINATION ${layout_cmake_dir})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/LayoutConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/LayoutConfig.cmake
  INSTALL_DESTINATION ${layout_cmake_dir}
  PATH_VARS layout_include_dir)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cmake/LayoutConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/LayoutConfig.cmake
              ${PROJECT_BINARY_DIR}/cmake/LayoutConfigVersion.cmake
  DESTINATION ${layout_cmake_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/mlir-layout)
