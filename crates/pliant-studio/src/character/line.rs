//! Lines drawn on the face: from what a hand drew to the pins that it asks for.

use std::sync::Arc;

use pliant::mesh::SurfacePoint;
use pliant::mesh::glam::DVec3;
use pliant::rig::{
    Aim, CurvePinOptions, EndAim, Pin, PinDepth, PinPlace, PoseSolver, Poser, Range, RigError,
    SavedStroke, SideStretch, SketchOptions, SketchSurface, SketchedPose, Stroke, SurfaceCurve,
    VertexMirror, curve_pins,
};
use serde::{Deserialize, Serialize};

use super::Drag;
use crate::rooms::pose::Pulled;

/// A line and how it is meant.
#[derive(Debug, Clone)]
pub struct Line {
    /// What was drawn.
    pub shape: LineShape,
    /// How it becomes pins.
    pub options: LineOptions,
    /// Pins that keep their places meanwhile.
    pub held: Vec<Pulled>,
    /// Draws on both sides.
    pub mirror: Option<Arc<VertexMirror>>,
}

/// What was drawn.
#[derive(Debug, Clone)]
pub enum LineShape {
    /// One stroke, read as a straight wire that was bent.
    Bent(Stroke),
    /// A line on the face, and where it should go.
    Toward(Stroke, Stroke),
    /// A stroke of the library, and the vertices of its landmarks here.
    Saved(Arc<SavedStroke>, Vec<u32>),
}

/// How a line becomes pins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LineOptions {
    /// How far the middle of a stroke goes.
    pub middle: f64,
    /// How far its ends are pulled.
    pub sides: f64,
    /// Which way its ends are pulled.
    pub ends: Ends,
    /// Whether pins keep to the plane of the stroke.
    pub flat: bool,
    /// Whether both lines of a curve are loops.
    pub closed: bool,
    /// Whether inner points of a curve may slide along the one they should go to.
    pub slide: bool,
}

impl Default for LineOptions {
    fn default() -> Self {
        let (middle, sides) = (
            SketchOptions::DEFAULT_MIDDLE_SCALE,
            SketchOptions::DEFAULT_SIDE_SCALE,
        );
        Self {
            middle,
            sides,
            ends: Ends::Auto,
            flat: false,
            closed: false,
            slide: false,
        }
    }
}

/// Which way the ends of a stroke are pulled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ends {
    /// As the sliders can follow.
    #[default]
    Auto,
    /// Out and against the bow.
    Against,
    /// Out and with the bow.
    With,
}

impl Ends {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Against, Self::With];

    /// What the list says.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Auto => "Automatic",
            Self::Against => "Against the bow",
            Self::With => "With the bow",
        }
    }

    /// The readings of a stroke, the likelier first.
    fn readings(self) -> &'static [SideStretch] {
        const ALL: [SideStretch; 2] = [SideStretch::Tangent, SideStretch::Bow];
        match self {
            Self::Auto => &ALL,
            Self::Against => &ALL[..1],
            Self::With => &ALL[1..],
        }
    }
}

/// What a line asks for.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// The gesture it belongs to.
    pub gesture: u64,
    /// The drag's number.
    pub serial: u64,
    /// The line on the surface.
    pub curve: SurfaceCurve,
    /// Its pins on its own side, as a library keeps them.
    pub pins: Vec<Pin>,
    /// Its pins on both sides, with their goals.
    pub pulled: Vec<Pulled>,
    /// Where the vertices were.
    pub positions: Vec<DVec3>,
    /// What should be told of it.
    pub remark: Option<String>,
}

/// The pins of each reading of a line, the likelier first.
struct Readings {
    curve: SurfaceCurve,
    pins: Vec<Vec<Pin>>,
    remark: Option<String>,
}

/// What is told of a line that leaves the face.
const CUT: &str = "A part of the line is beside the face and was left out.";
/// What is told of landmarks that say too little.
const FEW_LANDMARKS: &str = "The landmarks tell size and direction only; four that are not in a plane tell the proportions, too.";

