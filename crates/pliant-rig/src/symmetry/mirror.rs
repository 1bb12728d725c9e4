//! Sliders, weights and rigs in the mirror.
//!
//! **Problem.** An animator poses one side and wants the other; a sculptor has finished one half of
//! a rig and wants both.
//!
//! **Equation.** With the partner `π(k)` of slider `k` and the mirror `M` of the vertices, the
//! mirror image of the weights `w` has `w′(π(k)) = w(k)`, and that of a rig has `d′(π(k)) = M
//! d(k)`. A rig is symmetric where both agree: `d′ = d`.
//!
//! **Ours.** Partners are found by name, or by shape: the pairs whose cosine `⟨M dⱼ, dₖ⟩ / |dⱼ|
//! |dₖ|` is largest and at least [`LEAST_COSINE`], a slider being its own partner where it is
//! symmetric.

use std::collections::BTreeMap;

use pliant_mesh::glam::{DVec3, Vec3};

use crate::{
    Combination, Driver, MirrorPlane, Rig, RigError, Side, SliderName, Target, VertexMirror,
    front_side, mirrored_name,
};

/// Below this, two shapes are not each other's images.
const LEAST_COSINE: f64 = 0.8;

/// The partner of each slider on the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliderPairs {
    partners: Vec<Option<usize>>,
}

impl SliderPairs {
    /// By name: sides change places; a slider without a side is its own partner.
    #[must_use]
    pub fn by_name(names: &[&str]) -> Self {
        let readings: Vec<SliderName> = names.iter().map(|name| SliderName::parse(name)).collect();
        let key = |reading: &SliderName| (reading.stem(), reading.sides.clone());
        let mut of_text = BTreeMap::new();
        let mut of_reading = BTreeMap::new();
        for (k, name) in names.iter().enumerate() {
            of_text.entry(*name).or_insert(k);
            of_reading.entry(key(&readings[k])).or_insert(k);
        }
        let find = |k: usize| {
            let Some(mirrored) = mirrored_name(names[k]).filter(|_| readings[k].is_sided()) else {
                // Numbers that stand for turns have a side without spelling one.
                return if readings[k].is_sided() {
                    of_reading.get(&key(&readings[k].mirrored())).copied()
                } else {
                    Some(k)
                };
            };
            of_text
                .get(mirrored.as_str())
                .or_else(|| of_reading.get(&key(&readings[k].mirrored())))
                .copied()
        };
        Self::mutual((0..names.len()).map(find).collect())
    }

    /// By shape: the mirror image of one displacement field is the other.
    #[must_use]
    pub fn by_shape(rig: &Rig, mirror: &VertexMirror) -> Self {
        let targets = rig.targets();
        let lengths: Vec<f64> = targets.iter().map(|t| dot_sparse(t, t).sqrt()).collect();
        let rows = pliant_linalg::parallel::map(targets.len(), 1, |j| {
            let image = mirror.mirror_target(&targets[j]);
            let cosine = |k: usize| dot_sparse(&image, &targets[k]) / (lengths[j] * lengths[k]);
            (j..targets.len())
                .map(|k| (cosine(k), j, k))
                .filter(|(cosine, ..)| *cosine >= LEAST_COSINE)
                .collect::<Vec<_>>()
        });
        let mut candidates: Vec<(f64, usize, usize)> = rows.into_iter().flatten().collect();
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut partners = vec![None; targets.len()];
        for (_, j, k) in candidates {
            if partners[j].is_none() && partners[k].is_none() {
                (partners[j], partners[k]) = (Some(k), Some(j));
            }
        }
        Self { partners }
    }

    /// Only those who are each other's: of two sliders that claim one partner, the second has none.
    fn mutual(claims: Vec<Option<usize>>) -> Self {
        let partners = claims
            .iter()
            .enumerate()
            .map(|(k, claim)| claim.filter(|&other| claims[other] == Some(k)))
            .collect();
        Self { partners }
    }

    /// The partner of each slider; its own place for one of both sides, nothing where none was
    /// found.
    #[must_use]
    pub fn partners(&self) -> &[Option<usize>] {
        &self.partners
    }

