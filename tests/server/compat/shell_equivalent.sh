#!/usr/bin/env bash
# An equivalent, in shell and gawk, of the recipes' two parsers: the slow oracle of the compat
# tests and the baseline of the parse benchmark. Written for that from the documented behaviour of
# each release. Arguments: nemo|mbridge, release, table|csv|json, folder.
set -u
family=$1 release=$2 format=$3 folder=$4

first=35 last=44 skip='nccltrace|prepare_squad_dataset_exp|import_ckpt_exp|nsys_analysis'
pattern='*.out' unit='' nan_check=0 need_tflops=0
case $family@$release in
  nemo@25.05) first=11 skip=nccltrace need_tflops=1 ;;
  nemo@25.07) first=11 ;;
  nemo@*) ;;
  mbridge@25.10) unit='TFLOP/s/GPU' ;;
  mbridge@25.12) unit='MODEL_TFLOP/s/GPU' pattern='log*.out' ;;
  mbridge@26.02) unit='(MODEL_TFLOP/s/GPU|TFLOP/s/GPU)' pattern='log*.out' ;;
  mbridge@26.05) unit='(MODEL_TFLOP/s/GPU|TFLOP/s/GPU)' pattern='log*.out' nan_check=1 ;;
esac

nemo_program='
  match($0, /iteration ([0-9]+)\/49/, at) {
    step = at[1]
    if (step + 0 < first || step + 0 > last) next
    if (!match($0, /train_step_timing in s: ([0-9]+\.?[0-9]*)/, t)) next
    has = match($0, /TFLOPS_per_GPU: ([0-9]+\.?[0-9]*([eE][+-]?[0-9]+)?)/, f)
    if (!has && need_tflops) next
    time[++n] = t[1] + 0; time_sum += t[1]
    if (has) {
      value = f[1]
      if (value ~ /[eE]/) value = sprintf("%.10f", value)
      flop[++m] = value + 0; flop_sum += value
    }
    if (step + 0 > top + 0) top = step
  }
  END {
    if (!n) exit
    if (top + 0 < last) { print "short", top; exit }
    mean = time_sum / n
    for (i = 1; i <= n; i++) squares += (time[i] - mean) * (time[i] - mean)
    flop_mean = flop_std = "-"
    if (m) {
      fm = flop_sum / m
      for (i = 1; i <= m; i++) fs += (flop[i] - fm) * (flop[i] - fm)
      flop_mean = sprintf("%.2f", fm); flop_std = sprintf("%.2f", sqrt(fs / m))
    }
    printf "whole %.3f %.3f %s %s\n", mean, sqrt(squares / n), flop_mean, flop_std
  }'

mbridge_program='
  nan_check && tolower($0) ~ /grad[ _]norm[[:space:]]*:[[:space:]]*nan([[:space:]]|[|]|$)/ && bad == "" {
    bad = match($0, /iteration[[:space:]]*([0-9]+)/, at) ? at[1] + 0 : "unknown"
  }
  match($0, "([0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?)[[:space:]]*" unit, f) { pending = f[1] }
  /iteration[[:space:]]*[0-9]+[[:space:]]*\/[[:space:]]*[0-9]+/ {
    match($0, /iteration[[:space:]]*([0-9]+)/, at)
    step = at[1] + 0
    if (step < first || step > last) next
    if (!match($0, /elapsed time per iteration \(ms\):[[:space:]]*([0-9]+(\.[0-9]+)?)/, t)) next
    time[++n] = t[1] + 0; time_sum += time[n]
    if (pending != "") { flop[++m] = pending + 0; flop_sum += flop[m] }
    pending = ""
    if (step > top) top = step
  }
  END {
    if (bad != "") { print "bad", bad; exit }
    if (!n) exit
    if (top < last) { print "short", top; exit }
    mean = time_sum / n
    for (i = 1; i <= n; i++) squares += (time[i] - mean) ^ 2
    flop_mean = flop_std = "-"
    if (m) {
      fm = flop_sum / m
      for (i = 1; i <= m; i++) fs += (flop[i] - fm) ^ 2
      flop_mean = sprintf("%.2f", fm); flop_std = sprintf("%.2f", m > 1 ? sqrt(fs / (m - 1)) : 0)
    }
    std = n > 1 ? sqrt(squares / (n - 1)) : 0
    printf "whole %.3f %.3f %s %s\n", mean, std, flop_mean, flop_std
  }'

judge() {  # prints the verdict on file $1, named $2
  local timed=1
  if [ "$family" = nemo ]; then
    grep -q 'train_step_timing in s:' "$1" 2>/dev/null || timed=0
  elif [ $nan_check = 1 ]; then
    grep -qiE 'elapsed time per iteration \(ms\):|TFLOP/s/GPU|grad[ _]norm[[:space:]]*:[[:space:]]*nan' \
      "$1" 2>/dev/null || timed=0
  else
    grep -qE "elapsed time per iteration \(ms\):|$unit" "$1" 2>/dev/null || timed=0
  fi
  if [ $timed = 0 ]; then
    case $2 in sbatch_* | vboost*) return ;; esac
    if grep -qE 'iteration|training|model|experiment' "$1" 2>/dev/null; then echo short; fi
  elif [ "$family" = nemo ]; then
    grep 'train_step_timing in s:' "$1" |
      gawk -v first=$first -v last=$last -v need_tflops=$need_tflops "$nemo_program"
  else
    gawk -v first=$first -v last=$last -v unit="$unit" -v nan_check=$nan_check \
      "$mbridge_program" "$1"
  fi
}

