//! `gatto info`

use crate::cli::Info;
use anyhow::Result;
use gatto::Device;
use gatto::model::config::{EncoderKind, FeedKind, Kind, Plan, Reader, TransformerConfig, Writer};
use gatto::model::{
    AttentionConfig, BridgeKind, DecoderConfig, EncoderConfig, Parameter, Saved, Shortlist, ShortlistSize,
    Stored, WEIGHTS,
};
use gatto::nn::Precision;
use std::io::Write;

/// Labels that are named.
const LABELS_SHOWN: usize = 20;

pub(crate) fn run(arguments: Info) -> Result<()> {
    let saved = Saved::load(&arguments.model, &Device::flex())?;
    let stored = Stored::open(&arguments.model.join(WEIGHTS))?;
    let weights = stored.parameters();
    let parameters: usize = weights.values().map(Parameter::count).sum();
    let in_bytes = weights.values().filter(|weight| weight.precision() == Precision::Int8);
    let in_bytes: usize = in_bytes.map(Parameter::count).sum();
    let precision = if in_bytes > 0 { "int8" } else { "float" };
    // One that cannot be used is told of, and nothing else is kept back for it: the model works without.
    let (shortlist, shortlist_error) = match Shortlist::is_in(&arguments.model) {
        true => match Shortlist::load(&arguments.model, &saved.tokens) {
            Ok(shortlist) => (Some(shortlist.size()), None),
            Err(error) => (None, Some(error.to_string())),
        },
        false => (None, None),
    };
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let shapes: serde_json::Map<_, _> =
            weights.iter().map(|(name, weight)| (name.clone(), serde_json::json!(weight.shape))).collect();
        let report = serde_json::json!({
            "task": saved.task,
            "architecture": architecture(&saved.plan),
            "parameters": parameters,
            "precision": precision,
            "parameters_in_int8": in_bytes,
            "bytes": stored.bytes(),
            "source_vocabulary": saved.tokens.source.size(),
            "target_vocabulary": saved.tokens.target.size(),
            "tokens": saved.tokens.target.kind(),
            "labels": saved.labels.as_ref().map(|labels| labels.names()),
            "sound": saved.plan.sound,
            "shortlist": shortlist.map(|ShortlistSize { best, known, always }| {
                serde_json::json!({ "best": best, "source_tokens": known, "always": always })
            }),
            "shortlist_error": shortlist_error,
            "weights": shapes,
        });
        writeln!(out, "{report}")?;
        return Ok(());
    }
    writeln!(out, "{}", architecture(&saved.plan))?;
    writeln!(out, "parameters   {parameters}")?;
    let megabytes = stored.bytes() as f64 / 1e6;
    match in_bytes {
        0 => writeln!(out, "precision    float, {megabytes:.1} MB")?,
        _ => writeln!(
            out,
            "precision    int8 for {in_bytes} of them, float for the others, {megabytes:.1} MB"
        )?,
    }
    if let Some(sound) = &saved.plan.sound {
        let deltas = ["", ", with their changes", ", with their changes and the changes of these"];
        let deltas = deltas.get(sound.deltas).copied().unwrap_or_default();
        writeln!(
            out,
            "sounds       {} samples a second, {} bands every {} ms{deltas}",
            sound.rate, sound.features.bands, sound.features.hop
        )?;
    }
    let (source, target) = (&saved.tokens.source, &saved.tokens.target);
    if !saved.task.writes() {
        writeln!(out, "vocabulary   {} tokens ({})", source.size(), source.kind())?;
    } else if saved.tokens.is_shared() {
        writeln!(out, "vocabulary   {} tokens ({}), for both sides", target.size(), target.kind())?;
    } else {
        writeln!(
            out,
            "vocabulary   {} source tokens ({}), {} target tokens ({})",
            source.size(),
            source.kind(),
            target.size(),
            target.kind()
        )?;
    }
    if let Some(ShortlistSize { best, known, always }) = shortlist {
        writeln!(
            out,
            "shortlist    at most {best} translations of each of {known} source tokens, and {always} tokens that are always \
             on it"
        )?;
    }
    if let Some(error) = &shortlist_error {
        writeln!(out, "shortlist    cannot be used: {error}")?;
    }
    if let Some(labels) = &saved.labels {
        let shown =
            labels.names().iter().take(LABELS_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if labels.len() > LABELS_SHOWN { ", …" } else { "" };
        writeln!(out, "labels       {} ({shown}{more})", labels.len())?;
    }
    writeln!(out, "weights")?;
    for (name, weight) in weights {
        let shape: Vec<String> = weight.shape.iter().map(usize::to_string).collect();
        let kept = if weight.precision() == Precision::Int8 { "  int8" } else { "" };
        writeln!(out, "  {name:<45} {}{kept}", shape.join(" × "))?;
    }
    Ok(())
}

