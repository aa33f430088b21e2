//! Histories of jobs that run alone, determined by simulation on an empty network.

use pavior_kernel::{Stream, Time};
use pavior_mesh::Grid;
use pavior_network::{
    BadSettings, Communication, Deadlock, Engine, Footprint, JobTraffic, Layout, MessageTotals,
    Network, NetworkEvents,
};

use super::NetworkSetup;
use super::histories::{History, HistoryCache, HistoryKey, SharedCache};
use super::layouts::Layouts;

/// An empty network for simulating jobs alone, and a cache of the results.
pub(super) struct Trials {
    setup: NetworkSetup,
    grid: Grid,
    pub(super) layouts: Layouts,
    network: Network,
    events: NetworkEvents,
    cache: SharedCache,
}

impl Trials {
    pub(super) fn new(setup: &NetworkSetup, grid: Grid) -> Result<Trials, BadSettings> {
        Ok(Trials {
            setup: setup.clone(),
            grid,
            layouts: Layouts::new(setup, grid),
            network: Network::new(grid, setup.settings, setup.engine)?,
            events: NetworkEvents::default(),
            cache: setup.histories.cache(&grid, setup),
        })
    }

    /// Returns the stored trials, creating them on first use. Creation cannot fail, because the
    /// run's own network was created with the same settings.
    pub(super) fn kept<'t>(
        kept: &'t mut Option<Box<Trials>>,
        setup: &NetworkSetup,
        grid: Grid,
    ) -> &'t mut Trials {
        let make = || Trials::new(setup, grid).expect("the run's own network has these settings");
        kept.get_or_insert_with(|| Box::new(make()))
    }

    /// Returns the history of a job that runs alone with the given layout, or `None` if the job
    /// sends nothing. The pattern makes its random draws from a copy of `draw`.
    pub(super) fn history(
        &mut self,
        layout: &Layout,
        service: Communication,
        draw: &Stream,
    ) -> Result<Option<History>, Deadlock> {
        let key = self.key(layout, service, draw);
        let known = key.as_ref().and_then(|key| HistoryCache::recall(&self.cache, key));
        if known.is_some() {
            return Ok(known);
        }
        let mut draw = draw.clone();
        let mut job = JobTraffic::new(0, layout.clone(), &self.setup.plan, service, &mut draw);
        if job.is_finished() {
            return Ok(None);
        }
        let history = self.simulate(&mut job)?;
        if let Some(key) = key {
            HistoryCache::note(&self.cache, key, history);
        }
        Ok(Some(history))
    }

    /// Returns the key under which a job's history with this layout is cached. Returns `None` if
    /// the history depends on random draws, or if the job's service is a number of messages.
    pub(super) fn key(
        &self,
        layout: &Layout,
        service: Communication,
        draw: &Stream,
    ) -> Option<HistoryKey> {
        let Communication::Iterations(count) = service else { return None };
        let mut drawn = draw.clone();
        self.setup.plan.pattern.build((&layout.shape, &mut drawn)).ok()?;
        (drawn == *draw).then(|| {
            let relative = Footprint::relative_layout_of(&self.grid, &layout.nodes);
            HistoryKey::new(relative, layout.shape.sides, count)
        })
    }

    fn simulate(&mut self, job: &mut JobTraffic) -> Result<History, Deadlock> {
        let Trials { network, events, .. } = self;
        let start = network.now();
        let (mut now, mut id, mut totals) = (start, 0, MessageTotals::default());
        loop {
            id = job.create(now, id, |message| network.create(message));
            now = network.advance(Time::MAX, events)?;
            for entered in &events.entered {
                network.create(job.follower(entered));
            }
            for delivery in &events.deliveries {
                totals.count(delivery);
                job.delivered(delivery.tag);
            }
            if job.is_finished() {
                return Ok(History { length: now.since(start), totals });
            }
        }
    }
}
