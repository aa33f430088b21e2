#!/usr/bin/env bash
# Runs Slurm releases that are not installed on this machine, each in a chroot of the Debian release
# that ships it. Needs root, and debootstrap to create a chroot.
#
#   examples/slurm/release.sh make RELEASE             # prints the chroot's directory; / for this machine
#   examples/slurm/release.sh version RELEASE          # prints Slurm's version
#   examples/slurm/release.sh run RELEASE DIR COMMAND  # runs a command in it; creates DIR, visible inside
#
# RELEASE is 22.05 (Debian 12), 24.11 (Debian 13) or testing (the newest in Debian testing);
# clean-12 and clean-13 are those Debian releases without Slurm, for testing packages.
# Chroots are in ${XDG_CACHE_HOME:-~/.cache}/pavior/slurm, 0.4 to 0.7 GB each, and are recreated after
# 14 days. However it ends, `run` leaves no mounts or processes behind, and it does not change the
# chroot. Packages come from apt's mirror, or from MIRROR.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/pavior/slurm
packages=(
  slurm-wlm slurm-wlm-basic-plugins slurm-client slurmctld slurmd munge
  slurmdbd slurm-wlm-mysql-plugin mariadb-server-core # accounting
)

# Additional packages for a clean Debian: programs that use manual pages, completions, units and wheels.
clean=(man-db bash-completion zsh fish systemd python3-venv)

die() {
  echo "release.sh: $*" >&2
  exit 1
}

suite() {
  case $1 in
    22.05) echo bookworm ;;
    24.11) echo trixie ;;
    testing) echo testing ;;
    clean-12) echo clean-bookworm ;;
    clean-13) echo clean-trixie ;;
    *) die "RELEASE is 22.05, 24.11, testing, clean-12 or clean-13" ;;
  esac
}

# Returns true if this machine has the release and, if requested, the accounting programs.
here_already() {
  local program
  for program in munged slurmctld slurmd ${ACCOUNTING:+slurmdbd mariadbd}; do
    [ -n "$(PATH=$PATH:/usr/sbin type -P "$program")" ] || return 1
  done
  [[ $(PATH=$PATH:/usr/sbin slurmctld -V) == "slurm-wlm $1."* ]]
}

# Prints the newest chroot for a suite, if there is one.
newest() {
  find "$cache" -maxdepth 1 -name "$1-????-??-??" -type d 2>/dev/null | sort | tail -n 1
}

make() {
  local suite root
  [ "$(id -u)" = 0 ] || die "needs root"
  here_already "$1" && { echo /; return; }
  suite=$(suite "$1")
  mkdir -p "$cache"
  # Only one process creates a chroot at a time, and the others then find it.
  exec {lock}>"$cache/$suite.lock"
  flock "$lock"
  root=$(newest "$suite")
  if [ -z "$root" ] || [ -n "$(find "$root" -maxdepth 0 -mtime +14)" ]; then
    if build "$suite" >&2; then
      root=$(newest "$suite")
      sweep "$suite" "$root"
    elif [ -z "$root" ]; then
      die "no chroot of $suite could be made; see $cache/$suite.log"
    else
      echo "release.sh: cannot create a newer chroot of $suite; using the old one" >&2
    fi
  fi
  exec {lock}>&-
  echo "$root"
}

# Creates a chroot under a temporary name, and renames it when it is complete.
build() {
  local suite=$1 half=$cache/$1.half mirror=${MIRROR:-}
  [ -n "$(PATH=$PATH:/usr/sbin type -P debootstrap)" ] || { echo "debootstrap is missing"; return 1; }
  [ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
    'Origin: Debian' 'Label: Debian' 2>/dev/null | head -n 1)
  [ -n "$mirror" ] || { echo "apt has no mirror of Debian: set MIRROR"; return 1; }
  echo "creating a chroot of Debian $suite in $cache: this takes a few minutes, once"
  rm -rf --one-file-system "$half"
  # All mounts and processes created from here on end with this command, even if it is killed.
  setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child \
    timeout 1500 "$here/release.sh" build-within "$suite" "$half" "$mirror" </dev/null >"$cache/$suite.log" 2>&1 ||
    { tail -n 5 "$cache/$suite.log"; return 1; }
  mv -T "$half" "$cache/$suite-$(date +%F)"
}

