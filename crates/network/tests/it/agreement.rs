//! Tests that both engines agree on the timing of every message.

use pavior_kernel::{Stream, Time};
use pavior_mesh::{Grid, NodeId};
use pavior_network::{
    Channels, Deadlock, Delivery, Engine, Flit, Message, NetworkEvents, Release, Settings,
    VirtualChannels, Worm, run_list,
};
use proptest::prelude::*;

use crate::recurrence;

/// A random test case.
#[derive(Clone, Debug)]
struct Case {
    grid: Grid,
    settings: Settings,
    messages: Vec<Message>,
}

/// Simulates the messages. Returns all deliveries, and the deadlock if one occurs.
fn outcome<E: Engine>(mut engine: E, messages: &[Message]) -> (Vec<Delivery>, Option<Deadlock>) {
    let mut order: Vec<Message> = messages.to_vec();
    order.sort_by_key(|message| (message.created, message.id));
    let mut deliveries = Vec::new();
    let end = run_list(&mut engine, order, |delivery| deliveries.push(*delivery));
    (deliveries, end.err())
}

fn grids() -> impl Strategy<Value = Grid> {
    (1usize..=3, [1u16..=6, 1u16..=5, 1u16..=3], any::<[bool; 3]>(), 0..3).prop_map(
        |(axes, sides, wraps, kind)| match kind {
            0 => Grid::mesh(&sides[..axes]).unwrap(),
            1 => Grid::torus(&sides[..axes]).unwrap(),
            _ => Grid::new(&sides[..axes], &wraps[..axes]).unwrap(),
        },
    )
}

/// The parameters of a case's random messages.
#[derive(Clone, Copy, Debug)]
struct Traffic {
    seed: u64,
    count: u32,
    flits: u32,
    /// True if every message has `flits` flits; otherwise, each has between 1 and `flits`.
    fixed: bool,
    /// The number of cycles during which messages are created, always at multiples of `burst`.
    span: u64,
    burst: u64,
    /// The inverse of the fraction of messages that go to the hot spot, or 0 if there is no hot
    /// spot.
    hot: u64,
}

fn messages(grid: &Grid, traffic: Traffic) -> Vec<Message> {
    let mut draw = Stream::new(traffic.seed, 0, "agreement");
    let nodes = u64::from(grid.nodes());
    let spot = draw.below(nodes) as u32;
    (0..u64::from(traffic.count))
        .map(|id| {
            let from = draw.below(nodes) as u32;
            let mut to = draw.below(nodes) as u32;
            if traffic.hot > 0 && draw.below(traffic.hot) == 0 {
                to = spot;
            }
            let flits = draw.between(1, u64::from(traffic.flits)) as u32;
            let at = draw.below(traffic.span) / traffic.burst * traffic.burst;
            let flits = if traffic.fixed { traffic.flits } else { flits };
            Message::new(id, NodeId(from), NodeId(to), flits, Time(at))
        })
        .collect()
}

