//! Which settings belong to which task.

use super::{Config, Figure};
use gatto_data::DataSource;
use gatto_data::TokensConfig;
use gatto_data::builtin::melodies::Melodies;
use gatto_data::builtin::shapes::{Asked, Shapes, ShapesError};
use gatto_data::builtin::{Builtin, SHAPES};
use gatto_data::images::Augmentation;
use gatto_model::Task;
use gatto_model::config::{Complaint, Plan};
use std::path::Path;

impl Config {
    /// Refuses settings that belong to another task.
    pub(super) fn check_task(&self) -> Result<(), Complaint> {
        let refuse = |key: &str, message: &str| Err(Complaint::new(key, message));
        if !self.task.writes_of_sources() {
            if self.train.best_by == Figure::ExactMatch {
                let message =
                    format!("is \"exact-match\", which `task = \"{}\"` has not; write \"loss\"", self.task);
                return refuse("train.best_by", &message);
            }
            if self.train.sampling.is_some() {
                let message = "is for translators, whose output depends on a source; remove it";
                return refuse("train.sampling", message);
            }
        }
        if matches!(self.task, Task::LanguageModel | Task::Caption | Task::Transcribe)
            && let Some(key) = self.search.of_sources()
        {
            let message = "is for translators, whose sources are texts; remove it";
            return refuse(&format!("search.{key}"), message);
        }
        if self.train.captions > 64 || (self.train.captions > 1 && self.task != Task::Caption) {
            let message = "is how many captions of an image are learnt from together, for `task = \"caption\"`; write 1 to 64";
            return refuse("train.captions", message);
        }
        if self.train.masking.is_some() && self.task != Task::MaskedLanguageModel {
            let message =
                "is for `task = \"masked-language-model\"`, which finds hidden tokens again; remove it";
            return refuse("train.masking", message);
        }
        if self.train.hardest.is_some() && self.task == Task::MaskedLanguageModel {
            let message = "asks twice about a text, and other tokens are hidden each time; remove it";
            return refuse("train.hardest", message);
        }
        if !self.task.writes() || matches!(self.task, Task::Caption | Task::Transcribe) {
            for (key, given) in
                [("tokens.source", &self.tokens.source), ("tokens.target", &self.tokens.target)]
            {
                if given.is_some() {
                    return refuse(
                        key,
                        "is for two sides, and this task reads one text; write its keys under [tokens]",
                    );
                }
            }
        }
        match self.task {
            Task::Translate => {
                let remedy = "is text of one side, and a translator needs two; write { source = \"…\", target = \"…\" }, \
                              or `task = \"language-model\"`";
                self.refuse_text(remedy)?;
                self.refuse_side("is for language models, and a translator reads both sides; remove it")
            }
            Task::Classify | Task::Label => {
                let remedy = "is text without labels, and this task needs them; write { tsv = \"…\" }, a text and its \
                              labels in two columns, or { source = \"…\", target = \"…\" }";
                self.refuse_text(remedy)?;
                self.refuse_side("is for language models, and this task reads texts and labels; remove it")?;
                if self.data.builtin.as_deref() == Some(SHAPES) { Ok(()) } else { self.check_builtin() }
            }
            Task::Caption | Task::Transcribe => self.refuse_side("is for language models; remove it"),
            _ => Ok(()),
        }
    }

