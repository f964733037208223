//! Tests of the grammar: word forms, hand-written pairs, and what holds for every sentence drawn.

mod build;
mod drawn;
mod forms;
mod golden;
mod readings;
