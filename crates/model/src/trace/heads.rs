//! Where each head looked: the weights of every layer, cut to what exists.
//!
//! Letters: `B` sentences, `H` heads, `T` rows that look, `S` columns that are looked at.

use super::{Piece, pieces};
use crate::config::{DecoderConfig, EncoderConfig, Plan, Pooling, Reader, Task, Writer};
use crate::decoder::Alignment;
use crate::filling::MASK_WORD;
use crate::memory::Memory;
use crate::model::Forward;
use crate::saved::Saved;
use burn::tensor::Tensor;
use gatto_data::tokens::{MASK, START, Tokenizer};
use gatto_nn::Noise;

/// Which attention of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttentionKind {
    /// The decoder looks at the source.
    Cross,
    /// A head looks at the states that it makes one answer of.
    Pooling,
    /// The source looks at itself.
    Encoder,
    /// The decoder looks at what it has read.
    Decoder,
}

impl AttentionKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cross => "cross",
            Self::Pooling => "pooling",
            Self::Encoder => "encoder",
            Self::Decoder => "decoder",
        }
    }
}

impl Plan {
    /// The attentions of such a model; none where nothing can be looked at.
    pub fn attentions(&self) -> Vec<AttentionKind> {
        let writes = matches!(self.decoder(), Some(DecoderConfig::Transformer(_)));
        let reads = matches!(
            self.encoder(),
            Some(EncoderConfig::Transformer(_) | EncoderConfig::Vit(_) | EncoderConfig::SoundTransformer(_))
        );
        let crosses = writes && matches!(self.reader, Reader::Encoder(_));
        let pools = matches!(&self.writer, Writer::Head(_, head) if head.pooling == Some(Pooling::Attention));
        let all = [
            (AttentionKind::Cross, crosses || self.attention.is_some()),
            (AttentionKind::Pooling, pools),
            (AttentionKind::Encoder, reads),
            (AttentionKind::Decoder, writes),
        ];
        all.into_iter().filter(|(_, has)| *has).map(|(kind, _)| kind).collect()
    }
}

/// A row per token that looks, a weight per token that is looked at.
pub type Matrix = Vec<Vec<f32>>;

/// One attention of a model at work on one sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// Which one.
    pub kind: AttentionKind,
    /// What looks, a row each; for the decoder that is what it wrote then.
    pub queries: Vec<Piece>,
    /// What is looked at, a column each.
    pub keys: Vec<Piece>,
    /// The weights of every head of every layer; outside of Transformers there is one of one.
    pub layers: Vec<Vec<Matrix>>,
}

/// The weights of a layer for a batch, as plain numbers.
struct Layer {
    weights: Vec<f32>,
    /// B, H, T and S.
    shape: [usize; 4],
}

impl Layer {
    fn new(weights: Tensor<4>) -> Self {
        let shape = weights.dims();
        Self { weights: weights.try_into_vec_as::<f32>().unwrap_or_default(), shape }
    }

    /// The first `rows` of each head for sentence `b`, and there `columns` from `first` on.
    fn heads(&self, b: usize, rows: usize, first: usize, columns: usize) -> Vec<Matrix> {
        let [_, heads, time, width] = self.shape;
        let row = |head: usize, t: usize| {
            self.weights[((b * heads + head) * time + t) * width + first..][..columns].to_vec()
        };
        (0..heads).map(|head| (0..rows).map(|t| row(head, t)).collect()).collect()
    }
}

/// The attentions of a batch.
pub(super) struct Heads {
    cross: Vec<Layer>,
    pooling: Vec<Layer>,
    encoder: Vec<Layer>,
    decoder: Vec<Layer>,
    /// How many source positions of each sentence exist.
    lengths: Vec<usize>,
    /// What a head told of each sentence that it looked at.
    answers: Vec<String>,
    /// What the decoder reads first.
    first: u32,
    /// Columns of a source that the decoder read as the beginning of what it writes.
    prefix: Option<usize>,
}

