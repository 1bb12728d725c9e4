//! `pliant invert`: slider curves from a moving mesh or from markers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant::pieces::JoinedPieces;
use pliant_io::{Animation, Asset, Motion, PlacementTrack, Shape, npy};
use pliant_linalg::RigidMotion;
use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::{DAffine3, DQuat, DVec3};
use pliant_rig::{
    Clip, FitError, Interpolation, Inverse, InvertOptions, Inverter, KeyedCurves, Limits,
    MarkerClip, Rig, RigError, WeightTrack,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cli::args::number::{non_negative, positive};
use crate::cli::args::pose_solver::{parse_limits, with_locks_and_limits};
use crate::cli::args::settings::SettingsArgs;
use crate::cli::args::source;
use crate::cli::commands::program::join::JoinedReport;
use crate::cli::pieces::{
    Invocation, JoinedResult, Made, PieceArgs, PieceContent, content, run_piece,
};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::milliseconds_since;
use crate::cli::report::output::{self, path_text};

const EXAMPLES: &str = "\
Examples:
  # A moving mesh as curves of the sliders of a rig
  pliant invert face.glb capture.glb --out weights.glb

  # A head that nods: find its rigid motion beside the sliders
  pliant invert face.glb scan.reference.obj+scan.frames.npy --align \\
      --out weights.glb

  # Keys only: {\"fps\": …, \"sliders\": {name: [[seconds, weight], …]}}
  pliant invert face.glb capture.glb --out curves.json

  # Fixed penalties instead of those that the noise of the clip asks for
  pliant invert face.glb noisy.glb --roughness 0.01 --sparsity 0.001 \\
      --out weights.glb

  # From markers that were tracked on three vertices
  pliant invert face.glb points.npy --markers 88,1204,77 --fps 60 \\
      --out weights.glb

  # The performance of the built-in head, from its positions
  pliant invert specimen:head specimen:head --out again.glb

Input:
  The clip has the vertices of the rig in the same order. Weights stay inside
  their limits (0 to 1, or --limits).

Keys:
  Only sliders that move get keys, and only as many as linear interpolation
  needs to stay within --tolerance.

Penalties:
  By default the noise of the clip is estimated from the clip, and the curve of
  each slider is smoothed as far as this noise asks for; without noise, planted
  weights come back exactly. Penalties have no unit. A --sparsity of 0.001
  leaves alone what moves less surface than a thousandth of a typical slider.
  --roughness weighs the curvature of the curves against the distance to the
  clip.";

/// Computes slider curves from a moving mesh or from markers.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Rig: any asset with targets.
    rig: String,

    /// Clip: any asset with frames. With --markers, an array of frames x markers x 3, with NaN
    /// where a marker is not visible.
    clip: String,

    /// Vertices on which the markers of an array were tracked.
    #[arg(long, value_name = "V,V…", value_delimiter = ',')]
    markers: Vec<u32>,

    /// Frames per second of an array of markers.
    #[arg(long, value_name = "RATE", requires = "markers", default_value_t = Clip::DEFAULT_FRAMES_PER_SECOND, value_parser = positive)]
    fps: f64,

    /// Penalty on the curvature of the curves. 0 solves each frame on its own [default: from the
    /// noise of the clip].
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = non_negative)]
    roughness: Option<f64>,

    /// Penalty for each slider that moves. 0 uses all sliders that help [default: from the noise
    /// of the clip].
    #[arg(long, value_name = "L", allow_negative_numbers = true, value_parser = non_negative)]
    sparsity: Option<f64>,

    /// Also find the rigid motion of the head, and write it beside the weights.
    #[arg(long, conflicts_with = "markers")]
    align: bool,

    /// Largest difference of a curve from the solved weights, to save keys.
    #[arg(long, value_name = "W", default_value_t = 1e-3, allow_negative_numbers = true, value_parser = non_negative)]
    tolerance: f64,

    /// Sliders that stay at zero.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    lock: Vec<String>,

    /// Limits of a slider [default: 0..1].
    #[arg(long, value_name = "NAME=MIN..MAX", value_delimiter = ',', value_parser = parse_limits)]
    limits: Vec<(String, Limits)>,

    #[command(flatten)]
    settings: SettingsArgs,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    /// File for the rig with its clip of weights, or for the keys only (.json).
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    // Last, because its heading holds for all options after it.
    #[command(flatten)]
    piece: PieceArgs,
}

