//! `pliant invert`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant_io::{Animation, Asset, Motion, PlacementTrack, Shape, npy};
use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{
    Clip, Inverse, InvertOptions, Inverter, KeyedCurves, Limits, MarkerClip, Miss, Rig, RigError,
};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::solver::{from_zero, parse_limits};
use super::{edited, output, source};

const EXAMPLES: &str = "\
Examples:
  pliant invert face.glb capture.glb --out weights.glb
                                               a moving mesh as curves of the rig's sliders
  pliant invert face.glb scan.reference.obj+scan.frames.npy --align --out weights.glb
                                               a head that nods: its motion is found beside the sliders
  pliant invert face.glb capture.glb --out curves.json
                                               keys slider by slider: {\"fps\": …, \"sliders\": {name: [[t, w], …]}}
  pliant invert face.glb noisy.glb --roughness 0.01 --sparsity 0.001 --out weights.glb
                                               smoother curves, and fewer sliders at a time
  pliant invert face.glb points.npy --markers 88,1204,77 --fps 60 --out weights.glb
                                               from points that were tracked on these vertices
  pliant invert specimen:head specimen:head --out again.glb
                                               the head's own performance, found from its positions

The clip has the rig's vertices in the rig's order. Weights stay within their limits (0 to 1
unless --limits says otherwise). Only sliders that move get keys, and only as many as straight
lines need to stay within --tolerance. Prices are free of units: 0.001 of --sparsity leaves alone
what moves less surface than a thousandth of a typical slider; --roughness weighs bends of the
curves against distance.";

/// Curves of slider weights from a moving mesh, or from moving points.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The rig: any asset with targets.
    rig: String,

    /// The clip: any asset with frames; with --markers an array of frames x markers x 3, NaN where
    /// one is not seen.
    clip: String,

    /// The vertices that the points of an array were tracked on.
    #[arg(long, value_name = "V,V…", value_delimiter = ',')]
    markers: Vec<u32>,

    /// Frames per second of an array of points.
    #[arg(long, value_name = "RATE", requires = "markers", default_value_t = Clip::DEFAULT_FRAMES_PER_SECOND, value_parser = above_zero)]
    fps: f64,

    /// Price of bends in the curves; 0 fits each frame by itself.
    #[arg(long, value_name = "M", default_value_t = InvertOptions::DEFAULT_ROUGHNESS, allow_negative_numbers = true, value_parser = from_zero)]
    roughness: f64,

    /// Price of moving one more slider; 0 uses all that help.
    #[arg(long, value_name = "L", default_value_t = InvertOptions::DEFAULT_SPARSITY, allow_negative_numbers = true, value_parser = from_zero)]
    sparsity: f64,

    /// Find how the whole head moves, and write it beside the weights.
    #[arg(long, conflicts_with = "markers")]
    align: bool,

    /// How far a curve may pass the weights that were found, to save keys.
    #[arg(long, value_name = "W", default_value_t = 1e-3, allow_negative_numbers = true, value_parser = from_zero)]
    tolerance: f64,

    /// Sliders that stay at rest.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    lock: Vec<String>,

    /// Other limits than 0 to 1.
    #[arg(long, value_name = "NAME=MIN..MAX", value_delimiter = ',', value_parser = parse_limits)]
    limits: Vec<(String, Limits)>,

    /// The neutral mesh of a folder of OBJs, by its file name.
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    /// Where to write the rig with its clip of weights, or the keys alone (.json).
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// What was found, and at what cost.
struct Found {
    name: String,
    frames_per_second: f64,
    inverse: Inverse,
    /// Over the whole surface, frame by frame; none for markers.
    misses: Vec<Miss>,
    factor_ms: f64,
    ms_per_frame: f64,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _working = console.working("inverting");
    let asset = edited::load(&args.rig, args.neutral.as_deref())?;
    let rig = prepared(asset.rig()?, args)?;
    let found = if args.markers.is_empty() {
        from_mesh(args, &rig)?
    } else {
        from_markers(args, &rig)?
    };
    let curves = KeyedCurves::from_track(&found.inverse.track, args.tolerance)
        .map_err(|error| Failure::about(&args.clip, &error))?;
    let mut problems = asset.problems.clone();
    if !found.inverse.report.converged {
        let report = &found.inverse.report;
        problems.push(format!(
            "after {} sweeps a weight still changed by {:.1e}",
            report.sweeps, report.largest_change
        ));
    }
    let mut object = found.describe(&curves);
    if args
        .out
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
    {
        output::write(&args.out, found.keys_json(&rig, &curves).into_bytes())?;
        object.insert("out".into(), json!(args.out.display().to_string()));
    } else {
        edited::save(
            &found.as_asset(&asset, &curves)?,
            &args.out,
            &mut object,
            &mut problems,
        )?;
    }
    console.done(object, &found.told(&curves, &args.out), &problems)
}

fn prepared(rig: Rig, args: &Args) -> Result<Rig, Failure> {
    let failed = |error: RigError| Failure::about(&args.rig, &error);
    let mut sliders = rig.sliders().to_vec();
    for name in &args.lock {
        sliders[rig.slider_named(name).map_err(failed)?].locked = true;
    }
    for (name, limits) in &args.limits {
        sliders[rig.slider_named(name).map_err(failed)?].limits = *limits;
    }
    rig.with_sliders(sliders).map_err(failed)
}

fn factored<'r>(args: &Args, rig: &'r Rig) -> Result<(Inverter<'r>, f64), Failure> {
    let options = InvertOptions::default()
        .with_roughness(args.roughness)
        .with_sparsity(args.sparsity)
        .with_align(args.align);
    let began = Instant::now();
    let inverter =
        Inverter::factor(rig, &options).map_err(|error| Failure::about(&args.rig, &error))?;
    Ok((inverter, began.elapsed().as_secs_f64() * 1e3))
}

