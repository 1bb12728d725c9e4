//! A stroke as pins on the current pose of a rig, with its report.

use std::path::Path;

use pliant_mesh::glam::DVec3;
use pliant_rig::{
    Cut, Pin, ProjectedStroke, Rig, RigError, SketchSurface, Stroke, StrokePiece, SurfaceCurve,
    curve_pins,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::sketch::Args;
use crate::cli::args::stroke_file::{LibraryEntry, read_entry, read_stroke};
use crate::cli::report::failure::Failure;
use crate::cli::report::output::path_text;

/// The pins of a stroke.
pub(super) struct StrokePins {
    /// The pins of each reading, the more likely one first.
    pub(super) readings: Vec<Vec<Pin>>,
    pub(super) curve: SurfaceCurve,
    pub(super) report: StrokeReport,
}

/// One stroke of a sketch.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum StrokeReport {
    /// A stroke that is read as a bent wire.
    Bent(BentStroke),
    /// A line that moves to another line.
    Toward(LineStroke),
    /// A stroke from a library.
    Reused(LibraryStroke),
}

/// A stroke that is read as a bent wire.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BentStroke {
    /// File of the stroke.
    file: String,
    /// Radius of the arc, in asset units; null for a straight stroke.
    radius: Option<f64>,
    /// Central angle of the arc.
    central_angle_degrees: f64,
    /// Distance of the middle of the arc from its chord, in asset units.
    middle_ordinate: f64,
    /// The parts of the stroke beside the surface; null where it lies on the surface completely.
    cut: Option<CutReport>,
    /// Control points of the fitted spline.
    control_points: Vec<[f64; 3]>,
    /// Direction in which the ends were pulled: against or with the bow.
    pub(super) ends: &'static str,
}

/// A line that moves to another line.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LineStroke {
    /// File of the line.
    file: String,
    /// File of the line that it moves to.
    toward: String,
    /// The parts of the line beside the surface; null where it lies on the surface completely.
    cut: Option<CutReport>,
}

/// A stroke from a library.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LibraryStroke {
    /// Library and name of the stroke.
    file: String,
}

/// A stroke that leaves the surface.
#[derive(Debug, Serialize, JsonSchema)]
struct CutReport {
    /// The part that is used.
    kept: PieceReport,
    /// All other parts, in the order of drawing.
    dropped: Vec<PieceReport>,
}

/// A part of a stroke.
#[derive(Debug, Serialize, JsonSchema)]
struct PieceReport {
    /// First point, in pixels.
    from: [f64; 2],
    /// Last point, in pixels.
    to: [f64; 2],
    /// Length, in pixels.
    length_pixels: f64,
    /// Whether the part lies on the model.
    on_model: bool,
}

/// A stroke of a library on this face.
pub(super) fn reused_stroke(
    args: &Args,
    rig: &Rig,
    entry: &LibraryEntry,
    positions: &[DVec3],
    warnings: &mut Vec<String>,
) -> Result<StrokePins, Failure> {
    let saved = read_entry(entry)?;
    let file = format!("{}#{}", entry.file.display(), entry.name);
    let reused = saved
        .reuse(rig.neutral(), positions, &args.landmarks)
        .map_err(|error| Failure::about(&file, &error))?;

    // Landmarks in a plane, or fewer than four, determine a similarity only.
    if reused.by_similarity {
        warnings.push(format!(
            "{file}: the landmarks give size and rotation only; give four or more that are not in a plane to adapt the proportions, too"
        ));
    }
    Ok(StrokePins {
        readings: vec![reused.pins],
        curve: reused.curve,
        report: StrokeReport::Reused(LibraryStroke { file }),
    })
}

/// The `k`-th stroke of the command line on the current pose.
pub(super) fn drawn_stroke(
    args: &Args,
    rig: &Rig,
    (k, path): (usize, &Path),
    positions: &[DVec3],
    warnings: &mut Vec<String>,
) -> Result<StrokePins, Failure> {
    let stroke = read_stroke(path)?;
    let about = |error: RigError| Failure::about(path.display(), &error);
    let surface = SketchSurface::of_rig(rig, positions).map_err(about)?;

    let (pins, cut) = match args.toward.get(k) {
        None => bent_stroke(args, path, &stroke, &surface).map_err(about)?,
        Some(goal) => {
            let line = surface
                .project(&stroke.camera, &stroke.points)
                .map_err(about)?;
            line_stroke(args, rig, [path, goal], line, positions)?
        }
    };

    warnings.extend(cut.map(|cut| cut_warning(path, &cut)));
    Ok(pins)
}

