//! Tests of the detail layer.

use pliant_linalg::{Kernel, KernelCca, KernelRidge, median_distance};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{LoopSubdivision, Mesh, shapes, vertex_normals};
use pliant_rig::Clip;

use super::blend::blend_of;
use super::regression::{DetailRegression, HeightGrams};
use super::surface::DetailSurface;
use crate::test_bar::{POSES, bar, bar_control, bar_examples, bent};
use crate::training::TrainingData;
use crate::{
    DetailLeaveOneOut, DetailMode, DetailOptions, DetailSettings, DetailedExamples, Examples,
    LearnError, LearnOptions, Method, Model,
};

/// A crease at the middle of the bar that deepens as it bends and ripples as it twists.
fn crease(rest: DVec3, bend: f64, twist: f64) -> f64 {
    let bell = (-(rest.x * rest.x) / 0.1).exp();
    0.02 * (rest.x * 9.0).sin() + bell * (0.15 * bend.abs() + 0.05 * bend * bend - 0.08 * twist)
}

/// The subdivided bar with its crease, in each pose.
fn detailed_poses(levels: usize) -> Vec<Vec<DVec3>> {
    let subdivision = LoopSubdivision::levels(&bar(), levels).unwrap();
    let rest = subdivision.mesh().positions();
    let pose = |(bend, twist): (f64, f64)| {
        let smooth = subdivision.apply(&bent(bend, twist));
        let normals = vertex_normals(&subdivision.mesh().posed(smooth.clone()).unwrap());
        (0..rest.len())
            .map(|v| smooth[v] + normals[v] * crease(rest[v], bend, twist))
            .collect()
    };

    std::iter::once((0.0, 0.0)).chain(POSES).map(pose).collect()
}

fn creased(levels: usize) -> DetailedExamples {
    DetailedExamples::from_poses(
        bar_examples(),
        levels,
        detailed_poses(levels).iter().map(Vec::as_slice),
    )
    .unwrap()
}

fn options() -> LearnOptions {
    LearnOptions::default()
        .with_method(Method::Sorkine2007)
        .with_bones(30)
}

fn trained(detail: &DetailOptions) -> Model {
    Model::train_detailed(creased(1), bar_control(), &options(), detail, &()).unwrap()
}

/// Follows the examples to the letter.
fn exact(sharpness: Option<f64>) -> DetailOptions {
    DetailOptions::default().with_settings(DetailSettings {
        sharpness,
        width: 1.0,
        ridge: 1e-10,
    })
}

fn largest(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max)
}

fn data() -> TrainingData {
    TrainingData::new(bar_examples(), bar_control(), 30, &()).unwrap()
}

#[test]
fn a_known_crease_is_measured_as_heights() {
    let detailed = creased(1);
    for (i, (bend, twist)) in std::iter::once((0.0, 0.0)).chain(POSES).enumerate() {
        let known: Vec<f32> = detailed
            .mesh()
            .positions()
            .iter()
            .map(|p| crease(*p, bend, twist) as f32)
            .collect();
        assert!(largest(&known, detailed.heights(i)) < 1e-6);
    }

    assert!(detailed.report().beside_edges < 1e-6);
}

#[test]
fn a_scan_of_the_crease_gives_nearly_the_heights_of_its_vertices() {
    let subdivision = LoopSubdivision::levels(&bar(), 2).unwrap();
    let scans = detailed_poses(2)
        .into_iter()
        .map(|pose| Ok::<_, LearnError>(subdivision.mesh().posed(pose).unwrap()));
    let scanned = DetailedExamples::from_surfaces(bar_examples(), 2, 3.0, scans).unwrap();
    let known = creased(2);

    let rms = |i: usize| {
        let squares = scanned
            .heights(i)
            .iter()
            .zip(known.heights(i))
            .map(|(a, b)| f64::from(a - b).powi(2));
        (squares.sum::<f64>() / known.heights(i).len() as f64).sqrt()
    };

    assert!(
        (0..7).all(|i| rms(i) < 0.01),
        "{:?}",
        (0..7).map(rms).collect::<Vec<_>>()
    );

    assert!(
        scanned
            .report()
            .missed
            .iter()
            .all(|&missed| missed < known.mesh().vertex_count() / 50)
    );
}

