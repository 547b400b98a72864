#!/usr/bin/env bash
# Runs a command with a PostgreSQL of its own.
#   with_server.sh COMMAND…
# LLMB_TEST_POSTGRESQL is the URL of the server's database, LLMB_TEST_POSTGRESQL_FOLDER its folder.
# Exit status 77: no server can be had here, and why.
set -euo pipefail
postgres_dev="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../deploy/postgres-dev" && pwd)"

folder="$(mktemp -d /tmp/llmb-postgresql.XXXXXX)"
trap '"$postgres_dev/down" --remove "$folder" >/dev/null' EXIT
if ! said="$("$postgres_dev/up" --no-install "$folder" 2>&1)"; then
  echo "Skipped: $said"
  rm -rf "$folder"
  trap - EXIT
  exit 77
fi
LLMB_TEST_POSTGRESQL="$(cat "$folder/url")" LLMB_TEST_POSTGRESQL_FOLDER="$folder" "$@"
