//! Which models can hear.

use super::{Complaint, ModelConfig, Plan, Reader};
use crate::config::{AlignedKind, Task};
use gatto_data::{DataError, sound};
use gatto_search::SearchConfig;

impl Plan {
    /// Refuses a search that asks what the model cannot tell.
    pub fn check_search(&self, search: &SearchConfig) -> Result<(), Complaint> {
        match search.ctc > 0.0 && self.ctc.is_none() {
            true => {
                let message =
                    "is for models with [ctc], whose encoder tells tokens by itself; remove it, or add [ctc]";
                Err(Complaint::new("search.ctc", message))
            }
            false => Ok(()),
        }
    }
}

impl ModelConfig {
    /// Refuses sounds where nothing reads them, and anything else where sounds are to be read.
    pub(super) fn check_sounds(&self, reader: &Reader) -> Result<Option<sound::Preparation>, Complaint> {
        let encoder = match reader {
            Reader::Encoder(encoder) => Some(encoder),
            _ => None,
        };
        let Some(encoder) = encoder.filter(|encoder| encoder.reads_sounds()) else {
            let wrong = |key: &str, message: &str| Err(Complaint::new(key, message));
            if self.ctc.is_some() {
                return wrong(
                    "ctc",
                    "is for encoders of sounds, which tell a text state by state; remove it",
                );
            }
            return match (self.sound, self.task == Task::Transcribe) {
                (_, true) => wrong(
                    "encoder",
                    "reads no sounds, and that is what is transcribed; write [encoder.listener] or [encoder.sound-transformer]",
                ),
                (Some(_), _) => {
                    wrong("sound", "is for encoders of sounds; remove it, or write [encoder.listener]")
                }
                (None, _) => Ok(None),
            };
        };
        let name = encoder.parts().0;
        if self.task != Task::Transcribe {
            let message = format!(
                "reads sounds, which `task = \"{}\"` has not; write `task = \"transcribe\"`",
                self.task
            );
            return Err(Complaint::new(format!("encoder.{name}"), message));
        }
        self.refuse_sharing_of_sides("needs a source of tokens, and this one is a sound; remove it")?;
        if let Some(attention) = &self.attention
            && attention.aligned == Some(AlignedKind::Monotone)
        {
            let message = "is \"monotone\", which goes one state further with every token, and a sound has many more \
                           states than its text has tokens; write \"advancing\" or \"predicted\"";
            return Err(Complaint::new("attention.aligned", message));
        }
        if let Some(attention) = &self.attention
            && attention.score.has_positions()
        {
            let message = "is \"location\", which has a score for each place of a text; write \"additive\"";
            return Err(Complaint::new("attention.score", message));
        }
        if let Some(ctc) = &self.ctc {
            ctc.check()?;
        }
        Ok(Some(self.hearing()?))
    }

