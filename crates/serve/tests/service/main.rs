//! The service as clients find it: a listening socket on the loopback device, with small models that are made here.

mod client;
mod company;
mod ending;
mod hostile;
mod libre;
mod models;
mod native;
mod runs;
mod seen;
mod what_if;

use client::{Answer, Client};
use gatto_serve::{Control, Keys, Languages, Limits, Place, ServeError, Service, Settings};
use std::net::SocketAddr;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

/// A key of all services that have one.
const KEY: &str = "a-key-for-the-tests";

/// A service that runs until it is dropped.
struct Running {
    address: SocketAddr,
    control: Control,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl Running {
    fn new(settings: Settings) -> Self {
        let service = Service::open(settings).expect("a service");
        let (address, control) = (service.address(), service.control());
        let thread = std::thread::spawn(move || service.run(false));
        Self { address, control, thread: Some(thread) }
    }

    /// One model, under the name `model`.
    fn of(model: &Path) -> Self {
        Self::new(settings(&[("model", model)]))
    }

    fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// What it answers to JSON.
    fn post(&self, path: &str, body: &serde_json::Value) -> Answer {
        self.client().post(path, body)
    }

    fn get(&self, path: &str) -> Answer {
        self.client().get(path)
    }

    /// Has it stop, and waits until it has.
    fn stop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.control.stop();
            thread.join().expect("no panic").expect("a good end");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Settings for models by name, on any free port, with two threads and no keys.
fn settings(models: &[(&str, &Path)]) -> Settings {
    let place = |(name, directory): &(&str, &Path)| Place {
        name: (*name).to_owned(),
        directory: directory.to_path_buf(),
        languages: None,
        piece_seconds: None,
    };
    Settings {
        places: models.iter().map(place).collect(),
        precision: None,
        shortlist: false,
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        threads: 2,
        limits: Limits::default(),
        keys: Keys::default(),
        origins: Vec::new(),
        runs: None,
    }
}

/// The settings with languages for the first model.
fn translating(model: &Path, pair: &str) -> Settings {
    let mut settings = settings(&[("model", model)]);
    settings.places[0].languages = Some(Languages::parse(pair).expect("a pair"));
    settings
}

/// Limits under which every answer of a long search takes its time: a deadline ends it, or nothing does.
fn patient() -> Limits {
    Limits { deadline: Duration::from_secs(600), max_length: 100_000, ..Limits::default() }
}
