#!/usr/bin/env bash
# Runs Kueue 0.19.0 and JobSet 0.12.0 next to the control plane of control-plane.sh, built from Go
# modules. Needs Go 1.26. The first run takes about 8 minutes of CPU time.
#
#   examples/kubernetes/controllers.sh make             # builds both
#   examples/kubernetes/controllers.sh start kueue DIR  # creates its objects, starts it, and waits
#   examples/kubernetes/controllers.sh run kueue DIR    # restarts it, and waits
#
# The commands are the same for jobset. Kueue uses the library versions that its developers chose.
# JobSet shares them, except for its own controller-runtime, so that they are compiled only once. Both
# are separate from the control-plane program, because Kueue's controller-runtime 0.24.1 requires
# client-go 0.36, while the control plane has 0.37.
#
# The objects are those in config/default with all webhooks, except for the Deployment: the programs
# run next to the cluster and listen on four ports on 127.0.0.1, from PORT + 3. DIR is the same as for
# control-plane.sh, which also stops the programs (`stop DIR`).
set -euo pipefail

kueue=0.19.0 jobset=0.12.0
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/pavior/kubernetes
port=${PORT:-16443}
PATH=$PATH:/usr/local/go/bin

die() {
  echo "controllers.sh: $*" >&2
  exit 1
}

program() {
  echo "$cache/$1-${!1}"
}

# Builds in a directory, with Kueue's module unchanged.
build() {
  local folder=$1 module runtime
  cd "$folder"
  export CGO_ENABLED=0 GOFLAGS='' GOBIN=$folder
  folder_of() { go mod download -json "$1" | sed -n 's/.*"Dir": "\(.*\)",/\1/p'; }
  module=$(folder_of "sigs.k8s.io/kueue@v$kueue")
  go install -trimpath -ldflags "-s -w -X sigs.k8s.io/kueue/pkg/version.GitVersion=v$kueue" \
    "sigs.k8s.io/kueue/cmd/kueue@v$kueue"
  # Go modules are not writable.
  cp -r --no-preserve=mode "$module/config" kueue.config
  cp --no-preserve=mode "$module/go.sum" go.sum
  sed 's/^module .*/module controllers/' "$module/go.mod" >go.mod
  module=$(folder_of "sigs.k8s.io/jobset@v$jobset")
  cp -r --no-preserve=mode "$module/config" jobset.config
  runtime=sigs.k8s.io/controller-runtime
  sed -n "s,^\t$runtime \(v[^ ]*\)\$,replace $runtime => $runtime \1,p" "$module/go.mod" >>go.mod
  go build -mod=mod -trimpath -ldflags "-s -w" -o jobset sigs.k8s.io/jobset
}

make() {
  local folder name
  [ ! -x "$(program jobset)" ] || return 0
  type -P go >/dev/null || die "Go is not installed"
  mkdir -p "$cache"
  exec 9>"$cache/controllers.lock"
  flock 9
  [ ! -x "$(program jobset)" ] || return 0
  folder=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$folder'" EXIT
  (build "$folder") >"$cache/controllers.log" 2>&1 ||
    die "the build failed: $cache/controllers.log"
  for name in kueue jobset; do
    rm -rf "$(program $name).config"
    cp -r "$folder/$name.config" "$(program $name).config"
    mv "$folder/$name" "$(program $name).new"
    mv "$(program $name).new" "$(program $name)"
  done
}

# Creates a controller's objects. The API server reaches the webhooks by a name that resolves to
# 127.0.0.1.
objects() {
  local name=$1 dir=$2 hook=$3
  "$dir/bin/kubectl" kustomize "$(program "$name").config/default" 2>/dev/null |
    awk 'BEGIN { RS = ORS = "\n---\n" } !/(^|\n)kind: (APIService|Deployment|Service)(\n|$)/' |
    sed "s/^\( *\)name: $name-webhook-service\$/&\n\1port: $hook/" |
    if [ "$name" = jobset ]; then
      sed "s/^\( *\)clientConfig:\$/&\n\1  caBundle: $(base64 -w 0 "$dir/keys/jobset/tls.crt")/"
    else
      cat
    fi
  cat <<END
apiVersion: v1
kind: Service
metadata: {name: $name-webhook-service, namespace: $name-system}
spec: {type: ExternalName, externalName: 127.0.0.1}
END
}

