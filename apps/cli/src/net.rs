//! The network as users describe it: settings, patterns, and how jobs send.

use pavior_experiments::check_network;
use pavior_kernel::BadName;
use pavior_mesh::Grid;
use pavior_network::{
    EngineKind, PatternSelection, RankOrder, Release, Rounds, Sending, Settings, TrafficPlan,
    VirtualChannels,
};
use pavior_simulation::{Histories, NetworkSetup};
use pavior_workload::{Family, ServiceDistribution, Synthetic, TimeUnit};

use crate::args::{self, MessageArgs, NetworkArgs};
use crate::failure::Failure;
use crate::input;

/// The parameters of the network, checked.
pub(crate) fn settings(args: &NetworkArgs) -> Result<(Settings, EngineKind), Failure> {
    let settings = Settings {
        routing_delay: args.routing_delay,
        buffer: args.buffer,
        virtual_channels: match args.lanes {
            args::VirtualChannels::One => VirtualChannels::One,
            args::VirtualChannels::Two => VirtualChannels::Two,
            args::VirtualChannels::Shared => VirtualChannels::Shared,
        },
        release: match args.release {
            args::Release::Drained => Release::Drained,
            args::Release::Passed => Release::Passed,
        },
    };
    let engine = match args.engine {
        args::Engine::Worm => EngineKind::Worm,
        args::Engine::Flit => EngineKind::Flit,
    };
    if args.flits == 0 {
        return Err(Failure::usage("--flits 0: a message has at least one flit, its header"));
    }
    engine.check(&settings).map_err(|error| Failure::usage(error.to_string()))?;
    Ok((settings, engine))
}

/// The network of a simulation whose jobs send messages; none if they only run.
pub(crate) fn setup(
    args: &MessageArgs,
    workload: Option<&Synthetic>,
    grid: Grid,
) -> Result<Option<NetworkSetup>, Failure> {
    let Some(workload) = workload.filter(|workload| workload.unit() == TimeUnit::CYCLE) else {
        return refuse(args);
    };
    let pattern = pattern(args)?;
    let (settings, engine) = settings(&args.network)?;
    let setup = NetworkSetup {
        engine,
        settings,
        plan: TrafficPlan {
            pattern,
            sending: args.sending.map(|sending| match sending {
                args::Sending::Sequential => Sending::Sequential,
                args::Sending::Blocking => Sending::Blocking,
                args::Sending::Pipelined => Sending::Pipelined,
            }),
            rounds: args.rounds.map(|rounds| match rounds {
                args::Rounds::Barrier => Rounds::Barrier,
                args::Rounds::Free => Rounds::Free,
            }),
            flits: args.network.flits,
        },
        ranks: match args.ranks {
            args::Ranks::Coordinates => RankOrder::Coordinates,
            args::Ranks::Parts => RankOrder::Parts,
        },
        histories: Histories::default(),
    };
    check_network(&setup, workload, grid).map_err(|(_, reason)| Failure::usage(reason))?;
    Ok(Some(setup))
}

/// The pattern; `--order` sets the option of that name.
fn pattern(args: &MessageArgs) -> Result<PatternSelection, Failure> {
    let typed = args.pattern.as_deref().unwrap_or("one-to-all");
    let pattern: PatternSelection = input::name("--pattern", typed)?;
    let Some(order) = &args.order else { return Ok(pattern) };
    let ordered = format!("{typed}:order={order}");
    ordered.parse().map_err(|bad: BadName| {
        let reason = format!("--order {order}: {}", bad.reason);
        Failure::usage(reason)
    })
}

/// Options that are about messages mean nothing where there are none.
fn refuse(args: &MessageArgs) -> Result<Option<NetworkSetup>, Failure> {
    let given = [
        ("--pattern", args.pattern.is_some()),
        ("--sending", args.sending.is_some()),
        ("--order", args.order.is_some()),
        ("--rounds", args.rounds.is_some()),
        ("--channels", args.channels.is_some()),
        ("--heatmap", args.heatmap.is_some()),
    ];
    let Some((option, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(None) };
    let services: Vec<&str> = ServiceDistribution::builtin()
        .iter()
        .filter(|spec| spec.does.unit == TimeUnit::CYCLE)
        .map(|spec| spec.name)
        .collect();
    Err(Failure::usage(format!(
        "{option} is for jobs that send messages; choose --service {}",
        services.join(" or ")
    )))
}
