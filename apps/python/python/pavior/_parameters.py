"""The keywords of `Experiment`: generated from the list of parameters."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from pavior._native import Trace
from pavior._scheduler import Scheduler
from pavior._strategy import Strategy
from pavior._types import KeyFunction, MachineName, Numbers, Several, Time

__all__ = ["Parameters"]


class Parameters(TypedDict, total=False):
    """Every keyword is an experiment-file parameter, with `_` in place of `-`; see
    docs/parameters.md. A keyword takes a value, a sequence of values or, for numbers, a range:
    `{'from': 0.5, 'to': 2, 'steps': 4}`. Every combination of values is a point. Passing None is
    the same as omitting the keyword.

    Parameters: Machine, strategies and schedulers
        machine: the machine: 'mesh:16x16', 'torus:8x8x8', 'grid:8wx4x4w' (w: a side that wraps),
            or (16, 16)
            (str, or the sides of a mesh as an int or a sequence of ints; default 'mesh:16x16')
        machines: another name for `machine`
            (str, or the sides of a mesh as an int or a sequence of ints; default 'mesh:16x16')
        reservations: a file of advance reservations, which no job may overlap: JSON lines
            {"boxes":[{"base":[0,0],"sides":[4,2]}],"from":3600,"to":7200}; "nodes":[[1,1]] may
            replace "boxes"
            (str; default None)
        freedom: the placements that jobs accept: box, turned, any-box, connected or any; may
            depend on a job's size (box:16,connected), on a column (box:queue=2) or on a share of
            jobs (any:25%)
            (str; default None)
        migration: moves running jobs to make room for the oldest waiting job if this pays off; the
            value is the run time that a move adds to a job, per node moved
            (float or timedelta, in units of time; default None)
        movable: the running jobs that may be moved: those that meet any of the given conditions,
            each a maximum size in nodes (64), a column's value (queue=1) or a share of all jobs
            (25%); default: all
            (str; default None)
        scheduler: the rule that chooses the next job; `pavior schedulers` lists the names
            (str, a subclass of `Scheduler` or `Priority`, or a function that returns a job's key;
            default 'fcfs')
        schedulers: another name for `scheduler`
            (str, a subclass of `Scheduler` or `Priority`, or a function that returns a job's key;
            default 'fcfs')
        strategy: the rule that chooses a job's nodes; `pavior strategies` lists the names
            (str, or a subclass of `Strategy`; default 'ff', 'tff', 'tbl', 'gabl', 'mbs')
        strategies: another name for `strategy`
            (str, or a subclass of `Strategy`; default 'ff', 'tff', 'tbl', 'gabl', 'mbs')
        skip_unsupported: skips the listed strategies, schedulers, freedoms and patterns that do
            not apply to the machine or the workload
            (bool; default False)

    Parameters: Synthetic workload
        sides: the distribution of the requested boxes' sides
            (str: 'uniform', 'uniform-decreasing', 'exponential', 'pods'; default 'uniform')
        service: the distribution of run times or messages
            (str: 'exponential', 'constant', 'messages', 'iterations'; default 'exponential')
        arrivals: the arrival process
            (str: 'exponential', 'bursts'; default 'exponential')
        jobs: ends a run after this many jobs have completed
            (int, in jobs; default 1000)
        load: arrivals per unit of time
            (float, in jobs per unit of time; default 1.5)
        loads: another name for `load`
            (float, in jobs per unit of time; default 1.5)

    Parameters: Messages (service messages or iterations; logs with communication)
        communication: the fraction of a logged job's run time, from 0 to 1, that is spent on
            communication; the duration of this part depends on the network
            (float; default None)
        contention: the model of contention between logged jobs that share links
            ('estimated' (a queueing model of the links), 'simulated' (a slow simulation of the
            jobs' messages); default 'estimated')
        cycles_per_second: the number of network cycles per second of log time
            (int, in cycles; default 1000000)
        pattern: the messages that jobs send; see `pavior patterns`
            (str: 'one-to-all', 'all-to-all', 'near-neighbour', 'random', 'ring', 'all-reduce',
            'recursive-doubling', 'binomial-tree', 'n-body', 'multigrid', 'stencil',
            'axis-all-to-all'; default 'one-to-all')
        patterns: another name for `pattern`
            (str: 'one-to-all', 'all-to-all', 'near-neighbour', 'random', 'ring', 'all-reduce',
            'recursive-doubling', 'binomial-tree', 'n-body', 'multigrid', 'stencil',
            'axis-all-to-all'; default 'one-to-all')
        order: the order of destinations in one-to-all and all-to-all patterns
            (str; default None)
        sending: the number of messages in flight at a time; default: sequential for messages,
            blocking for iterations
            ('sequential' (one message per job), 'blocking' (one message per rank), 'pipelined'
            (all messages of each rank); default None)
        rounds: the synchronization between a pattern's rounds; default: as the pattern specifies
            ('barrier' (a round starts once the previous one's messages are delivered), 'free'
            (ranks continue without waiting); default None)
        ranks: the order in which ranks are assigned to a job's nodes
            ('coordinates' (row-major over the whole allocation), 'parts' (part by part), 'snake'
            (row by row, with every other row of the job reversed), 'hilbert' (along the Hilbert
            curve through the machine), 'greedy' (next to the previous rank if possible, otherwise
            on the nearest unused node), 'pattern' (chosen so that the pattern's messages need few
            hops, even if the job has a single box); default 'coordinates')
        flits: the message length
            (int, in flits; default 8)
        routing_delay: the time a node takes to route a header
            (int, in cycles; default 3)
        buffer: the capacity of each channel's buffer
            (int, in flits; default 1)
        engine: the network engine; the two engines give the same results
            ('worm' (header events only), 'flit' (flit by flit); default 'worm')
        release: when a channel becomes free for the next message
            ('drained' (when its buffer has drained), 'passed' (when the tail has passed); default
            'drained')
        lanes: the virtual channels per link on axes that wrap around
            ('1' (one, which can deadlock), '2' (two, each with the full bandwidth), 'shared' (two
            that share the bandwidth); default '2')
        link_energy: the energy to move one flit over a link
            (float, in units of energy; default 1)
        router_energy: the energy to move one flit through a router
            (float, in units of energy; default 1)

    Parameters: Job log
        trace: a job log, replayed until its last job departs; without a log, jobs are synthetic
            (Trace, or a path to a .swf, .sim, .json or .sacct file, optionally gzipped; default
            None)
        traces: another name for `trace`
            (Trace, or a path to a .swf, .sim, .json or .sacct file, optionally gzipped; default
            None)
        shape_rule: the rule that turns a node count into a box
            (str: 'compact', 'exact', 'pow2', 'random'; default 'compact')
        arrival_scale: multiplies the times between arrivals by this factor
            (float; default 1)
        first: reads at most this many job lines
            (int, in lines; default None)
        filter: keeps only jobs whose fields have these values, such as partition=gpu,queue=1
            (str; default None)
        status: keeps only jobs with one of these comma-separated statuses: names, or numeric codes
            as in field 11 of the log
            (str; default None)
        estimates: the run-time estimates given to schedulers: log, exact or factor:2
            (str; default 'log')
        kill: kills logged jobs when they reach their estimates; time added by messages and moves
            does not count
            (bool; default False)
        lenient: skips and counts malformed lines instead of stopping at the first
            (bool; default False)
        dependencies: submits each job only after its predecessors in the log (fields 17 and 18)
            have ended
            (bool; default None)
        processors_per_node: the number of processors per node; 1 treats sizes as node counts,
            regardless of the header
            (int; default None)
        nodes_from: the SWF column (counting from 1) that contains the node count: 4, 2x4 or
            text:2x4
            (int; default None)
        pieces: keeps partial jobs (status 2, 3 or 4) even if the log also contains the whole job
            (bool; default None)
        log_format: the log format, if it cannot be detected from the contents or the file name
            (str; default None)
        placed: adds a result row for the placements recorded in the log; the value is a node-name
            pattern, such as n{x}-{y} or n[0-9]
            (str; default None)

    Parameters: Failures
        mttf: a node's mean time to failure (exponential)
            (float or timedelta, in units of time; default None)
        mttr: a node's mean time to repair (exponential)
            (float or timedelta, in units of time; default None)
        fail_classes: the kinds of components that can fail, with their mean times to failure and
            repair: chip:mttf=1e5:mttr=24,cube:mttf=9000:mttr=24,switch:mttf=1e5:mttr=8
            (str, in units of time; default None)
        spares: the number of spare cubes (4x4x4 nodes each), unused until another cube fails
            (int, in cubes; default None)
        spare_switches: the number of spare switches, which replace failed ones
            (int, in switches; default None)
        slice: the slice whose availability is measured: a number of 4x4x4-node cubes, or the sides
            of a box in nodes, such as 8x8x16; see the metrics slice_availability and slice_free
            (str; default None)
        failures: a file of failures and repairs: JSON lines {"op":"fail","node":[1,1],"at":60};
            "cube" or "switch" may replace "node"
            (str; default None)
        checkpoint: the run time between checkpoints; default: interrupted jobs start over
            (float or timedelta, in units of time; default None)

    Parameters: Replications
        warmup: the number of completed jobs to ignore before averaging begins
            (int, in jobs; default 0)
        max_waiting: ends a run of synthetic jobs with an error when more than this many jobs are
            waiting; default: 1000000
            (int, in jobs; default None)
        max_time: ends a run with an error at this time; default: the largest possible time
            (float or timedelta, in units of time; default None)
        max_interruptions: ends a run with an error if any job loses nodes more than this many
            times; default: 10000
            (int, in times; default None)
        seed: the seed for all random numbers
            (int; default 1)
        seeds: another name for `seed`
            (int; default 1)
        replications: the number of independent replications per point; default: 10, or 1 for a log
            (int; default None)
        precision: the target precision, such as 0.05: adds replications until each confidence
            interval's half-width is at most this fraction of the mean
            (float; default None)
        precision_metrics: the metrics with a precision target; default: turnaround and utilization
            (str or a sequence of str; default None)
        confidence: the confidence level for the precision target
            (float; default 0.95)
        min_replications: the minimum number of replications if precision is set
            (int; default 5)
        max_replications: the maximum number of replications if precision is set
            (int; default 200)
        sweep: parts of the experiment, each a dict of parameters that override the experiment's
            own
            (a sequence of dicts; default None)

    Parameters: Results
        slowdown_bound: the minimum run time used in the bounded slowdown; default: 10 s (logs) or
            1 unit
            (float or timedelta, in units of time; default None)
        title: the heading of the report
            (str; default None)
        metrics: the metrics to observe; +NAME adds one to the defaults; see `pavior metrics`
            (str or a sequence of str; default None)
        timing: measures how long allocation attempts take
            (bool; default True)
        baseline: the strategy to compare the others with; default: the first
            (str; default None)
        orders: each strategy's asymptotic cost, for the printed_order metric: formulas in N
            (nodes), h (rows), B (busy submeshes) and K (nodes per submesh)
            (a dict of formulas; default None)
        figure: the figures in the report, each a dict; see docs/experiments.md
            (a sequence of dicts; default None)

    Parameters: Snapshots
        busy: the busy boxes in a snapshot, given by base and sides, such as 1,2:4x3 5,5:2x2
            (str; default None)
        submeshes: the number of busy boxes placed at random, redrawn for each replication
            (int, in boxes; default None)
        request: the sides of the box requested in a snapshot, such as 3x2
            (str; default None)
        requests: another name for `request`
            (str; default None)
    """

    machine: Several[MachineName] | None
    machines: Several[MachineName] | None
    trace: Several[Trace | str | os.PathLike[str]] | None
    traces: Several[Trace | str | os.PathLike[str]] | None
    shape_rule: Several[str] | None
    arrival_scale: Numbers[float] | None
    first: Numbers[int] | None
    filter: Several[str] | None
    status: Several[str] | None
    estimates: Several[str] | None
    kill: Several[bool] | None
    lenient: Several[bool] | None
    dependencies: Several[bool] | None
    processors_per_node: Numbers[int] | None
    nodes_from: Numbers[int] | None
    pieces: Several[bool] | None
    log_format: Several[str] | None
    placed: Several[str] | None
    busy: Several[str] | None
    submeshes: Numbers[int] | None
    request: Several[str] | None
    requests: Several[str] | None
    sides: Several[str] | None
    service: Several[str] | None
    arrivals: Several[str] | None
    communication: Numbers[float] | None
    contention: Several[Literal["estimated", "simulated"]] | None
    cycles_per_second: Numbers[int] | None
    pattern: Several[str] | None
    patterns: Several[str] | None
    order: Several[str] | None
    sending: Several[Literal["sequential", "blocking", "pipelined"]] | None
    rounds: Several[Literal["barrier", "free"]] | None
    ranks: Several[Literal["coordinates", "parts", "snake", "hilbert", "greedy", "pattern"]] | None
    flits: Numbers[int] | None
    routing_delay: Numbers[int] | None
    buffer: Numbers[int] | None
    engine: Several[Literal["worm", "flit"]] | None
    release: Several[Literal["drained", "passed"]] | None
    lanes: Several[Literal["1", "2", "shared"]] | None
    link_energy: Numbers[float] | None
    router_energy: Numbers[float] | None
    mttf: Numbers[Time] | None
    mttr: Numbers[Time] | None
    fail_classes: Several[str] | None
    spares: Numbers[int] | None
    spare_switches: Numbers[int] | None
    slice: Several[str] | None
    failures: Several[str] | None
    checkpoint: Numbers[Time] | None
    reservations: Several[str] | None
    jobs: Numbers[int] | None
    freedom: Several[str] | None
    migration: Numbers[Time] | None
    movable: Several[str] | None
    warmup: Numbers[int] | None
    slowdown_bound: Numbers[Time] | None
    max_waiting: Numbers[int] | None
    max_time: Numbers[Time] | None
    max_interruptions: Numbers[int] | None
    seed: Numbers[int] | None
    seeds: Numbers[int] | None
    load: Numbers[float] | None
    loads: Numbers[float] | None
    scheduler: Several[str | type[Scheduler] | KeyFunction] | None
    schedulers: Several[str | type[Scheduler] | KeyFunction] | None
    strategy: Several[str | type[Strategy]] | None
    strategies: Several[str | type[Strategy]] | None
    title: str | None
    skip_unsupported: bool | None
    replications: int | None
    precision: float | None
    precision_metrics: str | Sequence[str] | None
    confidence: float | None
    min_replications: int | None
    max_replications: int | None
    metrics: str | Sequence[str] | None
    timing: bool | None
    baseline: str | None
    orders: Mapping[str, str] | None
    figure: Sequence[Mapping[str, object]] | None
    sweep: Sequence[Mapping[str, object]] | None
