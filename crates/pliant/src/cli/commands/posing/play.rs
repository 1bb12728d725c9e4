//! `pliant play`: a performance on a rig.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use pliant::recipes::read_markers;
use pliant_io::{Asset, Format, HeadUse, PlayOptions, Played, json_problem, performance};
use pliant_mesh::glam::DVec3;
use pliant_rig::{
    Channel, ChannelKind, ChannelMap, Limits, Performance, RotatingPart, RouteKind, SideUse,
};
use pliant_transfer::{Retargeted, retarget, retarget_options};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::number::non_negative;
use crate::cli::args::performance::{
    CleanArgs, CleaningReport, ClockArgs, MarkerArgs, MarkerReport, calibrated, parse_gain,
    with_gains,
};
use crate::cli::args::pose_solver::parse_limits;
use crate::cli::args::settings::SettingsArgs;
use crate::cli::args::source;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::milliseconds_since;
use crate::cli::report::output::{self, path_text};

const EXAMPLES: &str = "\
Examples:
  # A take of an iPhone (Live Link Face) on a head
  pliant play head.glb take.csv --out talking.glb

  # Cleaned: spikes, noise and jitter; blinks and closed lips are kept
  pliant play head.glb take.csv --clean --tolerance 0.002 --out talking.glb

  # Which channel moves which slider; edit the file and use it
  pliant play head.glb take.csv --init map.json
  pliant play head.glb take.csv --map map.json --out talking.glb

  # Stronger smiles, symmetric sides, no rotation of the head
  pliant play head.glb take.csv --gain mouthSmile_L=1.3,mouthSmile_R=1.3 \\
      --sides symmetric --head none --out talking.glb

  # Markers of an optical capture (C3D, TRC, CSV): three or more belong to
  # known vertices, the others to the surface below them
  pliant play head.glb take.c3d --markers brow.L=88,brow.R=1204,chin=77 \\
      --out talking.glb

  # The same, with targets for what the sliders do not reach
  pliant play head.glb take.c3d --markers m.json --residual --out talking.glb

  # Heads that differ in shape and sliders: the take fits other.glb
  pliant play head.glb take.csv --via other.glb --out talking.glb

  # A mouth that moves with speech, estimated from the sound
  pliant play head.glb speech.wav --out speech.glb

  # The curves that `invert` found, the clip of another file, Audio2Face
  pliant play head.glb curves.json --out again.glb
  pliant play head.glb other.glb --out copied.glb
  pliant play head.glb a2f.json --out speech.glb

  # Calibrated by a take of this face at rest and at its extremes
  pliant play head.glb take.csv --calibrate rom.csv --out talking.glb

  # Cross-talk removed, too: {\"take\": \"rom.csv\", \"rest\": [0, 30],
  # \"extremes\": {\"JawOpen\": 210, \"MouthPucker\": 405}}
  pliant play head.glb take.csv --calibrate face.json --out talking.glb

  # Only the weights of the sliders, as a table or as JSON
  pliant play head.glb take.csv --out weights.csv

  # Built-in data: the performance of the head, on the head
  pliant play specimen:head specimen:head --out again.glb

Performances:
  CSV with a header (Live Link Face, Rokoko, Faceware and others), JSON (ARKit
  dumps, Audio2Face, Faceware, `pliant invert`), and assets with weight curves
  (GLB, FBX, USD). Commas, semicolons or tabs separate cells; empty cells are
  missing values. What was guessed is printed as a warning.

Names:
  Channels find their sliders through the lists of ARKit, FACS, VRM, MakeHuman,
  visemes, Faceware and MetaHuman. A shape that the rig lacks falls to a
  combination of others. The map file shows every route with its gain and
  offset: weight = gain x channel + offset, summed over the routes of a slider,
  inside its limits.

Head and eyes:
  The rotation of the head moves the joint of the head, or the whole mesh about
  its neck; rotations of the eyes move their joints or objects. Positive yaw is
  to the character's right, positive pitch is down. A gain of -1 in the map
  file changes a sign.";

