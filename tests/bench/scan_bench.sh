#!/usr/bin/env bash
# How fast the scan of a log is beside rg and cat: runs them in turn on one log, all from a pipe,
# and prints the median of the per-round ratios, by wall clock and (in parentheses) by the processor
# time of the process, which other work on the machine changes less. Nothing here passes or fails by
# time; it does fail when the line counts differ. "wanted" is all that LogReader looks for,
# "best" is the engine that this machine takes; "reader" is the whole LogReader, with its own
# literals, RE2 and statistics of the log.
#
#   tests/bench/scan_bench.sh [BUILD_DIR] [ROUNDS] [BYTES]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
rounds=${2:-9}
bytes=${3:-1000000000}
for program in make_bench_log scan_bench; do
  [ -x "$build/bin/$program" ] || {
    echo "$build/bin/$program is missing: build it (cmake --build $build --target $program)" >&2
    exit 1
  }
done
command -v rg >/dev/null || { echo "rg is missing: apt-get install ripgrep" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log.out
"$build/bin/make_bench_log" "$bytes" >"$log"

# measure NAME COMMAND...: appends the seconds that the command takes on the piped log (elapsed, and
# of a processor) to times.
TIMEFORMAT='%R %U %S'
measure() {
  local name=$1
  shift
  cat "$log" | { time "$@" >"$work/$name.count"; } 2>"$work/time"
  awk '{ print $1, $2 + $3 }' "$work/time" >>"$work/$name.times"
}

median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# ratio A B: the medians over the rounds of how many times faster A was than B.
ratio() {
  local column
  for column in 1 2; do
    paste -d' ' "$work/$1.times" "$work/$2.times" |
      awk -v c=$column '{ printf "%.2f\n", $(c + 2) / $c }' | median
  done | paste -sd' ' | sed 's/ \(.*\)/ (\1)/'
}

rate() { awk -v n="$bytes" '{ printf "%.3f\n", n / $1 / 1e9 }' "$work/$1.times" | median; }

# The other engines of this machine.
engines() { [ "$(uname -m)" = x86_64 ] && echo avx2 ssse3 portable || echo portable; }

to_null() { cat >/dev/null; }

cp "$here"/{step,many}_literals.txt "$work"
"$build/bin/scan_bench" --literals >"$work/wanted_literals.txt"

for literals in step many wanted; do
  file=$work/${literals}_literals.txt
  rm -f "$work"/*.times
  for ((round = 0; round < rounds; ++round)); do
    measure cat to_null
    measure rg rg --no-config -j1 -c -F -f "$file" -
    for engine in best $(engines); do
      measure "$engine" "$build/bin/scan_bench" "$file" $([ $engine = best ] || echo $engine)
      cmp -s "$work/rg.count" "$work/$engine.count" ||
        { echo "rg and $engine count different lines" >&2; exit 1; }
    done
    measure reader "$build/bin/scan_bench" --reader
    [ "$(cat "$work/reader.count")" = 50 ] ||
      { echo "LogReader found other than 50 steps" >&2; exit 1; }
  done
  echo "$(wc -l <"$file") literals ($literals), $(cat "$work/rg.count") lines of $bytes bytes," \
    "$rounds rounds:"
  printf '  %-9s %s GB/s\n' cat "$(rate cat)" rg "$(rate rg)"
  for engine in best $(engines) reader; do
    printf '  %-9s %s GB/s, %s x rg, %s x cat\n' "$engine" "$(rate "$engine")" \
      "$(ratio "$engine" rg)" "$(ratio "$engine" cat)"
  done
done
