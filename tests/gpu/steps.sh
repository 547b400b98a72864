# What run_all and run_slices are made of, to be sourced: commands that end in time, and are not done
# again by a later call. Wants $state, a folder for logs and marks, and $deadline, in s since the epoch.
# The array only takes the begins of the names that are wanted: none for all.

failed=0 waiting=0 left_out=0 only=()
is_wanted() { # is_wanted NAME
  local begin
  [ "${#only[@]}" -ne 0 ] || return 0
  for begin in "${only[@]}"; do
    case "$1" in "$begin"*) return 0 ;; esac
  done
  return 1
}
any_wanted() { # any_wanted NAME...
  local name
  for name in "$@"; do
    ! is_wanted "$name" || return 0
  done
  return 1
}
# step NAME SECONDS COMMAND...: runs it within so many seconds, unless it is behind us; its output
# is in $state/NAME.log.
step() {
  local name="$1" seconds="$2" begin end status limit
  shift 2
  if [ -e "$state/$name.done" ]; then
    printf '%-28s done before\n' "$name"
    return 0
  fi
  if ! is_wanted "$name"; then
    left_out=1
    return 75
  fi
  begin="$(date +%s)"
  limit=$((deadline - begin))
  if [ "$limit" -lt 5 ]; then
    printf '%-28s waits for the next call\n' "$name"
    waiting=1
    return 75
  fi
  [ "$limit" -gt "$seconds" ] && limit="$seconds"
  timeout -k 5 "$limit" "$@" >"$state/$name.log" 2>&1
  status=$?
  end="$(date +%s)"
  case "$status" in
    0) printf '%-28s passed in %s s\n' "$name" $((end - begin)); : >"$state/$name.done" ;;
    77) printf '%-28s skipped: %s\n' "$name" "$(tail -n 1 "$state/$name.log")" ;;
    124 | 137)
      if [ "$limit" -lt "$seconds" ]; then
        printf '%-28s not done in the %s s that were left; the next call does it\n' "$name" "$limit"
        waiting=1
      else
        printf '%-28s not done within %s s; the log is %s\n' "$name" "$seconds" "$state/$name.log"
        failed=1
      fi ;;
    *) printf '%-28s FAILED (%s); the end of %s:\n' "$name" "$status" "$state/$name.log"
       grep -E 'FAILED|Failure|description' "$state/$name.log" | head -n 20 | sed 's/^/    /'
       tail -n 10 "$state/$name.log" | sed 's/^/    /'
       failed=1 ;;
  esac
  return "$status"
}
finish() { # ends the caller, with an exit that says how the steps went
  [ "$failed" -eq 0 ] || exit 1
  [ "$waiting" -eq 0 ] || exit 75
  exit 0
}
