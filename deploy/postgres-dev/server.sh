# Sourced by up and down: where PostgreSQL's programs are, and who runs them.

owner=postgres

# Sets `programs`: Debian keeps the server's out of PATH, a folder for each version.
find_programs() {
  local folder
  for folder in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV); do
    [ -x "$folder/initdb" ] || continue
    programs="$folder"
    return 0
  done
  return 1
}

# as_owner DIR COMMAND…: PostgreSQL refuses to be root. It starts in DIR, for its user may not be
# allowed to be where we are.
as_owner() {
  local directory="$1"
  shift
  if [ "$(id -u)" -ne 0 ]; then
    "$@"
  else
    (cd "$directory" && setpriv --reuid="$owner" --regid="$owner" --clear-groups "$@")
  fi
}
