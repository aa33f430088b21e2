//! Facts about answers that are known without querying the strategy. Schedulers use these facts for
//! planning.

use pavior_mesh::{Request, Sides};

use crate::Machine;
use crate::allowed;
use crate::claim::{BoxGroup, Claim, Grants, Recognition};

/// The known conditions for granting a request, which follow from the strategy's claim and the
/// request's freedom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// The request is granted if and only if at least [`Machine::needed`] nodes are free.
    Count,
    /// The request is granted if and only if one of several shapes is free
    /// ([`Machine::boxes_for`]).
    Shapes,
    /// A refused request is also refused in any state whose free nodes are a subset of the current
    /// ones.
    Monotone,
    /// Nothing is known. A request may be refused even though it would be granted if fewer nodes
    /// were free.
    Unknown,
}

impl Answers {
    /// Returns true if a refused request stays refused until more nodes become free.
    pub fn are_monotone(self) -> bool {
        self != Answers::Unknown
    }

    /// Returns the property that a strategy claims for requests without a freedom.
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
    /// Returns what is known about the answers to a request. Takes O(1) time.
    ///
    /// ```
    /// # use pavior_allocation as pavior;
    /// use pavior::{Answers, Freedom, Machine, Request};
    /// let machine = Machine::new("mesh:8x8".parse()?, "tff")?;
    /// let asked = Request::shape([2, 3, 1]);
    /// assert_eq!(machine.answers(&asked), Answers::Shapes);
    /// assert_eq!(machine.answers(&asked.with_freedom(Freedom::Any)), Answers::Count);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answers(&self, request: &Request) -> Answers {
        self.strategy.answers(request)
    }

    /// Returns the number of free nodes that a request needs: its shape's volume for a contiguous
    /// strategy, or its node count for any other strategy.
    pub fn needed(&self, request: &Request) -> u64 {
        self.selection.entry.does.needed(request)
    }

    /// Returns the maximum number of nodes that may be granted for a request, now or later. This
    /// exceeds the requested number if the strategy grants whole blocks, or if a box with different
    /// sides may be granted instead.
    ///
    /// ```
    /// # use pavior_allocation as pavior;
    /// use pavior::{Machine, Request};
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
            // The nodes are granted in pieces, but their total number equals the volume of one of
            // the family's shapes.
            Grants::Exact => {
                let family = (claim.family)(&plain, &self.grid, options);
                family.iter().map(|shape| u64::from(shape.nodes())).max().unwrap_or(needed)
            }
        };
        request.freedom.map_or(own, |freedom| allowed::most(request, freedom, own))
    }

    /// Returns true if the strategy claims that its answers depend only on the set of free nodes.
    /// The result is the same for all requests. Takes O(1) time.
    pub fn is_determined(&self) -> bool {
        matches!(
            Claim::of(self.selection()).recognition,
            Recognition::First | Recognition::Best { first_of_ties: true, .. }
        )
    }

    /// Returns a list of boxes, at least one of which must be free for the request to be granted.
    /// Returns `None` unless the answers are [`Answers::Shapes`] and every shape is a box.
    ///
    /// ```
    /// # use pavior_allocation as pavior;
    /// use pavior::{Freedom, Machine, Request};
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

    /// Returns boxes that may be granted for a request, in order of preference. The strategy may
    /// also grant other shapes and may miss a free box.
    pub fn some_boxes_for(&self, request: &Request) -> Vec<Sides> {
        self.shapes_of(request).0
    }

    /// Returns the boxes that may be granted, and whether other shapes may be granted too.
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
