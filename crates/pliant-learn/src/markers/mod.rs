//! From captured markers to control points.
//!
//! **Problem.** A take has its own names, order, unit, axes and rate; the subject moves as a whole,
//! markers vanish, and none sits exactly where the model has a control point.
//!
//! **Steps**, in this order: choose markers; scale and swap axes; fill gaps ([`gaps`]); bring the
//! take to the model, frame by frame or once ([`alignment`]); take away the offsets of a frame
//! known to be the rest pose; place control points that no marker tells of; smooth and resample
//! ([`time`]). A step that is not asked for leaves every bit alone.
//!
//! **Source.** Huang et al. 2012, section 8: markers chosen by hand, four of them for alignment,
//! 120 Hz brought to 30.

mod alignment;
mod axes;
mod gaps;
#[cfg(test)]
mod tests;
mod time;

use pliant_mesh::glam::DVec3;
use pliant_rig::MarkerTrack;

use crate::LearnError;

pub use alignment::{Align, Anchor};
pub use axes::Axes;
pub use time::Window;

/// How a take becomes control points.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    /// The marker of each point, by name or number; none for one that no marker tells of. Without
    /// a list, the take's own order.
    pub markers: Option<Vec<Option<String>>>,
    /// First and last frame to use, counted from 0.
    pub range: Option<[usize; 2]>,
    /// The length of a unit of the take in units of the model.
    pub scale: f64,
    /// Which axis of the take is which of the model.
    pub axes: Axes,
    /// Gaps up to so many frames are filled along time, longer ones by the motion of neighbours;
    /// none declines every gap.
    pub max_gap: Option<usize>,
    /// Whether and by what the take is brought to the model.
    pub align: Align,
    /// A frame in which the subject is in the rest pose: what is off there counts as the markers'
    /// offset.
    pub rest_frame: Option<usize>,
    /// How much is smoothed.
    pub smooth: Option<Window>,
    /// The take's rate where its file does not tell, or tells wrongly.
    pub take_fps: Option<f64>,
    /// The rate to resample to.
    pub fps: Option<f64>,
}

impl Preparation {
    /// A tenth of a second at the 120 frames a second of the paper's takes.
    pub const DEFAULT_MAX_GAP: usize = 12;
}

impl Default for Preparation {
    fn default() -> Self {
        Self {
            markers: None,
            range: None,
            scale: 1.0,
            axes: Axes::default(),
            max_gap: None,
            align: Align::None,
            rest_frame: None,
            smooth: None,
            take_fps: None,
            fps: None,
        }
    }
}

/// What markers are to drive.
#[derive(Debug, Clone, Copy)]
pub struct MarkerSource<'a> {
    /// Where the points are in the reference pose.
    pub rest: &'a [DVec3],
    /// Names of the points, where they have any: markers of the same names are chosen.
    pub names: &'a [&'a str],
    /// All vertices of the reference pose, for anchors that name one.
    pub reference: &'a [DVec3],
}

/// Points in the model's space, frame by frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// One place per point and frame.
    pub frames: Vec<Vec<DVec3>>,
    /// Frames per second, where known.
    pub fps: Option<f64>,
    /// What was filled or guessed.
    pub problems: Vec<String>,
}

/// Columns that are followed: the points, then markers that only align.
#[derive(Debug)]
struct Columns {
    labels: Vec<String>,
    frames: Vec<Vec<Option<DVec3>>>,
    /// The column of each named anchor.
    anchors: Vec<usize>,
}

