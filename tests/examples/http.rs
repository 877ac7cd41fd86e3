//! `http`, run against good servers: what it prints, and what it takes for that.

use std::fs;
use std::sync::Arc;

use crate::run::{Run, SAMPLE, command, file, finish, run};
use crate::server::{Framing, Reply, Request, Server};
use crate::support::gguf_writer::{Gguf, Tensor, Value, Written};
use crate::support::random::Random;

/// What a jump is worth: more than this is never fetched in vain.
pub(crate) const NEAR: usize = 64 * 1024;

pub(crate) fn http(url: &str, args: &[&str]) -> Run {
    let mut command = command("http", &[&[url], args].concat());
    for proxy in ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"] {
        command.env_remove(proxy).env_remove(proxy.to_lowercase());
    }
    finish(&mut command, None)
}

/// What a program printed, and what it says that it took.
pub(crate) struct Fetched {
    pub(crate) out: Vec<u8>,
    pub(crate) bytes: usize,
    size: Option<usize>,
    pub(crate) requests: usize,
}

#[track_caller]
pub(crate) fn fetched(run: Run) -> Fetched {
    assert_eq!((run.status, run.errors.lines().count()), (Some(0), 1), "{run:?}");
    let words: Vec<String> = run.errors.split_whitespace().map(|word| word.replace(',', "")).collect();
    let number = |index: usize| words[index].parse::<usize>().unwrap();
    let size = (words[2] == "of").then(|| number(3));
    let percent = size.map(|size| format!("({:.2} %)", 100.0 * number(1) as f64 / size as f64));
    assert!(percent.is_none_or(|percent| run.errors.contains(&percent)), "{}", run.errors);
    Fetched { out: run.out, bytes: number(1), size, requests: number(words.len() - 2) }
}

pub(crate) fn sample() -> Arc<[u8]> {
    fs::read(SAMPLE).unwrap().into()
}

pub(crate) fn ranges_of(file: Arc<[u8]>) -> Server {
    Server::start(move |request| Reply::part(&file, request))
}

/// A model as they are: a large vocabulary with scores and types, then tensors that are larger.
pub(crate) fn large() -> (Written, usize) {
    let tokens: Vec<Value> = (0..30_000).map(|n| Value::text(format!("token{n}"))).collect();
    let scores = Value::array((0..30_000).map(|n| Value::F32(n as f32)).collect());
    let types = Value::array(vec![Value::I32(1); 30_000]);
    let data = Random::new(7).bytes(3_000_000);
    let file = Gguf::new()
        .entry("general.architecture", Value::text("llama"))
        .entry("tokenizer.ggml.tokens", Value::array(tokens))
        .entry("tokenizer.ggml.scores", scores)
        .entry("tokenizer.ggml.token_type", types)
        .entry("general.name", Value::text("large"))
        .tensor(Tensor::new("first", 24, &[1000, 3000], data))
        .tensor(Tensor::new("second", 24, &[8, 4], (0..32).collect()))
        .write();
    let jumped = 2 * 4 * 30_000;
    (file, jumped)
}

/// The table of tensors, as `inspect` prints it.
fn table_of(path: &str) -> String {
    let text = run("inspect", &[path]).text();
    let start = text.find("Tensors (").unwrap();
    text[start..].split("\n\nTypes").next().unwrap().to_owned() + "\n"
}

/// What a server saw is what the program says, and nothing was asked for twice.
#[track_caller]
fn holds(fetched: &Fetched, server: &Server, size: usize) {
    let requests = server.requests();
    assert_eq!((fetched.bytes, fetched.requests, fetched.size), (server.sent(), requests.len(), Some(size)));
    let ends = requests.iter().map(|request| request.range.clone().unwrap());
    assert!(ends.is_sorted_by(|one, next| one.end <= next.start), "{requests:?}");
}

