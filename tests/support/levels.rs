//! Each set of instructions that kernels are compiled for.

use std::sync::{Mutex, PoisonError};
use weightstream::quant::Level;

/// Held by a test that has forced a level, which is that of the whole process.
static FORCED: Mutex<()> = Mutex::new(());

/// Runs `check` once at each level that this machine has, and prints which these are, and which it lacks.
pub fn at_each_level(check: impl Fn()) {
    let _alone = FORCED.lock().unwrap_or_else(PoisonError::into_inner);
    let before = Level::in_use();
    for level in Level::ALL {
        if level.force() {
            assert_eq!(Level::in_use(), level);
            println!("level {level:?}");
            check();
        } else {
            println!("level {level:?}: not on this machine, or not compiled");
        }
    }
    assert!(before.force());
}
