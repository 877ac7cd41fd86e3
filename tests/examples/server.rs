//! A web server of a test's own: it answers as the test says, also as no server should.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// What a client asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// How many requests came before.
    pub(crate) number: usize,
    /// How many connections were made before this one's.
    pub(crate) connection: usize,
    pub(crate) path: String,
    pub(crate) range: Option<Range<usize>>,
    pub(crate) if_range: Option<String>,
    /// Bytes of a body that were meant to be sent in answer.
    pub(crate) sent: usize,
}

/// How a client is to know the end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Length,
    Chunked,
    UntilClose,
}

/// An answer, right or wrong.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    status: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    framing: Framing,
    /// Closes the connection after so many bytes of the body.
    cut: Option<usize>,
    is_silent: bool,
}

impl Reply {
    pub(crate) fn status(status: &str) -> Self {
        Self {
            status: status.into(),
            headers: Vec::new(),
            body: Vec::new(),
            framing: Framing::Length,
            cut: None,
            is_silent: false,
        }
    }

    /// The whole file, as from a server that knows no ranges.
    pub(crate) fn whole(file: &[u8]) -> Self {
        Self { body: file.to_vec(), ..Self::status("200 OK") }
    }

    /// What a good server answers: the range if one is asked for, and else the file.
    pub(crate) fn part(file: &[u8], request: &Request) -> Self {
        let Some(range) = request.range.clone() else { return Self::whole(file) };
        let size = file.len();
        if range.start >= size {
            return Self::status("416 Range Not Satisfiable")
                .header("Content-Range", format!("bytes */{size}"));
        }
        let range = range.start..range.end.min(size);
        let content_range = format!("bytes {}-{}/{size}", range.start, range.end - 1);
        let part = Self { body: file[range].to_vec(), ..Self::status("206 Partial Content") };
        part.header("Content-Range", content_range)
    }

    /// Adds a header, or changes it.
    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.retain(|(each, _)| !each.eq_ignore_ascii_case(name));
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn without_header(mut self, name: &str) -> Self {
        self.headers.retain(|(each, _)| !each.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn with_status(self, status: &str) -> Self {
        Self { status: status.into(), ..self }
    }

    pub(crate) fn framing(self, framing: Framing) -> Self {
        Self { framing, ..self }
    }

    pub(crate) fn body(self, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Self {
        Self { body: change(self.body), ..self }
    }

    pub(crate) fn body_bytes(&self) -> usize {
        self.body.len()
    }

    pub(crate) fn cut(self, body_bytes: usize) -> Self {
        Self { cut: Some(body_bytes), ..self }
    }

    /// Says nothing more, where [`cut`](Self::cut) closes the connection, and keeps it.
    pub(crate) fn silent_after(self, body_bytes: usize) -> Self {
        Self { is_silent: true, cut: Some(body_bytes), ..self }
    }

    /// Says nothing at all.
    pub(crate) fn silent() -> Self {
        Self { is_silent: true, ..Self::status("") }
    }

    fn sent(&self) -> usize {
        self.cut.map_or(self.body.len(), |cut| cut.min(self.body.len()))
    }

    /// Writes it. False where the connection has to be closed.
    fn write(&self, stream: &mut TcpStream) -> io::Result<bool> {
        let mut head = format!("HTTP/1.1 {}\r\n", self.status);
        self.headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        let has_length = self.headers.iter().any(|(name, _)| name == "Content-Length");
        match self.framing {
            Framing::Length if !has_length => head += &format!("Content-Length: {}\r\n", self.body.len()),
            Framing::Length => {}
            Framing::Chunked => head += "Transfer-Encoding: chunked\r\n",
            Framing::UntilClose => head += "Connection: close\r\n",
        }
        stream.write_all((head + "\r\n").as_bytes())?;
        let body = &self.body[..self.sent()];
        if self.framing == Framing::Chunked {
            for chunk in body.chunks(10_000) {
                stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes())?;
                stream.write_all(chunk)?;
                stream.write_all(b"\r\n")?;
            }
            if self.cut.is_none() {
                stream.write_all(b"0\r\n\r\n")?;
            }
        } else {
            stream.write_all(body)?;
        }
        Ok(self.cut.is_none() && self.framing != Framing::UntilClose)
    }
}

type Answer = dyn Fn(&Request) -> Reply + Send + Sync;

/// Answers until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    is_stopping: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::<Mutex<Vec<Request>>>::default();
        let is_stopping = Arc::<AtomicBool>::default();
        let (log, stop, answer) = (Arc::clone(&requests), Arc::clone(&is_stopping), Arc::new(answer));
        let listening = thread::spawn(move || {
            for (connection, stream) in listener.incoming().enumerate() {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                // It ends with the client's connection. A client that does not wait for an answer is no fault.
                thread::spawn(move || serve(stream.unwrap(), connection, &log, &*answer));
            }
        });
        Self { address, requests, is_stopping, listening: Some(listening) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/models/model.gguf", self.address)
    }

    /// All requests so far, in order.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Bytes of bodies that were meant to be sent.
    pub(crate) fn sent(&self) -> usize {
        self.requests().iter().map(|request| request.sent).sum()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        // Wakes the thread up.
        drop(TcpStream::connect(self.address));
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
        }
    }
}

fn serve(
    mut stream: TcpStream,
    connection: usize,
    log: &Mutex<Vec<Request>>,
    answer: &Answer,
) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(mut request) = read_request(&mut reader)? {
        request.connection = connection;
        let reply = {
            let mut log = log.lock().unwrap();
            request.number = log.len();
            let reply = answer(&request);
            request.sent = reply.sent();
            log.push(request);
            reply
        };
        let goes_on = reply.status.is_empty() || reply.write(&mut stream)?;
        if reply.is_silent {
            // Until the client leaves.
            return reader.read(&mut [0]).map(|_| ());
        }
        if !goes_on {
            return stream.shutdown(Shutdown::Both);
        }
    }
    Ok(())
}

fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap().to_owned();
    let mut request = Request { number: 0, connection: 0, path, range: None, if_range: None, sent: 0 };
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { return Ok(Some(request)) };
        match name.to_ascii_lowercase().as_str() {
            "range" => {
                let (first, last) = value.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
                request.range = Some(first.parse().unwrap()..last.parse::<usize>().unwrap() + 1);
            }
            "if-range" => request.if_range = Some(value.into()),
            _ => {}
        }
    }
}
