//! Connections of the server. One thread serves all of them and waits for none: a client that sends nothing, or does not
//! read its answer, delays no other, and is disconnected after a while. A few other threads compute answers.
//!
//! Everything has a bound: connections, bytes of a header, the time in which one must come, the time for which an
//! answer may make no progress, the bytes of unread answers, and threads.

use crate::http::{Answer, Read as Header, Request, read};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What one server may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// At the same time; beyond that the one goes that has said or read nothing for longest.
    pub connections: usize,
    /// Most bytes of one request's header, its first line included.
    pub header_bytes: usize,
    /// From the beginning of a connection to the end of its header.
    pub header_within: Duration,
    /// Longest time without progress of an answer.
    pub stall: Duration,
    /// Most bytes of unread answers, the page itself left out.
    pub held_bytes: usize,
    /// Answers that are worked out at the same time.
    pub workers: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 128,
            header_bytes: 16 * 1024,
            header_within: Duration::from_secs(10),
            stall: Duration::from_secs(10),
            held_bytes: 256 << 20,
            workers: 4,
        }
    }
}

/// What the other end may still say after its answer, and for how long, before the connection is closed all the same.
const AFTERWORD: Duration = Duration::from_secs(1);
const AFTERWORD_BYTES: usize = 1 << 20;

enum State {
    /// What there is of the request.
    Asking(Vec<u8>),
    /// A worker computes the answer.
    Waiting,
    /// What is sent before the body, the answer, and how much of both is gone.
    Answering { head: Vec<u8>, answer: Answer, sent: usize },
    /// All is sent. What the other end still says, so many bytes at most, is thrown away: closed at once, the system
    /// might take the answer back.
    Closing(usize),
}

struct Connection {
    stream: TcpStream,
    state: State,
    /// When anything last moved.
    moved: Instant,
    until: Instant,
}

/// A request, by the place of its connection.
type Job = (usize, Request);
/// Its answer, and whether the body is wanted.
type Done = (usize, Answer, bool);

/// Answers at a listener, for as long as the program runs.
pub(crate) fn serve(
    listener: &TcpListener,
    limits: Limits,
    answer: impl Fn(&Request) -> Answer + Sync,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let (wake, woken) = UnixStream::pair()?;
    wake.set_nonblocking(true)?;
    woken.set_nonblocking(true)?;
    let (jobs, to_do) = channel::<Job>();
    let (finished, done) = channel::<Done>();
    let to_do = Mutex::new(to_do);
    std::thread::scope(|scope| {
        for _ in 0..limits.workers {
            let (finished, wake) = (finished.clone(), wake.try_clone()?);
            let (to_do, answer) = (&to_do, &answer);
            std::thread::Builder::new().spawn_scoped(scope, move || work(to_do, &finished, wake, answer))?;
        }
        Desk { limits, listener, woken, jobs, done, places: Vec::new() }.run()
    })
}

/// Computes answers until the server ends.
fn work(
    to_do: &Mutex<Receiver<Job>>,
    finished: &Sender<Done>,
    mut wake: UnixStream,
    answer: &impl Fn(&Request) -> Answer,
) {
    loop {
        let next = to_do.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((place, request)) = next else { return };
        let whole = request.method != "HEAD";
        // Whatever goes wrong with one answer, others are still to be given.
        let said = std::panic::catch_unwind(AssertUnwindSafe(|| answer(&request)));
        let said = said.unwrap_or_else(|_| Answer::refusal(500, "this could not be answered"));
        if finished.send((place, said, whole)).is_err() {
            return;
        }
        // If there is no room, enough bytes wait there already.
        let _ = wake.write(&[0]);
    }
}

struct Desk<'a> {
    limits: Limits,
    listener: &'a TcpListener,
    woken: UnixStream,
    jobs: Sender<Job>,
    done: Receiver<Done>,
    places: Vec<Option<Connection>>,
}

