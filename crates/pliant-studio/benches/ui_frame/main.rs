//! Processor time of the user-interface thread for one frame, in every room, during a drag.
//!
//! The window must not block for longer than 16 ms, whatever the workers do. Each line is one
//! gesture on one mesh. The gesture runs several times; each of its frames counts with the least
//! processor time of these runs, and the median and the longest frame are printed. The last column
//! is the longest wall-clock time of a frame, which includes other programs and workers. The
//! scanned head of `PLIANT_DATA` has 26,719 vertices, the round box 200,936.
//!
//! `cargo bench -p pliant-studio --bench ui_frame [-- PART OF A NAME]`

mod scenes;
mod window;

use std::time::Duration;

use eframe::egui::Pos2;

use scenes::Gesture;
use window::{Taken, Window};

/// How often a gesture is made.
const ROUNDS: usize = 5;

#[expect(clippy::print_stdout, reason = "a bench reports")]
fn main() {
    let wanted = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with("--"))
        .unwrap_or_default();
    let card = window::card();

    println!(
        "uploads {}; milliseconds of processor time, the least of {ROUNDS} rounds",
        if card.is_some() {
            "included"
        } else {
            "left out: no card"
        }
    );

    println!(
        "{:<44} {:>6} {:>8} {:>8} {:>8}",
        "gesture", "frames", "median", "longest", "by clock"
    );

    for scene in scenes::all()
        .into_iter()
        .filter(|scene| scene.name.contains(&wanted))
    {
        let mut window = Window::open((scene.document)(), scene.room, card.clone());
        (scene.prepare)(&mut window);
        for gesture in scene.gestures {
            let rounds: Vec<Vec<Taken>> =
                (0..ROUNDS).map(|_| round(&mut window, &gesture)).collect();
            report(&format!("{}/{}", scene.name, gesture.name), &rounds);
        }
    }
}

fn round(window: &mut Window, gesture: &Gesture) -> Vec<Taken> {
    let way: Vec<Pos2> = (gesture.way)(window);
    let taken = if gesture.pressed {
        window.drag(&way)
    } else {
        window.hover(&way)
    };
    window.rest();
    taken
}

#[expect(clippy::print_stdout, reason = "a bench reports")]
fn report(name: &str, rounds: &[Vec<Taken>]) {
    let millis = |duration: Duration| 1e3 * duration.as_secs_f64();
    let least = |frame: usize| {
        rounds
            .iter()
            .map(|round| millis(round[frame].work))
            .fold(f64::INFINITY, f64::min)
    };

    let mut frames: Vec<f64> = (0..rounds[0].len()).map(least).collect();
    frames.sort_by(f64::total_cmp);
    let worst = rounds
        .iter()
        .flatten()
        .map(|taken| taken.passed)
        .max()
        .map_or(0.0, millis);

    println!(
        "{name:<44} {:>6} {:>8.2} {:>8.2} {worst:>8.2}",
        frames.len(),
        frames[frames.len() / 2],
        frames[frames.len() - 1]
    );
}
