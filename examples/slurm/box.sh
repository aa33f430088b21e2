#!/usr/bin/env bash
#SBATCH --comment=shape=4x4
# Starts a program on the box that `pavior slurm` gave this job, with rank i on the i-th node of the
# box: x varies fastest, then y, then z. Slurm numbers nodes by name, which gives a different order if
# the box is rotated or wraps around a torus, or if nodes are not named along x.
#
#   sbatch --comment=shape=4x4 examples/slurm/box.sh ./program ARGUMENTS
#
# With --ntasks-per-node=K, ranks 0 to K-1 are on the first node, and so on.
set -euo pipefail

# AdminComment (or Extra, if the site is configured so) is pavior:box=4x4@0,0;ranks=NODE,NODE,n[00-99],...
ranks=$(scontrol show job -o "$SLURM_JOB_ID" |
  sed -n 's/.* [A-Za-z]*=pavior:box=[^ ;]*;ranks=\([^ ]*\).*/\1/p')
[ -n "$ranks" ] || { echo "Pavior has not placed this job" >&2; exit 1; }

SLURM_HOSTFILE=$(mktemp)
export SLURM_HOSTFILE
trap 'rm -f "$SLURM_HOSTFILE"' EXIT
per_node=${SLURM_NTASKS_PER_NODE:-1}
scontrol show hostnames "$ranks" | awk -v n="$per_node" '{ for (i = 0; i < n; i++) print }' >"$SLURM_HOSTFILE"

# srun also uses the options with which the job was submitted. These would change the layout.
unset SLURM_NTASKS SLURM_NPROCS SLURM_NTASKS_PER_NODE SLURM_DISTRIBUTION
srun --distribution=arbitrary --ntasks="$(wc -l <"$SLURM_HOSTFILE")" "$@"