fn from_mesh(args: &Args, rig: &Rig) -> Result<Found, Failure> {
    let failed = |error: RigError| Failure::about(&args.clip, &error);
    let clip = pliant_io::load(&args.clip, &source::options(None))?.clip()?;
    let (inverter, factor_ms) = factored(args, rig)?;
    let began = Instant::now();
    let inverse = inverter.invert(&clip).map_err(failed)?;
    let ms_per_frame = began.elapsed().as_secs_f64() * 1e3 / clip.frames().len() as f64;
    let misses = inverter.misses(&clip, &inverse).map_err(failed)?;
    Ok(Found {
        name: clip.name().to_owned(),
        frames_per_second: clip.frames_per_second(),
        inverse,
        misses,
        factor_ms,
        ms_per_frame,
    })
}

fn from_markers(args: &Args, rig: &Rig) -> Result<Found, Failure> {
    let bytes = pliant_io::read_file(Path::new(&args.clip))?;
    let rows = npy::read(&bytes)
        .and_then(|array| array.into_point_rows("markers"))
        .map_err(|error| Failure::about(&args.clip, &error))?;
    let seen = |row: Vec<DVec3>| {
        row.into_iter()
            .map(|p| (!p.is_nan()).then_some(p))
            .collect()
    };
    let clip = MarkerClip {
        at: args
            .markers
            .iter()
            .map(|&v| SurfacePoint::Vertex(v))
            .collect(),
        frames: rows.into_iter().map(seen).collect(),
        frames_per_second: args.fps,
    };
    let (inverter, factor_ms) = factored(args, rig)?;
    let began = Instant::now();
    let inverse = inverter
        .invert_markers(&clip)
        .map_err(|error| Failure::about(&args.clip, &error))?;
    let ms_per_frame = began.elapsed().as_secs_f64() * 1e3 / clip.frames.len() as f64;
    let stem = Path::new(&args.clip)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    Ok(Found {
        name: stem,
        frames_per_second: args.fps,
        inverse,
        misses: Vec::new(),
        factor_ms,
        ms_per_frame,
    })
}

impl Found {
    fn frames(&self) -> usize {
        self.inverse.track.keys().len()
    }

