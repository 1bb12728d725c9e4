//! Figures 7 and 8: a rough scribble, refined to whole stiff parts.

use std::borrow::Cow;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError};
use pliant_transfer::{
    Flexibility, Layer, Membership, Partitions, Source, Synthesis, SynthesisOptions, TransferError,
    blend_weights,
};
use pliant_view::{ContactSheet, Image, Shot, View};

use super::{FINE_THRESHOLD, Models, ReproduceError, blended, failed};
use crate::page::Section;
use crate::subjects::group_triangles;

const SIZE: [usize; 2] = [270, 290];
/// From the side of the selected leg.
const VIEW: View = View::Orbit {
    azimuth_rad: 1.35,
    elevation_rad: 0.08,
};
/// The group of the selected leg.
const LEG: &str = "hind_left";
/// The range of the scribble, relative to the height of the leg: it misses the foot and ends in the
/// middle of the thigh.
const DRAWN: [f64; 2] = [0.1, 0.75];

/// The tapir with one version of the region in the step.
struct RegionPose {
    weights: Vec<f64>,
    pose: Mesh,
}

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Scribbles refined to stiff parts",
        "Figures 7 and 8: a hind leg of the tapir follows the hound's step while the rest stands \
         still. Unrefined, the scribble bends the leg where it ends. Refined, a stiff part is \
         selected if the scribble covers more than half of it, and the flexible parts between \
         stiff ones blend by eq. 5.",
    );

    let tapir = models.pair.tapir();
    let drawn = scribble(tapir);
    let (members, stiff_parts) = refined(models, &drawn).map_err(failed("tapir"))?;
    let step = longest_step(models).map_err(failed("tapir"))?;

    let as_drawn = drawn.iter().map(|&drawn| f64::from(u8::from(drawn)));
    let as_drawn = RegionPose::new(models, as_drawn.collect(), step).map_err(failed("tapir"))?;
    let weights = blend_weights(tapir, &members).map_err(failed("tapir"))?;
    let refined_pose = RegionPose::new(models, weights, step).map_err(failed("tapir"))?;

    let selected = members
        .iter()
        .filter(|&&member| member == Membership::Selected)
        .count();
    let blending = refined_pose
        .weights
        .iter()
        .filter(|&&weight| weight > 0.0 && weight < 1.0)
        .count();
    for (name, count) in [
        ("drawn on", drawn.iter().filter(|&&drawn| drawn).count()),
        ("taken", selected),
        ("blending", blending),
    ] {
        section.figure(name, format!("{count} triangles"));
    }
    section.figure("stiff parts of the tapir", stiff_parts.to_string());
    section.wide(
        "scribbles.png",
        "Blue is selected; colours between blue and clay blend.",
        &sheet(tapir, &as_drawn, &refined_pose)?,
    )?;

    Ok(section)
}

fn sheet(
    tapir: &Mesh,
    as_drawn: &RegionPose,
    refined: &RegionPose,
) -> Result<Image, ReproduceError> {
    let rear: Vec<DVec3> = tapir
        .positions()
        .iter()
        .copied()
        .filter(|p| p.z < 0.0)
        .collect();

    let mut sheet = ContactSheet::new("", 4);
    for (region, name) in [(as_drawn, "as drawn"), (refined, "refined")] {
        for (pose, caption) in [
            (tapir, name.to_owned()),
            (&region.pose, format!("{name}: the step")),
        ] {
            let scene = blended::standing(pose, tapir, &region.weights);
            sheet.push(Shot::new(VIEW, SIZE).framed_by(&rear, &scene)?, caption);
        }
    }
    Ok(sheet.compose()?)
}

/// A band around the leg.
fn scribble(tapir: &Mesh) -> Vec<bool> {
    let leg = group_triangles(tapir, LEG);
    let height = |t: usize| tapir.triangle_points(t).iter().map(|p| p.y).sum::<f64>() / 3.0;
    let heights = (0..leg.len()).filter(|&t| leg[t]).map(height);
    let [low, high] = heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], y| {
        [low.min(y), high.max(y)]
    });

    // The scribble is a band of heights on the leg.
    let [from, to] = DRAWN.map(|share| low + share * (high - low));
    (0..leg.len())
        .map(|t| leg[t] && (from..to).contains(&height(t)))
        .collect()
}

/// The refined region, and the number of stiff parts.
fn refined(models: &Models, drawn: &[bool]) -> Result<(Vec<Membership>, usize), TransferError> {
    let tapir = models.pair.tapir();
    let flexibility = models
        .correspondence
        .map
        .filled(tapir)
        .carry(Flexibility::of(&models.pair.walk)?.of_triangles(), 0.0);

    // Flexibility of the walk on the tapir decides what is stiff.
    let partitions = Partitions::new(tapir, &flexibility, FINE_THRESHOLD)?;
    let stiff = (0..partitions.len() as u32)
        .filter(|&partition| partitions.is_stiff(partition))
        .count();

    Ok((partitions.refine(drawn)?, stiff))
}

/// The frame of the walk in which the foot is farthest from its rest position.
fn longest_step(models: &Models) -> Result<usize, TransferError> {
    let tapir = models.pair.tapir();
    let leg = group_triangles(tapir, LEG);
    let foot = tapir
        .triangles()
        .iter()
        .zip(&leg)
        .filter(|(_, leg)| **leg)
        .flat_map(|(corners, _)| *corners);

    // The lowest vertex of the leg.
    let foot = foot
        .map(|v| v as usize)
        .min_by(|&a, &b| tapir.positions()[a].y.total_cmp(&tapir.positions()[b].y))
        .unwrap_or(0);
    let mut walking = models.pair.walking(&models.correspondence.map)?;
    let distances: Vec<f64> = (0..walking.frame_count())
        .map(|k| walking.frame(k)[foot].distance(tapir.positions()[foot]))
        .collect();

    Ok((0..distances.len())
        .max_by(|&a, &b| distances[a].total_cmp(&distances[b]))
        .unwrap_or(0))
}

impl RegionPose {
    /// The tapir in its rest pose, with the region in frame `step` of the walk.
    fn new(models: &Models, weights: Vec<f64>, step: usize) -> Result<Self, TransferError> {
        let tapir = models.pair.tapir();
        let layer = Layer {
            frames: (step, step),
            ..Layer::whole(0, weights.clone(), models.pair.walk.frames().len())
        };

        let source = Source {
            clip: &models.pair.walk,
            map: Cow::Borrowed(&models.correspondence.map),
        };

        let mut synthesis = Synthesis::new(
            tapir,
            vec![source],
            vec![layer],
            SynthesisOptions::default(),
        )?;

        let pose = placed_by_nose(tapir, synthesis.frame(0).to_vec())?;
        Ok(Self { weights, pose })
    }
}

/// The pose translated so that the nose, which the region does not move, is at its rest position.
fn placed_by_nose(rest: &Mesh, mut pose: Vec<DVec3>) -> Result<Mesh, MeshError> {
    let ahead = |&a: &usize, &b: &usize| rest.positions()[a].z.total_cmp(&rest.positions()[b].z);
    let nose = (0..rest.vertex_count()).max_by(ahead).unwrap_or(0);
    let shift = rest.positions()[nose] - pose[nose];
    for p in pose.iter_mut() {
        *p += shift;
    }
    rest.posed(pose)
}
