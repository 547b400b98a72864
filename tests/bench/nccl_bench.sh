#!/usr/bin/env bash
# How fast an NCCL trace is added up beside rg, which only counts its lines: both on one log, from a
# pipe, in turn. Prints the median of the per-round ratios. Nothing here passes or fails by time; it
# does fail when the two count different lines.
#
#   tests/bench/nccl_bench.sh [BUILD_DIR] [ROUNDS] [BYTES]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
rounds=${2:-7}
bytes=${3:-1000000000}
[ -x "$build/bin/scan_bench" ] || {
  echo "$build/bin/scan_bench is missing: build it (cmake --build $build --target scan_bench)" >&2
  exit 1
}
command -v rg >/dev/null || { echo "rg is missing: apt-get install ripgrep" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/trace.out

# Eight ranks, four operations of several sizes, as a step of a sharded model prints them; repeated
# until the log is large enough.
awk 'BEGIN {
  split("AllReduce AllGather ReduceScatter Broadcast", operations, " ")
  for (i = 0; i < 20000; ++i) {
    rank = i % 8
    operation = operations[i % 4 + 1]
    count = 1024 * (1 + int(i / 8) % 40)
    printf "node%02d:%d:%d [%d] NCCL INFO %s: opCount %x sendbuff 0x7f%08x00 recvbuff 0x7e%08x00 " \
           "count %d datatype %d op 0 root 0 comm 0x55e29%07x [nranks=%d] stream 0x55e29067e430\n",
           int(rank / 4), 191369 + rank, 191420 + rank, rank, operation, int(i / 8), i, i + 7,
           count, i % 3 ? 9 : 7, rank * 4096, 8
  }
}' >"$work/part"
while [ "$(stat -c %s "$log" 2>/dev/null || echo 0)" -lt "$bytes" ]; do
  for ((i = 0; i < 16; ++i)); do cat "$work/part"; done >>"$log"
done
size=$(stat -c %s "$log")

# measure NAME COMMAND...: appends the seconds that the command takes on the piped log to times.
measure() {
  local name=$1 began ended
  shift
  began=$EPOCHREALTIME
  cat "$log" | "$@" >"$work/$name.count"
  ended=$EPOCHREALTIME
  awk -v b="$began" -v e="$ended" 'BEGIN { printf "%.6f\n", e - b }' >>"$work/$name.times"
}
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

for ((round = 0; round < rounds; ++round)); do
  measure rg rg --no-config -j1 -c 'NCCL INFO' -
  measure reader "$build/bin/scan_bench" --nccl
  cmp -s "$work/rg.count" "$work/reader.count" ||
    { echo "rg and the reader count different lines" >&2; exit 1; }
done
for name in rg reader; do
  awk -v n="$size" '{ printf "%.3f\n", n / $1 / 1e9 }' "$work/$name.times" | median |
    sed "s/^/$name GB\/s: /"
done
printf 'reader is so many times faster than rg: '
paste "$work/reader.times" "$work/rg.times" | awk '{ printf "%.3f\n", $2 / $1 }' | median
