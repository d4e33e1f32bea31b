//! Hands out the page and the data of one collection, to browsers on this machine.
//!
//! Any page that is open in a browser can send requests to loopback, and a name server can be made to say that a
//! stranger's name is this machine. So a request must name the host that it was told to, what is sent may not be read
//! by pages of others, and nothing is served but what was opened: paths are looked up, not appended to a folder.

use crate::collection::Collection;
use crate::page;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use tiny_http::{Header, Method, Request, Response, Server};
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
            // Whoever has gone away need not be told.
            let _ = request.respond(answer);
        }
    }

    fn respond(&self, request: &Request) -> Response<io::Cursor<Vec<u8>>> {
        let host = request.headers().iter().find(|header| header.field.equiv("Host"));
        if !host.is_some_and(|host| self.is_own_name(host.value.as_str())) {
            return refusal(403, "this server answers to its own name only");
        }
        if !matches!(request.method(), Method::Get | Method::Head) {
            return refusal(405, "there is nothing to write");
        }
        let path = request.url().split(['?', '#']).next().unwrap_or("");
        match path {
            "/" | "/index.html" => answer(page::HTML.as_bytes().to_vec(), "text/html; charset=utf-8"),
            "/replay.js" => answer(page::SCRIPT.as_bytes().to_vec(), "text/javascript; charset=utf-8"),
            "/replay.css" => answer(page::STYLE.as_bytes().to_vec(), "text/css; charset=utf-8"),
            "/favicon.ico" => refusal(204, ""),
            _ => match path.strip_prefix("/data/") {
                Some(data) => self.data(data),
                None => refusal(404, "there is no such page"),
            },
        }
    }

    fn data(&self, path: &str) -> Response<io::Cursor<Vec<u8>>> {
        match self.collection.resource(path) {
            Ok(Some(Resource::Json(text))) => answer(text.into_bytes(), "application/json"),
            Ok(Some(Resource::Binary(bytes))) => answer(bytes, "application/octet-stream"),
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

fn answer(bytes: Vec<u8>, kind: &str) -> Response<io::Cursor<Vec<u8>>> {
    let fixed = [
        ("Content-Type", kind),
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ];
    let headers = fixed.iter().filter_map(|(name, value)| Header::from_bytes(*name, *value).ok());
    headers.fold(Response::from_data(bytes), Response::with_header)
}

fn refusal(status: u16, why: &str) -> Response<io::Cursor<Vec<u8>>> {
    answer(why.as_bytes().to_vec(), "text/plain; charset=utf-8").with_status_code(status)
}
