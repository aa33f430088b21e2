//! Measures the speed of both engines on uniform traffic, with L = 8, t_s = 3 and B = 5. Each link
//! that a header crosses counts as one item.
//!
//! Run with `cargo bench -p pavior-network`. `examples/uniform.rs` measures instructions per hop.

use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher};
use pavior_kernel::{Stream, Time};
use pavior_mesh::{Grid, NodeId};
use pavior_network::{
    Engine, EngineKind, Message, Network, NetworkEvents, Path, Settings, run_list,
};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

const SETTINGS: Settings = Settings {
    routing_delay: 3,
    buffer: 5,
    virtual_channels: pavior_network::VirtualChannels::Two,
    release: pavior_network::Release::Drained,
};
const FLITS: u32 = 8;

/// Creates uniform traffic for a number of cycles at a given load, in flits per node per cycle.
fn uniform(grid: &Grid, load: f64, cycles: u64) -> Vec<Message> {
    let mut draw = Stream::new(1, 0, "bench");
    let nodes = u64::from(grid.nodes());
    let mean = f64::from(FLITS) / load / nodes as f64;
    let (mut at, mut list) = (0.0, Vec::new());
    loop {
        at += draw.exponential(mean);
        if at >= cycles as f64 {
            return list;
        }
        let [from, to] = [0, 0].map(|_| NodeId(draw.below(nodes) as u32));
        list.push(Message::new(list.len() as u64, from, to, FLITS, Time(at as u64)));
    }
}

fn hops(network: &Network, list: &[Message]) -> u64 {
    let path = |m: &Message| u64::from(Path::new(network.channels(), m.from, m.to).hops());
    list.iter().map(path).sum()
}

fn open_loop(bencher: Bencher<'_, '_>, machine: &str, kind: EngineKind, load: f64, cycles: u64) {
    let grid: Grid = machine.parse().expect("a machine");
    let list = uniform(&grid, load, cycles);
    let mut network = Network::new(grid, SETTINGS, kind).expect("both model these settings");
    // This run allocates the memory that the measured runs reuse, so they show the steady state.
    run_list(&mut network, list.iter().copied(), |_| {}).expect("no deadlock on a mesh");
    let items = hops(&network, &list);
    bencher.counter(ItemsCount::new(items)).bench_local(|| {
        let start = network.now();
        let shifted = list.iter().map(|m| Message { created: start + m.created, ..*m });
        let mut flits = 0;
        run_list(&mut network, shifted, |delivery| flits += delivery.flits).expect("no deadlock");
        flits
    });
}

const LOADS: [f64; 3] = [0.01, 0.05, 0.1];

#[divan::bench(args = LOADS, sample_count = 20)]
fn worm_16x16(bencher: Bencher<'_, '_>, load: f64) {
    open_loop(bencher, "mesh:16x16", EngineKind::Worm, load, 20_000);
}

#[divan::bench(args = LOADS, sample_count = 10)]
fn flit_16x16(bencher: Bencher<'_, '_>, load: f64) {
    open_loop(bencher, "mesh:16x16", EngineKind::Flit, load, 4_000);
}

#[divan::bench(args = LOADS, sample_count = 20)]
fn worm_8x8x8(bencher: Bencher<'_, '_>, load: f64) {
    open_loop(bencher, "mesh:8x8x8", EngineKind::Worm, load, 20_000);
}

#[divan::bench(args = LOADS, sample_count = 10)]
fn flit_8x8x8(bencher: Bencher<'_, '_>, load: f64) {
    open_loop(bencher, "mesh:8x8x8", EngineKind::Flit, load, 4_000);
}

/// Measures the engine with a single message in flight, so that the engine stops at every delivery.
#[divan::bench]
fn worm_ping_pong(bencher: Bencher<'_, '_>) {
    let grid: Grid = "mesh:16x16".parse().expect("a machine");
    let mut network = Network::new(grid, SETTINGS, EngineKind::Worm).expect("valid settings");
    let mut events = NetworkEvents::default();
    bencher.counter(ItemsCount::new(30u32)).bench_local(|| {
        let now = network.now();
        network.create(Message::new(0, NodeId(0), NodeId(255), FLITS, now));
        network.advance(Time::MAX, &mut events)
    });
}
