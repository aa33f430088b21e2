//! Prints a Markdown table of each strategy's work (counts and measured time per attempt) by
//! machine, job size and occupancy. Also prints the number of pieces into which TBL divides planes.
//!
//! Run with `cargo bench -p pavior-allocation --bench cost [-- NAME,NAME]`, where each NAME is a
//! strategy (default: all). All strategies answer the same questions in the same states. To create
//! a state, Turning First Fit fills the machine until it has refused twenty jobs in a row; then,
//! random jobs are released. The counts do not depend on the processor, but the times do.

use std::time::{Duration, Instant};

use pavior_allocation::{Machine, Placement, Registry, Selection, Work, tbl_most_pieces};
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, JobId, Occupancy, Request};

const MACHINES: [&str; 9] = [
    "mesh:8x8",
    "mesh:16x16",
    "mesh:32x32",
    "mesh:64x64",
    "mesh:128x128",
    "mesh:4x4x4",
    "mesh:8x8x8",
    "mesh:16x16x16",
    "mesh:32x32x32",
];

/// The time limit for setting up a state, and for asking questions in that state. Strategies that
/// answer fewer than two questions in this time are skipped.
const LIMIT: Duration = Duration::from_secs(2);
const ATTEMPTS: usize = 48;
/// The maximum number of rounds. Each round asks every question; only the fastest round counts.
const ROUNDS: u32 = 7;
/// The number of jobs to release and grant again when measuring list upkeep.
const EXCHANGES: usize = 16;

/// A state and its questions.
struct Scene {
    grid: Grid,
    /// The longest side of a job.
    longest: u16,
    busy: Vec<Cuboid>,
    requests: Vec<Request>,
}

impl Scene {
    fn new(grid: Grid, longest: u16, percent: u32) -> Scene {
        let mut dice = Stream::new(1, 0, "cost");
        let filler: Selection = "tff".parse().expect("a valid name");
        let mut machine = Machine::with_seed(grid, &filler, 1).expect("works everywhere");
        let (mut busy, mut refused) = (Vec::new(), 0);
        while refused < 20 {
            let job = JobId(busy.len() as u64);
            match machine.allocate(job, &request(&grid, longest, &mut dice)) {
                Ok(placement) => busy.push(placement.parts()[0]),
                Err(_) => refused += 1,
            }
        }
        let mut held: u32 = busy.iter().map(Cuboid::volume).sum();
        while busy.len() > 1 && held * 100 > grid.nodes() * percent {
            let gone: Cuboid = busy.swap_remove(dice.below(busy.len() as u64) as usize);
            held -= gone.volume();
        }
        let mut requests: Vec<Request> =
            (0..ATTEMPTS).map(|_| request(&grid, longest, &mut dice)).collect();
        // A repeated request would be answered from the machine's cache.
        requests.dedup();
        Scene { grid, longest, busy, requests }
    }

    fn percent(&self) -> u32 {
        self.busy.iter().map(Cuboid::volume).sum::<u32>() * 100 / self.grid.nodes()
    }

    /// Builds a machine in this state. Returns `None` if the strategy is too slow.
    fn machine(&self, selection: &Selection) -> Option<Machine> {
        let begin = Instant::now();
        let mut machine = Machine::with_seed(self.grid, selection, 1).ok()?;
        for (job, held) in (0..).zip(&self.busy) {
            machine.allocate_at(JobId(job), Placement::Whole(*held)).expect("they are disjoint");
            if begin.elapsed() > LIMIT {
                return None;
            }
        }
        Some(machine)
    }
}

fn request(grid: &Grid, longest: u16, dice: &mut Stream) -> Request {
    Request::shape(grid.sides().map(|n| dice.between(1, u64::from(n.min(longest))) as u16))
}

/// Asks every question once to warm up, then measures several rounds. Returns the numbers of
/// questions and grants, the work per round, and the time of the fastest round.
fn ask(machine: &mut Machine, requests: &[Request]) -> Option<(u64, u64, Work, Duration)> {
    // A strategy that caches refusals must not be asked the same question twice. Therefore, each
    // round uses a fresh copy of the machine.
    let unasked = machine.clone();
    let begin = Instant::now();
    let mut asked = 0;
    for request in requests {
        let _ = machine.probe(request);
        asked += 1;
        if begin.elapsed() > LIMIT {
            break;
        }
    }
    if asked < 2 {
        return None;
    }
    let mut fastest = Duration::MAX;
    let (mut granted, mut work) = (0, Work::default());
    for round in 0..ROUNDS {
        let mut machine = unasked.clone();
        let (before, begin) = (machine.work(), Instant::now());
        let answers = requests[..asked].iter().map(|request| machine.probe(request));
        granted = answers.flatten().count();
        fastest = fastest.min(begin.elapsed());
        work = machine.work() - before;
        if begin.elapsed() * ROUNDS > LIMIT && round > 0 {
            break;
        }
    }
    Some((asked as u64, granted as u64, work, fastest))
}

