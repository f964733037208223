//! What else has a say while a model writes: what its encoder tells by itself, or a language model.

use crate::ctc::{CtcState, CtcStepping};
use crate::stepping::{Stepped, Stepping};
use gatto_search::{Logits, Step};

/// One of them, as search sees it.
#[allow(clippy::large_enum_variant, reason = "a search has one or two")]
pub(crate) enum Beside<'a> {
    /// What the states tell by themselves.
    Ctc(CtcStepping),
    /// A language model.
    Language(Stepping<'a>),
}

/// What it carries from step to step.
#[allow(clippy::large_enum_variant, reason = "a search has few of them")]
pub(crate) enum BesideState {
    Ctc(CtcState),
    Language(Stepped),
}

impl Step for Beside<'_> {
    type State = BesideState;

    fn start(&self) -> (BesideState, u32) {
        match self {
            Self::Ctc(told) => {
                let (state, first) = told.start();
                (BesideState::Ctc(state), first)
            }
            Self::Language(model) => {
                let (state, first) = model.start();
                (BesideState::Language(state), first)
            }
        }
    }

    fn step(&self, tokens: &[u32], state: BesideState) -> (Logits, BesideState) {
        match (self, state) {
            (Self::Ctc(told), BesideState::Ctc(state)) => {
                let (logits, state) = told.step(tokens, state);
                (logits, BesideState::Ctc(state))
            }
            (Self::Language(model), BesideState::Language(state)) => {
                let (logits, state) = model.step(tokens, state);
                (logits, BesideState::Language(state))
            }
            _ => unreachable!("{OTHER}"),
        }
    }

    fn select(&self, state: BesideState, rows: &[usize]) -> BesideState {
        match (self, state) {
            (Self::Ctc(told), BesideState::Ctc(state)) => BesideState::Ctc(told.select(state, rows)),
            (Self::Language(model), BesideState::Language(state)) => {
                BesideState::Language(model.select(state, rows))
            }
            _ => unreachable!("{OTHER}"),
        }
    }

    fn end(&self) -> u32 {
        match self {
            Self::Ctc(told) => told.end(),
            Self::Language(model) => model.end(),
        }
    }

    fn forbidden(&self) -> &[u32] {
        match self {
            Self::Ctc(told) => told.forbidden(),
            Self::Language(model) => model.forbidden(),
        }
    }

    fn vocabulary(&self) -> Option<usize> {
        match self {
            Self::Ctc(told) => told.vocabulary(),
            Self::Language(model) => model.vocabulary(),
        }
    }
}

const OTHER: &str = "a state belongs to who made it";
