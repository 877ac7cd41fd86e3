//! Guides: what you may want to do, the code for it, and the result. Each is a program that `cargo test` runs.
//!
//! - What a file holds: [`read`], [`sizes`], [`weights`], `safetensors`; what is wrong with it: [`errors`].
//! - Where the bytes come from: [`socket`], [`flash`], [`sd_card`], [`android`], [`embassy`],
//!   [`own_source`].
//! - How to go on after power was lost: [`reboot`].

pub mod read {
    #![doc = include_str!("../docs/guide/read.md")]
}

pub mod sizes {
    #![doc = include_str!("../docs/guide/sizes.md")]
}

pub mod weights {
    #![doc = include_str!("../docs/guide/weights.md")]
}

#[cfg(feature = "safetensors")]
pub mod safetensors {
    #![doc = include_str!("../docs/guide/safetensors.md")]
}

pub mod errors {
    #![doc = include_str!("../docs/guide/errors.md")]
}

pub mod socket {
    #![doc = include_str!("../docs/guide/socket.md")]
}

pub mod own_source {
    #![doc = include_str!("../docs/guide/own_source.md")]
}

pub mod flash {
    #![doc = include_str!("../docs/guide/flash.md")]
}

pub mod sd_card {
    #![doc = include_str!("../docs/guide/sd_card.md")]
}

pub mod android {
    #![doc = include_str!("../docs/guide/android.md")]
}

pub mod embassy {
    #![doc = include_str!("../docs/guide/embassy.md")]
}

pub mod reboot {
    #![doc = include_str!("../docs/guide/reboot.md")]
}
