//! Drags along paths and far beyond reach with the default solver: tables, no timings.
//!
//! `cargo test -p pliant-specimens --bench drag_paths`, with `PLIANT_DATA` set to the data folder also
//! for the rigs there. The first two rigs chose the settings of the solver, the others did not.
//!
//! *Paths.* Goals that one to three sliders reach are approached in 60 steps along a curve, left
//! behind straight to twice their distance, and approached along the curve while four other pins are
//! held. For each: the largest change of a slider in one step (median, nine in ten, most), and how
//! much smaller it is with steps half as long. A solver that jumps has a ratio near 1. With `DRAG_EACH`
//! set, each path and its fastest slider.
//!
//! *Far drags.* Fifty pins are dragged by 15 to 80 % of the face's size in random directions. For each
//! pose: sliders that move and those at a limit, the part of the motion farther from the pin than a
//! fifth of the face, the largest stretch of an edge relative to that by a single slider, surface whose
//! normal rotates by more than a right angle, pairs of triangles that intersect and do not in the
//! neutral, and the error of the pin above the least possible one, relative to the drag.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

mod paths;
mod rigs;

use paths::Subject;
use pliant_rig::{Bounded, Rig};
use rigs::data_rigs;

fn main() {
    let head = pliant_specimens::specimen("head").expect("it is built in");
    measure("head", &head.rig, 0);

    for (name, rig, skin) in data_rigs() {
        measure(name, &rig, skin);
    }
}

fn measure(name: &str, rig: &Rig, skin: usize) {
    let skin = if skin == 0 {
        rig.neutral().vertex_count()
    } else {
        skin
    };
    let subject = Subject::new(rig, skin);
    let solver = Bounded::default();

    // As near as the limits allow, whatever the face looks like.
    let nearest = Bounded::default()
        .with_debiasing(false)
        .with_goal_limit(None)
        .with_sparsity(0.0)
        .with_damping(1e-7);

    subject.measure_paths(name, &solver);
    subject.measure_far(name, &solver, &nearest);
}