impl Preparation {
    /// Control points from a take.
    ///
    /// # Errors
    /// [`LearnError::Markers`], or an unknown marker with names that are like it.
    pub fn run(&self, take: &MarkerTrack, to: &MarkerSource<'_>) -> Result<Prepared, LearnError> {
        let chosen = self.choose(take, to)?;
        let [first, last] = self.frame_range(take)?;
        let mut problems = Vec::new();
        let mut columns = self.columns(take, &chosen, [first, last])?;
        let absent = self.fill(&mut columns, to.rest.len(), first, &mut problems)?;
        let within =
            |frame: Option<usize>| frame.map(|frame| within(frame, [first, last])).transpose();
        let rest_frame = within(self.rest_frame)?;
        let align_frame = within(self.align.frame())?;
        alignment::align(&self.align, align_frame, rest_frame, &mut columns, to)?;
        let mut frames = columns.frames;
        if let Some(frame) = rest_frame {
            remove_offsets(&mut frames, frame, to.rest);
        }
        let mut frames: Vec<Vec<DVec3>> = frames
            .iter()
            .map(|places| gaps::place_absent(places, to.rest))
            .collect();
        tell_absent(&absent, &mut problems);
        // A take that does not tell its rate is one of the rate asked for.
        let take_fps = self.take_fps.or(take.fps()).or(self.fps);
        if let (Some(fps), None, None) = (self.fps, self.take_fps, take.fps()) {
            problems.push(format!("the take does not tell its frames per second: {fps} are taken as they are; say others by --take-fps"));
        }
        if let Some(window) = self.smooth {
            frames = time::smoothed(&frames, window.frames(take_fps)?);
        }
        if let Some(fps) = self.fps {
            frames = time::resampled(&frames, take_fps, fps)?;
        }
        Ok(Prepared {
            frames,
            fps: self.fps.or(take_fps),
            problems,
        })
    }

    /// The marker of each point; none where no marker tells of it.
    fn choose(
        &self,
        take: &MarkerTrack,
        to: &MarkerSource<'_>,
    ) -> Result<Vec<Option<usize>>, LearnError> {
        let (found, expected) = (take.marker_count(), to.rest.len());
        let chosen: Vec<Option<usize>> = match &self.markers {
            Some(names) => names
                .iter()
                .map(|name| name.as_deref().map(|name| take.marker(name)).transpose())
                .collect::<Result<_, _>>()?,
            None if !to.names.is_empty()
                && to
                    .names
                    .iter()
                    .all(|name| take.names().iter().any(|known| known == name)) =>
            {
                to.names
                    .iter()
                    .map(|name| take.marker(name).map(Some))
                    .collect::<Result<_, _>>()?
            }
            None => (0..found).map(Some).collect(),
        };
        if chosen.len() != expected {
            let list = if self.markers.is_some() {
                "the list names"
            } else {
                "the take has"
            };
            let why = format!(
                "{list} {} markers, but {expected} points are to be driven; name one for each in their order",
                chosen.len()
            );
            return Err(LearnError::Markers { why });
        }
        for (k, marker) in chosen
            .iter()
            .enumerate()
            .filter(|(_, marker)| marker.is_some())
        {
            if let Some(first) = chosen[..k].iter().position(|other| other == marker) {
                let why = format!(
                    "marker '{}' is named for points {first} and {k}; name each marker once",
                    take.names()[marker.unwrap_or(0)]
                );
                return Err(LearnError::Markers { why });
            }
        }
        Ok(chosen)
    }

    fn frame_range(&self, take: &MarkerTrack) -> Result<[usize; 2], LearnError> {
        let count = take.frames().len();
        let [first, last] = self.range.unwrap_or([0, count.saturating_sub(1)]);
        if count == 0 {
            return Err(LearnError::Markers {
                why: "it has no frame; give at least one".into(),
            });
        }
        if first > last || last >= count {
            let why = format!(
                "frames {first} to {last} are asked for, but the take has {count}, counted from 0"
            );
            return Err(LearnError::Markers { why });
        }
        Ok([first, last])
    }

