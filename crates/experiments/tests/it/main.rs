//! Tests of experiments through the public interface: files, sweeps and results.

mod advice;
mod catalogue;
mod dependencies;
mod directory;
mod fingerprint;
mod forecasts;
mod page;
mod placed;
mod snapshot;
mod specification;
mod sweep;

use pavior_experiments::{Environment, NoStore, Samples, Shard, Specification};

fn read(text: &str) -> Specification {
    Specification::parse(text, "test").unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn whole(experiment: &Specification) -> Samples {
    experiment.run(Vec::new(), Shard::WHOLE, Environment::PLAIN, &mut NoStore).unwrap()
}