#[test]
fn a_clip_is_read_by_vertices_if_its_faces_match_and_by_rays_otherwise() {
    let poses = detailed_poses(1);
    let finer = LoopSubdivision::levels(&bar(), 1).unwrap();
    let turned: Vec<[u32; 3]> = finer
        .mesh()
        .triangles()
        .iter()
        .rev()
        .map(|[a, b, c]| [*b, *c, *a])
        .collect();

    let clip = |triangles: &[[u32; 3]], poses: &[Vec<DVec3>]| {
        Clip::new(
            "detail",
            Mesh::from_triangles(poses[0].clone(), triangles).unwrap(),
            poses[1..].to_vec(),
        )
        .unwrap()
    };

    let by_vertices =
        DetailedExamples::from_clip(bar_examples(), 1, 2.0, &clip(&turned, &poses)).unwrap();
    assert!(
        by_vertices.report().missed.is_empty()
            && (0..7).all(|i| by_vertices.heights(i) == creased(1).heights(i))
    );

    let finest = LoopSubdivision::levels(&bar(), 2).unwrap();
    let by_rays = DetailedExamples::from_clip(
        bar_examples(),
        1,
        2.0,
        &clip(finest.mesh().triangles(), &detailed_poses(2)),
    )
    .unwrap();

    assert_eq!(by_rays.report().missed.len(), 7);
    for (levels, mesh) in [(0, &bar()), (1, finer.mesh()), (2, finest.mesh())] {
        assert_eq!(
            DetailedExamples::levels_for(&bar(), mesh.vertex_count()),
            levels
        );
    }
}

#[test]
fn the_control_points_of_an_example_reproduce_its_detail() {
    for sharpness in [None, Some(5.0)] {
        let model = trained(&exact(sharpness));
        for i in 0..model.examples().count() {
            let goals = model.control().at(model.examples().pose(i));
            let heights = model.driver().heights(&goals).unwrap();
            assert!(
                largest(&heights, &model.detail().unwrap().example_heights(i)) < 1e-4,
                "{sharpness:?}, example {i}"
            );
        }
    }
}

#[test]
fn a_rigid_motion_keeps_the_heights_and_moves_the_surface() {
    let rotation = DMat3::from_axis_angle(DVec3::new(1.0, -2.0, 0.5).normalize(), 2.3);
    let shift = DVec3::new(4.0, -2.0, 7.0);
    let goals = bar_control().at(&bent(0.4, 0.4));
    let moved: Vec<DVec3> = goals.iter().map(|p| rotation * *p + shift).collect();

    for mode in DetailMode::ALL {
        let model = trained(&DetailOptions::default().with_mode(mode));
        let driver = model.driver();
        assert!(
            largest(
                &driver.heights(&goals).unwrap(),
                &driver.heights(&moved).unwrap()
            ) < 1e-5,
            "{}",
            mode.name()
        );

        let expected = driver.detailed_pose(&goals).unwrap();
        let found = driver.detailed_pose(&moved).unwrap();
        assert!(
            expected
                .iter()
                .zip(&found)
                .all(|(a, b)| (rotation * *a + shift).distance(*b) < 1e-4),
            "{}",
            mode.name()
        );
    }
}

#[test]
fn static_detail_is_that_of_the_reference_in_every_pose() {
    let model = trained(&DetailOptions::default().with_mode(DetailMode::Static));
    let reference = model.detail().unwrap().example_heights(0);
    for (bend, twist) in [(0.0, 0.0), (0.7, -0.2), (-3.0, 9.0)] {
        assert_eq!(
            model
                .driver()
                .heights(&bar_control().at(&bent(bend, twist)))
                .unwrap(),
            reference
        );
    }
}

#[test]
fn predicted_heights_have_smaller_errors_than_static_ones_and_auto_the_smallest() {
    let truth: Vec<f32> = creased(1)
        .mesh()
        .positions()
        .iter()
        .map(|p| crease(*p, 0.75, 0.2) as f32)
        .collect();

    let rms = |mode: DetailMode| {
        let heights = trained(&DetailOptions::default().with_mode(mode))
            .driver()
            .heights(&bar_control().at(&bent(0.75, 0.2)))
            .unwrap();
        (heights
            .iter()
            .zip(&truth)
            .map(|(a, b)| f64::from(a - b).powi(2))
            .sum::<f64>()
            / truth.len() as f64)
            .sqrt()
    };

    let still = rms(DetailMode::Static);
    for mode in [DetailMode::Auto, DetailMode::Direct] {
        assert!(
            rms(mode) < 0.35 * still,
            "{}: {} against {still}",
            mode.name(),
            rms(mode)
        );
    }
}

