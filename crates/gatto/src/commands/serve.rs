//! `gatto serve`

use crate::allocator;
use crate::cli::{Compute, LogForm, LogLevel, Serve, ServeLimits};
use anyhow::{Context, Result, bail};
use gatto::model::CONFIG;
use gatto::nn::Precision;
use gatto::serve::{Keys, Languages, Limits, Place, Service, Settings};
use gatto::train::ConfigFile;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tracing::level_filters::LevelFilter;

/// Where keys may stand beside a file.
const KEYS: &str = "GATTO_API_KEYS";

pub(crate) fn run(arguments: &Serve) -> Result<()> {
    write_log(arguments.log, arguments.log_level);
    let settings = Settings {
        places: places(&arguments.models, &arguments.languages)?,
        precision: arguments.loading.weights.precision.map(Precision::from),
        shortlist: arguments.loading.shortlist,
        listen: arguments.listen,
        threads: threads(&arguments.compute),
        limits: limits(&arguments.limits),
        keys: keys(arguments.api_key_file.as_deref())?,
        origins: arguments.allow_origin.clone(),
        runs: arguments.runs.clone(),
    };
    serve(settings)
}

/// Serves the model of the demonstration, which translates from English to Italian.
pub(super) fn serve_demo(directory: &Path, listen: SocketAddr, compute: &Compute) -> Result<()> {
    write_log(LogForm::Text, LogLevel::Warn);
    let languages = Some(Languages { source: "en".to_owned(), target: "it".to_owned() });
    let place =
        Place { name: "demo".to_owned(), directory: directory.to_path_buf(), languages, piece_seconds: None };
    writeln!(std::io::stderr(), "serving the model, until Ctrl-C, at")?;
    serve(Settings {
        places: vec![place],
        precision: None,
        shortlist: false,
        listen,
        threads: threads(compute),
        limits: Limits::default(),
        keys: Keys::default(),
        origins: Vec::new(),
        runs: None,
    })
}

/// Serves until it is told to stop. The address is printed when all is ready.
fn serve(settings: Settings) -> Result<()> {
    allocator::for_service();
    let models: Vec<String> = settings.places.iter().map(|place| place.name.clone()).collect();
    let service = Service::open(settings)?;
    let address = service.address();
    tracing::info!(%address, models = models.join(", "), "listening");
    let mut out = std::io::stdout().lock();
    writeln!(out, "http://{address}")?;
    out.flush()?;
    drop(out);
    service.run(true)?;
    tracing::info!("stopped");
    Ok(())
}

fn threads(compute: &Compute) -> usize {
    compute.threads.map_or_else(cores, usize::from)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The log goes to standard error, like all that is no data.
fn write_log(form: LogForm, level: LogLevel) {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_target(false);
    match form {
        LogForm::Text => log.with_ansi(false).init(),
        LogForm::Json => log.json().flatten_event(true).init(),
    }
}

/// The models with their names and languages.
fn places(models: &[String], languages: &[String]) -> Result<Vec<Place>> {
    let mut places = models.iter().map(|model| Place::parse(model)).collect::<Result<Vec<_>, _>>()?;
    for place in &mut places {
        // As long as recordings of its training could be. What is wrong with a directory is told when it is loaded.
        let config = ConfigFile::read(&place.directory.join(CONFIG), &[]).ok();
        place.piece_seconds = config.and_then(|file| file.config.train.max_seconds);
    }
    for given in languages {
        let (name, pair) = match given.split_once('=') {
            Some((name, pair)) => (Some(name), pair),
            None => (None, given.as_str()),
        };
        let pair = Languages::parse(pair)?;
        let place = match (name, &mut places[..]) {
            (None, [place]) => Some(place),
            (None, _) => bail!("--languages {given}: there are several models; write MODEL={given}"),
            (Some(name), places) => places.iter_mut().find(|place| place.name == name),
        };
        match place {
            Some(place) => place.languages = Some(pair),
            None => bail!("--languages {given}: no model has that name"),
        }
    }
    Ok(places)
}

/// The keys of a file, and those of the environment.
fn keys(file: Option<&Path>) -> Result<Keys> {
    let mut keys: Vec<String> = Vec::new();
    if let Some(path) = file {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("{}: cannot be read", path.display()))?;
        keys.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
        if keys.is_empty() {
            bail!("{}: has no keys; write one per line", path.display());
        }
    }
    if let Ok(text) = std::env::var(KEYS) {
        keys.extend(text.split(',').map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned));
    }
    Ok(Keys::new(keys)?)
}

fn limits(given: &ServeLimits) -> Limits {
    Limits {
        body: given.max_body,
        texts: given.max_texts,
        characters: given.max_characters,
        beam: given.max_beam,
        n_best: given.max_n_best,
        max_length: given.max_length,
        pixels: given.max_pixels,
        seconds: given.max_seconds,
        queue: given.queue,
        batch: given.batch,
        memory: given.search_memory.saturating_mul(1 << 20),
        gather: Duration::from_millis(given.gather),
        deadline: Duration::from_secs(given.deadline),
        sending: Duration::from_secs(given.sending),
        connections: given.connections,
        grace: Duration::from_secs(given.grace),
        ..Limits::default()
    }
}