/// A line of the surface that moves to the line in another file.
fn line_stroke(
    args: &Args,
    rig: &Rig,
    [path, goal_path]: [&Path; 2],
    line: ProjectedStroke,
    positions: &[DVec3],
) -> Result<(StrokePins, Option<Cut>), Failure> {
    // A stroke on the screen is open; that a line is closed is up to the user.
    let curve = SurfaceCurve {
        closed: args.closed,
        ..line.curve
    };
    let goal = read_stroke(goal_path)?;
    let pins = line_pins(args, rig, &curve, &goal, positions)
        .map_err(|error| Failure::about(goal_path.display(), &error))?;

    let report = LineStroke {
        file: path_text(path),
        toward: path_text(goal_path),
        cut: line.cut.as_ref().map(CutReport::from),
    };
    let pins = StrokePins {
        readings: vec![pins],
        curve,
        report: StrokeReport::Toward(report),
    };
    Ok((pins, line.cut))
}

/// A stroke that is read as a bent wire, once for each reading of its ends.
fn bent_stroke(
    args: &Args,
    path: &Path,
    stroke: &Stroke,
    surface: &SketchSurface,
) -> Result<(StrokePins, Option<Cut>), RigError> {
    let mut sketches = Vec::new();
    for options in args.bend_options() {
        sketches.push(surface.sketch(&stroke.camera, &stroke.points, &options)?);
    }

    let readings: Vec<Vec<Pin>> = sketches
        .iter_mut()
        .map(|sketch| std::mem::take(&mut sketch.pins))
        .collect();

    // All readings share the curve and differ in their pins only.
    let sketch = sketches.swap_remove(0);
    let control_points = sketch.spline.control_points();
    let report = BentStroke {
        file: path_text(path),
        radius: sketch.radius.is_finite().then_some(sketch.radius),
        central_angle_degrees: sketch.central_angle_rad.to_degrees(),
        middle_ordinate: sketch.middle_ordinate,
        cut: sketch.cut.as_ref().map(CutReport::from),
        control_points: control_points.iter().map(|p| p.to_array()).collect(),
        ends: "",
    };
    let pins = StrokePins {
        readings,
        curve: sketch.curve,
        report: StrokeReport::Bent(report),
    };
    Ok((pins, sketch.cut))
}

/// Pins that move a line of the surface to `goal`. The goal has no depth of its own: it gets the
/// depth of the line, and pins leave the depth free.
fn line_pins(
    args: &Args,
    rig: &Rig,
    curve: &SurfaceCurve,
    goal: &Stroke,
    positions: &[DVec3],
) -> Result<Vec<Pin>, RigError> {
    let mesh = rig.neutral();
    let posed = mesh.posed(positions.to_vec())?;

    // A loop has no ends whose depths could be interpolated, so its centre gives the depth.
    let points = if curve.closed {
        let line = curve.positions(&posed)?;
        let center = line.iter().sum::<DVec3>() / line.len() as f64;
        goal.camera.on_view_plane(&goal.points, center)?
    } else {
        goal.camera.at_depth_of(&goal.points, &posed, curve)?
    };

    let options = args.curve_options(goal.camera.forward());
    curve_pins(mesh, positions, curve, &points, &options)
}

impl From<&Cut> for CutReport {
    fn from(cut: &Cut) -> Self {
        Self {
            kept: PieceReport::from(&cut.kept),
            dropped: cut.dropped.iter().map(PieceReport::from).collect(),
        }
    }
}

impl From<&StrokePiece> for PieceReport {
    fn from(piece: &StrokePiece) -> Self {
        Self {
            from: piece.from,
            to: piece.to,
            length_pixels: piece.length_pixels,
            on_model: piece.on_model,
        }
    }
}

fn cut_warning(path: &Path, cut: &Cut) -> String {
    let dropped: Vec<String> = cut.dropped.iter().map(piece_text).collect();
    format!(
        "{}: the stroke leaves the surface; {:.0} pixels of it are used; not used are {}",
        path.display(),
        cut.kept.length_pixels,
        dropped.join(", ")
    )
}

fn piece_text(piece: &StrokePiece) -> String {
    let place = if piece.on_model {
        "on another part of the model"
    } else {
        "beside the model"
    };
    let [from_x, from_y] = piece.from;
    let [to_x, to_y] = piece.to;
    format!(
        "{:.0} pixels from ({from_x:.0}, {from_y:.0}) to ({to_x:.0}, {to_y:.0}) {place}",
        piece.length_pixels
    )
}
