//! Tests on 10,000 random states of machines with at most 32 nodes.

use pavior_kernel::Stream;

use crate::brute::State;
use crate::{drains, places, states, unblocks};

#[test]
fn ten_thousand_states() {
    let mut stream = Stream::new(18, 0, "planning");
    let (mut circles, mut undecided) = (0, 0);
    for case in 0..pavior_trials::size(2_500, 10_000, 10_000u64) {
        let (drawn, snapshot) = states::draw(&mut stream);
        let turn = case % 4 != 3;
        let state = State::new(drawn.grid, &drawn.jobs, &drawn.failed, turn);
        places::judge(&state, &snapshot, drawn.shape, case);
        let most = 1 + case as usize % 3;
        let weigh = |job: u64| (job * 31 + case) % 9;
        circles += unblocks::judge(&state, &snapshot, drawn.shape, most, weigh);
        if case % 4 == 0 {
            let nodes = stream.next_u64() as u32 & stream.next_u64() as u32;
            drains::judge_drain(&state, &snapshot, nodes & stream.next_u64() as u32, 1);
        }
        if case % 8 == 1 {
            let decided = drains::judge_defragment(&state, &snapshot, drawn.shape, most.min(2));
            undecided += u32::from(!decided);
        }
    }
    assert!(undecided < 100, "{undecided} undecided");
    assert!(circles < 10, "{circles} cheaper sets that cannot be carried out");
}
