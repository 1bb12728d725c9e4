//! `pliant sketch`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use pliant_io::Asset;
use pliant_mesh::glam::DVec3;
use pliant_rig::{
    Aim, CurvePinOptions, Cut, Earlier, EndAim, HorizontalFrame, Pin, PinDepth, PinPlace, Poser,
    Rig, RigError, SavedStroke, SideStretch, SketchOptions, SketchSurface, SketchedPose, Stroke,
    StrokePiece, SurfaceCurve, VertexMirror, curve_pins,
};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::output::Outputs;
use super::pose::{load_rig, mirrored_sliders, parse_pin, start_weights};
use super::posed::{Posed, PosedOutputs};
use super::solver::SolverArgs;
use super::stroke_files::{LibraryEntry, library_with, parse_entry, read_entry, read_stroke};
use super::symmetry;

const EXAMPLES: &str = "\
Examples:
  pliant render head.glb --view front --out face.png --json
                                               a picture to draw on; its \"camera\" goes into the stroke
  pliant sketch head.glb --stroke smile.json --out smiling.obj
                                               a line on the mouth bends it; sliders follow
  pliant sketch head.glb --stroke smile.json --stroke brow.json --out both.obj
                                               one after the other; what was drawn before is held
  pliant sketch head.glb --stroke brow.json --symmetric --beta 1.5 --out brows.obj
                                               both brows, half as far again
  pliant sketch head.glb --stroke smile.json --drag 2:0,0.3,0 --out smirk.obj
                                               fine tuning: the last pin of the stroke a little further up
  pliant sketch head.glb --stroke lip.json --toward there.json --out posed.obj
                                               a line on the face should come to lie where another is drawn
  pliant sketch head.glb --stroke smile.json --save lines.json --as smile --landmarks 12,80,7,301 --out smiling.obj
  pliant sketch other.glb --use lines.json#smile --landmarks 5,44,90,2 --out smiling2.obj
                                               keep a stroke by landmarks, and use it on another face

