//! The list of models, tiny ones, and the sentences that they are tried on.

use crate::{heads, images, sounds, transformers};
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use gatto_data::tokens::END;
use gatto_data::{Padded, Sources};
use gatto_model::config::{
    AlignedKind, BaselineKind, ConvolutionConfig, FeedKind, FocusKind, Plan, QueryKind,
    RecurrentDecoderConfig, RecurrentEncoderConfig, SingleRecurrentConfig, TransformerConfig, Writer,
};
use gatto_model::weights::{self, Weights};
use gatto_model::{
    AttentionConfig, BridgeKind, DecoderConfig, EncoderConfig, Model, ModelConfig, SharingConfig,
    SingleConfig, Task, Vocabularies,
};
use gatto_nn::attention::ScoreKind;
use gatto_nn::{Activation, Initial, Noise};
use std::ops::Range;
use std::path::Path;

/// A model to be tried.
pub(crate) struct Variant {
    pub(crate) name: String,
    pub(crate) plan: Plan,
    pub(crate) vocabularies: Vocabularies,
}

type Settings = RecurrentEncoderConfig;
type Writing = RecurrentDecoderConfig;

const CELLS: [&str; 3] = ["rnn", "lstm", "gru"];

pub(crate) fn reading() -> Settings {
    Settings { width: 4, embedding: Some(3), ..Default::default() }
}

pub(crate) fn writing() -> Writing {
    Writing { width: 4, embedding: Some(3), ..Default::default() }
}

pub(crate) fn encoder(cell: &str, settings: Settings) -> EncoderConfig {
    match cell {
        "rnn" => EncoderConfig::Rnn(settings),
        "lstm" => EncoderConfig::Lstm(settings),
        _ => EncoderConfig::Gru(settings),
    }
}

pub(crate) fn decoder(cell: &str, settings: Writing) -> DecoderConfig {
    match cell {
        "rnn" => DecoderConfig::Rnn(settings),
        "lstm" => DecoderConfig::Lstm(settings),
        _ => DecoderConfig::Gru(settings),
    }
}

fn single(cell: &str, settings: SingleRecurrentConfig) -> SingleConfig {
    match cell {
        "rnn" => SingleConfig::Rnn(settings),
        "lstm" => SingleConfig::Lstm(settings),
        _ => SingleConfig::Gru(settings),
    }
}

pub(crate) fn variant(name: String, one_vocabulary: bool, config: ModelConfig) -> Variant {
    let plan = config.plan(one_vocabulary).unwrap_or_else(|complaint| panic!("{name}: {complaint:?}"));
    let source = if one_vocabulary { 10 } else { 12 };
    Variant { name, plan, vocabularies: Vocabularies { source, target: 10 } }
}

pub(crate) fn pair(name: String, encoder: EncoderConfig, decoder: DecoderConfig) -> Variant {
    sharing(name, encoder, decoder, SharingConfig::default())
}

pub(crate) fn sharing(
    name: String,
    encoder: EncoderConfig,
    decoder: DecoderConfig,
    sharing: SharingConfig,
) -> Variant {
    let one_vocabulary = sharing.embeddings || sharing.source_output;
    let config = ModelConfig {
        encoder: Some(encoder),
        decoder: Some(decoder),
        sharing,
        ..ModelConfig::new(Task::Translate)
    };
    variant(name, one_vocabulary, config)
}

/// Every model.
pub(crate) fn all() -> Vec<Variant> {
    let mut found = Vec::new();
    for cell in CELLS {
        found.extend(pairs_of(cell));
        found.extend(shared_of(cell));
        found.extend(alone(cell));
    }
    found.extend(mixed());
    found.extend(attending());
    found.extend(transformers::all());
    found.extend(heads::all());
    found.extend(images::all());
    found.extend(sounds::all());
    found
}

/// Every model that writes its answer, token by token.
pub(crate) fn writers() -> Vec<Variant> {
    all().into_iter().filter(|variant| variant.head().is_none()).collect()
}

