//! What is known of answers to a request before it is asked: what schedulers plan by.

use pavior_mesh::{Request, Sides};

use crate::Machine;
use crate::allowed;
use crate::claim::{BoxGroup, Claim, Grants, Recognition};

/// When a machine grants a request, as its strategy claims, and as a freedom of the request has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// Exactly where as many nodes are free as [`Machine::needed`] says.
    Count,
    /// Exactly where one of some shapes is free ([`Machine::boxes_for`]).
    Shapes,
    /// What is refused is refused on any part of the free nodes, too.
    Monotone,
    /// Nothing is known: it may be refused, and granted on a part of the free nodes.
    Unknown,
}

impl Answers {
    /// Whether a request that is refused is refused until further nodes become free.
    pub fn are_monotone(self) -> bool {
        self != Answers::Unknown
    }

    /// Those of a strategy to requests without a freedom.
    pub(crate) fn claimed(recognition: &Recognition, contiguous: bool) -> Answers {
        match recognition {
            Recognition::Count => Answers::Count,
            Recognition::First | Recognition::Best { .. } | Recognition::Complete => {
                if contiguous {
                    Answers::Shapes
                } else {
                    Answers::Monotone
                }
            }
            Recognition::Partial(_) | Recognition::Own { .. } => Answers::Unknown,
        }
    }
}

impl Machine {
    /// What is known of the answers to a request. O(1).
    ///
    /// ```
    /// use pavior_allocation::{Answers, Freedom, Machine, Request};
    /// let machine = Machine::new("mesh:8x8".parse()?, "tff")?;
    /// let asked = Request::shape([2, 3, 1]);
    /// assert_eq!(machine.answers(&asked), Answers::Shapes);
    /// assert_eq!(machine.answers(&asked.with_freedom(Freedom::Any)), Answers::Count);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answers(&self, request: &Request) -> Answers {
        self.strategy.answers(request)
    }

    /// The nodes that must be free for a request: its shape's for contiguous strategies, else its
    /// count.
    pub fn needed(&self, request: &Request) -> u64 {
        self.selection.entry.does.needed(request)
    }

    /// The most nodes that may be granted for a request, now or later. They are more than it asks
    /// for if the strategy grants whole blocks, or if a box of other sides may take its place.
    ///
    /// ```
    /// use pavior_allocation::{Machine, Request};
    /// let machine = Machine::new("mesh:8x8".parse()?, "2db")?;
    /// assert_eq!(machine.most(&Request::shape([3, 1, 1])), 16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn most(&self, request: &Request) -> u64 {
        let plain = Request { freedom: None, ..*request };
        let (claim, options) = (Claim::of(&self.selection), &self.selection.options);
        let needed = self.selection.entry.does.needed(&plain);
        let own = match claim.grants {
            Grants::RoundsUp { most } => most(&plain, &self.grid, options),
            Grants::Exact if self.selection.entry.does.contiguous => needed,
            // In pieces, but as many nodes as a shape of its family has.
            Grants::Exact => {
                let family = (claim.family)(&plain, &self.grid, options);
                family.iter().map(|shape| u64::from(shape.nodes())).max().unwrap_or(needed)
            }
        };
        request.freedom.map_or(own, |freedom| allowed::most(request, freedom, own))
    }

    /// Whether answers depend on nothing but which nodes are free, as the strategy claims. A
    /// freedom changes nothing of it. O(1).
    pub fn is_determined(&self) -> bool {
        matches!(
            Claim::of(self.selection()).recognition,
            Recognition::First | Recognition::Best { first_of_ties: true, .. }
        )
    }

    /// The boxes that decide a request: it is granted exactly if one of them is free. `None` if the
    /// answers are not [`Answers::Shapes`], or if some of the shapes are no boxes.
    ///
    /// ```
    /// use pavior_allocation::{Freedom, Machine, Request};
    /// let machine = Machine::new("mesh:4x2".parse()?, "mbs")?;
    /// let asked = Request::shape([1, 3, 1]);
    /// assert_eq!(machine.boxes_for(&asked), None);
    /// let turned = machine.boxes_for(&asked.with_freedom(Freedom::Turned));
    /// assert_eq!(turned, Some(vec![[3, 1, 1]]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn boxes_for(&self, request: &Request) -> Option<Vec<Sides>> {
        if self.answers(request) != Answers::Shapes {
            return None;
        }
        let (boxes, others) = self.shapes_of(request);
        (!others).then_some(boxes)
    }

    /// The boxes that may be granted for a request, the preferred first. A strategy may grant other
    /// shapes besides, and may miss a box that is free.
    pub fn some_boxes_for(&self, request: &Request) -> Vec<Sides> {
        self.shapes_of(request).0
    }

    /// The boxes that may be granted, and whether other shapes may.
    fn shapes_of(&self, request: &Request) -> (Vec<Sides>, bool) {
        if let Some(freedom) = request.freedom {
            return (allowed::boxes(request, freedom, self.grid()), false);
        }
        let mut groups = (self.family)(request, self.grid(), &self.selection().options);
        let all = groups.len();
        groups.retain(|group| group.parts.len() == 1);
        (groups.iter().map(BoxGroup::bounding).collect(), groups.len() < all)
    }
}
