//! Preparation of a marker take: all steps from markers to control points.

use pliant_mesh::glam::DVec3;
use pliant_rig::MarkerTrack;

use super::alignment::{self, MarkerAlignment};
use super::axis_order::Axes;
use super::gaps;
use super::time_filter::{self, Window};
use crate::LearnError;

/// Options of the preparation.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkerPreparation {
    /// The marker of each point, by name or number; `None` for a point without a marker. Without a
    /// list, the order of the take.
    pub markers: Option<Vec<Option<String>>>,
    /// First and last frame to use, counted from 0.
    pub range: Option<[usize; 2]>,
    /// The length of a unit of the take in units of the model.
    pub scale: f64,
    /// The axes of the take in terms of those of the model.
    pub axes: Axes,
    /// Gaps of up to so many frames are interpolated over time, longer ones follow the motion of
    /// neighbouring markers; `None` rejects every gap.
    pub max_gap: Option<usize>,
    /// The alignment of the take with the model.
    pub align: MarkerAlignment,
    /// A frame in which the subject is in the rest pose: the differences there are offsets of the
    /// markers.
    pub rest_frame: Option<usize>,
    /// The width of the smoothing.
    pub smooth: Option<Window>,
    /// The frame rate of the take, if its file has none or a wrong one.
    pub take_fps: Option<f64>,
    /// The frame rate to resample to.
    pub fps: Option<f64>,
}

impl MarkerPreparation {
    /// A tenth of a second at 120 frames a second, the rate in Huang et al. 2012.
    pub const DEFAULT_MAX_GAP: usize = 12;
}

impl Default for MarkerPreparation {
    fn default() -> Self {
        Self {
            markers: None,
            range: None,
            scale: 1.0,
            axes: Axes::default(),
            max_gap: None,
            align: MarkerAlignment::None,
            rest_frame: None,
            smooth: None,
            take_fps: None,
            fps: None,
        }
    }
}

/// The points that markers drive.
#[derive(Debug, Clone, Copy)]
pub struct DrivenPoints<'a> {
    /// Positions in the reference pose.
    pub rest: &'a [DVec3],
    /// Names of the points, if they have any: markers of the same names are selected.
    pub names: &'a [&'a str],
    /// All vertices of the reference pose, for anchors that name a vertex.
    pub reference: &'a [DVec3],
}

/// Points in the space of the model, frame by frame.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedMarkers {
    /// One position per point and frame.
    pub frames: Vec<Vec<DVec3>>,
    /// Frames per second, if known.
    pub fps: Option<f64>,
    /// Warnings about interpolated or assumed values.
    pub warnings: Vec<String>,
}

/// Markers in the axes and units of the model: those of the points, then those of anchors only.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) labels: Vec<String>,
    pub(super) frames: Vec<Vec<Option<DVec3>>>,
    /// The column of each named anchor.
    pub(super) anchors: Vec<usize>,
}

impl MarkerPreparation {
    /// Control points from a take.
    ///
    /// # Errors
    /// [`LearnError::Markers`], or an unknown marker with a list of similar names.
    pub fn run(
        &self,
        take: &MarkerTrack,
        to: &DrivenPoints<'_>,
    ) -> Result<PreparedMarkers, LearnError> {
        let mut warnings = Vec::new();
        let selected = self.select(take, to)?;
        let range = self.frame_range(take)?;
        let mut columns = self.columns(take, &selected, range)?;
        let absent = self.fill(&mut columns, to.rest.len(), range[0], &mut warnings)?;

        // Frames are counted from the first used one from here on.
        let rest_frame = index_in(self.rest_frame, range)?;
        let align_frame = index_in(self.align.frame(), range)?;
        alignment::align(&self.align, align_frame, rest_frame, &mut columns, to)?;
        if let Some(frame) = rest_frame {
            subtract_offsets(&mut columns.frames, frame, to.rest);
        }
        let frames: Vec<Vec<DVec3>> = columns
            .frames
            .iter()
            .map(|positions| gaps::place_absent(positions, to.rest))
            .collect();

        if !absent.is_empty() {
            warnings.push(format!(
                "markers that are never seen follow the motion of the points around them: {}",
                absent.join(", ")
            ));
        }
        let (frames, fps) = self.filter(take, frames, &mut warnings)?;
        Ok(PreparedMarkers {
            frames,
            fps,
            warnings,
        })
    }