/// Every score × focus × query × cell, and each of the other choices once per query.
fn attending() -> Vec<Variant> {
    let mut found = Vec::new();
    for query in [QueryKind::Previous, QueryKind::Current] {
        for cell in CELLS {
            for score in ScoreKind::ALL {
                for focus in focuses() {
                    found.push(looking(cell, AttentionConfig { score, query, ..focus }));
                }
            }
        }
        let soft = AttentionConfig { query, ..Default::default() };
        for score in ScoreKind::ALL {
            found.push(looking("gru", AttentionConfig { score, coverage: true, ..soft.clone() }));
        }
        for focus in focuses() {
            let settings = AttentionConfig { query, feed: FeedKind::Attentional, coverage: true, ..focus };
            found.push(looking("lstm", settings));
        }
        found.push(looking("lstm", AttentionConfig { feed: FeedKind::Attentional, ..soft.clone() }));
        for focus in focuses() {
            let (gated, deep) = (AttentionConfig { query, gate: true, ..focus.clone() }, focus);
            found.push(looking("gru", gated.clone()));
            found.push(looking("rnn", AttentionConfig { query, deep_output: true, ..deep }));
            let settings =
                AttentionConfig { deep_output: true, feed: FeedKind::Attentional, coverage: true, ..gated };
            found.push(looking("lstm", settings));
        }
        found.push(looking("rnn", AttentionConfig { query, ..local(AlignedKind::Predicted, NARROW) }));
        found.push(looking("gru", AttentionConfig { query, ..local(AlignedKind::Advancing, NARROW) }));
        found.push(looking("rnn", AttentionConfig { query, ..local(AlignedKind::Advancing, WIDE) }));
        let convolution = Some(ConvolutionConfig { channels: 2, width: 3 });
        for cell in CELLS {
            found.push(looking(cell, AttentionConfig { convolution, ..soft.clone() }));
        }
        found.push(looking(
            "lstm",
            AttentionConfig { convolution, coverage: true, gate: true, ..soft.clone() },
        ));
        let drawn = AttentionConfig { prediction_seed: Some(5), focus: FocusKind::Hard, ..soft.clone() };
        found.push(looking("gru", drawn.clone()));
        found.push(looking("gru", AttentionConfig { baseline: Some(BaselineKind::Learned), ..drawn }));
        for bridge in [BridgeKind::AttentionOnly, BridgeKind::Both] {
            let reading = Settings { bidirectional: true, ..reading() };
            let writing = Writing { layers: 2, bridge: Some(bridge), ..writing() };
            let attention = AttentionConfig { feed: FeedKind::Attentional, width: Some(3), ..soft.clone() };
            let name = format!("two layers, {bridge:?}, both directions, {:?}", attention.query);
            found.push(attended(name, encoder("lstm", reading), decoder("gru", writing), attention));
        }
        // Equal widths: the inner products need no parameters.
        for score in [ScoreKind::Dot, ScoreKind::ScaledDot, ScoreKind::Cosine] {
            let name = format!("equal widths, {score:?}, {query:?}");
            let attention = AttentionConfig { score, ..soft.clone() };
            found.push(attended(name, encoder("gru", reading()), decoder("gru", writing()), attention));
        }
    }
    for cell in CELLS {
        for focus in focuses() {
            let plain = AttentionConfig { feed: FeedKind::Context, ..focus };
            found.push(looking(cell, AttentionConfig { gate: true, deep_output: true, ..plain.clone() }));
            found.push(looking(cell, plain));
        }
    }
    found
}

/// A window that leaves positions out, and one that holds them all.
const NARROW: usize = 2;
const WIDE: usize = 9;

fn local(aligned: AlignedKind, window: usize) -> AttentionConfig {
    AttentionConfig {
        focus: FocusKind::Local,
        window: Some(window),
        aligned: Some(aligned),
        ..Default::default()
    }
}

fn focuses() -> [AttentionConfig; 4] {
    [
        AttentionConfig::default(),
        AttentionConfig { focus: FocusKind::Hard, ..Default::default() },
        local(AlignedKind::Monotone, NARROW),
        local(AlignedKind::Predicted, WIDE),
    ]
}

/// One cell on both sides, with states wider than queries.
fn looking(cell: &str, attention: AttentionConfig) -> Variant {
    let max_positions = (attention.score == ScoreKind::Location).then_some(12);
    let attention = AttentionConfig { max_positions, ..attention };
    let name = format!("{cell}, {attention:?}");
    let reading = Settings { width: 5, ..reading() };
    attended(name, encoder(cell, reading), decoder(cell, writing()), attention)
}

