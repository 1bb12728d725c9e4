//! `pliant sketch`: slider weights from strokes that are drawn on the surface.

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use pliant_mesh::glam::DVec3;
use pliant_rig::{
    Aim, CurvePinOptions, EarlierStrokes, EndAim, FaceFeatures, Feature, HorizontalFrame, Pin,
    PinDepth, PinPlace, Poser, Rig, RigError, SavedStroke, SideStretch, SketchOptions,
    SketchedPose, SurfaceCurve, VertexMirror,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::pose_output::{PoseOutputArgs, PoseReport, SolvedPose};
use super::sketch_stroke::{StrokePins, StrokeReport, drawn_stroke, reused_stroke};
use crate::cli::args::plane::choose_plane;
use crate::cli::args::pose_solver::{LoadedRig, SolverArgs, mirrored_sliders};
use crate::cli::args::slider_weights;
use crate::cli::args::stroke_file::{LibraryEntry, library_with, parse_entry};
use crate::cli::args::vertex::parse_pin;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::microseconds_since;
use crate::cli::report::output::OutputFiles;

const EXAMPLES: &str = "\
Examples:
  # A picture to draw on; its \"camera\" goes into the stroke file
  pliant render head.glb --view front --out face.png --json

  # A stroke on the mouth bends it; the sliders follow
  pliant sketch head.glb --stroke smile.json --out smiling.obj

  # Two strokes in order; the first is held during the second
  pliant sketch head.glb --stroke smile.json --stroke brow.json \\
      --out both.obj

  # Both brows, 1.5 times as far
  pliant sketch head.glb --stroke brow.json --symmetric --beta 1.5 \\
      --out brows.obj

  # A stroke between brow and lid is meant for the brow
  pliant sketch head.glb --stroke line.json --feature brow --out raised.obj

  # Fine tuning: move the last pin of the stroke a little further up
  pliant sketch head.glb --stroke smile.json --drag 2:0,0.3,0 \\
      --out smirk.obj

  # Move a line of the face to where another line is drawn
  pliant sketch head.glb --stroke lip.json --toward there.json \\
      --out posed.obj

  # Save a stroke relative to landmarks, and use it on another face
  pliant sketch head.glb --stroke smile.json --save lines.json --as smile \\
      --landmarks 12,80,7,301 --out smiling.obj
  pliant sketch other.glb --use lines.json#smile \\
      --landmarks 5,44,90,2 --out smiling2.obj

Stroke file, in pixels from the upper left corner of the picture:
  {\"camera\": {\"eye\": [0, 0, 50], \"target\": [0, 0, 0], \"up\": [0, 1, 0],
              \"fov_y_degrees\": 23, \"width\": 800, \"height\": 600},
   \"points\": [[330, 420], [400, 445], [470, 420]]}

How a stroke is read:
  A stroke is a straight wire that was bent. Its middle follows the bow. Its
  ends are pulled outwards and against the bow on a mouth, with the bow on a
  brow or a lid. A stroke like ⌣ on a mouth makes it smile, one like ⌒ lowers
  its corners, and one like ⌒ on a brow raises it (Çetinaslan 2016, ch. 3).
  Only sliders of the feature that the stroke is on follow it, by their names;
  see --feature.";

const USAGE: &str = "\
pliant sketch [OPTIONS] --stroke <S.json> --out <FILE> <RIG>
       pliant sketch [OPTIONS] --use <LIB.json#NAME> --out <FILE> <RIG>";

/// Computes the slider weights of a rig from drawn strokes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE, group(clap::ArgGroup::new("what").required(true).multiple(true).args(["stroke", "reuse"])))]
pub(crate) struct Args {
    /// Rig: any asset with targets.
    rig: String,

    /// Stroke on the current pose. Repeat for more strokes, in order.
    #[arg(long, value_name = "S.json")]
    stroke: Vec<PathBuf>,

    /// Line that the line of the stroke should move to, at the depth of the stroke. Give one for
    /// each --stroke, which then only marks a line of the surface.
    #[arg(long, value_name = "T.json", conflicts_with_all = ["beta", "omega", "ends", "depth", "frame"])]
    pub(super) toward: Vec<PathBuf>,

    /// Both lines are closed, such as the outline of the lips.
    #[arg(long, requires = "toward")]
    pub(super) closed: bool,

    /// Inner points of the line may slide along the line that they move to.
    #[arg(long, requires = "toward")]
    slide: bool,

    /// Factor on the displacement of the middle of the stroke.
    #[arg(long, value_name = "β", default_value_t = SketchOptions::DEFAULT_MIDDLE_SCALE, allow_negative_numbers = true)]
    beta: f64,

    /// Factor on the displacement of the ends of the stroke.
    #[arg(long, value_name = "ω", default_value_t = SketchOptions::DEFAULT_SIDE_SCALE, allow_negative_numbers = true)]
    omega: f64,

    /// Direction in which the ends of the stroke are pulled.
    #[arg(long, value_enum, default_value_t = Ends::Auto)]
    ends: Ends,

    /// Whether pins constrain the depth, which a stroke does not contain.
    #[arg(long, value_enum, default_value_t = Depth::Free)]
    depth: Depth,

    /// Axes along which pins move.
    #[arg(long, value_enum, default_value_t = Frame::Curve)]
    frame: Frame,

    /// Where pins are placed [default: vertex; surface with --toward].
    #[arg(long, value_enum)]
    pins: Option<Place>,

    /// Fine tuning after the last stroke: pin K of it (0 start, 1 middle, 2 end) and its
    /// displacement.
    #[arg(long, value_name = "K:dx,dy,dz", allow_hyphen_values = true, value_parser = parse_pin)]
    drag: Vec<(usize, DVec3)>,

    /// Feature of the face that the strokes are on: only its sliders follow them.
    #[arg(long, value_enum, default_value_t = FeatureArg::Auto)]
    feature: FeatureArg,

    /// Release the pins of a stroke at the next stroke, instead of holding them.
    #[arg(long)]
    let_go: bool,

    /// Mirror the pins; with --method box, left and right sliders move together.
    #[arg(long)]
    symmetric: bool,

    /// Stroke from a library, drawn before all others.
    #[arg(long = "use", id = "reuse", value_name = "LIB.json#NAME", requires = "landmarks", value_parser = parse_entry)]
    reuse: Vec<LibraryEntry>,

    /// Library to which the last stroke is added. It is created if it does not exist.
    #[arg(long, value_name = "LIB.json", requires_all = ["name", "landmarks", "stroke"])]
    save: Option<PathBuf>,

    /// Name of the saved stroke.
    #[arg(long = "as", id = "name", value_name = "NAME", requires = "save")]
    name: Option<String>,

    /// Vertices that define the frame of a saved stroke: four or more, not in a plane, and the
    /// same landmarks in the same order on each face.
    #[arg(long, value_name = "V,V…", value_delimiter = ',')]
    pub(super) landmarks: Vec<u32>,

    #[command(flatten)]
    solver: SolverArgs,

    /// Pose to start from: a JSON map from slider or preset to weight [default: that of RIG@FRAME,
    /// else all zero].
    #[arg(long, value_name = "FILE.json")]
    weights_in: Option<PathBuf>,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    #[command(flatten)]
    outputs: PoseOutputArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Frame {
    /// Along and across the stroke, in the surface.
    Curve,
    /// Along the x and y axes of the world (Çetinaslan 2016).
    World,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ends {
    /// As the feature moves: against the bow at a mouth, with the bow at a brow or a lid, and there
    /// against it if the sliders cannot follow half of it.
    Auto,
    /// Outwards and against the bow: the corners of a ⌣ go up.
    Against,
    /// Outwards and with the bow: the ends of a ⌒ go up.
    With,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FeatureArg {
    /// The one whose sliders move the stroke most, by their names; all sliders where no name says
    /// anything.
    Auto,
    /// An eyebrow.
    Brow,
    /// An eyelid.
    Lid,
    /// The lips; the jaw follows.
    Lip,
    /// The jaw; the lips follow.
    Jaw,
    /// A cheek; the lips follow.
    Cheek,
    /// The nose.
    Nose,
    /// None: all sliders may follow.
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Depth {
    /// The sliders decide the depth.
    Free,
    /// Pins stay in the plane of the stroke (Çetinaslan 2016).
    Plane,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Place {
    /// On the nearest vertex.
    Vertex,
    /// Anywhere on the surface.
    Surface,
}

/// The report of `pliant sketch`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SketchReport {
    #[serde(flatten)]
    pose: PoseReport,
    /// The strokes in order.
    strokes: Vec<StrokeReport>,
    /// For each pin the index of its stroke.
    stroke_of_pin: Vec<usize>,
    /// For each stroke the feature that it is on: brow, lid, lip, jaw, cheek or nose; null where all
    /// sliders follow.
    feature_of_stroke: Vec<Option<&'static str>>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let strokes = args.stroke.len();
    let goals = args.toward.len();
    if goals != 0 && goals != strokes {
        return Err(Failure::usage(format!(
            "there are {strokes} --stroke and {goals} --toward; give one --toward for each --stroke"
        )));
    }

    let _spinner = console.spinner("sketching");
    let loaded = args.solver.load_rig(&args.rig, args.neutral.as_deref())?;
    let rig = &loaded.rig;
    rig.neutral()
        .require_surface()
        .map_err(|error| Failure::about(&args.rig, &error))?;
    let start_weights = match &args.weights_in {
        Some(path) => slider_weights::read(path, rig, &loaded.asset.presets)?,
        None => loaded.pose.weights().to_vec(),
    };

    let sketch = Sketch {
        args,
        rig,
        mirror: args.vertex_mirror(rig)?,
    };
    let (solved, files, strokes) = sketch.solve(&loaded, start_weights)?;
    let written = solved.write(&args.outputs, files)?;
    let report = SketchReport {
        pose: written.report,
        strokes: strokes.reports,
        stroke_of_pin: strokes.of_pin,
        feature_of_stroke: strokes.features,
    };
    console.print_summary(&report, &written.summary, &written.warnings)
}

impl Ends {
    /// The readings of a stroke, the more likely one first.
    fn readings(self) -> &'static [(SideStretch, &'static str)] {
        const ALL: [(SideStretch, &str); 2] = [
            (SideStretch::Tangent, "against"),
            (SideStretch::Bow, "with"),
        ];
        match self {
            Self::Auto => &ALL,
            Self::Against => &ALL[..1],
            Self::With => &ALL[1..],
        }
    }
}

impl Args {
    fn vertex_mirror(&self, rig: &Rig) -> Result<Option<VertexMirror>, Failure> {
        if !self.symmetric {
            return Ok(None);
        }
        let remedy = "draw strokes on both sides instead of --symmetric";
        let plane = choose_plane(None, rig.neutral(), &self.rig, remedy)?;
        Ok(Some(VertexMirror::by_position(rig.neutral(), plane)))
    }

    /// The indices of the readings of a stroke on `feature`, the more likely one first.
    fn reading_order(&self, feature: Option<Feature>, count: usize) -> Vec<usize> {
        let readings = self.ends.readings();
        if self.ends != Ends::Auto || count != readings.len() {
            return (0..count).collect();
        }

        let stretches = Feature::side_stretches(feature).iter();
        let index_of = |stretch: &SideStretch| readings.iter().position(|(of, _)| of == stretch);
        stretches.filter_map(index_of).collect()
    }

    /// The options of each reading of a bent stroke.
    pub(super) fn bend_options(&self) -> Vec<SketchOptions> {
        let readings = self.ends.readings().iter();
        readings
            .map(|&(ends, _)| self.sketch_options(ends))
            .collect()
    }

    fn sketch_options(&self, ends: SideStretch) -> SketchOptions {
        let frame = match self.frame {
            Frame::Curve => HorizontalFrame::Curve,
            Frame::World => HorizontalFrame::World,
        };
        let depth = match self.depth {
            Depth::Free => PinDepth::Free,
            Depth::Plane => PinDepth::Plane,
        };
        SketchOptions::default()
            .with_middle_scale(self.beta)
            .with_side_scale(self.omega)
            .with_side_stretch(ends)
            .with_depth(depth)
            .with_frame(frame)
            .with_pin_place(self.pin_place(Place::Vertex))
    }

    /// The options of a line that moves to another one, seen along `forward`.
    pub(super) fn curve_options(&self, forward: DVec3) -> CurvePinOptions {
        CurvePinOptions::default()
            .with_ends(EndAim::Across(forward))
            .with_pin_place(self.pin_place(Place::Surface))
            .with_sliding(self.slide)
    }

    fn pin_place(&self, default: Place) -> PinPlace {
        match self.pins.unwrap_or(default) {
            Place::Vertex => PinPlace::Vertex,
            Place::Surface => PinPlace::Surface,
        }
    }
}

/// The strokes of a solved sketch.
struct SolvedStrokes {
    reports: Vec<StrokeReport>,
    of_pin: Vec<usize>,
    features: Vec<Option<&'static str>>,
}

/// Strokes that are drawn on a rig one after another.
struct Sketch<'a> {
    args: &'a Args,
    rig: &'a Rig,
    mirror: Option<VertexMirror>,
}

impl<'a> Sketch<'a> {
    fn solve(
        &self,
        loaded: &'a LoadedRig,
        start_weights: Vec<f64>,
    ) -> Result<(SolvedPose<'a>, OutputFiles, SolvedStrokes), Failure> {
        let args = self.args;
        let about = |error: RigError| Failure::about(&args.rig, &error);
        let poser = Poser::new(self.rig).map_err(about)?;

        // With mirrored pins, left and right sliders move together.
        let partners = self.mirror.is_some().then(|| mirrored_sliders(self.rig));
        let solver = args.solver.solver(Vec::new(), partners);
        let (solver, prior) = args.solver.with_prior(solver, self.rig)?;
        let earlier = if args.let_go {
            EarlierStrokes::Released
        } else {
            EarlierStrokes::Held
        };
        let mut face = SketchedPose::new(&poser, start_weights, solver.into(), args.solver.range())
            .with_earlier(earlier);

        // The time covers projection onto the surface, factorisation and solve.
        let start = Instant::now();
        let mut files = OutputFiles::default();
        let reports = self.draw_all(&mut face, &mut files)?;
        let drag = face.finish().map_err(about)?;
        let solve_us = microseconds_since(start);

        let solved = SolvedPose {
            locator: &args.rig,
            asset: &loaded.asset,
            bind: &loaded.bind,
            character: &loaded.pose,
            rig: self.rig,
            pins: drag.pins,
            pose: drag.pose,
            solve_us,
            explanation: drag.explanation,
            prior,
        };
        let (reports, features) = reports.into_iter().unzip();
        let strokes = SolvedStrokes {
            reports,
            of_pin: drag.strokes,
            features,
        };
        Ok((solved, files, strokes))
    }

    /// Draws the strokes of libraries, then those of files, then the fine tuning.
    fn draw_all(
        &self,
        face: &mut SketchedPose,
        files: &mut OutputFiles,
    ) -> Result<Vec<(StrokeReport, Option<&'static str>)>, Failure> {
        let args = self.args;
        let mut reports = Vec::new();
        let mut last_pins = Vec::new();
        for entry in &args.reuse {
            let positions = face.positions();
            let stroke = reused_stroke(args, self.rig, entry, &positions, &mut files.warnings)?;
            last_pins = self.draw(face, stroke, &mut reports)?.1;
        }

        // Each stroke is drawn on the pose that the strokes before it left.
        for (k, path) in args.stroke.iter().enumerate() {
            let positions = face.positions();
            let stroke = drawn_stroke(args, self.rig, (k, path), &positions, &mut files.warnings)?;
            let (curve, pins) = self.draw(face, stroke, &mut reports)?;
            if k + 1 == args.stroke.len() {
                self.save(&curve, &pins, &positions, files)?;
            }
            last_pins = pins;
        }

        self.fine_tune(face, &last_pins)?;
        Ok(reports)
    }

    /// Moves the face by a stroke. Returns the curve of the stroke and the pins of the reading
    /// that was followed.
    fn draw(
        &self,
        face: &mut SketchedPose,
        mut stroke: StrokePins,
        reports: &mut Vec<(StrokeReport, Option<&'static str>)>,
    ) -> Result<(SurfaceCurve, Vec<Pin>), Failure> {
        let about = |error: RigError| Failure::about(&self.args.rig, &error);
        let features = FaceFeatures::of(self.rig);
        let feature = self.feature(&features, &stroke.curve).map_err(about)?;
        let followers = feature.map(|feature| features.followers(feature));

        let order = self.args.reading_order(feature, stroke.readings.len());
        let mut readings = Vec::with_capacity(order.len());
        for &k in &order {
            readings.push(self.with_mirror_images(face, &stroke.readings[k])?);
        }

        // The first reading that the sliders of the feature can follow is taken.
        let taken = face
            .draw_on(&readings, followers.as_deref())
            .map_err(about)?;
        let taken = order[taken];

        // Only a bent stroke has several readings.
        if let StrokeReport::Bent(report) = &mut stroke.report {
            report.ends = self.args.ends.readings()[taken].1;
        }
        reports.push((stroke.report, feature.map(Feature::name)));
        Ok((stroke.curve, stroke.readings.swap_remove(taken)))
    }

    /// The feature that a stroke is on, or the one that the user named.
    fn feature(
        &self,
        features: &FaceFeatures,
        curve: &SurfaceCurve,
    ) -> Result<Option<Feature>, RigError> {
        let named = match self.args.feature {
            FeatureArg::Auto => return features.at_curve(self.rig, curve),
            FeatureArg::Any => return Ok(None),
            FeatureArg::Brow => Feature::Brow,
            FeatureArg::Lid => Feature::Lid,
            FeatureArg::Lip => Feature::Lip,
            FeatureArg::Jaw => Feature::Jaw,
            FeatureArg::Cheek => Feature::Cheek,
            FeatureArg::Nose => Feature::Nose,
        };
        Ok(Some(named))
    }

    fn with_mirror_images(&self, face: &SketchedPose, pins: &[Pin]) -> Result<Vec<Pin>, Failure> {
        match &self.mirror {
            None => Ok(pins.to_vec()),
            Some(mirror) => mirror
                .mirror_pins(self.rig.neutral(), &face.positions(), pins)
                .map_err(|error| Failure::about(&self.args.rig, &error)),
        }
    }

    /// Draws the pins of the last stroke again: dragged ones move, all others are held.
    fn fine_tune(&self, face: &mut SketchedPose, last: &[Pin]) -> Result<(), Failure> {
        if self.args.drag.is_empty() {
            return Ok(());
        }

        // A dragged pin constrains all coordinates, also those that its stroke left free.
        let mut pins: Vec<Pin> = last.iter().map(Pin::held).collect();
        let count = pins.len();
        for &(k, displacement) in &self.args.drag {
            let Some(pin) = pins.get_mut(k) else {
                return Err(Failure::new(format!(
                    "--drag {k}: the last stroke has {count} pins, counted from 0; give one of them"
                )));
            };
            pin.displacement += displacement;
            pin.aim = Aim::Point;
        }

        face.redraw(&self.with_mirror_images(face, &pins)?)
            .map_err(|error| Failure::about(&self.args.rig, &error))
    }

    /// Adds the library with this stroke to the output files, if one is named.
    fn save(
        &self,
        curve: &SurfaceCurve,
        pins: &[Pin],
        positions: &[DVec3],
        files: &mut OutputFiles,
    ) -> Result<(), Failure> {
        let (Some(path), Some(name)) = (&self.args.save, &self.args.name) else {
            return Ok(());
        };

        // The stroke is saved on the pose that it was drawn on.
        let saved = SavedStroke::new(
            name,
            self.rig.neutral(),
            positions,
            &self.args.landmarks,
            curve,
            pins,
        );
        let saved = saved.map_err(|error| Failure::about(&self.args.rig, &error))?;
        files.add(path, library_with(path, saved)?);
        Ok(())
    }
}
