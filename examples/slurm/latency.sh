#!/usr/bin/env bash
# Measures the time from `sbatch` to the first command of a 2x3 job, on an empty toy cluster of 64 nodes
# with `pavior slurm`. Needs root, like cluster.sh; release.sh can run it on other releases:
#
#   examples/slurm/latency.sh DIR PAVIOR [JOBS]    # prints release, jobs, median and maximum in seconds
#
# SLURM_EXTRA contains additional lines for slurm.conf.
set -euo pipefail

dir=$1 pavior=$2 jobs=${3:-24}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/cluster.sh" start "$dir" 26800 "$pavior" >/dev/null
export SLURM_CONF=$dir/slurm.conf
"$pavior" slurm --config "$dir/pavior.toml" 2>"$dir/pavior.log" &
daemon=$!
trap 'kill $daemon; wait $daemon || true; "$here/cluster.sh" stop "$dir"' EXIT
sleep 2
for job in $(seq "$jobs"); do
  date +%s.%N >"$dir/submitted.$job"
  sbatch -o /dev/null --comment=shape=2x3 -t 1 --wrap "date +%s.%N >$dir/started.$job" >/dev/null
  # The machine must be empty again before the next job.
  while [ ! -s "$dir/started.$job" ] || [ -n "$(squeue -h)" ]; do sleep 0.1; done
  sleep "0.$((RANDOM % 10))"
done
for job in $(seq "$jobs"); do
  echo "$(cat "$dir/started.$job") $(cat "$dir/submitted.$job")"
done | awk '{ print $1 - $2 }' | sort -g | awk -v release="$(slurmctld -V)" '
  { all[NR] = $1 }
  END { printf "%s: %d jobs, median %.2f s, longest %.2f s\n", release, NR, all[int((NR + 1) / 2)], all[NR] }'
