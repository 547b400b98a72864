#!/bin/sh
# Reads what is new below a cluster's trees, sends it to the central server, and ends. For cron, and
# for Slurm's EpilogSlurmctld, which starts it once a job where slurmctld runs. Those that start
# meanwhile wait for each other; what could not be sent is sent by the next one.
#
#   push-once.sh [SETTINGS]     (default: /etc/llmb-report/push.conf)
#
# The settings are shell variables, for Slurm passes none on:
#   PUSH_URL=https://reports.example:8642
#   PUSH_TOKEN_FILE=/etc/llmb-report/eos.token
#   PUSH_CLUSTER=eos
#   PUSH_ROOTS="/lustre/llmb/workloads/pretrain_grok1 /lustre/llmb/workloads/pretrain_llama3.1"
#   PUSH_STATE=/var/lib/llmb-report        # the agent's database, on a local disk
#   LLMB_REPORT=/usr/local/bin/llmb-report
#   PUSH_OPTIONS="--ca-file /etc/llmb-report/ca.pem"
set -eu

settings=${1:-/etc/llmb-report/push.conf}
# A name without a slash would be looked for in PATH.
case $settings in */*) ;; *) settings=./$settings ;; esac
# shellcheck source=/dev/null
. "$settings"
for name in PUSH_URL PUSH_TOKEN_FILE PUSH_CLUSTER PUSH_ROOTS; do
  eval "value=\${$name:-}"
  [ -n "$value" ] || { echo "push-once.sh: $settings sets no $name" >&2; exit 2; }
done
state=${PUSH_STATE:-/var/lib/llmb-report}
mkdir -p "$state"

exec 9>"$state/push.lock"
flock -w 600 9 || { echo "push-once.sh: another one has pushed for ten minutes" >&2; exit 1; }
# Roots and options are split at blanks.
# shellcheck disable=SC2086
exec timeout 900 "${LLMB_REPORT:-llmb-report}" ingest --once --db "$state/agent.db" \
  --push "$PUSH_URL" --token-file "$PUSH_TOKEN_FILE" --cluster "$PUSH_CLUSTER" \
  ${PUSH_OPTIONS:-} $PUSH_ROOTS