#[test]
fn one_gram_for_all_vertices_is_kernel_cca_of_each() {
    let detailed = creased(1);
    let data = data();
    let all = |i: usize| -> Vec<f64> {
        let moved = data.points[i].iter().zip(&data.points[0]);
        moved
            .flat_map(|(now, rest)| (data.alignments[i].to_rest(*now) - *rest).to_array())
            .collect()
    };

    let features: Vec<Vec<f64>> = (0..7).map(all).collect();
    let kernel = Kernel::Gaussian {
        width: 2.0 * median_distance(&features),
    };
    let shares = KernelRidge::fit(features.clone(), kernel, 0.1)
        .unwrap()
        .shares(&features[2].iter().map(|x| x * 0.8).collect::<Vec<_>>());

    let query: Vec<f64> = features[2].iter().map(|x| x * 0.8).collect();
    for v in (0..detailed.mesh().vertex_count()).step_by(37) {
        let heights: Vec<Vec<f64>> = (0..7)
            .map(|i| vec![f64::from(detailed.heights(i)[v])])
            .collect();
        let one = KernelCca::fit(features.clone(), &heights, kernel, 0.1, 0.0)
            .unwrap()
            .predict(&query)[0];

        let shared: f64 = shares
            .iter()
            .zip(&heights)
            .map(|(share, height)| share * height[0])
            .sum();

        assert!(
            (one - shared).abs() < 1e-9,
            "vertex {v}: {one} against {shared}"
        );
    }
}

#[test]
fn selection_errors_are_those_of_new_fits() {
    let data = data();
    let detailed = creased(1);
    let settings = DetailSettings {
        sharpness: None,
        width: 2.0,
        ridge: 0.05,
    };

    let heights: Vec<Vec<f32>> = (0..7).map(|i| detailed.heights(i).to_vec()).collect();
    let grams = HeightGrams::of(&heights, None, 0);
    let all_examples: Vec<usize> = (0..7).collect();
    let features = DetailRegression::features(&data, None).remove(0);
    let kernel = Kernel::Gaussian {
        width: settings.width * median_distance(&features),
    };

    let whole = KernelRidge::fit(features.clone(), kernel, settings.ridge).unwrap();
    let closed = grams.left_out_squares(std::slice::from_ref(&whole), &all_examples);
    assert_eq!(closed[0], 0.0, "the reference is never left out");

    for i in 1..7 {
        let rest: Vec<usize> = (0..7).filter(|j| *j != i).collect();
        let fit = KernelRidge::fit(
            rest.iter().map(|&j| features[j].clone()).collect(),
            kernel,
            1.0,
        )
        .unwrap();

        let shares = fit.with_absolute_ridge(whole.ridge()).shares(&features[i]);
        let found = |v: usize| {
            rest.iter()
                .zip(&shares)
                .map(|(&j, share)| share * f64::from(heights[j][v]))
                .sum::<f64>()
        };

        let refitted: f64 = (0..heights[0].len())
            .map(|v| (found(v) - f64::from(heights[i][v])).powi(2))
            .sum();

        assert!(
            (closed[i] - refitted).abs() < 1e-9 * refitted,
            "{} against {refitted}",
            closed[i]
        );
    }
}

#[test]
fn examples_with_smoothed_bases_are_reproduced_with_their_detail() {
    let subdivision = LoopSubdivision::levels(&bar(), 1).unwrap();
    let poses = detailed_poses(1);
    let reference = subdivision.mesh().posed(poses[0].clone()).unwrap();
    let names = (0..6).map(|k| k.to_string()).collect();
    let examples = Examples::new(reference, poses[1..].to_vec(), names).unwrap();
    let detailed = DetailedExamples::by_smoothing(&examples, 40).unwrap();

    assert!(
        detailed.report().height_edges > 0.02
            && detailed.report().beside_edges < 0.2 * detailed.report().height_edges
    );

    let model = Model::train_detailed(
        detailed,
        bar_control(),
        &options().with_method(Method::Auto),
        &exact(Some(5.0)),
        &(),
    )
    .unwrap();

    // Its control points are vertices of the detailed examples.
    let found = model
        .driver()
        .detailed_pose(&model.control().at(examples.pose(2)))
        .unwrap();
    let base = model.drive(&model.control().at(examples.pose(2))).unwrap();
    let with = examples.error(&found, 2);

    assert!(
        with < 0.005 && with < 0.5 * examples.error(&base, 2),
        "{with} against {}",
        examples.error(&base, 2)
    );
}

