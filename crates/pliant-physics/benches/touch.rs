//! One frame of a soft patch: 10 substeps of one sweep, as in the scenes of
//! `benches/peers/touch_peers.py`; ours has a foundation, damping and masses by area in addition,
//! and its own stiffness.
//!
//! A square sheet with its outermost ring pinned, under gravity: `stretch` has edge constraints
//! alone, `bend` hinges too, `ball` a ball that is pressed into its middle, `skin` all constraints
//! of a default patch. `/1` runs on one thread, `/all` on all threads. `disc` is the selection of
//! patches at the radii of table 5.1 of Çetinaslan 2016, exactly and `by heat`, `step` its table
//! 5.2: one step with two iterations, by the method of Çetinaslan 2016 and by the default one.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;
use pliant_mesh::shapes::{bumpy_sheet, flat_sheet};
use pliant_mesh::{ExactGeodesics, HeatGeodesics, HeatOptions, Mesh};
use pliant_physics::{
    Collider, Obstacle, SoftMaterial, SoftPatch, SoftRegion, Touch, TouchFrame, TouchMethod,
    TouchOptions, VerletOptions,
};

/// Vertices along a side.
const SIDES: [usize; 2] = [21, 58];
const SECS: f64 = 1.0 / 60.0;
/// Frames before the first that is timed: the ball is all the way in.
const WARM_UP: usize = 120;

#[derive(Clone, Copy, PartialEq)]
enum Scene {
    Stretch,
    Bend,
    Ball,
    Skin,
}

impl Scene {
    fn name(self) -> &'static str {
        match self {
            Self::Stretch => "stretch",
            Self::Bend => "bend",
            Self::Ball => "ball",
            Self::Skin => "skin",
        }
    }

    fn material(self) -> SoftMaterial {
        let lengths = SoftMaterial {
            spread: 0.05,
            roundness: 0.0,
            shear: 0.0,
            area: 0.0,
            volume: 0.0,
            strain_limit: f64::INFINITY,
            ..SoftMaterial::default()
        };
        match self {
            Self::Stretch => lengths,
            Self::Bend | Self::Ball => SoftMaterial {
                roundness: 0.01,
                ..lengths
            },
            Self::Skin => SoftMaterial {
                spread: 0.05,
                roundness: 0.01,
                ..SoftMaterial::default()
            },
        }
    }
}

/// Where the ball is in a frame.
fn ball(frame: usize) -> RigidMotion {
    RigidMotion {
        translation: DVec3::new(0.0, 0.0, -0.15 * (frame as f64 / 60.0).min(1.0)),
        ..RigidMotion::IDENTITY
    }
}

fn warm(scene: Scene, side: usize) -> Touch {
    let sheet = flat_sheet(side - 1, 0.0);
    let rim = |v: &usize| {
        let x = v % side;
        let y = v / side;
        x == 0 || y == 0 || x == side - 1 || y == side - 1
    };
    let pins = (0..side * side).filter(rim).collect();

    let options = TouchOptions::default()
        .with_substeps(10)
        .with_material(scene.material())
        .with_gravity(DVec3::Z * -9.81)
        .with_pins(pins);

    let patch = SoftPatch {
        center: (side * (side / 2) + side / 2).into(),
        radius: 2.0,
    };

    let mut touch = Touch::new(&sheet, &[patch], &options).expect("the sheet is sound");
    if scene == Scene::Ball {
        let solid = Obstacle::sphere(DVec3::new(0.5, 0.5, 0.2), 0.2).expect("a ball");
        touch
            .add_collider(Collider::new(solid, 0.0).expect("no friction"))
            .expect("a collider");
    }

    for frame in 0..WARM_UP {
        step(&mut touch, scene, frame);
    }

    touch
}

fn step(touch: &mut Touch, scene: Scene, frame: usize) {
    let places = if scene == Scene::Ball {
        vec![ball(frame)]
    } else {
        Vec::new()
    };
    touch
        .step(&TouchFrame {
            shape: None,
            colliders: &places,
            pulls: &[],
            secs: SECS,
        })
        .expect("a frame");
}

fn frames(criterion: &mut Criterion) {
    let one = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a pool of one");
    for scene in [Scene::Stretch, Scene::Bend, Scene::Ball, Scene::Skin] {
        for side in SIDES {
            let count = side * side;
            criterion.bench_function(&format!("{}/{count}/1", scene.name()), |bencher| {
                let mut touch = warm(scene, side);
                one.install(|| bencher.iter(|| step(&mut touch, scene, WARM_UP)));
            });

            criterion.bench_function(&format!("{}/{count}/all", scene.name()), |bencher| {
                let mut touch = warm(scene, side);
                bencher.iter(|| step(&mut touch, scene, WARM_UP));
            });
        }
    }
}

/// About as many vertices as the thesis' largest head, 24 units across.
fn large_sheet() -> Mesh {
    let sheet = bumpy_sheet(97, 0.25);
    sheet
        .posed(sheet.positions().iter().map(|p| *p * 24.0).collect())
        .expect("the same faces")
}

fn discs(criterion: &mut Criterion) {
    let sheet = large_sheet();
    let mut geodesics = ExactGeodesics::new(&sheet).expect("a sound sheet");
    let heat = HeatGeodesics::factor(&sheet, &HeatOptions::default()).expect("a sound sheet");

    for radius in [1.0, 3.0, 6.0, 9.0, 12.0] {
        let patch = [SoftPatch {
            center: 4851.into(),
            radius,
        }];

        criterion.bench_function(&format!("disc/{radius}"), |bencher| {
            bencher
                .iter(|| SoftRegion::select_on(&sheet, &mut geodesics, &patch).expect("a patch"));
        });
        criterion.bench_function(&format!("disc by heat/{radius}"), |bencher| {
            bencher.iter(|| SoftRegion::select_by_heat(&sheet, &heat, &patch).expect("a patch"));
        });
    }
}

/// One step with two iterations, a ball in the middle; a range of 100 is the whole model.
fn steps(criterion: &mut Criterion) {
    let sheet = large_sheet();
    let ball = Obstacle::sphere(sheet.positions()[4851] + DVec3::Z * 0.4, 0.6).expect("a ball");
    let methods = [
        ("verlet", TouchMethod::Verlet(VerletOptions::default())),
        ("xpbd", TouchMethod::Xpbd),
    ];

    for (name, method) in methods {
        for radius in [1.0, 3.0, 6.0, 9.0, 12.0, 100.0] {
            let options = TouchOptions::default()
                .with_method(method)
                .with_substeps(1)
                .with_iterations(2);

            let mut touch = Touch::new(
                &sheet,
                &[SoftPatch {
                    center: 4851.into(),
                    radius,
                }],
                &options,
            )
            .expect("a patch");

            touch
                .add_collider(Collider::new(ball.clone(), 0.0).expect("no friction"))
                .expect("a collider");

            let frame = TouchFrame {
                shape: None,
                colliders: &[RigidMotion::IDENTITY],
                pulls: &[],
                secs: SECS,
            };

            criterion.bench_function(&format!("step {name}/{radius}"), |bencher| {
                bencher.iter(|| touch.step(&frame).expect("a frame"))
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    targets = frames, discs, steps
}
criterion_main!(benches);