#[test]
fn http_lists_tensors_from_the_header_alone() {
    let server = ranges_of(sample());
    let found = fetched(http(&server.url(), &[]));
    let text = String::from_utf8(found.out.clone()).unwrap();
    assert!(text.starts_with("GGUF version 3, little-endian\narchitecture: "), "{text}");
    assert!(text.ends_with(&table_of(SAMPLE)), "{text}");
    holds(&found, &server, 99_680);
    assert!(found.bytes < 32 * 1024, "{}", found.bytes);

    let (large, jumped) = large();
    let server = ranges_of(large.bytes.clone().into());
    let found = fetched(http(&server.url(), &[]));
    let text = String::from_utf8(found.out.clone()).unwrap();
    assert!(
        text.starts_with("GGUF version 3, little-endian\narchitecture: llama\nname: large\n\n"),
        "{text}"
    );
    assert!(text.ends_with(&table_of(&file("http_large.gguf", &large.bytes))), "{text}");
    holds(&found, &server, large.bytes.len());
    // Scores and types are jumped over. Behind each of the three arrays may lie what came in vain.
    let needed = large.metadata_end as usize - jumped;
    assert!((needed..needed + 2 * NEAR).contains(&found.bytes), "{} of {needed}", found.bytes);
    // What is sure to be wanted is asked for at once.
    assert!(found.requests <= 10, "{}", found.requests);
    let connections = server.requests().iter().map(|request| request.connection).max();
    assert_eq!(connections, Some(0), "one connection serves all requests");
}

#[test]
fn http_asks_for_more_at_once_as_it_reads_on() {
    let tensors = (0..4_000).map(|n| Tensor::new(format!("blk.{n}.weight"), 24, &[1], vec![0]));
    let gguf = tensors.fold(Gguf::new(), Gguf::tensor).write();
    assert!(gguf.metadata_end > 180_000);
    let server = ranges_of(gguf.bytes.clone().into());
    let found = fetched(http(&server.url(), &[]));
    holds(&found, &server, gguf.bytes.len());
    let asked: Vec<usize> =
        server.requests().iter().map(|request| request.range.clone().unwrap().len() / 1024).collect();
    assert_eq!(asked, [16, 32, 64, 64, 64]);
}

#[test]
fn http_prints_what_weights_prints() {
    let server = ranges_of(sample());
    for args in [
        &["output_norm.weight"][..],
        &["output_norm.weight", "--format", "npy"],
        &["token_shift"],
        &["blk.0.attn_q.weight", "--rows", "3..5"],
        &["blk.0.attn_norm.weight", "--rows", "0..0"],
        &["token_order", "--format", "f32"],
        &["blk.0.attn_q.weigth"],
        &["output_norm.weight", "--rows", "1..9"],
    ] {
        let expected = run("weights", &[&[SAMPLE], args].concat());
        let found = http(&server.url(), &[&["--tensor"], args].concat());
        if expected.status == Some(0) {
            assert_eq!(fetched(found).out, expected.good(), "{args:?}");
        } else {
            let line =
                expected.bad().replace(&format!("weights: {SAMPLE}"), &format!("http: {}", server.url()));
            assert_eq!(found.bad(), line, "{args:?}");
        }
    }
}

#[test]
fn http_fetches_the_header_and_the_rows() {
    let (large, jumped) = large();
    let path = file("http_rows.gguf", &large.bytes);
    let server = ranges_of(large.bytes.clone().into());
    for (rows, bytes) in [("1500..1501", 1_000), ("0..1", 1_000), ("100..1500", 1_400_000)] {
        let before = server.requests().len();
        let sent_before = server.sent();
        let found = fetched(http(&server.url(), &["--tensor", "first", "--rows", rows, "--format", "f32"]));
        assert_eq!(found.out, run("weights", &[&path, "first", "--rows", rows, "--format", "f32"]).good());
        assert_eq!(found.bytes, server.sent() - sent_before);
        let requests = &server.requests()[before..];
        assert_eq!(found.requests, requests.len());
        let needed = large.metadata_end as usize - jumped + bytes;
        assert!(found.bytes < needed + 2 * NEAR, "{rows}: {} of {needed}", found.bytes);
        // Nothing behind the rows, however many there are.
        let end =
            large.data_offset as usize + 1_000 * rows.split("..").nth(1).unwrap().parse::<usize>().unwrap();
        let last = requests.last().unwrap().range.clone().unwrap();
        assert!(last.len() == bytes || rows == "0..1", "one request for all rows, not {last:?}");
        assert!(last.end <= end.max(large.data_offset as usize + NEAR), "{rows}: {last:?}");
    }
}

