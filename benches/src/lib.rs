//! What the table and the counted instructions have in common.

pub mod golden;
pub mod pump;