/// Plays a performance on a rig: channels to sliders, head and eyes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Rig: any asset with targets.
    rig: String,

    /// Performance: CSV, JSON, markers, or an asset with weight curves.
    performance: String,

    /// Routes from channels to sliders, as --init writes them.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,

    /// The performance fits this rig: its shapes are transferred to the rig, and the sliders of the
    /// rig follow the surface.
    #[arg(long, value_name = "RIG", conflicts_with_all = ["map", "init"], help_heading = "Retargeting")]
    via: Option<String>,

    /// Marker pairs between both rigs, as `pliant shapes` takes them.
    #[arg(
        long,
        value_name = "FILE",
        requires = "via",
        help_heading = "Retargeting"
    )]
    via_markers: Option<String>,

    /// File for the routes that follow from the names, to be edited.
    #[arg(long, value_name = "FILE", conflicts_with = "map")]
    init: Option<PathBuf>,

    /// File for the rig with the clip, or for the weights only (.csv, .json).
    #[arg(long, value_name = "CLIP", required_unless_present = "init")]
    out: Option<PathBuf>,

    /// Calibration take that shows the face at rest and at its extremes: removes rest and range of
    /// the device. A JSON file that names the take, its frames at rest, and the frame of the extreme
    /// of each channel removes cross-talk, too.
    #[arg(long, value_name = "FILE")]
    calibrate: Option<PathBuf>,

    /// Factor of a slider, or of all of them (`all=1.2`).
    #[arg(long, value_name = "NAME=FACTOR", value_delimiter = ',', value_parser = parse_gain, help_heading = "Sliders")]
    gain: Vec<(String, f64)>,

    /// Limits of a slider [default: 0..1].
    #[arg(long, value_name = "NAME=MIN..MAX", value_delimiter = ',', value_parser = parse_limits, help_heading = "Sliders")]
    limits: Vec<(String, Limits)>,

    /// How left and right sliders are used.
    #[arg(long, value_enum, default_value = "own", help_heading = "Sliders")]
    sides: SidesArg,

    /// What the rotation of the head moves.
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        help_heading = "Head and eyes"
    )]
    head: HeadArg,

    /// Do not rotate objects and joints of the eyes.
    #[arg(long, help_heading = "Head and eyes")]
    still_eyes: bool,

    /// Pivot of a head without joints [default: where the neck ends].
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point, help_heading = "Head and eyes")]
    pivot: Option<DVec3>,

    #[command(flatten)]
    clock: ClockArgs,

    #[command(flatten)]
    markers: MarkerArgs,

    #[command(flatten)]
    cleaning: CleanArgs,

    /// Largest difference of a curve from its weights, to save keys. 0 keeps a key in each frame.
    #[arg(long, value_name = "W", default_value_t = 0.0, value_parser = non_negative, help_heading = "Cleaning")]
    tolerance: f64,

    #[command(flatten)]
    settings: SettingsArgs,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SidesArg {
    /// Each side moves by its own channels.
    Own,
    /// Both sides get the mean.
    Symmetric,
    /// Left and right are exchanged.
    Mirrored,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HeadArg {
    /// The joint of the head, or else the whole mesh.
    Auto,
    /// The whole mesh.
    Mesh,
    /// Nothing.
    None,
}

/// The report of `pliant play`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlayReport {
    /// Number of frames of the clip.
    frames: usize,
    /// Frames per second.
    fps: f64,
    /// Timecode of the first frame.
    timecode: Option<String>,
    /// Frames that the recording lacks.
    dropped: usize,
    /// Routes from channels to sliders.
    channels: Vec<RouteReport>,
    /// Channels without a slider.
    unmapped: Vec<String>,
    /// Sliders without a channel.
    unused_sliders: Vec<String>,
    /// What the head and the eyes move.
    rotations: Vec<RotationReport>,
    /// What cleaning did.
    cleaning: CleaningReport,
    /// How markers were attached and reached; null for a performance of channels.
    markers: Option<MarkerReport>,
    /// How well the rig follows the surface of `--via`; null without it.
    retarget: Option<RetargetReport>,
    /// Keys of all curves.
    keys: usize,
    /// Time of mapping and cleaning, in milliseconds.
    ms: f64,
    /// Files that were written.
    written: Vec<String>,
    /// Content that the format of the file cannot store.
    left_out: Vec<String>,
}

/// How well a rig follows the surface of another one.
#[derive(Debug, Serialize, JsonSchema)]
struct RetargetReport {
    /// Root mean square distance of the surfaces over the take, in asset units.
    rms: f64,
    /// Root mean square displacement of the surface over the take.
    motion_rms: f64,
    /// Largest gap of lids or lips that a transferred shape closes, relative to the diagonal.
    largest_gap: f64,
    /// Pairs of points of lids and lips that some shape closes or opens.
    contact_pairs: usize,
    /// Frames in which such a pair is closed.
    closed_frames: usize,
    /// Mean distance of closed pairs from where they should be, relative to their widest gap.
    mean_opening: f64,
    /// The same in the worst frame.
    largest_opening: f64,
    /// Whether the solver converged.
    converged: bool,
}

