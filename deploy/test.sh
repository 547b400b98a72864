#!/usr/bin/env bash
# Installs what is missing, builds, and passes every test: rules, fuzz smoke, the parser and the packed
# programs on aarch64, sanitizers, tests. The tests run beside all that follows their build.
# Safe to run again. Ends with the test runner's own summary, and where tests failed with their words.
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

# Beside the tests, so that these have the cores first: some of them wait for an answer in two seconds.
build() {
  cmake --preset "$1"
  nice cmake --build --preset "$@" -j "$jobs"
}

# One more at once than there are cores: the longest of them wait for Slurm, or for a mount that hangs.
run_tests() {
  ctest --test-dir build/check --output-on-failure -j "$((jobs + 1))"
}

# What failed, by its own words: the summary names programs only, and what they said is far above it.
# Of page tests a file is a program. In TAP a test that holds one that failed has failed, too, and is
# left out: its failureType stands between its name and its error.
say_what_failed() {
  awk '/^ *not ok / { name = $0; next }
    /^ *failureType: / {
      holds_it = /subtestsFailed/
      if (!holds_it) { print name; ++lines }
      next
    }
    /^ *error: / && holds_it { holds_it = 0; next }
    /^\[  FAILED  \] .* \([0-9]+ ms\)$|: Failure$/ { print; ++lines }
    /^ *error: / { print; ++lines; more = /\|-$/ ? 6 : 0; next }
    more-- > 0 && NF { print; ++lines }
    lines >= 20 { exit }' "$1"
}

# Whatever else has failed, the tests are waited for, and what they say comes last.
end_with_tests() {
  local status=$? failed=""
  [ "$status" -eq 0 ] || failed="test.sh: failed before this: $part"
  say "Tests"
  wait "$tests" || status=$?
  cat "$tests_said"
  [ "$status" -eq 0 ] || say_what_failed "$tests_said"
  [ -z "$failed" ] || echo "$failed" >&2
  exit "$status"
}

begin() {
  part="$1"
  say "$part"
  echo "$((SECONDS / 60)) minutes so far."
}

say "Packages"
install_missing "${LLMB_BUILD_PACKAGES[@]}" "${LLMB_TEST_PACKAGES[@]}"
install_node
install_missing "${LLMB_SLURM_PACKAGES[@]}" "${LLMB_SLURM_ACCOUNTING_PACKAGES[@]}" ||
  echo "Without these the tests on a real Slurm are skipped, and say so."
install_missing "${LLMB_POSTGRESQL_PACKAGES[@]}" ||
  echo "Without it the tests on a real PostgreSQL are skipped, and say so."
aarch64=0
if [ "$quick" -eq 0 ]; then
  prepare_aarch64 && aarch64=1 ||
    echo "Without these neither the parser's tests nor the packed programs run for aarch64."
fi

say "Build"
cmake --preset check
cmake --build --preset check -j "$jobs"

if [ "$quick" -eq 1 ]; then
  say "Tests"
  run_tests
  exit
fi

# A process group of their own, which an interrupt ends as a whole.
tests_said=build/check/tests.txt
echo "The tests run from here on; $tests_said tells how far they are."
set -m
run_tests </dev/null >"$tests_said" 2>&1 &
tests=$!
set +m
trap 'kill -INT -- "-$tests"; exit 130' INT TERM
trap end_with_tests EXIT

begin "Formatting (clang-format)"
git ls-files -z '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -0 clang-format --dry-run --Werror

begin "Static checks (clang-tidy)"
nice deploy/clang-tidy.sh build/check "$jobs"

if [ "$aarch64" -eq 1 ]; then
  begin "The packed programs for aarch64, in an empty root folder under qemu-user"
  # 77: neither root nor user namespaces, and it has said so.
  nice deploy/package.sh --check --machine aarch64 || [ $? -eq 77 ]
  begin "The parser on aarch64, under qemu-user"
  build aarch64 --target llmb_emulated_tests
  ctest --test-dir build/aarch64 --output-on-failure -j "$jobs"
fi

begin "Fuzz smoke"
build asan --target llmb_fuzz_targets
printf '%s\0' build/asan/bin/*_fuzz | xargs -0 -n 1 -P "$jobs" bash -c 'run_fuzz_target "$@"' fuzz

begin "Tests of what reads others' bytes, under AddressSanitizer and UndefinedBehaviorSanitizer"
build asan --target llmb_memory_tests
ctest --test-dir build/asan --output-on-failure -j "$jobs" -L memory

begin "Threaded tests under ThreadSanitizer"
build tsan --target llmb_threaded_tests
ctest --test-dir build/tsan --output-on-failure -j "$jobs" -L threaded