/// Measures the list upkeep for granting and releasing one job.
fn upkeep(machine: &mut Machine, scene: &Scene) -> u64 {
    let jobs = scene.busy.len().min(EXCHANGES);
    let before = machine.work().upkeep;
    for index in 0..jobs {
        let job = index * scene.busy.len() / jobs;
        machine.release(JobId(job as u64)).expect("it is held");
        let again = Placement::Whole(scene.busy[job]);
        machine.allocate_at(JobId(job as u64), again).expect("it was just released");
    }
    (machine.work().upkeep - before) / jobs.max(1) as u64
}

fn table(selections: &[Selection]) {
    println!(
        "| machine | sides | jobs | busy % | strategy | granted % | boxes | words | upkeep | ns |"
    );
    println!("|---|---:|---:|---:|---|---:|---:|---:|---:|---:|");
    for name in MACHINES {
        let grid: Grid = name.parse().expect("a valid name");
        let half = grid.side(0) / 2;
        let many = if grid.side(2) > 1 { 2 } else { 4 };
        let mut kinds = vec![half, many];
        kinds.dedup();
        for (longest, percent) in kinds.into_iter().flat_map(|kind| [(kind, 25), (kind, 75)]) {
            let scene = Scene::new(grid, longest, percent);
            for selection in selections.iter().filter(|one| one.supports(&grid).is_ok()) {
                row(&scene, selection);
            }
        }
    }
}

fn row(scene: &Scene, selection: &Selection) {
    let head = format!(
        "| {} | {} | {} | {} | {selection} |",
        scene.grid,
        scene.longest,
        scene.busy.len(),
        scene.percent()
    );
    let measured = scene.machine(selection).and_then(|mut machine| {
        let found = ask(&mut machine, &scene.requests)?;
        Some((found, upkeep(&mut machine, scene)))
    });
    let Some(((asked, granted, work, elapsed), upkeep)) = measured else {
        println!("{head} | | | | more than {} s |", LIMIT.as_secs());
        return;
    };
    println!(
        "{head} {} | {} | {} | {upkeep} | {} |",
        granted * 100 / asked,
        work.boxes / asked,
        work.words / asked,
        elapsed.as_nanos() / u128::from(asked)
    );
}

/// Prints the largest number of pieces into which a plane is divided, for random boxes and for
/// boxes on a diagonal.
fn pieces() {
    println!("\n| busy boxes | most pieces in 20,000 random states | on a diagonal |");
    println!("|---:|---:|---:|");
    for m in [4u16, 8, 16, 32] {
        let mut dice = Stream::new(u64::from(m), 0, "pieces");
        let grid = Grid::mesh(&[16, 16, 16]).expect("small");
        let most = (0..20_000).map(|_| {
            let busy = random_boxes(grid, m, &mut dice);
            let shape = [0; 3].map(|_| dice.between(1, 2) as u16);
            tbl_most_pieces(&grid, &busy, shape)
        });
        let most = most.max().unwrap_or(0);
        let side = 2 * m + 1;
        let grid = Grid::mesh(&[2, side, side]).expect("small");
        let diagonal: Vec<Cuboid> =
            (0..m).map(|i| Cuboid::node([0, 2 * i + 1, 2 * i + 1])).collect();
        println!("| {m} | {most} | {} |", tbl_most_pieces(&grid, &diagonal, [1; 3]));
    }
}

/// Draws disjoint random boxes that are thin along y or z, so that many of them cross one plane.
fn random_boxes(grid: Grid, count: u16, dice: &mut Stream) -> Vec<Cuboid> {
    let mut free = Occupancy::all_free(grid);
    let mut boxes = Vec::new();
    while boxes.len() < usize::from(count) {
        let mut sides = [0; 3].map(|_| dice.between(1, 3) as u16);
        sides[1 + dice.below(2) as usize] = dice.between(1, 12) as u16;
        let base =
            [0, 1, 2].map(|axis| dice.below(u64::from(grid.starts(axis, sides[axis]))) as u16);
        let cuboid = Cuboid::new(base, sides);
        if free.is_free(&cuboid) {
            free.take(&cuboid).unwrap();
            boxes.push(cuboid);
        }
    }
    boxes
}

fn main() {
    let named = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let all = || Registry::new().entries().map(Selection::defaults).collect();
    let selections: Vec<Selection> = named.map_or_else(all, |names| {
        let read = |name: &str| name.parse().unwrap_or_else(|error| panic!("{name}: {error:?}"));
        names.split(',').map(read).collect()
    });
    table(&selections);
    pieces();
}
