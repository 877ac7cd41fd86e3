//! `http`, run against servers and connections that fail.

use std::fs;
use std::net::TcpListener;
use std::sync::Arc;

use crate::http::{fetched, http, large, ranges_of, sample};
use crate::run::{Run, SAMPLE, file, run};
use crate::server::{Framing, Reply, Server};
use crate::support::random::Random;

/// The one line that is said when it cannot work: with the URL, an offset and these words, and without any output.
#[track_caller]
fn refused(url: &str, run: Run, words: &str) {
    assert!(run.out.is_empty(), "{}", String::from_utf8_lossy(&run.out));
    let line = run.bad();
    assert!(line.starts_with(&format!("http: {url}: offset ")) && line.contains(words), "{line}");
}

#[test]
fn http_resumes_where_a_connection_broke() {
    let (large, _) = large();
    let path = file("http_broken.gguf", &large.bytes);
    let args = ["first", "--rows", "100..1100", "--format", "f32"];
    let expected = run("weights", &[&[path.as_str()], &args[..]].concat()).good();
    let file: Arc<[u8]> = large.bytes.into();
    for seed in 0..8 {
        let file = Arc::clone(&file);
        let server = Server::start(move |request| {
            let reply = Reply::part(&file, request).header("ETag", "\"one\"");
            // One answer in two is cut, at any place: in front of the first byte, too.
            let mut random = Random::new(seed << 32 | request.number as u64);
            if random.one_in(2) { reply.clone().cut(random.below(reply.body_bytes())) } else { reply }
        });
        let found = fetched(http(&server.url(), &[&["--tensor"], &args[..]].concat()));
        assert!(found.out == expected, "seed {seed}");
        // Nothing came twice, and nothing that came was thrown away.
        let requests = server.requests();
        assert_eq!((found.bytes, found.requests), (server.sent(), requests.len()), "seed {seed}");
        let came = requests.iter().map(|request| {
            let start = request.range.clone().unwrap().start;
            start..start + request.sent
        });
        assert!(came.is_sorted_by(|one, next| one.end <= next.start), "seed {seed}: {requests:?}");
        assert!(requests.iter().skip(1).all(|request| request.if_range.as_deref() == Some("\"one\"")));
    }
}

#[test]
fn http_starts_again_where_a_server_without_ranges_broke() {
    let (large, _) = large();
    let path = file("http_again.gguf", &large.bytes);
    let expected = run("weights", &[&path, "second"]).good();
    let bytes: Arc<[u8]> = large.bytes.into();
    for framing in [Framing::Length, Framing::Chunked] {
        let bytes = Arc::clone(&bytes);
        let server = Server::start(move |request| {
            let reply = Reply::whole(&bytes).framing(framing);
            // More often than it would try if nothing new came.
            let cuts = [100_001, 0, 0, 1_000_000, 0, 0, 2_000_000, 0, 0, 3_000_003, 0, 0];
            match cuts.get(request.number) {
                Some(cut) => reply.cut(*cut),
                None => reply,
            }
        });
        let found = fetched(http(&server.url(), &["--tensor", "second"]));
        assert_eq!((found.out, found.requests), (expected.clone(), 13), "{framing:?}");
    }
}

#[test]
fn http_gives_up_when_nothing_new_comes() {
    let file = sample();
    // After one good answer, the attempt that breaks has still read the rest of it: that is something new.
    for (first, attempts) in [(0, 4), (1, 5)] {
        let file = Arc::clone(&file);
        let server = Server::start(move |request| {
            let reply = Reply::part(&file, request);
            if request.number < first { reply } else { reply.cut(0) }
        });
        refused(
            &server.url(),
            http(&server.url(), &["--tensor", "token_order"]),
            "4 attempts brought nothing new",
        );
        assert_eq!(server.requests().len(), first + attempts);
    }
    // The same without ranges: what had come before is nothing new.
    let server = Server::start(move |_| Reply::whole(&file).cut(50_000));
    refused(
        &server.url(),
        http(&server.url(), &["--tensor", "token_order"]),
        "4 attempts brought nothing new",
    );
    // A port that nobody listens on.
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/m", listener.local_addr().unwrap());
    drop(listener);
    refused(&url, http(&url, &[]), "the connection failed");
}

