//! `pliant pose --path`: a drag as a clip, one frame for each step.

use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant_io::{Asset, CharacterPose, Format, ReadError, npy};
use pliant_mesh::glam::DVec3;
use pliant_rig::{Clip, DragPath, Grab, Pose, Rig};
use schemars::JsonSchema;
use serde::Serialize;

use super::pose_output::{PinReport, PoseOutputArgs, pin_reports};
use crate::cli::args::number::positive;
use crate::cli::args::pin::Pins;
use crate::cli::args::slider_weights;
use crate::cli::report::failure::Failure;
use crate::cli::report::microseconds_since;
use crate::cli::report::output::{self, OutputFiles, path_text};

/// The path of a drag.
#[derive(Debug, clap::Args)]
pub(crate) struct PathArgs {
    /// Path of the pins: an array of steps x pins x 3 (steps x pins x 2 if all are view pins),
    /// displacements from the start. The output is a clip with a frame for each step.
    #[arg(long, value_name = "P.npy", conflicts_with_all = ["residual", "promotion", "heatmap", "flat"], help_heading = "Drag")]
    pub(crate) path: Option<PathBuf>,

    /// Frames per second of the clip.
    #[arg(long, value_name = "RATE", requires = "path", default_value_t = Clip::DEFAULT_FRAMES_PER_SECOND, value_parser = positive, help_heading = "Drag")]
    fps: f64,
}

/// The report of `pliant pose --path`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DragReport {
    /// Solver.
    method: &'static str,
    /// Number of steps.
    frames: usize,
    /// Frames per second of the clip.
    fps: f64,
    /// All sliders in the order of `weights`.
    sliders: Vec<String>,
    /// The weight of each slider, for each step.
    weights: Vec<Vec<f64>>,
    /// The pins at the last step.
    pins: Vec<PinReport>,
    /// The error of each pin, for each step.
    errors: Vec<Vec<f64>>,
    /// The largest error of each pin.
    largest_errors: Vec<f64>,
    /// The largest change of a slider between two steps.
    largest_change: f64,
    /// Sliders with a weight above 0.02 in absolute value at the last step.
    active_sliders: usize,
    /// Sliders that a limit holds back at the last step.
    at_limit: Vec<String>,
    /// The largest KKT residual of a step; null for methods other than box.
    kkt: Option<f64>,
    /// Mean time of a step, in microseconds.
    solve_us: f64,
    /// File of the clip.
    out: String,
}

/// A rig and its pins on which a path is followed.
pub(crate) struct Dragged<'a> {
    pub(crate) asset: &'a Asset,
    /// The pose of the joints, in which the drag is.
    pub(crate) character: &'a CharacterPose,
    pub(crate) rig: &'a Rig,
    pub(crate) locator: &'a str,
    pub(crate) pins: &'a Pins,
}

/// A drag whose clip is written.
pub(crate) struct WrittenDrag {
    pub(crate) report: DragReport,
    pub(crate) summary: String,
    pub(crate) warnings: Vec<String>,
}

