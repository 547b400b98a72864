# Headers that most files of a target include, parsed once a target instead of once a file. Only
# headers of the standard library and of packages, which do not change from commit to commit. Every
# file still includes what it uses: `deploy/clang-tidy.sh build/dev` reads each one without this.
set(LLMB_STANDARD_HEADERS
  <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <functional> <map> <memory>
  <optional> <span> <stdexcept> <string> <string_view> <utility> <vector>)

# llmb_precompile(target [header…]): the standard headers, and those given.
function(llmb_precompile target)
  # A unity build reads its headers once for many files anyway.
  if(CMAKE_UNITY_BUILD)
    return()
  endif()
  # Without this GCC option ccache does not see what a precompiled header held.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  target_precompile_headers(${target} PRIVATE
    ${LLMB_STANDARD_HEADERS} ${ARGN})
endfunction()
