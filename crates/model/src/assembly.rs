//! From a plan to encoders and decoders with their first values.

use crate::bridge::{Bridge, Shore};
use crate::config::{
    BridgeKind, CnnConfig, DecoderConfig, EncoderConfig, EncoderKind, FeaturesConfig, Kind, ListenerConfig,
    PlaceKind, Plan, Reader, RecurrentDecoderConfig, RecurrentEncoderConfig, Role, SoundTransformerConfig,
    TransformerConfig, VitConfig, heard,
};
use crate::decoder::{Decoder, Looking, RecurrentDecoder, TransformerDecoder};
use crate::encoder::{
    CnnEncoder, Encoder, Features, ListenerEncoder, RecurrentEncoder, SoundTransformerEncoder,
    TransformerEncoder, VitEncoder,
};
use crate::output::Output;
use gatto_data::images::{Grid, Preparation};
use gatto_data::sound;
use gatto_nn::hearing::SoundFront;
use gatto_nn::recurrent::{Cell, Network, NetworkConfig, Pyramid, Reading};
use gatto_nn::transformer::Stack;
use gatto_nn::vision::{GridPositionKind, GridPositions, ResidualNetwork};
use gatto_nn::{Embedding, Initial, Linear};

/// What reads the source; none for a language model.
pub(crate) fn encoder(plan: &Plan, vocabulary: usize, initial: &mut Initial) -> Option<Encoder> {
    match &plan.reader {
        Reader::Nobody => None,
        Reader::Itself => plan.decoder().map(borrowing_encoder),
        Reader::Encoder(encoder) => Some(match encoder.parts().1 {
            EncoderKind::Cnn(settings) => cnn_encoder(plan, settings, initial),
            EncoderKind::Vit(settings) => vit_encoder(plan, settings, initial),
            EncoderKind::Listener(settings) => listener(plan, settings, initial),
            EncoderKind::SoundTransformer(settings) => sound_transformer(plan, settings, initial),
            EncoderKind::Recurrent(cell, settings) => {
                recurrent_encoder(plan, encoder, cell, settings, vocabulary, initial)
            }
            EncoderKind::Transformer(settings) => Encoder::Transformer(TransformerEncoder {
                embedding: (!plan.sharing.embeddings).then(|| small_vectors(settings, vocabulary, initial)),
                stack: Some(Stack::new(settings.settings(Role::Reading), initial)),
            }),
        }),
    }
}

/// The images of a plan, and the regions that they have.
fn seen(plan: &Plan) -> (Preparation, Grid) {
    match plan.images.zip(plan.grid()) {
        Some(seen) => seen,
        None => unreachable!("a plan with an encoder of images says what they are, and was checked"),
    }
}

fn cnn_encoder(plan: &Plan, settings: &CnnConfig, initial: &mut Initial) -> Encoder {
    let (images, Grid { rows, columns }) = seen(plan);
    Encoder::Cnn(CnnEncoder {
        network: ResidualNetwork::new(&settings.network(images.channels), initial),
        positions: settings
            .positions
            .of_grid()
            .map(|kind| GridPositions::new(kind, rows, columns, settings.width(), initial)),
        coordinates: settings.positions == PlaceKind::Coordinates,
        stride: settings.stride(),
        dropout: settings.dropout,
    })
}

fn vit_encoder(plan: &Plan, settings: &VitConfig, initial: &mut Initial) -> Encoder {
    let (images, Grid { rows, columns }) = seen(plan);
    let [rows, columns] = settings.position_grid.unwrap_or([rows, columns]);
    let kind = settings.positions.of_grid().unwrap_or(GridPositionKind::Learned);
    Encoder::Vit(VitEncoder {
        projection: Linear::new(settings.patch * settings.patch * images.channels, settings.width, initial),
        positions: GridPositions::new(kind, rows, columns, settings.width, initial),
        class: settings.class_token.then(|| initial.normal([1, settings.width], FIRST_CLASS)),
        stack: Stack::new(settings.layers().settings(Role::Reading), initial),
        patch: settings.patch,
    })
}

