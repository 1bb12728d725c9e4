//! Pins from lines that are drawn on the face.

use std::sync::Arc;

use pliant::mesh::glam::DVec3;
use pliant::mesh::{SurfacePoint, VertexId};
use pliant::rig::{
    Aim, CurvePinOptions, EndAim, Pin, PinDepth, PinPlace, PoseSolver, Poser, Range, RigError,
    SavedStroke, SideStretch, SketchOptions, SketchSurface, SketchedPose, Stroke, SurfaceCurve,
    VertexMirror, curve_pins,
};

use super::Drag;
use crate::model::pose::{DraggedPin, LineOptions};

/// A drawn line and its interpretation.
#[derive(Debug, Clone)]
pub struct Line {
    /// The drawn line.
    pub shape: LineShape,
    /// How it becomes pins.
    pub options: LineOptions,
    /// Pins that keep their positions.
    pub held: Vec<DraggedPin>,
    /// Draws on both sides.
    pub mirror: Option<Arc<VertexMirror>>,
}

/// The drawn line.
#[derive(Debug, Clone)]
pub enum LineShape {
    /// One stroke, interpreted as a straight wire that was bent.
    Bent(Stroke),
    /// A line on the face, and its goal line.
    Toward(Stroke, Stroke),
    /// A stroke of the library, and the vertices of its landmarks here.
    Saved(Arc<SavedStroke>, Vec<u32>),
}

/// The pins of a line.
#[derive(Debug, Clone)]
pub struct LinePins {
    /// The gesture it belongs to.
    pub gesture: u64,
    /// The drag's number.
    pub serial: u64,
    /// The line on the surface.
    pub curve: SurfaceCurve,
    /// Its pins on its own side, as a library keeps them.
    pub pins: Vec<Pin>,
    /// Its pins on both sides, with their goals.
    pub pulled: Vec<DraggedPin>,
    /// Where the vertices were.
    pub positions: Vec<DVec3>,
    /// Warnings about it.
    pub remark: Option<String>,
}

/// The pins of each interpretation of a line, the most likely first.
struct Interpretations {
    curve: SurfaceCurve,
    pins: Vec<Vec<Pin>>,
    remark: Option<String>,
}

/// The warning about a line that leaves the face.
const CUT: &str = "A part of the line lies outside the face and was ignored.";
/// The warning about too few landmarks.
const FEW_LANDMARKS: &str = "These landmarks define size and orientation only; four landmarks that do not lie in one plane also define the proportions.";

impl Line {
    /// The pins of the line on the pose `weights`; of several interpretations the one that the rig
    /// follows best.
    pub(crate) fn pins(
        &self,
        poser: &Poser,
        weights: &[f64],
        solver: Arc<dyn PoseSolver>,
        drag: &Drag,
    ) -> Result<LinePins, RigError> {
        let mesh = poser.rig().neutral();
        let mut face = SketchedPose::new(poser, weights.to_vec(), solver, Range::Clip);
        let positions = face.positions();
        let Interpretations {
            curve,
            mut pins,
            remark,
        } = self.interpretations(poser, &positions)?;

        // With mirroring, every interpretation is drawn on both sides.
        let both = |pins: &Vec<Pin>| match &self.mirror {
            Some(mirror) => mirror.mirror_pins(mesh, &positions, pins),
            None => Ok(pins.clone()),
        };

        let mut sides = pins.iter().map(both).collect::<Result<Vec<_>, _>>()?;
        // Held pins constrain the trial solves as they constrain the drag.
        if !self.held.is_empty() {
            face.draw(
                &self
                    .held
                    .iter()
                    .map(|pin| Pin::hold(pin.vertex))
                    .collect::<Vec<_>>(),
            )?;
        }

        // The rig decides between the interpretations: the first that it can follow.
        let taken = if sides.len() > 1 {
            face.draw_first_that_fits(&sides)?
        } else {
            0
        };

        let pulled = sides
            .swap_remove(taken)
            .iter()
            .filter_map(|pin| pulled(pin, &positions))
            .collect();

        Ok(LinePins {
            gesture: drag.gesture,
            serial: drag.serial,
            curve,
            pins: pins.swap_remove(taken),
            pulled,
            positions,
            remark,
        })
    }

