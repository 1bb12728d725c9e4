//! Recovery of known weights, and invariances of the inverse rig.

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::{DQuat, DVec3, Vec3};
use pliant_mesh::shapes::bumpy_sheet;
use pliant_mesh::{Mesh, SurfacePoint, TrianglePoint};

use super::*;
use crate::{Combination, Driver, InBetween, KeyedCurves, Limits, Path, Rule, Slider, Target};

/// A hill on the sheet, as displacements along `direction`.
fn hill(mesh: &Mesh, centre: [f64; 2], direction: Vec3) -> Vec<Vec3> {
    let height =
        |p: &DVec3| (-25.0 * ((p.x - centre[0]).powi(2) + (p.y - centre[1]).powi(2))).exp();
    mesh.positions()
        .iter()
        .map(|p| direction * height(p) as f32)
        .map(|d| if d.length() < 1e-3 { Vec3::ZERO } else { d })
        .collect()
}

/// Six overlapping hills on a sheet of the given size.
fn sheet(size: f64) -> (Mesh, Vec<Target>) {
    let unit = bumpy_sheet(24, 0.1);
    let mesh = unit
        .posed(unit.positions().iter().map(|p| *p * size).collect())
        .unwrap();
    let directions = [
        Vec3::Z,
        Vec3::X,
        Vec3::new(0.0, 0.7, 0.7),
        Vec3::Y,
        Vec3::new(-0.5, 0.0, 1.0),
        Vec3::new(0.3, 0.3, -0.6),
    ];

    let bounds = unit.bounds().unwrap();
    let place = |k: usize| {
        bounds.min
            + (bounds.max - bounds.min)
                * DVec3::new(0.3 + 0.2 * (k % 3) as f64, 0.35 + 0.3 * (k / 3) as f64, 0.0)
    };

    let targets = (0..6).map(|k| {
        let deltas = hill(&unit, [place(k).x, place(k).y], directions[k] * 0.2);
        Target::from_dense(
            format!("hill {k}"),
            deltas.into_iter().map(|d| d * size as f32),
        )
    });

    (mesh, targets.collect())
}

fn linear_rig() -> Rig {
    let (mesh, targets) = sheet(1.0);
    Rig::new(mesh, targets).unwrap()
}

/// The hills with in-betweens, linear and spline, and combinations of two and of a combination.
fn nonlinear_rig() -> Rig {
    let (mesh, mut targets) = sheet(1.0);
    for (k, weight) in [(0, 0.4), (3, 0.6)] {
        let bent = targets[k]
            .to_dense(mesh.vertex_count())
            .iter()
            .map(|d| *d * weight as f32 + Vec3::new(0.0, d.z, -d.y) * 0.3)
            .collect::<Vec<_>>();
        let Target {
            vertices, deltas, ..
        } = Target::from_dense("", bent);

        targets[k].in_betweens.push(InBetween {
            name: String::new(),
            weight,
            vertices,
            deltas,
        });
    }

    let mut sliders = vec![Slider::default(); 6];
    sliders[3].path = Path::Spline;
    let corrective = |name: &str, drivers: Vec<Driver>, rule, k: usize| {
        let Target {
            vertices, deltas, ..
        } = &targets[k];
        let deltas = deltas
            .iter()
            .map(|d| Vec3::new(d.y, d.z, d.x) * 0.3)
            .collect();

        Combination {
            name: name.into(),
            drivers,
            rule,
            vertices: vertices.clone(),
            deltas,
        }
    };

    let combinations = vec![
        corrective(
            "0_1",
            vec![Driver::Slider(0.into()), Driver::Slider(1.into())],
            Rule::Product,
            1,
        ),
        corrective(
            "0_1_4",
            vec![Driver::Combination(0), Driver::Slider(4.into())],
            Rule::Product,
            4,
        ),
        corrective(
            "2_5",
            vec![Driver::Slider(2.into()), Driver::Slider(5.into())],
            Rule::SmoothLowest,
            2,
        ),
    ];

    Rig::new(mesh, targets)
        .unwrap()
        .with_sliders(sliders)
        .unwrap()
        .with_combinations(combinations)
        .unwrap()
}

