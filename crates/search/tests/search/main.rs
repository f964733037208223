//! Search on tiny models whose every sequence can be looked at.

mod batch;
mod diverse;
mod ensemble;
mod exhaustive;
mod stopping;
mod table;
mod trace;