    /// How sounds become what is read; refuses what makes no sense whatever reads them.
    pub(super) fn hearing(&self) -> Result<sound::Preparation, Complaint> {
        let sound = self.sound.unwrap_or_default();
        sound.validate().map_err(|error| match error {
            DataError::Config { key, problem } => Complaint::new(format!("sound.{key}"), problem),
            other => Complaint::new("sound", other.to_string()),
        })?;
        Ok(sound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{
        AttentionConfig, ConvolutionConfig, CtcConfig, DecoderConfig, EncoderConfig, FocusKind,
        ListenerConfig, SharingConfig, SoundTransformerConfig,
    };
    use gatto_data::sound::{Augmentation, LogMel, Preparation};
    use gatto_nn::attention::ScoreKind;
    use gatto_nn::positions::PositionKind;

    fn hearing() -> ModelConfig {
        ModelConfig {
            encoder: Some(EncoderConfig::Listener(ListenerConfig::default())),
            decoder: Some(DecoderConfig::Lstm(Default::default())),
            attention: Some(AttentionConfig::default()),
            ctc: Some(CtcConfig::default()),
            ..ModelConfig::new(Task::Transcribe)
        }
    }

    fn listening(settings: ListenerConfig) -> ModelConfig {
        ModelConfig { encoder: Some(EncoderConfig::Listener(settings)), ..hearing() }
    }

    fn transforming(settings: SoundTransformerConfig) -> ModelConfig {
        ModelConfig { encoder: Some(EncoderConfig::SoundTransformer(settings)), ..hearing() }
    }

    fn looking(attention: AttentionConfig) -> ModelConfig {
        ModelConfig { attention: Some(attention), ..hearing() }
    }

    fn prepared(sound: Preparation) -> ModelConfig {
        ModelConfig { sound: Some(sound), ..hearing() }
    }

    #[test]
    fn models_that_make_sense_have_a_plan() {
        let plan = hearing().plan(false).unwrap();
        assert_eq!(
            (plan.frames_per_state(), plan.sources(), plan.most_frames()),
            (Some(4), "sounds", 60_000)
        );
        let plan = transforming(SoundTransformerConfig::default()).plan(false).unwrap();
        assert_eq!((plan.frames_per_state(), plan.most_frames()), (Some(4), 13_376));
        assert_eq!((plan.most_sounds(13_376), plan.most_sounds(400)), (1, 1118));
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_its_key() {
        let tokens = Some(EncoderConfig::Lstm(Default::default()));
        let none = AttentionConfig::default;
        let convolution = |width| Some(ConvolutionConfig { channels: 2, width });
        let bands = |bands| LogMel { bands, ..LogMel::default() };
        let cases = [
            ("encoder", ModelConfig { encoder: None, ..hearing() }),
            ("encoder", ModelConfig { encoder: tokens.clone(), ctc: None, ..hearing() }),
            ("ctc", ModelConfig { encoder: tokens.clone(), ..hearing() }),
            (
                "sound",
                ModelConfig {
                    encoder: tokens,
                    ctc: None,
                    task: Task::Translate,
                    ..prepared(Preparation::default())
                },
            ),
            ("encoder.listener", ModelConfig { task: Task::Translate, ..hearing() }),
            ("ctc.weight", ModelConfig { ctc: Some(CtcConfig { weight: 1.0 }), ..hearing() }),
            ("ctc.weight", ModelConfig { ctc: Some(CtcConfig { weight: f64::NAN }), ..hearing() }),
            ("encoder.listener.width", listening(ListenerConfig { width: 0, ..Default::default() })),
            ("encoder.listener.layers", listening(ListenerConfig { layers: 65, ..Default::default() })),
            ("encoder.listener.pyramid", listening(ListenerConfig { pyramid: 4, ..Default::default() })),
            (
                "encoder.listener.pyramid",
                listening(ListenerConfig {
                    convolutions: vec![1; 4],
                    layers: 9,
                    pyramid: 5,
                    ..Default::default()
                }),
            ),
            (
                "encoder.listener.convolutions",
                listening(ListenerConfig { convolutions: vec![1; 5], ..Default::default() }),
            ),
            (
                "encoder.listener.convolutions",
                ModelConfig {
                    sound: Some(Preparation { features: bands(3), ..Default::default() }),
                    ..listening(ListenerConfig { convolutions: vec![1, 1], ..Default::default() })
                },
            ),
            ("encoder.listener.dropout", listening(ListenerConfig { dropout: 1.0, ..Default::default() })),
            (
                "encoder.listener.width",
                listening(ListenerConfig { width: 16_384, layers: 64, pyramid: 0, ..Default::default() }),
            ),
            (
                "encoder.sound-transformer.positions",
                transforming(SoundTransformerConfig {
                    positions: PositionKind::Learned,
                    ..Default::default()
                }),
            ),
            (
                "encoder.sound-transformer.width",
                transforming(SoundTransformerConfig { width: 255, ..Default::default() }),
            ),
            ("attention.score", looking(AttentionConfig { score: ScoreKind::Location, ..none() })),
            (
                "attention.aligned",
                looking(AttentionConfig {
                    focus: FocusKind::Local,
                    aligned: Some(AlignedKind::Monotone),
                    ..none()
                }),
            ),
            (
                "attention.convolution",
                looking(AttentionConfig { score: ScoreKind::Dot, convolution: convolution(3), ..none() }),
            ),
            (
                "attention.convolution.width",
                looking(AttentionConfig { convolution: convolution(4), ..none() }),
            ),
            (
                "sharing.embeddings",
                ModelConfig {
                    sharing: SharingConfig { embeddings: true, ..Default::default() },
                    ..hearing()
                },
            ),
            ("sound.features.bands", prepared(Preparation { features: bands(0), ..Default::default() })),
            ("sound.deltas", prepared(Preparation { deltas: 3, ..Default::default() })),
            (
                "sound.augmentation.speed",
                prepared(Preparation {
                    augmentation: Augmentation { speed: 99, ..Default::default() },
                    ..Default::default()
                }),
            ),
        ];
        for (key, config) in cases {
            let complaint = config.plan(true).expect_err(key);
            assert_eq!(complaint.key, key, "{}", complaint.message);
        }
    }

    #[test]
    fn a_search_by_states_needs_states_that_tell() {
        let search = SearchConfig { ctc: 0.3, ..Default::default() };
        assert!(hearing().plan(false).unwrap().check_search(&search).is_ok());
        let plan = ModelConfig { ctc: None, ..hearing() }.plan(false).unwrap();
        assert_eq!(plan.check_search(&search).unwrap_err().key, "search.ctc");
        assert!(plan.check_search(&SearchConfig::default()).is_ok());
    }
}