/// Smooth curves between 0 and 1 that are constant at times.
fn known_weights(frames: usize) -> Vec<Vec<f64>> {
    let curve =
        |t: usize, k: usize| (0.5 + 0.9 * (0.35 * t as f64 + 1.7 * k as f64).sin()).clamp(0.0, 1.0);
    (0..frames)
        .map(|t| (0..6).map(|k| curve(t, k)).collect())
        .collect()
}

fn clip_of(rig: &Rig, weights: &[Vec<f64>]) -> Clip {
    Clip::new(
        "known",
        rig.neutral().clone(),
        weights.iter().map(|w| rig.evaluate(w)).collect(),
    )
    .unwrap()
}

/// Options with negligible penalties.
fn unpenalised() -> InvertOptions {
    InvertOptions::default()
        .with_roughness(0.0)
        .with_sparsity(0.0)
        .with_ridge(0.0)
        .with_tolerance(1e-9)
}

fn invert(rig: &Rig, clip: &Clip, options: InvertOptions) -> Inverse {
    Inverter::factor(rig, &options)
        .unwrap()
        .invert(clip)
        .unwrap()
}

fn largest_difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    a.iter()
        .flatten()
        .zip(b.iter().flatten())
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

/// `Σ |xₜ₋₁ − 2xₜ + xₜ₊₁|²` in weights.
fn squared_second_differences(weights: &[Vec<f64>]) -> f64 {
    let second = |w: &[Vec<f64>]| {
        (0..w[0].len())
            .map(|k| (w[0][k] - 2.0 * w[1][k] + w[2][k]).powi(2))
            .sum::<f64>()
    };
    weights.windows(3).map(second).sum()
}

/// The clip with deterministic noise at each vertex.
fn noisy(clip: &Clip, size: f64) -> Clip {
    let tremble = |t: usize, v: usize| {
        let phase = (t * 7919 + v * 104_729) as f64;
        DVec3::new(
            (phase * 0.37).sin(),
            (phase * 0.73).cos(),
            (phase * 1.31).sin(),
        ) * size
    };

    let frames = clip.frames().iter().enumerate().map(|(t, frame)| {
        frame
            .iter()
            .enumerate()
            .map(|(v, p)| *p + tremble(t, v))
            .collect()
    });

    Clip::new("trembling", clip.reference().clone(), frames.collect()).unwrap()
}

/// 16 poses that have nothing to do with each other: half of the sliders move.
fn scattered_weights() -> Vec<Vec<f64>> {
    let number = |t: usize, k: usize| ((t * 37 + k * 101 + 13) as f64 * 0.618_033_988).fract();
    let weight = |t: usize, k: usize| {
        let active = number(3 * t + 7, 5 * k + 1) < 0.5;
        if active {
            0.2 + 0.8 * number(t, k)
        } else {
            0.0
        }
    };
    (0..16)
        .map(|t| (0..6).map(|k| weight(t, k)).collect())
        .collect()
}

#[test]
fn fifteen_of_sixteen_single_poses_with_in_betweens_and_combinations_are_found() {
    let rig = nonlinear_rig();
    let inverter = Inverter::factor(&rig, &InvertOptions::default()).unwrap();
    let mut found = 0;
    for planted in scattered_weights() {
        let clip = clip_of(&rig, std::slice::from_ref(&planted));
        let track = inverter.invert(&clip).unwrap().track;
        found += usize::from(largest_difference(track.keys(), &[planted]) < 0.01);
    }
    assert!(found >= 15, "{found} of 16");
}

/// The clip with independent noise of standard deviation `sigma` in each coordinate.
fn with_white_noise(clip: &Clip, sigma: f64) -> Clip {
    let mut state = 1_u64;
    let mut uniform = || {
        // Splitmix64: Steele, Lea, Flood 2014.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };

    // A uniform number has the variance 1/12.
    let mut coordinate = || sigma * 12.0_f64.sqrt() * (uniform() - 0.5);
    let mut frames = clip.frames().to_vec();
    for position in frames.iter_mut().flatten() {
        *position += DVec3::new(coordinate(), coordinate(), coordinate());
    }
    Clip::new("noisy", clip.reference().clone(), frames).unwrap()
}

fn rms_difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let pairs = || a.iter().flatten().zip(b.iter().flatten());
    let squares: f64 = pairs().map(|(a, b)| (a - b).powi(2)).sum();
    (squares / pairs().count() as f64).sqrt()
}