impl Heads {
    /// Collects what a pass over sources left, padded to `width` tokens, and over targets if there is a decoder.
    pub(super) fn new(
        saved: &Saved,
        width: usize,
        memory: Option<&Memory>,
        forward: Option<&Forward>,
    ) -> Self {
        let layers = |layers: &[Tensor<4>]| layers.iter().cloned().map(Layer::new).collect::<Vec<_>>();
        let (mut decoder, mut cross) = (Vec::new(), Vec::new());
        if let Some(forward) = forward {
            (decoder, cross) = (layers(&forward.heads), layers(&forward.cross_heads));
            if let (true, Some(Alignment { weights, .. })) = (cross.is_empty(), &forward.alignment) {
                cross.push(Layer::new(weights.clone().unsqueeze_dim(1))); // [B, 1, T, S]
            }
        }
        let pools = saved.plan.attentions().contains(&AttentionKind::Pooling);
        let told = memory.filter(|_| pools).and_then(|memory| saved.model.tell(memory, &mut Noise::none()));
        let (answers, weights) = told.map(|told| (best_labels(saved, told.logits), told.weights)).unzip();
        let pooling = weights.flatten().map(|weights| {
            Layer::new(weights.unsqueeze_dim::<3>(1).unsqueeze_dim(1)) // [B, 1, 1, S]
        });
        let single = memory.is_some_and(|memory| memory.prefix.is_some());
        // What a single network saw while it read is the beginning of what it sees while it writes.
        let encoder = memory.filter(|_| !single).map(|memory| layers(&memory.heads));
        Self {
            cross,
            pooling: pooling.into_iter().collect(),
            encoder: encoder.unwrap_or_default(),
            decoder,
            answers: answers.unwrap_or_default(),
            lengths: memory.map(|memory| memory.lengths.clone()).unwrap_or_default(),
            first: saved.model.first_token(),
            prefix: single.then_some(width),
        }
    }

    /// The attentions of sentence `b`, whose tokens are these, without their ends.
    pub(super) fn attentions(
        &self,
        b: usize,
        saved: &Saved,
        source: &[u32],
        target: &[u32],
    ) -> Vec<Attention> {
        let read = self.read(b, saved, source);
        let written = pieces(&saved.tokens.target, target);
        let (inputs, first) = self.inputs(b, saved, source, &written);
        let answer =
            Piece { text: self.answers.get(b).cloned().unwrap_or_default(), word: Some(0), id: None };
        let parts = [
            (AttentionKind::Cross, &self.cross, &written, &read, 0),
            (AttentionKind::Pooling, &self.pooling, &vec![answer], &read, 0),
            (AttentionKind::Encoder, &self.encoder, &read, &read, 0),
            (AttentionKind::Decoder, &self.decoder, &written, &inputs, first),
        ];
        let attention =
            |(kind, layers, queries, keys, first): (_, &Vec<Layer>, &Vec<Piece>, &Vec<Piece>, _)| {
                let layers: Vec<_> =
                    layers.iter().map(|layer| layer.heads(b, queries.len(), first, keys.len())).collect();
                (!layers.is_empty()).then(|| Attention {
                    kind,
                    queries: queries.clone(),
                    keys: keys.clone(),
                    layers,
                })
            };
        parts.into_iter().filter_map(attention).collect()
    }

    /// What an encoder read: the source with its end, behind a start where there is one.
    fn read(&self, b: usize, saved: &Saved, source: &[u32]) -> Vec<Piece> {
        let mut read = pieces(&saved.tokens.source, source);
        if saved.task == Task::MaskedLanguageModel {
            for (at, piece) in read.iter_mut().enumerate().filter(|(at, _)| source.get(*at) == Some(&MASK)) {
                // A word of its own, whatever its number.
                *piece = Piece { text: MASK_WORD.to_owned(), word: Some(usize::MAX - at), id: Some(MASK) };
            }
        }
        if self.lengths.get(b).is_some_and(|&length| length > read.len()) {
            read.insert(0, special(&saved.tokens.source, START));
        }
        read
    }

    /// What the decoder read, and the column of its weights where that begins: in a single network the
    /// source stands before it, and rows end together.
    fn inputs(&self, b: usize, saved: &Saved, source: &[u32], written: &[Piece]) -> (Vec<Piece>, usize) {
        let mut inputs = vec![special(&saved.tokens.target, self.first)];
        inputs.extend_from_slice(&written[..written.len() - 1]);
        let Some(width) = self.prefix else { return (inputs, 0) };
        let mut before = pieces(&saved.tokens.source, source);
        before.pop(); // it ends with the separator
        let words = before.iter().filter_map(|piece| piece.word).max().map_or(0, |last| last + 1);
        for word in inputs.iter_mut().filter_map(|piece| piece.word.as_mut()) {
            *word += words;
        }
        before.extend(inputs);
        (before, width - self.lengths[b])
    }
}

/// The most probable label of each sentence, by scores [B, labels].
fn best_labels(saved: &Saved, logits: Tensor<2>) -> Vec<String> {
    let best = logits.argmax(1).try_into_vec_as::<i64>().unwrap_or_default();
    let name = |id: i64| saved.labels.as_ref().and_then(|labels| labels.name(id as u32));
    best.into_iter().map(|id| name(id).unwrap_or_default().to_owned()).collect()
}

fn special(tokenizer: &Tokenizer, token: u32) -> Piece {
    Piece { text: tokenizer.token(token).to_owned(), word: None, id: Some(token) }
}
