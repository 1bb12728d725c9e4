//! Figure 5: a vertex of a face is pulled while the expression changes.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{Blend, BlendFrame, BlendOptions, Constraint, EnergyTerms, PhysicsError};
use pliant_rig::{Rig, RigError};
use pliant_view::{Color, ContactSheet, Ground, Image, Look, Marker, Shot, View};

use super::numerals::{greatest, median, percent};
use super::{Data, ReproduceError, failed};
use crate::page::{Section, Table};

const SIZE: [usize; 2] = [208, 236];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.75,
    elevation_rad: 0.06,
};
const STEPS: usize = 4;
/// The sliders of the second shape.
const EXPRESSION: [(&str, f64); 4] = [
    ("jawOpen", 0.7),
    ("mouthSmileLeft", 0.6),
    ("mouthSmileRight", 0.6),
    ("browInnerUp", 0.8),
];
/// The free part of the skin: in front of this part of the depth and above this part of the height.
const FACE: [f64; 2] = [0.6, 0.3];
/// Displacement of the tip of the nose, relative to the diagonal.
const PULL: f64 = 0.05;

/// The face from the first shape to the second, free and pulled.
struct PulledPaths {
    head: Mesh,
    /// Which vertices are free.
    face: Vec<bool>,
    tip: usize,
    goal: DVec3,
    free: Vec<BlendFrame>,
    pulled: Vec<BlendFrame>,
}

pub(super) fn section(_: &Data) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "A pulled vertex",
        "Figure 5: the built-in head from the rest pose to a laugh; below, the same while the tip \
         of the nose is held at another position. The back of the head, the neck, the eyes and \
         the teeth are fixed. One vertex is a point load: the springs around it stretch most, and \
         the effect decreases over the face.",
    );

    let rig = pliant_specimens::load("specimen:head")?.rig()?;
    let laughing = laugh(&rig).map_err(|source| ReproduceError::Rig {
        model: "head".to_owned(),
        source,
    })?;
    let paths = PulledPaths::walk(rig.neutral(), laughing).map_err(failed("head"))?;

    let pull = paths.pull();
    section.figure(
        "the tip is pulled by",
        format!("{} % of the diagonal", percent(pull)),
    );
    section.figure(
        "frames that did not converge",
        unconverged(paths.free.iter().chain(&paths.pulled)).to_string(),
    );
    section.table(paths.table());
    section.wide(
        "pulled.png",
        "Above: free. Below: pulled to the red mark.",
        &paths.sheet()?,
    )?;

    Ok(section)
}

fn unconverged<'a>(frames: impl IntoIterator<Item = &'a BlendFrame>) -> usize {
    frames
        .into_iter()
        .filter(|frame| !frame.report.converged)
        .count()
}

fn laugh(rig: &Rig) -> Result<Mesh, RigError> {
    let mut weights = vec![0.0; rig.sliders().len()];
    for (name, weight) in EXPRESSION {
        weights[rig.slider_named(name)?.index()] = weight;
    }
    Ok(rig.neutral().posed(rig.evaluate(&weights))?)
}

fn diagonal(head: &Mesh) -> f64 {
    head.bounds().map_or(1.0, |bounds| bounds.diagonal())
}

/// Whether each vertex belongs to the face, on the component of the tip of the nose.
fn face(head: &Mesh, tip: usize) -> Vec<bool> {
    let Some(bounds) = head.bounds() else {
        return Vec::new();
    };

    let parts = head.topology().component_of_vertex();
    let share = |p: DVec3| (p - bounds.min) / bounds.size();
    let places = head.positions().iter().map(|p| share(*p));

    places
        .zip(parts)
        .map(|(place, part)| *part == parts[tip] && place.z > FACE[0] && place.y > FACE[1])
        .collect()
}

