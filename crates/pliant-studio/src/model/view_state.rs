//! View state: cameras, display options and the shown frame; stored with a project, ignored by
//! undo.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::camera::Camera;
use super::look::Look;
use super::room::RoomName;

/// The state of the window that belongs to a project.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewState {
    /// The open room.
    pub room: RoomName,
    /// Shading, wireframe, grid.
    pub look: Look,
    /// The cameras of a room's viewports.
    pub cameras: BTreeMap<RoomName, Vec<FramedCamera>>,
    /// The frame that is shown.
    pub frame: f64,
    /// Whether playing begins again at the end.
    pub looping: Looping,
    /// The open tab of the right panel of each room.
    pub tabs: BTreeMap<RoomName, OptionsTab>,
}

/// A tab of the right panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptionsTab {
    /// The sliders of the character.
    Sliders,
    /// Saved poses.
    Poses,
    /// The settings of the room.
    Settings,
    /// What the last drag moved.
    Explain,
}

/// A camera and what it framed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FramedCamera {
    /// The camera.
    pub camera: Camera,
    /// The subject that it framed.
    pub subject: String,
}

/// What happens at the last frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Looping {
    /// Playing begins again.
    #[default]
    Around,
    /// Playing ends.
    Once,
}

/// The time that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Clock {
    /// The frame, between frames while playing.
    pub frame: f64,
    /// Whether it runs.
    pub playing: bool,
}

impl Clock {
    /// The frame as it is written and keyed.
    #[must_use]
    pub fn whole_frame(&self) -> u32 {
        self.frame.round() as u32
    }

    /// Lets `secs` pass, from frame 0 to `last_frame`.
    pub fn tick(&mut self, secs: f64, frames_per_second: f64, last_frame: u32, looping: Looping) {
        if !self.playing {
            return;
        }

        let last = f64::from(last_frame);
        self.frame += secs * frames_per_second;
        // At the end playing loops, or stops at the last frame.
        if self.frame > last {
            match looping {
                Looping::Around => {
                    self.frame = if last > 0.0 {
                        self.frame.rem_euclid(last)
                    } else {
                        0.0
                    }
                }
                Looping::Once => (self.frame, self.playing) = (last, false),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_loops_or_stops_at_the_end() {
        let mut clock = Clock {
            frame: 9.0,
            playing: true,
        };

        // Two frames from 9 on with a last frame of 10 arrive at 1.
        clock.tick(0.25, 8.0, 10, Looping::Around);
        assert_eq!(
            clock,
            Clock {
                frame: 1.0,
                playing: true
            }
        );

        clock.tick(9.0, 8.0, 10, Looping::Once);
        assert_eq!(
            clock,
            Clock {
                frame: 10.0,
                playing: false
            }
        );
    }
}
