//! Many clients of a service at once, each asking again as soon as it is answered; and, if wished, others that mean no
//! good. Prints one JSON object: throughput, latencies, refusals and wrong answers. See `benches/serve`.
//!
//! ```text
//! load ADDRESS PATH ANSWER SOURCES EXPECTED CLIENTS SECONDS HOSTILE
//! ```
//!
//! `ANSWER` is the place of the text in an answer, such as /answers/0/text; `SOURCES` and `EXPECTED` are files with a line
//! for each source, and what it must become.

use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What is asked, and of whom.
struct Load {
    address: String,
    path: String,
    answer: String,
    sources: Vec<String>,
    expected: Vec<String>,
    until: Instant,
}

/// What a client has seen.
#[derive(Default)]
struct Seen {
    times: Vec<Duration>,
    refused: u64,
    wrong: u64,
    broken: u64,
}

/// A connection, and what was read of it beyond an answer.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Reads more; an error at the end of the connection.
    async fn fill(&mut self) -> io::Result<()> {
        let mut bytes = [0; 16_384];
        match self.stream.read(&mut bytes).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.buffer.extend_from_slice(&bytes[..count]);
                Ok(())
            }
        }
    }

    /// Sends JSON; the status and the body of what is answered.
    async fn ask(&mut self, path: &str, body: &str) -> io::Result<(u16, Vec<u8>)> {
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        self.stream.write_all(request.as_bytes()).await?;
        let end = loop {
            match self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                Some(at) => break at + 4,
                None => self.fill().await?,
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).to_lowercase();
        let bad = || io::Error::from(io::ErrorKind::InvalidData);
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(bad)?;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.and_then(|length| length.trim().parse().ok()).ok_or_else(bad)?;
        while self.buffer.len() < end + length {
            self.fill().await?;
        }
        let body = self.buffer[end..end + length].to_vec();
        self.buffer.drain(..end + length);
        Ok((status, body))
    }
}

/// One client, until the time is over.
async fn client(load: Arc<Load>, number: usize) -> Seen {
    let mut seen = Seen::default();
    let mut connection = None;
    let mut turn = number * 7919;
    while Instant::now() < load.until {
        turn += 1;
        let place = turn % load.sources.len();
        let asked = json!({ "text": load.sources[place] }).to_string();
        let began = Instant::now();
        let open = match connection.take() {
            Some(open) => Ok(open),
            None => Connection::open(&load.address).await,
        };
        let Ok(mut open) = open else {
            seen.broken += 1;
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        match open.ask(&load.path, &asked).await {
            Ok((200, body)) => {
                seen.times.push(began.elapsed());
                let found: Value = serde_json::from_slice(&body).unwrap_or_default();
                let right =
                    found.pointer(&load.answer).and_then(Value::as_str) == Some(&load.expected[place]);
                seen.wrong += u64::from(!right);
                connection = Some(open);
            }
            Ok(_) => {
                seen.refused += 1;
                connection = Some(open);
            }
            Err(_) => seen.broken += 1,
        }
    }
    seen
}

/// Something that no good client does; which, depends on the number.
async fn misbehave(load: &Load, number: usize) -> io::Result<()> {
    let mut stream = TcpStream::connect(&load.address).await?;
    let head = |length: usize| {
        let path = &load.path;
        format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    match number % 6 {
        0 => stream.write_all((head(9) + "{\"text\": ").as_bytes()).await?, // malformed
        1 => {
            stream.write_all(head(1 << 30).as_bytes()).await?; // huge
            let piece = vec![b'a'; 1 << 16];
            while stream.write_all(&piece).await.is_ok() {}
        }
        2 => {
            for byte in head(100).into_bytes() {
                stream.write_all(&[byte]).await?; // slow
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        3 => {
            let asked = json!({ "text": load.sources[number % load.sources.len()] }).to_string();
            stream.write_all((head(asked.len()) + &asked).as_bytes()).await?; // and gone
            return Ok(());
        }
        4 => {
            let noise = (0..4096u64)
                .map(|byte| ((byte + number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8);
            stream.write_all(&noise.collect::<Vec<u8>>()).await?;
        }
        _ => {
            let deep = "[".repeat(100_000);
            stream.write_all((head(deep.len()) + &deep).as_bytes()).await?;
        }
    }
    let mut answer = Vec::new();
    tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await.ok();
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, path, answer, sources, expected, clients, seconds, hostile] = &arguments[..] else {
        return Err("give ADDRESS PATH ANSWER SOURCES EXPECTED CLIENTS SECONDS HOSTILE".into());
    };
    let lines = |file: &str| -> io::Result<Vec<String>> {
        Ok(std::fs::read_to_string(file)?.lines().map(str::to_owned).collect())
    };
    let (clients, hostile): (usize, usize) = (clients.parse()?, hostile.parse()?);
    let seconds: f64 = seconds.parse()?;
    let began = Instant::now();
    let load = Arc::new(Load {
        address: address.clone(),
        path: path.clone(),
        answer: answer.clone(),
        sources: lines(sources)?,
        expected: lines(expected)?,
        until: began + Duration::from_secs_f64(seconds),
    });
    if load.sources.is_empty() || load.sources.len() != load.expected.len() {
        return Err("there must be as many sources as expected answers, and one at least".into());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (seen, took) = runtime.block_on(async {
        for number in 0..hostile {
            let load = load.clone();
            tokio::spawn(async move {
                let mut turn = number;
                while Instant::now() < load.until {
                    misbehave(&load, turn).await.ok();
                    turn += hostile;
                }
            });
        }
        let running: Vec<_> = (0..clients).map(|number| tokio::spawn(client(load.clone(), number))).collect();
        let mut all = Seen::default();
        for one in running {
            if let Ok(one) = one.await {
                all.times.extend(one.times);
                all.refused += one.refused;
                all.wrong += one.wrong;
                all.broken += one.broken;
            }
        }
        (all, began.elapsed())
    });
    let mut times: Vec<f64> = seen.times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
    times.sort_by(f64::total_cmp);
    let quantile =
        |share: f64| times.get(((times.len() as f64 * share) as usize).min(times.len().max(1) - 1));
    let report = json!({
        "clients": clients,
        "hostile": hostile,
        "answers": times.len(),
        "per_second": times.len() as f64 / took.as_secs_f64(),
        "p50_ms": quantile(0.5),
        "p99_ms": quantile(0.99),
        "refused": seen.refused,
        "wrong": seen.wrong,
        "broken": seen.broken,
    });
    use std::io::Write;
    writeln!(io::stdout(), "{report}")?;
    Ok(())
}
