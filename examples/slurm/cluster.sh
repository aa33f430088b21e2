#!/usr/bin/env bash
# Runs a toy cluster on one machine: one munged, one slurmctld and 64 slurmd processes on the
# loopback interface, with all files in one directory. Needs root and these Debian packages:
#   apt-get install --no-install-recommends slurm-wlm slurm-wlm-basic-plugins slurm-client \
#     slurmctld slurmd munge
# To run Slurm releases that are not installed here, use release.sh.
#
#   examples/slurm/cluster.sh start DIR [PORT] [PAVIOR]   # creates DIR; uses 70 ports from PORT (26800)
#   examples/slurm/cluster.sh stop DIR
#   examples/slurm/cluster.sh slurmctld DIR [HOST]        # restarts it, or the one for a host
#   examples/slurm/cluster.sh slurmd DIR NODE             # restarts one
#
# Environment variables:
#   SLURM_EXTRA       lines for slurm.conf, which replace the script's lines with the same key. Each
#                     SlurmctldHost starts a controller, named after its host
#   SLURM_NODES       lines with node names and additional properties: n[00-07] Feature=fast Gres=gpu:2
#   SLURM_MACHINE     the machine (mesh:8x8), which also gives the number of nodes; SLURM_PREFIX: the
#                     prefix of node names (n); SLURM_TOML: more lines for pavior.toml
#   SLURM_PLAIN       a cluster of this many nodes (2 to 1000) without Pavior's daemon
#   SLURM_ACCOUNTING  if not empty, runs slurmdbd with MariaDB (packages slurmdbd, mariadb-server-core
#                     and slurm-wlm-mysql-plugin); the users alice and bob, if they exist, get the
#                     account toy
set -Eeuo pipefail
trap 'echo "cluster.sh: failed at line $LINENO" >&2' ERR
PATH=$PATH:/usr/sbin:/sbin

start() {
  local dir=$1 port=${2:-26800} pavior=${3:-pavior} nodes=${SLURM_PLAIN:-}
  [ -n "$nodes" ] || nodes=$(count "${SLURM_MACHINE:-mesh:8x8}")
  mkdir -p "$dir"/{log,state,spool,pid}
  dir=$(cd "$dir" && pwd)
  chmod 755 "$dir"
  mkdir -p "$dir/munge"
  chmod 711 "$dir/munge"
  head -c 128 /dev/urandom >"$dir/munge/key"
  chmod 400 "$dir/munge/key"
  munged --key-file "$dir/munge/key" --socket "$dir/munge/socket" --log-file "$dir/munge/log" \
    --pid-file "$dir/munge/pid" --seed-file "$dir/munge/seed" --num-threads 4 --force 2>/dev/null
  # Newer releases require control groups, which a container may not have.
  is_22_05 || echo CgroupPlugin=disabled >"$dir/cgroup.conf"
  {
    conf "$dir" "$port" "$nodes"
    [ -z "${SLURM_ACCOUNTING:-}" ] || accounting_conf "$dir" $((port + nodes + 1))
    if [ -z "${SLURM_PLAIN:-}" ]; then
      toml >"$dir/pavior.toml"
      "$pavior" slurm --config "$dir/pavior.toml" install "$dir" >/dev/null
      grep -v '^#' "$dir/slurm.conf.lines"
    fi
  } | replaced "${SLURM_EXTRA:-}" >"$dir/slurm.conf"
  node_lines "$port" "$nodes" >>"$dir/slurm.conf"
  export SLURM_CONF=$dir/slurm.conf
  [ -z "${SLURM_ACCOUNTING:-}" ] || accounting "$dir" $((port + nodes + 1))
  slurmctld_start "$dir"
  local node started=0
  for node in $(names "$nodes"); do
    # Cloud and future nodes are started later, by other programs.
    grep -q "^NodeName=$node .*State=" "$dir/slurm.conf" && continue
    slurmd_start "$dir" "$node"
    started=$((started + 1))
  done
  until_answers 300 idle "$started" || { echo "the cluster does not start; see $dir/log" >&2; exit 1; }
  # SLURM_EXTRA may have replaced the license, which then does not exist yet.
  ! grep -q '^Licenses=.*pavior:1' "$dir/slurm.conf" || scontrol create reservation ReservationName=pavior Licenses=pavior:1 Users=root \
    StartTime=now Duration=UNLIMITED Flags=LICENSE_ONLY >/dev/null
  echo "export SLURM_CONF=$dir/slurm.conf"
}

