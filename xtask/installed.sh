#!/usr/bin/env bash
# Installs and uses a release on this Debian system: archive, .deb packages and wheel.
# `cargo xtask installed` runs this script in a chroot that discards all changes.
#
#   installed.sh DIR  # the directory that contains the release
set -euo pipefail
cd "$1"
trap 'echo "installed.sh: line $LINENO failed: $BASH_COMMAND" >&2' ERR

part() { echo "-- $* (after $SECONDS s)"; }
says() {
  local text=$1 said
  shift
  said=$("$@" 2>&1) || true
  [[ $said == *"$text"* ]] || { echo "'$*' must print '$text', but prints: $said" >&2; return 1; }
}

use() {
  says "pavior $version" pavior --version
  says '"turnaround"' pavior simulate --strategy tff --jobs 200 --replications 2 --format json
  [[ $(pavior allocate --machine torus:8x8x8 --strategy tbl <<<'{"op":"allocate","job":7,"shape":[2,3,2]}') \
    == *'"granted":true'* ]]
  # The program contains every interface.
  says 'slurm.toml' pavior slurm --config missing/slurm.toml check
  mkdir -p served
  pavior serve --machine torus:8x8x8 --listen 127.0.0.1:0 --data served/data >served/out 2>&1 &
  local server=$! address
  for _ in {1..100}; do
    address=$(grep -oE '127\.0\.0\.1:[0-9]+' served/out | head -n 1) && break
    sleep 0.1
  done
  says '"state"' lease "$address"
  kill $server
  wait $server || true
  rm -r served
}

# Requests a lease from the server at an address. Uses only the shell.
lease() {
  local body='{"shape":[2,3,2]}'
  exec {http}<>"/dev/tcp/${1%:*}/${1#*:}"
  printf 'POST /v1/leases HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s' \
    "$1" ${#body} "$body" >&"$http"
  cat <&"$http"
  exec {http}>&-
}

# Checks that shells find the completions in their default directories.
completed() {
  says simulate bash -c '. /usr/share/bash-completion/bash_completion
    if declare -F _comp_load >/dev/null; then _comp_load pavior; else __load_completion pavior; fi
    COMP_WORDS=(pavior simul) COMP_CWORD=1
    _pavior pavior simul pavior
    printf "%s " "${COMPREPLY[@]}"'
  says simulate fish --command 'complete --do-complete "pavior simul"'
}

version=$(echo pavior_*_amd64.deb)
version=${version#pavior_}
version=${version%-1_amd64.deb}

part "checksums"
sha256sum --check --quiet SHA256SUMS
[ -z "$(type -P pavior)" ]

part "the archive, in a home directory"
mkdir -p ~/.local
tar -xzf "pavior-$version-x86_64-linux.tar.gz" --strip-components 1 -C ~/.local
(
  PATH=$HOME/.local/bin:$PATH
  use
  says .local/share/man/man1/pavior-simulate.1 man --where pavior-simulate
  completed
)
rm -r ~/.local

part "the packages"
export DEBIAN_FRONTEND=noninteractive
packages=(./pavior_*_amd64.deb ./pavior-slurm_*_all.deb)
apt-get install -q -y --no-install-recommends "${packages[@]}" >apt.log 2>&1 || { cat apt.log; exit 1; }
use
says /usr/share/man/man1/pavior-simulate.1.gz man --where pavior-simulate
says '--replications' man --pager=cat pavior-simulate
completed
says _pavior zsh -c 'autoload -U compinit; compinit -u -D; print $_comps[pavior]'
systemd-analyze verify --man=no /usr/lib/systemd/system/pavior-*.service
systemd-analyze security --offline=true --threshold=20 --no-pager /usr/lib/systemd/system/pavior-*.service | grep Overall # 2.0, stricter than OK
says ' /etc/pavior/slurm.toml ' dpkg-query --show --showformat '${Conffiles}' pavior-slurm
echo '# of this site' >>/etc/pavior/slurm.toml
dpkg --install "${packages[@]}" >apt.log 2>&1 || { cat apt.log; exit 1; }
grep -q '# of this site' /etc/pavior/slurm.toml
# The default configuration is read; only the Slurm cluster is missing.
says scontrol pavior slurm --config /etc/pavior/slurm.toml check
apt-get remove -q -y pavior pavior-slurm >apt.log 2>&1 || { cat apt.log; exit 1; }
[ -z "$(hash -r; type -P pavior)" ]
[ -f /etc/pavior/slurm.toml ]
apt-get purge -q -y pavior-slurm >apt.log 2>&1 || { cat apt.log; exit 1; }
left=$(find / -xdev \( -path /proc -o -path /tmp -o -path /var/lib/dpkg -o -path /var/log -o -path /var/cache -o -path "$1" \) -prune \
  -o -iname '*pavior*' ! -name 90pavior -print | # 90pavior belongs to the chroot itself.
  while read -r found; do [[ $1 == "$found"/* ]] || echo "$found"; done) # The clone may be called pavior.
[ -z "$left" ] || { echo "left behind: $left" >&2; exit 1; }

part "the wheel"
python3 -m venv venv
venv/bin/pip install --quiet --no-index pavior-*.whl
venv/bin/python first.py
says "$version" venv/bin/python -c 'import pavior; print(pavior.__version__)'

part "all passed"
