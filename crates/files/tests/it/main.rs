//! Files from outside: what is refused, what is kept, what is left behind.

mod input;
mod output;
mod plan;
