//! `weights` reads the header and the rows that are wanted, and nothing else, however large the file is.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::std_instead_of_core,
    clippy::alloc_instead_of_core,
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "a test may panic, runs on a host, and takes a part of what it includes"
)]

#[path = "../support/gguf_value.rs"]
mod gguf_value;
#[path = "../support/gguf_writer.rs"]
mod gguf_writer;
#[path = "../../examples/support/mod.rs"]
mod support;
#[path = "../../examples/weights/tensor.rs"]
mod tensor;

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;

use weightstream::io::ReadAt;

use gguf_writer::{Gguf, Tensor, Value};
use support::output::Format;
use support::shards::Shards;
use support::source::Source;
use support::values::Selection;

const GIB: u64 = 1 << 30;
/// Of the buffer that a header comes through.
const BUFFER_BYTES: u64 = 256 * 1024;
const ROWS: u64 = 300;
const ROW_ELEMENTS: u64 = 256;
const SCORES: u32 = 1 << 20;

/// A file of 5 GiB of which the header and the last tensor are there.
struct Model {
    header: Vec<u8>,
    /// Bytes of the header that are jumped over.
    jumped: u64,
    /// Where the values of the last tensor lie.
    last: Range<u64>,
    values: Vec<u8>,
}

impl Model {
    fn gguf() -> Self {
        let tokens = (0..5000).map(|token| Value::text(format!("token {token}"))).collect();
        let scores = (0..SCORES).map(|score| Value::F32(-(score as f32))).collect();
        let bytes = 4 * ROWS * ROW_ELEMENTS;
        let written = Gguf::new()
            .entry("tokenizer.ggml.tokens", Value::array(tokens))
            .entry("tokenizer.ggml.scores", Value::array(scores))
            .tensor(Tensor::hollow("wide", 24, &[GIB, 5], 5 * GIB))
            .tensor(Tensor::hollow("last", 0, &[ROW_ELEMENTS, ROWS], bytes))
            .write();
        let start = written.tensors[1].data;
        Self::with_header(written.bytes, 4 * u64::from(SCORES), start..start + bytes)
    }

    fn safetensors() -> Self {
        let (wide, bytes) = (5 * GIB, 4 * ROWS * ROW_ELEMENTS);
        let text = format!(
            r#"{{"__metadata__":{{"long":"{}"}},"last":{{"dtype":"F32","shape":[{ROWS},{ROW_ELEMENTS}],"data_offsets":[{wide},{}]}},"wide":{{"dtype":"I8","shape":[5,{GIB}],"data_offsets":[0,{wide}]}}}}"#,
            "word ".repeat(200_000),
            wide + bytes
        );
        let header = [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
        let start = header.len() as u64 + wide;
        Self::with_header(header, 0, start..start + bytes)
    }

    fn with_header(header: Vec<u8>, jumped: u64, last: Range<u64>) -> Self {
        let values = (0..ROWS * ROW_ELEMENTS).flat_map(|n| (n as f32 / 8.0).to_le_bytes()).collect();
        Self { header, jumped, last, values }
    }

    /// Bytes of some rows of the last tensor.
    fn rows(&self, rows: Range<u64>) -> Range<u64> {
        let row_bytes = 4 * ROW_ELEMENTS;
        self.last.start + rows.start * row_bytes..self.last.start + rows.end * row_bytes
    }

    fn values(&self, rows: Range<u64>) -> &[u8] {
        let Range { start, end } = self.rows(rows);
        &self.values[(start - self.last.start) as usize..(end - self.last.start) as usize]
    }
}

/// Takes down what is read of a model.
struct Counting {
    model: Rc<Model>,
    reads: Rc<RefCell<Vec<Range<u64>>>>,
}

impl ReadAt for Counting {
    type Error = io::Error;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        for (at, byte) in (offset..self.model.last.end).zip(buffer) {
            let last = at.checked_sub(self.model.last.start).map(|at| self.model.values[at as usize]);
            *byte = last.or_else(|| self.model.header.get(at as usize).copied()).unwrap_or(0);
            count += 1;
        }
        self.reads.borrow_mut().push(offset..offset + count);
        Ok(count as usize)
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(self.model.last.end)
    }
}