A stroke file is what a hand drew, in pixels of a picture with that camera, from the upper left corner:
  {\"camera\": {\"eye\": [0,0,50], \"target\": [0,0,0], \"up\": [0,1,0], \"fov_y_degrees\": 23,
              \"width\": 800, \"height\": 600},
   \"points\": [[330,420], [400,445], [470,420]]}
It is read as a wire that was straight and is bent now: the middle follows the bow, the ends are
pulled out and against it, or with it where the sliders cannot do that. So ⌣ on a mouth makes it
smile, and ⌒ on a brow raises it.";

/// Weights of a rig from lines drawn on it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group(clap::ArgGroup::new("what").required(true).multiple(true).args(["stroke", "reuse"])))]
pub(crate) struct Args {
    /// The rig: any asset with targets.
    rig: String,

    /// A stroke on the pose so far; as often as there are strokes, one after the other.
    #[arg(long, value_name = "S.json")]
    stroke: Vec<PathBuf>,

    /// Where the stroke's line should go, at its depth; one for each --stroke, which then only
    /// marks the line.
    #[arg(long, value_name = "T.json", conflicts_with_all = ["beta", "omega", "ends", "depth", "frame"])]
    toward: Vec<PathBuf>,

    /// Both lines are loops, such as the lips' outline.
    #[arg(long, requires = "toward")]
    closed: bool,

    /// Inner points of the line may slide along the one they should go to.
    #[arg(long, requires = "toward")]
    slide: bool,

    /// Multiplies how far the stroke's middle goes.
    #[arg(long, value_name = "β", default_value_t = SketchOptions::DEFAULT_MIDDLE_SCALE, allow_negative_numbers = true)]
    beta: f64,

    /// Multiplies how far the stroke's ends are pulled.
    #[arg(long, value_name = "ω", default_value_t = SketchOptions::DEFAULT_SIDE_SCALE, allow_negative_numbers = true)]
    omega: f64,

    /// Which way the stroke's ends are pulled.
    #[arg(long, value_enum, default_value_t = Ends::Auto)]
    ends: Ends,

    /// Whether pins ask for depth, which was not drawn.
    #[arg(long, value_enum, default_value_t = Depth::Free)]
    depth: Depth,

    /// The directions in which pins go.
    #[arg(long, value_enum, default_value_t = Frame::Curve)]
    frame: Frame,

    /// Where pins may be [default: vertex; surface with --toward].
    #[arg(long, value_enum)]
    pins: Option<Place>,

    /// Fine tuning after the last stroke: pin K of it (0 begin, 1 middle, 2 end) and the way it
    /// should go.
    #[arg(long, value_name = "K:dx,dy,dz", allow_hyphen_values = true, value_parser = parse_pin)]
    drag: Vec<(usize, DVec3)>,

    /// Let a stroke's pins go when the next is drawn, instead of holding them.
    #[arg(long)]
    let_go: bool,

    /// Draw on both sides: pins are mirrored, and left and right sliders move together (`box`).
    #[arg(long)]
    symmetric: bool,

    /// A stroke from a library, drawn before all others.
    #[arg(long = "use", id = "reuse", value_name = "LIB.json#NAME", requires = "landmarks", value_parser = parse_entry)]
    reuse: Vec<LibraryEntry>,

    /// A library to keep the last stroke in; made if there is none.
    #[arg(long, value_name = "LIB.json", requires_all = ["name", "landmarks", "stroke"])]
    save: Option<PathBuf>,

    /// The name to keep it by.
    #[arg(long = "as", id = "name", value_name = "NAME", requires = "save")]
    name: Option<String>,

    /// Vertices that tell where a stroke is: four or more, not in a plane, and the same places in
    /// the same order on each face.
    #[arg(long, value_name = "V,V…", value_delimiter = ',')]
    landmarks: Vec<u32>,

    #[command(flatten)]
    solver: SolverArgs,

    /// The pose to start from: a JSON map from slider to weight [default: all zero].
    #[arg(long, value_name = "FILE.json")]
    weights_in: Option<PathBuf>,

    /// The neutral mesh of a folder of OBJs, by its file name.
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    #[command(flatten)]
    outputs: PosedOutputs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Frame {
    /// Along the stroke and across it, in the surface.
    Curve,
    /// Along the world's X and Y, as in the thesis.
    World,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ends {
    /// Against the bow if the sliders can follow at least half of that, as a mouth can; else with
    /// it, as a brow.
    Auto,
    /// Out and against the bow: the corners of a ⌣ go up.
    Against,
    /// Out and with the bow: the ends of a ⌒ go up.
    With,
}

impl Ends {
    /// The readings of a stroke, the likelier first.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Depth {
    /// It is left to the sliders.
    Free,
    /// Pins stay in the plane of the stroke, as in the thesis.
    Plane,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Place {
    /// On the nearest vertex.
    Vertex,
    /// Anywhere on the surface.
    Surface,
}

/// What a stroke asks of a pose, and what is told of it.
struct Drawn {
    /// The pins of each reading, the likelier first.
    readings: Vec<Vec<Pin>>,
    curve: SurfaceCurve,
    told: Map<String, Value>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    if !args.toward.is_empty() && args.toward.len() != args.stroke.len() {
        let (strokes, goals) = (args.stroke.len(), args.toward.len());
        return Err(Failure::usage(format!(
            "there are {strokes} --stroke and {goals} --toward; give one for each"
        )));
    }
    let _working = console.working("sketching");
    let (asset, rig) = load_rig(&args.rig, args.neutral.as_deref(), &args.solver)?;
    rig.neutral()
        .require_surface()
        .map_err(|error| Failure::about(&args.rig, &error))?;
    let sketcher = Sketcher {
        args,
        rig: &rig,
        mirror: args
            .symmetric
            .then(|| sketch_mirror(args, &rig))
            .transpose()?,
    };
    let start = start_weights(args.weights_in.as_deref(), &rig)?;
    sketcher.run(&asset, start, console)
}

fn sketch_mirror(args: &Args, rig: &Rig) -> Result<VertexMirror, Failure> {
    Ok(VertexMirror::by_position(
        rig.neutral(),
        symmetry::plane(None, rig.neutral(), &args.rig, "draw both sides yourself")?,
    ))
}

struct Sketcher<'a> {
    args: &'a Args,
    rig: &'a Rig,
    mirror: Option<VertexMirror>,
}

impl Sketcher<'_> {
    fn run(&self, asset: &Asset, start: Vec<f64>, console: &Console) -> Result<(), Failure> {
        let args = self.args;
        let failed = |error: RigError| Failure::about(&args.rig, &error);
        let poser = Poser::new(self.rig).map_err(failed)?;
        let solver = args.solver.solver(
            Vec::new(),
            self.mirror.is_some().then(|| mirrored_sliders(self.rig)),
        );
        let earlier = if args.let_go {
            Earlier::LetGo
        } else {
            Earlier::Held
        };
        let mut face = SketchedPose::new(&poser, start, solver.as_ref(), args.solver.range())
            .with_earlier(earlier);
        let (mut files, mut strokes, mut last) = (Outputs::default(), Vec::new(), Vec::new());
        // All of it: laying strokes on the surface, grabbing and solving.
        let began = Instant::now();
        for entry in &args.reuse {
            let drawn = self.reused(entry, &face, &mut files)?;
            last = self.follow(&mut face, drawn, &mut strokes)?.1;
        }
        for (k, path) in args.stroke.iter().enumerate() {
            let (drawn, positions) = (self.drawn(k, path, &face, &mut files)?, face.positions());
            let curve;
            (curve, last) = self.follow(&mut face, drawn, &mut strokes)?;
            if k + 1 == args.stroke.len() {
                self.keep(&curve, &last, &positions, &mut files)?;
            }
        }
        self.fine_tune(&mut face, &last)?;
        let drag = face.finish().map_err(failed)?;
        let mut object = Map::new();
        object.insert("strokes".into(), strokes.into());
        object.insert("stroke_of_pin".into(), json!(drag.strokes));
        let solve_us = began.elapsed().as_secs_f64() * 1e6;
        let (pins, pose, explanation) = (drag.pins, drag.pose, drag.explanation);
        let posed = Posed {
            name: &args.rig,
            asset,
            rig: self.rig,
            pins,
            pose,
            solve_us,
            explanation,
        };
        posed.write(&args.outputs, object, files, console)
    }

    /// Moves the face as a stroke asks; returns the stroke's curve and its pins in the reading that
    /// was followed.
    fn follow(
        &self,
        face: &mut SketchedPose<'_>,
        mut drawn: Drawn,
        told: &mut Vec<Value>,
    ) -> Result<(SurfaceCurve, Vec<Pin>), Failure> {
        let readings = drawn
            .readings
            .iter()
            .map(|pins| self.both_sides(face, pins))
            .collect::<Result<Vec<_>, _>>()?;
        let taken = face
            .draw_first_that_fits(&readings)
            .map_err(|error| Failure::about(&self.args.rig, &error))?;
        if drawn.told.contains_key("radius") {
            drawn
                .told
                .insert("ends".into(), json!(self.args.ends.readings()[taken].1));
        }
        told.push(Value::Object(drawn.told));
        Ok((drawn.curve, drawn.readings.swap_remove(taken)))
    }

    fn both_sides(&self, face: &SketchedPose<'_>, pins: &[Pin]) -> Result<Vec<Pin>, Failure> {
        let Some(mirror) = &self.mirror else {
            return Ok(pins.to_vec());
        };
        mirror
            .mirror_pins(self.rig.neutral(), &face.positions(), pins)
            .map_err(|error| Failure::about(&self.args.rig, &error))
    }

    /// The pins of the last stroke once more, held but for those that are dragged.
    fn fine_tune(&self, face: &mut SketchedPose<'_>, last: &[Pin]) -> Result<(), Failure> {
        if self.args.drag.is_empty() {
            return Ok(());
        }
        let mut pins: Vec<Pin> = last.iter().map(Pin::held).collect();
        for &(k, way) in &self.args.drag {
            let count = pins.len();
            let pin = pins.get_mut(k).ok_or_else(|| {
                Failure::could_not(format!(
                    "--drag {k}: the last stroke has {count} pins, counted from 0; name one of them"
                ))
            })?;
            (pin.displacement, pin.aim) = (pin.displacement + way, Aim::Point);
        }
        face.redraw(&self.both_sides(face, &pins)?)
            .map_err(|error| Failure::about(&self.args.rig, &error))
    }

    fn reused(
        &self,
        entry: &LibraryEntry,
        face: &SketchedPose<'_>,
        files: &mut Outputs,
    ) -> Result<Drawn, Failure> {
        let saved = read_entry(entry)?;
        let shown = format!("{}#{}", entry.file.display(), entry.name);
        let reused = saved.reuse(self.rig.neutral(), &face.positions(), &self.args.landmarks);
        let reused = reused.map_err(|error| Failure::about(&shown, &error))?;
        if reused.by_similarity {
            let problem = "the landmarks tell size and direction only; four or more that are not in a plane tell the proportions, too";
            files.problems.push(format!("{shown}: {problem}"));
        }
        Ok(Drawn {
            readings: vec![reused.pins],
            curve: reused.curve,
            told: told_of(json!({ "file": shown })),
        })
    }

    /// The `k`-th stroke on the pose so far.
    fn drawn(
        &self,
        k: usize,
        path: &Path,
        face: &SketchedPose<'_>,
        files: &mut Outputs,
    ) -> Result<Drawn, Failure> {
        let stroke = read_stroke(path)?;
        let failed = |error: RigError| Failure::about(path.display(), &error);
        let positions = face.positions();
        let surface = SketchSurface::new(self.rig.neutral(), &positions).map_err(failed)?;
        match self.args.toward.get(k) {
            None => self.bent(path, &stroke, &surface, files).map_err(failed),
            Some(goal) => {
                let projected = surface
                    .project(&stroke.camera, &stroke.points)
                    .map_err(failed)?;
                files
                    .problems
                    .extend(projected.cut.as_ref().map(|cut| cut_problem(path, cut)));
                let curve = SurfaceCurve {
                    closed: self.args.closed,
                    ..projected.curve
                };
                let pins = self.pins_toward(&curve, &read_stroke(goal)?, &positions);
                let pins = pins.map_err(|error| Failure::about(goal.display(), &error))?;
                let (file, toward) = (path.display().to_string(), goal.display().to_string());
                let told = told_of(
                    json!({ "file": file, "toward": toward, "cut": projected.cut.as_ref().map(cut_json) }),
                );
                Ok(Drawn {
                    readings: vec![pins],
                    curve,
                    told,
                })
            }
        }
    }

    /// A stroke that was bent from a straight wire.
    fn bent(
        &self,
        path: &Path,
        stroke: &Stroke,
        surface: &SketchSurface,
        files: &mut Outputs,
    ) -> Result<Drawn, RigError> {
        let readings =
            self.args.ends.readings().iter().map(|&(ends, _)| {
                surface.sketch(&stroke.camera, &stroke.points, &self.options(ends))
            });
        let mut sketches = readings.collect::<Result<Vec<_>, _>>()?;
        let readings = sketches
            .iter_mut()
            .map(|sketch| std::mem::take(&mut sketch.pins))
            .collect();
        let sketch = sketches.swap_remove(0);
        files
            .problems
            .extend(sketch.cut.as_ref().map(|cut| cut_problem(path, cut)));
        let control_points: Vec<[f64; 3]> = sketch
            .spline
            .control_points()
            .iter()
            .map(|p| p.to_array())
            .collect();
        let told = told_of(json!({
            "file": path.display().to_string(),
            "radius": sketch.radius.is_finite().then_some(sketch.radius),
            "central_angle_degrees": sketch.central_angle_rad.to_degrees(),
            "middle_ordinate": sketch.middle_ordinate,
            "cut": sketch.cut.as_ref().map(cut_json),
            "control_points": control_points,
        }));
        Ok(Drawn {
            readings,
            curve: sketch.curve,
            told,
        })
    }

    /// The goal has no depth of its own: it lies as deep as the line, and depth is free.
    fn pins_toward(
        &self,
        curve: &SurfaceCurve,
        goal: &Stroke,
        positions: &[DVec3],
    ) -> Result<Vec<Pin>, RigError> {
        let mesh = self.rig.neutral();
        let posed = mesh.posed(positions.to_vec())?;
        let points = if curve.closed {
            let places = curve.positions(&posed)?;
            goal.camera.on_view_plane(
                &goal.points,
                places.iter().sum::<DVec3>() / places.len() as f64,
            )?
        } else {
            goal.camera.at_depth_of(&goal.points, &posed, curve)?
        };
        let place = if self.args.pins == Some(Place::Vertex) {
            PinPlace::Vertex
        } else {
            PinPlace::Surface
        };
        let options = CurvePinOptions::default()
            .with_ends(EndAim::Across(goal.camera.forward()))
            .with_pin_place(place);
        curve_pins(
            mesh,
            positions,
            curve,
            &points,
            &options.with_sliding(self.args.slide),
        )
    }

    fn options(&self, ends: SideStretch) -> SketchOptions {
        let args = self.args;
        let frame = if args.frame == Frame::World {
            HorizontalFrame::World
        } else {
            HorizontalFrame::Curve
        };
        let place = if args.pins == Some(Place::Surface) {
            PinPlace::Surface
        } else {
            PinPlace::Vertex
        };
        let depth = if args.depth == Depth::Plane {
            PinDepth::Plane
        } else {
            PinDepth::Free
        };
        let options = SketchOptions::default()
            .with_middle_scale(args.beta)
            .with_side_scale(args.omega)
            .with_side_stretch(ends);
        options
            .with_depth(depth)
            .with_frame(frame)
            .with_pin_place(place)
    }

    /// Keeps a stroke in the library that was named.
    fn keep(
        &self,
        curve: &SurfaceCurve,
        pins: &[Pin],
        positions: &[DVec3],
        files: &mut Outputs,
    ) -> Result<(), Failure> {
        let (Some(path), Some(name)) = (&self.args.save, &self.args.name) else {
            return Ok(());
        };
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

fn told_of(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(map) => map,
        _ => unreachable!("strokes are told as objects"),
    }
}

fn cut_json(cut: &Cut) -> Value {
    let piece = |p: &StrokePiece| json!({"from": p.from, "to": p.to, "length_pixels": p.length_pixels, "on_model": p.on_model});
    json!({"kept": piece(&cut.kept), "dropped": cut.dropped.iter().map(piece).collect::<Vec<_>>()})
}

fn cut_problem(path: &Path, cut: &Cut) -> String {
    let piece = |p: &StrokePiece| {
        let place = if p.on_model {
            "on another part"
        } else {
            "beside the model"
        };
        format!(
            "{:.0} pixels from ({:.0}, {:.0}) to ({:.0}, {:.0}) {place}",
            p.length_pixels, p.from[0], p.from[1], p.to[0], p.to[1]
        )
    };
    let dropped: Vec<String> = cut.dropped.iter().map(piece).collect();
    let kept = cut.kept.length_pixels;
    format!(
        "{}: the stroke leaves the surface; {kept:.0} pixels are used, dropped are {}",
        path.display(),
        dropped.join(", ")
    )
}