impl Dragged<'_> {
    /// Follows the path, and writes the rig with a clip of its weights.
    pub(crate) fn follow(
        &self,
        path: &Path,
        grab: &mut Grab,
        args: &PathArgs,
        outputs: &PoseOutputArgs,
    ) -> Result<WrittenDrag, Failure> {
        output::require_clip_format(&outputs.out)?;
        let steps = self.read_path(path)?;

        let start = Instant::now();
        let drag = grab
            .follow(&steps)
            .map_err(|error| Failure::about(path.display(), &error))?;
        let solve_us = microseconds_since(start) / steps.len() as f64;

        let mut files = OutputFiles::default();
        self.add_clip(&drag, args.fps, &outputs.out, &mut files)?;
        let last = &drag.poses[drag.poses.len() - 1];
        if let Some(path) = &outputs.weights_out {
            let weights = slider_weights::by_name(self.rig, &last.weights);
            files.add(path, slider_weights::to_bytes(&weights));
        }
        files.write()?;

        let mut warnings = [&self.asset.warnings[..], &files.warnings].concat();
        for pose in &drag.poses {
            for warning in &pose.warnings {
                if !warnings.contains(warning) {
                    warnings.push(warning.clone());
                }
            }
        }

        let report = self.report(&drag, grab, args.fps, solve_us, &outputs.out);
        Ok(WrittenDrag {
            summary: report.summary(),
            report,
            warnings,
        })
    }

    /// The displacements of all pins at each step; held pins stay unless the path moves them.
    fn read_path(&self, path: &Path) -> Result<Vec<Vec<DVec3>>, Failure> {
        let about = |error: ReadError| Failure::about(path.display(), &error);
        let array = npy::read(&pliant_io::read_file(path)?).map_err(about)?;
        let all = self.pins.all.len();
        let dragged = self.pins.dragged;

        let mut steps = match (array.shape[..].to_vec().as_slice(), &self.pins.camera) {
            (&[_, pins, 2], Some(camera)) if pins == dragged => {
                let [right, up] = camera.picture_axes();
                let in_space = |row: &[f64]| right * row[0] + up * row[1];
                array
                    .values
                    .chunks_exact(2 * pins)
                    .map(|step| step.chunks_exact(2).map(in_space).collect())
                    .collect()
            }
            _ => array.into_point_rows("paths").map_err(about)?,
        };

        for (k, step) in steps.iter_mut().enumerate() {
            if step.len() != dragged && step.len() != all {
                return Err(Failure::new(format!(
                    "{}: step {k} moves {} pins, but {dragged} are dragged; give an array of steps × {dragged} × 3",
                    path.display(),
                    step.len()
                )));
            }
            step.resize(all, DVec3::ZERO);
        }
        Ok(steps)
    }

    fn add_clip(
        &self,
        drag: &DragPath,
        fps: f64,
        out: &Path,
        files: &mut OutputFiles,
    ) -> Result<(), Failure> {
        // Joints stay as they are in the pose.
        let held = self
            .character
            .held_clip(self.asset, "drag", &[], drag.poses.len());
        let mut animation = held?;
        animation.frames_per_second = fps;

        // Formats without targets get positions, so that nothing is reported as left out.
        let clip = if Format::of(out).is_some_and(Format::stores_targets) {
            let track = drag
                .to_track(fps)
                .map_err(|error| Failure::about(self.locator, &error))?;
            self.asset.with_weight_clip(animation, &track)?
        } else {
            let frames: Vec<Vec<DVec3>> = drag.weights().map(|w| self.rig.evaluate(w)).collect();
            self.asset.with_point_clip(animation, &frames)?
        };
        files.add_asset(out, &clip)
    }

    fn report(
        &self,
        drag: &DragPath,
        grab: &Grab,
        fps: f64,
        solve_us: f64,
        out: &Path,
    ) -> DragReport {
        let last = &drag.poses[drag.poses.len() - 1];
        let name = |slider: usize| self.rig.targets()[slider].name.clone();
        let errors_of = |pose: &Pose| pose.pins.iter().map(|pin| pin.error).collect();
        let unreachable = grab.explain(last).unreachable;

        DragReport {
            method: last.method,
            frames: drag.poses.len(),
            fps,
            sliders: (0..self.rig.targets().len()).map(name).collect(),
            weights: drag.weights().map(<[f64]>::to_vec).collect(),
            pins: pin_reports(&self.pins.all, last, &unreachable),
            errors: drag.poses.iter().map(errors_of).collect(),
            largest_errors: drag.largest_errors(),
            largest_change: drag.largest_change(),
            active_sliders: last.active_sliders(),
            at_limit: last.at_limit.iter().map(|s| name(s.index())).collect(),
            kkt: drag
                .poses
                .iter()
                .filter_map(|pose| pose.kkt)
                .reduce(f64::max),
            solve_us,
            out: path_text(out),
        }
    }
}

impl DragReport {
    fn summary(&self) -> String {
        let worst = self.largest_errors.iter().copied().fold(0.0, f64::max);
        format!(
            "{} steps, {}: {:.0} µs per step\n  largest change of a slider in a step {:.3}; largest error of a pin {worst:.4}\nwritten to {}\n",
            self.frames, self.method, self.solve_us, self.largest_change, self.out
        )
    }
}