/// The report of `pliant invert`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InvertReport {
    /// Number of frames.
    frames: usize,
    /// Frames per second.
    fps: f64,
    /// Root mean square distance over all frames, in asset units.
    rms: f64,
    /// Largest distance, in asset units; null for markers.
    max: Option<f64>,
    /// Root mean square distance of each frame.
    frame_rms: Vec<f64>,
    /// Largest distance of each frame; empty for markers.
    frame_max: Vec<f64>,
    /// Sliders that move.
    sliders_used: usize,
    /// Keys of all curves.
    keys: usize,
    /// Sweeps of the solver over the clip.
    sweeps: usize,
    /// Whether the solver converged.
    converged: bool,
    /// Value of the objective, in squared asset units.
    objective: f64,
    /// KKT residual.
    kkt: f64,
    /// Standard deviation of the noise of one coordinate, in asset units; null if both penalties
    /// were given or the clip has fewer than three frames.
    noise: Option<f64>,
    /// Penalty for each slider that moves.
    sparsity: f64,
    /// Median of the penalties on the curvature of the curves.
    roughness: f64,
    /// Rigid motion of each frame; empty without `--align`.
    motions: Vec<MotionReport>,
    /// Time of the factorisation, in milliseconds.
    factor_ms: f64,
    /// Mean time of a frame, in milliseconds.
    ms_per_frame: f64,
    /// File that was written.
    out: String,
    /// Content that the format of the file cannot store; absent for `.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<Vec<String>>,
}

/// A rigid motion.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct MotionReport {
    /// Quaternion x, y, z, w.
    rotation: [f64; 4],
    translation: [f64; 3],
}

/// The content of a file of keys.
#[derive(Debug, Serialize)]
struct KeyFile {
    fps: f64,
    /// Pairs of seconds and weight, by slider.
    sliders: BTreeMap<String, Vec<[f64; 2]>>,
}

/// The solved curves.
struct Solution {
    name: String,
    frames_per_second: f64,
    times_secs: Vec<f64>,
    /// Weights of all sliders in each frame.
    weights: Vec<Vec<f64>>,
    /// Distances and rigid motions of the frames.
    frames: Vec<FrameFit>,
    solve: SolveReport,
}

/// The fit of a frame.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct FrameFit {
    /// Its time in the whole clip.
    secs: f64,
    rms: f64,
    /// Largest distance; none for markers.
    max: Option<f64>,
    /// None without `--align`.
    motion: Option<MotionReport>,
}

/// What holds for the whole clip.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct SolveReport {
    sweeps: usize,
    converged: bool,
    largest_change: f64,
    objective: f64,
    kkt: f64,
    noise: Option<f64>,
    sparsity: f64,
    roughness: f64,
    factor_ms: f64,
    ms_per_frame: f64,
}

/// What a piece needs beside its weights to be joined.
#[derive(Debug, Serialize, Deserialize)]
struct InvertPiece {
    name: String,
    fps: f64,
    frames: Vec<FrameFit>,
    solve: SolveReport,
}

pub(crate) fn run(args: &Args, invocation: &Invocation, console: &Console) -> Result<(), Failure> {
    run_piece(&args.piece, invocation, &args.out, console, || {
        args.make(console)
    })
}

/// Number of frames of the whole result.
pub(crate) fn frame_count(args: &Args) -> Result<Option<usize>, Failure> {
    source::load_with_targets(&args.rig, args.neutral.as_deref())?;
    if !args.markers.is_empty() {
        return Ok(Some(args.marker_clip(Path::new(&args.clip))?.frames.len()));
    }
    let clip = pliant_io::load(&args.clip, &source::options(None))?.clip()?;
    Ok(Some(clip.frames().len()))
}

/// The curves whose pieces these are.
pub(crate) fn join(args: &Args, pieces: &JoinedPieces) -> Result<JoinedResult, Failure> {
    let (asset, rig) = args.open()?;
    let mut parts: Vec<InvertPiece> = pieces.contents()?;
    let frames = parts
        .iter_mut()
        .map(|part| std::mem::take(&mut part.frames));
    let frames = pieces.in_order(frames.collect())?;

    // Every piece solved the whole clip.
    let solve = parts[0].solve.clone();
    let solution = Solution {
        name: parts[0].name.clone(),
        frames_per_second: parts[0].fps,
        times_secs: frames.iter().map(|frame| frame.secs).collect(),
        weights: pieces.rows()?,
        frames,
        solve,
    };
    let (report, warnings) = args.finish(&solution, &asset, &rig)?;
    Ok(JoinedResult {
        summary: report.summary(),
        report: JoinedReport::Invert(Box::new(report)),
        warnings,
    })
}