    /// Sliders without a partner.
    #[must_use]
    pub fn unpaired(&self) -> Vec<usize> {
        (0..self.partners.len())
            .filter(|&k| self.partners[k].is_none())
            .collect()
    }

    /// The weights of the mirrored pose. A slider without a partner keeps its weight.
    #[must_use]
    pub fn mirror_weights(&self, weights: &[f64]) -> Vec<f64> {
        let mut mirrored = weights.to_vec();
        for (&weight, partner) in weights.iter().zip(&self.partners) {
            if let Some(place) = partner.and_then(|k| mirrored.get_mut(k)) {
                *place = weight;
            }
        }
        mirrored
    }
}

/// The scalar product of two displacement fields.
fn dot_sparse(a: &Target, b: &Target) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while i < a.vertices.len() && j < b.vertices.len() {
        match a.vertices[i].cmp(&b.vertices[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                sum += a.deltas[i].as_dvec3().dot(b.deltas[j].as_dvec3());
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    sum
}

/// The rig in the mirror: each target becomes the mirror image of its partner, and each combination
/// the image of itself, driven by the partners of its drivers.
///
/// A target without a partner stays, and every target stays as it was on vertices without one.
pub fn mirror_rig(rig: &Rig, mirror: &VertexMirror, pairs: &SliderPairs) -> Result<Rig, RigError> {
    check(rig, mirror, pairs)?;
    let targets = rig.targets();
    let mirrored = targets
        .iter()
        .zip(pairs.partners())
        .map(|(target, partner)| match partner {
            Some(partner) => image_over(target, &targets[*partner], mirror),
            None => target.clone(),
        });
    let combinations = rig.combinations().iter().map(|combination| {
        let other = |driver: &Driver| match *driver {
            Driver::Slider(k) => Driver::Slider(pairs.partners()[k].unwrap_or(k)),
            nested @ Driver::Combination(_) => nested,
        };
        let (vertices, deltas) = mirror
            .mirror_deltas(&combination.vertices, &combination.deltas)
            .into_iter()
            .unzip();
        let name = mirrored_name(&combination.name).unwrap_or_else(|| combination.name.clone());
        Combination {
            name,
            drivers: combination.drivers.iter().map(other).collect(),
            vertices,
            deltas,
            ..combination.clone()
        }
    });
    rig.with_targets(mirrored.collect())?
        .with_combinations(combinations.collect())
}

/// A symmetric rig made of one side's work: sliders of the other side become the images of their
/// partners, and sliders of both sides are, on the other side, the image of what they are on this
/// one. Combinations stay as they are.
///
/// Of two partners the one of this side is that with the side in its name, or else the one that
/// moves more of this side.
pub fn symmetric_rig(
    rig: &Rig,
    mirror: &VertexMirror,
    pairs: &SliderPairs,
    from: Side,
) -> Result<Rig, RigError> {
    check(rig, mirror, pairs)?;
    let targets = rig.targets();
    let kept = Half {
        positions: rig.neutral().positions(),
        plane: mirror.plane(),
        in_front: front_side(rig, mirror.plane()) == from,
    };
    let of_this_side =
        |target: &Target, partner: &Target| match SliderName::parse(&target.name).sides.last() {
            Some(side) => *side == from,
            None => kept.lean(target) > kept.lean(partner),
        };
    let made = targets
        .iter()
        .enumerate()
        .map(|(k, target)| match pairs.partners()[k] {
            None => target.clone(),
            Some(partner) if partner == k => kept.doubled(target, mirror),
            Some(partner) if of_this_side(target, &targets[partner]) => target.clone(),
            Some(partner) => image_over(target, &targets[partner], mirror),
        });
    rig.with_targets(made.collect())
}

fn check(rig: &Rig, mirror: &VertexMirror, pairs: &SliderPairs) -> Result<(), RigError> {
    let sizes = [
        (
            "pairs of sliders",
            pairs.partners().len(),
            rig.targets().len(),
        ),
        (
            "map of vertices",
            mirror.partners().len(),
            rig.neutral().vertex_count(),
        ),
    ];
    match sizes
        .into_iter()
        .find(|(_, found, expected)| found != expected)
    {
        Some((what, found, expected)) => Err(RigError::OtherMirror {
            what,
            found,
            expected,
        }),
        None => Ok(()),
    }
}

/// The image of `source` under the name of `target`, which stays as it was on vertices without a
/// partner.
fn image_over(target: &Target, source: &Target, mirror: &VertexMirror) -> Target {
    let unmatched = mirror.unmatched();
    source.map_shapes(target.name.clone(), |weight, vertices, deltas| {
        let mut image = mirror.mirror_deltas(vertices, deltas);
        image.extend(at_weight(
            target,
            weight,
            &unmatched,
            mirror.partners().len(),
        ));
        image
    })
}

/// How a target displaces some vertices at a weight.
fn at_weight(
    target: &Target,
    weight: f64,
    vertices: &[u32],
    vertex_count: usize,
) -> Vec<(u32, Vec3)> {
    if vertices.is_empty() {
        return Vec::new();
    }
    let mut moved = vec![DVec3::ZERO; vertex_count];
    target.add_to(weight, &mut moved);
    vertices
        .iter()
        .map(|&v| (v, moved[v as usize].as_vec3()))
        .collect()
}

/// One side of the plane.
struct Half<'a> {
    positions: &'a [DVec3],
    plane: MirrorPlane,
    in_front: bool,
}

impl Half<'_> {
    fn holds(&self, vertex: u32) -> bool {
        (self.plane.distance(self.positions[vertex as usize]) > 0.0) == self.in_front
    }

    /// How much more of this side than of the other a target moves.
    fn lean(&self, target: &Target) -> f64 {
        let signed = |(v, delta): (&u32, &Vec3)| {
            let motion = delta.as_dvec3().length_squared();
            if self.holds(*v) { motion } else { -motion }
        };
        target.vertices.iter().zip(&target.deltas).map(signed).sum()
    }

    /// The target as it is on this side, and its image on the other. What is in the middle loses
    /// what leads out of it.
    fn doubled(&self, target: &Target, mirror: &VertexMirror) -> Target {
        target.map_shapes(target.name.clone(), |_, vertices, deltas| {
            let part = |(&v, &delta): (&u32, &Vec3)| {
                let image = self.plane.mirror_vector(delta.as_dvec3()).as_vec3();
                match mirror.partners()[v as usize] {
                    None => vec![(v, delta)],
                    Some(partner) if partner == v => vec![(v, (delta + image) * 0.5)],
                    Some(partner) if self.holds(v) => vec![(v, delta), (partner, image)],
                    Some(_) => Vec::new(),
                }
            };
            vertices.iter().zip(deltas).flat_map(part).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::shapes::icosphere;

    use super::*;

    fn names(names: &[&str]) -> Vec<Option<usize>> {
        SliderPairs::by_name(names).partners().to_vec()
    }

    /// A ball with a slider of each side that are images of each other, and one of both.
    fn ball() -> (Rig, VertexMirror) {
        let mesh = icosphere(3);
        let mirror = VertexMirror::by_position(&mesh, MirrorPlane::across(0, 0.0));
        let cheek = mesh
            .positions()
            .iter()
            .map(|p| DVec3::new(0.3, p.y * p.z, 0.1).as_vec3() * (p.x as f32).max(0.0).powi(2));
        let left = Target::from_dense("cheek_L", cheek);
        let right = mirror.mirror_target(&left);
        let open = mesh
            .positions()
            .iter()
            .map(|p| DVec3::new(p.x, -1.0, p.z).as_vec3() * (-p.y as f32).max(0.0));
        let open = Target::from_dense("open", open);
        (Rig::new(mesh, vec![left, right, open]).unwrap(), mirror)
    }

    #[test]
    fn partners_by_name_swap_sides_and_keep_what_has_none() {
        assert_eq!(
            names(&["jawOpen", "smile_L", "smile_R", "jawLeft", "jawRight"]),
            [Some(0), Some(2), Some(1), Some(4), Some(3)]
        );
        assert_eq!(names(&["blinkLeft", "squint_R"]), [None, None]);
        assert_eq!(names(&["smile_L", "SmileRight"]), [Some(1), Some(0)]);
        assert_eq!(
            names(&["AU51", "AU52", "AU53"]),
            [Some(1), Some(0), Some(2)]
        );
        // Two that would have one partner: the one that is spelled like it has it.
        assert_eq!(
            names(&["smileLeft", "smile_L", "smile_R"]),
            [None, Some(2), Some(1)]
        );
    }

    #[test]
    fn mirrored_twice_weights_and_targets_are_what_they_were() {
        let (rig, mirror) = ball();
        let pairs = SliderPairs::by_name(&["cheek_L", "cheek_R", "open"]);
        assert_eq!(pairs.mirror_weights(&[0.25, 0.5, 1.0]), [0.5, 0.25, 1.0]);
        for target in rig.targets() {
            assert_eq!(mirror.mirror_target(&mirror.mirror_target(target)), *target);
        }
        let once = mirror_rig(&rig, &mirror, &pairs).unwrap();
        assert_eq!(
            mirror_rig(&once, &mirror, &pairs).unwrap().targets(),
            rig.targets()
        );
    }

    #[test]
    fn without_sides_in_names_the_side_is_where_a_target_moves_more() {
        let (rig, mirror) = ball();
        let renamed = |k: usize, name: &str, scale: f32| {
            let target = &rig.targets()[k];
            Target {
                name: name.into(),
                deltas: target.deltas.iter().map(|d| *d * scale).collect(),
                ..target.clone()
            }
        };
        let uneven = Rig::new(
            rig.neutral().clone(),
            vec![renamed(0, "shape0", 1.0), renamed(1, "shape1", 0.5)],
        )
        .unwrap();
        let pairs = SliderPairs::by_shape(&uneven, &mirror);
        assert_eq!(pairs.partners(), [Some(1), Some(0)]);
        // Left is where x is positive, and shape0 lives there.
        for (from, scale) in [(Side::Left, 1.0), (Side::Right, 0.5)] {
            let even = symmetric_rig(&uneven, &mirror, &pairs, from).unwrap();
            assert_eq!(
                even.targets()[0].deltas,
                renamed(0, "", scale).deltas,
                "{from:?}"
            );
            assert_eq!(
                even.targets()[1].deltas,
                mirror.mirror_target(&even.targets()[0]).deltas
            );
        }
    }

    #[test]
    fn combinations_are_mirrored_with_their_drivers() {
        let (rig, mirror) = ball();
        let shape = &rig.targets()[0];
        let both = Combination {
            name: "cheek_open_L".into(),
            drivers: vec![Driver::Slider(0), Driver::Slider(2)],
            rule: crate::Rule::Product,
            vertices: shape.vertices.clone(),
            deltas: shape.deltas.clone(),
        };
        let rig = rig.with_combinations(vec![both]).unwrap();
        let pairs = SliderPairs::by_name(&["cheek_L", "cheek_R", "open"]);
        let mirrored = mirror_rig(&rig, &mirror, &pairs).unwrap();
        let weights = [0.9, 0.2, 0.5];
        let of_rig = mirrored.evaluate(&pairs.mirror_weights(&weights));
        let of_pose = mirror.mirror_pose(rig.neutral().positions(), &rig.evaluate(&weights));
        assert!(
            of_rig
                .iter()
                .zip(&of_pose)
                .all(|(a, b)| a.distance(*b) < 1e-6)
        );
        let other = SliderPairs::by_name(&["cheek_L"]);
        assert!(matches!(
            mirror_rig(&rig, &mirror, &other),
            Err(RigError::OtherMirror {
                found: 1,
                expected: 3,
                ..
            })
        ));
    }

    #[test]
    fn mirrored_weights_are_the_mirrored_pose_of_a_symmetric_rig() {
        let (rig, mirror) = ball();
        let pairs = SliderPairs::by_name(&["cheek_L", "cheek_R", "open"]);
        let weights = [0.9, 0.2, 0.5];
        let of_weights = rig.evaluate(&pairs.mirror_weights(&weights));
        let of_pose = mirror.mirror_pose(rig.neutral().positions(), &rig.evaluate(&weights));
        let worst = of_weights
            .iter()
            .zip(&of_pose)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        assert!(worst < 1e-7, "{worst}: to the rounding of the targets");
        assert!(
            of_pose
                .iter()
                .zip(rig.evaluate(&weights))
                .any(|(a, b)| a.distance(b) > 0.05)
        );
    }

    #[test]
    fn shapes_find_their_partners_whatever_their_names() {
        let (rig, mirror) = ball();
        let renamed: Vec<Target> = rig
            .targets()
            .iter()
            .enumerate()
            .map(|(k, t)| Target {
                name: format!("shape{k}"),
                ..t.clone()
            })
            .collect();
        let rig = rig.with_targets(renamed).unwrap();
        assert_eq!(
            SliderPairs::by_shape(&rig, &mirror).partners(),
            [Some(1), Some(0), Some(2)]
        );
        let lone = rig.with_targets(rig.targets()[..1].to_vec()).unwrap();
        assert_eq!(SliderPairs::by_shape(&lone, &mirror).unpaired(), [0]);
    }

    #[test]
    fn a_rig_made_from_one_side_is_symmetric_and_keeps_that_side() {
        let (rig, mirror) = ball();
        let mut targets = rig.targets().to_vec();
        targets[1] = Target::from_dense(
            "cheek_R",
            targets[1]
                .to_dense(rig.neutral().vertex_count())
                .iter()
                .map(|d| *d * 0.3),
        );
        targets[2]
            .deltas
            .iter_mut()
            .enumerate()
            .for_each(|(k, d)| d.z += (k as f32).sin());
        let uneven = rig.with_targets(targets).unwrap();
        let pairs = SliderPairs::by_name(&["cheek_L", "cheek_R", "open"]);
        let even = symmetric_rig(&uneven, &mirror, &pairs, Side::Left).unwrap();
        assert_eq!(even.targets()[0], uneven.targets()[0]);
        assert_eq!(
            even.targets()[1],
            rig.targets()[1],
            "made from the left again"
        );
        assert_eq!(
            mirror_rig(&even, &mirror, &pairs).unwrap().targets(),
            even.targets()
        );
        let n = rig.neutral().vertex_count();
        let (made, given) = (
            even.targets()[2].to_dense(n),
            uneven.targets()[2].to_dense(n),
        );
        let left = (0..n).filter(|&v| rig.neutral().positions()[v].x > 0.0);
        assert!(left.into_iter().all(|v| made[v] == given[v]));
    }

    #[test]
    fn what_has_no_partner_stays_as_it_was() {
        let ball = icosphere(1);
        let n = ball.vertex_count();
        // A pearl on one side only.
        let positions = [-3.0, 3.0, 9.0]
            .iter()
            .flat_map(|x| ball.positions().iter().map(move |p| *p + DVec3::X * *x))
            .collect();
        let triangles: Vec<[u32; 3]> = (0..3_u32)
            .flat_map(|k| {
                ball.triangles()
                    .iter()
                    .map(move |t| t.map(|v| v + k * n as u32))
            })
            .collect();
        let mesh = pliant_mesh::Mesh::from_triangles(positions, &triangles).unwrap();
        let mirror = VertexMirror::by_position(&mesh, MirrorPlane::across(0, 0.0));
        let push = |part: usize| {
            (0..3 * n).map(move |v| {
                if v / n == part || v / n == 2 {
                    Vec3::new(part as f32 + 1.0, 1.0, 0.0)
                } else {
                    Vec3::ZERO
                }
            })
        };
        let rig = Rig::new(
            mesh,
            vec![
                Target::from_dense("push_L", push(1)),
                Target::from_dense("push_R", push(0)),
            ],
        )
        .unwrap();
        let mirrored =
            mirror_rig(&rig, &mirror, &SliderPairs::by_name(&["push_L", "push_R"])).unwrap();
        let pearl = |rig: &Rig, k: usize| rig.targets()[k].to_dense(3 * n)[2 * n..].to_vec();
        assert_eq!(pearl(&mirrored, 0), pearl(&rig, 0));
        assert_eq!(
            mirrored.targets()[0].to_dense(3 * n)[n],
            Vec3::new(-1.0, 1.0, 0.0)
        );
    }
}