fn listener(plan: &Plan, settings: &ListenerConfig, initial: &mut Initial) -> Encoder {
    Encoder::Listener(ListenerEncoder {
        front: (!settings.convolutions.is_empty()).then(|| front(plan, &settings.convolutions, initial)),
        pyramid: Pyramid::new(&settings.pyramid(sounds(plan)), initial),
        frames_per_state: settings.frames_per_state(),
    })
}

fn sound_transformer(plan: &Plan, settings: &SoundTransformerConfig, initial: &mut Initial) -> Encoder {
    let heard = heard(sounds(plan), &settings.convolutions).unwrap_or(1);
    Encoder::SoundTransformer(SoundTransformerEncoder {
        front: front(plan, &settings.convolutions, initial),
        projection: Linear::new(heard, settings.width, initial),
        stack: Stack::new(settings.layers().settings(Role::Reading), initial),
        frames_per_state: settings.frames_per_state(),
    })
}

/// Convolutions of so many channels over the frames of a plan.
fn front(plan: &Plan, channels: &[usize], initial: &mut Initial) -> SoundFront {
    SoundFront::new(sounds(plan).deltas + 1, channels, initial)
}

/// The sounds of a plan.
fn sounds(plan: &Plan) -> &sound::Preparation {
    match &plan.sound {
        Some(sound) => sound,
        None => unreachable!("a plan with an encoder of sounds says what they are, and was checked"),
    }
}

/// The deviation of a class token's first values.
const FIRST_CLASS: f64 = 0.02;

/// Whether token vectors score tokens.
fn tied(plan: &Plan) -> bool {
    plan.sharing.output || plan.sharing.source_output
}

/// Token vectors that are multiplied by √width when they are read.
fn small_vectors(settings: &TransformerConfig, vocabulary: usize, initial: &mut Initial) -> Embedding {
    Embedding::new(vocabulary, settings.width, (settings.width as f64).sqrt().recip(), initial)
}

fn recurrent_encoder(
    plan: &Plan,
    encoder: &EncoderConfig,
    cell: Cell,
    settings: &RecurrentEncoderConfig,
    vocabulary: usize,
    initial: &mut Initial,
) -> Encoder {
    let embedding = encoder.embedding();
    let bidirectional_language_model = plan.is_bidirectional_language_model();
    let network = NetworkConfig {
        cell,
        input: embedding + plan.features.as_ref().map_or(0, FeaturesConfig::width),
        width: settings.width,
        layers: settings.layers,
        bidirectional: settings.bidirectional,
        apart: bidirectional_language_model,
        dropout: settings.dropout,
    };
    Encoder::Recurrent(RecurrentEncoder {
        embedding: (!plan.sharing.embeddings).then(|| {
            let deviation = if plan.sharing.source_output { (embedding as f64).sqrt().recip() } else { 1.0 };
            Embedding::new(vocabulary, embedding, deviation, initial)
        }),
        network: (!plan.sharing.encoder_decoder).then(|| Network::new(&network, initial)),
        reading: if settings.reversed { Reading::Backward } else { Reading::Forward },
        dropout: settings.dropout,
    })
}

/// The encoder of a single network: all of it is the decoder's.
fn borrowing_encoder(decoder: &DecoderConfig) -> Encoder {
    match decoder.parts().1 {
        Kind::Recurrent(_, settings) => Encoder::Recurrent(RecurrentEncoder {
            embedding: None,
            network: None,
            reading: Reading::Forward,
            dropout: settings.dropout,
        }),
        Kind::Transformer(_) => Encoder::Transformer(TransformerEncoder { embedding: None, stack: None }),
    }
}

/// A language model of both directions whose layers are mixed.
pub(crate) fn features(features: &FeaturesConfig, vocabulary: usize, initial: &mut Initial) -> Features {
    let (_, cell, settings) = features.parts();
    let embedding = settings.embedding.unwrap_or(settings.width);
    let network = NetworkConfig {
        cell,
        input: embedding,
        width: settings.width,
        layers: settings.layers,
        bidirectional: true,
        apart: true,
        dropout: settings.dropout,
    };
    let mixed = settings.layers + usize::from(embedding == settings.width);
    Features {
        embedding: Embedding::new(vocabulary, embedding, 1.0, initial),
        network: Network::new(&network, initial),
        mixture: initial.constant([mixed], 0.0),
        scale: initial.constant([1], 1.0),
        dropout: settings.dropout,
    }
}