    /// The chosen markers and the anchors, in the model's unit and axes.
    fn columns(
        &self,
        take: &MarkerTrack,
        chosen: &[Option<usize>],
        [first, last]: [usize; 2],
    ) -> Result<Columns, LearnError> {
        if !(self.scale.is_finite() && self.scale > 0.0) {
            return Err(LearnError::BadNumber {
                what: "the scale",
                value: self.scale,
                needed: "a number above zero",
            });
        }
        let anchors = self
            .align
            .anchors()
            .iter()
            .map(|anchor| take.marker(&anchor.marker));
        let anchors = anchors.collect::<Result<Vec<usize>, _>>()?;
        let extra = anchors
            .iter()
            .map(|&marker| Some(marker))
            .filter(|marker| !chosen.contains(marker));
        let sources: Vec<Option<usize>> = chosen.iter().copied().chain(extra).collect();
        let anchors = anchors
            .iter()
            .filter_map(|&marker| sources.iter().position(|source| *source == Some(marker)))
            .collect();
        let moved = |place: DVec3| {
            if self.is_plain() {
                place
            } else {
                self.axes.apply(place) * self.scale
            }
        };
        let row = |places: &Vec<Option<DVec3>>| {
            sources
                .iter()
                .map(|marker| marker.and_then(|marker| places[marker]).map(moved))
                .collect()
        };
        let label = |(k, marker): (usize, &Option<usize>)| {
            marker.map_or_else(
                || format!("point {k}"),
                |marker| take.names()[marker].clone(),
            )
        };
        let frames = take.frames()[first..=last].iter().map(row).collect();
        Ok(Columns {
            labels: sources.iter().enumerate().map(label).collect(),
            frames,
            anchors,
        })
    }

    fn is_plain(&self) -> bool {
        self.scale == 1.0 && self.axes == Axes::default()
    }

    /// Fills what can be filled from the take alone; the names of points that never appear.
    fn fill(
        &self,
        columns: &mut Columns,
        points: usize,
        first: usize,
        problems: &mut Vec<String>,
    ) -> Result<Vec<String>, LearnError> {
        let never = |column: usize| columns.frames.iter().all(|places| places[column].is_none());
        let absent: Vec<usize> = (0..columns.labels.len())
            .filter(|&column| never(column))
            .collect();
        let missing = columns
            .frames
            .iter()
            .enumerate()
            .find_map(|(frame, places)| Some((frame, places.iter().position(Option::is_none)?)));
        let Some((frame, column)) = missing else {
            return Ok(Vec::new());
        };
        let Some(max_gap) = self.max_gap else {
            let why = format!(
                "marker '{}' is not seen in frame {}; fill gaps by --max-gap N, or leave it out",
                columns.labels[column],
                frame + first
            );
            return Err(LearnError::Markers { why });
        };
        if absent.len() == columns.labels.len() {
            return Err(LearnError::Markers {
                why: "no marker is seen in any frame; choose other markers or frames".into(),
            });
        }
        if let Some(&column) = absent.iter().find(|&&column| column >= points) {
            let why = format!(
                "marker '{}' is never seen, so nothing can be aligned by it; leave it out",
                columns.labels[column]
            );
            return Err(LearnError::Markers { why });
        }
        problems.extend(gaps::fill(
            &mut columns.frames,
            &columns.labels,
            max_gap,
            first,
        ));
        Ok(absent
            .into_iter()
            .map(|column| columns.labels[column].clone())
            .collect())
    }
}

fn within(frame: usize, [first, last]: [usize; 2]) -> Result<usize, LearnError> {
    if (first..=last).contains(&frame) {
        return Ok(frame - first);
    }
    Err(LearnError::Markers {
        why: format!(
            "frame {frame} is not among the frames {first} to {last} of the take that are used"
        ),
    })
}

/// Makes `frame` the rest pose, by one offset per point in all frames.
fn remove_offsets(frames: &mut [Vec<Option<DVec3>>], frame: usize, rest: &[DVec3]) {
    let offset =
        |(k, rest): (usize, &DVec3)| frames[frame][k].map_or(DVec3::ZERO, |place| place - *rest);
    let offsets: Vec<DVec3> = rest.iter().enumerate().map(offset).collect();
    for places in frames {
        for (place, offset) in places.iter_mut().zip(&offsets) {
            *place = place.map(|place| place - *offset);
        }
    }
}

fn tell_absent(absent: &[String], problems: &mut Vec<String>) {
    if !absent.is_empty() {
        problems.push(format!(
            "never seen, so placed by the motion of the points around: {}",
            absent.join(", ")
        ));
    }
}