impl Line {
    /// The pins that the line asks for on the pose `weights`; of several readings the one that the
    /// rig can follow.
    pub(super) fn pins(
        &self,
        poser: &Poser<'_>,
        weights: &[f64],
        solver: &dyn PoseSolver,
        drag: &Drag,
    ) -> Result<Drawn, RigError> {
        let mesh = poser.rig().neutral();
        let mut face = SketchedPose::new(poser, weights.to_vec(), solver, Range::Clip);
        let positions = face.positions();
        let Readings {
            curve,
            mut pins,
            remark,
        } = self.readings(poser, &positions)?;
        let both = |pins: &Vec<Pin>| match &self.mirror {
            Some(mirror) => mirror.mirror_pins(mesh, &positions, pins),
            None => Ok(pins.clone()),
        };
        let mut sides = pins.iter().map(both).collect::<Result<Vec<_>, _>>()?;
        if !self.held.is_empty() {
            face.draw(
                &self
                    .held
                    .iter()
                    .map(|pin| Pin::hold(pin.vertex as usize))
                    .collect::<Vec<_>>(),
            )?;
        }
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
        Ok(Drawn {
            gesture: drag.gesture,
            serial: drag.serial,
            curve,
            pins: pins.swap_remove(taken),
            pulled,
            positions,
            remark,
        })
    }

    fn readings(&self, poser: &Poser<'_>, positions: &[DVec3]) -> Result<Readings, RigError> {
        let mesh = poser.rig().neutral();
        match &self.shape {
            LineShape::Bent(stroke) => self.bent(stroke, &SketchSurface::new(mesh, positions)?),
            LineShape::Toward(line, goal) => {
                let projected =
                    SketchSurface::new(mesh, positions)?.project(&line.camera, &line.points)?;
                let curve = SurfaceCurve {
                    closed: self.options.closed,
                    ..projected.curve
                };
                let pins = self.toward(poser, positions, &curve, goal)?;
                Ok(Readings {
                    curve,
                    pins: vec![pins],
                    remark: projected.cut.map(|_| CUT.into()),
                })
            }
            LineShape::Saved(saved, landmarks) => {
                let reused = saved.reuse(mesh, positions, landmarks)?;
                let remark = reused.by_similarity.then(|| FEW_LANDMARKS.into());
                Ok(Readings {
                    curve: reused.curve,
                    pins: vec![reused.pins],
                    remark,
                })
            }
        }
    }

    fn bent(&self, stroke: &Stroke, surface: &SketchSurface) -> Result<Readings, RigError> {
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
        let sketches = self
            .options
            .ends
            .readings()
            .iter()
            .map(sketch)
            .collect::<Result<Vec<_>, _>>()?;
        let first = sketches.first().ok_or(RigError::NoPins)?;
        let (curve, remark) = (first.curve.clone(), first.cut.as_ref().map(|_| CUT.into()));
        Ok(Readings {
            curve,
            pins: sketches.into_iter().map(|sketch| sketch.pins).collect(),
            remark,
        })
    }

    /// The goal has no depth of its own: it lies as deep as the line, and depth is free.
    fn toward(
        &self,
        poser: &Poser<'_>,
        positions: &[DVec3],
        curve: &SurfaceCurve,
        goal: &Stroke,
    ) -> Result<Vec<Pin>, RigError> {
        let mesh = poser.rig().neutral();
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
fn pulled(pin: &Pin, positions: &[DVec3]) -> Option<Pulled> {
    let SurfacePoint::Vertex(vertex) = pin.at else {
        return None;
    };
    let place = positions[vertex as usize];
    let goal = match &pin.aim {
        Aim::Curve(_) => pin.aim.measure(place, place + pin.displacement).1,
        _ => place + pin.displacement,
    };
    Some(Pulled::new(vertex, goal, pin.aim.clone()))
}