/// The states that an encoder leaves.
fn summary_of(encoder: &EncoderConfig) -> Shore {
    match encoder.parts().1 {
        EncoderKind::Recurrent(cell, settings) => {
            Shore { cell: cell == Cell::Lstm, width: encoder.states(), layers: settings.layers }
        }
        EncoderKind::Listener(settings) => Shore {
            cell: settings.cell.cell() == Cell::Lstm,
            width: encoder.states(),
            layers: settings.layers,
        },
        _ => Shore { cell: false, width: encoder.states(), layers: 1 },
    }
}

/// The states that a recurrent decoder starts from.
fn first_of(cell: Cell, settings: &RecurrentDecoderConfig) -> Shore {
    Shore { cell: cell == Cell::Lstm, width: settings.width, layers: settings.layers }
}

/// What writes the target.
///
/// # Panics
/// If the plan has a head in its place.
pub(crate) fn decoder(plan: &Plan, vocabulary: usize, initial: &mut Initial) -> Decoder {
    let Some(decoder) = plan.decoder() else { unreachable!("called for plans with a decoder") };
    match decoder.parts().1 {
        Kind::Recurrent(cell, settings) => {
            let from = match &plan.reader {
                Reader::Encoder(encoder) => Some(summary_of(encoder)),
                Reader::Itself => Some(first_of(cell, settings)),
                Reader::Nobody => None,
            };
            recurrent_decoder(plan, decoder, (cell, settings), from, vocabulary, initial)
        }
        Kind::Transformer(settings) => {
            let source = plan.encoder().map(|encoder| encoder.states());
            Decoder::Transformer(TransformerDecoder {
                embedding: small_vectors(settings, vocabulary, initial),
                stack: Stack::new(settings.settings(Role::Writing(source)), initial),
                output: Output::new(settings.width, None, vocabulary, tied(plan), initial),
            })
        }
    }
}

fn recurrent_decoder(
    plan: &Plan,
    decoder: &DecoderConfig,
    (cell, settings): (Cell, &RecurrentDecoderConfig),
    from: Option<Shore>,
    vocabulary: usize,
    initial: &mut Initial,
) -> Decoder {
    let embedding = decoder.embedding();
    let kind = settings.bridge.unwrap_or(BridgeKind::FirstState);
    let every_step = matches!(kind, BridgeKind::EveryStep | BridgeKind::Both);
    let fed = from.as_ref().filter(|_| every_step).map(|from| from.width);
    let looked_at = plan.attention.as_ref().zip(from.as_ref().map(|from| from.width));
    let places = plan.encoder().map_or(0, EncoderConfig::places);
    let beside = looked_at.map_or(0, |(it, states)| it.beside_input(settings.width, states, places));
    let network = NetworkConfig {
        cell,
        input: embedding + fed.unwrap_or(0) + beside,
        width: settings.width,
        layers: settings.layers,
        bidirectional: false,
        apart: false,
        dropout: settings.dropout,
    };
    // Small where they score tokens, or where layers of self-attention read them times √width.
    let read_large = matches!(plan.encoder(), Some(EncoderConfig::Transformer(_))) && plan.sharing.embeddings;
    let deviation = if plan.sharing.output || read_large { (embedding as f64).sqrt().recip() } else { 1.0 };
    let first_state = matches!(kind, BridgeKind::FirstState | BridgeKind::Both);
    let bridge = from.as_ref().filter(|_| first_state);
    Decoder::Recurrent(RecurrentDecoder {
        embedding: Embedding::new(vocabulary, embedding, deviation, initial),
        network: Network::new(&network, initial),
        bridge: bridge.map(|from| Bridge::new(from, &first_of(cell, settings), initial)),
        attention: looked_at.map(|(attention, states)| {
            Looking::new(attention, settings.width, embedding, [states, places], initial)
        }),
        output: Output::new(settings.width, settings.output, vocabulary, tied(plan), initial),
        fed_at_every_step: fed.is_some(),
        dropout: settings.dropout,
    })
}