#[test]
fn the_noise_of_a_clip_is_found_from_the_clip() {
    for (rig, sigma) in [(linear_rig(), 0.02), (nonlinear_rig(), 0.005)] {
        let clip = with_white_noise(&clip_of(&rig, &known_weights(30)), sigma);
        let found = invert(&rig, &clip, InvertOptions::default()).report.noise;
        let found = found.expect("thirty frames have second differences");
        assert!((found - sigma).abs() < 0.03 * sigma, "{found} of {sigma}");
    }
}

#[test]
fn by_default_noise_gives_better_and_smoother_weights_than_independent_frames() {
    for (rig, sigma) in [(linear_rig(), 0.02), (nonlinear_rig(), 0.02)] {
        // A tenth as fast as other tests: noise is what moves fast.
        let slow = |t: usize, k: usize| 0.5 + 0.7 * (0.035 * t as f64 + 1.7 * k as f64).sin();
        let planted: Vec<Vec<f64>> = (0..60)
            .map(|t| (0..6).map(|k| slow(t, k).clamp(0.0, 1.0)).collect())
            .collect();
        let clip = with_white_noise(&clip_of(&rig, &planted), sigma);
        let alone = invert(&rig, &clip, unpenalised()).track;
        let found = invert(&rig, &clip, InvertOptions::default()).track;

        let [error, error_alone] =
            [&found, &alone].map(|track| rms_difference(track.keys(), &planted));
        assert!(error < 0.8 * error_alone, "{error} {error_alone}");

        let [bends, bends_alone] =
            [&found, &alone].map(|track| squared_second_differences(track.keys()));
        assert!(bends < 0.8 * bends_alone, "{bends} {bends_alone}");
    }
}

#[test]
fn a_clip_without_noise_comes_back_exactly_by_default() {
    for rig in [linear_rig(), nonlinear_rig()] {
        let planted = known_weights(25);
        let found = invert(&rig, &clip_of(&rig, &planted), InvertOptions::default());
        let worst = largest_difference(found.track.keys(), &planted);
        assert!(worst < 1e-4, "{worst}");
        assert!(found.report.noise.expect("25 frames") < 1e-6);
    }
}

#[test]
fn a_sudden_blink_survives_the_smoothing_of_a_noisy_clip() {
    let rig = linear_rig();
    let mut planted = vec![vec![0.0; 6]; 80];
    for (t, weight) in [(40, 0.5), (41, 1.0), (42, 1.0), (43, 0.4)] {
        planted[t][2] = weight;
    }
    let clip = with_white_noise(&clip_of(&rig, &planted), 0.01);
    let found = invert(&rig, &clip, InvertOptions::default());
    assert!(
        found.track.keys()[41][2] > 0.95,
        "{:?}",
        found.track.keys()[41]
    );
    assert!(rms_difference(found.track.keys(), &planted) < 0.02);
}

#[test]
fn known_weights_are_recovered_on_a_linear_rig() {
    let rig = linear_rig();
    let weights = known_weights(9);
    let found = invert(&rig, &clip_of(&rig, &weights), unpenalised());
    assert!(largest_difference(found.track.keys(), &weights) < 1e-9);
    assert!(found.report.converged && found.report.kkt < 1e-12 && found.report.sweeps == 1);
}

#[test]
fn known_weights_are_recovered_with_in_betweens_and_combinations() {
    let rig = nonlinear_rig();
    let weights = known_weights(20);
    let clip = clip_of(&rig, &weights);
    let inverter = Inverter::factor(&rig, &unpenalised()).unwrap();
    let found = inverter.invert(&clip).unwrap();

    assert!(
        largest_difference(found.track.keys(), &weights) < 1e-6,
        "{}",
        largest_difference(found.track.keys(), &weights)
    );
    assert!(
        inverter
            .fit_errors(&clip, &found)
            .unwrap()
            .iter()
            .all(|error| error.max < 1e-7 && error.rms <= error.max)
    );
}

