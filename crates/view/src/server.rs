//! Hands out the page and the data of one collection, to browsers on this machine.
//!
//! Any page that is open in a browser can send requests to loopback, and a name server can be made to say that a
//! stranger's name is this machine. So a request must name the server's own host, what is sent may not be read
//! by pages of others, and nothing is served but what was opened: paths are looked up, not appended to a folder.

use crate::collection::Collection;
use crate::connections::{Limits, serve};
use crate::http::{Answer, Request};
use crate::page;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use xoff_results::replay::Resource;

/// A server that listens, on loopback only.
pub struct Serving {
    listener: TcpListener,
    limits: Limits,
    site: Site,
}

/// What is there to ask for.
struct Site {
    collection: Collection,
    port: u16,
}

impl Serving {
    /// At this port, or at any that is free if it is zero.
    pub fn bind(collection: Collection, port: u16) -> io::Result<Serving> {
        let address = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port));
        let failed = |error: io::Error| io::Error::new(error.kind(), format!("cannot listen at {address}: {error}"));
        let listener = TcpListener::bind(address).map_err(failed)?;
        let port = listener.local_addr()?.port();
        Ok(Serving { listener, limits: Limits::default(), site: Site { collection, port } })
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.site.port)
    }

    /// Answers until the program ends.
    pub fn run(self) -> io::Result<()> {
        let Serving { listener, limits, site } = &self;
        std::thread::scope(|scope| {
            std::thread::Builder::new().spawn_scoped(scope, || site.collection.prepare())?;
            serve(listener, *limits, |request| site.respond(request))
        })
    }
}

impl Site {
    fn respond(&self, request: &Request) -> Answer {
        if !request.host.as_deref().is_some_and(|host| self.is_own_name(host)) {
            return Answer::refusal(403, "this server answers to its own name only");
        }
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Answer::refusal(405, "there is nothing to write");
        }
        match request.path.as_str() {
            "/" | "/index.html" => Answer::new(page::HTML.as_bytes(), "text/html; charset=utf-8"),
            "/replay.js" => Answer::new(page::SCRIPT.as_bytes(), "text/javascript; charset=utf-8"),
            "/replay.css" => Answer::new(page::STYLE.as_bytes(), "text/css; charset=utf-8"),
            "/favicon.ico" => Answer::refusal(204, ""),
            path => match path.strip_prefix("/data/") {
                Some(data) => self.data(data),
                None => Answer::refusal(404, "there is no such page"),
            },
        }
    }

    fn data(&self, path: &str) -> Answer {
        match self.collection.resource(path) {
            Ok(Some(Resource::Json(text))) => Answer::new(text.into_bytes(), "application/json"),
            Ok(Some(Resource::Binary(bytes))) => Answer::new(bytes, "application/octet-stream"),
            Ok(None) => Answer::refusal(404, "there is nothing of this name"),
            Err(errors) => {
                let said: Vec<String> = errors.iter().map(|error| error.render(false)).collect();
                Answer::refusal(500, &said.join("\n"))
            }
        }
    }

    fn is_own_name(&self, host: &str) -> bool {
        let name = host.strip_suffix(&format!(":{}", self.port));
        matches!(name, Some("127.0.0.1" | "localhost"))
    }
}

#[cfg(test)]
mod tests;
