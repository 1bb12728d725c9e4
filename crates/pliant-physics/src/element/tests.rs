use proptest::prelude::*;

use super::*;
use crate::energy::SpringEnergy;
use crate::springs::Springs;
use crate::test_shapes::bar;
use pliant_mesh::glam::DQuat;
use pliant_mesh::shapes::icosphere;

const POINTS: usize = 4;

fn points() -> impl Strategy<Value = Vec<DVec3>> {
    let thick = |p: &Vec<DVec3>| {
        let (volume, gradients) = volume([p[0], p[1], p[2], p[3]]);
        volume.abs() > 0.02 && gradients.iter().all(|g| g.length() > 0.05)
    };
    prop::collection::vec(
        prop::array::uniform3(-1.0..1.0_f64).prop_map(DVec3::from_array),
        POINTS,
    )
    .prop_filter("thick", thick)
}

fn law() -> impl Strategy<Value = Law> {
    prop_oneof![
        (-1.5..1.5_f64).prop_map(Law::Angle),
        (0.1..1.0_f64).prop_map(Law::Area),
        (0.05..0.4_f64).prop_map(Law::Volume)
    ]
}

/// An element by itself.
fn alone(law: Law) -> SpringEnergy {
    let mut energy = SpringEnergy::new(POINTS, &[], &[]);
    energy.set_further(Further::new(
        POINTS,
        vec![Element {
            corners: [0, 1, 2, 3],
            law,
            weight: 0.7,
        }],
        Vec::new(),
    ));
    energy
}

/// Four triangles around the points as a closed surface that is to have another volume.
fn shell() -> SpringEnergy {
    let mut energy = SpringEnergy::new(POINTS, &[], &[]);
    let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    energy.set_further(Further::new(
        POINTS,
        Vec::new(),
        vec![Shell {
            triangles,
            volume: 0.3,
            weight: 2.0,
        }],
    ));
    energy
}

fn forces(energy: &SpringEnergy, points: &[DVec3]) -> Vec<DVec3> {
    let mut nodes = vec![Node::default(); points.len()];
    energy.evaluate(points, &mut nodes);
    nodes.iter().map(|node| node.force).collect()
}

fn moved(points: &[DVec3], unknown: usize, step: f64) -> Vec<DVec3> {
    let mut points = points.to_vec();
    points[unknown / 3][unknown % 3] += step;
    points
}

/// Whether the angle is so near to the other side that a small step may wrap it.
fn at_seam(law: Law, p: &[DVec3]) -> bool {
    matches!(law, Law::Angle(target) if angle([p[0], p[1], p[2], p[3]]).is_none_or(|(found, _)| wrapped(found - target).abs() > 3.0))
}

/// Whether the price curves up; the Hessian leaves out where it does not.
fn is_convex(law: Law, p: &[DVec3]) -> bool {
    let places = [p[0], p[1], p[2], p[3]];
    match law {
        Law::Angle(_) => true,
        Law::Area(target) => price(area(places).0 / target)[2] > 0.0,
        Law::Volume(target) => price(volume(places).0 / target)[2] > 0.0,
    }
}

const STEP: f64 = 1e-5;

/// The largest difference between forces and minus the slope of the energy, beside the largest
/// force.
fn slope_error(energy: &SpringEnergy, points: &[DVec3]) -> f64 {
    let forces = forces(energy, points);
    let error = |unknown: usize| {
        let slope = (energy.at(&moved(points, unknown, STEP))
            - energy.at(&moved(points, unknown, -STEP)))
            / (2.0 * STEP);
        (forces[unknown / 3][unknown % 3] + slope).abs()
    };
    (0..3 * POINTS).map(error).fold(0.0, f64::max)
        / forces.iter().map(|f| f.length()).fold(1.0, f64::max)
}

