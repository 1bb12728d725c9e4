//! Figure 5: a vertex of a face is pulled while the face changes.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{Blend, BlendFrame, BlendOptions, Constraint, PhysicsError};
use pliant_rig::{Rig, RigError};
use pliant_view::{Color, ContactSheet, Ground, Image, Marker, View};

use super::numerals::{greatest, median, percent};
use super::{Data, ReproduceError, failed};
use crate::page::{Section, Table};
use crate::picture::{Look, Shot};

const SIZE: [usize; 2] = [208, 236];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.75,
    elevation_rad: 0.06,
};
const STEPS: usize = 4;
/// The other shape.
const EXPRESSION: [(&str, f64); 4] = [
    ("jawOpen", 0.7),
    ("mouthSmileLeft", 0.6),
    ("mouthSmileRight", 0.6),
    ("browInnerUp", 0.8),
];
/// The skin is free before this part of the depth and above that part of the height: the face.
const FACE: [f64; 2] = [0.6, 0.3];
/// How far the tip of the nose is pulled forward, in parts of the diagonal.
const PULL: f64 = 0.05;

/// The face on its way, free and pulled.
struct Ways {
    head: Mesh,
    /// Which vertices are free.
    face: Vec<bool>,
    tip: usize,
    place: DVec3,
    free: Vec<BlendFrame>,
    pulled: Vec<BlendFrame>,
}

pub(super) fn section(_: &Data) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "A pulled vertex",
        "Figure 5: the built-in head from rest to a laugh; below, the same while the tip of the nose is held away from it. The back of \
         the head and the neck, the eyes and the teeth are fixed. One vertex is a point load: the springs around it give most, and the pull \
         dies away over the face.",
    );
    let rig = crate::load("specimen:head")?.rig()?;
    let laughing = laugh(&rig).map_err(|source| ReproduceError::Rig {
        model: "head".to_owned(),
        source,
    })?;
    let ways = Ways::walk(rig.neutral(), laughing).map_err(failed("head"))?;
    let mut table = Table::new(
        "At each step: how far the pull moves vertices of the face, in % of the diagonal, and how many of them by more than 0.1 %.",
        ["α", "pulled vertex", "median", "moved, %", "not converged"],
    );
    for (free, pulled) in ways.free.iter().zip(&ways.pulled) {
        table.push(ways.row(free, pulled));
    }
    let way = greatest(
        ways.free
            .iter()
            .map(|frame| frame.positions[ways.tip].distance(ways.place)),
    ) / diagonal(&ways.head);
    section.figure(
        "the tip is pulled by",
        format!("{} % of the diagonal", percent(way)),
    );
    let failures = ways
        .free
        .iter()
        .chain(&ways.pulled)
        .filter(|frame| !frame.report.converged)
        .count();
    section.figure("frames that did not converge", failures.to_string());
    section.table(table);
    let mut sheet = ContactSheet::new("", STEPS + 1);
    for (name, frames) in [("free", &ways.free), ("pulled", &ways.pulled)] {
        for (step, frame) in frames.iter().enumerate() {
            sheet.push(
                ways.picture(frame, name == "pulled")?,
                format!("{name}, {step}/{STEPS}"),
            );
        }
    }
    section.wide(
        "pulled.png",
        "Above free, below pulled at the red mark.",
        &sheet.compose()?,
    )?;
    Ok(section)
}

fn laugh(rig: &Rig) -> Result<Mesh, RigError> {
    let mut weights = vec![0.0; rig.sliders().len()];
    for (name, weight) in EXPRESSION {
        weights[rig.slider_named(name)?] = weight;
    }
    Ok(rig.neutral().posed(rig.evaluate(&weights))?)
}

fn diagonal(head: &Mesh) -> f64 {
    head.bounds().map_or(1.0, |bounds| bounds.diagonal())
}

/// The vertices of the face, on the surface that the tip of the nose belongs to.
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

impl Ways {
    fn walk(head: &Mesh, laughing: Mesh) -> Result<Self, PhysicsError> {
        let tip = (0..head.vertex_count())
            .max_by(|&a, &b| head.positions()[a].z.total_cmp(&head.positions()[b].z))
            .unwrap_or(0);
        let face = face(head, tip);
        let options =
            BlendOptions::default().with_fixed((0..face.len()).filter(|&v| !face[v]).collect());
        let mut blend = Blend::new(&[head.clone(), laughing], &options)?;
        let place = head.positions()[tip]
            + DVec3::new(0.3, -0.1, 1.0).normalize() * (PULL * diagonal(head));
        let (mut free, mut pulled): (Vec<BlendFrame>, Vec<BlendFrame>) = (Vec::new(), Vec::new());
        for alpha in (0..=STEPS).map(|step| step as f64 / STEPS as f64) {
            let weights = [1.0 - alpha, alpha];
            free.push(blend.at(&weights)?);
            let start = free
                .last()
                .map(|frame| [&frame.positions[..], &frame.interior[..]].concat());
            pulled.push(blend.constrained_at(
                &weights,
                &[(tip, Constraint::Fixed(place))],
                start.as_deref(),
            )?);
        }
        Ok(Self {
            head: head.clone(),
            face,
            tip,
            place,
            free,
            pulled,
        })
    }

    fn row(&self, free: &BlendFrame, pulled: &BlendFrame) -> [String; 5] {
        let way = |v: usize| free.positions[v].distance(pulled.positions[v]) / diagonal(&self.head);
        let ways: Vec<f64> = (0..self.face.len())
            .filter(|&v| self.face[v])
            .map(way)
            .collect();
        let moved =
            ways.iter().filter(|way| **way > 1e-3).count() as f64 / ways.len().max(1) as f64;
        let failed = [free, pulled]
            .iter()
            .filter(|frame| !frame.report.converged)
            .count();
        [
            format!("{:.2}", free.weights[1]),
            percent(way(self.tip)),
            percent(median(ways)),
            percent(moved),
            failed.to_string(),
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
                position: self.place,
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
        let in_view: Vec<DVec3> = face.chain([self.place]).collect();
        Ok(Shot::new(VIEW, SIZE).framed_by(&in_view, &scene)?)
    }
}