slurmctld_start() {
  local host hosts
  hosts=${2:-$(sed -n 's/^SlurmctldHost=\([^(]*\).*/\1/p' "$1/slurm.conf")}
  [ "$hosts" = localhost ] && { slurmctld -f "$1/slurm.conf" -L "$1/log/slurmctld.log"; return; }
  # Each of several controllers identifies itself by its host's name. A controller ends the process
  # that its PID file names, so each one has its own file.
  for host in $hosts; do
    mkdir -p "$1/pid-$host"
    setsid unshare --uts --mount sh -ec 'hostname "$0"
      mount --bind "$1/pid-$0" "$1/pid"
      exec slurmctld -D -f "$1/slurm.conf" -L "$1/log/slurmctld-$0.log"' \
      "$host" "$1" </dev/null >/dev/null 2>&1 &
    echo $! >"$1/pid/slurmctld-$host"
    [ -n "${2:-}" ] || until_answers 50 scontrol ping || true
  done
}

slurmd_start() {
  slurmd -N "$2" -f "$1/slurm.conf" -L "$1/log/$2.log"
}

is_22_05() {
  [[ $(slurmctld -V) == *" 22.05."* ]]
}

# Prints a machine's number of nodes, given its name: kind:4x4 or kind:4x4x4.
count() {
  local sides=${1#*:}
  echo $((${sides//x/*}))
}

# Prints the node names: n00, n01, ..., with three digits if two are too few.
names() {
  seq -f "${SLURM_PREFIX:-n}%0$(width "$1")g" 0 $(($1 - 1))
}

width() {
  [ "$1" -gt 100 ] && echo 3 || echo 2
}

# Settings that every release from 22.05 to 26.05 accepts. All others have Slurm's defaults.
conf() {
  local dir=$1 port=$2 nodes=$3 select=cons_tres
  # Most sites of that time used this plugin.
  is_22_05 && select=linear
  cat <<CONF
ClusterName=toy
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
SlurmctldParameters=disable_job_shrink
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobCompType=jobcomp/filetxt
JobCompLoc=$dir/jobs.txt
SelectType=select/$select
SchedulerType=sched/backfill
SlurmdParameters=config_overrides
ReturnToService=1
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
PartitionName=mesh Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE MaxTime=INFINITE State=UP
CONF
}

# Replaces lines with others that have the same key. A partition's key is its name, and `partitions`
# counts as `partition`.
replaced() {
  MORE=$1 awk '
    function key(line) {
      if (line ~ /^PartitionName=/) { sub(/ .*/, "", line); return line }
      if (line ~ /^partitions *=/) return "partition"
      sub(/ *=.*/, "", line)
      return line
    }
    BEGIN {
      count = split(ENVIRON["MORE"], more, "\n")
      for (at = 1; at <= count; at++) has[key(more[at])] = 1
    }
    !has[key($0)]
    END { for (at = 1; at <= count; at++) print more[at] }'
}

# Prints a line for each node. Properties in SLURM_NODES replace the defaults.
node_lines() {
  local port=$1 names node range all has
  declare -A given
  while read -r range all; do
    [ -n "$range" ] || continue
    for node in $(expanded "$range"); do given[$node]+=" $all"; done
  done <<<"${SLURM_NODES:-}"
  for node in $(names "$2"); do
    port=$((port + 1))
    has=${given[$node]:-}
    [[ $has == *CPUs=* ]] || has+=" CPUs=1"
    [[ $has == *RealMemory=* ]] || has+=" RealMemory=100"
    echo "NodeName=$node NodeHostname=localhost NodeAddr=127.0.0.1 Port=$port$has"
  done
}

# Prints the names in a list such as n[00-07,12], or a name that is not a list.
expanded() {
  local part parts first last
  [[ $1 == *'['* ]] || { echo "$1"; return; }
  parts=${1#*[}
  for part in ${parts%]}; do
    for part in ${part//,/ }; do
      first=${part%-*} last=${part#*-}
      seq -f "${1%%[*}%0${#first}g" "$first" "$last"
    done
  done
}

accounting_conf() {
  cat <<CONF
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$2
AccountingStoragePass=$1/munge/socket
JobAcctGatherType=jobacct_gather/none
CONF
}

# Starts MariaDB, without networking, and slurmdbd. Creates the accounts that jobs need.
accounting() {
  local dir=$1 port=$2 user tables
  mkdir -p "$dir/mariadb/data"
  # Only the owner may have access, because the server does not authenticate its users.
  chmod 700 "$dir/mariadb"
  local server=(mariadbd --no-defaults --user=root "--datadir=$dir/mariadb/data")
  for tables in /usr/share/{mariadb,mysql}/{mariadb,mysql}_system_tables.sql; do
    [ -e "$tables" ] && break
  done
  # slurmdbd could create its own database, but this fails with some versions of MariaDB's library.
  { printf '%s\n' 'CREATE DATABASE slurm;' 'CREATE DATABASE mysql;' 'USE mysql;'; cat "$tables"; } |
    "${server[@]}" --bootstrap >"$dir/log/mariadb-tables.log" 2>&1
  "${server[@]}" --skip-grant-tables --skip-networking --socket="$dir/mariadb/socket" \
    --pid-file="$dir/pid/mariadbd" --innodb-flush-log-at-trx-commit=0 \
    --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 \
    --loose-innodb-snapshot-isolation=OFF >"$dir/log/mariadbd.log" 2>&1 </dev/null &
  until_answers 150 test -S "$dir/mariadb/socket" || { echo "MariaDB does not start; see $dir/log" >&2; exit 1; }
  cat >"$dir/slurmdbd.conf" <<CONF
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$port
SlurmUser=root
LogFile=$dir/log/slurmdbd.log
PidFile=$dir/pid/slurmdbd
PluginDir=/usr/lib/$(uname -m)-linux-gnu/slurm-wlm
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm
CONF
  chmod 600 "$dir/slurmdbd.conf"
  MYSQL_UNIX_PORT=$dir/mariadb/socket SLURM_CONF=$dir/slurmdbd.conf slurmdbd
  until_answers 150 sacctmgr -n show cluster || { echo "slurmdbd does not start; see $dir/log" >&2; exit 1; }
  {
    sacctmgr -i add cluster toy
    sacctmgr -i add account toy cluster=toy
    for user in alice bob; do
      id "$user" >/dev/null 2>&1 && sacctmgr -i add user "$user" account=toy
    done
  } >"$dir/log/sacctmgr.log" 2>&1
}

# Returns true if at least this many nodes are idle.
idle() {
  [ "$(sinfo -h -N -t idle -o %N | sort -u | wc -l)" -ge "$1" ]
}

# Runs a command five times per second until it succeeds, at most this many times.
until_answers() {
  local try
  for try in $(seq "$1"); do
    "${@:2}" >/dev/null 2>&1 && return 0
    sleep 0.2
  done
  return 1
}

toml() {
  local machine=${SLURM_MACHINE:-mesh:8x8}
  replaced "${SLURM_TOML:-}" <<TOML
machine = "$machine"
nodes = "${SLURM_PREFIX:-n}{:0$(width "$(count "$machine")")}"
partition = "mesh"
strategy = "tff"
order = "easy"
poll_ms = 200
patience_s = 10
cooldown_s = 5
TOML
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
  slurmctld) slurmctld_start "${2:?a directory}" "${3:-}" ;;
  slurmd) slurmd_start "${2:?a directory}" "${3:?a node}" ;;
  *) sed -n '2,22s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
