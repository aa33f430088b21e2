"""Compares two custom schedulers with two built-in ones on the same jobs. Needs only the package."""

from pavior import MachineView, Experiment, Job, Queue, Running, Scheduler


class Patient(Scheduler):
    """Starts the oldest job or, unless it has waited for ten units of time, any other that fits."""

    name = "patient"

    def next(self, now: float, queue: Queue, running: Running, view: MachineView) -> int | None:
        if view.can_start(0):
            return 0
        if now - queue[0].submit > 10.0:
            return None
        nodes = view.free
        for index, job in enumerate(queue):
            if job.nodes <= nodes and view.can_start(index):
                return index
        return None


def smallest_area(job: Job) -> float:
    """Starts the job with the smallest product of nodes and time first."""
    return job.nodes * job.estimate


if __name__ == "__main__":
    experiment = Experiment(
        machine="mesh:16x16",
        strategy="tff",
        scheduler=["fcfs", "scan-all", Patient, smallest_area],
        load=1.8,
        jobs=500,
        replications=5,
    )
    means = experiment.run(threads=1).means
    for scheduler, metric, mean in zip(
        means["scheduler"], means["metric"], means["mean"], strict=True
    ):
        if metric == "turnaround":
            print(f"{scheduler}: a job takes {mean:.3f} {means.unit} from submission to departure")
