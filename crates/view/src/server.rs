//! Hands out the page and the data of one collection, to browsers on this machine.
//!
//! Any page that is open in a browser can send requests to loopback, and a name server can be made to say that a
//! stranger's name is this machine. So a request must name the host that it was told to, what is sent may not be read
//! by pages of others, and nothing is served but what was opened: paths are looked up, not appended to a folder.

use crate::collection::Collection;
use crate::page;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use tiny_http::{Method, Request, Server, StatusCode};
use xoff_results::replay::Resource;

/// Requests that are worked on at the same time.
const THREADS: usize = 4;

/// What a page of ours may do: run its own script, ask its own server, nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A server that listens, on loopback only.
pub struct Serving {
    server: Arc<Server>,
    collection: Arc<Collection>,
    port: u16,
}

impl Serving {
    /// At this port, or at any that is free if it is zero.
    pub fn bind(collection: Collection, port: u16) -> io::Result<Serving> {
        let address = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port));
        let server = Server::http(address).map_err(|error| match error.downcast::<io::Error>() {
            Ok(error) => io::Error::new(error.kind(), format!("cannot listen at {address}: {error}")),
            Err(error) => io::Error::other(format!("cannot listen at {address}: {error}")),
        })?;
        let port = server.server_addr().to_ip().map_or(port, |address| address.port());
        Ok(Serving { server: Arc::new(server), collection: Arc::new(collection), port })
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Answers until the program ends.
    pub fn run(self) -> io::Result<()> {
        std::thread::scope(|scope| {
            std::thread::Builder::new().spawn_scoped(scope, || self.collection.prepare())?;
            for _ in 1..THREADS {
                std::thread::Builder::new().spawn_scoped(scope, || self.answer())?;
            }
            self.answer();
            Ok(())
        })
    }

    fn answer(&self) {
        while let Ok(request) = self.server.recv() {
            let answer = self.respond(&request);
            let whole = *request.method() != Method::Head;
            // Whoever has gone away need not be told.
            let _ = answer.send(&mut request.into_writer(), whole);
        }
    }

    fn respond(&self, request: &Request) -> Answer {
        let host = request.headers().iter().find(|header| header.field.equiv("Host"));
        if !host.is_some_and(|host| self.is_own_name(host.value.as_str())) {
            return refusal(403, "this server answers to its own name only");
        }
        if !matches!(request.method(), Method::Get | Method::Head) {
            return refusal(405, "there is nothing to write");
        }
        let path = request.url().split(['?', '#']).next().unwrap_or("");
        match path {
            "/" | "/index.html" => Answer::new(page::HTML, "text/html; charset=utf-8"),
            "/replay.js" => Answer::new(page::SCRIPT, "text/javascript; charset=utf-8"),
            "/replay.css" => Answer::new(page::STYLE, "text/css; charset=utf-8"),
            "/favicon.ico" => refusal(204, ""),
            _ => match path.strip_prefix("/data/") {
                Some(data) => self.data(data),
                None => refusal(404, "there is no such page"),
            },
        }
    }

    fn data(&self, path: &str) -> Answer {
        match self.collection.resource(path) {
            Ok(Some(Resource::Json(text))) => Answer::new(text, "application/json"),
            Ok(Some(Resource::Binary(bytes))) => Answer::new(bytes, "application/octet-stream"),
            Ok(None) => refusal(404, "there is nothing of this name"),
            Err(errors) => {
                let said: Vec<String> = errors.iter().map(|error| error.render(false)).collect();
                refusal(500, &said.join("\n"))
            }
        }
    }

    fn is_own_name(&self, host: &str) -> bool {
        let name = host.strip_suffix(&format!(":{}", self.port));
        matches!(name, Some("127.0.0.1" | "localhost"))
    }
}

/// What is sent.
struct Answer {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
}

impl Answer {
    fn new(body: impl Into<Vec<u8>>, kind: &'static str) -> Answer {
        Answer { status: 200, kind, body: body.into() }
    }

    /// Asks for the end of the connection, which the library's own way of answering cannot do. It hands two connections
    /// that come at once to one thread at times, and the second then waits until the first is over.
    fn send(&self, out: &mut dyn Write, whole: bool) -> io::Result<()> {
        let headers = [
            ("Content-Type", self.kind),
            ("Content-Security-Policy", POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
            ("Connection", "close"),
        ];
        write!(out, "HTTP/1.1 {} {}\r\n", self.status, StatusCode(self.status).default_reason_phrase())?;
        for (name, value) in headers {
            write!(out, "{name}: {value}\r\n")?;
        }
        write!(out, "Content-Length: {}\r\n\r\n", self.body.len())?;
        if whole {
            out.write_all(&self.body)?;
        }
        out.flush()
    }
}

fn refusal(status: u16, why: &str) -> Answer {
    Answer { status, ..Answer::new(why, "text/plain; charset=utf-8") }
}