pub(crate) fn attended(
    name: String,
    encoder: EncoderConfig,
    decoder: DecoderConfig,
    attention: AttentionConfig,
) -> Variant {
    let config = ModelConfig {
        encoder: Some(encoder),
        decoder: Some(decoder),
        attention: Some(attention),
        ..ModelConfig::new(Task::Translate)
    };
    variant(name, false, config)
}

/// Encoder and decoder of one cell: every bridge, every way to read.
fn pairs_of(cell: &str) -> Vec<Variant> {
    let with = |name: &str, reading: Settings, writing: Writing| {
        pair(format!("{cell}, {name}"), encoder(cell, reading), decoder(cell, writing))
    };
    let fed = |bridge: BridgeKind| Writing { bridge: Some(bridge), ..writing() };
    vec![
        with("first state", reading(), writing()),
        with("wider decoder", reading(), Writing { width: 5, ..writing() }),
        with("more layers below", Settings { layers: 2, ..reading() }, writing()),
        with("more layers above", reading(), Writing { layers: 2, ..writing() }),
        with("wider and deeper decoder", reading(), Writing { layers: 2, width: 5, ..writing() }),
        with("every step", reading(), fed(BridgeKind::EveryStep)),
        with("both", reading(), fed(BridgeKind::Both)),
        with("both, wider decoder", reading(), Writing { width: 5, ..fed(BridgeKind::Both) }),
        with("bidirectional", Settings { bidirectional: true, ..reading() }, writing()),
        with(
            "bidirectional, passed as it is",
            Settings { bidirectional: true, width: 2, ..reading() },
            writing(),
        ),
        with(
            "bidirectional, two layers, both",
            Settings { bidirectional: true, layers: 2, ..reading() },
            Writing { layers: 2, ..fed(BridgeKind::Both) },
        ),
        with("reversed", Settings { reversed: true, ..reading() }, writing()),
        with(
            "reversed, two layers, every step",
            Settings { reversed: true, layers: 2, ..reading() },
            fed(BridgeKind::EveryStep),
        ),
        with("two layers", Settings { layers: 2, ..reading() }, Writing { layers: 2, ..writing() }),
    ]
}

/// Parameters that do double duty.
fn shared_of(cell: &str) -> Vec<Variant> {
    let square = (Settings { embedding: None, ..reading() }, Writing { embedding: None, ..writing() });
    let with = |name: &str, (reading, writing): (Settings, Writing), parts: SharingConfig| {
        sharing(format!("{cell}, {name}"), encoder(cell, reading), decoder(cell, writing), parts)
    };
    let none = SharingConfig::default();
    let network = SharingConfig { encoder_decoder: true, ..none.clone() };
    let reversed = (Settings { reversed: true, ..reading() }, writing());
    vec![
        with("one network", (reading(), writing()), network.clone()),
        with("one network, reversed", reversed, network),
        with(
            "one table of vectors",
            (reading(), writing()),
            SharingConfig { embeddings: true, ..none.clone() },
        ),
        with("tied output", square.clone(), SharingConfig { output: true, ..none }),
        with(
            "all shared",
            square,
            SharingConfig { encoder_decoder: true, embeddings: true, output: true, source_output: false },
        ),
    ]
}

/// One network for both sides, and language models.
fn alone(cell: &str) -> Vec<Variant> {
    let one = |name: &str, settings: SingleRecurrentConfig, sharing: SharingConfig| {
        let single = Some(single(cell, settings));
        let config = ModelConfig { single, sharing, ..ModelConfig::new(Task::Translate) };
        variant(format!("{cell}, {name}"), true, config)
    };
    let language = |name: &str, settings: Writing, sharing: SharingConfig| {
        let decoder = Some(decoder(cell, settings));
        let config = ModelConfig { decoder, sharing, ..ModelConfig::new(Task::LanguageModel) };
        variant(format!("{cell}, {name}"), true, config)
    };
    let small = SingleRecurrentConfig { width: 4, embedding: Some(3), ..Default::default() };
    let tied = SharingConfig { output: true, ..Default::default() };
    vec![
        one("single", small.clone(), SharingConfig::default()),
        one(
            "single, two layers",
            SingleRecurrentConfig { layers: 2, ..small.clone() },
            SharingConfig::default(),
        ),
        one("single, tied output", SingleRecurrentConfig { embedding: None, ..small }, tied.clone()),
        language("language model", writing(), SharingConfig::default()),
        language(
            "language model, two layers, tied",
            Writing { embedding: None, layers: 2, ..writing() },
            tied,
        ),
    ]
}

