//! Mirrored and symmetric rigs.
//!
//! **Problem.** A sculptor has finished one half of a rig and wants both, or wants the rig
//! mirrored.
//!
//! **Equation.** With the partner `π(k)` of slider `k` and the mirror `M` of the vertices, the
//! mirror image of a rig has the targets `d′(π(k)) = M d(k)`. A rig is symmetric if `d′ = d`.

use pliant_mesh::glam::{DVec3, Vec3};

use super::{MirrorPlane, SliderPairs, VertexMirror, front_side};
use crate::{Combination, Driver, Rig, RigError, Side, SliderName, Target, mirrored_name};

/// The mirrored rig: each target becomes the mirror image of its partner, and each combination that
/// of itself, driven by the partners of its drivers.
///
/// A target without a partner is kept, and so are the displacements of vertices without one.
pub fn mirror_rig(rig: &Rig, mirror: &VertexMirror, pairs: &SliderPairs) -> Result<Rig, RigError> {
    check(rig, mirror, pairs)?;
    let targets = rig.targets();
    let mut mirrored = Vec::with_capacity(targets.len());
    for (target, partner) in targets.iter().zip(pairs.partners()) {
        mirrored.push(match partner {
            Some(partner) => image_over(target, &targets[*partner], mirror),
            None => target.clone(),
        });
    }

    let mut combinations = Vec::with_capacity(rig.combinations().len());
    for combination in rig.combinations() {
        combinations.push(mirror_combination(combination, mirror, pairs));
    }

    rig.with_targets(mirrored)?.with_combinations(combinations)
}

fn mirror_combination(
    combination: &Combination,
    mirror: &VertexMirror,
    pairs: &SliderPairs,
) -> Combination {
    let mut drivers = combination.drivers.clone();
    for driver in &mut drivers {
        if let Driver::Slider(slider) = driver
            && let Some(partner) = pairs.partners()[slider.index()]
        {
            *slider = partner.into();
        }
    }

    // The shape is mirrored, and so is its name.
    let deltas = mirror.mirror_deltas(&combination.vertices, &combination.deltas);
    let (vertices, deltas) = deltas.into_iter().unzip();
    Combination {
        name: mirrored_name(&combination.name).unwrap_or_else(|| combination.name.clone()),
        drivers,
        vertices,
        deltas,
        ..combination.clone()
    }
}

/// A symmetric rig from the targets of one side: sliders of the other side become the images of
/// their partners, and sliders of both sides become symmetric with the motion of this side.
/// Combinations stay as they are.
///
/// Of two partners, the one with this side in its name belongs to this side, or else the one that
/// moves more of it.
pub fn symmetric_rig(
    rig: &Rig,
    mirror: &VertexMirror,
    pairs: &SliderPairs,
    from: Side,
) -> Result<Rig, RigError> {
    check(rig, mirror, pairs)?;
    let targets = rig.targets();

    // The half of the mesh whose motion is kept.
    let kept = Half {
        positions: rig.neutral().positions(),
        plane: mirror.plane(),
        in_front: front_side(rig, mirror.plane()) == from,
    };

    // Of two partners, one is kept and the other becomes its image.
    let is_kept =
        |target: &Target, partner: &Target| match SliderName::parse(&target.name).sides.last() {
            Some(side) => *side == from,
            None => kept.balance(target) > kept.balance(partner),
        };

    let mut symmetric = Vec::with_capacity(targets.len());
    for (k, target) in targets.iter().enumerate() {
        symmetric.push(match pairs.partners()[k] {
            None => target.clone(),
            Some(partner) if partner == k => kept.symmetrised(target, mirror),
            Some(partner) if is_kept(target, &targets[partner]) => target.clone(),
            Some(partner) => image_over(target, &targets[partner], mirror),
        });
    }

    rig.with_targets(symmetric)
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
    for (what, found, expected) in sizes {
        if found != expected {
            return Err(RigError::OtherMirror {
                what,
                found,
                expected,
            });
        }
    }
    Ok(())
}

/// The image of `source` with the name of `target`; vertices without a partner keep the
/// displacements of `target`.
fn image_over(target: &Target, source: &Target, mirror: &VertexMirror) -> Target {
    let unmatched = mirror.unmatched();
    source.map_shapes(target.name.clone(), |weight, vertices, deltas| {
        let mut image = mirror.mirror_deltas(vertices, deltas);
        let vertex_count = mirror.partners().len();
        image.extend(deltas_at(target, weight, &unmatched, vertex_count));
        image
    })
}

