//! `gatto info`

use crate::cli::Info;
use anyhow::Result;
use gatto::Device;
use gatto::model::config::{Plan, Reader};
use gatto::model::{AttentionConfig, BridgeKind, Saved, weights};
use std::io::Write;

pub(crate) fn run(arguments: Info) -> Result<()> {
    let saved = Saved::load(&arguments.model, &Device::flex())?;
    let weights = weights::collect(&saved.model);
    let parameters: usize = weights.values().map(|weight| weight.values.len()).sum();
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let shapes: serde_json::Map<_, _> =
            weights.iter().map(|(name, weight)| (name.clone(), serde_json::json!(weight.shape))).collect();
        let report = serde_json::json!({
            "task": saved.task,
            "architecture": architecture(&saved.plan),
            "parameters": parameters,
            "source_vocabulary": saved.tokens.source.size(),
            "target_vocabulary": saved.tokens.target.size(),
            "tokens": saved.tokens.target.kind(),
            "weights": shapes,
        });
        writeln!(out, "{report}")?;
        return Ok(());
    }
    writeln!(out, "{}", architecture(&saved.plan))?;
    writeln!(out, "parameters   {parameters}")?;
    let (source, target) = (&saved.tokens.source, &saved.tokens.target);
    if saved.tokens.is_shared() {
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
    writeln!(out, "weights")?;
    for (name, weight) in &weights {
        let shape: Vec<String> = weight.shape.iter().map(usize::to_string).collect();
        writeln!(out, "  {name:<45} {}", shape.join(" × "))?;
    }
    Ok(())
}

/// The model in a sentence.
fn architecture(plan: &Plan) -> String {
    let (_, name, writing) = plan.decoder.parts();
    let layers = |count: usize| if count == 1 { String::new() } else { format!(", {count} layers") };
    let decoder = format!("{name} {}{}", writing.width, layers(writing.layers));
    match &plan.reader {
        Reader::Nobody => format!("language model: {decoder}"),
        Reader::Itself => format!("single network for source, separator and target: {decoder}"),
        Reader::Encoder(encoder) => {
            let (_, name, reading) = encoder.parts();
            let direction = match (reading.bidirectional, reading.reversed) {
                (true, _) => ", both directions",
                (_, true) => ", reversed",
                _ => "",
            };
            let bridge = match writing.bridge.unwrap_or(BridgeKind::FirstState) {
                BridgeKind::FirstState => "as first state",
                BridgeKind::EveryStep => "at every step",
                BridgeKind::Both => "as first state and at every step",
                BridgeKind::AttentionOnly => "by attention alone",
            };
            let shared = if plan.sharing.encoder_decoder { ", shared parameters" } else { "" };
            let attention = plan.attention.as_ref().map(|attention| format!(", {}", looking(attention)));
            format!(
                "encoder: {name} {}{}{direction} → context {bridge}{} → decoder: {decoder}{shared}",
                reading.width,
                layers(reading.layers),
                attention.unwrap_or_default()
            )
        }
    }
}

/// An attention in a few words.
fn looking(attention: &AttentionConfig) -> String {
    // The names are those of the configuration.
    let name = |value: serde_json::Result<serde_json::Value>| match value {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    };
    let [score, focus, query] = [
        serde_json::to_value(attention.score),
        serde_json::to_value(attention.focus),
        serde_json::to_value(attention.query),
    ]
    .map(name);
    let fed = if attention.feed { ", fed to the next step" } else { "" };
    let coverage = if attention.coverage { ", with coverage" } else { "" };
    format!("{focus} {score} attention asked by the {query} state{fed}{coverage}")
}