#[test]
fn leave_one_out_has_errors_of_base_detail_and_static_detail() {
    let found = DetailLeaveOneOut::of(
        creased(1),
        bar_control(),
        &options(),
        &DetailOptions::default(),
        &(),
    )
    .unwrap();

    assert_eq!(found.details.len(), 6);
    assert!(found.mean(|error| error.height_rms) < found.mean(|error| error.static_height_rms));
    assert!(
        found
            .details
            .iter()
            .all(|error| error.rms.is_finite() && error.chosen.is_some())
    );

    let still = DetailOptions::default().with_mode(DetailMode::Static);
    let still = DetailLeaveOneOut::of(creased(1), bar_control(), &options(), &still, &()).unwrap();
    assert!(
        still
            .details
            .iter()
            .all(|error| error.rms == error.static_rms
                && error.height_rms == error.static_height_rms)
    );

    assert_eq!(still.base, found.base);
}

#[test]
fn left_out_detail_errors_are_those_of_models_trained_without_the_pose() {
    let whole = creased(1);
    for mode in [DetailMode::Auto, DetailMode::Direct, DetailMode::Cascaded] {
        let detail = DetailOptions::default().with_mode(mode);
        let validation =
            DetailLeaveOneOut::of(creased(1), bar_control(), &options(), &detail, &()).unwrap();

        for left_out in [2, 5] {
            let kept = |i: &usize| *i != left_out;
            let frames: Vec<Vec<DVec3>> = (1..7)
                .filter(kept)
                .map(|i| bar_examples().pose(i).to_vec())
                .collect();
            let names = (0..frames.len()).map(|k| k.to_string()).collect();

            let poses: Vec<Vec<DVec3>> = (0..7)
                .filter(kept)
                .map(|i| detailed_poses(1)[i].clone())
                .collect();

            let rest = DetailedExamples::from_poses(
                Examples::new(bar(), frames, names).unwrap(),
                1,
                poses.iter().map(Vec::as_slice),
            )
            .unwrap();

            let model =
                Model::train_detailed(rest, bar_control(), &options(), &detail, &()).unwrap();
            let heights = model
                .driver()
                .heights(&bar_control().at(bar_examples().pose(left_out)))
                .unwrap();

            let squares = heights
                .iter()
                .zip(whole.heights(left_out))
                .map(|(a, b)| f64::from(a - b).powi(2));
            let rms = (squares.sum::<f64>() / heights.len() as f64).sqrt()
                / bar_examples().longest_side();
            let validation = &validation.details[left_out - 1];

            assert!(
                (rms - validation.height_rms).abs() < 1e-6 * rms,
                "{}, {left_out}: {rms} for {}",
                mode.name(),
                validation.height_rms
            );

            assert_eq!(model.detail().unwrap().settings(), validation.chosen);
        }
    }
}

#[test]
fn with_a_smoothed_base_a_left_out_pose_is_driven_by_its_detailed_points_only() {
    let poses = detailed_poses(1);
    let mesh = LoopSubdivision::levels(&bar(), 1)
        .unwrap()
        .mesh()
        .posed(poses[0].clone())
        .unwrap();

    let examples = |of: &[usize]| {
        let frames: Vec<Vec<DVec3>> = of.iter().map(|&i| poses[i].clone()).collect();
        Examples::new(
            mesh.clone(),
            frames,
            of.iter().map(usize::to_string).collect(),
        )
        .unwrap()
    };

    let all = examples(&[1, 2, 3, 4, 5, 6]);
    let smoothed = |examples: &Examples| DetailedExamples::by_smoothing(examples, 40).unwrap();
    let validation = DetailLeaveOneOut::of(
        smoothed(&all),
        bar_control(),
        &options(),
        &DetailOptions::default(),
        &(),
    )
    .unwrap();

    let rest = smoothed(&examples(&[1, 2, 4, 5, 6]));
    let model = Model::train_detailed(
        rest,
        bar_control(),
        &options(),
        &DetailOptions::default(),
        &(),
    )
    .unwrap();

    // The truth of the validation is its base with its heights, which is the pose but for what lies
    // beside the normals.
    let whole = smoothed(&all);
    let truth = DetailSurface::of(whole.base().reference(), 0)
        .unwrap()
        .displaced(whole.base().pose(3), |v| whole.heights(3)[v]);

    let found = model
        .driver()
        .detailed_pose(&bar_control().at(&truth))
        .unwrap();

    let squares = found
        .iter()
        .zip(&truth)
        .map(|(a, b)| a.distance_squared(*b))
        .sum::<f64>();
    let rms = (squares / truth.len() as f64).sqrt() / whole.base().longest_side();

    assert!(
        (rms - validation.details[2].rms).abs() < 1e-9 * rms,
        "{rms} for {}",
        validation.details[2].rms
    );
}