#[test]
fn the_reduced_problem_has_the_objective_of_the_whole_mesh() {
    let rig = nonlinear_rig();
    let clip = noisy(&clip_of(&rig, &known_weights(4)), 0.02);
    let inverter = Inverter::factor(&rig, &unpenalised()).unwrap();
    let found = inverter.invert(&clip).unwrap();

    for (rms, error) in found
        .report
        .rms
        .iter()
        .zip(inverter.fit_errors(&clip, &found).unwrap())
    {
        assert!(
            error.rms > 0.005 && (rms - error.rms).abs() < 1e-9 * error.rms,
            "{rms} {error:?}"
        );
    }

    let half_squares: f64 = inverter
        .fit_errors(&clip, &found)
        .unwrap()
        .iter()
        .map(|error| 0.5 * error.rms * error.rms)
        .sum();

    assert!((found.report.objective - half_squares).abs() < 1e-9 * half_squares);
}

#[test]
fn no_single_slider_can_improve_a_frame() {
    let rig = nonlinear_rig();
    let clip = noisy(&clip_of(&rig, &known_weights(3)), 0.05);
    let inverter = Inverter::factor(&rig, &unpenalised()).unwrap();
    let found = inverter.invert(&clip).unwrap();
    let error =
        |t: usize, weights: &[f64]| inverter.fit_error(weights, None, &clip.frames()[t]).rms;

    for (t, weights) in found.track.keys().iter().enumerate() {
        for slider in 0..6 {
            for step in [-1e-3, 1e-3] {
                let mut moved = weights.clone();
                moved[slider] = (moved[slider] + step).clamp(0.0, 1.0);
                assert!(
                    error(t, &moved) >= error(t, weights),
                    "frame {t}, slider {slider}, {step}"
                );
            }
        }
    }
}

#[test]
fn a_constant_clip_has_no_keys() {
    for rig in [linear_rig(), nonlinear_rig()] {
        let still = clip_of(&rig, &vec![vec![0.0; 6]; 8]);
        let found = invert(&rig, &still, InvertOptions::default());
        assert_eq!(
            KeyedCurves::from_track(&found.track, 0.0)
                .unwrap()
                .key_count(),
            0
        );
        assert_eq!(found.track.keys().len(), 8);
    }
}

#[test]
fn a_larger_roughness_penalty_gives_smoother_curves() {
    let rig = linear_rig();
    let clip = noisy(&clip_of(&rig, &known_weights(24)), 0.05);
    let bends: Vec<f64> = [0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0, 1e4]
        .map(|roughness| {
            let found = invert(
                &rig,
                &clip,
                InvertOptions::default().with_roughness(roughness),
            );
            assert!(found.report.converged, "{roughness}: {:?}", found.report);
            assert!(found.report.kkt < 1e-5, "{roughness}: {}", found.report.kkt);
            squared_second_differences(found.track.keys())
        })
        .to_vec();

    assert!(bends.windows(2).all(|pair| pair[1] < pair[0]), "{bends:?}");
    assert!(
        bends[6] < 1e-4 * bends[0],
        "in the end they are straight: {bends:?}"
    );
}

#[test]
fn sweeps_converge_to_the_solution_of_the_joint_system() {
    // Without limits and penalties the whole clip is one linear system: its gradient must be zero.
    let free = Slider {
        limits: Limits::FREE,
        ..Slider::default()
    };
    let rig = linear_rig().with_sliders(vec![free; 6]).unwrap();
    let clip = noisy(&clip_of(&rig, &known_weights(12)), 0.05);

    let options = InvertOptions::default()
        .with_sparsity(0.0)
        .with_roughness(0.3)
        .with_tolerance(1e-11);
    let inverter = Inverter::factor(&rig, &options).unwrap();
    let found = inverter.invert(&clip).unwrap();
    let frames: Vec<&[DVec3]> = clip.frames().iter().map(Vec::as_slice).collect();
    let areas = inverter.surface.areas();
    let projections = inverter.shapes.of_frames(&frames, areas, &()).unwrap();

    let objective = |track: &[Vec<f64>]| {
        let x: Vec<Vec<f64>> = track
            .iter()
            .map(|w| {
                w.iter()
                    .zip(&inverter.problem.extents)
                    .map(|(w, g)| w * g)
                    .collect()
            })
            .collect();

        let own: f64 = x
            .iter()
            .zip(&projections)
            .map(|(x, projection)| {
                let gram = &inverter.whole;
                inverter.problem.energy(&Frame { gram, projection }, x)
            })
            .sum();

        own + 0.5 * 0.3 * squared_second_differences(&x)
    };

    let lowest = objective(found.track.keys());
    assert!((lowest - found.report.objective).abs() < 1e-12 * lowest);
    for t in 0..12 {
        for slider in 0..6 {
            let shifted = |by: f64| {
                let mut track = found.track.keys().to_vec();
                track[t][slider] += by;
                objective(&track)
            };
            let slope = (shifted(1e-4) - shifted(-1e-4)) / 2e-4;
            let curvature = (shifted(1e-4) - 2.0 * lowest + shifted(-1e-4)) / 1e-8;

            assert!(
                slope.abs() < 1e-6 * curvature,
                "frame {t}, slider {slider}: {slope} of {curvature}"
            );
        }
    }
}

