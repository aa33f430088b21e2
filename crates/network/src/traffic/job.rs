//! A job's messages, which are created as the network delivers earlier ones.
//!
//! Invariant: `undelivered` counts all messages not yet delivered, including those not yet created.
//! Within a cycle, messages are created in order of rank and then round.
//!
//! Cost: O(1) per message, plus the cost of the pattern's rule; O(ranks) per barrier.

use pavior_kernel::{Stream, Time};
use pavior_mesh::NodeId;

use super::layout::Layout;
use super::open_rounds::OpenRounds;
use super::ranked::Ranked;
use super::schedule::Schedule;
use super::streams::{Head, Streams};
use super::{Communication, Rounds, Sending};
use crate::message::{Entered, Message, Tag};
use crate::patterns::{Needs, Pattern, PatternSelection};

/// Settings for the communication of jobs: their pattern, and the rules for sending messages.
#[derive(Clone, Debug)]
pub struct TrafficPlan {
    /// The communication pattern.
    pub pattern: PatternSelection,
    /// The limit on messages in flight, or `None` for the default.
    pub sending: Option<Sending>,
    /// The rule for starting rounds, or `None` for the default. By default, an all-to-all with a
    /// requested number of messages uses barriers, unless messages are sent one at a time.
    pub rounds: Option<Rounds>,
    /// The length of each message in flits (at least 1).
    pub flits: u32,
}

/// A job's messages, as a state machine that connects the job to the network.
///
/// In each cycle, first report all [`delivered`](JobTraffic::delivered) messages to their jobs.
/// Then, in order of job id, [`create`](Self::create) the messages of every job that is starting or
/// has received a report. Whenever the network reports that a message has *entered*, create its
/// [`follower`](Self::follower) in the same cycle. Messages are not stored, so memory is O(ranks).
///
/// ```
/// # mod pavior { pub use pavior_network as network;
/// #     pub use {pavior_kernel::*, pavior_mesh::*}; }
/// use pavior::network::{
///     Communication, Engine, JobTraffic, Layout, NetworkEvents, RankOrder, Settings,
///     TrafficPlan, Worm,
/// };
/// use pavior::{Cuboid, Grid, Stream, Time};
/// let grid = Grid::mesh(&[4, 4])?;
/// let layout =
///     Layout::new(&grid, &[Cuboid::whole(&grid)], 16, Some([4, 4, 1]), RankOrder::Coordinates);
/// let pattern = "all-to-all".parse()?;
/// let plan = TrafficPlan { pattern, sending: None, rounds: None, flits: 8 };
/// let mut draw = Stream::new(1, 0, "roots");
/// let mut job = JobTraffic::new(0, layout, &plan, Communication::Iterations(1), &mut draw);
///
/// let mut network = Worm::new(grid, Settings::default())?;
/// let mut events = NetworkEvents::default();
/// let mut next_id = job.create(Time(0), 0, |message| network.create(message));
/// while !job.is_finished() {
///     let now = network.advance(Time::MAX, &mut events)?;
///     for entered in &events.entered {
///         network.create(job.follower(entered));
///     }
///     for delivery in &events.deliveries {
///         job.delivered(delivery.tag);
///     }
///     next_id = job.create(now, next_id, |message| network.create(message));
/// }
/// assert_eq!(next_id, 16 * 15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct JobTraffic {
    owner: u32,
    flits: u32,
    nodes: Vec<NodeId>,
    undelivered: u64,
    senders: Option<(Schedule, Senders)>,
}

#[derive(Debug)]
enum Senders {
    /// Sends one message at a time. The next message has the lowest (round, rank) at or after
    /// `next`.
    Sequential {
        next: (u64, u32),
        in_flight: bool,
    },
    Ranked(Ranked),
    Streams(Streams),
}

impl JobTraffic {
    /// Creates the traffic for a job on the nodes in a layout. Message tags contain `owner`. The
    /// pattern draws its once-per-job values from `draw`.
    pub fn new(
        owner: u32,
        layout: Layout,
        plan: &TrafficPlan,
        service: Communication,
        draw: &mut Stream,
    ) -> JobTraffic {
        debug_assert!(plan.flits > 0, "a message has a header");
        let sending = plan.sending.unwrap_or(Sending::default_for(service));
        // A job with a single rank sends nothing.
        let pattern = plan.pattern.build((&layout.shape, draw)).ok();
        let senders = pattern.map(|pattern| senders(pattern, service, sending, plan.rounds));
        JobTraffic {
            owner,
            flits: plan.flits,
            nodes: layout.nodes,
            undelivered: senders.as_ref().map_or(0, |(schedule, _)| schedule.total()),
            senders,
        }
    }

