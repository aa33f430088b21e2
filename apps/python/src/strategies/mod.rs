//! Strategies written by the caller and called by the engine.

mod free;
pub(crate) mod judgement;
mod lasting;
mod raised;
mod strategy;

pub(crate) use free::Free;
pub(crate) use lasting::lasting;
pub(crate) use strategy::{class_of, placement, register, selection};
