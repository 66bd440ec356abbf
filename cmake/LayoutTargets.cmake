# The targets of the build. A folder lib/Targets/<T> with a folder Pipelines is a
# target, called <t> in LAYOUT_TARGETS:
#
#   -DLAYOUT_TARGETS="cpu;npu"
#
# Sets LAYOUT_TARGET_FOLDERS to the folders <T>, and LAYOUT_TARGET_LIBS to the
# libraries that register them, and writes layout/Targets/Targets.def
# (layout/Targets/Registration.h).

file(GLOB folders RELATIVE ${PROJECT_SOURCE_DIR}/lib/Targets CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/lib/Targets/*/Pipelines)
list(TRANSFORM folders REPLACE "/.*" "")
string(TOLOWER "${folders}" layout_known_targets)
set(LAYOUT_TARGETS "${layout_known_targets}" CACHE STRING
  "The targets to build, of ${layout_known_targets}")

foreach(target IN LISTS LAYOUT_TARGETS)
  if(NOT target IN_LIST layout_known_targets)
    message(FATAL_ERROR
      "LAYOUT_TARGETS has the unknown target '${target}'; known are ${layout_known_targets}")
  endif()
endforeach()
if(LAYOUT_BUILD_LOWERINGS AND NOT "cpu" IN_LIST LAYOUT_TARGETS)
  message(FATAL_ERROR
    "LAYOUT_TARGETS must have cpu, which lowers the host programs of all targets; "
    "only with -DLAYOUT_BUILD_LOWERINGS=OFF it may be left out")
endif()

# What has to do with several targets, e.g. tests that compare prices, is only in
# builds with all of them.
set(LAYOUT_MISSING_TARGETS ${layout_known_targets})
list(REMOVE_ITEM LAYOUT_MISSING_TARGETS ${LAYOUT_TARGETS})

set(LAYOUT_TARGET_FOLDERS)
set(LAYOUT_TARGET_LIBS)
set(models)
set(lowerings)
foreach(folder IN LISTS folders)
  string(TOLOWER ${folder} target)
  if(target IN_LIST LAYOUT_TARGETS)
    list(APPEND LAYOUT_TARGET_FOLDERS ${folder})
    list(APPEND LAYOUT_TARGET_LIBS LayoutTarget${folder})
    string(APPEND models "LAYOUT_TARGET(${folder})\n")
    if(LAYOUT_BUILD_LOWERINGS)
      list(APPEND LAYOUT_TARGET_LIBS Layout${folder}Pipelines)
      string(APPEND lowerings "LAYOUT_LOWERING(${folder})\n")
    endif()
  endif()
endforeach()

# layout_write_targets_def(file text)
# Writes the list of targets, with defaults of its macros.
function(layout_write_targets_def file text)
  set(head)
  set(tail)
  foreach(macro LAYOUT_TARGET LAYOUT_LOWERING)
    string(APPEND head "#ifndef ${macro}\n#define ${macro}(T)\n#endif\n")
    string(APPEND tail "#undef ${macro}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${head}${text}${tail}")
endfunction()

layout_write_targets_def(
  ${PROJECT_BINARY_DIR}/include/layout/Targets/Targets.def "${models}${lowerings}")
# For the test of a build without lowerings.
layout_write_targets_def(
  ${PROJECT_BINARY_DIR}/cmake/decision/layout/Targets/Targets.def "${models}")