fn selection(rows: Option<&str>) -> Selection {
    let rows = rows.map(|rows| rows.parse().unwrap());
    Selection { tensor: "last".into(), rows, format: Format::F32 }
}

#[test]
fn weights_reads_the_header_and_the_rows() {
    reads_the_header_and_the_rows(Model::gguf());
    reads_the_header_and_the_rows(Model::safetensors());
}

fn reads_the_header_and_the_rows(model: Model) {
    let model = Rc::new(model);
    for (text, rows) in [(None, 0..ROWS), (Some("7..9"), 7..9), (Some("299.."), 299..300)] {
        let reads = Rc::new(RefCell::new(Vec::new()));
        let counting = Counting { model: Rc::clone(&model), reads: Rc::clone(&reads) };
        let source = Source::over("sparse".into(), model.last.end, counting);
        let mut out = Vec::new();
        tensor::write(&mut Shards::single(source), &selection(text), &mut out).unwrap();
        assert!(out == model.values(rows.clone()), "{rows:?}");

        let wanted = model.rows(rows);
        let (of_rows, of_header): (Vec<_>, Vec<_>) =
            reads.take().into_iter().partition(|read| read.start >= model.last.start);
        // One behind the other, each byte once.
        assert_eq!((of_rows[0].start, of_rows[of_rows.len() - 1].end), (wanted.start, wanted.end));
        assert!(of_rows.windows(2).all(|pair| pair[0].end == pair[1].start), "{of_rows:?}");
        let header_bytes: u64 = of_header.iter().map(|read| read.end - read.start).sum();
        // No byte twice, the first ones among them.
        assert!(of_header.windows(2).all(|pair| pair[0].end <= pair[1].start), "{of_header:?}");
        // What stands around what is jumped over, to the end of a buffer.
        let needed = model.header.len() as u64 - model.jumped;
        assert!(header_bytes <= needed + 2 * BUFFER_BYTES, "{header_bytes} of a header of {needed}");
        assert!(header_bytes + (wanted.end - wanted.start) < model.last.end / 100);
    }
}

#[test]
fn weights_takes_the_last_tensor_out_of_a_sparse_file() {
    let model = Model::gguf();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sparse.gguf");
    let mut file = File::create(&path).unwrap();
    file.write_all(&model.header).unwrap();
    file.set_len(model.last.end).unwrap();
    file.seek(SeekFrom::Start(model.last.start)).unwrap();
    file.write_all(&model.values).unwrap();
    drop(file);

    let mut child = Command::new(program())
        .args([path.as_os_str(), "last".as_ref(), "--format".as_ref(), "f32".as_ref()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut found = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut found).unwrap();
    // It has written all, so it has read all, and nobody has waited for it: its record is still there.
    let record = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap_or_default();
    let status = child.wait().unwrap();
    fs::remove_file(&path).unwrap();
    assert!(status.success() && found == model.values(0..ROWS));
    // A system need not have such records.
    if let Some(bytes) = record.lines().find_map(|line| line.strip_prefix("rchar: ")) {
        let bytes: u64 = bytes.parse().unwrap();
        assert!(bytes >= 4 * ROWS * ROW_ELEMENTS, "{bytes} bytes");
        assert!(bytes < model.last.end / 100, "{bytes} bytes");
    }
}

/// Cargo puts examples next to the directory of the tests.
fn program() -> std::path::PathBuf {
    let tests = std::env::current_exe().unwrap();
    let profile = tests.ancestors().nth(2).unwrap();
    let path = profile.join("examples/weights").with_extension(std::env::consts::EXE_EXTENSION);
    assert!(path.exists(), "{} is not built: `cargo build --examples`", path.display());
    path
}
