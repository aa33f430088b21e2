#!/bin/sh
# A sweep on Slurm, turn by turn: each turn is a job array over what the experiment wants next.
#
#   examples/sweep-slurm.sh examples/turning.toml results 20
#
# Unlike shards (slurm-array.sh), every worker has something to do until the end, also where one point takes
# nearly all replications. A task that fails, is killed or preempted is not a loss: what it kept counts, and the
# rest is wanted again. Called again after an interruption, it goes on. Needs jq. Options for every job
# may be given in SBATCH_OPTIONS, the seconds between looks at the queue in POLL_SECONDS (5).
set -eu
experiment=${1:?the experiment, a TOML file}
out=${2:?the directory of the results}
most=${3:-20} # replications of a task: so many that it takes some seconds, better minutes

mkdir -p "$out/sweep" "$out/parts" "$out/log"
out=$(cd "$out" && pwd)
cp "$experiment" "$out/sweep/experiment.toml"

# Whether a job has left the queue; not if the controller does not answer.
ended() {
    if ! left=$(squeue --noheader --jobs "$1" 2>&1); then
        case $left in *"Invalid job id"*) return 0 ;; *) return 1 ;; esac
    fi
    [ -z "$left" ]
}

turn=0
while :; do
    for part in "$out"/parts/*; do
        # A worker that was killed before it had described its part has kept nothing.
        [ ! -d "$part" ] || [ -e "$part/experiment.toml" ] || rm -r "$part"
    done
    set -- "$out"/parts/*
    [ -e "$1" ] || set --
    pavior sweep wanted "$out/sweep" "$@" --most "$most" --json > "$out/wanted.json"
    count=$(jq length "$out/wanted.json")
    [ "$count" = 0 ] && break
    if cmp -s "$out/wanted.json" "$out/turn/wanted.json"; then
        echo "nothing came of the last turn; see $out/log" >&2
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