    /// Returns the nodes in rank order.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// Returns the number of undelivered messages, including those not created yet.
    pub fn undelivered(&self) -> u64 {
        self.undelivered
    }

    /// Returns true if all messages have been delivered. For a job with a single processor or no
    /// messages, the result is true from the start, and the caller must let the job hold its
    /// processors for one cycle.
    pub fn is_finished(&self) -> bool {
        self.undelivered == 0
    }

    /// Records that the message with this tag has been delivered, which may allow the job to
    /// [`create`](JobTraffic::create) more messages.
    pub fn delivered(&mut self, Tag { rank, sequence, .. }: Tag) {
        self.undelivered -= 1;
        match &mut self.senders {
            None => unreachable!("a job without messages has none delivered"),
            Some((_, Senders::Sequential { in_flight, .. })) => *in_flight = false,
            Some((schedule, Senders::Ranked(ranked))) => {
                ranked.delivered(schedule, rank, sequence);
            }
            Some((schedule, Senders::Streams(streams))) => {
                streams.delivered(schedule, rank, sequence);
            }
        }
    }

    /// Creates the messages that the job can send at `now`, in order of rank and sequence number,
    /// with ids starting at `first_id`. Returns the next unused id. The first call starts the job.
    pub fn create(&mut self, now: Time, first_id: u64, mut send: impl FnMut(Message)) -> u64 {
        let Some((schedule, senders)) = &mut self.senders else { return first_id };
        let post = Post { owner: self.owner, flits: self.flits, nodes: &self.nodes };
        let mut id = first_id;
        let mut send_next = |rank, round, to| {
            send(post.message(&Head { id, rank, round, to, created: now, followed: false }));
            id += 1;
        };
        match senders {
            Senders::Sequential { next, in_flight } => {
                let message = schedule.next_sender(next.0, next.1).filter(|_| !*in_flight);
                if let Some((round, rank, to)) = message {
                    *next = (round, rank + 1);
                    *in_flight = true;
                    send_next(rank, round, to);
                }
                id
            }
            Senders::Ranked(ranked) => {
                ranked.create(schedule, send_next);
                id
            }
            Senders::Streams(streams) => {
                streams.create(schedule, now, first_id, |head| send(post.message(&head)))
            }
        }
    }

    /// Creates the message that follows one that has just entered the network.
    pub fn follower(&mut self, entered: &Entered) -> Message {
        let post = Post { owner: self.owner, flits: self.flits, nodes: &self.nodes };
        match &mut self.senders {
            Some((schedule, Senders::Streams(streams))) => {
                post.message(&streams.next(schedule, entered.tag.rank))
            }
            _ => unreachable!("only pipelined messages have followers"),
        }
    }
}

/// The properties shared by all of a job's messages.
struct Post<'a> {
    owner: u32,
    flits: u32,
    nodes: &'a [NodeId],
}

impl Post<'_> {
    fn message(&self, head: &Head) -> Message {
        Message {
            id: head.id,
            from: self.nodes[head.rank as usize],
            to: self.nodes[head.to as usize],
            flits: self.flits,
            created: head.created,
            followed: head.followed,
            tag: Tag { owner: self.owner, rank: head.rank, sequence: head.round },
        }
    }
}

fn senders(
    pattern: Box<dyn Pattern>,
    service: Communication,
    sending: Sending,
    rounds: Option<Rounds>,
) -> (Schedule, Senders) {
    let several = sending != Sending::Sequential;
    let counted = matches!(service, Communication::Messages(_));
    let in_rounds = pattern.whole_rounds() && counted && several;
    let needs = match rounds {
        Some(Rounds::Barrier) => Needs::Stages,
        Some(Rounds::Free) => Needs::Nothing,
        None if in_rounds => Needs::Stages,
        None => pattern.needs(),
    };
    let ranks = pattern.ranks();
    let schedule = Schedule::new(pattern, service, in_rounds);
    let senders = match sending {
        Sending::Sequential => Senders::Sequential { next: (0, 0), in_flight: false },
        Sending::Pipelined if needs != Needs::Received => {
            Senders::Streams(Streams::new(OpenRounds::new(needs, &schedule), ranks))
        }
        Sending::Blocking | Sending::Pipelined => {
            let open = OpenRounds::new(needs, &schedule);
            Senders::Ranked(Ranked::new(open, ranks, sending == Sending::Blocking))
        }
    };
    (schedule, senders)
}
