# Sourced by quickstart.sh and test.sh: what the project needs from Debian 12, and how to get it.
# Every name is a Debian package; ARCHITECTURE.md, Packages, says what each is for.

# To build and run llmb-report with its dashboard.
LLMB_BUILD_PACKAGES=(
  g++ cmake ninja-build pkg-config git ca-certificates
  libboost1.81-dev libre2-dev libsqlite3-dev nlohmann-json3-dev libfmt-dev libspdlog-dev libyaml-cpp-dev
  libcli11-dev libexpected-dev libssl-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev
  libpq-dev libopenblas-dev
)

# To build and pass every test.
LLMB_TEST_PACKAGES=(
  libgtest-dev libgmock-dev libbenchmark-dev libboost-context1.81-dev ccache
  clang-14 clang-format clang-tidy clang-tools-14 jq libclang-rt-14-dev
  chromium fonts-dejavu-core sqlite3 gawk openssl
)

# For tests/slurm, and for deploy/slurm-dev by hand: a Slurm of two nodes on one machine.
LLMB_SLURM_PACKAGES=(munge slurmctld slurmd slurm-client)
LLMB_SLURM_ACCOUNTING_PACKAGES=(slurmdbd mariadb-server)

# For the tests over PostgreSQL, and for deploy/postgres-dev by hand.
LLMB_POSTGRESQL_PACKAGES=(postgresql-15)

# On x86-64, to compile for aarch64.
LLMB_AARCH64_PACKAGES=(g++-aarch64-linux-gnu)

# The libraries that are linked into programs for aarch64 and the parser's tests, and an emulator that
# needs nothing beside itself. They are unpacked into a folder, not installed, for not all of them can
# be installed for two architectures at a time.
LLMB_UNPACKED_FOLDER=build/aarch64-packages  # as in deploy/aarch64.cmake
LLMB_UNPACKED_PACKAGES=(
  libre2-dev:arm64 libsqlite3-dev:arm64 libfmt-dev:arm64 libfmt9:arm64 libspdlog-dev:arm64
  libspdlog1.10:arm64 libyaml-cpp-dev:arm64 libssl-dev:arm64 zlib1g-dev:arm64 libzstd-dev:arm64
  liblzma-dev:arm64 libbz2-dev:arm64
  libopenblas-pthread-dev:arm64 libgtest-dev:arm64 libgmock-dev:arm64 qemu-user-static
)

say() { printf '\n== %s\n' "$*"; }

# as_root COMMAND...: as it is when root, through sudo otherwise.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1; then
    sudo "$@"
  else
    echo "This step needs root or sudo, and has neither: $*" >&2
    echo "Ask an administrator to run it, then start again." >&2
    return 1
  fi
}

# install_missing PACKAGE...: installs what is not there yet; says so either way.
install_missing() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "All $# packages are installed."
    return 0
  fi
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "This is not a Debian system, so these must be installed by hand: ${missing[*]}" >&2
    return 1
  fi
  echo "Installing from Debian: ${missing[*]}"
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    "${missing[@]}"
}

# install_node: the dashboard is bundled with Node 18 or newer; Debian's is 18.
install_node() {
  if command -v npm >/dev/null 2>&1 && command -v node >/dev/null 2>&1 &&
    [ "$(node -p 'parseInt(process.versions.node)')" -ge 18 ]; then
    echo "Node $(node --version) with npm $(npm --version) is installed."
  else
    install_missing nodejs npm
  fi
}

# prepare_aarch64: the packages to build for aarch64 and run it here. Fails where they are not to be
# had, and says why.
prepare_aarch64() {
  if [ "$(dpkg --print-architecture 2>/dev/null)" != amd64 ]; then
    echo "Cross builds for aarch64 are made on x86-64 only; this machine's own build is the test here."
    return 1
  fi
  if ! dpkg --print-foreign-architectures | grep -qx arm64; then
    echo "Adding arm64 to the architectures that packages are installed for (dpkg --add-architecture)."
    as_root dpkg --add-architecture arm64
    as_root apt-get update -q
  fi
  install_missing "${LLMB_AARCH64_PACKAGES[@]}" && unpack_aarch64
}

# unpack_aarch64: downloads and unpacks what is not there yet of LLMB_UNPACKED_PACKAGES.
unpack_aarch64() {
  local folder="$LLMB_UNPACKED_FOLDER" missing=() package downloads
  set -- "${LLMB_UNPACKED_PACKAGES[@]}"
  mkdir -p "$folder/unpacked"
  for package in "$@"; do
    [ -e "$folder/unpacked/$package" ] || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "All $# packages are unpacked in $folder."
    return 0
  fi
  echo "Unpacking from Debian, into $folder: ${missing[*]}"
  downloads="$(mktemp -d)"
  # Lists that are absent or old name no file, or one that is there no more.
  (cd "$downloads" && apt-get download -qq -o APT::Sandbox::User=root "${missing[0]}" 2>/dev/null) ||
    as_root apt-get update -q || true
  rm -f "$downloads"/*.deb
  for package in "${missing[@]}"; do
    (cd "$downloads" && apt-get download -qq -o APT::Sandbox::User=root "$package") &&
      dpkg -x "$downloads"/*.deb "$folder" && touch "$folder/unpacked/$package" || {
        echo "$package could not be had: see above" >&2
        rm -rf "$downloads"
        return 1
      }
    rm -f "$downloads"/*.deb
  done
  rm -rf "$downloads"
}
