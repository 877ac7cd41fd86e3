//! The README's table of types says what the type table and the golden data say. Its flash bytes are measured by
//! `tools/kernel_sizes.py`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod support;

use support::golden::{assert_bits, feature_off, kernels, pairs, sizes};
use weightstream::TensorType;

/// The cells of the rows of the table with this first column.
fn table(first_column: &str) -> Vec<Vec<String>> {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let lines = readme.lines().skip_while(|line| !line.starts_with(&format!("| {first_column} |")));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn the_table_of_types_is_right() {
    let rows = table("type");
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names, TensorType::ALL.iter().map(|listed| listed.name().unwrap()).collect::<Vec<_>>());
    for (tensor_type, row) in TensorType::ALL.iter().zip(&rows) {
        let (bytes, elements) = sizes(*tensor_type);
        let bits = 8.0 * bytes as f64 / elements as f64;
        assert_eq!(row[1..3], [bits.to_string(), format!("{elements} / {bytes}")], "{tensor_type}");

        let reference = pairs(*tensor_type).iter().any(|(set, ..)| *set == "gauss");
        assert_eq!(row[3], if reference { "yes" } else { "no reference" }, "{tensor_type}");
        match kernels().iter().find(|(listed, _)| listed == tensor_type) {
            Some((_, kernel)) => {
                for (set, bytes, bits) in pairs(*tensor_type) {
                    assert_bits(&kernel(&bytes), &bits, &format!("{tensor_type} {set}"));
                }
            }
            None => assert!(feature_off(*tensor_type).is_some(), "{tensor_type}"),
        }
        row[4].parse::<u32>().unwrap();
    }
}
