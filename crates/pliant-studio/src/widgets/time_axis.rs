//! The time axis: conversion between frames and screen positions.

use eframe::egui::Rangef;

/// Which frame is where.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TimeAxis {
    /// Where frame 0 and the last one are.
    pub(crate) x: Rangef,
    /// The last frame.
    pub(crate) last: f64,
}

impl TimeAxis {
    /// Where a frame is.
    pub(crate) fn x_of(&self, frame: f64) -> f32 {
        self.x.min + self.x.span() * (frame / self.last) as f32
    }

    /// The frame at a place, between frames as well.
    pub(crate) fn frame_at(&self, x: f32) -> f64 {
        f64::from((x - self.x.min) / self.x.span()) * self.last
    }

    /// The whole frame nearest to a place, from the first to the last.
    pub(crate) fn whole_frame_at(&self, x: f32) -> u32 {
        self.frame_at(x).clamp(0.0, self.last).round() as u32
    }

    /// Frames between two numbers, so that each number has at least `room`.
    pub(crate) fn step(&self, room: f32) -> u32 {
        let least = f64::from(room / self.x.span()) * self.last;
        let steps = (0..10).flat_map(|k| [1, 2, 5].map(|digit| digit * 10_u32.pow(k)));
        steps
            .into_iter()
            .find(|step| f64::from(*step) >= least)
            .unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_positions_are_inverse() {
        let axis = TimeAxis {
            x: Rangef::new(100.0, 580.0),
            last: 48.0,
        };

        assert_eq!(
            (axis.x_of(0.0), axis.x_of(48.0), axis.x_of(12.0)),
            (100.0, 580.0, 220.0)
        );
        assert!(
            (0..=48).all(|frame| axis.whole_frame_at(axis.x_of(f64::from(frame)) + 4.0) == frame)
        );

        assert_eq!(
            (axis.whole_frame_at(0.0), axis.whole_frame_at(900.0)),
            (0, 48)
        );
    }

    #[test]
    fn numbers_keep_their_distance() {
        let axis = TimeAxis {
            x: Rangef::new(0.0, 480.0),
            last: 48.0,
        };
        assert_eq!(
            [5.0, 9.0, 11.0, 40.0, 60.0].map(|room| axis.step(room)),
            [1, 1, 2, 5, 10]
        );
    }
}
