#!/usr/bin/env bash
# A toy cluster on one machine: one munged, one slurmctld, 64 slurmd, all on the loopback
# interface, everything in one directory. Needs root and Debian's packages:
#   apt-get install --no-install-recommends slurm-wlm slurm-wlm-basic-plugins slurm-client \
#     slurmctld slurmd munge
#
#   examples/slurm/cluster.sh start DIR [PORT] [PAVIOR]   # DIR is made; 70 ports from PORT on (26800)
#   examples/slurm/cluster.sh stop DIR
#
# Options for slurm.conf may be given in the variable SLURM_EXTRA (lines). With SLURM_PLAIN=N it is a
# cluster of N nodes (2 to 64) without Pavior's daemon.
set -euo pipefail

start() {
  local dir=$1 port=${2:-26800} pavior=${3:-pavior} nodes=${SLURM_PLAIN:-64}
  mkdir -p "$dir"/{log,state,spool,pid}
  dir=$(cd "$dir" && pwd)
  chmod 755 "$dir"
  mkdir -p "$dir/munge"
  chmod 711 "$dir/munge"
  head -c 128 /dev/urandom >"$dir/munge/key"
  chmod 400 "$dir/munge/key"
  munged --key-file "$dir/munge/key" --socket "$dir/munge/socket" --log-file "$dir/munge/log" \
    --pid-file "$dir/munge/pid" --seed-file "$dir/munge/seed" --num-threads 4 --force 2>/dev/null
  conf "$dir" "$port" "$nodes" >"$dir/slurm.conf"
  if [ -z "${SLURM_PLAIN:-}" ]; then
    toml >"$dir/pavior.toml"
    "$pavior" slurm --config "$dir/pavior.toml" install "$dir" >/dev/null
    grep -v '^#' "$dir/slurm.conf.lines" | grep -v '^NodeName\|^PartitionName' >>"$dir/slurm.conf"
  fi
  export SLURM_CONF=$dir/slurm.conf
  slurmctld -f "$dir/slurm.conf" -L "$dir/log/slurmctld.log"
  local node
  for node in $(seq -f 'n%02g' 0 $((nodes - 1))); do
    slurmd -N "$node" -f "$dir/slurm.conf" -L "$dir/log/$node.log"
  done
  local try
  for try in $(seq 300); do
    [ "$(sinfo -h -t idle -o %D 2>/dev/null || true)" = "$nodes" ] && break
    [ "$try" = 300 ] && { echo "the cluster did not start; see $dir/log" >&2; exit 1; }
    sleep 0.2
  done
  [ -n "${SLURM_PLAIN:-}" ] || scontrol create reservation ReservationName=pavior Licenses=pavior:1 Users=root \
    StartTime=now Duration=UNLIMITED Flags=LICENSE_ONLY >/dev/null
  echo "export SLURM_CONF=$dir/slurm.conf"
}

conf() {
  local dir=$1 port=$2 nodes=$3 names
  names=n[00-$(printf %02d $((nodes - 1)))]
  cat <<EOF
ClusterName=toy
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
SlurmctldParameters=disable_job_shrink
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc=$dir/jobs.txt
SelectType=select/linear
SchedulerType=sched/backfill
ReturnToService=2
SlurmctldTimeout=300
SlurmdTimeout=300
KillWait=2
MinJobAge=300
MaxJobCount=20000
MaxArraySize=5001
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/pid/slurmctld
SlurmdPidFile=$dir/pid/%n
PluginDir=/usr/lib/$(uname -m)-linux-gnu/slurm-wlm
NodeName=$names NodeHostname=localhost NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))] CPUs=1 RealMemory=100
PartitionName=mesh Nodes=$names Default=YES OverSubscribe=EXCLUSIVE MaxTime=INFINITE State=UP
${SLURM_EXTRA:-}
EOF
}

toml() {
  cat <<'EOF'
machine = "mesh:8x8"
nodes = "n{:02}"
partition = "mesh"
strategy = "tff"
order = "easy"
poll_ms = 200
patience_s = 10
cooldown_s = 5
EOF
}

stop() {
  local dir=$1 pids
  pids=$(cat "$dir"/pid/* "$dir"/munge/pid 2>/dev/null || true)
  [ -z "$pids" ] && return
  # shellcheck disable=SC2086
  kill $pids 2>/dev/null || true
  for _ in $(seq 30); do
    # shellcheck disable=SC2086
    kill -0 $pids 2>/dev/null || return 0
    sleep 0.1
  done
  # shellcheck disable=SC2086
  kill -9 $pids 2>/dev/null || true
}

case ${1:-} in
  start) start "${2:?a directory}" "${3:-26800}" "${4:-pavior}" ;;
  stop) stop "${2:?a directory}" ;;
  *) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