/// Encoder and decoder of different cells.
fn mixed() -> Vec<Variant> {
    let with = |from: &str, to: &str, reading: Settings, writing: Writing| {
        pair(format!("{from} to {to}"), encoder(from, reading), decoder(to, writing))
    };
    let both = Writing { bridge: Some(BridgeKind::Both), ..writing() };
    vec![
        with("rnn", "lstm", reading(), writing()),
        with("lstm", "gru", reading(), writing()),
        with(
            "gru",
            "lstm",
            Settings { bidirectional: true, ..reading() },
            Writing { layers: 2, ..writing() },
        ),
        with("lstm", "rnn", Settings { layers: 2, ..reading() }, both),
    ]
}

impl Variant {
    /// The model with first values as they are drawn.
    pub(crate) fn fresh(&self, seed: u64, device: &Device) -> Model {
        Model::new(&self.plan, self.vocabularies, seed, device)
    }

    /// Weights away from the special values that a fresh model has (zero biases, orthogonal products).
    pub(crate) fn drawn_weights(&self) -> Weights {
        let device = Device::flex();
        let mut initial = Initial::new(7, &device);
        let mut weights = weights::collect(&self.fresh(3, &device));
        for weight in weights.values_mut() {
            let noise = values(initial.normal([weight.values.len()], 0.3).val());
            weight.values.iter_mut().zip(noise).for_each(|(value, noise)| *value += noise);
        }
        weights
    }

    /// The same, where the loss has a slope.
    pub(crate) fn weights(&self) -> Weights {
        let mut weights = self.drawn_weights();
        if self.plan.images.is_some() {
            images::away_from_kinks(&mut weights);
        }
        if self.plan.sound.is_some() {
            sounds::away_from_kinks(&mut weights);
        }
        weights
    }

    /// The model with these weights.
    pub(crate) fn with(&self, weights: Weights, device: &Device) -> Model {
        let blank = Model::blank(&self.plan, self.vocabularies, device);
        weights::install(blank, weights, Path::new("given"), true).expect("weights that fit")
    }

    /// The model with [`Variant::weights`].
    pub(crate) fn model(&self, device: &Device) -> Model {
        self.with(self.weights(), device)
    }

    /// What its head is for, if it has one.
    pub(crate) fn head(&self) -> Option<Task> {
        match self.plan.writer {
            Writer::Head(task, _) => Some(task),
            Writer::Decoder(_) => None,
        }
    }

    /// Its layers of self-attention, on either side.
    pub(crate) fn self_attention(&self) -> Option<&TransformerConfig> {
        let reads = self.plan.encoder().and_then(|encoder| match encoder {
            EncoderConfig::Transformer(settings) => Some(settings),
            _ => None,
        });
        let writes = || match self.plan.decoder() {
            Some(DecoderConfig::Transformer(settings)) => Some(settings),
            _ => None,
        };
        reads.or_else(writes)
    }

    /// Whether one position of the source is chosen at each step.
    pub(crate) fn chooses(&self) -> bool {
        self.plan.attention.as_ref().is_some_and(|attention| attention.focus == FocusKind::Hard)
    }

    /// Whether the loss jumps where a predicted window takes a position in or leaves it out, or has
    /// kinks: those of relu, or one at hand where another state becomes the largest.
    pub(crate) fn jumps(&self) -> bool {
        let window = self.plan.attention.as_ref().is_some_and(|attention| {
            matches!(attention.aligned, Some(AlignedKind::Predicted | AlignedKind::Advancing))
                && attention.window == Some(NARROW)
        });
        let relu = self.self_attention().is_some_and(|settings| settings.activation == Activation::Relu);
        // Where the most probable position is nearly not, a small step is enough to choose another.
        let choice = self
            .plan
            .attention
            .as_ref()
            .is_some_and(|attention| attention.focus == FocusKind::Hard && attention.gate);
        window || relu || choice || self.name.contains("Max of a bidirectional")
    }