impl From<&Retargeted> for RetargetReport {
    fn from(solved: &Retargeted) -> Self {
        let report = &solved.inverse.report;
        let squares: f64 = report.rms.iter().map(|rms| rms * rms).sum();
        Self {
            rms: (squares / report.rms.len().max(1) as f64).sqrt(),
            motion_rms: solved.motion_rms,
            largest_gap: solved.largest_gap,
            contact_pairs: solved.contacts.pairs,
            closed_frames: solved.contacts.closed_frames,
            mean_opening: solved.contacts.mean_opening,
            largest_opening: solved.contacts.largest_opening,
            converged: report.converged,
        }
    }
}

/// A channel that moves a slider.
#[derive(Debug, Serialize, JsonSchema)]
struct RouteReport {
    from: String,
    to: String,
    gain: f64,
    offset: f64,
    /// How it was found: given, name, meaning or combination.
    how: &'static str,
}

/// A rotation and what it moves.
#[derive(Debug, Serialize, JsonSchema)]
struct RotationReport {
    /// head, left_eye or right_eye.
    part: &'static str,
    /// The joint or object that moves; null if nothing does.
    moves: Option<String>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _spinner = console.spinner("playing");
    args.check_output()?;
    let asset = source::load_with_targets(&args.rig, args.neutral.as_deref())?;
    let asset = args.settings.apply(asset)?;
    let recorded = args.clock.read(&args.performance)?;
    let (asset, raw, markers) = args.markers.solve(asset, recorded)?;
    let start = Instant::now();
    let calibrated = match &args.calibrate {
        Some(path) => calibrated(&raw, path)?,
        None => raw.clone(),
    };
    let (cleaned, cleaning) = args.cleaning.apply(&calibrated);
    let take = args.clock.resample(cleaned)?;
    let (take, retargeted, retarget_warnings) = args.retarget(&asset, take)?;
    let sliders = asset.target_names();
    let map = args.map(&take, &asset)?;
    let played = args.play(&asset, &take, &map)?;
    let ms = milliseconds_since(start);

    let mut warnings = [asset.warnings.clone(), raw.notes.clone()].concat();
    warnings.extend(retarget_warnings);
    warnings.extend(dropped_warning(&raw, args));
    warnings.extend(unused_rotations(&played, args));
    let mut report = PlayReport::new(&raw, &take, &map, &sliders, &played);
    report.cleaning = CleaningReport::from(&cleaning);
    report.ms = ms;
    report.markers = markers;
    report.retarget = retargeted;

    if let Some(path) = &args.init {
        let mut text = serde_json::to_vec_pretty(&map).expect("names and numbers are JSON");
        text.push(b'\n');
        output::write(path, text)?;
        report.written.push(path_text(path));
    }
    if let Some(path) = &args.out {
        report.left_out = save(&played, &take, &sliders, path, &mut warnings)?;
        report.written.push(path_text(path));
    }
    console.print_summary(&report, &report.summary(), &warnings)
}

impl Args {
    fn check_output(&self) -> Result<(), Failure> {
        let Some(out) = &self.out else {
            return Ok(());
        };
        if is_table(out) || is_json(out) {
            return Ok(());
        }
        output::require_clip_format(out)
    }

    /// The routes of `--map`, or those that follow from the names, with the gains and limits of the
    /// command line.
    fn map(&self, take: &Performance, asset: &Asset) -> Result<ChannelMap, Failure> {
        let sliders = asset.target_names();
        let map = match &self.map {
            Some(path) => {
                let bytes = pliant_io::read_file(path)?;
                serde_json::from_slice(&bytes).map_err(|error| {
                    Failure::new(format!(
                        "{}: {}; `pliant play --init` writes a file to start from",
                        path.display(),
                        json_problem(&error)
                    ))
                })?
            }
            None => ChannelMap::guess_with_presets(take.channels(), &sliders, &asset.presets),
        };
        if map.channels.is_empty() {
            return Err(Failure::new(format!(
                "{}: no channel ({}) has the name or the meaning of a slider of {}; name the routes in a --map file",
                self.performance,
                some_names(take.channels().iter().map(|channel| &channel.name)),
                self.rig
            )));
        }

        let mut map = with_gains(map, &self.gain)?;
        for (name, limits) in &self.limits {
            map.limits.insert(name.clone(), [limits.min, limits.max]);
        }
        Ok(map)
    }

