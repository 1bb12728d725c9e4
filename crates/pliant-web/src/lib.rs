//! The studio on a web page.
//!
//! **Problem.** The studio is a program with threads, files and a window. A page has one thread that
//! must not wait, no file system, and a canvas.
//!
//! **Method.** All threads share one memory. `threads` runs each job of the studio in a worker of the
//! browser that loads the same module; where the browser shares no memory, jobs run where they are
//! started. Files are in memory (`pliant::io::MemoryDisk`); `storage` copies what changed to the
//! browser's own storage and hands exports over as downloads. `link` reads the state that an address
//! asks for. The JavaScript beside this crate (`page/`) does what only JavaScript can.
//!
//! [`same_bits`] computes results of every method as text, for a comparison with the desktop.

#![cfg_attr(
    target_arch = "wasm32",
    allow(unreachable_pub, reason = "functions that JavaScript calls are public")
)]

pub mod same_bits;

pub mod link;

#[cfg(target_arch = "wasm32")]
mod labels;
#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(target_arch = "wasm32")]
mod storage;
#[cfg(target_arch = "wasm32")]
mod threads;