impl Args {
    fn factor(&self, rig: &Rig) -> Result<(Inverter, f64), Failure> {
        let mut options = InvertOptions::default().with_align(self.align);
        if let Some(roughness) = self.roughness {
            options = options.with_roughness(roughness);
        }
        if let Some(sparsity) = self.sparsity {
            options = options.with_sparsity(sparsity);
        }
        let start = Instant::now();
        let inverter =
            Inverter::factor(rig, &options).map_err(|error| Failure::about(&self.rig, &error))?;
        Ok((inverter, milliseconds_since(start)))
    }

    fn open(&self) -> Result<(Asset, Rig), Failure> {
        let asset = source::load_with_targets(&self.rig, self.neutral.as_deref())?;
        let asset = self.settings.apply(asset)?;
        let rig = with_locks_and_limits(asset.rig()?, &self.lock, &self.limits)
            .map_err(|error| Failure::about(&self.rig, &error))?;
        Ok((asset, rig))
    }

    /// The selected frames of the solved clip, with their output written.
    ///
    /// Noise and penalties are those of the whole clip, and smooth curves couple its frames, so the
    /// whole clip is solved.
    fn make(&self, console: &Console) -> Result<Made<InvertReport>, Failure> {
        let _spinner = console.spinner("inverting");
        let (asset, rig) = self.open()?;
        let mut solution = if self.markers.is_empty() {
            self.invert_mesh(&asset, &rig)?
        } else {
            self.invert_markers(&rig)?
        };

        let whole = solution.frames.len();
        let frames = self.piece.frames_of(whole)?;
        let times = solution.times_secs.clone();
        if frames.len() < whole {
            solution = solution.of_frames(&frames);
        }
        let (report, warnings) = self.finish(&solution, &asset, &rig)?;

        let width = solution.weights.first().map_or(0, Vec::len);
        let values = solution.weights.iter().flatten().copied();
        let exact = npy::write_f64(&[frames.len(), width], values);
        // A piece begins at 0; its frames know their times in the whole clip.
        for (frame, &k) in solution.frames.iter_mut().zip(&frames) {
            frame.secs = times[k];
        }
        let piece = InvertPiece {
            name: solution.name,
            fps: solution.frames_per_second,
            frames: solution.frames,
            solve: solution.solve,
        };
        Ok(Made {
            summary: report.summary(),
            report,
            warnings,
            piece: PieceContent {
                frames,
                whole,
                content: content(&piece),
                exact: Some(exact),
            },
        })
    }

    /// Writes the curves; returns report and warnings.
    fn finish(
        &self,
        solution: &Solution,
        asset: &Asset,
        rig: &Rig,
    ) -> Result<(InvertReport, Vec<String>), Failure> {
        let about = |error: RigError| Failure::about(&self.clip, &error);
        let track = WeightTrack::new(
            solution.times_secs.clone(),
            solution.weights.clone(),
            Interpolation::Linear,
        );
        // A key in every frame is accurate but hard to edit; linear pieces need fewer.
        let curves =
            KeyedCurves::from_track(&track.map_err(about)?, self.tolerance).map_err(about)?;

        let mut warnings = asset.warnings.clone();
        warnings.extend(solution.convergence_warning());
        let left_out = self.save(solution, asset, rig, &curves, &mut warnings)?;
        Ok((solution.report(&curves, &self.out, left_out), warnings))
    }

    fn invert_mesh(&self, asset: &Asset, rig: &Rig) -> Result<Solution, Failure> {
        let about = |error: RigError| Failure::about(&self.clip, &error);
        let moving = pliant_io::load(&self.clip, &source::options(None))?;
        let clip = moving.in_space_of(asset).clip()?;
        let (inverter, factor_ms) = self.factor(rig)?;

        let start = Instant::now();
        let inverse = inverter.invert(&clip).map_err(about)?;
        let ms_per_frame = milliseconds_since(start) / clip.frames().len() as f64;

        // Distances on the full surface; the solver knows only differences of large sums.
        let misses = inverter.fit_errors(&clip, &inverse).map_err(about)?;
        let name = clip.name().to_owned();
        let rate = clip.frames_per_second();
        let times = [factor_ms, ms_per_frame];
        Ok(Solution::new(name, rate, &inverse, &misses, times))
    }