    /// Smooths and resamples. Returns the frames and their rate.
    fn filter(
        &self,
        take: &MarkerTrack,
        mut frames: Vec<Vec<DVec3>>,
        warnings: &mut Vec<String>,
    ) -> Result<(Vec<Vec<DVec3>>, Option<f64>), LearnError> {
        // A take without a rate is assumed to have the requested one.
        let take_fps = self.take_fps.or(take.fps()).or(self.fps);
        if let (Some(fps), None, None) = (self.fps, self.take_fps, take.fps()) {
            warnings.push(format!(
                "the take has no frame rate; {fps} frames per second are assumed; give another rate by --take-fps"
            ));
        }

        if let Some(window) = self.smooth {
            frames = time_filter::smoothed(&frames, window.frames(take_fps)?);
        }
        if let Some(fps) = self.fps {
            frames = time_filter::resampled(&frames, take_fps, fps)?;
        }
        Ok((frames, self.fps.or(take_fps)))
    }

    /// The marker of each point; `None` for a point without a marker.
    fn select(
        &self,
        take: &MarkerTrack,
        to: &DrivenPoints<'_>,
    ) -> Result<Vec<Option<usize>>, LearnError> {
        let mut selected: Vec<Option<usize>> = Vec::new();
        // A given list, then equal names, then the order of the take.
        match &self.markers {
            Some(names) => {
                for name in names {
                    let marker = name.as_deref().map(|name| take.marker(name));
                    selected.push(marker.transpose()?);
                }
            }
            None if has_all_names(take, to.names) => {
                for name in to.names {
                    selected.push(Some(take.marker(name)?));
                }
            }
            None => selected.extend((0..take.marker_count()).map(Some)),
        }

        if selected.len() != to.rest.len() {
            let list = if self.markers.is_some() {
                "the list names"
            } else {
                "the take has"
            };
            return Err(markers_error(format!(
                "{list} {} markers, but {} points are driven; name one marker for each point, in their order",
                selected.len(),
                to.rest.len()
            )));
        }
        check_distinct(take, &selected)?;
        Ok(selected)
    }

    fn frame_range(&self, take: &MarkerTrack) -> Result<[usize; 2], LearnError> {
        let count = take.frames().len();
        let [first, last] = self.range.unwrap_or([0, count.saturating_sub(1)]);
        if count == 0 {
            return Err(markers_error(
                "the take has no frame; give at least one".into(),
            ));
        }
        if first > last || last >= count {
            return Err(markers_error(format!(
                "frames {first} to {last} are requested, but the take has {count} frames, counted from 0"
            )));
        }
        Ok([first, last])
    }

    /// The selected markers and the anchors, in the unit and axes of the model.
    fn columns(
        &self,
        take: &MarkerTrack,
        selected: &[Option<usize>],
        [first, last]: [usize; 2],
    ) -> Result<Columns, LearnError> {
        if !(self.scale.is_finite() && self.scale > 0.0) {
            return Err(LearnError::BadNumber {
                what: "the scale",
                value: self.scale,
                needed: "a number above zero",
            });
        }

        // Anchors that drive a point use its column; the others get columns of their own.
        let mut markers = Vec::new();
        for anchor in self.align.anchors() {
            markers.push(Some(take.marker(&anchor.marker)?));
        }
        let mut sources = selected.to_vec();
        sources.extend(markers.iter().filter(|marker| !selected.contains(marker)));
        let anchors = markers
            .iter()
            .filter_map(|marker| sources.iter().position(|source| source == marker))
            .collect();

        let mut labels = Vec::with_capacity(sources.len());
        for (k, source) in sources.iter().enumerate() {
            labels.push(match source {
                Some(marker) => take.names()[*marker].clone(),
                None => format!("point {k}"),
            });
        }
        let mut frames = Vec::with_capacity(last - first + 1);
        for positions in &take.frames()[first..=last] {
            let row = sources.iter().map(|source| {
                let position = source.and_then(|marker| positions[marker])?;
                Some(self.in_model_axes(position))
            });
            frames.push(row.collect());
        }
        Ok(Columns {
            labels,
            frames,
            anchors,
        })
    }

