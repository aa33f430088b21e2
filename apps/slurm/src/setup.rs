//! Installation, checks and removal of the gate and the daemon's settings.

pub(crate) mod check;
pub(crate) mod install;
pub(crate) mod lists;
mod permissions;
pub(crate) mod uninstall;
mod unit;
