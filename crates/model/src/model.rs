//! The whole model: an encoder, a decoder or a head, and what they share.

use crate::assembly;
use crate::config::{Plan, Reader, Writer};
use crate::decoder::{Alignment, Decoder, Lent, State, Written};
use crate::encoder::{Encoder, Features, Input};
use crate::head::{Head, Told};
use crate::masking::HeadPlace;
use crate::memory::{Memory, Reading, Tokens};
use crate::output::{Columns, Unscored};
use crate::shortlist::Listed;
use crate::trace::AttentionKind;
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use gatto_data::tokens::{SEPARATOR, START, TokenizerPair};
use gatto_data::{Labels, Padded};
use gatto_nn::attention::Choosing;
use gatto_nn::{Initial, Linear, Noise, Preparing, Reads};

/// The numbers of tokens on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabularies {
    /// Tokens that the encoder may read.
    pub source: usize,
    /// Tokens that the decoder may write, or labels that a head may tell.
    pub target: usize,
}

impl Vocabularies {
    /// The sizes of a pair of tokenizers.
    pub fn of(tokens: &TokenizerPair) -> Self {
        Self { source: tokens.source.size(), target: tokens.target.size() }
    }

    /// The same, with labels in place of the target's tokens where there are labels.
    pub fn with_labels(tokens: &TokenizerPair, labels: Option<&Labels>) -> Self {
        let sizes = Self::of(tokens);
        Self { target: labels.map_or(sizes.target, Labels::len), ..sizes }
    }
}

/// What a pass over whole targets gave.
#[derive(Clone, Debug)]
pub struct Forward {
    /// Scores at every target position: [B·T, V].
    pub logits: Tensor<2>,
    /// Where the decoder looked, if it has attention.
    pub alignment: Option<Alignment>,
    /// Where each layer's heads looked among the decoder's own columns: [B, H, T, columns].
    pub heads: Vec<Tensor<4>>,
    /// Where they looked at the source: [B, H, T, positions].
    pub cross_heads: Vec<Tensor<4>>,
}

/// What a step works with, besides its state. A copy has its own.
#[derive(Debug, Default)]
pub(crate) struct StepRoom {
    /// What the output layer reads: [R, width].
    rows: Vec<f32>,
    /// The same, made narrower.
    narrowed: Vec<f32>,
    /// The scores of tokens on any list, where there are lists: [R, U].
    few: Vec<f32>,
    /// [R, V].
    pub(crate) scores: Vec<f32>,
}

impl Clone for StepRoom {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// An encoder–decoder, a decoder alone, or an encoder with a head.
#[derive(Module, Debug)]
pub struct Model {
    encoder: Option<Encoder>,
    decoder: Option<Decoder>,
    head: Option<Head>,
    /// A language model whose states stand beside the encoder's token vectors.
    features: Option<Features>,
    /// What the encoder's states tell by themselves.
    ctc: Option<Linear>,
    /// One network reads source, separator and target as one sequence.
    #[module(skip)]
    single: bool,
    /// Tokens are scored by the source's vectors.
    #[module(skip)]
    source_output: bool,
    #[module(skip)]
    vocabularies: Vocabularies,
    /// Whether all parameters have values.
    #[module(skip)]
    whole: bool,
}

impl Model {
    /// The model of a plan, with first values drawn from `seed`.
    pub fn new(plan: &Plan, vocabularies: Vocabularies, seed: u64, device: &Device) -> Self {
        Self::with(plan, vocabularies, &mut Initial::new(seed, device))
    }

    /// The model of a plan without values, which come from elsewhere.
    pub fn blank(plan: &Plan, vocabularies: Vocabularies, device: &Device) -> Self {
        Self::with(plan, vocabularies, &mut Initial::blank(device))
    }

