#!/bin/sh
# Runs an experiment as a Slurm job array. Each task runs a shard, and a final job merges the shards.
#
#   sbatch --array=1-8 examples/slurm-array.sh examples/turning.toml results
#
# Shards are independent, so any batch system, or a shell loop, can run them. A task that was killed
# or preempted continues where it left off when it is started again (--resume).
#SBATCH --job-name=pavior
#SBATCH --cpus-per-task=4
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --output=pavior-%A-%a.log

set -eu
experiment=${1:?the experiment, a TOML file}
out=${2:?the directory for the results}
shard=${SLURM_ARRAY_TASK_ID:?started as an array: sbatch --array=1-8 ...}
count=${SLURM_ARRAY_TASK_COUNT:-1}
mkdir -p "$out"

pavior experiment "$experiment" --shard "$shard/$count" --resume \
    --out "$out/shard-$shard" --threads "${SLURM_CPUS_PER_TASK:-1}" --format csv > /dev/null

# The first task submits the merge, which starts once the whole array has succeeded.
if [ "$shard" = 1 ] && command -v sbatch > /dev/null; then
    sbatch --dependency="afterok:${SLURM_ARRAY_JOB_ID}" --job-name=pavior-merge \
        --wrap "pavior merge $out/shard-* --out $out/whole"
fi