#[test]
fn a_scaled_scene_keeps_the_settings_and_scales_the_heights() {
    let goals = bar_control().at(&bent(0.4, 0.4));
    let expected = trained(&DetailOptions::default());
    for size in [1024.0, 1.0 / 1024.0] {
        let times = |positions: &[DVec3]| positions.iter().map(|p| *p * size).collect::<Vec<_>>();
        let frames = (1..7).map(|i| times(bar_examples().pose(i))).collect();
        let base = Examples::new(
            bar().posed(times(bar().positions())).unwrap(),
            frames,
            bar_examples().names().to_vec(),
        )
        .unwrap();

        let poses: Vec<Vec<DVec3>> = detailed_poses(1).iter().map(|pose| times(pose)).collect();
        let detailed =
            DetailedExamples::from_poses(base, 1, poses.iter().map(Vec::as_slice)).unwrap();
        let model = Model::train_detailed(
            detailed,
            bar_control(),
            &options(),
            &DetailOptions::default(),
            &(),
        )
        .unwrap();

        assert_eq!(
            model.detail().unwrap().settings(),
            expected.detail().unwrap().settings()
        );

        let found: Vec<f32> = model
            .driver()
            .heights(&times(&goals))
            .unwrap()
            .iter()
            .map(|height| height / size as f32)
            .collect();

        assert!(
            largest(&found, &expected.driver().heights(&goals).unwrap()) < 1e-6,
            "{size}"
        );
    }
}

#[test]
fn poses_with_a_wrong_number_of_vertices_are_rejected() {
    let poses = detailed_poses(1);
    let declined = |levels: usize, poses: &[Vec<DVec3>]| {
        DetailedExamples::from_poses(bar_examples(), levels, poses.iter().map(Vec::as_slice))
            .unwrap_err()
    };

    assert_eq!(
        declined(1, &poses[1..]),
        LearnError::DetailCount {
            found: 6,
            expected: 7
        }
    );

    let longer = [&poses[..], &poses[..1]].concat();
    assert_eq!(
        declined(1, &longer),
        LearnError::DetailCount {
            found: 8,
            expected: 7
        }
    );

    let message = declined(2, &poses).to_string();
    assert!(
        message.contains(&poses[0].len().to_string()) && message.contains("2 times"),
        "{message}"
    );

    let mut broken = poses.clone();
    broken[3][5].x = f64::NAN;
    assert_eq!(
        declined(1, &broken),
        LearnError::DetailNotFinite {
            example: 3,
            vertex: 5
        }
    );

    assert!(DetailedExamples::by_smoothing(&bar_examples(), 0).is_err());
    assert!(declined(99, &poses).to_string().contains("levels"));
}

#[test]
fn a_detailed_model_read_back_drives_to_the_same_bits() {
    let goals = bar_control().at(&bent(0.4, 0.4));
    for mode in DetailMode::ALL {
        let model = trained(&DetailOptions::default().with_mode(mode));
        let bytes = model.to_bytes();
        let again = Model::from_bytes(&bytes).unwrap();

        assert_eq!(
            model.driver().detailed_pose(&goals),
            again.driver().detailed_pose(&goals),
            "{}",
            mode.name()
        );

        assert_eq!(again.to_bytes(), bytes);
    }

    let plain = Model::train(bar_examples(), bar_control(), &options(), &()).unwrap();
    assert_eq!(
        plain.driver().detailed_pose(&goals),
        Err(LearnError::NoDetail)
    );
    assert!(plain.detailed_mesh().is_none());
}

