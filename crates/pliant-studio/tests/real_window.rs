//! A real window on a real screen, driven by a real pointer.

mod common;
#[path = "common/screen.rs"]
mod screen;

use std::process::Child;

use screen::Screen;

/// The studio as its own process; gone with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn open(screen: &Screen, argument: &str) -> Running {
    Running(screen.command(env!("CARGO_BIN_EXE_pliant-studio")).arg(argument).spawn().unwrap())
}

#[test]
fn the_head_opens_in_a_window() {
    let Some(screen) = Screen::start_or_skip() else { return };
    let _studio = open(&screen, "specimen:head");
    let picture = screen.wait_until("the head", |picture| picture.clay() > 50_000);
    picture.keep("window_head");
}
