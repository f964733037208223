//! Connections: accepted while there is room, watched for slow senders and readers, and ended in peace.

use crate::error::ServeError;
use crate::http::{App, router};
use crate::keys::Keys;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::patience::Patient;
use crate::queue::Queue;
use crate::room::{Loading, Place, Room};
use crate::runs::Runs;
use crate::worker;
use axum::Router;
use gatto_nn::Precision;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore};

/// Threads that talk to clients; all others compute.
const TALKING: usize = 2;
/// How long to wait when no connection can be accepted: there are no more files to be had, for instance.
const BREATH: Duration = Duration::from_millis(50);

/// What a service is made of.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The models.
    pub places: Vec<Place>,
    /// How their weights are multiplied; as their files have them, if it is not told.
    pub precision: Option<Precision>,
    /// Whether what they write is chosen from their shortlists.
    pub shortlist: bool,
    /// Where to listen; port 0 is any that is free.
    pub listen: SocketAddr,
    /// Threads to compute with.
    pub threads: usize,
    /// How much is taken on.
    pub limits: Limits,
    /// The keys of clients; with none, everyone may ask.
    pub keys: Keys,
    /// Origins whose pages may ask; `*` is all of them.
    pub origins: Vec<String>,
    /// A folder of training runs that are shown, if any are. Without one there must be a model.
    pub runs: Option<PathBuf>,
}

/// A service that is ready to serve.
pub struct Service {
    app: App,
    router: Router,
    listener: TcpListener,
    address: SocketAddr,
    workers: Vec<JoinHandle<()>>,
    control: Control,
}

/// Tells a service what to do, from wherever.
#[derive(Clone, Debug, Default)]
pub struct Control {
    stop: Arc<Notify>,
    replace: Arc<Notify>,
}

impl Control {
    /// Has the service finish the requests under way, and stop; told again, it stops at once.
    pub fn stop(&self) {
        self.stop.notify_one();
    }

    /// Has all models loaded from their directories again.
    pub fn replace(&self) {
        self.replace.notify_one();
    }
}

impl Service {
    /// Loads the models and takes the address.
    pub fn open(settings: Settings) -> Result<Self, ServeError> {
        let Settings { places, precision, shortlist, listen, threads, limits, keys, origins, runs } =
            settings;
        limits.check()?;
        let failed = |error| ServeError::Address { address: listen, error };
        let listener = TcpListener::bind(listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        if places.is_empty() && runs.is_none() {
            return Err(ServeError::NoModels);
        }
        let runs = runs.as_deref().map(Runs::open).transpose()?;
        let room = Room::open(&places, Loading { precision, shortlist })?;
        let queue = Arc::new(Queue::new(limits.queue, limits.gather));
        let metrics = Arc::new(Metrics::new());
        let workers = worker::start(threads, &queue, &metrics)?;
        let app = App::new(room, runs, queue, limits, keys, metrics, threads);
        let router = router(&app, &origins)?;
        Ok(Self { app, router, listener, address, workers, control: Control::default() })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A hold on it while it runs.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Serves until it is told to stop, and returns when the requests under way are answered. With `signals`, SIGTERM
    /// and SIGINT tell it so, and SIGHUP has the models loaded again.
    pub fn run(self, signals: bool) -> Result<(), ServeError> {
        let Self { app, router, listener, control, workers, .. } = self;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(TALKING).enable_all().build()?;
        let in_peace = runtime.block_on(async {
            if signals {
                listen_to_signals(&control)?;
            }
            let listener = tokio::net::TcpListener::from_std(listener)?;
            Ok::<_, ServeError>(serve(&app, &router, listener, &control).await)
        });
        app.queue.close();
        if matches!(in_peace, Ok(true)) {
            workers.into_iter().for_each(|worker| drop(worker.join()));
        }
        runtime.shutdown_background(); // nobody waits for what is left
        in_peace.map(drop)
    }
}

/// Accepts connections until it is told to stop; whether all of them came to their end.
async fn serve(app: &App, router: &Router, listener: tokio::net::TcpListener, control: &Control) -> bool {
    let limits = &app.limits;
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.sending);
    let connections = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(limits.connections));
    loop {
        let accepted = async {
            let place = places.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = control.stop.notified() => break,
            () = control.replace.notified() => {
                let app = app.clone();
                tokio::spawn(async move { app.replace(None).await.ok() });
                continue;
            }
            accepted = accepted => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted");
                tokio::time::sleep(BREATH).await;
                continue;
            }
        };
        stream.set_nodelay(true).ok(); // slower without, and no worse
        let stream = Patient::<TcpStream>::new(stream, limits.sending);
        let service = TowerToHyperService::new(router.clone());
        let connection = connections.watch(builder.serve_connection(TokioIo::new(stream), service));
        let connected = app.metrics.connected();
        tokio::spawn(async move {
            let _while_it_lives = (place, connected);
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke");
            }
        });
    }
    drop(listener);
    app.stop();
    tracing::info!("finishing the requests under way");
    tokio::select! {
        () = connections.shutdown() => true,
        () = tokio::time::sleep(limits.grace) => {
            tracing::warn!("requests under way took too long, and are given up");
            false
        }
        () = control.stop.notified() => false,
    }
}

/// Hands signals over as they come.
#[cfg(unix)]
fn listen_to_signals(control: &Control) -> Result<(), ServeError> {
    use tokio::signal::unix::{SignalKind, signal};
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let (mut signals, control) = (signal(kind)?, control.clone());
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                control.stop();
            }
        });
    }
    let (mut signals, control) = (signal(SignalKind::hangup())?, control.clone());
    tokio::spawn(async move {
        while signals.recv().await.is_some() {
            control.replace();
        }
    });
    Ok(())
}

/// Hands the interrupt over; there are no other signals here.
#[cfg(not(unix))]
fn listen_to_signals(control: &Control) -> Result<(), ServeError> {
    let control = control.clone();
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            control.stop();
        }
    });
    Ok(())
}
