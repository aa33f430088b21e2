//! Tests of cases small enough to verify by hand.

use pavior_kernel::Time;
use pavior_mesh::{Grid, NodeId};
use pavior_network::{
    BadSettings, Engine, EngineKind, Message, Network, NetworkEvents, Path, Release, Settings,
    VirtualChannels, run_list, zero_load_latency,
};

const BOTH: [EngineKind; 2] = [EngineKind::Worm, EngineKind::Flit];

fn grid(name: &str) -> Grid {
    name.parse().unwrap()
}

/// Returns the delivery cycles of messages given as `(from, to, flits, created)`, after asserting
/// that both engines agree.
fn delivered(machine: &str, settings: Settings, messages: &[(u32, u32, u32, u64)]) -> Vec<u64> {
    let both = BOTH.map(|kind| {
        let mut network = Network::new(grid(machine), settings, kind).unwrap();
        let list = messages.iter().enumerate().map(|(id, &(from, to, flits, at))| {
            Message::new(id as u64, NodeId(from), NodeId(to), flits, Time(at))
        });
        let mut list: Vec<Message> = list.collect();
        list.sort_by_key(|message| message.created);
        let mut cycles = vec![0; messages.len()];
        run_list(&mut network, list, |d| cycles[d.id as usize] = d.delivered.0).unwrap();
        cycles
    });
    assert_eq!(both[0], both[1]);
    both[0].clone()
}

fn settings(routing_delay: u32, buffer: u32) -> Settings {
    Settings { routing_delay, buffer, ..Settings::default() }
}

#[test]
fn alone_a_message_takes_its_zero_load_latency() {
    for (delay, buffer, flits) in
        [(3, 1, 8), (0, 1, 1), (0, 3, 12), (5, 8, 2), (3, 100, 5000), (9000, 2, 7)]
    {
        let got = delivered("mesh:6x5", settings(delay, buffer), &[(0, 29, flits, 4)]);
        assert_eq!(got, [4 + zero_load_latency(9, flits, delay)]);
        let to_itself = delivered("mesh:6x5", settings(delay, buffer), &[(7, 7, flits, 0)]);
        assert_eq!(to_itself, [zero_load_latency(0, flits, delay)]);
    }
    // This is the example in the documentation of `Engine`.
    assert_eq!(delivered("mesh:4x4", settings(3, 1), &[(0, 11, 8, 0)]), [32]);
}

#[test]
fn two_messages_meet_on_a_link() {
    // 0 -> 2 and 1 -> 2 on a line, L = 8, t_s = 3, B = 1. Message 1 requests link 1 -> 2 at 4 and
    // gets it. Message 0 requests the link at 8, but message 1 holds it until message 1's tail
    // crosses the ejection channel at 8 + 7 = 15 (its header crosses at 8). Message 0 then crosses
    // the link at 15 and its ejection channel at 19, and is delivered at 19 + 8 = 27.
    assert_eq!(delivered("mesh:3", settings(3, 1), &[(0, 2, 8, 0), (1, 2, 8, 0)]), [27, 16]);
    // If two messages request the injection channel at the same time, the one with the smaller id
    // goes first, regardless of their lengths.
    assert_eq!(delivered("mesh:2", settings(0, 1), &[(0, 1, 3, 0), (0, 1, 1, 0)])[0], 5);
}

#[test]
fn ties_go_to_the_smaller_id_and_earlier_requests_go_first() {
    // Two messages, from nodes 0 and 2, request node 1's ejection channel in the same cycle.
    let tie = delivered("mesh:3", settings(1, 1), &[(2, 1, 4, 0), (0, 1, 4, 0)]);
    assert!(tie[0] < tie[1]);
    let later = delivered("mesh:3", settings(1, 1), &[(2, 1, 4, 1), (0, 1, 4, 0)]);
    assert!(later[0] > later[1]);
}

/// On a line of five nodes, a long message W blocks node 4's ejection channel, and a three-flit
/// message M waits behind it. With B = 2, M fills the buffers after channels 3 -> 4 and 2 -> 3.
/// Links 0 -> 1 and 1 -> 2 must be free, but the two links that M occupies must not be free.
#[test]
fn a_blocked_worm_holds_exactly_the_channels_it_fills() {
    let through = |from: u32, to: u32| {
        let list = [(4, 4, 500, 0), (0, 4, 3, 0), (from, to, 1, 100)];
        delivered("mesh:5", settings(3, 2), &list)[2]
    };
    let alone = |hops: u32| 100 + zero_load_latency(hops, 1, 3);
    assert_eq!(through(0, 1), alone(1));
    assert_eq!(through(1, 2), alone(1));
    assert_eq!(through(0, 2), alone(2));
    // W holds the ejection channel from cycle 4 to cycle 504.
    assert!(through(2, 3) > 500);
    assert!(through(3, 4) > 500);
    // With deeper buffers, all of M fits in the last one.
    let list = [(4, 4, 500, 0), (0, 4, 3, 0), (2, 3, 1, 100)];
    assert_eq!(delivered("mesh:5", settings(3, 3), &list)[2], alone(1));
}