    fn with(plan: &Plan, vocabularies: Vocabularies, initial: &mut Initial) -> Self {
        let encoder = assembly::encoder(plan, vocabularies.source, initial);
        let (decoder, head) = match &plan.writer {
            Writer::Decoder(_) => (Some(assembly::decoder(plan, vocabularies.target, initial)), None),
            Writer::Head(task, settings) => {
                let states = plan.encoder().map_or(0, |encoder| encoder.states());
                let answers = if task.has_labels() { vocabularies.target } else { vocabularies.source };
                let tied = plan.sharing.output;
                (None, Some(Head::new(*task, settings, states, answers, tied, initial)))
            }
        };
        let features =
            plan.features.as_ref().map(|features| assembly::features(features, vocabularies.source, initial));
        let states = plan.encoder().map_or(0, |encoder| encoder.states());
        let ctc = plan.ctc.map(|_| Linear::new(states, vocabularies.target, initial));
        let single = plan.reader == Reader::Itself;
        let source_output = plan.sharing.source_output;
        Self { encoder, decoder, head, features, ctc, single, source_output, vocabularies, whole: true }
    }

    /// The same model, and whether all its parameters have values.
    pub(crate) fn with_parameters(self, whole: bool) -> Self {
        Self { whole, ..self }
    }

    /// Whether all parameters have values, so that gradients can be asked for. Where a model was loaded for prediction,
    /// those that were made ready have none.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Has a head give nought from now on. Whether there is such a head.
    pub(crate) fn mask(&mut self, HeadPlace { attention, layer, head }: HeadPlace) -> bool {
        let stack = match attention {
            AttentionKind::Encoder => self.encoder.as_mut().and_then(Encoder::stack_mut),
            AttentionKind::Cross | AttentionKind::Decoder => {
                self.decoder.as_mut().and_then(Decoder::stack_mut)
            }
            AttentionKind::Pooling => None,
        };
        match (stack, layer.checked_sub(1), head.checked_sub(1)) {
            (Some(stack), Some(layer), Some(head)) => {
                stack.mask(layer, head, attention == AttentionKind::Cross)
            }
            _ => false,
        }
    }

    /// Makes the weights ready for prediction. It holds until parameters change.
    pub fn prepare<'a>(&mut self, how: impl Into<Preparing<'a>>) {
        let how = how.into();
        self.encoder.iter_mut().for_each(|encoder| encoder.prepare(how));
        self.features.iter_mut().for_each(|features| features.network.prepare(how));
        self.ctc.iter_mut().for_each(|ctc| ctc.prepare(how));
        let source = self.encoder.as_ref().filter(|_| self.source_output).and_then(Encoder::embedding);
        if let Some(decoder) = &mut self.decoder {
            decoder.prepare(source, how);
        }
    }

    /// The same model, whose token vectors leave the gradients of what is read of them in `reads`.
    pub fn noting(mut self, reads: &Reads) -> Self {
        let source = self.encoder.as_mut().and_then(Encoder::embedding_mut);
        let target = self.decoder.as_mut().map(Decoder::embedding_mut);
        let beside = self.features.as_mut().map(|features| &mut features.embedding);
        source.into_iter().chain(target).chain(beside).for_each(|embedding| embedding.note(reads));
        self
    }

