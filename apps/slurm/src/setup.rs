//! Installation, checks and removal.

pub(crate) mod check;
pub(crate) mod install;
pub(crate) mod lists;
mod permissions;
pub(crate) mod uninstall;
mod unit;