    /// Sources of different lengths, the first of them empty but for its end; or images.
    pub(crate) fn source(&self) -> Sources {
        self.sources_of(0..SOURCES.len())
    }

    /// One of them alone.
    pub(crate) fn source_of(&self, row: usize) -> Sources {
        self.sources_of(row..row + 1)
    }

    fn sources_of(&self, which: Range<usize>) -> Sources {
        match (self.plan.images, self.plan.sound) {
            (Some(images), _) => images::drawn(&images, which).into(),
            (_, Some(sound)) => sounds::drawn(&sound, which).into(),
            _ => Padded::new(&rows(&SOURCES, 11)[which]).into(),
        }
    }

    /// [`Variant::source`] with more columns, as [`widened`] has them; images have none to add.
    pub(crate) fn wide_source(&self, more: usize, filler: u32) -> Sources {
        match self.source() {
            Sources::Tokens(tokens) => widened(&tokens, more, filler).into(),
            Sources::Sound(sounds) => sounds::longer(&sounds, more, filler as f32).into(),
            images => images,
        }
    }

    /// How many positions of each source there are to look at.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        match (self.plan.grid(), self.plan.frames_per_state()) {
            (Some(grid), _) => vec![grid.len(); SOURCES.len()],
            (_, Some(span)) => sounds::FRAMES.iter().map(|frames| frames.div_ceil(span)).collect(),
            _ => SOURCES.iter().map(|length| length + 1).collect(),
        }
    }

    /// Targets for them, in lengths that do not follow the sources'.
    pub(crate) fn targets(&self) -> Vec<Vec<u32>> {
        rows(&[3, 1, 5, 0, 4], 29)
    }
}

/// Tokens of each source before its end.
const SOURCES: [usize; 5] = [0, 4, 2, 6, 1];

/// Rows of so many tokens, none of them special, and the end.
fn rows(lengths: &[usize], salt: usize) -> Vec<Vec<u32>> {
    let token = |row: usize, at: usize| 5 + ((row * 7 + at * 3 + row * at + salt) % 5) as u32;
    let row = |(row, &length): (usize, &usize)| (0..length).map(|at| token(row, at)).chain([END]).collect();
    lengths.iter().enumerate().map(row).collect()
}

/// The rows with so many more columns, filled with a token that must not be seen.
pub(crate) fn widened(rows: &Padded, more: usize, filler: u32) -> Padded {
    let width = rows.width + more;
    let mut ids = Vec::with_capacity(rows.rows * width);
    for row in 0..rows.rows {
        ids.extend_from_slice(rows.row(row));
        ids.resize((row + 1) * width, filler);
    }
    Padded { ids, lengths: rows.lengths.clone(), rows: rows.rows, width }
}

/// Scores under teacher forcing, or of a head: row after row, position after position.
pub(crate) fn scores(
    variant: &Variant,
    model: &Model,
    source: &Sources,
    target: &Padded,
) -> Vec<Vec<Vec<f32>>> {
    let noise = &mut Noise::none();
    let memory = model.encode(source, noise);
    let told = memory.as_ref().and_then(|memory| model.tell(memory, noise));
    let logits = match told {
        Some(told) => told.logits,
        None => model.forward(&model.teacher_inputs(target), memory.as_ref(), noise).logits, // [B·T, V]
    };
    let vocabulary = logits.dims()[1];
    let logits = values(logits);
    let places = |row: usize| match variant.head() {
        Some(task) => heads::places(task, source, row),
        None => (row * target.width..row * target.width + target.lengths[row]).collect(),
    };
    let position = |place: usize| logits[place * vocabulary..][..vocabulary].to_vec();
    (0..source.rows()).map(|row| places(row).into_iter().map(position).collect()).collect()
}

pub(crate) fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("f32 values")
}

pub(crate) fn assert_close(what: &str, found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what}[{at}]: {a} and not {b}");
    }
}

#[test]
fn the_list_covers_every_axis() {
    let all = all();
    assert!(all.len() >= 310, "{}", all.len());
    let mut names: Vec<&str> = all.iter().map(|variant| variant.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len(), "every variant has its own name");
    for variant in &all {
        assert!(variant.fresh(1, &Device::flex()).num_params() > 0, "{}", variant.name);
    }
}