proptest! {
    #[test]
    fn forces_are_minus_the_gradient_of_the_energy(points in points(), law in law()) {
        prop_assume!(!at_seam(law, &points));
        prop_assert!(slope_error(&alone(law), &points) < 1e-5);
        prop_assert!(slope_error(&shell(), &points) < 1e-7);
    }

    #[test]
    fn the_hessian_is_minus_the_derivative_of_the_forces(points in points(), law in law()) {
        prop_assume!(!at_seam(law, &points) && is_convex(law, &points));
        let energy = alone(law);
        let hessian = energy.hessian(&points, &Support::free(POINTS), Transverse::Exact, 0.0);
        let size = hessian.values().iter().fold(1.0, |m: f64, v| m.max(v.abs()));
        for unknown in 0..3 * POINTS {
            let (above, below) = (forces(&energy, &moved(&points, unknown, STEP)), forces(&energy, &moved(&points, unknown, -STEP)));
            for row in 0..3 * POINTS {
                let slope = (above[row / 3] - below[row / 3])[row % 3] / (2.0 * STEP);
                prop_assert!((hessian.get(row, unknown) + slope).abs() < 1e-4 * size, "{row} {unknown}");
            }
        }
    }

    #[test]
    fn the_projected_hessian_never_curves_down(points in points(), law in law(), way in prop::collection::vec(-1.0..1.0_f64, 3 * POINTS)) {
        let hessian = alone(law).hessian(&points, &Support::free(POINTS), Transverse::Projected, 0.0);
        let curve: f64 = hessian.multiply(&way).iter().zip(&way).map(|(a, b)| a * b).sum();
        prop_assert!(curve > -1e-9 * hessian.values().iter().fold(1.0, |m: f64, v| m.max(v.abs())));
    }

    #[test]
    fn terms_exert_no_net_force_and_no_torque_and_turn_with_the_shape(points in points(), law in law(), turn in prop::array::uniform3(-1.0..1.0_f64)) {
        prop_assume!(!at_seam(law, &points));
        let rotation = DQuat::from_scaled_axis(DVec3::from_array(turn));
        let elsewhere: Vec<DVec3> = points.iter().map(|p| rotation * *p + DVec3::new(0.5, -0.2, 0.8)).collect();
        for energy in [alone(law), shell()] {
            let (here, there) = (forces(&energy, &points), forces(&energy, &elsewhere));
            let size = here.iter().map(|f| f.length()).fold(1.0, f64::max);
            let torque: DVec3 = here.iter().zip(&points).map(|(f, p)| p.cross(*f)).sum();
            prop_assert!(here.iter().copied().sum::<DVec3>().length() < 1e-11 * size && torque.length() < 1e-11 * size);
            prop_assert!(here.iter().zip(&there).all(|(a, b)| (rotation * *a).distance(*b) < 1e-8 * size));
            prop_assert!((energy.at(&points) - energy.at(&elsewhere)).abs() < 1e-9 * (1.0 + energy.at(&points)));
        }
    }
}

#[test]
fn the_column_of_a_closed_surface_is_the_slope_of_its_volume() {
    let ball = icosphere(1);
    let points = ball.positions();
    let shell = Shell {
        triangles: ball.triangles().to_vec(),
        volume: 1.0,
        weight: 3.0,
    };
    let further = Further::new(points.len(), Vec::new(), vec![shell]);
    let columns = further.columns(points, &Support::free(points.len()));
    let [(weight, column)] = columns.as_slice() else {
        panic!("one surface, one column")
    };
    assert_eq!(*weight, 3.0);
    // Of a ball, the gradient looks outward and its flux is three times the volume.
    let flux: f64 = column.iter().zip(points).map(|(g, p)| g.dot(*p)).sum();
    assert!((flux - 3.0 * ball.signed_volume()).abs() < 1e-12);
}

#[test]
fn elements_without_extent_rest() {
    for law in [Law::Angle(0.3), Law::Area(0.0), Law::Volume(0.0)] {
        let energy = alone(law);
        let flat = vec![DVec3::ONE; POINTS];
        assert_eq!(energy.at(&flat), 0.0);
        assert!(forces(&energy, &flat).iter().all(|f| *f == DVec3::ZERO));
    }
    for law in [Law::Area(0.1), Law::Volume(0.1)] {
        let value = alone(law).at(&[DVec3::ONE; POINTS]);
        assert!(
            value > 1.0 && value.is_finite(),
            "what has collapsed has a price: {law:?} {value}"
        );
    }
}

#[test]
fn a_patch_has_the_forces_of_the_whole() {
    let bar = bar(4, 2);
    let elements: Vec<Element> = bar
        .tetrahedra
        .iter()
        .map(|&corners| Element {
            corners,
            law: Law::Volume(0.01),
            weight: 1.0,
        })
        .collect();
    let springs = Springs::new(
        &bar.mesh,
        &bar.tetrahedra,
        &[],
        std::slice::from_ref(&bar.points),
    );
    let mut energy = SpringEnergy::new(springs.points(), springs.ends(), &springs.blended(&[1.0]));
    energy.set_further(Further::new(bar.points.len(), elements, Vec::new()));
    let bent: Vec<DVec3> = bar
        .points
        .iter()
        .map(|p| *p + DVec3::new(0.1 * p.z * p.z, 0.05 * p.x * p.x, 0.0))
        .collect();
    let vertices = [0, 3, 7, 8];
    let (patch, around) = energy.patch(&vertices);
    let places: Vec<DVec3> = around.iter().map(|&v| bent[v as usize]).collect();
    let (whole, part) = (forces(&energy, &bent), forces(&patch, &places));
    assert!(vertices.iter().zip(&part).all(
        |(&v, f)| whole[v as usize].distance(*f) < 1e-12 * whole[v as usize].length().max(1.0)
    ));
}