columns() { printf '%-90s %8s %13s %12s %19s %18s\n' "$@"; }

model='' seconds=s extra_comma=,
if [ "$family" = mbridge ]; then
  seconds=ms extra_comma=''
  [ "$release" = 25.10 ] || model=MODEL_
fi
[ -d "$folder" ] || { echo "Error: Directory '$folder' not found" >&2; exit 1; }
files=$(find "$folder" -name "$pattern" -type f | LC_ALL=C sort)
[ -n "$files" ] || { echo "Error: No .out files found in $folder" >&2; exit 1; }

case $format in
  table)
    if [ "$family" = nemo ]; then
      echo "Train Step Timing and TFLOPS Analysis (iterations $first-$last)"
    else
      echo "Elapsed Time (ms) and ${model}TFLOPS/GPU Analysis (iterations $first-$last)"
    fi
    printf '=%.0s' {1..80}; echo
    columns Experiment Status "Time Mean ($seconds)" "Time Std ($seconds)" \
      "${model}TFLOPS_per_GPU Mean" "${model}TFLOPS_per_GPU Std"
    columns "$(printf -- '-%.0s' {1..90})" -------- ------------- ------------ \
      ------------------- ------------------
    ;;
  csv)
    if [ "$family" = nemo ]; then printf 'filename,status,time_mean_seconds,time_std_dev_seconds,'
    else printf 'filename,status,time_mean_ms,time_std_dev_ms,'; fi
    echo 'tflops_per_gpu_mean,tflops_per_gpu_std_dev,max_iteration'
    ;;
  json)
    printf '{\n  "analysis": {\n    "min_iteration": %d,\n    "max_iteration": %d,\n' $first $last
    printf '    "experiments_directory": "%s"\n  },\n  "results": [\n' "$folder"
    ;;
esac

good=0 bad=0 invalid=0 rows=()
while IFS= read -r file; do
  name=$(basename "$file")
  [[ $name =~ $skip ]] && continue
  read -r kind a b c d <<<"$(judge "$file" "$name")"
  short=$(sed -E 's/^[^.]*\.//; s/_0\.out$//' <<<"$name")
  case $kind in
    whole)
      good=$((good + 1))
      case $format in
        table) columns "$short" Success "$a" "$b" "$c" "$d" ;;
        csv) echo "$name,Success,$a,$b,$c,$d," ;;
        json)
          if [ "$family" = nemo ]; then
            rows+=("{\"filename\": \"$name\", \"status\": \"Success\", \"time_mean\": $a, \"time_std_dev\": $b, \"tflops_per_gpu_mean\": $c, \"tflops_per_gpu_std_dev\": $d}")
          else
            rows+=("{\"filename\": \"$name\", \"status\": \"Success\", \"time_mean_ms\": $a, \"time_std_ms\": $b, \"tflops_mean\": ${c/#-/null}, \"tflops_std\": ${d/#-/null}}")
          fi
          ;;
      esac
      ;;
    short)
      bad=$((bad + 1))
      case $format in
        table)
          if [ -n "$a" ]; then printf '%-90s %8s %30s\n' "$short" Failed "($a iterations)"
          else columns "$short" Failed - - - -; fi
          ;;
        csv) echo "$name,Failed,,,,,$extra_comma$a" ;;
        json) rows+=("{\"filename\": \"$name\", \"status\": \"Failed\"${a:+, \"max_iteration\": $a}}") ;;
      esac
      ;;
    bad)
      invalid=$((invalid + 1)) known=$a
      [ "$a" != unknown ] || known=
      case $format in
        table) columns "$short" Invalid grad_norm=nan "${known:+iter }${known:--}" - - ;;
        csv) echo "$name,Invalid,,,,,grad_norm=nan${known:+@iteration_$known}" ;;
        json) rows+=("{\"filename\": \"$name\", \"status\": \"Invalid\", \"reason\": \"grad_norm=nan\"${known:+, \"invalid_iteration\": $known}}") ;;
      esac
      ;;
  esac
done <<<"$files"

total=$((good + bad + invalid)) failed=$((bad + invalid))
case $format in
  table)
    printf '\nSummary:\n  Success experiments: %d\n  Failed experiments: %d\n' $good $failed
    [ $invalid = 0 ] || echo "  Invalid grad norm experiments: $invalid"
    if [ $total -gt 0 ]; then echo "  Success rate: $((good * 100 / total))%"
    else echo "  Success rate: N/A"; fi
    ;;
  csv)
    note=''
    [ $invalid = 0 ] || note=" ($invalid invalid_grad_norm)"
    echo "# Summary: $good success, $failed failed$note, $total total"
    ;;
  json)
    for i in "${!rows[@]}"; do
      if [ "$i" -lt $((${#rows[@]} - 1)) ]; then echo "    ${rows[$i]},"; else echo "    ${rows[$i]}"; fi
    done
    printf '  ],\n  "summary": {\n    "success_experiments": %d,\n    "failed_experiments": %d,\n' $good $failed
    [ $nan_check = 0 ] || printf '    "invalid_grad_norm_experiments": %d,\n' $invalid
    if [ $total -gt 0 ]; then printf '    "success_rate": %d\n' $((good * 100 / total))
    else printf '    "success_rate": null\n'; fi
    printf '  }\n}\n'
    ;;
esac
[ $good -gt 0 ]
