//! Clients that mean no good, over real sockets. None of them is waited for longer than the limits that a test sets.

use super::*;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Long, so that nothing here depends on how busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server over a collection without runs; the port it is at.
fn started(limits: Limits) -> u16 {
    let serving = Serving::bind(Collection::empty(), 0).unwrap();
    let port = serving.site.port;
    let serving = Serving { limits, ..serving };
    // It ends with the program.
    std::thread::spawn(move || serving.run());
    port
}

fn patient() -> Limits {
    Limits { header_within: 10 * PATIENCE, stall: 10 * PATIENCE, ..Limits::default() }
}

fn connected(port: u16) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn request(method: &str, path: &str, host: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")
}

/// All that comes back.
fn said(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn asked(port: u16, method: &str, path: &str, host: &str) -> String {
    let mut stream = connected(port);
    stream.write_all(request(method, path, host).as_bytes()).unwrap();
    said(stream)
}

fn own(port: u16) -> String {
    format!("127.0.0.1:{port}")
}

fn answers(port: u16) {
    let page = asked(port, "GET", "/", &own(port));
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with(page::HTML), "{page}");
}

/// Whether the other end has closed it; it may have been hard about it.
fn is_closed(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0; 16]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

#[test]
fn the_page_is_handed_out_to_whoever_names_the_server() {
    let port = started(Limits::default());
    answers(port);
    let script = asked(port, "GET", "/replay.js?v=1", &format!("localhost:{port}"));
    assert!(script.contains("Connection: close\r\n") && script.ends_with(page::SCRIPT));
    let head = asked(port, "HEAD", "/replay.js", &own(port));
    assert!(head.contains(&format!("Content-Length: {}\r\n", page::SCRIPT.len())) && head.ends_with("\r\n\r\n"));
    let index = asked(port, "GET", "/data/index.json", &own(port));
    assert!(index.contains("application/json") && index.contains("\"runs\":[]"), "{index}");
    for (method, path, host, status) in [
        ("GET", "/", "example.org".to_owned(), 403),
        ("GET", "/", "127.0.0.1".to_owned(), 403),
        ("GET", "/", format!("127.0.0.1:{port}.example.org"), 403),
        ("POST", "/", own(port), 405),
        ("GET", "/../../etc/passwd", own(port), 404),
        ("GET", "http://example.org/", own(port), 404),
        ("GET", "/data/../server.rs", own(port), 404),
        ("GET", "/data/9/run.json", own(port), 404),
        ("GET", "/favicon.ico", own(port), 204),
    ] {
        let said = asked(port, method, path, &host);
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {path} {host}: {said}");
    }
}

#[test]
fn a_body_that_nobody_reads_does_not_cost_the_answer() {
    let port = started(Limits::default());
    let mut stream = connected(port);
    let body = "x".repeat(100_000);
    let head = format!("POST / HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n", own(port), body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    assert!(said(stream).starts_with("HTTP/1.1 405 "));
}

#[test]
fn clients_that_ask_and_do_not_read_keep_nobody_waiting() {
    let port = started(patient());
    let mut deaf: Vec<TcpStream> = (0..8).map(|_| connected(port)).collect();
    let many = request("GET", "/replay.js", &own(port)).repeat(50);
    for stream in &mut deaf {
        stream.write_all(many.as_bytes()).unwrap();
    }
    (0..5).for_each(|_| answers(port));
}

/// More than the system holds back for a connection.
const LONG: usize = 32 << 20;

/// A server whose only answer is long.
fn started_long(limits: Limits) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || serve(&listener, limits, |_| Answer::new(vec![b'x'; LONG], "text/plain")));
    port
}

#[test]
fn who_does_not_read_is_sent_away_and_who_does_has_it_all() {
    let port = started_long(Limits { stall: Duration::from_millis(50), ..patient() });
    let mut deaf = connected(port);
    deaf.write_all(request("GET", "/", "x").as_bytes()).unwrap();
    // Gone at last, whenever that is noticed: writing to it fails.
    while deaf.write_all(b"anybody there?").is_ok() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let port = started_long(patient());
    assert!(asked(port, "GET", "/", "x").len() > LONG);
}

#[test]
fn answers_that_nobody_reads_hold_bounded_memory() {
    let port = started_long(Limits { held_bytes: 2 * LONG, ..patient() });
    let mut deaf: Vec<TcpStream> = (0..6).map(|_| connected(port)).collect();
    for stream in &mut deaf {
        stream.write_all(request("GET", "/", "x").as_bytes()).unwrap();
    }
    // Each has its answer, or was sent away since: no answer to them is to come that could displace the next one.
    for stream in &deaf {
        let answered = stream.peek(&mut [0]);
        assert!(answered.as_ref().err().is_none_or(|error| error.kind() == ErrorKind::ConnectionReset), "{answered:?}");
    }
    // Of six at most two are kept, and one of those has to make room for this.
    assert!(asked(port, "GET", "/", "x").len() > LONG);
    let whole = deaf.into_iter().map(all_of).filter(|bytes| *bytes > LONG).count();
    assert!(whole <= 2, "{whole} answers were kept");
}

/// How many bytes come until it is closed.
fn all_of(mut stream: TcpStream) -> usize {
    let (mut buffer, mut all) = (vec![0; 1 << 20], 0);
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        all += read;
    }
    all
}

#[test]
fn a_header_without_end_is_refused_while_it_is_short() {
    let port = started(patient());
    let mut stream = connected(port);
    let line = b"X-Long: 0123456789012345678901234567890123456789012345678901234567890123456789\r\n";
    let mut sent = 0;
    stream.write_all(format!("GET / HTTP/1.1\r\nHost: {}\r\n", own(port)).as_bytes()).unwrap();
    // The system's own buffers take some megabytes before a writer is stopped; the server reads none of that.
    while sent < 64 << 20 {
        match stream.write(line) {
            Ok(written) => sent += written,
            Err(_) => break,
        }
    }
    assert!(sent < 64 << 20, "it took {sent} bytes of a header");
    answers(port);
}

#[test]
fn a_header_that_does_not_come_ends_the_connection() {
    let port = started(Limits { header_within: Duration::from_millis(20), ..patient() });
    let mut silent = connected(port);
    let mut slow = connected(port);
    slow.write_all(b"GET / HTTP/1.1\r\nHo").unwrap();
    assert!(is_closed(&mut silent) && is_closed(&mut slow));
    answers(port);
}

#[test]
fn five_hundred_silent_connections_take_neither_threads_nor_turns() {
    let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let port = started(patient());
    answers(port);
    let before = threads();
    let mut silent: Vec<TcpStream> = (0..500).map(|_| connected(port)).collect();
    (0..3).for_each(|_| answers(port));
    // Other tests start theirs meanwhile, but not hundreds.
    assert!(threads() < before + 100, "{} threads, {before} before", threads());
    // Who came first had to go; who came last is still there, and may ask.
    assert!(is_closed(&mut silent[0]));
    let mut last = silent.pop().unwrap();
    last.write_all(request("GET", "/", &own(port)).as_bytes()).unwrap();
    assert!(said(last).ends_with(page::HTML));
}

#[test]
fn what_is_no_request_is_told_so() {
    let port = started(Limits::default());
    for text in ["\r\n\r\n", "hello\r\n\r\n", "GET / HTTP/1.1\r\nHost\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n"] {
        let mut stream = connected(port);
        stream.write_all(text.as_bytes()).unwrap();
        assert!(said(stream).starts_with("HTTP/1.1 400 "), "{text:?}");
    }
}
