# As aarch64.cmake, for whole programs, with the libraries that deploy/package.sh unpacks below
# build/. Used by the preset portable-aarch64.
include(${CMAKE_CURRENT_LIST_DIR}/aarch64.cmake)
get_filename_component(LLMB_UNPACKED ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-packages ABSOLUTE)
set(CMAKE_CROSSCOMPILING_EMULATOR ${LLMB_UNPACKED}/usr/bin/qemu-aarch64-static)
set(libraries ${LLMB_UNPACKED}/usr/lib/aarch64-linux-gnu)
set(CMAKE_PREFIX_PATH ${LLMB_UNPACKED}/usr)
set(CMAKE_LIBRARY_PATH ${libraries}/openblas-pthread)
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES
  ${LLMB_UNPACKED}/usr/include/aarch64-linux-gnu ${LLMB_UNPACKED}/usr/include)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${LLMB_UNPACKED})
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig:${libraries}/openblas-pthread/pkgconfig)