# Kueue creates its own certificates.
configuration() {
  local name=$1 dir=$2 hook=$3 probe=$4
  cat <<END
apiVersion: config.$name.x-k8s.io/$([ "$name" = kueue ] && echo v1beta2 || echo v1alpha1)
kind: Configuration
health: {healthProbeBindAddress: "127.0.0.1:$probe"}
metrics: {bindAddress: "0"}
webhook: {host: 127.0.0.1, port: $hook, certDir: $dir/keys/$name}
leaderElection: {leaderElect: false}
internalCertManagement:
  enable: $([ "$name" = kueue ] && echo true || echo false)
  webhookServiceName: $name-webhook-service
  webhookSecretName: $name-webhook-server-cert
END
  [ "$name" != kueue ] || cat <<END
namespace: kueue-system
featureGates: {VisibilityOnDemand: false}
integrations: {frameworks: [batch/job, pod]}
END
}

prepare() {
  local name=$1 dir=$2 hook=$3 own=()
  mkdir -p "$dir/keys/$name"
  if [ "$name" = jobset ]; then
    own=(-subj /CN=jobset -addext "subjectAltName=DNS:jobset-webhook-service.jobset-system.svc")
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 "${own[@]}" \
      -keyout "$dir/keys/jobset/tls.key" -out "$dir/keys/jobset/tls.crt" 2>/dev/null
  fi
  configuration "$@" >"$dir/$name.yaml"
  objects "$name" "$dir" "$hook" >"$dir/$name-objects.yaml"
  "$dir/bin/kubectl" --kubeconfig "$dir/kubeconfig" create -f "$dir/$name-objects.yaml" >/dev/null
  "$dir/bin/kubectl" --kubeconfig "$dir/kubeconfig" wait --for=condition=Established crd \
    --selector "app.kubernetes.io/name=$name" --timeout=60s >/dev/null
}

# In a cluster, the contents of Kueue's Secret are mounted into its pod. Kueue reads all files once
# tls.crt exists, so this file is written last, and complete.
certificates() {
  local dir=$1 name text
  for name in ca.crt ca.key tls.key tls.crt; do
    text=$("$dir/bin/kubectl" --kubeconfig "$dir/kubeconfig" get secret kueue-webhook-server-cert \
      --namespace kueue-system --output "jsonpath={.data['${name/./\\.}']}" 2>/dev/null) || return
    [ -n "$text" ] || return
    base64 -d <<<"$text" >"$dir/kueue.$name"
    mv "$dir/kueue.$name" "$dir/keys/kueue/$name"
  done
}

run() {
  local name=$1 dir=$2 probe=$3 try
  KUBECONFIG=$dir/$name.kubeconfig setsid "$(program "$name")" --config "$dir/$name.yaml" \
    >>"$dir/log/$name" 2>&1 </dev/null 9>&- &
  echo $! >"$dir/$name.pid"
  for try in $(seq 300); do
    [ -s "$dir/keys/$name/tls.crt" ] || certificates "$dir" || true
    ! curl -s --max-time 2 "http://127.0.0.1:$probe/readyz" | grep -qx ok || return 0
    sleep 0.2
  done
  tail -n 5 "$dir/log/$name" >&2
  die "$name is not ready ($try tries)"
}

case ${2:-} in
  kueue) hook=$((port + 3)) ;;
  jobset) hook=$((port + 5)) ;;
  *) [ "${1:-}" = make ] || set -- ;;
esac
case ${1:-} in
  make)
    make
    program kueue
    program jobset
    ;;
  start)
    make
    prepare "$2" "${3:?DIR}" "$hook" $((hook + 1))
    run "$2" "$3" $((hook + 1))
    ;;
  run) run "$2" "${3:?DIR}" $((hook + 1)) ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