#[test]
fn http_streams_from_a_server_without_ranges() {
    let (large, _) = large();
    let path = file("http_stream.gguf", &large.bytes);
    let expected = run("weights", &[&path, "second"]).good();
    let bytes: Arc<[u8]> = large.bytes.clone().into();
    for framing in [Framing::Length, Framing::Chunked, Framing::UntilClose] {
        let bytes = Arc::clone(&bytes);
        let server = Server::start(move |_| Reply::whole(&bytes).framing(framing));
        let size = (framing == Framing::Length).then_some(large.bytes.len());
        let list = fetched(http(&server.url(), &[]));
        assert!(String::from_utf8(list.out).unwrap().ends_with(&table_of(&path)));
        assert_eq!((list.size, list.requests), (size, 1), "{framing:?}");
        assert!(list.bytes < large.data_offset as usize + NEAR);
        let found = fetched(http(&server.url(), &["--tensor", "second"]));
        assert_eq!(found.out, expected);
        assert_eq!((found.size, found.requests), (size, 1), "{framing:?}");
        assert!(found.bytes > large.tensors[1].data as usize);
    }
}

#[test]
fn http_reads_backwards_from_a_server_without_ranges() {
    // The first bytes of the data came with the header and are gone when the rows are asked for.
    let data = Random::new(3).bytes(4_000_000);
    let gguf = Gguf::new().tensor(Tensor::new("t", 24, &[10, 400_000], data)).write();
    let path = file("http_back.gguf", &gguf.bytes);
    let bytes = gguf.bytes.clone();
    let server = Server::start(move |_| Reply::whole(&bytes).framing(Framing::Chunked));
    let found = fetched(http(&server.url(), &["--tensor", "t", "--rows", "0..2"]));
    assert_eq!(found.out, run("weights", &[&path, "t", "--rows", "0..2"]).good());
    // The rest of the first answer is not waited for.
    assert!(found.requests == 2 && found.bytes < 100_000, "{} in {}", found.bytes, found.requests);
}

#[test]
fn http_takes_parts_that_are_shorter_than_asked_for() {
    let file = sample();
    let server = Server::start(move |request| {
        let range = request.range.clone().unwrap();
        let shorter = range.start..range.end.min(range.start + 1_000);
        Reply::part(&file, &Request { range: Some(shorter), ..request.clone() })
    });
    let found = fetched(http(&server.url(), &["--tensor", "token_order"]));
    assert_eq!(found.out, run("weights", &[SAMPLE, "token_order"]).good());
    assert!(found.requests > 10 && found.bytes < 32 * 1024);
}

#[test]
fn http_follows_a_redirect_once() {
    let target = ranges_of(sample());
    let (to, expected) = (target.url(), run("weights", &[SAMPLE, "token_order"]).good());
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let (before, to) = (target.requests().len(), to.clone());
        let server = Server::start(move |_| Reply::status(status).header("Location", to.clone()));
        let found = fetched(http(&server.url(), &["--tensor", "token_order"]));
        assert_eq!(found.out, expected, "{status}");
        let at_target = target.requests().len() - before;
        assert_eq!((server.requests().len(), at_target), (1, found.requests - 1), "{status}");
        assert!(at_target > 1);
    }
    // Within one server, and to a place that is good for one request only.
    let file = sample();
    let server = Server::start(move |request| match request.path.as_str() {
        "/models/model.gguf" => {
            Reply::status("302 Found").header("Location", format!("/at/{}", request.number))
        }
        place if place == format!("/at/{}", request.number - 1) => Reply::part(&file, request),
        _ => Reply::status("403 Forbidden"),
    });
    let found = fetched(http(&server.url(), &["--tensor", "token_order"]));
    assert_eq!((found.out, found.requests), (expected, server.requests().len()));
}

