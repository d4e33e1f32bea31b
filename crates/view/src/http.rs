//! Requests as bytes, and answers as bytes: as much of HTTP/1.1 as one page and its data need.

use std::borrow::Cow;

/// A request without its body, which is never read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    pub method: String,
    /// Without what follows `?` or `#`.
    pub path: String,
    /// What it calls this server; none if it says nothing, or more than one thing.
    pub host: Option<String>,
}

/// What is made of the bytes that have come so far.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Read {
    /// The header has no end yet.
    More,
    Whole(Request),
    Malformed,
}

pub(crate) fn read(bytes: &[u8]) -> Read {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Read::More };
    std::str::from_utf8(&bytes[..end]).ok().and_then(request).map_or(Read::Malformed, Read::Whole)
}

fn request(text: &str) -> Option<Request> {
    let mut lines = text.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") || method.is_empty() {
        return None;
    }
    let mut hosts = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':')?;
        if name.is_empty() || name.contains(char::is_whitespace) {
            return None;
        }
        if name.eq_ignore_ascii_case("host") {
            hosts.push(value.trim().to_owned());
        }
    }
    let host = if hosts.len() == 1 { hosts.pop() } else { None };
    let path = target.split(['?', '#']).next().unwrap_or("");
    Some(Request { method: method.to_owned(), path: path.to_owned(), host })
}

/// What a page of ours may do: run its own script, ask its own server, nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub status: u16,
    kind: &'static str,
    pub body: Cow<'static, [u8]>,
}

impl Answer {
    /// What was asked for; the page itself is never copied.
    pub fn new(body: impl Into<Cow<'static, [u8]>>, kind: &'static str) -> Answer {
        Answer { status: 200, kind, body: body.into() }
    }

    /// Why there is nothing.
    pub fn refusal(status: u16, why: &str) -> Answer {
        Answer { status, ..Answer::new(why.as_bytes().to_vec(), "text/plain; charset=utf-8") }
    }

    /// Memory that it holds.
    pub fn held_bytes(&self) -> usize {
        if let Cow::Owned(body) = &self.body { body.len() } else { 0 }
    }

    /// All that goes before the body. Every answer ends its connection.
    pub fn head(&self) -> Vec<u8> {
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
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        head.into_bytes()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        431 => "Request Header Fields Too Large",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_once_its_header_is_whole() {
        let text = b"GET /data/0/run.json?x=1 HTTP/1.1\r\nhost:  127.0.0.1:80 \r\nAccept: */*\r\n\r\nrest";
        let (path, host) = ("/data/0/run.json".to_owned(), Some("127.0.0.1:80".to_owned()));
        assert_eq!(read(text), Read::Whole(Request { method: "GET".to_owned(), path, host }));
        assert!((0..text.len() - 5).all(|until| read(&text[..until]) == Read::More));
    }

    #[test]
    fn what_is_no_request_is_malformed() {
        for text in [
            "\r\n\r\n",
            "GET /\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET / HTTP/1.1 x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
            "GET / HTTP/1.1\r\n: a\r\n\r\n",
        ] {
            assert_eq!(read(text.as_bytes()), Read::Malformed, "{text:?}");
        }
        assert_eq!(read(b"GET /\xff HTTP/1.1\r\n\r\n"), Read::Malformed);
    }

    #[test]
    fn two_names_of_the_server_are_none() {
        let text = b"GET / HTTP/1.1\r\nHost: localhost:1\r\nHost: localhost:1\r\n\r\n";
        assert!(matches!(read(text), Read::Whole(Request { host: None, .. })));
    }
}