#[test]
fn http_does_not_wait_for_a_silent_server() {
    let server = Server::start(|_| Reply::silent());
    refused(&server.url(), http(&server.url(), &["--timeout", "1"]), "the server is silent");
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn http_resumes_where_a_server_fell_silent() {
    let file = sample();
    let server = Server::start(move |request| {
        let reply = Reply::part(&file, request);
        if request.number == 0 { reply.silent_after(2_000) } else { reply }
    });
    let found = fetched(http(&server.url(), &["--tensor", "token_order", "--timeout", "1"]));
    assert_eq!(found.out, run("weights", &[SAMPLE, "token_order"]).good());
    let starts: Vec<usize> =
        server.requests().iter().map(|request| request.range.clone().unwrap().start).collect();
    assert_eq!((starts[1], found.bytes), (2_000, server.sent()));
}

#[test]
fn http_never_mixes_two_files() {
    let old = sample();
    let mut changed = old.to_vec();
    changed.iter_mut().skip(30_000).for_each(|byte| *byte ^= 1);
    let new: Arc<[u8]> = changed.into();
    let longer: Arc<[u8]> = [&new[..], &[0; 32]].concat().into();
    type Tell = fn(Reply, bool) -> Reply;
    let cases: [(&str, Tell, bool); 4] = [
        (
            "its ETag was \"1\", and is \"2\" now",
            |reply, new| reply.header("ETag", ["\"1\"", "\"2\""][usize::from(new)]),
            false,
        ),
        (
            "its ETag was W/\"1\", and is W/\"2\" now",
            |reply, new| reply.header("ETag", ["W/\"1\"", "W/\"2\""][usize::from(new)]),
            false,
        ),
        (
            "its date was ",
            |reply, new| {
                reply.header("Last-Modified", format!("Mon, 0{} Jun 2026 00:00:00 GMT", 1 + u8::from(new)))
            },
            false,
        ),
        ("its size was 99680, and is 99712 now", |reply, _| reply, true),
    ];
    for (words, tell, is_longer) in cases {
        // The header is of the old file. One server heeds If-Range and sends the new file whole, one does not.
        for heeds in [true, false] {
            let (old, new) = (Arc::clone(&old), Arc::clone(if is_longer { &longer } else { &new }));
            let server = Server::start(move |request| match request.number {
                0 => tell(Reply::part(&old, request), false),
                _ if heeds && request.if_range.is_some() => tell(Reply::whole(&new), true),
                _ => tell(Reply::part(&new, request), true),
            });
            refused(&server.url(), http(&server.url(), &["--tensor", "token_order"]), words);
            // No server may compare a weak tag there.
            let mut validators = server.requests().into_iter().filter_map(|request| request.if_range);
            assert!(!validators.any(|validator| validator.starts_with("W/")), "{words}");
        }
    }
    // Copies of one file may have different dates.
    let file = Arc::clone(&old);
    let server = Server::start(move |request| {
        let date = format!("Mon, 01 Jun 2026 00:00:0{} GMT", request.number % 10);
        Reply::part(&file, request).header("ETag", "\"1\"").header("Last-Modified", date)
    });
    let found = fetched(http(&server.url(), &["--tensor", "token_order"]));
    assert_eq!(found.out, run("weights", &[SAMPLE, "token_order"]).good());
}

#[test]
fn http_refuses_answers_that_cannot_be_right() {
    type Spoil = fn(Reply) -> Reply;
    let cases: [(&str, Spoil); 16] = [
        ("the server answers 404 Not Found", |_| Reply::status("404 Not Found")),
        ("the server answers 403 Forbidden", |_| Reply::status("403 Forbidden").body(|_| b"no".to_vec())),
        ("the server answers 500 Internal Server Error", |_| Reply::status("500 Internal Server Error")),
        ("the server answers 204 No Content", |_| Reply::status("204 No Content")),
        ("the server answers 416", |_| Reply::status("416 Range Not Satisfiable")),
        ("the server answers 416", |reply| {
            reply.header("Content-Range", "bytes */99680").with_status("416 Range Not Satisfiable")
        }),
        ("the server sends the range \"\"", |reply| reply.without_header("Content-Range")),
        ("the server sends the range \"bytes 1-16383/99680\"", |reply| {
            reply.header("Content-Range", "bytes 1-16383/99680").body(|body| body[1..].to_vec())
        }),
        ("the server sends the range \"bytes 1-16384/99680\"", |reply| {
            reply.header("Content-Range", "bytes 1-16384/99680")
        }),
        ("the server sends the range \"bytes 0-99679/99680\"", |reply| {
            reply.header("Content-Range", "bytes 0-99679/99680")
        }),
        ("the server sends the range \"bytes 0-16383/9\"", |reply| {
            reply.header("Content-Range", "bytes 0-16383/9")
        }),
        ("the server sends 16383 bytes as the range", |reply| reply.body(|body| body[1..].to_vec())),
        ("the server sends 16385 bytes as the range", |reply| reply.body(|body| [&body[..], b"x"].concat())),
        ("the server's answer ends 1 bytes too early", |reply| {
            reply.framing(Framing::Chunked).body(|body| body[..body.len() - 1].to_vec())
        }),
        ("the server's answer is longer than it says", |reply| {
            reply.framing(Framing::Chunked).body(|body| [&body[..], b"x"].concat())
        }),
        ("the server sends the file as gzip", |reply| reply.header("Content-Encoding", "gzip")),
    ];
    for (words, spoil) in cases {
        let file = sample();
        let server = Server::start(move |request| spoil(Reply::part(&file, request)));
        refused(&server.url(), http(&server.url(), &["--tensor", "token_order"]), words);
        assert_eq!(server.requests().len(), 1, "{words}");
    }
}

#[test]
fn http_does_not_take_what_follows_an_answer_for_the_next() {
    let file = sample();
    let server = Server::start(move |request| {
        let reply = Reply::part(&file, request);
        let length = reply.body_bytes().to_string();
        reply.header("Content-Length", length).body(|body| [&body[..], b"HTTP/1.1 200 OK\r\n\r\n"].concat())
    });
    let found = fetched(http(&server.url(), &["--tensor", "token_order"]));
    assert_eq!(found.out, run("weights", &[SAMPLE, "token_order"]).good());
}

#[test]
fn http_tells_a_bad_or_short_file() {
    let whole = sample();
    for len in [0, 3, 20, 5_000, 11_000] {
        let path = file(&format!("http_short_{len}.gguf"), &whole[..len]);
        let words = run("weights", &[&path, "token_order"]).bad().replace(&format!("weights: {path}: "), "");
        let server = ranges_of(whole[..len].into());
        refused(&server.url(), http(&server.url(), &["--tensor", "token_order"]), &words);
        let bytes: Arc<[u8]> = whole[..len].into();
        let server = Server::start(move |_| Reply::whole(&bytes).framing(Framing::Chunked));
        refused(&server.url(), http(&server.url(), &["--tensor", "token_order"]), &words);
    }
    let server = ranges_of(whole[..99_000].into());
    let line = http(&server.url(), &[]).bad();
    assert!(line.contains("offset 99000: the file is short: it ends after 99,000 of 99,656 bytes"), "{line}");
    refused(
        &server.url(),
        http(&server.url(), &["--tensor", "token_order"]),
        "the file ends here, but goes on to 99536",
    );
    let server = ranges_of(fs::read("tests/data/corpus/bool_nonbinary.gguf").unwrap().into());
    fetched(http(&server.url(), &[])); // The value is jumped over: contents are not checked.
}

#[test]
fn http_follows_no_redirects_without_end() {
    let server = Server::start(|_| Reply::status("302 Found").header("Location", "/models/model.gguf"));
    refused(&server.url(), http(&server.url(), &[]), "too many redirects");
}
