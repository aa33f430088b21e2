#!/usr/bin/env bash
# Runs a Kubernetes control plane for tests, built from Go modules: etcd, kube-apiserver,
# kube-scheduler, kube-controller-manager and kubectl in one program. Needs Go 1.26. The first run
# takes about 16 minutes of CPU time.
#
#   examples/kubernetes/control-plane.sh make RELEASE         # prints the program's path
#   examples/kubernetes/control-plane.sh start RELEASE DIR    # starts all four, and waits until they answer
#   examples/kubernetes/control-plane.sh run RELEASE DIR PART # restarts one of them in the background
#   examples/kubernetes/control-plane.sh nodes DIR 4x4x2     # creates nodes n0-0-0, n1-0-0, ...
#   examples/kubernetes/control-plane.sh stop DIR
#
# RELEASE is 1.34, 1.35, 1.36 or 1.37. Programs are in ${XDG_CACHE_HOME:-~/.cache}/pavior/kubernetes,
# 0.2 GB each. DIR gets keys, tokens, data, logs, `bin/kubectl` and `kubeconfig`; the tokens are
# `admin`, `pavior`, `user`, `observer`, `kueue` and `jobset`. Nodes are only objects, so no kubelet
# runs the pods. Servers listen on PORT (default 16443) and the next two ports on 127.0.0.1. The audit
# log contains changed objects in full, or at the level given in AUDIT (such as Metadata).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/pavior/kubernetes
port=${PORT:-16443}
PATH=$PATH:/usr/local/go/bin

die() {
  echo "control-plane.sh: $*" >&2
  exit 1
}

version() {
  case $1 in
    1.34) echo 1.34.4 ;;
    1.35) echo 1.35.4 ;;
    1.36) echo 1.36.3 ;;
    1.37) echo 1.37.2 ;;
    *) die "RELEASE is 1.34, 1.35, 1.36 or 1.37" ;;
  esac
}