#[test]
fn a_chain_of_blocked_messages_moves_together() {
    // Message 0 blocks node 5's ejection channel until cycle 4 + 50. Each of the other messages has
    // one flit and occupies one buffer. These messages queue up one channel apart, and each
    // advances in the cycle in which its next channel becomes free.
    let list = [(5, 5, 50, 0), (4, 5, 1, 0), (3, 5, 1, 0), (2, 5, 1, 0), (1, 5, 1, 0)];
    let got = delivered("mesh:6", settings(3, 1), &list);
    assert_eq!(got[0], 54);
    // Message 1 crosses at 54. In the same cycle, message 2 enters the buffer that message 1
    // vacated, so it requests the ejection channel at 58. Crossings are t_s + 1 cycles apart.
    assert_eq!(got[1..], [55, 59, 63, 67]);
}

/// Creates messages on a ring of four nodes, each of which holds one link and waits for the next.
fn full_ring(first: u64) -> impl Iterator<Item = Message> {
    (0..4).map(move |i| {
        Message::new(first + u64::from(i), NodeId(i), NodeId((i + 2) % 4), 8, Time(0))
    })
}

fn ring_of_four(virtual_channels: VirtualChannels, kind: EngineKind) -> Result<Vec<u64>, String> {
    let settings = Settings { virtual_channels, ..Settings::default() };
    let mut network = Network::new(grid("torus:4"), settings, kind).unwrap();
    let mut cycles = Vec::new();
    run_list(&mut network, full_ring(10), |d| cycles.push(d.delivered.0))
        .map_err(|e| e.to_string())?;
    Ok(cycles)
}

