//! Figures 7 and 8: a careless scribble, and what it means once stiff parts are taken or left as a
//! whole.

use std::borrow::Cow;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError};
use pliant_transfer::{
    Flexibility, Layer, Membership, Partitions, Source, Synthesis, SynthesisOptions, TransferError,
    blend_weights,
};
use pliant_view::{ContactSheet, View};

use super::{Cast, FINE_THRESHOLD, ReproduceError, blended, failed};
use crate::page::Section;
use crate::picture::Shot;
use crate::walking_tapir::part;

const SIZE: [usize; 2] = [270, 290];
/// From the side on which the scribbled leg is.
const VIEW: View = View::Orbit {
    azimuth_rad: 1.35,
    elevation_rad: 0.08,
};
/// The leg that is drawn on.
const LEG: &str = "hind_left";
/// The scribble reaches from here to there, in parts of the leg's height: it misses the foot and
/// ends in the middle of the thigh.
const DRAWN: [f64; 2] = [0.1, 0.75];

/// A way to take the region.
struct Taken {
    weights: Vec<f64>,
    pose: Mesh,
}

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Scribbles that mean parts",
        "Figures 7 and 8: a hind leg of the tapir is to step like the hound's while the rest stands. As drawn, the scribble bends the leg \
         where it happens to end. Refined, every stiff part is taken when more than half of it is drawn on, and what bends between \
         stiff parts blends by eq. 5.",
    );
    let tapir = cast.pair.tapir();
    let drawn = scribble(tapir);
    let (members, parts) = refined(cast, &drawn).map_err(failed("tapir"))?;
    let step = longest_step(cast).map_err(failed("tapir"))?;
    let as_drawn = drawn
        .iter()
        .map(|&drawn| f64::from(u8::from(drawn)))
        .collect();
    let as_drawn = Taken::new(cast, as_drawn, step).map_err(failed("tapir"))?;
    let weights = blend_weights(tapir, &members).map_err(failed("tapir"))?;
    let as_meant = Taken::new(cast, weights, step).map_err(failed("tapir"))?;

    section.figure(
        "drawn on",
        format!("{} triangles", drawn.iter().filter(|&&drawn| drawn).count()),
    );
    section.figure(
        "taken",
        format!(
            "{} triangles",
            members
                .iter()
                .filter(|&&member| member == Membership::Selected)
                .count()
        ),
    );
    section.figure(
        "blending",
        format!(
            "{} triangles",
            as_meant
                .weights
                .iter()
                .filter(|&&weight| weight > 0.0 && weight < 1.0)
                .count()
        ),
    );
    section.figure("stiff parts of the tapir", parts.to_string());
    let rear: Vec<DVec3> = tapir
        .positions()
        .iter()
        .copied()
        .filter(|p| p.z < 0.0)
        .collect();
    let mut sheet = ContactSheet::new("", 4);
    for (taken, name) in [(&as_drawn, "as drawn"), (&as_meant, "refined")] {
        for (pose, caption) in [
            (tapir, name.to_owned()),
            (&taken.pose, format!("{name}: the step")),
        ] {
            let scene = blended::standing(pose, tapir, &taken.weights);
            sheet.push(Shot::new(VIEW, SIZE).framed_by(&rear, &scene)?, caption);
        }
    }
    section.wide(
        "scribbles.png",
        "Blue is taken, between blue and clay blends.",
        &sheet.compose()?,
    )?;
    Ok(section)
}

/// A band around the leg.
fn scribble(tapir: &Mesh) -> Vec<bool> {
    let leg = part(tapir, LEG);
    let height = |t: usize| tapir.triangle_points(t).iter().map(|p| p.y).sum::<f64>() / 3.0;
    let heights = (0..leg.len()).filter(|&t| leg[t]).map(height);
    let [low, high] = heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], y| {
        [low.min(y), high.max(y)]
    });
    let [from, to] = DRAWN.map(|share| low + share * (high - low));
    (0..leg.len())
        .map(|t| leg[t] && (from..to).contains(&height(t)))
        .collect()
}

/// What the scribble means, and how many stiff parts there are.
fn refined(cast: &Cast, drawn: &[bool]) -> Result<(Vec<Membership>, usize), TransferError> {
    let tapir = cast.pair.tapir();
    let flexibility = cast
        .found
        .map
        .filled(tapir)
        .carry(Flexibility::of(&cast.pair.walk)?.of_triangles(), 0.0);
    let partitions = Partitions::new(tapir, &flexibility, FINE_THRESHOLD)?;
    let stiff = (0..partitions.len() as u32)
        .filter(|&partition| partitions.is_stiff(partition))
        .count();
    Ok((partitions.refine(drawn)?, stiff))
}

/// The frame of the walk in which the foot is farthest from where it rests.
fn longest_step(cast: &Cast) -> Result<usize, TransferError> {
    let tapir = cast.pair.tapir();
    let leg = part(tapir, LEG);
    let foot = tapir
        .triangles()
        .iter()
        .zip(&leg)
        .filter(|(_, leg)| **leg)
        .flat_map(|(corners, _)| *corners);
    let foot = foot
        .map(|v| v as usize)
        .min_by(|&a, &b| tapir.positions()[a].y.total_cmp(&tapir.positions()[b].y))
        .unwrap_or(0);
    let mut walking = cast.pair.walking(&cast.found.map)?;
    let ways: Vec<f64> = (0..walking.frame_count())
        .map(|k| walking.frame(k)[foot].distance(tapir.positions()[foot]))
        .collect();
    Ok((0..ways.len())
        .max_by(|&a, &b| ways[a].total_cmp(&ways[b]))
        .unwrap_or(0))
}

impl Taken {
    /// The tapir at rest but for the region, which is in frame `step` of the walk.
    fn new(cast: &Cast, weights: Vec<f64>, step: usize) -> Result<Self, TransferError> {
        let tapir = cast.pair.tapir();
        let layer = Layer {
            frames: (step, step),
            ..Layer::whole(0, weights.clone(), cast.pair.walk.frames().len())
        };
        let source = Source {
            clip: &cast.pair.walk,
            map: Cow::Borrowed(&cast.found.map),
        };
        let mut synthesis = Synthesis::new(
            tapir,
            vec![source],
            vec![layer],
            SynthesisOptions::default(),
        )?;
        let pose = stood(tapir, synthesis.frame(0).to_vec())?;
        Ok(Self { weights, pose })
    }
}

/// The pose moved as a whole so that its nose, which the region leaves alone, is where it was.
fn stood(rest: &Mesh, mut pose: Vec<DVec3>) -> Result<Mesh, MeshError> {
    let ahead = |&a: &usize, &b: &usize| rest.positions()[a].z.total_cmp(&rest.positions()[b].z);
    let nose = (0..rest.vertex_count()).max_by(ahead).unwrap_or(0);
    let shift = rest.positions()[nose] - pose[nose];
    pose.iter_mut().for_each(|p| *p += shift);
    rest.posed(pose)
}