# Prints a module that requires one Kubernetes version, with the staging modules at the same version.
module() {
  local version=$1 minor=${1#1.} mod
  mod=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')
  [ -n "$mod" ] || die "k8s.io/kubernetes@v$version cannot be had"
  echo "module control-plane"
  sed -n 's/^go /go /p' "$mod"
  printf 'require (\n\tk8s.io/kubernetes v%s\n\tgo.etcd.io/etcd/server/v3 %s\n)\n' "$version" \
    "$(sed -n 's/^\tgo.etcd.io\/etcd\/client\/v3 \(v[^ ]*\).*/\1/p' "$mod" | head -n 1)"
  echo "replace ("
  sed -n '/^replace (/,/^)/s/^\t\(k8s.io\/[^ ]*\) => .*/\1/p' "$mod" |
    while read -r name; do printf '\t%s => %s v0.%s\n' "$name" "$name" "$minor"; done
  echo ")"
}

make() {
  local version program folder minor
  version=$(version "$1")
  program=$cache/control-plane-$version
  if [ -x "$program" ]; then
    echo "$program"
    return
  fi
  type -P go >/dev/null || die "Go is not installed"
  mkdir -p "$cache"
  exec 9>"$cache/$version.lock"
  flock 9
  if [ ! -x "$program" ]; then
    folder=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$folder'" EXIT
    cp "$here/control-plane.go" "$folder/main.go"
    module "$version" >"$folder/go.mod"
    minor=${version#1.}
    local pre=k8s.io/component-base/version
    (
      cd "$folder"
      export CGO_ENABLED=0 GOFLAGS=-mod=mod
      go mod tidy
      go build -trimpath -o "$program.new" -ldflags \
        "-s -w -X $pre.gitVersion=v$version -X $pre.gitMajor=1 -X $pre.gitMinor=${minor%%.*}" .
    ) >"$cache/$version.log" 2>&1 || die "the build of $version failed: $cache/$version.log"
    mv "$program.new" "$program"
  fi
  echo "$program"
}

# Creates keys and tokens.
prepare() {
  local dir=$1
  mkdir -p "$dir/log" "$dir/keys"
  openssl genrsa -out "$dir/keys/accounts.key" 2048 2>/dev/null
  openssl rsa -in "$dir/keys/accounts.key" -pubout -out "$dir/keys/accounts.pub" 2>/dev/null
  cat >"$dir/keys/tokens.csv" <<END
admin,admin,1,"system:masters"
pavior,system:serviceaccount:pavior-system:pavior-kube,2,"system:serviceaccounts"
user,alice,3,"users"
observer,observer,4,"observers"
kueue,system:serviceaccount:kueue-system:kueue-controller-manager,5,"system:serviceaccounts"
jobset,system:serviceaccount:jobset-system:jobset-controller-manager,6,"system:serviceaccounts"
END
  cat >"$dir/audit.yaml" <<END
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
  - level: None
    verbs: [get, list, watch]
  - level: None
    resources: [{group: coordination.k8s.io, resources: [leases]}]
  # Requests are logged, too, because an API server that is killed does not log their results.
  - level: RequestResponse
    verbs: [delete]
    resources: [{group: pavior.dev, resources: [placements]}]
  - level: ${AUDIT:-RequestResponse}
    omitStages: [RequestReceived]
    resources:
      - {group: "", resources: [pods, pods/binding, pods/status, nodes]}
      - {group: batch, resources: [jobs, jobs/status]}
      - {group: pavior.dev, resources: [placements, placements/status]}
      - {group: kueue.x-k8s.io, resources: [workloads, workloads/status]}
END
  for who in admin pavior user observer kueue jobset; do
    cat >"$dir/$who.kubeconfig" <<END
apiVersion: v1
kind: Config
clusters:
  - {name: here, cluster: {server: "https://127.0.0.1:$port", insecure-skip-tls-verify: true}}
users: [{name: $who, user: {token: $who}}]
contexts: [{name: here, context: {cluster: here, user: $who}}]
current-context: here
END
  done
  cp "$dir/admin.kubeconfig" "$dir/kubeconfig"
  mkdir -p "$dir/bin"
  printf '#!/bin/sh\nexec %s kubectl "$@"\n' "$program" >"$dir/bin/kubectl"
  cp "$here/kubectl-pavior" "$dir/bin/"
  chmod +x "$dir"/bin/*
}

part() {
  local program=$1 dir=$2 part=$3 arguments
  local clients=$((port + 1)) peers=$((port + 2))
  case $part in
    etcd)
      arguments=(
        --data-dir "$dir/etcd" --unsafe-no-fsync --logger zap --log-level warn
        --listen-client-urls "http://127.0.0.1:$clients"
        --advertise-client-urls "http://127.0.0.1:$clients"
        --listen-peer-urls "http://127.0.0.1:$peers"
        --initial-advertise-peer-urls "http://127.0.0.1:$peers"
        --initial-cluster "default=http://127.0.0.1:$peers"
      )
      ;;
    kube-apiserver)
      arguments=(
        --etcd-servers "http://127.0.0.1:$clients" --bind-address 127.0.0.1 --secure-port "$port"
        --cert-dir "$dir/keys" --token-auth-file "$dir/keys/tokens.csv" --authorization-mode RBAC
        --service-account-issuer https://pavior.invalid
        --service-account-key-file "$dir/keys/accounts.pub"
        --service-account-signing-key-file "$dir/keys/accounts.key"
        --disable-admission-plugins ServiceAccount,TaintNodesByCondition
        --audit-policy-file "$dir/audit.yaml" --audit-log-path "$dir/audit.log"
        --audit-log-mode blocking --audit-log-maxsize 10000
        --service-cluster-ip-range 10.0.0.0/24
        --max-requests-inflight 2000 --max-mutating-requests-inflight 2000
      )
      ;;
    kube-scheduler)
      arguments=(
        --kubeconfig "$dir/kubeconfig" --secure-port 0 --leader-elect=false
        --kube-api-qps 1000 --kube-api-burst 2000
      )
      ;;
    kube-controller-manager)
      arguments=(
        --kubeconfig "$dir/kubeconfig" --secure-port 0 --leader-elect=false
        --kube-api-qps 1000 --kube-api-burst 2000
        --service-account-private-key-file "$dir/keys/accounts.key"
        --controllers "${CONTROLLERS:-job-controller,garbage-collector-controller,namespace-controller,pod-garbage-collector-controller,disruption-controller}"
      )
      ;;
    *) die "PART is etcd, kube-apiserver, kube-scheduler or kube-controller-manager" ;;
  esac
  setsid "$program" "$part" "${arguments[@]}" >>"$dir/log/$part" 2>&1 </dev/null 9>&- &
  echo $! >"$dir/$part.pid"
}

ready() {
  local try
  for try in $(seq 300); do
    curl -sk --max-time 2 -H "Authorization: Bearer admin" "https://127.0.0.1:$port/readyz" 2>/dev/null |
      grep -qx ok && return
    sleep 0.2
  done
  tail -n 5 "$1"/log/* >&2
  die "the API server does not answer ($try tries)"
}

# Creates nodes that report once that they are healthy. Without the node controller, they stay healthy.
nodes() {
  local dir=$1 x y z
  IFS=x read -r -a sides <<<"$2"
  for ((z = 0; z < ${sides[2]:-1}; z++)); do
    for ((y = 0; y < ${sides[1]:-1}; y++)); do
      for ((x = 0; x < sides[0]; x++)); do
        cat <<END
---
apiVersion: v1
kind: Node
metadata: {name: n$x-$y-$z}
status:
  conditions: [{type: Ready, status: "True", reason: Toy}]
  capacity: {cpu: "8", memory: 32Gi, pods: "20"}
  allocatable: {cpu: "8", memory: 32Gi, pods: "20"}
END
      done
    done
  done >"$dir/nodes.yaml"
  export KUBECONFIG=$dir/kubeconfig
  "$dir/bin/kubectl" create -f "$dir/nodes.yaml" >/dev/null
  "$dir/bin/kubectl" replace --subresource=status -f "$dir/nodes.yaml" >/dev/null
}

case ${1:-} in
  make) make "${2:?RELEASE}" ;;
  start)
    program=$(make "${2:?RELEASE}")
    prepare "${3:?DIR}"
    part "$program" "$3" etcd
    part "$program" "$3" kube-apiserver
    ready "$3"
    part "$program" "$3" kube-scheduler
    part "$program" "$3" kube-controller-manager
    ;;
  run)
    program=$(make "${2:?RELEASE}")
    part "$program" "${3:?DIR}" "${4:?PART}"
    [ "$4" != kube-apiserver ] || ready "$3"
    ;;
  nodes) nodes "${2:?DIR}" "${3:?SIDES}" ;;
  stop)
    for file in "${2:?DIR}"/*.pid; do
      [ ! -e "$file" ] || kill -9 "$(cat "$file")" 2>/dev/null || true
    done
    ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
