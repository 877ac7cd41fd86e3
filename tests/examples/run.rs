//! Runs the programs, and reads what is expected of them.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value as Json;
use weightstream::TensorType;

pub(crate) const SAMPLE: &str = "examples/data/sample.gguf";
pub(crate) const SHARED: [&str; 3] = ["inspect", "weights", "check"];

/// What a program did.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) errors: String,
}

impl Run {
    #[track_caller]
    pub(crate) fn good(self) -> Vec<u8> {
        assert_eq!(
            (self.status, self.errors.as_str()),
            (Some(0), ""),
            "{}",
            String::from_utf8_lossy(&self.out)
        );
        self.out
    }

    #[track_caller]
    pub(crate) fn text(self) -> String {
        String::from_utf8(self.good()).unwrap()
    }

    #[track_caller]
    pub(crate) fn json(self) -> Json {
        serde_json::from_slice(&self.good()).unwrap()
    }

    /// The one line that a bad file gets.
    #[track_caller]
    pub(crate) fn bad(self) -> String {
        assert_eq!(self.status, Some(1), "{self:?}");
        assert_eq!((self.errors.lines().count(), self.errors.ends_with('\n')), (1, true), "{}", self.errors);
        self.errors
    }
}

/// Cargo puts examples next to the directory of the tests.
pub(crate) fn program(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let profile = tests.ancestors().nth(2).unwrap();
    let path = profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        path.exists(),
        "{} is not built: `cargo test` builds it, or `cargo build --examples`",
        path.display()
    );
    path
}

pub(crate) fn command<A: AsRef<OsStr>>(name: &str, args: &[A]) -> Command {
    let mut command = Command::new(program(name));
    command
        .args(args)
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub(crate) fn finish(command: &mut Command, input: Option<&[u8]>) -> Run {
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn().unwrap();
    let pipe = child.stdin.take();
    thread::scope(|scope| {
        if let (Some(mut pipe), Some(input)) = (pipe, input) {
            // A program may stop reading before the end.
            scope.spawn(move || pipe.write_all(input));
        }
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        Run { status: output.status.code(), out: output.stdout, errors }
    })
}

pub(crate) fn run<A: AsRef<OsStr>>(name: &str, args: &[A]) -> Run {
    finish(&mut command(name, args), None)
}

pub(crate) fn run_on<A: AsRef<OsStr>>(name: &str, args: &[A], input: &[u8]) -> Run {
    finish(&mut command(name, args), Some(input))
}

/// A file of this test's own.
pub(crate) fn file(name: &str, bytes: &[u8]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    path.into_os_string().into_string().unwrap()
}

pub(crate) struct Corpus(Vec<Json>);

impl Corpus {
    pub(crate) fn read() -> Self {
        Self(serde_json::from_slice(&fs::read("tests/data/corpus/expected.json").unwrap()).unwrap())
    }

    /// All files but the one that is refused.
    pub(crate) fn good(&self) -> impl Iterator<Item = (String, &Json)> {
        let good = self.0.iter().filter(|file| file["file"] != "bool_nonbinary.gguf");
        good.map(|file| (format!("tests/data/corpus/{}", file["file"].as_str().unwrap()), file))
    }
}

pub(crate) fn list(value: &Json) -> &[Json] {
    value.as_array().unwrap()
}

/// Whether this build has a dequantizer for the type.
pub(crate) fn has_dequantizer(tensor: &Json) -> bool {
    let id = tensor["type_id"].as_u64().unwrap();
    TensorType::from_id(id as u32).dequantize(&mut [].as_slice(), &mut []).is_ok()
}