    /// Root mean square distances, frame by frame.
    fn frame_rms(&self) -> Vec<f64> {
        if self.misses.is_empty() {
            self.inverse.report.rms.clone()
        } else {
            self.misses.iter().map(|miss| miss.rms).collect()
        }
    }

    fn rms(&self) -> f64 {
        let squares: f64 = self.frame_rms().iter().map(|rms| rms * rms).sum();
        (squares / self.frames() as f64).sqrt()
    }

    fn max(&self) -> Option<f64> {
        self.misses.iter().map(|miss| miss.max).reduce(f64::max)
    }

    fn describe(&self, curves: &KeyedCurves) -> Map<String, Value> {
        let report = &self.inverse.report;
        let motion = |m: &pliant_linalg::RigidMotion| json!({"rotation": m.rotation.to_array(), "translation": m.translation.to_array()});
        let object = json!({
            "frames": self.frames(),
            "fps": self.frames_per_second,
            "rms": self.rms(),
            "max": self.max(),
            "frame_rms": self.frame_rms(),
            "frame_max": self.misses.iter().map(|miss| miss.max).collect::<Vec<_>>(),
            "sliders_used": curves.moving().len(),
            "keys": curves.key_count(),
            "sweeps": report.sweeps,
            "converged": report.converged,
            "objective": report.objective,
            "kkt": report.kkt,
            "motions": self.inverse.motions.iter().map(motion).collect::<Vec<_>>(),
            "factor_ms": self.factor_ms,
            "ms_per_frame": self.ms_per_frame,
        });
        let Value::Object(object) = object else {
            unreachable!("a map was just written")
        };
        object
    }

    fn told(&self, curves: &KeyedCurves, out: &Path) -> String {
        let max = self
            .max()
            .map_or_else(String::new, |max| format!(", at most {max:.4}"));
        format!(
            "{} frames: {:.4} away on average{max}; {} keys on {} sliders; {} sweeps, KKT {:.0e}, {:.2} ms a frame; written to {}\n",
            self.frames(),
            self.rms(),
            curves.key_count(),
            curves.moving().len(),
            self.inverse.report.sweeps,
            self.inverse.report.kkt,
            self.ms_per_frame,
            out.display()
        )
    }

    fn keys_json(&self, rig: &Rig, curves: &KeyedCurves) -> String {
        let keys = |slider: usize| {
            curves.sliders()[slider]
                .iter()
                .map(|key| json!([key.time_secs, key.weight]))
                .collect::<Value>()
        };
        let sliders: Map<String, Value> = curves
            .moving()
            .into_iter()
            .map(|k| (rig.targets()[k].name.clone(), keys(k)))
            .collect();
        format!(
            "{}\n",
            json!({"fps": self.frames_per_second, "sliders": sliders})
        )
    }

    /// The rig with one clip: its weights, and its motion as a whole where that was found.
    fn as_asset(&self, rig: &Asset, curves: &KeyedCurves) -> Result<Asset, Failure> {
        let mut animation = Animation::new(&*self.name, self.frames());
        animation.frames_per_second = self.frames_per_second;
        if !self.inverse.motions.is_empty() {
            let places = self
                .inverse
                .motions
                .iter()
                .map(|m| DAffine3::from_rotation_translation(m.rotation, m.translation))
                .collect();
            let placement = PlacementTrack {
                times_secs: self.inverse.track.times_secs().to_vec(),
                moved_from_rest: places,
            };
            let moved = |object| {
                let mut motion = Motion::new(object, Shape::Rest);
                motion.placement = Some(placement.clone());
                motion
            };
            animation.motions = (0..rig.objects.len()).map(moved).collect();
        }
        Ok(rig.with_weight_clip(animation, &curves.to_track())?)
    }
}

fn above_zero(text: &str) -> Result<f64, String> {
    from_zero(text)
        .ok()
        .filter(|rate| *rate > 0.0)
        .ok_or_else(|| format!("'{text}' is not a number above zero"))
}
