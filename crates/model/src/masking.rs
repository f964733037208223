//! What a model does without some of its heads.
//!
//! The heads of an attention stand side by side and go through one map: y = [c_1, …, c_H] W_o + b. One that is masked
//! gives c_h = 0 wherever it looks; of an attention whose heads are all masked only b is left. Where heads look can be
//! seen as before.

use crate::config::{DecoderConfig, EncoderConfig, Plan, Reader};
use crate::error::ModelError;
use crate::saved::Saved;
use crate::trace::AttentionKind;
use std::fmt;
use std::str::FromStr;

/// A head of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeadPlace {
    /// The attention that it belongs to.
    pub attention: AttentionKind,
    /// Its layer, from 1.
    pub layer: usize,
    /// Its number in the layer, from 1.
    pub head: usize,
}

/// The heads of an attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadCount {
    /// The attention.
    pub attention: AttentionKind,
    /// Its layers.
    pub layers: usize,
    /// The heads of each layer.
    pub heads: usize,
}

impl fmt::Display for HeadPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.attention.name(), self.layer, self.head)
    }
}

/// `cross:2:3` is the third head of the second layer.
impl FromStr for HeadPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let kinds = [AttentionKind::Cross, AttentionKind::Encoder, AttentionKind::Decoder];
        let number = |part: &str| part.parse().ok().filter(|&number: &usize| number > 0);
        let parts: Vec<&str> = text.split(':').collect();
        let found = match parts[..] {
            [name, layer, head] => kinds
                .into_iter()
                .find(|kind| kind.name() == name)
                .zip(number(layer).zip(number(head)))
                .map(|(attention, (layer, head))| Self { attention, layer, head }),
            _ => None,
        };
        found.ok_or_else(|| {
            "write ATTENTION:LAYER:HEAD, both counted from 1, with cross, encoder or decoder, such as cross:1:2"
                .to_owned()
        })
    }
}

impl Plan {
    /// The heads that can be masked; none of a model without layers of self-attention.
    pub fn heads(&self) -> Vec<HeadCount> {
        let encoder = match self.encoder() {
            Some(EncoderConfig::Transformer(settings)) => Some((settings.layers, settings.heads)),
            Some(EncoderConfig::Vit(settings)) => Some((settings.layers, settings.heads)),
            Some(EncoderConfig::SoundTransformer(settings)) => Some((settings.layers, settings.heads)),
            _ => None,
        };
        let decoder = match self.decoder() {
            Some(DecoderConfig::Transformer(settings)) => Some((settings.layers, settings.heads)),
            _ => None,
        };
        let crosses = decoder.filter(|_| matches!(self.reader, Reader::Encoder(_)));
        let all = [
            (AttentionKind::Cross, crosses),
            (AttentionKind::Encoder, encoder),
            (AttentionKind::Decoder, decoder),
        ];
        let count = |(attention, sizes): (_, Option<(usize, usize)>)| {
            sizes.map(|(layers, heads)| HeadCount { attention, layers, heads })
        };
        all.into_iter().filter_map(count).collect()
    }
}

impl Saved {
    /// The same model with some heads masked. It shares the weights of this one, whatever their precision.
    ///
    /// # Errors
    /// If there is no such head.
    pub fn masked(&self, heads: &[HeadPlace]) -> Result<Self, ModelError> {
        let mut model = self.model.clone();
        if let Some(&head) = heads.iter().find(|&&head| !model.mask(head)) {
            return Err(ModelError::NoHead { head, known: self.known_heads() });
        }
        Ok(Self {
            task: self.task,
            plan: self.plan.clone(),
            model,
            tokens: self.tokens.clone(),
            labels: self.labels.clone(),
            search: self.search.clone(),
            statistics: self.statistics.clone(),
            shortlist: self.shortlist.clone(),
        })
    }

    /// The heads that there are, in words.
    fn known_heads(&self) -> String {
        let known: Vec<String> = self
            .plan
            .heads()
            .iter()
            .map(|HeadCount { attention, layers, heads }| {
                format!("{} has {layers} layers of {heads} heads", attention.name())
            })
            .collect();
        match known.is_empty() {
            true => "the model has none".to_owned(),
            false => known.join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_and_read() {
        let place = HeadPlace { attention: AttentionKind::Cross, layer: 2, head: 3 };
        assert_eq!("cross:2:3".parse(), Ok(place));
        assert_eq!(place.to_string().parse(), Ok(place));
        for bad in
            ["", "cross", "cross:1", "cross:0:1", "cross:1:0", "pooling:1:1", "cross:1:1:1", "cross:-1:1"]
        {
            assert!(bad.parse::<HeadPlace>().is_err(), "{bad}");
        }
    }
}