    /// A position of the take in the axes and unit of the model.
    fn in_model_axes(&self, position: DVec3) -> DVec3 {
        if self.scale == 1.0 && self.axes == Axes::default() {
            position
        } else {
            self.axes.apply(position) * self.scale
        }
    }

    /// Fills gaps from the take alone. Returns the names of points that never appear.
    fn fill(
        &self,
        columns: &mut Columns,
        points: usize,
        first: usize,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<String>, LearnError> {
        let Some((frame, column)) = first_gap(&columns.frames) else {
            return Ok(Vec::new());
        };
        let Some(max_gap) = self.max_gap else {
            return Err(markers_error(format!(
                "marker '{}' is not seen in frame {}; fill gaps by --max-gap N, or leave the marker out",
                columns.labels[column],
                frame + first
            )));
        };

        // Markers that never appear can only drive points, not align the take.
        let absent: Vec<usize> = (0..columns.labels.len())
            .filter(|&column| columns.frames.iter().all(|row| row[column].is_none()))
            .collect();
        if absent.len() == columns.labels.len() {
            return Err(markers_error(
                "no marker is seen in any frame; select other markers or frames".into(),
            ));
        }
        if let Some(&column) = absent.iter().find(|&&column| column >= points) {
            return Err(markers_error(format!(
                "marker '{}' is never seen and cannot align the take; leave it out",
                columns.labels[column]
            )));
        }

        let filled = gaps::fill(&mut columns.frames, &columns.labels, max_gap, first);
        warnings.extend(filled);
        let names = absent.into_iter();
        Ok(names.map(|column| columns.labels[column].clone()).collect())
    }
}

pub(super) fn markers_error(why: String) -> LearnError {
    LearnError::Markers { why }
}

/// Whether the points have names, and the take has a marker for each.
fn has_all_names(take: &MarkerTrack, names: &[&str]) -> bool {
    let has = |name: &&str| take.names().iter().any(|known| known == name);
    !names.is_empty() && names.iter().all(has)
}

/// Rejects a marker that is selected for two points.
fn check_distinct(take: &MarkerTrack, selected: &[Option<usize>]) -> Result<(), LearnError> {
    for (k, marker) in selected.iter().enumerate() {
        let Some(marker) = *marker else {
            continue;
        };
        if let Some(first) = selected[..k]
            .iter()
            .position(|other| *other == Some(marker))
        {
            return Err(markers_error(format!(
                "marker '{}' is named for points {first} and {k}; name each marker once",
                take.names()[marker]
            )));
        }
    }
    Ok(())
}

/// The first frame with a missing marker, and its column.
fn first_gap(frames: &[Vec<Option<DVec3>>]) -> Option<(usize, usize)> {
    for (frame, positions) in frames.iter().enumerate() {
        if let Some(column) = positions.iter().position(Option::is_none) {
            return Some((frame, column));
        }
    }
    None
}

/// The index of a frame in the used range.
fn index_in(frame: Option<usize>, [first, last]: [usize; 2]) -> Result<Option<usize>, LearnError> {
    match frame {
        Some(frame) if !(first..=last).contains(&frame) => Err(markers_error(format!(
            "frame {frame} is not among the frames {first} to {last} of the take that are used"
        ))),
        _ => Ok(frame.map(|frame| frame - first)),
    }
}

/// Subtracts one offset per point in all frames, so that `frame` is the rest pose.
fn subtract_offsets(frames: &mut [Vec<Option<DVec3>>], frame: usize, rest: &[DVec3]) {
    let mut offsets = vec![DVec3::ZERO; rest.len()];
    for (k, rest) in rest.iter().enumerate() {
        if let Some(position) = frames[frame][k] {
            offsets[k] = position - *rest;
        }
    }
    for positions in frames {
        for (position, offset) in positions.iter_mut().zip(&offsets) {
            *position = position.map(|position| position - *offset);
        }
    }
}
