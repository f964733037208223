//! The whole model: an encoder, a decoder, and what they share.

use crate::bridge::{Bridge, Shore};
use crate::config::{BridgeKind, DecoderConfig, EncoderConfig, Plan, Reader, SharingConfig};
use crate::decoder::{Alignment, Decoder, Looking, RecurrentDecoder, State};
use crate::encoder::{Encoder, RecurrentEncoder};
use crate::memory::{Memory, Tokens};
use crate::output::Output;
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use gatto_data::Padded;
use gatto_data::tokens::{SEPARATOR, START, TokenizerPair};
use gatto_nn::attention::Choosing;
use gatto_nn::recurrent::{Network, NetworkConfig, Reading};
use gatto_nn::{Embedding, Initial, Noise};

/// The numbers of tokens on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabularies {
    /// Tokens that the encoder may read.
    pub source: usize,
    /// Tokens that the decoder may write.
    pub target: usize,
}

impl Vocabularies {
    /// The sizes of a pair of tokenizers.
    pub fn of(tokens: &TokenizerPair) -> Self {
        Self { source: tokens.source.size(), target: tokens.target.size() }
    }
}

/// What a pass over whole targets gave.
#[derive(Clone, Debug)]
pub struct Forward {
    /// Scores at every target position: [B·T, V].
    pub logits: Tensor<2>,
    /// Where the decoder looked, if it has attention.
    pub alignment: Option<Alignment>,
}

/// An encoder–decoder, or a decoder alone.
#[derive(Module, Debug)]
pub struct Model {
    encoder: Option<Encoder>,
    decoder: Decoder,
    /// One network reads source, separator and target as one sequence.
    #[module(skip)]
    single: bool,
    #[module(skip)]
    vocabularies: Vocabularies,
}

impl Model {
    /// The model of a plan, with first values drawn from `seed`.
    pub fn new(plan: &Plan, vocabularies: Vocabularies, seed: u64, device: &Device) -> Self {
        Self::with(plan, vocabularies, &mut Initial::new(seed, device))
    }

    /// The model of a plan with zeros everywhere, for values that come from elsewhere.
    pub fn blank(plan: &Plan, vocabularies: Vocabularies, device: &Device) -> Self {
        Self::with(plan, vocabularies, &mut Initial::blank(device))
    }

    fn with(plan: &Plan, vocabularies: Vocabularies, initial: &mut Initial) -> Self {
        let (encoder, from) = match &plan.reader {
            Reader::Encoder(encoder) => {
                let from = summary_of(encoder);
                (Some(recurrent_encoder(&plan.sharing, encoder, vocabularies.source, initial)), Some(from))
            }
            Reader::Itself => (Some(borrowing_encoder(&plan.decoder)), Some(first_of(&plan.decoder))),
            Reader::Nobody => (None, None),
        };
        let decoder = recurrent_decoder(plan, from, vocabularies.target, initial);
        Self { encoder, decoder, single: plan.reader == Reader::Itself, vocabularies }
    }

    /// Reads a batch of sources; a language model has nothing to read.
    pub fn encode(&self, source: &Padded, noise: &mut Noise) -> Option<Memory> {
        let encoder = self.encoder.as_ref()?;
        Some(encoder.encode(&self.source_tokens(source), self.decoder.lend(), noise))
    }

    /// The vectors of a batch of source tokens [B, S, C]; a language model has none.
    pub fn source_vectors(&self, source: &Padded) -> Option<Tensor<3>> {
        let encoder = self.encoder.as_ref()?;
        Some(encoder.embed(&Tokens::new(source, &self.device()), self.decoder.lend()))
    }

    /// [`Model::encode`] of vectors [B, S, C] in place of those of the tokens, without noise.
    pub fn encode_vectors(&self, source: &Padded, vectors: Tensor<3>) -> Option<Memory> {
        let source = self.source_tokens(source);
        Some(self.encoder.as_ref()?.read(&source, vectors, self.decoder.lend(), &mut Noise::none()))
    }

    fn source_tokens(&self, source: &Padded) -> Tokens {
        let device = self.device();
        if self.single { Tokens::without_end(source, &device) } else { Tokens::new(source, &device) }
    }

    /// The decoder's state before the first token, for `batch` rows.
    pub fn start(&self, memory: Option<&Memory>, batch: usize) -> State {
        self.decoder.start(memory, batch, &self.device())
    }

    /// The token that the decoder reads first.
    pub fn first_token(&self) -> u32 {
        if self.single { SEPARATOR } else { START }
    }

    /// One step: reads one token per row, gives scores [B, V] and the next state.
    pub fn step(&self, tokens: &[u32], state: State) -> (Tensor<2>, State) {
        let tokens = Tokens::column(tokens, &self.device());
        let (written, state) = self.decoder.advance(&tokens, state, None, &mut Noise::none());
        (self.decoder.project(written.features.squeeze_dim::<2>(1)), state)
    }

