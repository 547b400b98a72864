# Sourced by up and down: starting daemons, remembering them, and ending exactly those.
# DIR/processes has a line for each: name, process id, and the start time of that process, by which
# it is told from a later process that got the same id.

start_time_of() {
  # The 22nd field of stat; the second one, in brackets, may hold anything.
  local stat
  stat="$(cat "/proc/$1/stat" 2>/dev/null)" || return 1
  stat="${stat##*) }"
  # shellcheck disable=SC2086
  set -- $stat
  echo "${20}"
}

# start NAME COMMAND...: in the background, in a session of its own. LLMB_SLURM_DEV marks what the
# daemons start in their turn (slurmstepd, jobs' scripts), so that down finds it.
start() {
  local name="$1" pid
  shift
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LLMB_SLURM_DEV="$directory" \
    SLURM_CONF="$directory/slurm.conf" setsid "$@" \
    </dev/null >>"$directory/log/$name.out" 2>&1 &
  pid=$!
  echo "$name $pid $(start_time_of "$pid" || echo 0)" >>"$directory/processes"
  echo "started $name, process $pid"
}

# wait_until SECONDS WHAT COMMAND...: tries again until the command succeeds.
wait_until() {
  local seconds="$1" what="$2" end
  shift 2
  end=$(($(date +%s) + seconds))
  until "$@" >/dev/null 2>&1; do
    if [ "$(date +%s)" -gt "$end" ]; then
      echo "up: waited $seconds s in vain until $what; see the logs in $directory/log:" >&2
      tail -n 5 "$directory"/log/* >&2 || true
      [ -n "${LLMB_SLURM_KEEP:-}" ] || "$here/down" "$directory" >&2 || true
      return 1
    fi
    sleep 0.1
  done
}

is_recorded_process() {  # PID START_TIME
  [ "$(start_time_of "$1" || true)" = "$2" ]
}

any_recorded_process_lives() {
  local name pid started
  while read -r name pid started; do
    ! is_recorded_process "$pid" "$started" || return 0
  done <"$1/processes"
  return 1
}

# end_process NAME PID START_TIME: asks, then insists after five seconds.
end_process() {
  local turn
  is_recorded_process "$2" "$3" || return 0
  kill -TERM "$2" 2>/dev/null || true
  for turn in $(seq 100); do
    if ! is_recorded_process "$2" "$3"; then
      echo "stopped $1, process $2"
      return 0
    fi
    [ "$turn" -ne 60 ] || kill -KILL "$2" 2>/dev/null || true
    sleep 0.1
  done
  echo "down: $1, process $2, does not end" >&2
  return 1
}

# Last started, first stopped.
stop_recorded_processes() {
  local name pid started
  while read -r name pid started; do
    end_process "$name" "$pid" "$started"
  done < <(tac "$1/processes")
}

# What the daemons started and left: every process that bears this cluster's mark.
stop_left_behind() {
  local entry pid
  for entry in /proc/[0-9]*; do
    pid="${entry#/proc/}"
    [ "$pid" != "$$" ] || continue
    if tr '\0' '\n' 2>/dev/null <"$entry/environ" | grep -qxF "LLMB_SLURM_DEV=$1"; then
      end_process "what a job left" "$pid" "$(start_time_of "$pid" || echo 0)"
    fi
  done 2>/dev/null
}