    /// The performance of `--via` as one of the sliders of the rig.
    fn retarget(
        &self,
        asset: &Asset,
        take: Performance,
    ) -> Result<(Performance, Option<RetargetReport>, Vec<String>), Failure> {
        let Some(via) = &self.via else {
            return Ok((take, None, Vec::new()));
        };
        let source = source::load_with_targets(via, self.neutral.as_deref())?;
        let source = source.in_space_of(asset);
        let map = ChannelMap::guess_with_presets(
            take.channels(),
            &source.target_names(),
            &source.presets,
        );
        let own = source.rig()?;
        let about = |error: &dyn std::error::Error| Failure::about(via, error);
        let track = map
            .track(&take, &own, SideUse::Own)
            .map_err(|error| about(&error))?;
        let markers = match &self.via_markers {
            Some(file) => Some(read_markers(file, None)?.0),
            None => None,
        };

        let rig = asset.rig()?;
        let options = retarget_options();
        let solved = retarget(&own, &track, &rig, markers.as_ref(), &options, &())
            .map_err(|error| about(&error))?;
        let retargeted = solved.performance(&take, &rig);
        let retargeted = retargeted.map_err(|error| about(&error))?;
        let report = RetargetReport::from(&solved);
        Ok((retargeted, Some(report), solved.warnings))
    }

    fn play(&self, asset: &Asset, take: &Performance, map: &ChannelMap) -> Result<Played, Failure> {
        let options = PlayOptions {
            sides: match self.sides {
                SidesArg::Own => SideUse::Own,
                SidesArg::Symmetric => SideUse::Symmetric,
                SidesArg::Mirrored => SideUse::Mirrored,
            },
            head: match self.head {
                HeadArg::Auto => HeadUse::Auto,
                HeadArg::Mesh => HeadUse::Mesh,
                HeadArg::None => HeadUse::None,
            },
            still_eyes: self.still_eyes,
            pivot: self.pivot,
            tolerance: self.tolerance,
        };
        Ok(asset.with_performance(take, map, &options)?)
    }
}

/// Writes the rig with its clip, or the weights of its sliders alone. Returns what the format
/// cannot store.
fn save(
    played: &Played,
    take: &Performance,
    sliders: &[String],
    out: &Path,
    warnings: &mut Vec<String>,
) -> Result<Vec<String>, Failure> {
    if !is_table(out) && !is_json(out) {
        return Ok(output::save_asset(&played.asset, out, warnings)?.left_out);
    }

    let mut channels = Vec::with_capacity(sliders.len());
    for (k, name) in sliders.iter().enumerate() {
        let values = played.track.keys().iter().map(|row| row[k]).collect();
        channels.push(Channel {
            kind: ChannelKind::Weight,
            ..Channel::new(name.as_str(), values)
        });
    }
    let is_rotation = |channel: &&Channel| matches!(channel.kind, ChannelKind::Rotation(_));
    channels.extend(take.channels().iter().filter(is_rotation).cloned());
    let mut weights = Performance::new(
        take.name(),
        take.times_secs().to_vec(),
        take.frames_per_second(),
        channels,
    )
    .map_err(|error| Failure::about(out.display(), &error))?;
    weights.timecode = take.timecode;

    let bytes = if is_json(out) {
        performance::write_json(&weights)
    } else {
        performance::write_csv(&weights)
    };
    output::write(out, bytes)?;
    Ok(Vec::new())
}

fn is_table(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("csv"))
}

fn is_json(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("json"))
        && Format::of(path).is_none()
}

fn dropped_warning(raw: &Performance, args: &Args) -> Option<String> {
    let dropped = raw.dropped_frames();
    let (frame, _) = dropped.first()?;
    let count: usize = dropped.iter().map(|(_, count)| count).sum();
    Some(format!(
        "{}: {count} frames are missing at {} places, first after frame {frame}; curves are straight there",
        args.performance,
        dropped.len()
    ))
}

fn unused_rotations(played: &Played, args: &Args) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in &played.unused_rotations {
        let wanted = match part {
            RotatingPart::Head => args.head != HeadArg::None,
            _ => !args.still_eyes,
        };
        if wanted {
            parts.push(part_name(*part));
        }
    }
    (!parts.is_empty()).then(|| {
        format!(
            "the rotation of {} moves nothing: the rig has no joint or object for it",
            parts.join(" and ")
        )
    })
}

fn part_name(part: RotatingPart) -> &'static str {
    match part {
        RotatingPart::Head => "head",
        RotatingPart::LeftEye => "left_eye",
        RotatingPart::RightEye => "right_eye",
    }
}

