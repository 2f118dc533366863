#!/usr/bin/env bash
# install_packages.sh [--least] [PACKAGE...]: installs the Debian 12 packages that Gapscope is built, tested and shown with, and
# those named, if any is missing; with --least not those that only tests and gapscope-mpi need. With nothing missing it asks dpkg
# once and never touches apt; on another distribution it says nothing and leaves the finding to CMake.
set -euo pipefail

more=(doctest-dev xdotool x11-utils libopenmpi-dev openmpi-bin)
if [ "${1:-}" = --least ]; then
  more=()
  shift
fi
packages=(
  g++ cmake ninja-build pkg-config
  libimgui-dev libglfw3-dev libsimdjson-dev python3 python3-glad libcli11-dev libfmt-dev nlohmann-json3-dev
  libjemalloc-dev libre2-dev libiberty-dev libsqlite3-dev libedit-dev
  zlib1g-dev libisal-dev liblzma-dev libzstd-dev libarchive-dev libpng-dev libdbus-1-dev libcpp-httplib-dev
  fonts-inter fonts-jetbrains-mono libgl1 libgl1-mesa-dri xvfb
  "${more[@]}" "$@"
)

command -v dpkg-query >/dev/null || exit 0
installed=$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null |
  sed -n 's/^installed //p' || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Missing packages, and neither root nor sudo to install them. As root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing ${#missing[@]} packages: ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
