//! Every plan against brute force, on every state of small machines and on random ones.

mod brute;
mod by;
mod drains;
mod places;
mod random;
mod slots;
mod states;
mod unblocks;
mod whys;