/// The displacements of some vertices by a target at a weight.
fn deltas_at(
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
    fn contains(&self, vertex: u32) -> bool {
        (self.plane.distance(self.positions[vertex as usize]) > 0.0) == self.in_front
    }

    /// The squared motion of this side by a target, minus that of the other side.
    fn balance(&self, target: &Target) -> f64 {
        let mut balance = 0.0;
        for (&v, delta) in target.vertices.iter().zip(&target.deltas) {
            let motion = delta.as_dvec3().length_squared();
            balance += if self.contains(v) { motion } else { -motion };
        }

        balance
    }

    /// The target as it is on this side, and its image on the other; vertices in the middle keep
    /// the symmetric part of their displacements.
    fn symmetrised(&self, target: &Target, mirror: &VertexMirror) -> Target {
        target.map_shapes(target.name.clone(), |_, vertices, deltas| {
            let mut symmetric = Vec::with_capacity(vertices.len());
            for (&v, &delta) in vertices.iter().zip(deltas) {
                let image = self.plane.mirror_vector(delta.as_dvec3()).as_vec3();
                match mirror.partners()[v as usize] {
                    None => symmetric.push((v, delta)),
                    Some(partner) if partner == v => symmetric.push((v, (delta + image) * 0.5)),
                    Some(partner) if self.contains(v) => {
                        symmetric.extend([(v, delta), (partner, image)]);
                    }
                    Some(_) => {} // The image of the other side replaces it.
                }
            }
            symmetric
        })
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::shapes::icosphere;

    use super::*;

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
    fn mirroring_weights_and_targets_twice_returns_them() {
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
    fn without_sides_in_names_the_side_is_where_a_target_moves_more_surface() {
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
            drivers: vec![Driver::Slider(0.into()), Driver::Slider(2.into())],
            rule: crate::Rule::Product,
            vertices: shape.vertices.clone(),
            deltas: shape.deltas.clone(),
        };

        let rig = rig.with_combinations(vec![both]).unwrap();
        let pairs = SliderPairs::by_name(&["cheek_L", "cheek_R", "open"]);
        let mirrored = mirror_rig(&rig, &mirror, &pairs).unwrap();
        let weights = [0.9, 0.2, 0.5];

        // The mirrored rig at mirrored weights gives the mirrored pose.
        let of_rig = mirrored.evaluate(&pairs.mirror_weights(&weights));
        let of_pose = mirror.mirror_pose(rig.neutral().positions(), &rig.evaluate(&weights));

        assert!(
            of_rig
                .iter()
                .zip(&of_pose)
                .all(|(a, b)| a.distance(*b) < 1e-6)
        );

        // Pairs of another rig are an error.
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
    fn mirrored_weights_give_the_mirrored_pose_of_a_symmetric_rig() {
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
    fn partners_by_shape_do_not_depend_on_names() {
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

        let single = rig.with_targets(rig.targets()[..1].to_vec()).unwrap();
        assert_eq!(SliderPairs::by_shape(&single, &mirror).unpaired(), [0]);
    }

    #[test]
    fn a_symmetric_rig_keeps_the_given_side() {
        let (rig, mirror) = ball();
        let mut targets = rig.targets().to_vec();
        targets[1] = Target::from_dense(
            "cheek_R",
            targets[1]
                .to_dense(rig.neutral().vertex_count())
                .iter()
                .map(|d| *d * 0.3),
        );

        for (k, d) in targets[2].deltas.iter_mut().enumerate() {
            d.z += (k as f32).sin();
        }

        // The right cheek is too weak, and the open mouth is asymmetric.
        let uneven = rig.with_targets(targets).unwrap();
        let pairs = SliderPairs::by_name(&["cheek_L", "cheek_R", "open"]);
        let even = symmetric_rig(&uneven, &mirror, &pairs, Side::Left).unwrap();

        assert_eq!(even.targets()[0], uneven.targets()[0]);
        assert_eq!(even.targets()[1], rig.targets()[1], "the image of the left");
        assert_eq!(
            mirror_rig(&even, &mirror, &pairs).unwrap().targets(),
            even.targets()
        );

        let n = rig.neutral().vertex_count();
        let result = even.targets()[2].to_dense(n);
        let given = uneven.targets()[2].to_dense(n);

        // A slider of both sides keeps its motion on the left.
        let left = (0..n).filter(|&v| rig.neutral().positions()[v].x > 0.0);

        assert!(left.into_iter().all(|v| result[v] == given[v]));
    }

    #[test]
    fn vertices_without_partner_keep_their_displacements() {
        let ball = icosphere(1);
        let n = ball.vertex_count();

        // The third ball has no partner.
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
        let third = |rig: &Rig, k: usize| rig.targets()[k].to_dense(3 * n)[2 * n..].to_vec();

        assert_eq!(third(&mirrored, 0), third(&rig, 0));
        assert_eq!(
            mirrored.targets()[0].to_dense(3 * n)[n],
            Vec3::new(-1.0, 1.0, 0.0)
        );
    }
}
