use proptest::prelude::*;

use super::*;
use crate::blend::energy::SpringEnergy;
use crate::blend::energy::Springs;
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

fn measure() -> impl Strategy<Value = Measure> {
    prop_oneof![
        (-1.5..1.5_f64).prop_map(Measure::Angle),
        (0.1..1.0_f64).prop_map(Measure::Area),
        (0.05..0.4_f64).prop_map(Measure::Volume)
    ]
}

/// An element by itself.
fn alone(measure: Measure) -> SpringEnergy {
    let mut energy = SpringEnergy::new(POINTS, &[], &[]);
    energy.set_elements(ElementTerms::new(
        POINTS,
        vec![Element {
            corners: [0, 1, 2, 3],
            measure,
            weight: 0.7,
        }],
        Vec::new(),
    ));

    energy
}

/// Four triangles around the points as a closed surface that is to have another volume.
fn surface() -> SpringEnergy {
    let mut energy = SpringEnergy::new(POINTS, &[], &[]);
    let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    energy.set_elements(ElementTerms::new(
        POINTS,
        Vec::new(),
        vec![EnclosedVolume {
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
fn at_seam(measure: Measure, p: &[DVec3]) -> bool {
    matches!(measure, Measure::Angle(target) if angle([p[0], p[1], p[2], p[3]]).is_none_or(|(found, _)| wrapped(found - target).abs() > 3.0))
}

/// Whether the penalty is convex; the Hessian leaves out the rest.
fn is_convex(measure: Measure, p: &[DVec3]) -> bool {
    let places = [p[0], p[1], p[2], p[3]];
    match measure {
        Measure::Angle(_) => true,
        Measure::Area(target) => ratio_penalty(area(places).0 / target)[2] > 0.0,
        Measure::Volume(target) => ratio_penalty(volume(places).0 / target)[2] > 0.0,
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
    fn forces_are_minus_the_gradient_of_the_energy(points in points(), measure in measure()) {
        prop_assume!(!at_seam(measure, &points));
        prop_assert!(slope_error(&alone(measure), &points) < 1e-5);
        prop_assert!(slope_error(&surface(), &points) < 1e-7);
    }

    #[test]
    fn the_hessian_is_minus_the_derivative_of_the_forces(points in points(), measure in measure()) {
        prop_assume!(!at_seam(measure, &points) && is_convex(measure, &points));
        let energy = alone(measure);
        let hessian = energy.hessian(&points, &Support::free(POINTS), Transverse::Exact, 0.0);
        let size = hessian.values().iter().fold(1.0, |m: f64, v| m.max(v.abs()));
        for unknown in 0..3 * POINTS {
            let above = forces(&energy, &moved(&points, unknown, STEP));
            let below = forces(&energy, &moved(&points, unknown, -STEP));
            for row in 0..3 * POINTS {
                let slope = (above[row / 3] - below[row / 3])[row % 3] / (2.0 * STEP);
                prop_assert!((hessian.get(row, unknown) + slope).abs() < 1e-4 * size, "{row} {unknown}");
            }
        }
    }

    #[test]
    fn the_projected_hessian_is_positive_semidefinite(points in points(), measure in measure(), step in prop::collection::vec(-1.0..1.0_f64, 3 * POINTS)) {
        let hessian = alone(measure).hessian(&points, &Support::free(POINTS), Transverse::Projected, 0.0);
        let curve: f64 = hessian.multiply(&step).iter().zip(&step).map(|(a, b)| a * b).sum();
        prop_assert!(curve > -1e-9 * hessian.values().iter().fold(1.0, |m: f64, v| m.max(v.abs())));
    }

    #[test]
    fn terms_exert_no_net_force_and_no_torque_and_rotate_with_the_shape(points in points(), measure in measure(), turn in prop::array::uniform3(-1.0..1.0_f64)) {
        prop_assume!(!at_seam(measure, &points));
        let rotation = DQuat::from_scaled_axis(DVec3::from_array(turn));
        let elsewhere: Vec<DVec3> = points.iter().map(|p| rotation * *p + DVec3::new(0.5, -0.2, 0.8)).collect();
        for energy in [alone(measure), surface()] {
            let here = forces(&energy, &points);
            let there = forces(&energy, &elsewhere);
            let size = here.iter().map(|f| f.length()).fold(1.0, f64::max);
            let torque: DVec3 = here.iter().zip(&points).map(|(f, p)| p.cross(*f)).sum();
            prop_assert!(here.iter().copied().sum::<DVec3>().length() < 1e-11 * size && torque.length() < 1e-11 * size);
            prop_assert!(here.iter().zip(&there).all(|(a, b)| (rotation * *a).distance(*b) < 1e-8 * size));
            prop_assert!((energy.at(&points) - energy.at(&elsewhere)).abs() < 1e-9 * (1.0 + energy.at(&points)));
        }
    }
}

#[test]
fn the_column_of_a_closed_surface_is_the_gradient_of_its_volume() {
    // The gradient of the volume is the area vector of the vertex.
    let ball = icosphere(1);
    let points = ball.positions();
    let surface = EnclosedVolume {
        triangles: ball.triangles().to_vec(),
        volume: 1.0,
        weight: 3.0,
    };

    let elements = ElementTerms::new(points.len(), Vec::new(), vec![surface]);
    let columns = elements.columns(points, &Support::free(points.len()));
    let [(weight, column)] = columns.as_slice() else {
        panic!("one surface, one column")
    };

    assert_eq!(*weight, 3.0);

    // Of a ball, the gradient looks outward and its flux is three times the volume.
    let flux: f64 = column.iter().zip(points).map(|(g, p)| g.dot(*p)).sum();

    assert!((flux - 3.0 * ball.signed_volume()).abs() < 1e-12);
}

#[test]
fn degenerate_elements_exert_no_force() {
    for measure in [
        Measure::Angle(0.3),
        Measure::Area(0.0),
        Measure::Volume(0.0),
    ] {
        let energy = alone(measure);
        let flat = vec![DVec3::ONE; POINTS];
        assert_eq!(energy.at(&flat), 0.0);
        assert!(forces(&energy, &flat).iter().all(|f| *f == DVec3::ZERO));
    }
    for measure in [Measure::Area(0.1), Measure::Volume(0.1)] {
        let value = alone(measure).at(&[DVec3::ONE; POINTS]);
        assert!(
            value > 1.0 && value.is_finite(),
            "a collapsed element has a penalty: {measure:?} {value}"
        );
    }
}

#[test]
fn a_subsystem_has_the_forces_of_the_whole() {
    let bar = bar(4, 2);
    let elements: Vec<Element> = bar
        .tetrahedra
        .iter()
        .map(|&corners| Element {
            corners,
            measure: Measure::Volume(0.01),
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
    energy.set_elements(ElementTerms::new(bar.points.len(), elements, Vec::new()));
    let bent: Vec<DVec3> = bar
        .points
        .iter()
        .map(|p| *p + DVec3::new(0.1 * p.z * p.z, 0.05 * p.x * p.x, 0.0))
        .collect();

    let vertices = [0, 3, 7, 8];
    let (patch, around) = energy.subsystem(&vertices);
    let places: Vec<DVec3> = around.iter().map(|&v| bent[v as usize]).collect();
    let whole = forces(&energy, &bent);
    let part = forces(&patch, &places);

    assert!(vertices.iter().zip(&part).all(
        |(&v, f)| whole[v as usize].distance(*f) < 1e-12 * whole[v as usize].length().max(1.0)
    ));
}
