//! Notes the compilers' versions, and builds what is compared of ggml.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var("RUSTC").expect("cargo says which compiler it calls");
    println!("cargo::rustc-env=RUSTC_VERSION={}", first_line(Command::new(rustc).arg("--version")));
    #[cfg(feature = "ggml")]
    ggml::build();
}

fn first_line(command: &mut Command) -> String {
    let output = command.output().expect("the compiler can be started");
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
}

#[cfg(feature = "ggml")]
mod ggml {
    use super::first_line;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::{env, fs};

    const CRATE: &str = "llama-cpp-sys-2";

    /// Builds the files that hold ggml's dequantizers and its reader of GGUF. The crate itself would build all of
    /// llama.cpp, which takes cmake, libclang and many minutes.
    pub(crate) fn build() {
        println!("cargo::rerun-if-changed=src/table/peers/ggml.c");
        let ggml = package().join("llama.cpp/ggml");
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write"));
        let version = version(&ggml);
        let header = format!("#define GGML_VERSION \"{version}\"\n#define GGML_COMMIT \"\"\n");
        fs::write(out.join("ggml-version.h"), header).expect("the folder for output can be written to");

        let compile = |cpp: bool, files: &[PathBuf], name: &str| {
            let mut build = cc::Build::new();
            build.cpp(cpp).files(files).include(&out).include(ggml.join("include")).include(ggml.join("src"));
            build.define("_GNU_SOURCE", None).opt_level(3).flag("-march=native").flag("-ffunction-sections");
            build.std(if cpp { "gnu++17" } else { "gnu11" }).debug(false).warnings(false);
            build.compile(name);
            first_line(build.get_compiler().to_command().arg("--version"))
        };
        let in_src = |file: &&str| ggml.join("src").join(file);
        let c: Vec<_> = ["ggml.c", "ggml-quants.c"].iter().map(in_src).collect();
        let cpp: Vec<_> = ["gguf.cpp", "ggml-threading.cpp"].iter().map(in_src).collect();
        // A library stands before those that it needs.
        let compiler = compile(false, &["src/table/peers/ggml.c".into()], "ggml_calls");
        compile(true, &cpp, "gguf_reader");
        compile(false, &c, "ggml_quants");
        println!("cargo::rustc-env=GGML_VERSION={version}, {compiler} -O3 -march=native");
    }

    /// The folder of the crate that carries ggml.
    fn package() -> PathBuf {
        let mut cargo = Command::new(env::var_os("CARGO").expect("cargo says where it is"));
        let output = cargo
            .args(["metadata", "--format-version=1", "--locked"])
            .output()
            .expect("cargo can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
        let mut packages = metadata["packages"].as_array().into_iter().flatten();
        let package = packages.find(|package| package["name"] == CRATE).expect("the crate is a dependency");
        let manifest = Path::new(package["manifest_path"].as_str().expect("a package has a manifest"));
        manifest.parent().expect("a file is in a folder").to_owned()
    }

    fn version(ggml: &Path) -> String {
        let text = fs::read_to_string(ggml.join("CMakeLists.txt")).expect("ggml has its CMakeLists.txt");
        let part = |name: &str| {
            let (_, rest) =
                text.split_once(&format!("set(GGML_VERSION_{name} ")).expect("ggml has a version");
            rest.split(')').next().unwrap_or_default().to_owned()
        };
        [part("MAJOR"), part("MINOR"), part("PATCH")].join(".")
    }
}
