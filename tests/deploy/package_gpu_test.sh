#!/usr/bin/env bash
# Whether deploy/package_gpu.sh makes a folder that runs wherever it is put, and names what is missing,
# here and on a node: of a runner and libraries that are CUDA's by name only, and of a cuDNN that no
# machine has. Argument: a C++ compiler.
set -euo pipefail
source_tree="$(realpath "$(dirname "$0")/../..")" compiler="$1"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
# holds FILE WORDS
holds() { grep -qF -- "$2" "$1" || { cat "$1" >&2; fail "$1 does not say: $2"; }; }

cuda="$folder/cuda" build="$folder/build"
mkdir -p "$cuda/include" "$cuda/lib64" "$build/bin"
echo '#define CUDA_VERSION 13000' >"$cuda/include/cuda.h"
echo '#define CUBLAS_VER_MAJOR 13' >"$cuda/include/cublas_api.h"
echo '#define CUDNN_MAJOR 99' >"$cuda/include/cudnn_version.h"
cat >"$build/CMakeCache.txt" <<TEXT
LLMB_CUDA_INCLUDE:PATH=$cuda/include
LLMB_CUBLASLT_INCLUDE:PATH=$cuda/include
LLMB_CUDNN_INCLUDE:PATH=$cuda/include
LLMB_CUDART:FILEPATH=$cuda/lib64/libcudart_static.a
TEXT
# library NAME FUNCTION LINK...: a shared library with one function
library() {
  echo "extern \"C\" int $2() { return 1; }" |
    "$compiler" -shared -fPIC -x c++ - -x none -o "$cuda/lib64/$1" "-Wl,-soname,$1" "${@:3}"
}
library libcublasLt.so.13 cublas
library libcudnn.so.99 cudnn
library libcudnn_graph.so.99 graph
needs_graph=("$cuda/lib64/libcudnn_graph.so.99" -Wl,--no-as-needed)
library libcudnn_cnn.so.99 cnn -Wl,--no-as-needed "${needs_graph[@]}" '-Wl,-rpath,$ORIGIN'
library libnvrtc.so.13 nvrtc
library libnvrtc-builtins.so.13.0 builtins
# A runner that loads all of it from beside itself.
cat >"$folder/runner.cpp" <<'TEXT'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
int main(int argc, char** argv) {
  if (argc > 1) return puts("llmb-step-runner 1\nbackends: cpu cuda") < 0;
  std::string here = realpath(argv[0], nullptr);
  here.resize(here.rfind('/') + 1);
  for (const char* name : {"libcublasLt.so.13", "libcudnn.so.99", "libcudnn_cnn.so.99", "libnccl.so.2",
                           "libnvrtc.so.13"}) {
    if (!dlopen((here + name).c_str(), RTLD_NOW)) return fprintf(stderr, "%s\n", dlerror()), 1;
  }
}
TEXT
"$compiler" "$folder/runner.cpp" -o "$build/bin/llmb-step-runner" -ldl
# package EXIT: what the script says is in $folder/said
package() {
  local status=0
  # Folders are the caller's.
  (cd "$folder" && "$source_tree/deploy/package_gpu.sh" --build build --libraries cuda/lib64 \
    --output packed) >"$folder/said" 2>&1 || status=$?
  [ "$status" -eq "$1" ] || { cat "$folder/said" >&2; fail "package_gpu.sh ended with $status"; }
}

# What is missing is named, with the places that were looked in, and nothing is packed.
package 1
holds "$folder/said" 'this machine lacks NCCL (libnccl.so.2)'
holds "$folder/said" "not in $cuda/lib64"
[ ! -e "$folder/packed" ] || fail "half a folder was packed"
library libnccl.so.2 nccl

package 0
(cd "$folder/packed" && sha256sum --check --strict --quiet SHA256SUMS)
[ "$(ls "$folder/packed" | wc -l)" -eq 10 ] || fail "the folder holds: $(ls "$folder/packed")"
# Elsewhere, and with what it was made of gone.
mv "$folder/packed" "$folder/elsewhere" && mv "$cuda/lib64" "$folder/gone"
"$folder/elsewhere/llmb-step-runner" || fail "the runner does not find its libraries beside itself"
mv "$folder/gone" "$cuda/lib64"

# A library that does not look beside itself is found here, not on a node.
library libcudnn_cnn.so.99 cnn -Wl,--no-as-needed "${needs_graph[@]}"
package 1
holds "$folder/said" 'libcudnn_cnn.so.99 does not find libcudnn_graph.so.99 beside itself'
library libcudnn_cnn.so.99 cnn -Wl,--no-as-needed "${needs_graph[@]}" '-Wl,-rpath,$ORIGIN'

# check EXIT: on a node whose files are below $folder/node
node="$folder/node"
check() {
  local status=0
  LLMB_NODE_ROOT="$node" "$folder/elsewhere/check-node" --sums >"$folder/said" 2>&1 || status=$?
  [ "$status" -eq "$1" ] || { cat "$folder/said" >&2; fail "check-node ended with $status"; }
}
mkdir -p "$node/proc/driver/nvidia" "$node/dev" "$node/usr/lib64"
check 1
holds "$folder/said" "lacks NVIDIA's driver (580.65.06 or later): it is not loaded"
holds "$folder/said" 'lacks a GPU'
holds "$folder/said" 'lacks libcuda.so.1'
echo 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build  (root@b)' \
  >"$node/proc/driver/nvidia/version"
touch "$node/dev/nvidia0" "$node/usr/lib64/libcuda.so.1" "$node/usr/lib64/libnvidia-ml.so.1"
check 1
holds "$folder/said" 'lacks a driver for CUDA 13 (580.65.06 or later): this is 570.86.15'
sed -i 's/570.86.15/580.95.05/' "$node/proc/driver/nvidia/version"
check 0
holds "$folder/said" 'nothing is lacking: driver 580.95.05'
rm "$folder/elsewhere/libcudnn_graph.so.99"
check 1
holds "$folder/said" 'lacks libcudnn_graph.so.99, which libcudnn_cnn.so.99 needs'
holds "$folder/said" 'lacks whole files'

# A runner without the backend, or none.
printf '#!/bin/sh\necho "backends: cpu"\n' >"$build/bin/llmb-step-runner"
echo 'LLMB_NO_CUDA_BACKEND:INTERNAL=nvcc was not found' >>"$build/CMakeCache.txt"
package 1
holds "$folder/said" 'has no CUDA backend: nvcc was not found'
rm "$build/bin/llmb-step-runner"
package 1
holds "$folder/said" 'has no llmb-step-runner: build that target first'
