//! Attacks on what the service promises; each counts what it tried and what failed.

mod pages;