    /// Refuses images where texts are to be read, texts where images are, and scenes that cannot be drawn.
    pub(super) fn check_images(&self, plan: &Plan) -> Result<(), Complaint> {
        let refuse = |key: &str, message: String| Err(Complaint::new(key, message));
        let Ok(source) = self.data.resolve(Path::new("")) else { return Ok(()) };
        let key = if self.data.builtin.is_some() { "data.builtin" } else { "data.train" };
        let Some(images) = &plan.images else {
            return match source.has_images() && plan.sound.is_none() {
                true => refuse(
                    key,
                    "has images, and the encoder reads tokens; write [encoder.cnn] or [encoder.vit]".into(),
                ),
                false => Ok(()),
            };
        };
        if !source.has_images() {
            return refuse(
                key,
                "has texts, and the encoder reads images; write `builtin = \"shapes\"`, { images = \"…\", tsv = \"…\" } \
                 or { idx = [\"…\", \"…\"] }"
                    .into(),
            );
        }
        if !plan.has_texts() && self.tokens != TokensConfig::default() {
            return refuse("tokens", "is for texts, and here images get labels; remove it".into());
        }
        if self.data.captions.is_some() && self.task != Task::Caption {
            return refuse("data.captions", "is for `task = \"caption\"`; remove it".into());
        }
        if self.train.batch_tokens.is_some() {
            return refuse(
                "train.batch_tokens",
                "counts tokens, and images have none; write `batch_examples = 64`".into(),
            );
        }
        if self.train.thinning.is_some() {
            return refuse(
                "train.thinning",
                "goes by the tokens of texts, and images have none; remove it".into(),
            );
        }
        if let DataSource::Shapes { asked, captions, .. } = source {
            if images.height != images.width {
                return refuse(
                    "images.height",
                    "differs from `width`, and scenes are square; write the same".into(),
                );
            }
            if (self.task == Task::Caption) && asked.is_some() {
                return refuse(
                    "data.asked",
                    "is for `task = \"classify\"`, whose answer is a label; remove it".into(),
                );
            }
            let Augmentation { flip, crop, stretch, .. } = images.augmentation;
            let captioned = self.task == Task::Caption;
            let moved = [("flip", captioned && flip > 0.0), ("crop", crop < 1.0), ("stretch", stretch > 1.0)];
            if let Some((key, _)) = moved.iter().find(|(_, given)| *given) {
                let message = "changes what is left of what, what is largest and what is there, and that is what is asked \
                               about scenes; remove it";
                return refuse(&format!("images.augmentation.{key}"), message.into());
            }
            Shapes::new(images.height, Asked::Captions(captions)).map_err(|error| match error {
                ShapesError::Captions { .. } => Complaint::new("data.captions", error.to_string()),
                _ => Complaint::new("images.height", error.to_string()),
            })?;
        }
        Ok(())
    }

    /// Refuses texts and images where sounds are to be read.
    pub(super) fn check_sounds(&self, plan: &Plan) -> Result<(), Complaint> {
        let refuse = |key: &str, message: &str| Err(Complaint::new(key, message));
        let Ok(source) = self.data.resolve(Path::new("")) else { return Ok(()) };
        let key = if self.data.builtin.is_some() { "data.builtin" } else { "data.train" };
        let Some(sound) = &plan.sound else {
            let given = [
                ("train.batch_frames", self.train.batch_frames.is_some()),
                ("train.max_seconds", self.train.max_seconds.is_some()),
            ];
            return match given.into_iter().find(|(_, given)| *given) {
                _ if source.has_sounds() => refuse(
                    key,
                    "has sounds, and the encoder reads none; write `task = \"transcribe\"` and [encoder.listener]",
                ),
                Some((key, _)) => refuse(key, "is for sounds, and there are none; remove it"),
                None => Ok(()),
            };
        };
        if !source.has_sounds() {
            return refuse(
                key,
                "has no sounds, and the encoder reads sounds; write `builtin = \"melodies\"` or \
                 { sounds = \"…\", tsv = \"…\" }",
            );
        }
        if self.train.batch_tokens.is_some() {
            return refuse(
                "train.batch_tokens",
                "counts tokens, and what is long here are sounds; write `batch_frames = 20000`",
            );
        }
        if self.train.thinning.is_some() {
            return refuse("train.thinning", "goes by the tokens of texts, and sounds have none; remove it");
        }
        if let DataSource::Melodies { notes, .. } = source {
            let task =
                Melodies::new(sound.rate).map_err(|error| Complaint::new("sound.rate", error.to_string()))?;
            if let Some(notes) = notes {
                task.with_notes(notes)
                    .map_err(|error| Complaint::new("data.max_length", error.to_string()))?;
            }
        }
        Ok(())
    }

    fn refuse_text(&self, remedy: &str) -> Result<(), Complaint> {
        let parts = [("train", &self.data.train), ("valid", &self.data.valid), ("test", &self.data.test)];
        let text = parts.iter().find(|(_, files)| files.as_ref().is_some_and(|files| files.text.is_some()));
        text.map_or(Ok(()), |(part, _)| Err(Complaint::new(format!("data.{part}"), remedy)))
    }

    fn refuse_side(&self, remedy: &str) -> Result<(), Complaint> {
        self.data.side.map_or(Ok(()), |_| Err(Complaint::new("data.side", remedy)))
    }

    /// Of the built-in tasks, those over symbols have a label for every word.
    fn check_builtin(&self) -> Result<(), Complaint> {
        let Ok(DataSource::Builtin { task, .. }) = self.data.resolve(Path::new("")) else { return Ok(()) };
        let message = match (self.task, task) {
            (Task::Label, Builtin::Symbols(_)) => return Ok(()),
            (Task::Label, _) => {
                "has no label for every word; write \"copy\", \"reverse\" or \"sort\", or `train = { tsv = \"…\" }`"
            }
            _ => "has no labels; write `train = { tsv = \"…\" }`, a text and its label in two columns",
        };
        Err(Complaint::new("data.builtin", message))
    }
}