#[test]
fn weights_stay_inside_limits_and_locked_sliders_at_rest() {
    let limits = [
        Limits::new(0.2, 0.6),
        Limits::default(),
        Limits::new(-0.3, 0.3),
        Limits::default(),
        Limits::FREE,
        Limits::default(),
    ];

    let mut sliders: Vec<Slider> = limits
        .iter()
        .map(|&limits| Slider {
            limits,
            ..Slider::default()
        })
        .collect();

    sliders[1].locked = true;
    let rig = linear_rig();
    let clip = noisy(&clip_of(&rig, &known_weights(10)), 0.05);
    let bounded = rig.with_sliders(sliders).unwrap();

    for roughness in [0.0, 0.1] {
        let found = invert(
            &bounded,
            &clip,
            InvertOptions::default().with_roughness(roughness),
        );

        for weights in found.track.keys() {
            assert!(
                weights
                    .iter()
                    .zip(&limits)
                    .all(|(w, limits)| limits.contains(*w)),
                "{weights:?}"
            );
            assert_eq!(weights[1], 0.0);
        }

        assert!(
            found
                .track
                .keys()
                .iter()
                .any(|w| w[0] == 0.6 || w[0] == 0.2),
            "a limit is met to the bit"
        );
    }
}

#[test]
fn a_sparsity_penalty_moves_fewer_sliders() {
    let rig = linear_rig();
    let clip = noisy(&clip_of(&rig, &known_weights(10)), 0.1);
    let active = |sparsity: f64| {
        let found = invert(&rig, &clip, unpenalised().with_sparsity(sparsity));
        found
            .track
            .keys()
            .iter()
            .flatten()
            .filter(|w| **w != 0.0)
            .count()
    };

    let counts = [0.0, 0.1, 0.5, 3.0].map(active);
    assert!(
        counts.windows(2).all(|pair| pair[1] <= pair[0]) && counts[2] < counts[0] && counts[3] == 0,
        "{counts:?}"
    );
}

#[test]
fn permuted_frames_give_permuted_weights() {
    let rig = nonlinear_rig();
    let clip = noisy(&clip_of(&rig, &known_weights(11)), 0.02);
    let order = [3, 9, 0, 7, 1, 10, 4, 8, 2, 6, 5];
    let shuffled = Clip::new(
        "shuffled",
        clip.reference().clone(),
        order.iter().map(|&t| clip.frames()[t].clone()).collect(),
    )
    .unwrap();

    let options = InvertOptions::default()
        .with_roughness(0.0)
        .with_sparsity(1e-4);
    let plain = invert(&rig, &clip, options);
    let other = invert(&rig, &shuffled, options);

    for (place, &t) in order.iter().enumerate() {
        assert_eq!(
            other.track.keys()[place],
            plain.track.keys()[t],
            "to the bit"
        );
    }
}

#[test]
fn weights_do_not_depend_on_units_or_on_the_scale_of_a_slider() {
    let weights = known_weights(8);
    let solve = |size: f64| {
        let (mesh, targets) = sheet(size);
        let rig = Rig::new(mesh, targets).unwrap();
        let clip = noisy(&clip_of(&rig, &weights), 0.02 * size);

        invert(
            &rig,
            &clip,
            InvertOptions::default()
                .with_roughness(0.01)
                .with_sparsity(0.01)
                .with_tolerance(1e-10),
        )
    };

    let one = solve(1.0);

    // Powers of two, so that displacements are scaled without rounding.
    for size in [1024.0, 1.0 / 4096.0] {
        assert!(
            largest_difference(one.track.keys(), solve(size).track.keys()) < 1e-8,
            "{size}"
        );
    }

    let (mesh, mut targets) = sheet(1.0);
    let free = vec![
        Slider {
            limits: Limits::FREE,
            ..Slider::default()
        };
        6
    ];

    let rig = Rig::new(mesh.clone(), targets.clone())
        .unwrap()
        .with_sliders(free.clone())
        .unwrap();
    let clip = clip_of(&rig, &weights);

    for d in targets[2].deltas.iter_mut() {
        *d *= 4.0;
    }
    let stretched = Rig::new(mesh, targets).unwrap().with_sliders(free).unwrap();
    let options = unpenalised().with_ridge(1e-3).with_roughness(0.01);
    let plain = invert(&rig, &clip, options);
    let other = invert(&stretched, &clip, options);

    for (a, b) in plain.track.keys().iter().zip(other.track.keys()) {
        assert!(
            (0..6).all(|k| (a[k] - b[k] * if k == 2 { 4.0 } else { 1.0 }).abs() < 1e-8),
            "{a:?} {b:?}"
        );
    }
}

