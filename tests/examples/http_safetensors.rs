//! `http` on safetensors files.

use std::fs;
use std::sync::Arc;

use crate::http::{NEAR, fetched, http};
use crate::run::{file, run};
use crate::safetensors::{SAMPLE, written};
use crate::server::{Framing, Reply, Server};
use crate::support::random::Random;

/// Tensors before and behind the one that is asked for: many of them, so that the header is larger than a guess.
const TENSORS: usize = 4_000;
const WANTED: usize = 2_000;
const ROW: usize = 1_000;

/// A model, where its header ends, and where the wanted tensor starts.
fn large() -> (Vec<u8>, usize, usize) {
    let (mut entries, mut end, mut wanted) = (Vec::new(), 0, 0);
    for index in 0..TENSORS {
        let (start, shape) = match index {
            WANTED => (end, [400, ROW]),
            _ => (end, [1, 300]),
        };
        if index == WANTED {
            wanted = start;
        }
        end += shape[0] * shape[1];
        entries.push(format!(
            r#""layers.{index}.weight":{{"dtype":"U8","shape":{shape:?},"data_offsets":[{start},{end}]}}"#
        ));
    }
    let header = format!("{{{}}}", entries.join(","));
    let header_end = 8 + header.len();
    assert!(header_end > 300_000);
    (written(&header, &Random::new(5).bytes(end)), header_end, header_end + wanted)
}

fn serve(bytes: &[u8]) -> Server {
    let bytes: Arc<[u8]> = bytes.into();
    Server::start(move |request| Reply::part(&bytes, request))
}

/// Each byte was asked for once: the first ones, too, which tell the format.
#[track_caller]
fn asked_once(server: &Server) {
    let ends: Vec<_> = server.requests().iter().map(|request| request.range.clone().unwrap()).collect();
    assert!(ends.is_sorted_by(|one, next| one.end <= next.start), "{ends:?}");
}

#[test]
fn http_lists_the_tensors_of_safetensors_from_the_header_alone() {
    let sample = fs::read(SAMPLE).unwrap();
    let server = serve(&sample);
    let text = String::from_utf8(fetched(http(&server.url(), &[])).out).unwrap();
    assert!(text.starts_with("safetensors\n\nTensors (7)\n\n  name "), "{text}");
    let of_inspect = run("inspect", &[SAMPLE]).text();
    let rows = |text: &str| {
        let start = text.find("Tensors (").unwrap();
        text[start..].split("\n\nTypes").next().unwrap().trim_end().to_owned()
    };
    assert_eq!(rows(&text), rows(&of_inspect));

    let (bytes, header_end, _) = large();
    let server = serve(&bytes);
    let found = fetched(http(&server.url(), &[]));
    // The first request is a guess; it brings the length, and the second one the rest.
    assert_eq!((found.requests, found.bytes), (2, header_end));
    asked_once(&server);
}

#[test]
fn http_fetches_a_safetensors_header_and_the_rows() {
    let (bytes, header_end, wanted) = large();
    let path = file("http_rows.safetensors", &bytes);
    let server = serve(&bytes);
    let name = format!("layers.{WANTED}.weight");
    for (rows, count) in [("7..8", 1), ("100..300", 200), ("0..400", 400)] {
        let before = server.requests().len();
        let found = fetched(http(&server.url(), &["--tensor", &name, "--rows", rows, "--format", "f32"]));
        assert_eq!(found.out, run("weights", &[&path, &name, "--rows", rows, "--format", "f32"]).good());
        assert_eq!((found.requests, found.bytes), (3, header_end + count * ROW), "{rows}");
        let first: usize = rows.split("..").next().unwrap().parse().unwrap();
        let last = server.requests()[before + 2].range.clone().unwrap();
        assert_eq!(last, wanted + first * ROW..wanted + (first + count) * ROW, "{rows}");
    }
}

#[test]
fn http_streams_safetensors_from_a_server_without_ranges() {
    let (bytes, header_end, _) = large();
    let path = file("http_stream.safetensors", &bytes);
    let name = format!("layers.{WANTED}.weight");
    let expected = run("weights", &[&path, &name]).good();
    for framing in [Framing::Length, Framing::Chunked, Framing::UntilClose] {
        let body: Arc<[u8]> = bytes.clone().into();
        let server = Server::start(move |_| Reply::whole(&body).framing(framing));
        let list = fetched(http(&server.url(), &[]));
        assert!((header_end..header_end + NEAR).contains(&list.bytes), "{}", list.bytes);
        let found = fetched(http(&server.url(), &["--tensor", &name]));
        assert_eq!((list.requests, found.requests), (1, 1), "{framing:?}");
        assert!(found.out == expected, "{framing:?}");
    }
}

#[test]
fn http_tells_bad_safetensors_files() {
    let sample = fs::read(SAMPLE).unwrap();
    let size = sample.len();
    for (bytes, message) in [
        ([&sample[..], &[0]].concat(), format!("offset {size}: bytes follow the last tensor")),
        (sample[..size - 1].to_vec(), format!("offset {}: the file is short", size - 1)),
        (sample[..100].to_vec(), "offset 8: unexpected end of data".into()),
        (b"<html>no model</html>".to_vec(), "offset 0: this is neither GGUF nor safetensors".into()),
        (Vec::new(), "offset 0: this is neither GGUF nor safetensors".into()),
        (written("{\"a\":1}", &[]), "offset 13: the description is not an object (tensor \"a\")".into()),
    ] {
        let server = serve(&bytes);
        let line = http(&server.url().replace("model.gguf", "model"), &[]);
        assert_eq!((line.status, line.errors.lines().count()), (Some(1), 1), "{message}: {line:?}");
        assert!(line.errors.contains(&message), "{message}: {}", line.errors);
    }
}

#[test]
fn http_reads_a_longer_safetensors_header_when_allowed() {
    let (bytes, header_end, _) = large();
    let server = serve(&bytes);
    let line = http(&server.url(), &["--max-header", "300000"]).bad();
    let expected = format!("over the limit of 300000; with --max-header {} it is read\n", header_end - 8);
    assert!(line.contains(": offset 0: header of ") && line.ends_with(&expected), "{line}");
    // Nothing more was asked for than what the length came with.
    assert_eq!(server.requests().len(), 1);
    fetched(http(&server.url(), &["--max-header", &(header_end - 8).to_string()]));
    let wrong = run("http", &[&*server.url(), "--max-header", "much"]);
    assert_eq!((wrong.status, wrong.out.len()), (Some(2), 0));
}
