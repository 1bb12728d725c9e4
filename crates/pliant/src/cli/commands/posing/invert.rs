//! `pliant invert`: slider curves from a moving mesh or from markers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant_io::{Animation, Asset, Motion, PlacementTrack, Shape, npy};
use pliant_linalg::RigidMotion;
use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{
    Clip, FitError, Inverse, InvertOptions, Inverter, KeyedCurves, Limits, MarkerClip, Rig,
    RigError,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::number::{non_negative, positive};
use crate::cli::args::pose_solver::{parse_limits, with_locks_and_limits};
use crate::cli::args::settings::SettingsArgs;
use crate::cli::args::source;
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
#[derive(Debug, Serialize, JsonSchema)]
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
    inverse: Inverse,
    /// Distances over the whole surface, for each frame; empty for markers.
    misses: Vec<FitError>,
    factor_ms: f64,
    ms_per_frame: f64,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _spinner = console.spinner("inverting");
    let asset = source::load_with_targets(&args.rig, args.neutral.as_deref())?;
    let asset = args.settings.apply(asset)?;
    let rig = with_locks_and_limits(asset.rig()?, &args.lock, &args.limits)
        .map_err(|error| Failure::about(&args.rig, &error))?;

    let solution = if args.markers.is_empty() {
        args.invert_mesh(&asset, &rig)?
    } else {
        args.invert_markers(&rig)?
    };

    // A key in every frame is accurate but hard to edit; linear pieces need fewer.
    let curves = KeyedCurves::from_track(&solution.inverse.track, args.tolerance)
        .map_err(|error| Failure::about(&args.clip, &error))?;

    let mut warnings = asset.warnings.clone();
    warnings.extend(solution.convergence_warning());
    let left_out = args.save(&solution, &asset, &rig, &curves, &mut warnings)?;

    let report = solution.report(&curves, &args.out, left_out);
    console.print_summary(&report, &report.summary(), &warnings)
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

        Ok(Solution {
            name: clip.name().to_owned(),
            frames_per_second: clip.frames_per_second(),
            inverse,
            misses,
            factor_ms,
            ms_per_frame,
        })
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
        Ok(Solution {
            name: stem.to_string_lossy().into_owned(),
            frames_per_second: self.fps,
            inverse,
            misses: Vec::new(),
            factor_ms,
            ms_per_frame,
        })
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
    fn frame_count(&self) -> usize {
        self.inverse.track.keys().len()
    }

    fn convergence_warning(&self) -> Option<String> {
        let report = &self.inverse.report;
        (!report.converged).then(|| {
            format!(
                "the solver did not converge: after {} sweeps a weight still changed by {:.1e}",
                report.sweeps, report.largest_change
            )
        })
    }

    /// Root mean square distance of each frame.
    fn frame_rms(&self) -> Vec<f64> {
        if self.misses.is_empty() {
            self.inverse.report.rms.clone()
        } else {
            self.misses.iter().map(|miss| miss.rms).collect()
        }
    }

    fn report(
        &self,
        curves: &KeyedCurves,
        out: &Path,
        left_out: Option<Vec<String>>,
    ) -> InvertReport {
        let solve = &self.inverse.report;
        let frame_rms = self.frame_rms();

        // Over all frames, the squares are averaged, not the roots.
        let squares: f64 = frame_rms.iter().map(|rms| rms * rms).sum();
        let frame_max: Vec<f64> = self.misses.iter().map(|miss| miss.max).collect();

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
            motions: self
                .inverse
                .motions
                .iter()
                .map(MotionReport::from)
                .collect(),
            factor_ms: self.factor_ms,
            ms_per_frame: self.ms_per_frame,
            out: path_text(out),
            left_out,
        }
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
        if !self.inverse.motions.is_empty() {
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
        let motions = self.inverse.motions.iter();
        PlacementTrack {
            times_secs: self.inverse.track.times_secs().to_vec(),
            moved_from_rest: motions
                .map(|m| DAffine3::from_rotation_translation(m.rotation, m.translation))
                .collect(),
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