    fn invert_markers(&self, rig: &Rig) -> Result<Solution, Failure> {
        let path = Path::new(&self.clip);
        let clip = self.marker_clip(path)?;
        let (inverter, factor_ms) = self.factor(rig)?;

        let start = Instant::now();
        let inverse = inverter
            .invert_markers(&clip)
            .map_err(|error| Failure::about(&self.clip, &error))?;
        let ms_per_frame = milliseconds_since(start) / clip.frames.len() as f64;

        let stem = path.file_stem().unwrap_or_default();
        let name = stem.to_string_lossy().into_owned();
        let times = [factor_ms, ms_per_frame];
        Ok(Solution::new(name, self.fps, &inverse, &[], times))
    }

    /// The markers of an array; NaN is a marker that is not visible.
    fn marker_clip(&self, path: &Path) -> Result<MarkerClip, Failure> {
        let bytes = pliant_io::read_file(path)?;
        let rows = npy::read(&bytes)
            .and_then(|array| array.into_point_rows("markers"))
            .map_err(|error| Failure::about(&self.clip, &error))?;

        let visible = |position: DVec3| (!position.is_nan()).then_some(position);
        let frames = rows
            .into_iter()
            .map(|row: Vec<DVec3>| row.into_iter().map(visible).collect());
        let vertices = self.markers.iter().map(|&v| SurfacePoint::Vertex(v));
        Ok(MarkerClip {
            at: vertices.collect(),
            frames: frames.collect(),
            frames_per_second: self.fps,
        })
    }

    /// Writes the rig with its clip, or the keys alone. Returns what the format cannot store.
    fn save(
        &self,
        solution: &Solution,
        asset: &Asset,
        rig: &Rig,
        curves: &KeyedCurves,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Vec<String>>, Failure> {
        let is_json = self
            .out
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        if is_json {
            output::write(&self.out, solution.key_file(rig, curves))?;
            return Ok(None);
        }

        let animated = solution.animate(asset, curves)?;
        let saved = output::save_asset(&animated, &self.out, warnings)?;
        Ok(Some(saved.left_out))
    }
}

impl Solution {
    /// `misses` are distances over the whole surface, for each frame; none for markers.
    fn new(
        name: String,
        frames_per_second: f64,
        inverse: &Inverse,
        misses: &[FitError],
        [factor_ms, ms_per_frame]: [f64; 2],
    ) -> Self {
        let times_secs = inverse.track.times_secs().to_vec();
        let mut frames = Vec::with_capacity(times_secs.len());
        for (k, &secs) in times_secs.iter().enumerate() {
            frames.push(FrameFit {
                secs,
                rms: misses.get(k).map_or(inverse.report.rms[k], |miss| miss.rms),
                max: misses.get(k).map(|miss| miss.max),
                motion: inverse.motions.get(k).map(MotionReport::from),
            });
        }

        let report = &inverse.report;
        Self {
            name,
            frames_per_second,
            times_secs,
            weights: inverse.track.keys().to_vec(),
            frames,
            solve: SolveReport {
                sweeps: report.sweeps,
                converged: report.converged,
                largest_change: report.largest_change,
                objective: report.objective,
                kkt: report.kkt,
                noise: report.noise,
                sparsity: report.sparsity,
                roughness: report.roughness,
                factor_ms,
                ms_per_frame,
            },
        }
    }

    /// Some of the frames, as a clip that begins at 0.
    fn of_frames(self, frames: &[usize]) -> Self {
        let times = (0..frames.len()).map(|k| k as f64 / self.frames_per_second);
        Self {
            times_secs: times.collect(),
            weights: frames.iter().map(|&k| self.weights[k].clone()).collect(),
            frames: frames.iter().map(|&k| self.frames[k].clone()).collect(),
            ..self
        }
    }

    fn frame_count(&self) -> usize {
        self.frames.len()
    }

