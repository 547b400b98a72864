#!/bin/sh
# compile_kernel.sh OBJECT REPORT NVCC...: compiles, and keeps what ptxas says of the registers, which
# would fill the build's log, in REPORT. Where nvcc fails, everything is shown.
object="$1" report="$2"
shift 2
if "$@" >"$report" 2>&1; then
  grep -E 'warning' "$report" || true
else
  status=$?
  cat "$report"
  rm -f "$object"
  exit "$status"
fi
