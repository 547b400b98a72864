#!/usr/bin/env bash
# Installs what is missing, builds, and passes every test: rules, fuzz smoke, the parser and the packed
# programs on aarch64, sanitizers, tests.
# Safe to run again. Ends with the test runner's own summary.
set -euo pipefail
cd "$(dirname "$0")/.."
source deploy/packages.sh

usage() {
  cat <<'TEXT'
Usage: deploy/test.sh [--quick]

  --quick  build and run the tests only: no formatting, tidy, fuzz, aarch64 and sanitizer runs

Environment: LLMB_BUILD_JOBS    compilers to run at once (default: one a core)
             LLMB_FUZZ_SECONDS  how long each fuzz target runs (default 20)
TEXT
}

quick=0
case "${1:-}" in
  "") ;;
  --quick) quick=1 ;;
  -h | --help) usage; exit 0 ;;
  *) echo "test.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
esac
jobs="${LLMB_BUILD_JOBS:-$(nproc)}"

# Several run at once: each says all it has to say when it is done.
run_fuzz_target() {
  local said status=0
  said="$("$1" -max_total_time="${LLMB_FUZZ_SECONDS:-20}" -timeout=10 -rss_limit_mb=2048 \
    -verbosity=0 -print_final_stats=1 2>&1)" || status=$?
  printf -- '-- %s\n%s\n' "$1" "$said"
  return "$status"
}
export -f run_fuzz_target

say "Packages"
install_missing "${LLMB_BUILD_PACKAGES[@]}" "${LLMB_TEST_PACKAGES[@]}"
install_node
install_missing "${LLMB_SLURM_PACKAGES[@]}" "${LLMB_SLURM_ACCOUNTING_PACKAGES[@]}" ||
  echo "Without these the tests on a real Slurm are skipped, and say so."
install_missing "${LLMB_POSTGRESQL_PACKAGES[@]}" ||
  echo "Without it the tests on a real PostgreSQL are skipped, and say so."
aarch64=0 packed_aarch64=0
if [ "$quick" -eq 0 ]; then
  install_aarch64 && aarch64=1 || echo "Without these the parser's tests for aarch64 are skipped."
  [ "$aarch64" -eq 0 ] || { unpack_aarch64 && packed_aarch64=1; } ||
    echo "Without these the packed programs for aarch64 are not tried."
fi

say "Build"
cmake --preset check
cmake --build --preset check -j "$jobs"

if [ "$quick" -eq 0 ]; then
  say "Formatting (clang-format)"
  git ls-files -z '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -0 clang-format --dry-run --Werror

  say "Static checks (clang-tidy)"
  deploy/clang-tidy.sh build/check "$jobs"

  say "Fuzz smoke"
  cmake --preset fuzz
  cmake --build --preset fuzz --target llmb_fuzz_targets -j "$jobs"
  printf '%s\0' build/fuzz/bin/*_fuzz | xargs -0 -n 1 -P "$jobs" bash -c 'run_fuzz_target "$@"' fuzz

  if [ "$aarch64" -eq 1 ]; then
    say "The parser on aarch64, under qemu-user"
    cmake --preset aarch64
    cmake --build --preset aarch64 -j "$jobs"
    ctest --test-dir build/aarch64 --output-on-failure -j "$jobs"
  fi
  if [ "$packed_aarch64" -eq 1 ]; then
    say "The packed programs for aarch64, in an empty root folder under qemu-user"
    # 77: neither root nor user namespaces, and it has said so.
    deploy/package.sh --check --machine aarch64 || [ $? -eq 77 ]
  fi

  say "Tests of what reads others' bytes, under AddressSanitizer and UndefinedBehaviorSanitizer"
  cmake --preset asan
  cmake --build --preset asan --target llmb_memory_tests -j "$jobs"
  ctest --test-dir build/asan --output-on-failure -j "$jobs" -L memory

  say "Threaded tests under ThreadSanitizer"
  cmake --preset tsan
  cmake --build --preset tsan --target llmb_threaded_tests -j "$jobs"
  ctest --test-dir build/tsan --output-on-failure -j "$jobs" -L threaded
fi

say "Tests"
# One more at once than there are cores: the longest of them wait for Slurm, or for a mount that hangs.
ctest --test-dir build/check --output-on-failure -j "$((jobs + 1))"
