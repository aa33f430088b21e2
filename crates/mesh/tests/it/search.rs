//! Tests that compare many combinations of search methods with a brute-force search.

use pavior_mesh::{
    BoxSearch, Cuboid, Grid, Occupancy, RefusalKey, Scan, SearchMethods, Sides, orientations,
};
use pavior_trials::size;

/// A small pseudo-random number generator that yields the same sequence on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

/// Returns each method alone, some combinations, and all methods together.
fn methods() -> Vec<SearchMethods> {
    let all = SearchMethods::default();
    let plain = SearchMethods {
        cube: false,
        leaps: false,
        rows: false,
        memory: false,
        vectors: false,
        wide: false,
        corners: false,
    };
    let mut methods = vec![all, plain];
    for vectors in [false, true] {
        methods.push(SearchMethods { vectors, cube: true, ..plain });
        methods.push(SearchMethods { vectors, memory: true, ..plain });
        methods.push(SearchMethods { vectors, leaps: true, ..plain });
        methods.push(SearchMethods { vectors, rows: true, ..plain });
        methods.push(SearchMethods { vectors, rows: true, wide: true, ..plain });
        methods.push(SearchMethods { vectors, rows: true, memory: true, ..plain });
        methods.push(SearchMethods { vectors, leaps: true, memory: true, ..plain });
        methods.push(SearchMethods { vectors, leaps: true, rows: true, ..plain });
        methods.push(SearchMethods { vectors, corners: true, ..plain });
        methods.push(SearchMethods { vectors, corners: true, rows: true, memory: true, ..plain });
    }
    methods
}

/// Finds the first free base by testing every base in turn.
fn first(free: &Occupancy, shape: Sides) -> Option<Cuboid> {
    let bases = Scan::default().bases(*free.grid(), shape);
    bases.map(|base| Cuboid::new(base, shape)).find(|cuboid| free.is_free(cuboid))
}

/// Performs random requests, grants and releases. Every search must agree with [`first`].
fn lock_step(grid: Grid, longest: u16, most: usize, steps: u64, seed: u64) {
    let mut dice = Dice(seed);
    let mut free = Occupancy::all_free(grid);
    let mut searches: Vec<BoxSearch> =
        methods().into_iter().map(|methods| BoxSearch::with(grid, methods)).collect();
    let mut busy: Vec<Cuboid> = Vec::new();
    let mut request = [1; 3];
    for step in 0..steps {
        // Requests are sometimes repeated, because schedulers retry the head of the queue.
        if dice.below(3) > 0 {
            request = std::array::from_fn(|axis| {
                let n = grid.side(axis).min(longest);
                1 + dice.below(u64::from(n)) as u16
            });
        }
        let shapes: Vec<Sides> = orientations(request).filter(|&shape| grid.fits(shape)).collect();
        let mut key = request;
        key.sort_unstable();
        let expected = shapes.iter().find_map(|&shape| first(&free, shape));
        for (search, methods) in searches.iter_mut().zip(methods()) {
            let found = search.first(&free, RefusalKey::Ordered(key), &shapes);
            assert_eq!(found, expected, "step {step} of {grid}: {request:?} {methods:?}");
        }
        if step % 64 == 0 {
            for search in &searches {
                search.validate(&free);
            }
        }
        if let Some(cuboid) = expected
            && dice.below(8) > 0
        {
            free.take(&cuboid).unwrap();
            for search in &mut searches {
                search.take(&cuboid);
            }
            busy.push(cuboid);
        }
        while !busy.is_empty() && (busy.len() > most || dice.below(4) == 0) {
            let cuboid = busy.swap_remove(dice.below(busy.len() as u64) as usize);
            free.give(&cuboid).unwrap();
            for search in &mut searches {
                search.give(&cuboid);
            }
        }
    }
}

/// A grid's sides and wrap flags, the longest requested side, and the maximum number of boxes.
type Case = ([u16; 3], [bool; 3], u16, usize);

const CASES: &[Case] = &[
    ([8, 8, 8], [false; 3], 8, 20),
    ([8, 8, 8], [true; 3], 8, 20),
    ([8, 8, 8], [false; 3], 2, 90),
    ([5, 4, 3], [true, false, true], 5, 12),
    ([7, 6, 1], [false; 3], 7, 30),
    ([7, 6, 1], [true, true, false], 4, 30),
    ([16, 16, 1], [false; 3], 6, 70),
    ([17, 5, 4], [true; 3], 6, 40),
    ([3, 20, 3], [false, true, false], 9, 40),
    ([33, 3, 4], [false, true, true], 12, 25),
    ([64, 3, 3], [true, false, false], 20, 40),
    ([65, 4, 1], [true; 3], 30, 25),
    ([2, 3, 40], [false, false, true], 20, 25),
    ([130, 2, 2], [false; 3], 60, 25),
    ([1, 1, 30], [false, false, true], 12, 8),
    ([11, 9, 10], [true; 3], 11, 16),
    ([9, 12, 8], [true, false, true], 9, 16),
    ([20, 20, 1], [true, true, false], 20, 16),
    ([16, 12, 6], [false; 3], 4, 200),
    // In these cases, the searched regions contain only a small fraction of the rows.
    ([12, 40, 6], [false; 3], 6, 90),
    ([20, 36, 5], [true, false, true], 5, 80),
];

#[test]
fn every_way_gives_the_first_base() {
    let threads = 2;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for (index, &(sides, wraps, longest, most)) in CASES.iter().enumerate() {
                    if index % threads == thread {
                        let grid = Grid::new(&sides, &wraps).unwrap();
                        let steps = size(10_000, 250_000, 1_000_000) / CASES.len() as u64;
                        lock_step(grid, longest, most, steps, index as u64);
                    }
                }
            });
        }
    });
}

#[test]
fn what_is_released_past_the_end_of_a_ring_is_found() {
    let grid = Grid::torus(&[6, 1, 1]).unwrap();
    let (mut free, mut search) = (Occupancy::all_free(grid), BoxSearch::new(grid));
    let boxes = [Cuboid::new([5, 0, 0], [2, 1, 1]), Cuboid::new([1, 0, 0], [4, 1, 1])];
    for cuboid in &boxes {
        free.take(cuboid).unwrap();
        search.take(cuboid);
    }
    assert_eq!(search.first(&free, RefusalKey::Ordered([1, 1, 2]), &[[2, 1, 1]]), None);
    free.give(&boxes[0]).unwrap();
    search.give(&boxes[0]);
    assert_eq!(search.first(&free, RefusalKey::Ordered([1, 1, 2]), &[[2, 1, 1]]), Some(boxes[0]));
}

#[test]
fn a_box_longer_than_half_of_the_longest_ring_is_found() {
    // This search reads more planes than the axis has, so many that their number does not fit in a
    // `u16`.
    let length = u16::MAX;
    let grid = Grid::new(&[1, 1, length], &[false, false, true]).unwrap();
    let mut free = Occupancy::all_free(grid);
    let mut search =
        BoxSearch::with(grid, SearchMethods { leaps: false, ..SearchMethods::default() });
    let busy = Cuboid::node([0, 0, 10]);
    free.take(&busy).unwrap();
    search.take(&busy);
    let shape = [1, 1, 40_000];
    let found = search.first(&free, RefusalKey::Once, &[shape]);
    assert_eq!(found, Some(Cuboid::new([0, 0, 11], shape)));
}