/// The model in a sentence.
fn architecture(plan: &Plan) -> String {
    let writer = match &plan.writer {
        Writer::Decoder(decoder) => {
            let (name, kind) = decoder.parts();
            match kind {
                Kind::Recurrent(_, settings) => layers(name, settings.width, settings.layers),
                Kind::Transformer(settings) => transformer(settings),
            }
        }
        Writer::Head(task, _) => named(task),
    };
    let encoder = match &plan.reader {
        Reader::Nobody => return format!("language model: {writer}"),
        Reader::Itself => return format!("single network for source, separator and target: {writer}"),
        Reader::Encoder(encoder) => reading(encoder),
    };
    let features = if plan.features.is_some() { " beside mixed features of a language model" } else { "" };
    let told = if plan.ctc.is_some() { ", which tells tokens by itself too (CTC)" } else { "" };
    let shared = if plan.sharing.encoder_decoder { ", shared parameters" } else { "" };
    match &plan.writer {
        Writer::Head(..) => format!("encoder: {encoder}{features} → head: {writer}"),
        Writer::Decoder(decoder) => {
            format!(
                "encoder: {encoder}{features}{told} → {} → decoder: {writer}{shared}",
                between(plan, decoder)
            )
        }
    }
}

/// How the decoder knows the source.
fn between(plan: &Plan, decoder: &DecoderConfig) -> String {
    let Kind::Recurrent(_, settings) = decoder.parts().1 else {
        return "looked at from every layer".to_owned();
    };
    let bridge = match settings.bridge.unwrap_or(BridgeKind::FirstState) {
        BridgeKind::FirstState => "as first state",
        BridgeKind::EveryStep => "at every step",
        BridgeKind::Both => "as first state and at every step",
        BridgeKind::AttentionOnly => "by attention alone",
    };
    let attention = plan.attention.as_ref().map(|attention| format!(", {}", looking(attention)));
    format!("context {bridge}{}", attention.unwrap_or_default())
}

fn layers(name: &str, width: usize, count: usize) -> String {
    let layers = if count == 1 { String::new() } else { format!(", {count} layers") };
    format!("{name} {width}{layers}")
}

fn transformer(settings: &TransformerConfig) -> String {
    let plain = if settings.projections { "" } else { ", without projections" };
    format!(
        "{}, {} heads, {} positions, {}-norm{plain}",
        layers("transformer", settings.width, settings.layers),
        settings.heads,
        named(&settings.positions),
        named(&settings.norm)
    )
}

fn reading(encoder: &EncoderConfig) -> String {
    let (name, kind) = encoder.parts();
    match kind {
        EncoderKind::Cnn(settings) => {
            let stages: Vec<String> = settings.channels.iter().map(usize::to_string).collect();
            let side = settings.stride();
            format!("cnn of {} channels, a region for every {side} × {side} pixels", stages.join(", "))
        }
        EncoderKind::Vit(settings) => format!(
            "vit {} of patches of {} × {} pixels, {} layers, {} heads, {} positions, {}-norm",
            settings.width,
            settings.patch,
            settings.patch,
            settings.layers,
            settings.heads,
            named(&settings.positions),
            named(&settings.norm)
        ),
        EncoderKind::Listener(settings) => {
            let direction = if settings.bidirectional { ", both directions" } else { "" };
            let layers = layers(&named(&settings.cell), settings.width, settings.layers);
            let (front, frames) = (convolutions(&settings.convolutions), settings.frames_per_state());
            format!("listener: {front}{layers}{direction}, a state for every {frames} frames")
        }
        EncoderKind::SoundTransformer(settings) => format!(
            "sound transformer: {}{}, {} heads, {} positions, {}-norm, a state for every {} frames",
            convolutions(&settings.convolutions),
            layers("transformer", settings.width, settings.layers),
            settings.heads,
            named(&settings.positions),
            named(&settings.norm),
            settings.frames_per_state()
        ),
        EncoderKind::Transformer(settings) => transformer(settings),
        EncoderKind::Recurrent(_, settings) => {
            let direction = match (settings.bidirectional, settings.reversed) {
                (true, _) => ", both directions",
                (_, true) => ", reversed",
                _ => "",
            };
            format!("{}{direction}", layers(name, settings.width, settings.layers))
        }
    }
}

/// What stands before the layers of an encoder of sounds.
fn convolutions(channels: &[usize]) -> String {
    let channels: Vec<String> = channels.iter().map(usize::to_string).collect();
    match channels.is_empty() {
        true => String::new(),
        false => format!("convolutions of {} channels, ", channels.join(", ")),
    }
}

/// The name of a choice, as in the configuration.
fn named(choice: &impl serde::Serialize) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

/// An attention in a few words.
fn looking(attention: &AttentionConfig) -> String {
    let [score, focus, query] = [named(&attention.score), named(&attention.focus), named(&attention.query)];
    let fed = match attention.feed {
        FeedKind::Nothing => "",
        FeedKind::Attentional => ", fed to the next step",
        FeedKind::Context => ", its context fed to the next step",
        FeedKind::Place => ", its place fed to the next step",
    };
    let coverage = if attention.coverage { ", with coverage" } else { "" };
    let convolution =
        if attention.convolution.is_some() { ", with a convolution of its last weights" } else { "" };
    format!("{focus} {score} attention asked by the {query} state{fed}{coverage}{convolution}")
}