fn cases(
    most: u32,
    virtual_channels: impl Strategy<Value = VirtualChannels>,
) -> impl Strategy<Value = Case> {
    let settings = (0u32..=5, 1u32..=8, virtual_channels).prop_map(
        |(routing_delay, buffer, virtual_channels)| Settings {
            routing_delay,
            buffer,
            virtual_channels,
            release: Release::Drained,
        },
    );
    let traffic =
        (any::<u64>(), 1..=most, 1u32..=12, any::<bool>(), 1u64..=120, 1u64..=40, 0u64..5)
            .prop_map(|(seed, count, flits, fixed, span, burst, hot)| Traffic {
                seed,
                count,
                flits,
                fixed,
                span,
                burst,
                hot,
            });
    (grids(), settings, traffic).prop_map(|(grid, settings, traffic)| Case {
        grid,
        settings,
        messages: messages(&grid, traffic),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2500))]

    #[test]
    fn worm_and_flit_agree(case in cases(80, Just(VirtualChannels::Two))) {
        let worm = outcome(Worm::new(case.grid, case.settings).unwrap(), &case.messages);
        let flit = outcome(Flit::new(case.grid, case.settings).unwrap(), &case.messages);
        prop_assert_eq!(worm.0.len(), case.messages.len(), "{:?}", worm.1);
        prop_assert_eq!(worm, flit);
    }

    #[test]
    fn they_agree_up_to_a_deadlock(case in cases(80, Just(VirtualChannels::One))) {
        let worm = outcome(Worm::new(case.grid, case.settings).unwrap(), &case.messages);
        let flit = outcome(Flit::new(case.grid, case.settings).unwrap(), &case.messages);
        prop_assert_eq!(worm.0, flit.0);
        match (worm.1, flit.1) {
            (None, None) => {}
            (Some(worm), Some(flit)) => {
                prop_assert!(case.grid.has_wrap());
                prop_assert_eq!(worm.undelivered, flit.undelivered);
                prop_assert_eq!(worm.waiting, flit.waiting);
            }
            (worm, flit) => prop_assert!(false, "{:?} against {:?}", worm, flit),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn both_follow_the_recurrence(
        case in cases(25, prop_oneof![Just(VirtualChannels::Two), Just(VirtualChannels::One)])
    ) {
        let channels = Channels::new(case.grid, case.settings.virtual_channels);
        let expected = recurrence::deliveries(&channels, case.settings, &case.messages);
        let (deliveries, _) = outcome(Worm::new(case.grid, case.settings).unwrap(), &case.messages);
        let mut got = vec![None; case.messages.len()];
        for delivery in deliveries {
            got[delivery.id as usize] = Some(delivery.delivered);
        }
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn with_one_place_passed_is_drained(case in cases(60, Just(VirtualChannels::Two))) {
        let drained = Settings { buffer: 1, ..case.settings };
        let passed = Settings { release: Release::Passed, ..drained };
        let drained = outcome(Flit::new(case.grid, drained).unwrap(), &case.messages);
        let passed = outcome(Flit::new(case.grid, passed).unwrap(), &case.messages);
        prop_assert_eq!(drained, passed);
    }

    #[test]
    fn everything_arrives_under_every_convention(
        case in cases(60, Just(VirtualChannels::Shared)), passed: bool
    ) {
        let release = if passed { Release::Passed } else { Release::Drained };
        let settings = Settings { buffer: case.settings.buffer.max(2), release, ..case.settings };
        let (deliveries, end) = outcome(Flit::new(case.grid, settings).unwrap(), &case.messages);
        prop_assert_eq!(end, None);
        prop_assert_eq!(deliveries.len(), case.messages.len());
    }
}

/// Creates up to `budget` messages, most of them as replies to deliveries, and stops the engine
/// between events.
fn conversation<E: Engine>(mut engine: E, grid: &Grid, seed: u64, budget: u64) -> Vec<Delivery> {
    let mut draw = Stream::new(seed, 0, "conversation");
    let nodes = u64::from(grid.nodes());
    let (mut next, mut log, mut events) = (0, Vec::new(), NetworkEvents::default());
    let mut send = |engine: &mut E, from: NodeId, next: &mut u64| {
        let to = NodeId(draw.below(nodes) as u32);
        let flits = draw.between(1, 12) as u32;
        // Every fifth message is announced in advance, for a random later cycle.
        let at = engine.now() + Time(if *next % 5 == 4 { draw.below(200) } else { 0 });
        engine.create(Message::new(*next, from, to, flits, at));
        *next += 1;
    };
    for node in 0..grid.nodes() {
        send(&mut engine, NodeId(node), &mut next);
    }
    let mut until = Time(7);
    while engine.undelivered() > 0 {
        let at = engine.advance(until, &mut events).unwrap();
        assert!(at <= until && at == engine.now());
        if at == until {
            until += Time(13);
        }
        for delivery in events.deliveries.clone() {
            assert_eq!(delivery.delivered, at);
            log.push(delivery);
            if next < budget {
                send(&mut engine, delivery.to, &mut next);
            }
        }
    }
    log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn conversations_agree(grid in grids(), seed: u64, delay in 0u32..=5, buffer in 1u32..=8) {
        let settings = Settings { routing_delay: delay, buffer, ..Settings::default() };
        let worm = conversation(Worm::new(grid, settings).unwrap(), &grid, seed, 400);
        let flit = conversation(Flit::new(grid, settings).unwrap(), &grid, seed, 400);
        prop_assert_eq!(worm, flit);
    }
}

#[test]
fn long_saturated_runs_agree() {
    for (grid, buffer, delay) in
        [("mesh:8x8", 1, 3), ("torus:6x6", 5, 3), ("grid:4wx3x4w", 2, 0), ("mesh:16", 8, 1)]
    {
        let grid: Grid = grid.parse().unwrap();
        let settings = Settings { routing_delay: delay, buffer, ..Settings::default() };
        let worm = conversation(Worm::new(grid, settings).unwrap(), &grid, 5, 20_000);
        let flit = conversation(Flit::new(grid, settings).unwrap(), &grid, 5, 20_000);
        assert_eq!(worm.len(), 20_000);
        assert!(worm == flit, "{grid}");
    }
}
