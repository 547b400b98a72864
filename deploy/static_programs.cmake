# Programs with every library linked into their one file, for Linux machines that have none of them.
# They are linked from the objects of the ordinary programs: which of a package's libraries a program
# gets, shared or static, is for its property LLMB_STATIC_PROGRAM to say.

# Why this build has none of them; empty where it has.
set(LLMB_NO_STATIC_PROGRAMS "")
if(LLMB_SANITIZE)
  set(LLMB_NO_STATIC_PROGRAMS "sanitizers are linked dynamically")
endif()

# llmb_package(name SHARED item… STATIC item…): a target to link to. An item is a target, an option
# of the linker, or, of STATIC, the file name of an archive.
function(llmb_package name)
  cmake_parse_arguments(PACKAGE "" "" "SHARED;STATIC" ${ARGN})
  add_library(${name} INTERFACE)
  set(is_static "$<BOOL:$<TARGET_PROPERTY:LLMB_STATIC_PROGRAM>>")
  foreach(item IN LISTS PACKAGE_SHARED)
    target_link_libraries(${name} INTERFACE "$<$<NOT:${is_static}>:${item}>")
  endforeach()
  foreach(item IN LISTS PACKAGE_STATIC)
    if(item MATCHES "^lib.*[.]a$")
      find_library(LLMB_ARCHIVE_${item} NAMES ${item})
      mark_as_advanced(LLMB_ARCHIVE_${item})
      if(LLMB_ARCHIVE_${item})
        set(item ${LLMB_ARCHIVE_${item}})
      elseif(NOT LLMB_NO_STATIC_PROGRAMS)
        set(LLMB_NO_STATIC_PROGRAMS "the static library ${item} was not found" PARENT_SCOPE)
      endif()
    endif()
    target_link_libraries(${name} INTERFACE "$<${is_static}:${item}>")
  endforeach()
endfunction()

# llmb_add_static_program(program libraries…): builds static/<program> by the target
# <program>-static, from main.cpp of this folder.
function(llmb_add_static_program program)
  if(LLMB_NO_STATIC_PROGRAMS)
    return()
  endif()
  set(target ${program}-static)
  add_executable(${target} main.cpp)
  # The C library refuses to start such a program where it names folders of shared libraries.
  set_target_properties(${target} PROPERTIES
    LLMB_STATIC_PROGRAM ON
    SKIP_BUILD_RPATH ON
    OUTPUT_NAME ${program}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/static)
  target_compile_definitions(${target} PRIVATE LLMB_STATIC_PROGRAM)
  target_link_libraries(${target} PRIVATE ${ARGN})
  # The linker warns of each function that might load a shared library (getaddrinfo, dlopen); main.cpp
  # sees to it that none does, and tests/tidy to it that no source calls another one.
  target_link_options(${target} PRIVATE -static-pie -s LINKER:--no-warnings)
endfunction()

# llmb_link_packages_statically(target): for programs that load the GPU's libraries, and so are dynamic:
# of the machine they need the C library, and nothing else of a package.
function(llmb_link_packages_statically target)
  if(LLMB_NO_STATIC_PROGRAMS)
    return()
  endif()
  set_target_properties(${target} PROPERTIES LLMB_STATIC_PROGRAM ON)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc $<$<CONFIG:Release>:-s>)
endfunction()
