//! The type table against the format's own, written out here a second time.
#![allow(clippy::unwrap_used)]

use weightstream::{Family, TensorType};

/// id, name, elements and bytes of one block, family. The removed ids are in `REMOVED`.
const TABLE: &[(u32, &str, u32, u32, Family)] = &[
    (0, "F32", 1, 4, Family::Plain),
    (1, "F16", 1, 2, Family::Plain),
    (2, "Q4_0", 32, 18, Family::Legacy),
    (3, "Q4_1", 32, 20, Family::Legacy),
    (6, "Q5_0", 32, 22, Family::Legacy),
    (7, "Q5_1", 32, 24, Family::Legacy),
    (8, "Q8_0", 32, 34, Family::Legacy),
    (9, "Q8_1", 32, 36, Family::Legacy),
    (10, "Q2_K", 256, 84, Family::K),
    (11, "Q3_K", 256, 110, Family::K),
    (12, "Q4_K", 256, 144, Family::K),
    (13, "Q5_K", 256, 176, Family::K),
    (14, "Q6_K", 256, 210, Family::K),
    (15, "Q8_K", 256, 292, Family::K),
    (16, "IQ2_XXS", 256, 66, Family::Iq),
    (17, "IQ2_XS", 256, 74, Family::Iq),
    (18, "IQ3_XXS", 256, 98, Family::Iq),
    (19, "IQ1_S", 256, 50, Family::Iq),
    (20, "IQ4_NL", 32, 18, Family::Iq),
    (21, "IQ3_S", 256, 110, Family::Iq),
    (22, "IQ2_S", 256, 82, Family::Iq),
    (23, "IQ4_XS", 256, 136, Family::Iq),
    (24, "I8", 1, 1, Family::Plain),
    (25, "I16", 1, 2, Family::Plain),
    (26, "I32", 1, 4, Family::Plain),
    (27, "I64", 1, 8, Family::Plain),
    (28, "F64", 1, 8, Family::Plain),
    (29, "IQ1_M", 256, 56, Family::Iq),
    (30, "BF16", 1, 2, Family::Plain),
    (34, "TQ1_0", 256, 54, Family::Ternary),
    (35, "TQ2_0", 256, 66, Family::Ternary),
    (39, "MXFP4", 32, 17, Family::Fp4),
    (40, "NVFP4", 64, 36, Family::Fp4),
    (41, "Q1_0", 128, 18, Family::Ternary),
    (42, "Q2_0", 64, 18, Family::Ternary),
];

const REMOVED: &[(u32, &str)] = &[
    (4, "Q4_2"),
    (5, "Q4_3"),
    (31, "Q4_0_4_4"),
    (32, "Q4_0_4_8"),
    (33, "Q4_0_8_8"),
    (36, "IQ4_NL_4_4"),
    (37, "IQ4_NL_4_8"),
    (38, "IQ4_NL_8_8"),
];

#[test]
fn every_id_is_what_the_format_says() {
    // From 0x1_0000 on they are of safetensors: see tests/dtypes.rs.
    for id in (0..1000).chain([0xffff, 0x2_0000, u32::MAX - 1, u32::MAX]) {
        let tensor_type = TensorType::from_id(id);
        assert_eq!(tensor_type.id(), id);
        let sized = TABLE.iter().find(|row| row.0 == id);
        let removed = REMOVED.iter().find(|row| row.0 == id);
        assert_eq!(tensor_type.name(), sized.map(|row| row.1).or(removed.map(|row| row.1)), "{id}");
        assert_eq!(tensor_type.block_elements(), sized.map(|row| row.2), "{id}");
        assert_eq!(tensor_type.block_bytes(), sized.map(|row| row.3), "{id}");
        assert_eq!(tensor_type.family(), sized.map(|row| row.4), "{id}");
        assert_eq!(tensor_type.is_removed(), removed.is_some(), "{id}");
    }
    assert_eq!(TABLE.len() + REMOVED.len(), 43);
}

#[test]
fn all_are_the_sized_types_by_id() {
    assert!(TensorType::ALL.iter().map(|tensor_type| tensor_type.id()).eq(TABLE.iter().map(|row| row.0)));
}

#[test]
fn a_constant_has_the_name_it_shows() {
    assert_eq!(TensorType::F32.name(), Some("F32"));
    assert_eq!(TensorType::Q4_K.to_string(), "Q4_K");
    assert_eq!(format!("{:?}", TensorType::IQ4_NL_8_8), "IQ4_NL_8_8");
    assert_eq!(format!("{:>6}|", TensorType::Q8_0), "  Q8_0|");
    assert_eq!(TensorType::from_id(77).to_string(), "type 77");
}

#[test]
fn everything_is_known_at_compile_time() {
    const BYTES: Option<u32> = TensorType::from_id(14).block_bytes();
    const FEATURE: Option<&str> = TensorType::Q6_K.family().unwrap().feature();
    assert_eq!((BYTES, FEATURE), (Some(210), Some("k")));
    assert_eq!(size_of::<TensorType>(), 4);
}