/// The first of many names.
fn some_names<'a>(names: impl ExactSizeIterator<Item = &'a String>) -> String {
    const MOST: usize = 6;
    let more = if names.len() > MOST { ", …" } else { "" };
    let shown: Vec<&str> = names.take(MOST).map(String::as_str).collect();
    shown.join(", ") + more
}

fn parse_point(text: &str) -> Result<DVec3, String> {
    let numbers: Vec<f64> = text
        .split(',')
        .filter_map(|n| n.trim().parse().ok())
        .collect();
    match numbers[..] {
        [x, y, z] if text.matches(',').count() == 2 && numbers.iter().all(|n| n.is_finite()) => {
            Ok(DVec3::new(x, y, z))
        }
        _ => Err(format!("'{text}' is not a point; write it as 0,1.5,0")),
    }
}

impl PlayReport {
    fn new(
        raw: &Performance,
        take: &Performance,
        map: &ChannelMap,
        sliders: &[String],
        played: &Played,
    ) -> Self {
        let used: BTreeSet<&str> = map.channels.iter().map(|route| route.to.as_str()).collect();
        let routed: BTreeSet<&str> = map
            .channels
            .iter()
            .map(|route| route.from.as_str())
            .collect();
        let unmapped = take.channels().iter().filter(|channel| {
            channel.kind == ChannelKind::Weight && !routed.contains(channel.name.as_str())
        });
        let moved = played.rotated.iter().map(|(part, name)| RotationReport {
            part: part_name(*part),
            moves: Some(name.clone()),
        });
        let still = played.unused_rotations.iter().map(|part| RotationReport {
            part: part_name(*part),
            moves: None,
        });

        Self {
            frames: played.frames,
            fps: take.frames_per_second(),
            timecode: raw.timecode.map(|start| start.first.to_string()),
            dropped: raw.dropped_frames().iter().map(|(_, count)| count).sum(),
            channels: map
                .channels
                .iter()
                .map(|route| RouteReport {
                    from: route.from.clone(),
                    to: route.to.clone(),
                    gain: route.gain,
                    offset: route.offset,
                    how: match route.how {
                        RouteKind::Given => "given",
                        RouteKind::Name => "name",
                        RouteKind::Meaning => "meaning",
                        RouteKind::Combination => "combination",
                    },
                })
                .collect(),
            unmapped: unmapped.map(|channel| channel.name.clone()).collect(),
            unused_sliders: sliders
                .iter()
                .filter(|name| !used.contains(name.as_str()))
                .cloned()
                .collect(),
            rotations: moved.chain(still).collect(),
            cleaning: CleaningReport::from(&pliant_rig::CleanReport::default()),
            markers: None,
            retarget: None,
            keys: played.keys,
            ms: 0.0,
            written: Vec::new(),
            left_out: Vec::new(),
        }
    }

    fn summary(&self) -> String {
        let mut text = format!(
            "{} frames at {:.2} frames per second\n  {} routes from channels to sliders, {} keys\n",
            self.frames,
            self.fps,
            self.channels.len(),
            self.keys
        );
        let list = |text: &mut String, title: &str, names: &[String]| {
            if !names.is_empty() {
                let _ = writeln!(text, "  {title}: {}", names.join(", "));
            }
        };
        list(&mut text, "channels without a slider", &self.unmapped);
        list(&mut text, "sliders without a channel", &self.unused_sliders);

        for rotation in &self.rotations {
            if let Some(moves) = &rotation.moves {
                let _ = writeln!(text, "  the rotation of {} moves {moves}", rotation.part);
            }
        }
        if let Some(retarget) = &self.retarget {
            let _ = writeln!(
                text,
                "  RMS distance {:.4} from the surface that moves by {:.4}",
                retarget.rms, retarget.motion_rms
            );
            let _ = writeln!(
                text,
                "  lids and lips are closed in {} frames, {:.1} % of their widest gap open there",
                retarget.closed_frames,
                100.0 * retarget.mean_opening
            );
        }
        if let Some(markers) = &self.markers {
            text += &markers.summary();
        }
        let cleaning = &self.cleaning;
        if cleaning.filled + cleaning.spikes + cleaning.holds > 0 {
            let _ = writeln!(
                text,
                "  {} missing values filled, {} spikes removed, {} holds; noise {:.4}",
                cleaning.filled, cleaning.spikes, cleaning.holds, cleaning.noise
            );
        }
        for file in &self.written {
            let _ = writeln!(text, "written to {file}");
        }
        text
    }
}