impl PulledPaths {
    fn walk(head: &Mesh, laughing: Mesh) -> Result<Self, PhysicsError> {
        // The head looks along z, so the tip of the nose is farthest in front.
        let tip = (0..head.vertex_count())
            .max_by(|&a, &b| head.positions()[a].z.total_cmp(&head.positions()[b].z))
            .unwrap_or(0);
        let face = face(head, tip);
        // Everything but the face is fixed.
        let options = BlendOptions::default()
            .with_energy(EnergyTerms::springs())
            .with_fixed((0..face.len()).filter(|&v| !face[v]).collect());
        let mut blend = Blend::new(&[head.clone(), laughing], &options)?;
        let direction = DVec3::new(0.3, -0.1, 1.0).normalize();
        let goal = head.positions()[tip] + direction * (PULL * diagonal(head));

        let mut free: Vec<BlendFrame> = Vec::new();
        let mut pulled = Vec::new();
        for alpha in (0..=STEPS).map(|step| step as f64 / STEPS as f64) {
            let weights = [1.0 - alpha, alpha];
            let frame = blend.at(&weights)?;
            // The free shape is the start of the pulled one.
            let start = [&frame.positions[..], &frame.interior[..]].concat();
            let hold = [(tip, Constraint::Fixed(goal))];
            pulled.push(blend.constrained_at(&weights, &hold, Some(&start))?);
            free.push(frame);
        }

        Ok(Self {
            head: head.clone(),
            face,
            tip,
            goal,
            free,
            pulled,
        })
    }

    /// The largest distance of the free tip from its goal, in diagonals.
    fn pull(&self) -> f64 {
        let distances = self
            .free
            .iter()
            .map(|frame| frame.positions[self.tip].distance(self.goal));
        greatest(distances) / diagonal(&self.head)
    }

    fn table(&self) -> Table {
        let mut table = Table::new(
            "At each step: the displacement of the face by the pull, in % of the diagonal, and \
             the share of its vertices that it moves by more than 0.1 %.",
            ["α", "pulled vertex", "median", "moved, %", "not converged"],
        );
        for (free, pulled) in self.free.iter().zip(&self.pulled) {
            table.push(self.row(free, pulled));
        }
        table
    }

    fn sheet(&self) -> Result<Image, ReproduceError> {
        let mut sheet = ContactSheet::new("", STEPS + 1);
        for (name, frames) in [("free", &self.free), ("pulled", &self.pulled)] {
            for (step, frame) in frames.iter().enumerate() {
                let image = self.picture(frame, name == "pulled")?;
                sheet.push(image, format!("{name}, {step}/{STEPS}"));
            }
        }
        Ok(sheet.compose()?)
    }

    fn row(&self, free: &BlendFrame, pulled: &BlendFrame) -> [String; 5] {
        let displacement =
            |v: usize| free.positions[v].distance(pulled.positions[v]) / diagonal(&self.head);
        let displacements: Vec<f64> = (0..self.face.len())
            .filter(|&v| self.face[v])
            .map(displacement)
            .collect();
        let moved = displacements.iter().filter(|d| **d > 1e-3).count();
        let moved = moved as f64 / displacements.len().max(1) as f64;

        [
            format!("{:.2}", free.weights[1]),
            percent(displacement(self.tip)),
            percent(median(displacements)),
            percent(moved),
            unconverged([free, pulled]).to_string(),
        ]
    }

    fn picture(&self, frame: &BlendFrame, pulled: bool) -> Result<Image, ReproduceError> {
        let pose = self
            .head
            .posed(frame.positions.clone())
            .map_err(failed("head"))?;
        let mut scene = Look::default().scene(&pose);

        scene.backdrop.ground = Ground::None;
        if pulled {
            scene = scene.with_marker(Marker {
                position: self.goal,
                color: Color::srgb8(206, 62, 48),
                radius_px: 4.0,
            });
        }

        let face = self
            .head
            .positions()
            .iter()
            .zip(&self.face)
            .filter(|(_, face)| **face)
            .map(|(p, _)| *p);

        let in_view: Vec<DVec3> = face.chain([self.goal]).collect();
        Ok(Shot::new(VIEW, SIZE).framed_by(&in_view, &scene)?)
    }
}