    fn convergence_warning(&self) -> Option<String> {
        (!self.solve.converged).then(|| {
            format!(
                "the solver did not converge: after {} sweeps a weight still changed by {:.1e}",
                self.solve.sweeps, self.solve.largest_change
            )
        })
    }

    fn report(
        &self,
        curves: &KeyedCurves,
        out: &Path,
        left_out: Option<Vec<String>>,
    ) -> InvertReport {
        let solve = &self.solve;
        let frame_rms: Vec<f64> = self.frames.iter().map(|frame| frame.rms).collect();

        // Over all frames, the squares are averaged, not the roots.
        let squares: f64 = frame_rms.iter().map(|rms| rms * rms).sum();
        let frame_max: Vec<f64> = self.frames.iter().filter_map(|frame| frame.max).collect();

        InvertReport {
            frames: self.frame_count(),
            fps: self.frames_per_second,
            rms: (squares / self.frame_count() as f64).sqrt(),
            max: frame_max.iter().copied().reduce(f64::max),
            frame_rms,
            frame_max,
            sliders_used: curves.moving().len(),
            keys: curves.key_count(),
            sweeps: solve.sweeps,
            converged: solve.converged,
            objective: solve.objective,
            kkt: solve.kkt,
            noise: solve.noise,
            sparsity: solve.sparsity,
            roughness: solve.roughness,
            motions: self.motions().cloned().collect(),
            factor_ms: solve.factor_ms,
            ms_per_frame: solve.ms_per_frame,
            out: path_text(out),
            left_out,
        }
    }

    fn motions(&self) -> impl Iterator<Item = &MotionReport> {
        self.frames.iter().filter_map(|frame| frame.motion.as_ref())
    }

    fn key_file(&self, rig: &Rig, curves: &KeyedCurves) -> Vec<u8> {
        let mut sliders = BTreeMap::new();
        for slider in curves.moving() {
            let keys = curves.sliders()[slider.index()].iter();
            let name = rig.targets()[slider.index()].name.clone();
            sliders.insert(name, keys.map(|key| [key.time_secs, key.weight]).collect());
        }

        let file = KeyFile {
            fps: self.frames_per_second,
            sliders,
        };
        let text = serde_json::to_string(&file).expect("names and numbers are JSON");
        format!("{text}\n").into_bytes()
    }

    /// The rig with one clip: its weights, and its rigid motion if that was solved.
    fn animate(&self, rig: &Asset, curves: &KeyedCurves) -> Result<Asset, Failure> {
        let mut animation = Animation::new(&*self.name, self.frame_count());
        animation.frames_per_second = self.frames_per_second;

        // The rigid motion moves all objects of the file alike.
        if self.motions().next().is_some() {
            let placement = self.placement();
            for object in 0..rig.objects.len() {
                let mut motion = Motion::new(object, Shape::Rest);
                motion.placement = Some(placement.clone());
                animation.motions.push(motion);
            }
        }
        Ok(rig.with_weight_clip(animation, &curves.to_track())?)
    }

    fn placement(&self) -> PlacementTrack {
        let placement = |motion: &MotionReport| {
            DAffine3::from_rotation_translation(
                DQuat::from_array(motion.rotation),
                DVec3::from_array(motion.translation),
            )
        };
        PlacementTrack {
            times_secs: self.times_secs.clone(),
            moved_from_rest: self.motions().map(placement).collect(),
        }
    }
}

impl From<&RigidMotion> for MotionReport {
    fn from(motion: &RigidMotion) -> Self {
        Self {
            rotation: motion.rotation.to_array(),
            translation: motion.translation.to_array(),
        }
    }
}

impl InvertReport {
    fn summary(&self) -> String {
        let max = match self.max {
            Some(max) => format!(", at most {max:.4}"),
            None => String::new(),
        };
        let noise = match self.noise {
            Some(noise) => format!(", noise {noise:.1e}"),
            None => String::new(),
        };
        format!(
            "{} frames; RMS distance {:.4}{max}{noise}\n  {} keys on {} sliders\n  {} sweeps, KKT residual {:.0e}, {:.2} ms per frame\nwritten to {}\n",
            self.frames,
            self.rms,
            self.keys,
            self.sliders_used,
            self.sweeps,
            self.kkt,
            self.ms_per_frame,
            self.out
        )
    }
}
