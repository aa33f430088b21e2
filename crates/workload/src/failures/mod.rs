//! Component failures and repairs, drawn from failure classes or read from a list.

mod classes;
mod drawn;
mod list;

use std::fmt;

use pavior_kernel::Time;
use pavior_mesh::{Cubes, Grid, NodeId};

pub use classes::{FailureClass, FailureClasses};
pub use drawn::{BadFailures, Failures};
pub use list::read_failures;

/// A component that fails as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// A node.
    Node(NodeId),
    /// A cube of 4x4x4 nodes, by its number among the machine's [`Cubes`].
    Cube(NodeId),
    /// One of the [`SWITCHES`] that join cubes.
    Switch(u32),
}

/// The number of optical switches in a pod: 16 for each axis. Each face of a cube has 16 fibers,
/// one to each switch of its axis (Jouppi et al. 2023).
pub const SWITCHES: u32 = 48;

/// A kind of component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComponentKind {
    /// Single nodes.
    Node,
    /// Cubes of 4x4x4 nodes.
    Cube,
    /// Switches.
    Switch,
}

impl ComponentKind {
    /// Every kind.
    pub const ALL: [ComponentKind; 3] =
        [ComponentKind::Node, ComponentKind::Cube, ComponentKind::Switch];

    /// Returns `node`, `cube` or `switch`.
    pub fn word(self) -> &'static str {
        match self {
            ComponentKind::Node => "node",
            ComponentKind::Cube => "cube",
            ComponentKind::Switch => "switch",
        }
    }

    /// Returns the number of components of this kind. Returns `None` for cubes and switches if the
    /// machine is not made of cubes.
    pub fn count(self, machine: &Grid) -> Option<u32> {
        match self {
            ComponentKind::Node => Some(machine.nodes()),
            ComponentKind::Cube => Cubes::of(machine).map(|cubes| cubes.grid().nodes()),
            ComponentKind::Switch => Cubes::of(machine).map(|_| SWITCHES),
        }
    }

    fn numbered(self, number: u32) -> Component {
        match self {
            ComponentKind::Node => Component::Node(NodeId(number)),
            ComponentKind::Cube => Component::Cube(NodeId(number)),
            ComponentKind::Switch => Component::Switch(number),
        }
    }
}

impl Component {
    /// Returns the component's kind, and its number within that kind.
    pub fn parts(self) -> (ComponentKind, u32) {
        match self {
            Component::Node(NodeId(number)) => (ComponentKind::Node, number),
            Component::Cube(NodeId(number)) => (ComponentKind::Cube, number),
            Component::Switch(number) => (ComponentKind::Switch, number),
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, number) = self.parts();
        write!(f, "{} {number}", kind.word())
    }
}

/// A failure or repair of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureEvent {
    /// The time of the event.
    pub at: Time,
    /// The component that fails or is repaired.
    pub component: Component,
    /// The kind of event.
    pub change: Change,
}

/// A change to a component. At equal times, repairs sort before failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The component is repaired.
    Repair,
    /// The component fails.
    Fail,
}