#[cfg(feature = "parallel")]
#[test]
fn one_thread_and_two_give_the_same_bits() {
    let rig = nonlinear_rig();
    let clip = noisy(&clip_of(&rig, &known_weights(13)), 0.02);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool of threads");
        pool.install(|| invert(&rig, &clip, InvertOptions::default().with_roughness(0.01)))
    };

    assert_eq!(on(1), on(2));
}

#[test]
fn alignment_recovers_the_motion_and_the_weights_of_a_nodding_head() {
    let rig = linear_rig();
    let weights = known_weights(6);
    let motion = |t: usize| RigidMotion {
        rotation: DQuat::from_rotation_x(0.1 * t as f64) * DQuat::from_rotation_y(-0.05 * t as f64),
        translation: DVec3::new(0.3, -0.1, 0.2) * t as f64,
    };

    let still = clip_of(&rig, &weights);
    let frames = still
        .frames()
        .iter()
        .enumerate()
        .map(|(t, frame)| frame.iter().map(|p| motion(t).apply(*p)).collect());

    let clip = Clip::new("nod", rig.neutral().clone(), frames.collect()).unwrap();
    let inverter = Inverter::factor(&rig, &unpenalised().with_align(true)).unwrap();
    let found = inverter.invert(&clip).unwrap();

    assert!(
        largest_difference(found.track.keys(), &weights) < 1e-4,
        "{}",
        largest_difference(found.track.keys(), &weights)
    );

    for (t, found) in found.motions.iter().enumerate() {
        let corner = DVec3::ONE;
        assert!(
            found.apply(corner).distance(motion(t).apply(corner)) < 1e-4,
            "frame {t}"
        );
    }

    assert!(
        inverter
            .fit_errors(&clip, &found)
            .unwrap()
            .iter()
            .all(|error| error.max < 1e-4)
    );
}

/// Markers on vertices and inside a triangle, where the clip has them.
fn markers(rig: &Rig, clip: &Clip) -> MarkerClip {
    let vertices = (0..rig.neutral().vertex_count() as u32)
        .step_by(23)
        .map(SurfacePoint::Vertex);
    let inside = SurfacePoint::InTriangle(TrianglePoint {
        triangle: 300,
        barycentric: [0.2, 0.3, 0.5],
    });

    let at: Vec<SurfacePoint> = vertices.chain([inside]).collect();
    let seen = |frame: &Vec<DVec3>| {
        at.iter()
            .map(|&at| {
                Some(
                    crate::Pin {
                        at,
                        ..crate::Pin::hold(0)
                    }
                    .support(rig.neutral())
                    .of(frame),
                )
            })
            .collect()
    };

    let frames = clip.frames().iter().map(seen).collect();
    MarkerClip {
        at,
        frames,
        frames_per_second: 24.0,
    }
}

#[test]
fn known_weights_are_recovered_from_markers_with_gaps() {
    let rig = nonlinear_rig();
    let weights = known_weights(10);
    let mut clip = markers(&rig, &clip_of(&rig, &weights));

    for (t, frame) in clip.frames.iter_mut().enumerate() {
        for marker in frame.iter_mut().skip(t % 3).step_by(5) {
            *marker = None;
        }
    }

    let found = Inverter::factor(&rig, &unpenalised())
        .unwrap()
        .invert_markers(&clip)
        .unwrap();

    assert!(
        largest_difference(found.track.keys(), &weights) < 1e-5,
        "{}",
        largest_difference(found.track.keys(), &weights)
    );
}