#[test]
fn http_escapes_what_files_and_servers_say() {
    let hostile = "a\u{1b}[31m\u{202e}b";
    let bytes = Gguf::new()
        .entry("general.architecture", Value::text(hostile))
        .entry("general.name", Value::text([&b"\xff\x1b]0;\x07"[..], &[b'x'; 10_000]].concat()))
        .tensor(Tensor::new(hostile, 24, &[2], vec![1, 2]))
        .write()
        .bytes;
    let server = ranges_of(bytes.into());
    let text = String::from_utf8(fetched(http(&server.url(), &[])).out).unwrap();
    assert_eq!(text.matches("a\\u{1b}[31m\\u{202e}b").count(), 2, "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text}");
    assert!(text.lines().all(|line| line.len() < 300), "{text}");
    let line = http("http://127.0.0.1:1/\u{1b}", &[]).bad();
    assert!(line.starts_with("http: http://127.0.0.1:1/\\u{1b}: ") && !line.contains('\u{1b}'), "{line}");
    let line = http(&server.url(), &["--tensor", "\u{1b}"]).bad();
    assert!(line.contains("no tensor has the name \"\\u{1b}\""), "{line}");
}

#[test]
fn http_tells_wrong_usage_with_status_2() {
    for args in [
        &[][..],
        &["model.gguf"],
        &["ftp://127.0.0.1/m"],
        &["http://127.0.0.1:1/m", "second"],
        &["http://127.0.0.1:1/m", "--rows", "0..1"],
        &["http://127.0.0.1:1/m", "--format", "npy"],
        &["http://127.0.0.1:1/m", "--tensor", "t", "--rows", "3..1"],
        &["http://127.0.0.1:1/m", "--timeout", "0"],
    ] {
        let found = run("http", args);
        assert_eq!((found.status, found.out.as_slice()), (Some(2), &[][..]), "{args:?}");
        assert!(found.errors.contains("\nUsage: http "), "{args:?}: {}", found.errors);
    }
    assert!(run("http", &["--help"]).text().starts_with("Usage: http URL"));
}

#[cfg(feature = "legacy")]
#[test]
fn http_takes_one_row_of_a_real_model_with_its_header_alone() {
    use std::io::{Read, Seek, SeekFrom};

    let Some(path) = std::env::var_os("WEIGHTSTREAM_MODEL") else {
        println!("WEIGHTSTREAM_MODEL is not set: no model to fetch");
        return;
    };
    let header = run("inspect", &[std::ffi::OsStr::new("--json"), &path]).json();
    let header_bytes = header["data_offset"].as_u64().unwrap() as usize;
    let size = fs::metadata(&path).unwrap().len() as usize;
    let model = path.clone();
    let server = Server::start(move |request| {
        let range = request.range.clone().unwrap();
        let mut file = fs::File::open(&model).unwrap();
        file.seek(SeekFrom::Start(range.start as u64)).unwrap();
        let mut body = vec![0; range.end.min(size) - range.start];
        file.read_exact(&mut body).unwrap();
        Reply::status("206 Partial Content")
            .header("Content-Range", format!("bytes {}-{}/{size}", range.start, range.end.min(size) - 1))
            .body(|_| body)
    });
    let found = fetched(http(&server.url(), &["--tensor", "token_embd.weight", "--rows", "5..6"]));
    let args = ["token_embd.weight", "--rows", "5..6"].map(std::ffi::OsStr::new);
    assert_eq!(found.out, run("weights", &[&[path.as_os_str()], &args[..]].concat()).good());
    holds(&found, &server, size);
    println!("{} bytes in {} requests, header {header_bytes}", found.bytes, found.requests);
    assert!(found.bytes <= header_bytes + NEAR);
}