    fn interpretations(
        &self,
        poser: &Poser,
        positions: &[DVec3],
    ) -> Result<Interpretations, RigError> {
        let rig = poser.rig();
        let mesh = rig.neutral();
        match &self.shape {
            LineShape::Bent(stroke) => self.bent(stroke, &SketchSurface::of_rig(rig, positions)?),
            LineShape::Toward(line, goal) => {
                let projected =
                    SketchSurface::of_rig(rig, positions)?.project(&line.camera, &line.points)?;
                // A drawn line cannot say whether it is a loop; the option does.
                let curve = SurfaceCurve {
                    closed: self.options.closed,
                    ..projected.curve
                };

                let pins = self.toward(poser, positions, &curve, goal)?;
                Ok(Interpretations {
                    curve,
                    pins: vec![pins],
                    remark: projected.cut.map(|_| CUT.into()),
                })
            }
            LineShape::Saved(saved, landmarks) => {
                let reused = saved.reuse(mesh, positions, landmarks)?;
                let remark = reused.by_similarity.then(|| FEW_LANDMARKS.into());
                Ok(Interpretations {
                    curve: reused.curve,
                    pins: vec![reused.pins],
                    remark,
                })
            }
        }
    }

    fn bent(&self, stroke: &Stroke, surface: &SketchSurface) -> Result<Interpretations, RigError> {
        let depth = if self.options.flat {
            PinDepth::Plane
        } else {
            PinDepth::Free
        };

        let options = SketchOptions::default()
            .with_middle_scale(self.options.middle)
            .with_side_scale(self.options.sides)
            .with_depth(depth);

        let sketch = |ends: &SideStretch| {
            surface.sketch(
                &stroke.camera,
                &stroke.points,
                &options.with_side_stretch(*ends),
            )
        };

        // One sketch for each direction in which the ends may move.
        let sketches = self
            .options
            .ends
            .interpretations()
            .iter()
            .map(sketch)
            .collect::<Result<Vec<_>, _>>()?;

        let first = sketches.first().ok_or(RigError::NoPins)?;
        let curve = first.curve.clone();
        let remark = first.cut.as_ref().map(|_| CUT.into());
        Ok(Interpretations {
            curve,
            pins: sketches.into_iter().map(|sketch| sketch.pins).collect(),
            remark,
        })
    }

    /// The goal has no depth of its own: it lies as deep as the line, and depth is free.
    fn toward(
        &self,
        poser: &Poser,
        positions: &[DVec3],
        curve: &SurfaceCurve,
        goal: &Stroke,
    ) -> Result<Vec<Pin>, RigError> {
        let mesh = poser.rig().neutral();
        let posed = mesh.posed(positions.to_vec())?;
        // An open goal curve gets the depth of the line below it; a loop gets one depth.
        let points = if curve.closed {
            let places = curve.positions(&posed)?;
            goal.camera.on_view_plane(
                &goal.points,
                places.iter().sum::<DVec3>() / places.len() as f64,
            )?
        } else {
            goal.camera.at_depth_of(&goal.points, &posed, curve)?
        };

        let options = CurvePinOptions::default()
            .with_ends(EndAim::Across(goal.camera.forward()))
            .with_pin_place(PinPlace::Vertex);

        curve_pins(
            mesh,
            positions,
            curve,
            &points,
            &options.with_sliding(self.options.slide),
        )
    }
}

/// A pin on a vertex with its goal in space.
fn pulled(pin: &Pin, positions: &[DVec3]) -> Option<DraggedPin> {
    let SurfacePoint::Vertex(vertex) = pin.at else {
        return None;
    };
    let place = positions[vertex as usize];
    let goal = match &pin.aim {
        Aim::Curve(_) => {
            pin.aim
                .projection_and_goal(place, place + pin.displacement)
                .1
        }
        _ => place + pin.displacement,
    };
    Some(DraggedPin::new(
        VertexId::new(vertex),
        goal,
        pin.aim.clone(),
    ))
}