build_within() {
  local suite=$1 root=$2 mirror=$3
  mount -t proc proc /proc
  debootstrap --variant=minbase "${suite#clean-}" "$root" "$mirror"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
  # An expired release file is better than none.
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/90pavior"
  printf 'force-unsafe-io\n' >"$root/etc/dpkg/dpkg.cfg.d/90pavior"
  if [ "$suite" = "${suite#clean-}" ]; then
    printf 'path-exclude=/usr/share/%s/*\n' doc >>"$root/etc/dpkg/dpkg.cfg.d/90pavior"
  else
    packages=("${clean[@]}")
  fi
  mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
  local tools="env DEBIAN_FRONTEND=noninteractive LC_ALL=C"
  chroot "$root" $tools apt-get update -q
  chroot "$root" $tools apt-get install -q -y --no-install-recommends "${packages[@]}"
  [ "$suite" != "${suite#clean-}" ] || chroot "$root" slurmctld -V
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
  touch "$root"
}

# Removes older chroots for a suite, except those in use.
sweep() {
  local old
  for old in "$cache/$1"-????-??-??; do
    [ "$old" != "$2" ] && flock --nonblock --exclusive "$old" rm -rf --one-file-system "$old"
  done
  return 0
}

run() {
  local release=$1 dir=$2 root
  shift 2
  mkdir -p "$dir"
  dir=$(cd "$dir" && pwd)
  root=$(make "$release")
  # Cleanup skips the chroot while this process is running.
  exec {used}<"$root"
  flock --shared "$used"
  exec unshare --mount --pid --fork --kill-child \
    "$here/release.sh" run-within "$root" "$dir" "$@"
}

run_within() {
  local root=$1 dir=$2 base=$1
  shift 2
  cp "$here/cluster.sh" "$dir/cluster.sh"
  # Two ordinary users, to test limits per user.
  { cat "${root%/}/etc/passwd"; printf '%s:*:%d:65534::/tmp:/bin/sh\n' alice 6001 bob 6002; } \
    >"$dir/passwd"
  # The hosts for two controllers.
  { cat /etc/hosts; printf '127.0.0.%d %s\n' 1 one 2 two; } >"$dir/hosts"
  if [ "$root" != / ]; then
    # Writes to the chroot are kept in memory.
    mkdir -p "$dir/root"
    mount -t tmpfs tmpfs "$dir/root"
    mkdir "$dir"/root/{upper,work,all}
    base=$dir/root/all
    mount -t overlay overlay -o "lowerdir=$root,upperdir=$dir/root/upper,workdir=$dir/root/work" "$base"
    mkdir -p "$base$dir"
    mount --bind "$dir" "$base$dir"
    mount --rbind /dev "$base/dev"
    mount --rbind /sys "$base/sys"
  fi
  mount -t proc proc "${base%/}/proc"
  local file
  touch "${base%/}/etc/hosts"
  for file in passwd hosts; do mount --bind "$dir/$file" "${base%/}/etc/$file"; done
  # Not exec: the first process of the namespace must reap orphaned processes.
  chroot "$base" "$@" <&0 &
  wait $!
}

case ${1:-} in
  make) make "${2:?a release}" ;;
  version) root=$(make "${2:?a release}") && chroot "$root" /usr/sbin/slurmctld -V ;;
  run) run "${2:?a release}" "${3:?a directory}" "${@:4}" ;;
  build-within) build_within "${@:2}" ;;
  run-within) run_within "${@:2}" ;;
  *) sed -n '2,15s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
