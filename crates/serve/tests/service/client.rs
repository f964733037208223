//! A client of HTTP/1.1 that sends what it is told to, right or wrong.

use serde_json::Value;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    /// The JSON of an answer that went well.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        serde_json::from_slice(&self.body).expect("valid JSON")
    }

    /// What is said with a refusal of this status.
    pub(crate) fn refused(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        let told: Value = serde_json::from_slice(&self.body).expect("valid JSON");
        told["error"].as_str().expect("an error").to_owned()
    }
}

/// Someone who asks.
pub(crate) struct Client {
    address: SocketAddr,
    headers: Vec<(String, String)>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, headers: Vec::new() }
    }

    /// The same with one more header.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None, b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, Some("application/json"), body.to_string().as_bytes())
    }

    pub(crate) fn send(&self, method: &str, path: &str, kind: Option<&str>, body: &[u8]) -> Answer {
        let mut connection = self.connect();
        // A refusal may come before all is sent.
        connection.write_all(&self.head(method, path, kind, body.len())).ok();
        connection.write_all(body).ok();
        read(connection)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).expect("a connection")
    }

    /// The head of a request whose body has so many bytes.
    pub(crate) fn head(&self, method: &str, path: &str, kind: Option<&str>, length: usize) -> Vec<u8> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
        if let Some(kind) = kind {
            head += &format!("content-type: {kind}\r\n");
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {length}\r\n\r\n");
        head.into_bytes()
    }

    /// A request under way, of which nothing has been read.
    pub(crate) fn begin(&self, path: &str, body: &Value) -> TcpStream {
        let (mut connection, body) = (self.connect(), body.to_string());
        connection.write_all(&self.head("POST", path, Some("application/json"), body.len())).expect("sent");
        connection.write_all(body.as_bytes()).expect("sent");
        connection
    }
}

/// The answer on a connection, which ends with it.
pub(crate) fn read(connection: TcpStream) -> Answer {
    let mut reader = BufReader::new(connection);
    let (status, headers) = read_head(&mut reader).expect("an answer");
    let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let mut body = Vec::new();
    if chunked {
        while let Some(chunk) = read_chunk(&mut reader) {
            body.extend(chunk);
        }
    } else {
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.map_or(0, |(_, value)| value.parse().expect("a length"));
        body.resize(length, 0);
        reader.read_exact(&mut body).expect("a whole answer");
    }
    reader.into_inner().shutdown(Shutdown::Both).ok();
    Answer { status, headers, body }
}

/// Status and headers; nothing if the connection ends before.
pub(crate) fn read_head(reader: &mut impl BufRead) -> Option<(u16, Vec<(String, String)>)> {
    let line = |reader: &mut dyn BufRead| {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{error}"),
        }
    };
    let first = line(reader)?;
    let status = first.split(' ').nth(1)?.parse().expect("a status");
    let mut headers = Vec::new();
    loop {
        let found = line(reader)?;
        match found.split_once(": ") {
            Some((name, value)) => headers.push((name.to_lowercase(), value.to_owned())),
            None => return Some((status, headers)),
        }
    }
}

/// The next piece of a body that comes in pieces.
pub(crate) fn read_chunk(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = String::new();
    reader.read_line(&mut line).expect("a size");
    let size = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
    let mut chunk = vec![0; size + 2];
    reader.read_exact(&mut chunk).ok()?;
    chunk.truncate(size);
    (size > 0).then_some(chunk)
}