#[test]
fn hostile_detail_in_a_file_is_rejected_before_memory_is_allocated() {
    let bytes = trained(&DetailOptions::default()).to_bytes();
    let swapped = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len(), "offsets stay");
        let place = bytes
            .windows(from.len())
            .position(|part| part == from.as_bytes())
            .expect("it is there");
        let mut changed = bytes.clone();

        changed[place..place + to.len()].copy_from_slice(to.as_bytes());
        Model::from_bytes(&changed)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };

    for levels in ["0", "2", "9"] {
        assert!(
            swapped("detail_levels = 1", &format!("detail_levels = {levels}")).contains("base"),
            "{levels}"
        );
    }

    assert!(swapped("detail = 1", "detail = 7").contains("version 7"));
    assert!(swapped("detail_mode = auto", "detail_mode = atuo").contains("atuo"));
    assert!(swapped("detail_width = ", "detail_widhh = ").contains("detail_width"));
    assert!(swapped("detail_heights", "detail_heighhs").contains("detail_heights"));

    // The heights of the reference, one by one, are the bytes to look for.
    let reference: Vec<u8> = trained(&DetailOptions::default())
        .detail()
        .unwrap()
        .example_heights(0)
        .into_iter()
        .flat_map(f32::to_le_bytes)
        .collect();

    let place = bytes
        .windows(reference.len())
        .position(|part| part == reference)
        .expect("the table is there");
    let mut infinite = bytes.clone();

    infinite[place..place + 4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert!(
        Model::from_bytes(&infinite)
            .unwrap_err()
            .to_string()
            .contains("finite")
    );
}

#[test]
fn detail_can_be_replaced_and_detail_of_another_base_is_rejected() {
    let goals = bar_control().at(&bent(0.4, 0.4));
    let still = DetailOptions::default().with_mode(DetailMode::Static);
    let model = trained(&DetailOptions::default());
    let changed = model.with_detail(creased(1), &still).unwrap();

    assert_eq!(
        changed.driver().heights(&goals),
        trained(&still).driver().heights(&goals)
    );

    let fewer =
        Examples::new(bar(), vec![bent(0.5, 0.0); 2], vec!["a".into(), "b".into()]).unwrap();
    let other = DetailedExamples::by_smoothing(&fewer, 3).unwrap();

    assert_eq!(
        changed.with_detail(other, &still).unwrap_err(),
        LearnError::OtherBase
    );
}

#[test]
fn reused_buffers_give_the_pose_of_one_call() {
    let goals = bar_control().at(&bent(0.4, 0.4));
    let model = trained(&DetailOptions::default());
    let (shares, base) = model.driver().detail_weights(&goals).unwrap();
    let mut heights = crate::DetailHeights::default();
    let layer = model.detail().unwrap();

    layer.sum_heights(&shares, &mut heights);
    assert_eq!(
        layer.displace(&base, &heights),
        model.driver().detailed_pose(&goals).unwrap()
    );
}

#[test]
fn detail_works_with_several_levels_and_with_quads() {
    let sheet = shapes::flat_sheet(4, 0.0);
    let quads = Mesh::from_polygons(
        sheet.positions().to_vec(),
        &[vec![0, 1, 6, 5], vec![1, 2, 7, 6], vec![5, 6, 11, 10]],
    )
    .unwrap();

    assert_eq!(
        DetailSurface::of(&quads, 0).unwrap().mesh().face(0).len(),
        4
    );

    let finer = DetailSurface::of(&quads, 3).unwrap();
    assert_eq!(finer.levels(), 3);

    let raised = finer.displaced(quads.positions(), |_| 0.5);
    let flat = finer.refine(quads.positions());
    let used = |v: &usize| {
        !finer
            .mesh()
            .topology()
            .vertex_triangles()
            .row(*v)
            .is_empty()
    };

    assert!(
        (0..raised.len())
            .filter(used)
            .all(|v| ((raised[v] - flat[v]).length() - 0.5).abs() < 1e-12)
    );

    let blend = blend_of(
        &quads,
        &crate::ControlPoints::new(&quads, &[0, 2, 10]).unwrap(),
        &finer,
    );

    assert!(
        blend
            .iter()
            .all(|entry| entry.weights.iter().all(|weight| weight.is_finite()))
    );
}
