#!/bin/sh
# Runs a sweep on Slurm in turns. Each turn is a job array for the replications needed next.
#
#   examples/sweep-slurm.sh examples/turning.toml results 20
#
# Unlike with shards (slurm-array.sh), all workers stay busy until the end, even if one point needs nearly all
# the replications. Nothing is lost if a task fails or is killed or preempted: the replications that it stored
# count, and the others are requested again. To continue after an interruption, run the script again. Needs jq.
# SBATCH_OPTIONS contains options for every job, and POLL_SECONDS the interval between queue queries (5).
set -eu
experiment=${1:?the experiment, a TOML file}
out=${2:?the directory for the results}
most=${3:-20} # replications per task; a task should take several seconds, or better, minutes

mkdir -p "$out/sweep" "$out/parts" "$out/log"
out=$(cd "$out" && pwd)
cp "$experiment" "$out/sweep/experiment.toml"

# Returns true if a job has left the queue, and false if not or if the controller does not answer.
ended() {
    if ! left=$(squeue --noheader --jobs "$1" 2>&1); then
        case $left in *"Invalid job id"*) return 0 ;; *) return 1 ;; esac
    fi
    [ -z "$left" ]
}

turn=0
while :; do
    for part in "$out"/parts/*; do
        # A worker that was killed before it described its part has not stored anything.
        [ ! -d "$part" ] || [ -e "$part/experiment.toml" ] || rm -r "$part"
    done
    set -- "$out"/parts/*
    [ -e "$1" ] || set --
    pavior sweep wanted "$out/sweep" "$@" --most "$most" --json > "$out/wanted.json"
    count=$(jq length "$out/wanted.json")
    [ "$count" = 0 ] && break
    if cmp -s "$out/wanted.json" "$out/turn/wanted.json"; then
        echo "the last turn gave no results; see $out/log" >&2
        exit 1
    fi
    while [ -e "$out/log/turn-$turn" ]; do turn=$((turn + 1)); done
    rm -rf "$out/turn"
    mkdir "$out/turn" "$out/log/turn-$turn"
    cp "$out/wanted.json" "$out/turn"
    jq -c '.[]' "$out/wanted.json" | awk -v to="$out/turn/" '{ print "[" $0 "]" > (to NR-1 ".json") }'
    echo "turn $turn: $count tasks" >&2
    # shellcheck disable=SC2086
    job=$(sbatch --parsable ${SBATCH_OPTIONS:-} --array="0-$((count - 1))" --output="$out/log/turn-$turn/%a" \
        --wrap "exec pavior sweep run '$out/sweep' --spans '$out/turn/'\$SLURM_ARRAY_TASK_ID.json \
            --out '$out/parts/$turn-'\$SLURM_ARRAY_TASK_ID --threads 1")
    until ended "$job"; do sleep "${POLL_SECONDS:-5}"; done
done
pavior merge "$@" --out "$out/whole"
