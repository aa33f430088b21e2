//! Explains why requests are waiting.

use pavior::JobId;
use pavior::text::shown;
use pavior_cluster::Explainer;

use crate::Config;
use crate::ledger::SlurmJob;
use crate::plan::world::World;

/// The name of the placeholder that holds nodes while Slurm powers them off.
const POWERING_OFF: &str = "nodes being powered off";

/// Returns a job's name for use in messages, including its partition if that partition is not in
/// the configuration.
pub(crate) fn display_name(config: &Config, job: &SlurmJob) -> String {
    if config.partitions.contains(&job.partition) {
        return format!("job {}", job.name);
    }
    format!("job {} in partition {}", job.name, shown(&job.partition))
}

/// Calls `explain` with an explainer for the jobs in a ledger. Assumes that jobs end at their time
/// limits.
pub(crate) fn explainer<T>(world: World<'_>, explain: impl FnOnce(&Explainer<'_>) -> T) -> T {
    let config = world.config;
    let name = |job: JobId| match world.job(job) {
        Some(job) => display_name(config, job),
        None => POWERING_OFF.to_string(),
    };
    explain(&Explainer {
        grid: &config.grid,
        strategy: &config.strategy.to_string(),
        scheduler: &config.scheduler().to_string(),
        name: &name,
        end: &|job| world.end(job),
        is_job: &|job| world.job(job).is_some(),
    })
}
