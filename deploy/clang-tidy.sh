#!/usr/bin/env bash
# clang-tidy over the program's own C++ files, as .clang-tidy says. Arguments: build folder, jobs.
# Tests are left out: GoogleTest's macros cost most of the time, and the compiler reads them too.
set -euo pipefail
build="${1:?build folder}" jobs="${2:-1}"
# What the compilation database knows and git tracks: generated sources are left out.
git ls-files '*.cpp' ':!tests' | while read -r file; do
  if grep -qF "/$file\"" "$build/compile_commands.json"; then printf '%s\0' "$file"; fi
done | xargs -0 -n 1 -P "$jobs" clang-tidy --quiet -p "$build" 2> >(grep -v 'warnings generated' >&2)
