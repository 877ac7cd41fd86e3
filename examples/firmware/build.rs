//! Gives the linker the memory map of the board.

#![allow(clippy::expect_used, clippy::panic, reason = "a build script may panic")]

use std::path::Path;
use std::{env, fs};

fn main() {
    let target = env::var("TARGET").unwrap_or_default();
    let board = match target.as_str() {
        "thumbv6m-none-eabi" => "microbit",
        "thumbv7m-none-eabi" => "lm3s6965evb",
        "thumbv7em-none-eabihf" => "mps2-an386",
        "riscv32imac-unknown-none-elf" => "riscv-virt",
        _ => panic!("build.rs knows no board with the target {target}; choose one with --target"),
    };
    let map = format!("boards/{board}.x");
    let folder = env::var("OUT_DIR").expect("cargo sets it");
    fs::copy(&map, Path::new(&folder).join("memory.x")).expect("the memory map is there");
    println!("cargo:rustc-link-search={folder}");
    println!("cargo:rustc-link-arg-bins=-Tlink.x");
    println!("cargo:rerun-if-changed={map}");
    println!("cargo:rerun-if-changed=build.rs");
}
