#!/usr/bin/env bash
# How fast an NCCL trace is added up beside rg, which only counts its lines: both on one log, from a
# pipe, in turn. Prints the median of the per-round ratios for each form of what stands before a line
# (a host, the rank alone, srun's label, nothing), and for a trace among as many other lines. Nothing
# here passes or fails by time; it does fail when the two count different lines.
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
make_part() {
  awk -v form="$1" 'BEGIN {
    split("AllReduce AllGather ReduceScatter Broadcast", operations, " ")
    for (i = 0; i < 20000; ++i) {
      rank = i % 8
      if (form == "host" || form == "mixed") {
        printf "node%02d:%d:%d [%d] ", int(rank / 4), 191369 + rank, 191420 + rank, rank
      }
      if (form == "rank") printf "[%d] ", rank
      if (form == "label") printf "%d: [%d] ", rank, rank
      operation = operations[i % 4 + 1]
      count = 1024 * (1 + int(i / 8) % 40)
      printf "NCCL INFO %s: opCount %x sendbuff 0x7f%08x00 recvbuff 0x7e%08x00 count %d datatype " \
             "%d op 0 root 0 comm 0x55e29%07x [nranks=%d] stream 0x55e29067e430\n",
             operation, int(i / 8), i, i + 7, count, i % 3 ? 9 : 7, rank * 4096, 8
      if (form == "mixed" && i % 8 == 7) {
        for (k = 0; k < 8; ++k) {
          print "    model.decoder.layers." k ".self_attention.linear_qkv.weight: shape (6144, " i ")"
        }
      }
    }
  }'
}
make_log() {
  : >"$log"
  make_part "$1" >"$work/part"
  while [ "$(stat -c %s "$log")" -lt "$bytes" ]; do
    for ((i = 0; i < 16; ++i)); do cat "$work/part"; done >>"$log"
  done
}

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

for form in host rank label none mixed; do
  make_log "$form"
  rm -f "$work"/*.times
  for ((round = 0; round < rounds; ++round)); do
    measure rg rg --no-config -j1 -c 'NCCL INFO' -
    measure reader "$build/bin/scan_bench" --nccl
    cmp -s "$work/rg.count" "$work/reader.count" ||
      { echo "rg and the reader count different lines in the form $form" >&2; exit 1; }
  done
  printf '%s: reader is so many times faster than rg: ' "$form"
  paste "$work/reader.times" "$work/rg.times" | awk '{ printf "%.3f\n", $2 / $1 }' | median
done
