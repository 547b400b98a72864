# Cross compiling for aarch64 (Grace login nodes) on a Debian of another kind, with the libraries that
# deploy/package.sh unpacks below build/; what is built runs here under qemu-user. Used by the preset
# aarch64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
get_filename_component(LLMB_UNPACKED ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-packages ABSOLUTE)
set(CMAKE_CROSSCOMPILING_EMULATOR ${LLMB_UNPACKED}/usr/bin/qemu-aarch64-static)
set(libraries ${LLMB_UNPACKED}/usr/lib/aarch64-linux-gnu)
set(CMAKE_PREFIX_PATH ${LLMB_UNPACKED}/usr)
set(CMAKE_LIBRARY_PATH ${libraries}/openblas-pthread)
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES
  ${LLMB_UNPACKED}/usr/include/aarch64-linux-gnu ${LLMB_UNPACKED}/usr/include)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${LLMB_UNPACKED})
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig:${libraries}/openblas-pthread/pkgconfig)