    /// Reads a batch of sources; a language model has nothing to read.
    ///
    /// # Panics
    /// If these are images and the model reads tokens or sounds, or the other way round.
    pub fn encode<'a>(&self, source: impl Into<Reading<'a>>, noise: &mut Noise) -> Option<Memory> {
        let (encoder, source) = (self.encoder.as_ref()?, self.input(source.into()));
        let vectors = encoder.embed(&source, self.lend(), &self.device());
        Some(encoder.read(&source, vectors, self.lend(), noise))
    }

    /// The vectors of a batch of source tokens, the pixels of each region of images, row by row, or the frames of sounds:
    /// [B, S, C]. A language model has none.
    ///
    /// # Panics
    /// As [`Model::encode`].
    pub fn source_vectors<'a>(&self, source: impl Into<Reading<'a>>) -> Option<Tensor<3>> {
        Some(self.encoder.as_ref()?.embed(&self.input(source.into()), self.lend(), &self.device()))
    }

    /// [`Model::encode`] of vectors [B, S, C] in place of those of the source, without noise.
    ///
    /// # Panics
    /// As [`Model::encode`].
    pub fn encode_vectors<'a>(&self, source: impl Into<Reading<'a>>, vectors: Tensor<3>) -> Option<Memory> {
        let source = self.input(source.into());
        Some(self.encoder.as_ref()?.read(&source, vectors, self.lend(), &mut Noise::none()))
    }

    /// What the head tells of what was read; `None` if the model has a decoder instead.
    pub fn tell(&self, memory: &Memory, noise: &mut Noise) -> Option<Told> {
        self.tell_at(memory, None, noise)
    }

    /// [`Model::tell`] for some rows of the scores alone, in this order; there must be one.
    pub fn tell_at(&self, memory: &Memory, rows: Option<&[usize]>, noise: &mut Noise) -> Option<Told> {
        let embedding = self.encoder.as_ref().and_then(Encoder::embedding);
        Some(self.head.as_ref()?.forward(memory, rows, embedding, noise))
    }

    /// [`Model::tell_at`] up to the scores.
    pub fn tell_unscored(
        &self,
        memory: &Memory,
        rows: Option<&[usize]>,
        noise: &mut Noise,
    ) -> Option<Unscored<'_>> {
        let embedding = self.encoder.as_ref().and_then(Encoder::embedding);
        Some(self.head.as_ref()?.unscored(memory, rows, embedding, noise).0)
    }

    /// What the encoder's states tell by themselves, if they do: scores of tokens.
    pub(crate) fn ctc(&self) -> Option<&Linear> {
        self.ctc.as_ref()
    }

    /// What an encoder may use as its own.
    fn lend(&self) -> Lent<'_> {
        let lent = self.decoder.as_ref().map(Decoder::lend).unwrap_or_default();
        Lent { features: self.features.as_ref(), ..lent }
    }

    /// What the decoder made, [N, width], before its scores.
    fn project(&self, features: Tensor<2>) -> Unscored<'_> {
        let source = self.encoder.as_ref().filter(|_| self.source_output).and_then(Encoder::embedding);
        self.decoder().project(features, source)
    }

    fn decoder(&self) -> &Decoder {
        match &self.decoder {
            Some(decoder) => decoder,
            None => unreachable!("only a model with a decoder is asked to write"),
        }
    }

    fn input<'a>(&self, source: Reading<'a>) -> Input<'a> {
        let device = self.device();
        match source {
            Reading::Images(images) => Input::Images(images),
            Reading::Sound(sounds) => Input::Sound(sounds),
            Reading::Tokens(source) => Input::Tokens(match self.single {
                true => Tokens::without_end(source, &device),
                false if self.head.as_ref().is_some_and(Head::reads_start) => {
                    Tokens::new(source, &device).behind_start()
                }
                false => Tokens::new(source, &device),
            }),
        }
    }

    /// The decoder's state before the first token, for `batch` rows.
    pub fn start(&self, memory: Option<&Memory>, batch: usize) -> State {
        self.decoder().start(memory, batch, &self.device())
    }

    /// The token that the decoder reads first.
    pub fn first_token(&self) -> u32 {
        if self.single { SEPARATOR } else { START }
    }

    /// One step: reads one token per row, gives scores [B, V] and the next state.
    pub fn step(&self, tokens: &[u32], mut state: State) -> (Tensor<2>, State) {
        let mut room = StepRoom::default();
        if self.step_in_place(tokens, None, &mut state, &mut room) {
            let shape = [tokens.len(), self.vocabularies.target];
            return (Tensor::from_data(TensorData::new(room.scores, shape), &self.device()), state);
        }
        let (written, state) = self.written_next(tokens, state);
        (self.project(written.features.squeeze_dim::<2>(1)).scores(), state)
    }

    /// [`Model::step`] up to the scores, and where it looked, if someone is `looking`: weights [B, S].
    pub(crate) fn step_unscored(
        &self,
        tokens: &[u32],
        state: State,
        looking: bool,
    ) -> (Unscored<'_>, Option<Tensor<2>>, State) {
        let (written, state) = self.written_next(tokens, state);
        let alignment = if looking { written.alignment() } else { None };
        let weights = alignment.map(|found| found.weights.squeeze_dim::<2>(1));
        (self.project(written.features.squeeze_dim::<2>(1)), weights, state)
    }

    /// [`Model::step`] where weights are ready for it, in plain values: the scores go to `room`, those of tokens on the list of each
    /// row's sentence alone if there are lists. Tells whether it was done; else nothing has changed. No memory is asked for once there
    /// is enough of it.
    pub(crate) fn step_in_place(
        &self,
        tokens: &[u32],
        listed: Option<(&Listed, &[usize])>,
        state: &mut State,
        room: &mut StepRoom,
    ) -> bool {
        let (decoder, StepRoom { rows, narrowed, few, scores }) = (self.decoder(), room);
        let output = decoder.output();
        if !output.can_score() || !decoder.step_in_place(tokens, state, rows) {
            return false;
        }
        match listed {
            Some((listed, sentences)) => {
                output.score(rows, listed.columns(), narrowed, few);
                listed.spread(few, sentences, scores);
            }
            None => output.score(rows, None, narrowed, scores),
        }
        true
    }

    /// What scores some tokens alone, where the weights are ready.
    pub(crate) fn columns(&self, tokens: &[u32]) -> Option<Columns> {
        self.decoder().output().columns(tokens)
    }

    fn written_next(&self, tokens: &[u32], state: State) -> (Written, State) {
        let tokens = Tokens::column(tokens, &self.device());
        self.decoder().advance(&tokens, state, None, &mut Noise::none())
    }

    /// All steps at once, reading `inputs` whatever was written (teacher forcing). Where one position
    /// of the source is chosen, it is drawn from the noise of a training step.
    pub fn forward(&self, inputs: &Padded, memory: Option<&Memory>, noise: &mut Noise) -> Forward {
        let written = self.written(inputs, memory, noise);
        let alignment = written.alignment();
        let Written { features, heads, cross_heads, .. } = written;
        let logits = self.project(features.flatten(0, 1)).scores(); // [B·T, V]
        Forward { logits, alignment, heads: heads.tensors(), cross_heads: cross_heads.tensors() }
    }

    /// [`Model::forward`] up to the scores, and where the decoder looked.
    pub fn forward_unscored(
        &self,
        inputs: &Padded,
        memory: Option<&Memory>,
        noise: &mut Noise,
    ) -> (Unscored<'_>, Option<Alignment>) {
        let written = self.written(inputs, memory, noise);
        let alignment = written.alignment();
        (self.project(written.features.flatten(0, 1)), alignment)
    }

    fn written(&self, inputs: &Padded, memory: Option<&Memory>, noise: &mut Noise) -> Written {
        let tokens = Tokens::new(inputs, &self.device());
        let state = self.start(memory, inputs.rows);
        let choosing = noise.key().map(Choosing::Drawn);
        self.decoder().advance(&tokens, state, choosing, noise).0
    }

    /// [`Model::forward`] for every position that a hard focus could choose at each step: scores
    /// [B·T·S, V] and log α [B·T, S]. Steps read what came before with the mean over all choices.
    /// `None` if the model does not choose.
    pub fn forward_everywhere(
        &self,
        inputs: &Padded,
        memory: Option<&Memory>,
        noise: &mut Noise,
    ) -> Option<(Tensor<2>, Tensor<2>)> {
        let tokens = Tokens::new(inputs, &self.device());
        let state = self.start(memory, inputs.rows);
        let (written, _) = self.decoder().advance(&tokens, state, Some(Choosing::Everything), noise);
        let choice = written.alignment?.choice?;
        let candidates = written.candidates?.flatten::<3>(0, 1); // [B·T, S, H]
        Some((self.project(candidates.flatten(0, 1)).scores(), choice.log_weights.flatten(0, 1)))
    }

    /// What the decoder reads under teacher forcing: the target behind the first token, without its end.
    pub fn teacher_inputs(&self, target: &Padded) -> Padded {
        let mut inputs = target.clone();
        for (row, &length) in target.lengths.iter().enumerate() {
            let row = &mut inputs.ids[row * target.width..][..target.width];
            if length > 0 {
                row.copy_within(..length - 1, 1);
                row[0] = self.first_token();
            }
        }
        inputs
    }

    /// The numbers of tokens on both sides.
    pub fn vocabularies(&self) -> Vocabularies {
        self.vocabularies
    }

    /// Where the parameters live.
    pub fn device(&self) -> Device {
        match &self.decoder {
            // Asked for at every step: one parameter tells it sooner than all of them.
            Some(decoder) => decoder.embedding().weight.val().device(),
            None => self.devices().into_iter().next().unwrap_or_default(),
        }
    }
}
