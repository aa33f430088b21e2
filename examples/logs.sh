#!/usr/bin/env bash
# Runs real logs under several schedulers and strategies, and prints CSV, which results/schedulers-on-logs.md explains.
# FOLDER contains the logs (.swf.gz, named as in the Parallel Workloads Archive). Runs the program $PAVIOR, or `pavior`
# from the search path. Progress and times go to standard error.
#
#   examples/logs.sh FOLDER > logs.csv          all logs, about half an hour on one core
#   examples/logs.sh FOLDER KTH > logs.csv      the logs whose names begin with KTH
set -euo pipefail

folder=${1:?usage: logs.sh FOLDER [LOG]}
only=${2:-}
pavior=${PAVIOR:-pavior}
all=ff,tff,tbl,gabl,mbs,naive
quick=ff,tff,tbl,mbs,naive
metrics=waiting,slowdown,utilization,broken_guarantees,completed,rejected
status=0

echo "log,first,estimates,machine,strategy,scheduler,load,replications,overloaded,metric,mean,ci95,unit"

# run LOG FIRST ESTIMATES MACHINE STRATEGIES SCHEDULERS [MORE...]; FIRST is `all` or a number of lines
run() {
    local log=$1 first=$2 estimates=$3 machine=$4 strategies=$5 schedulers=$6 begin=$SECONDS
    shift 6
    local part=()
    [[ $first == all ]] || part=(--first "$first")
    echo "$log $first $estimates $machine $schedulers" >&2
    "$pavior" simulate --trace "$folder/$log.swf.gz" --machine "$machine" --strategy "$strategies" \
        --scheduler "$schedulers" --estimates "$estimates" --metrics "$metrics" --format csv \
        --no-timing --threads 1 "${part[@]}" "$@" |
        sed "1d; s/^/$log,$first,$estimates,/" || status=1
    echo "    $((SECONDS - begin)) s" >&2
}

# each LOG SIDES STRATEGIES FIRST [MORE...]: makes all runs of a log.
each() {
    local log=$1 sides=$2 strategies=$3 first=$4 kind scheduler
    shift 4
    [[ $log == "$only"* ]] || return 0
    for kind in mesh torus; do
        for scheduler in fcfs window:8 scan-all easy easy:count; do
            run "$log" "$first" log "$kind:$sides" "$strategies" "$scheduler" "$@"
        done
        # GABL is slow on large machines, so it and its rivals run only part of the log there.
        if [[ $strategies == "$quick" ]]; then
            run "$log" 5000 log "$kind:$sides" tff,gabl,mbs window:8,scan-all,easy:count "$@"
        fi
        # Booking every job is slow on the largest machine, so fewer jobs and strategies run there.
        if [[ $first == 5000 ]]; then
            run "$log" 4000 log "$kind:$sides" tff,mbs fcfs,easy,conservative "$@"
        else
            run "$log" 5000 log "$kind:$sides" "$all" fcfs,easy,conservative "$@"
        fi
    done
    # With exact estimates, only geometry can break a promise.
    run "$log" "$first" exact "mesh:$sides" tff,mbs easy,easy:count "$@"
}

each SDSC-Par-1996-3.1-cln 16x22 "$all" all --filter partition=2
each NASA-iPSC-1993-3.1-cln 16x8 "$all" all
each LANL-CM5-1994-4.1-cln 32x32 "$all" all
each KTH-SP2-1996-2.1-cln 10x10 "$all" all
each SDSC-SP2-1998-4.2-cln 16x8 "$all" all
each lublin_256 16x16 "$all" all
each HPC2N-2002-2.2-cln 16x15 "$all" all
each SDSC-DS-2004-2.1-cln 32x52 "$quick" all
each SDSC-BLUE-2000-4.2-cln 32x36 "$quick" all
each LLNL-Atlas-2006-2.1-cln 96x96 "$quick" all
each CEA-Curie-2011-2.1-cln 48x48x41 "$all" 5000
exit $status