    /// All steps at once, reading `inputs` whatever was written (teacher forcing). Where one position
    /// of the source is chosen, it is drawn from the noise of a training step.
    pub fn forward(&self, inputs: &Padded, memory: Option<&Memory>, noise: &mut Noise) -> Forward {
        let tokens = Tokens::new(inputs, &self.device());
        let state = self.start(memory, inputs.rows);
        let choosing = noise.key().map(Choosing::Drawn);
        let (written, _) = self.decoder.advance(&tokens, state, choosing, noise);
        let logits = self.decoder.project(written.features.flatten(0, 1)); // [B·T, V]
        Forward { logits, alignment: written.alignment }
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
        let (written, _) = self.decoder.advance(&tokens, state, Some(Choosing::Everything), noise);
        let choice = written.alignment?.choice?;
        let candidates = written.candidates?.flatten::<3>(0, 1); // [B·T, S, H]
        Some((self.decoder.project(candidates.flatten(0, 1)), choice.log_weights.flatten(0, 1)))
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
        self.decoder.lend().embedding.weight.device()
    }
}

fn recurrent_encoder(
    sharing: &SharingConfig,
    encoder: &EncoderConfig,
    vocabulary: usize,
    initial: &mut Initial,
) -> Encoder {
    let (cell, _, settings) = encoder.parts();
    let embedding = settings.embedding.unwrap_or(settings.width);
    let network = NetworkConfig {
        cell,
        input: embedding,
        width: settings.width,
        layers: settings.layers,
        bidirectional: settings.bidirectional,
        dropout: settings.dropout,
    };
    Encoder::Recurrent(RecurrentEncoder {
        embedding: (!sharing.embeddings).then(|| Embedding::new(vocabulary, embedding, 1.0, initial)),
        network: (!sharing.encoder_decoder).then(|| Network::new(&network, initial)),
        reading: if settings.reversed { Reading::Backward } else { Reading::Forward },
        dropout: settings.dropout,
    })
}

/// The encoder of a single network: all of it is the decoder's.
fn borrowing_encoder(decoder: &DecoderConfig) -> Encoder {
    Encoder::Recurrent(RecurrentEncoder {
        embedding: None,
        network: None,
        reading: Reading::Forward,
        dropout: decoder.parts().2.dropout,
    })
}

/// The states that an encoder leaves.
fn summary_of(encoder: &EncoderConfig) -> Shore {
    let (cell, _, settings) = encoder.parts();
    let directions = 1 + usize::from(settings.bidirectional);
    Shore { cell, width: directions * settings.width, layers: settings.layers }
}

/// The states that a decoder starts from.
fn first_of(decoder: &DecoderConfig) -> Shore {
    let (cell, _, settings) = decoder.parts();
    Shore { cell, width: settings.width, layers: settings.layers }
}

fn recurrent_decoder(plan: &Plan, from: Option<Shore>, vocabulary: usize, initial: &mut Initial) -> Decoder {
    let (cell, _, settings) = plan.decoder.parts();
    let embedding = settings.embedding.unwrap_or(settings.width);
    let kind = settings.bridge.unwrap_or(BridgeKind::FirstState);
    let every_step = matches!(kind, BridgeKind::EveryStep | BridgeKind::Both);
    let fed = from.as_ref().filter(|_| every_step).map(|from| from.width);
    let looked_at = plan.attention.as_ref().zip(from.as_ref().map(|from| from.width));
    let beside = looked_at.map_or(0, |(attention, states)| attention.beside_input(settings.width, states));
    let network = NetworkConfig {
        cell,
        input: embedding + fed.unwrap_or(0) + beside,
        width: settings.width,
        layers: settings.layers,
        bidirectional: false,
        dropout: settings.dropout,
    };
    let deviation = if plan.sharing.output { (embedding as f64).sqrt().recip() } else { 1.0 };
    let first_state = matches!(kind, BridgeKind::FirstState | BridgeKind::Both);
    let bridge = from.as_ref().filter(|_| first_state);
    Decoder::Recurrent(RecurrentDecoder {
        embedding: Embedding::new(vocabulary, embedding, deviation, initial),
        network: Network::new(&network, initial),
        bridge: bridge.map(|from| Bridge::new(from, &first_of(&plan.decoder), initial)),
        attention: looked_at
            .map(|(attention, states)| Looking::new(attention, settings.width, states, initial)),
        output: Output::new(settings.width, vocabulary, plan.sharing.output, initial),
        fed_at_every_step: fed.is_some(),
        dropout: settings.dropout,
    })
}
