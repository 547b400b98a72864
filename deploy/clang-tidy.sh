#!/usr/bin/env bash
# clang-tidy over the program's own C++ files, as .clang-tidy says. Arguments: build folder, jobs.
# Tests are left out: GoogleTest's macros cost most of the time, and the compiler reads them too.
set -euo pipefail
build="${1:?build folder}" jobs="${2:-1}"
# Without GCC's precompiled headers, which clang cannot read, so that each file is seen to include what
# it uses; and without the warnings that only GCC knows.
database="$(mktemp -d)"
trap 'rm -rf "$database"' EXIT
sed -E 's/ -Winvalid-pch| -fpch-preprocess| -Wno-(restrict|stringop-[a-z]+)| -include [^ ]*cmake_pch\.hxx//g' "$build/compile_commands.json" \
  >"$database/compile_commands.json"
# What the compilation database knows and git tracks: generated sources are left out.
git ls-files '*.cpp' ':!tests' | while read -r file; do
  if grep -qF "/$file\"" "$database/compile_commands.json"; then printf '%s\0' "$file"; fi
done | xargs -0 -n 1 -P "$jobs" clang-tidy --quiet -p "$database" 2> >(grep -v 'warnings generated' >&2)