impl Desk<'_> {
    fn run(mut self) -> io::Result<()> {
        loop {
            let (listener, woken, ready) = self.wait()?;
            if woken {
                self.take_answers();
            }
            for place in ready {
                self.go_on(place);
            }
            self.dismiss();
            if listener {
                self.accept();
            }
        }
    }

    /// Sleeps until something can be done: whether a new client is there, whether an answer is, and the connections that
    /// can continue.
    fn wait(&self) -> io::Result<(bool, bool, Vec<usize>)> {
        let now = Instant::now();
        let mut looks = vec![PollFd::new(self.listener, PollFlags::IN), PollFd::new(&self.woken, PollFlags::IN)];
        let mut places = Vec::new();
        let mut until: Option<Instant> = None;
        for (place, connection) in self.places.iter().enumerate() {
            let Some(connection) = connection else { continue };
            let flags = match connection.state {
                State::Waiting => continue,
                State::Asking(_) | State::Closing(_) => PollFlags::IN,
                State::Answering { .. } => PollFlags::OUT,
            };
            looks.push(PollFd::new(&connection.stream, flags));
            places.push(place);
            until = Some(until.map_or(connection.until, |until| until.min(connection.until)));
        }
        let timeout = until.map(|until| until.saturating_duration_since(now) + Duration::from_millis(1));
        let timeout = timeout.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut looks, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut seen = looks.iter().map(|look| !look.revents().is_empty());
        let (listener, woken) = (seen.next().unwrap_or(false), seen.next().unwrap_or(false));
        let ready = places.into_iter().zip(seen).filter(|(_, seen)| *seen).map(|(place, _)| place).collect();
        Ok((listener, woken, ready))
    }

    fn accept(&mut self) {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    let open = self.places.iter().flatten().count();
                    if open >= self.limits.connections && !self.send_one_away() {
                        // The connection waits for its answer.
                        continue;
                    }
                    let now = Instant::now();
                    if stream.set_nonblocking(true).is_ok() {
                        let state = State::Asking(Vec::new());
                        let until = now + self.limits.header_within;
                        self.place(Connection { stream, state, moved: now, until });
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    // Out of descriptors, most likely: others of this program use them too.
                    if !self.send_one_away() {
                        std::thread::sleep(Duration::from_millis(50));
                    }
                    return;
                }
            }
        }
    }

    fn place(&mut self, connection: Connection) {
        match self.places.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(connection),
            None => self.places.push(Some(connection)),
        }
    }

    /// Closes the connection on which nothing has moved for longest, one that has not asked yet first.
    fn send_one_away(&mut self) -> bool {
        let rank = |connection: &Connection| match connection.state {
            State::Asking(_) | State::Closing(_) => Some((false, connection.moved)),
            State::Answering { .. } => Some((true, connection.moved)),
            State::Waiting => None,
        };
        let places = self.places.iter().enumerate();
        let ranked = places.filter_map(|(place, connection)| Some((rank(connection.as_ref()?)?, place)));
        let Some((_, place)) = ranked.min() else { return false };
        self.places[place] = None;
        true
    }

    /// Closes connections that have timed out.
    fn dismiss(&mut self) {
        let now = Instant::now();
        for place in &mut self.places {
            let over = |connection: &Connection| connection.until <= now && !matches!(connection.state, State::Waiting);
            if place.as_ref().is_some_and(over) {
                *place = None;
            }
        }
    }

    fn take_answers(&mut self) {
        let mut bytes = [0; 64];
        while matches!((&self.woken).read(&mut bytes), Ok(read) if read > 0) {}
        while let Ok((place, answer, whole)) = self.done.try_recv() {
            self.answer(place, answer, whole);
            self.make_room();
        }
    }

    fn answer(&mut self, place: usize, mut answer: Answer, whole: bool) {
        let Some(connection) = &mut self.places[place] else { return };
        let head = answer.head();
        if !whole {
            answer.body = Vec::new().into();
        }
        connection.state = State::Answering { head, answer, sent: 0 };
        connection.moved = Instant::now();
        connection.until = connection.moved + self.limits.stall;
        self.go_on(place);
    }

    /// Sends those away who read least, until answers hold no more memory than they may.
    fn make_room(&mut self) {
        loop {
            let held = |connection: &Connection| match &connection.state {
                State::Answering { answer, .. } => answer.held_bytes(),
                _ => 0,
            };
            let held: Vec<(Instant, usize, usize)> = (0..)
                .zip(&self.places)
                .filter_map(|(place, connection)| connection.as_ref().map(|of| (of.moved, place, held(of))))
                .filter(|(_, _, bytes)| *bytes > 0)
                .collect();
            if held.len() < 2 || held.iter().map(|(_, _, bytes)| bytes).sum::<usize>() <= self.limits.held_bytes {
                return;
            }
            if let Some((_, place, _)) = held.into_iter().min() {
                self.places[place] = None;
            }
        }
    }

    /// Reads or writes what can be without waiting.
    fn go_on(&mut self, place: usize) {
        let Some(connection) = &mut self.places[place] else { return };
        let lasts = match connection.step(&self.limits) {
            Step::Blocked => true,
            Step::Over => false,
            Step::Asked(request) => {
                connection.state = State::Waiting;
                self.jobs.send((place, request)).is_ok()
            }
            Step::Refused(answer) => {
                self.answer(place, answer, true);
                true
            }
        };
        if !lasts {
            self.places[place] = None;
        }
    }
}

enum Step {
    /// There is nothing more to do now.
    Blocked,
    /// Ended, or broken.
    Over,
    Asked(Request),
    Refused(Answer),
}

impl Connection {
    fn step(&mut self, limits: &Limits) -> Step {
        match &mut self.state {
            State::Waiting => Step::Blocked,
            State::Asking(bytes) => {
                let mut buffer = [0; 4096];
                loop {
                    match self.stream.read(&mut buffer) {
                        Ok(0) => return Step::Over,
                        Ok(read) => bytes.extend_from_slice(&buffer[..read]),
                        Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Blocked,
                        Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                        Err(_) => return Step::Over,
                    }
                    match read(bytes) {
                        Header::Whole(request) => return Step::Asked(request),
                        Header::Malformed => return Step::Refused(Answer::refusal(400, "this is no request")),
                        Header::More if bytes.len() > limits.header_bytes => {
                            return Step::Refused(Answer::refusal(431, "the header is too long"));
                        }
                        Header::More => {}
                    }
                }
            }
            State::Answering { head, answer, sent } => {
                loop {
                    let rest = match head.get(*sent..) {
                        Some(rest) if !rest.is_empty() => rest,
                        _ => &answer.body[*sent - head.len()..],
                    };
                    if rest.is_empty() {
                        break;
                    }
                    match self.stream.write(rest) {
                        Ok(0) => return Step::Over,
                        Ok(written) => {
                            *sent += written;
                            self.moved = Instant::now();
                            self.until = self.moved + limits.stall;
                        }
                        Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Blocked,
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(_) => return Step::Over,
                    }
                }
                if self.stream.shutdown(Shutdown::Write).is_err() {
                    return Step::Over;
                }
                self.state = State::Closing(AFTERWORD_BYTES);
                self.until = Instant::now() + AFTERWORD;
                Step::Blocked
            }
            // One read at a time, so that a client that sends without end delays no other.
            State::Closing(left) => match self.stream.read(&mut [0; 16 * 1024]) {
                Ok(read) if read == 0 || read >= *left => Step::Over,
                Ok(read) => {
                    *left -= read;
                    Step::Blocked
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Step::Blocked,
                Err(_) => Step::Over,
            },
        }
    }
}