/// On a ring of four nodes, each of four messages holds one link and waits for the next link. The
/// messages could advance only if all of them moved at once. They do not, because the engine
/// computes the least fixpoint of the grants.
#[test]
fn a_full_ring_is_a_deadlock_and_not_a_rotation() {
    for kind in BOTH {
        let error = ring_of_four(VirtualChannels::One, kind).unwrap_err();
        for part in [
            "deadlock at cycle",
            "4 messages have not been delivered: message 10 waits for link x+ lane 0 from [1], \
             held by message 11; \
             message 11 waits for link x+ lane 0 from [2], held by message 12; \
             message 12 waits for link x+ lane 0 from [3], held by message 13; \
             message 13 waits for link x+ lane 0 from [0], held by message 10",
        ] {
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(ring_of_four(VirtualChannels::Two, kind).unwrap().len(), 4);
    }
}

#[test]
fn messages_that_are_not_in_the_way_still_arrive_before_a_deadlock_is_reported() {
    for kind in BOTH {
        let settings = Settings { virtual_channels: VirtualChannels::One, ..Settings::default() };
        let mut network = Network::new(grid("grid:4wx2"), settings, kind).unwrap();
        full_ring(0).for_each(|message| network.create(message));
        network.create(Message::new(9, NodeId(4), NodeId(5), 8, Time(300)));
        let mut events = NetworkEvents::default();
        assert_eq!(network.advance(Time(1000), &mut events), Ok(Time(316)));
        assert_eq!(events.deliveries[0].id, 9);
        assert_eq!(network.advance(Time(1000), &mut events).unwrap_err().undelivered, 4);
    }
}

/// Messages created after a deadlock must still be delivered. Both engines deliver all of them,
/// although one engine detects the deadlock earlier than the other.
#[test]
fn a_list_is_run_to_its_end_before_a_deadlock_is_reported() {
    for kind in BOTH {
        let settings = Settings { virtual_channels: VirtualChannels::One, ..Settings::default() };
        let mut network = Network::new(grid("grid:4wx2"), settings, kind).unwrap();
        let others = (4..8).map(|id| Message::new(id, NodeId(4), NodeId(5), 8, Time(100 * id)));
        let mut arrived = Vec::new();
        let end = run_list(&mut network, full_ring(0).chain(others), |d| {
            arrived.push((d.id, d.latency()));
        });
        assert_eq!(arrived, [(4, 16), (5, 16), (6, 16), (7, 16)]);
        assert_eq!(end.unwrap_err().undelivered, 4);
    }
}

#[test]
fn a_follower_handed_over_late_is_as_good_as_one_created_early() {
    for kind in BOTH {
        let run = |lazy: bool| {
            let mut network = Network::new(grid("mesh:4x4"), settings(3, 1), kind).unwrap();
            let message = |id: u64| Message {
                followed: lazy && id < 9,
                ..Message::new(id, NodeId(0), NodeId(3 + (id as u32 * 5) % 13), 8, Time(0))
            };
            // One competitor uses the same links; the other uses the injection channel later.
            network.create(Message::new(100, NodeId(1), NodeId(15), 40, Time(0)));
            network.create(Message::new(101, NodeId(0), NodeId(15), 3, Time(50)));
            let first = if lazy { 1 } else { 10 };
            (0..first).for_each(|id| network.create(message(id)));
            let (mut events, mut log) = (NetworkEvents::default(), Vec::new());
            while network.undelivered() > 0 {
                network.advance(Time::MAX, &mut events).unwrap();
                events.entered.iter().for_each(|entered| network.create(message(entered.id + 1)));
                log.extend(events.deliveries.iter().map(|d| (d.id, d.created, d.delivered)));
            }
            log
        };
        let lazy = run(true);
        assert_eq!(lazy.len(), 12);
        assert_eq!(lazy, run(false));
    }
}

#[test]
fn engines_refuse_what_they_do_not_model() {
    let new = |settings, kind| Network::new(grid("torus:4x4"), settings, kind).err();
    let passed = Settings { release: Release::Passed, ..Settings::default() };
    let shared =
        Settings { virtual_channels: VirtualChannels::Shared, buffer: 2, ..Settings::default() };
    assert!(matches!(new(passed, EngineKind::Worm), Some(BadSettings::FlitOnly(_))));
    assert!(matches!(new(shared, EngineKind::Worm), Some(BadSettings::FlitOnly(_))));
    assert_eq!(new(passed, EngineKind::Flit), None);
    assert_eq!(new(shared, EngineKind::Flit), None);
    let one = Settings { buffer: 1, ..shared };
    assert_eq!(new(one, EngineKind::Flit), Some(BadSettings::SharedNeedsTwo));
    for kind in BOTH {
        assert_eq!(new(settings(3, 0), kind), Some(BadSettings::NoBuffer));
    }
}

#[test]
fn bad_messages_are_refused() {
    let grid = grid("mesh:4x4");
    let error = |points, flits, at| {
        Message::between(&grid, 0, points, flits, Time(at)).unwrap_err().to_string()
    };
    assert_eq!(error([[4, 0, 0], [0, 0, 0]], 8, 0), "node [4,0] is outside mesh:4x4");
    assert_eq!(error([[0, 0, 0], [0, 9, 0]], 8, 0), "node [0,9] is outside mesh:4x4");
    assert_eq!(error([[0; 3], [0; 3]], 0, 0), "a message must have at least 1 flit, its header");
    assert!(error([[0; 3], [0; 3]], 1, u64::MAX).contains("2^62"));
}

/// On a ring of six nodes, paths must take the shorter direction, break ties toward increasing
/// coordinates, and use virtual channel 1 from the wraparound link onward.
#[test]
fn paths_on_rings() {
    let names = |machine: &str, virtual_channels, from, to| -> Vec<String> {
        let channels = pavior_network::Channels::new(grid(machine), virtual_channels);
        let path = Path::new(&channels, NodeId(from), NodeId(to));
        let names = path.channels().map(|id| channels.describe(id).unwrap().name(channels.grid()));
        let names: Vec<String> = names.collect();
        names[1..names.len() - 1].iter().map(|name| name.replace("link ", "")).collect()
    };
    let across = names("torus:6", VirtualChannels::Two, 4, 1);
    assert_eq!(across, ["x+ lane 0 from [4]", "x+ lane 1 from [5]", "x+ lane 1 from [0]"]);
    let back = names("torus:6", VirtualChannels::Two, 0, 4);
    assert_eq!(back, ["x- lane 1 from [0]", "x- lane 1 from [5]"]);
    assert_eq!(
        names("torus:6", VirtualChannels::One, 0, 4),
        ["x- lane 0 from [0]", "x- lane 0 from [5]"]
    );
    assert_eq!(
        names("torus:2x2", VirtualChannels::Two, 1, 2),
        ["x- lane 0 from [1,0]", "y+ lane 0 from [0,0]"]
    );
    assert_eq!(names("grid:6wx3", VirtualChannels::Two, 17, 0)[0], "x+ lane 1 from [5,2]");
}

#[test]
fn shared_lanes_take_turns() {
    // On a ring of six nodes, 5 -> 1 takes the wraparound link and then 0 -> 1 on virtual channel
    // 1, while 0 -> 2 uses virtual channel 0. The two 100-flit messages share link 0 -> 1,
    // alternating flit by flit, which takes at least 200 cycles.
    let run = |virtual_channels| {
        let settings = Settings { virtual_channels, buffer: 4, ..Settings::default() };
        let mut network = Network::new(grid("torus:6"), settings, EngineKind::Flit).unwrap();
        let list = [(5, 1), (0, 2)].into_iter().enumerate().map(|(id, (from, to))| {
            Message::new(id as u64, NodeId(from), NodeId(to), 100, Time(0))
        });
        let mut end = 0;
        run_list(&mut network, list, |d| end = d.delivered.0).unwrap();
        end
    };
    assert_eq!(run(VirtualChannels::Two), zero_load_latency(2, 100, 3));
    let shared = run(VirtualChannels::Shared);
    assert!((204..=216).contains(&shared), "{shared}");
}
