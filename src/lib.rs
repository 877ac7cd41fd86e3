#![no_std]
#![doc = "Placeholder"]