#[test]
fn a_frame_without_markers_follows_from_its_neighbours() {
    let rig = linear_rig();
    let weights: Vec<Vec<f64>> = (0..9)
        .map(|t| {
            (0..6)
                .map(|k| 0.1 + 0.02 * (t * (k + 1)) as f64 / 2.0)
                .collect()
        })
        .collect();

    let mut clip = markers(&rig, &clip_of(&rig, &weights));
    clip.frames[4].fill(None);
    let options = unpenalised()
        .with_ridge(1e-12)
        .with_roughness(1e-3)
        .with_tolerance(1e-10);

    let found = Inverter::factor(&rig, &options)
        .unwrap()
        .invert_markers(&clip)
        .unwrap();

    assert!(
        largest_difference(found.track.keys(), &weights) < 1e-6,
        "straight curves go on straight"
    );
}

#[test]
fn invalid_clips_and_options_are_errors() {
    let rig = linear_rig();
    let other = Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
    let small = Clip::new("small", other.clone(), vec![other.positions().to_vec()]).unwrap();
    let error = rig.invert(&small).unwrap_err().to_string();

    assert!(
        error.contains(" 3 ") && error.contains(&rig.neutral().vertex_count().to_string()),
        "{error}"
    );

    let mut frames = vec![rig.neutral().positions().to_vec()];
    frames[0][7] = DVec3::NAN;
    let broken = Clip::new("broken", rig.neutral().clone(), frames).unwrap();

    assert!(matches!(
        rig.invert(&broken),
        Err(RigError::NotFinite { vertex: 7, .. })
    ));
    assert!(
        rig.invert(&clip_of(&rig, &[])).is_err(),
        "a clip without frames"
    );

    for options in [
        unpenalised().with_roughness(-1.0),
        unpenalised().with_sparsity(f64::NAN),
        unpenalised().with_tolerance(0.0),
    ] {
        assert!(matches!(
            Inverter::factor(&rig, &options),
            Err(RigError::BadOption { .. })
        ));
    }

    assert!(matches!(
        Inverter::factor(&Rig::without_targets(other), &unpenalised()),
        Err(RigError::NoTargets)
    ));

    let inverter = Inverter::factor(&rig, &unpenalised()).unwrap();
    let clip = |at, frames| MarkerClip {
        at,
        frames,
        frames_per_second: 24.0,
    };

    assert_eq!(
        inverter.invert_markers(&clip(vec![], vec![])),
        Err(RigError::NoPins)
    );

    let vertex = SurfacePoint::Vertex(0);
    assert!(matches!(
        inverter.invert_markers(&clip(vec![vertex], vec![vec![]])),
        Err(RigError::MarkerCount { .. })
    ));
    assert!(matches!(
        inverter.invert_markers(&clip(vec![vertex], vec![vec![Some(DVec3::NAN)]])),
        Err(RigError::MarkerNotFinite { .. })
    ));
    assert!(
        inverter
            .invert_markers(&clip(vec![SurfacePoint::Vertex(1 << 30)], vec![]))
            .is_err()
    );
}

#[test]
fn a_clip_of_one_or_two_frames_has_no_second_differences() {
    let rig = linear_rig();
    for frames in [1, 2] {
        let weights = known_weights(frames);
        let found = invert(
            &rig,
            &clip_of(&rig, &weights),
            unpenalised().with_roughness(10.0),
        );
        assert!(largest_difference(found.track.keys(), &weights) < 1e-9);
    }
}

#[test]
fn equal_sliders_are_inverted_even_without_a_ridge() {
    let (mesh, targets) = sheet(1.0);
    let twin = Target {
        name: "twin".into(),
        ..targets[0].clone()
    };
    let rig = Rig::new(mesh, targets.into_iter().chain([twin]).collect()).unwrap();
    let mut weights = vec![0.0; rig.targets().len()];

    weights[0] = 0.6;
    let found = invert(
        &rig,
        &clip_of(&rig, &[weights]),
        unpenalised().with_ridge(0.0),
    );
    let key = &found.track.keys()[0];

    assert!(
        (key[0] + key[key.len() - 1] - 0.6).abs() < 1e-3 && key.iter().all(|w| w.is_finite()),
        "{key:?}"
    );
}
