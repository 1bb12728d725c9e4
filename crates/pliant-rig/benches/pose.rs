//! Drags of five pins on a face: preparing, one solve, and a whole frame.
//!
//! `cargo bench -p pliant-rig --bench pose`. With `PLIANT_DATA` set to the data folder: the ICT
//! face with pins on both corners of the mouth, the chin and the brows, of which one corner goes
//! round a loop of 1 cm radius in 60 moments while the others hold a pose. Without it: a sheet of
//! that size. `130+260` has 130 sliders and 260 shapes for products of two of them on the same
//! neutral, in the manner of `benches/peers/inverse_rig_numpy.py`; `600` has 600 sliders. Times are per
//! moment. `solve` is one quadratic problem, which peers solve, `drag` the default with all its solves.
//!
//! With `-- --write FOLDER` the quadratic problems of the drag are written instead, for
//! `benches/peers/pose_peers.py`, and the medians of single calls printed, which is how that script
//! times the peers.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

mod face;

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use criterion::{BatchSize, Criterion};
use face::{SHAPES, face_folder, face_rig, sheet_rig};
use pliant_linalg::{BoxQuadratic, BoxTerms, BoxWorkspace};
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_mesh::{Mesh, SurfaceIndex};
use pliant_rig::{
    Bounded, BoxProblem, Combination, Driver, Evaluator, Grab, Pin, Poser, Range, Rig, Rule, Target,
};

const MOMENTS: usize = 60;
/// Of Multi-PIE: the corner of the mouth that is dragged, the other one, the chin, the brows.
const LANDMARKS: [usize; 5] = [48, 54, 8, 19, 24];
const SLIDERS: usize = 130;
const PAIRS: usize = 260;
/// Sliders of a large rig.
const MANY: usize = 600;

/// A rig, pins on it and where they go.
struct Drag {
    rig: Rig,
    pins: Vec<Pin>,
    /// The displacements of all pins, moment by moment.
    moments: Vec<Vec<DVec3>>,
}

/// A neutral, five vertices of it and a centimetre.
struct Subject {
    name: &'static str,
    rig: Rig,
    vertices: [usize; 5],
    centimetre: f64,
}

/// The default without debiasing, so that peers solve the same problem.
fn without_debiasing() -> Bounded {
    Bounded::default().with_debiasing(false)
}

fn subject() -> Subject {
    if let Some(folder) = face_folder() {
        let path = folder.join("landmarks-multipie68.txt");
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        let landmarks: Vec<usize> = text
            .split_whitespace()
            .map(|word| word.parse().expect("landmarks are vertices"))
            .collect();

        return Subject {
            name: "ict",
            rig: face_rig(&folder),
            vertices: LANDMARKS.map(|k| landmarks[k]),
            centimetre: 1.0,
        };
    }

    let side = 164;
    let vertices = [(60, 50), (60, 110), (30, 80), (120, 55), (120, 105)]
        .map(|(row, column)| row * side + column);

    Subject {
        name: "sheet",
        rig: sheet_rig(),
        vertices,
        centimetre: 0.005,
    }
}

impl Drag {
    /// Pins at a pose of every fifth slider or so, the first of them on a loop.
    fn new(rig: Rig, vertices: [usize; 5], radius: f64) -> Self {
        let count = rig.targets().len();
        let start: Vec<f64> = (0..count)
            .map(|k| {
                if k % 5 == 2 {
                    0.2 + 0.6 * (k as f64 * 0.618).fract()
                } else {
                    0.0
                }
            })
            .collect();

        let posed = rig.evaluate(&start);
        let rest = rig.neutral().positions();
        let held = vertices.map(|v| posed[v] - rest[v]);
        let moment = |k: usize| {
            let angle_rad = std::f64::consts::TAU * k as f64 / MOMENTS as f64;
            let mut displacements = held.to_vec();
            displacements[0] += DVec3::new(
                angle_rad.sin(),
                1.0 - angle_rad.cos(),
                0.5 * (2.0 * angle_rad).sin(),
            ) * radius;
            displacements
        };

        Self {
            rig,
            pins: vertices.map(Pin::hold).to_vec(),
            moments: (0..MOMENTS).map(moment).collect(),
        }
    }

    fn grab(&self, poser: &Poser) -> Grab {
        self.grab_with(poser, &without_debiasing())
    }

    fn grab_with(&self, poser: &Poser, solver: &Bounded) -> Grab {
        poser
            .grab(&[], &self.pins, solver, Range::Clip)
            .expect("the pins are on the mesh")
    }

    fn problems(&self) -> Vec<BoxProblem> {
        let poser = Poser::new(&self.rig).expect("the rig has targets");
        let grab = self.grab(&poser);
        self.moments
            .iter()
            .map(|moment| {
                without_debiasing()
                    .problem(grab.system(), moment)
                    .expect("the grab was ready")
            })
            .collect()
    }
}

/// Gaussian bumps 1 to 4 cm wide and 1 cm high.
struct Bumps<'s> {
    subject: &'s Subject,
}

impl Bumps<'_> {
    /// Half of the bumps lie around the pins, the others anywhere.
    fn centre(&self, k: usize) -> DVec3 {
        let positions = self.subject.rig.neutral().positions();
        let anywhere = positions[(k * 7919) % positions.len()];
        if k.is_multiple_of(2) {
            positions[self.subject.vertices[k / 2 % 5]].lerp(anywhere, 0.15)
        } else {
            anywhere
        }
    }

    fn width(k: usize) -> f64 {
        1.0 + 3.0 * (k as f64 * 0.618).fract()
    }

    fn direction(k: f64) -> DVec3 {
        DVec3::new((k * 12.9).sin(), (k * 78.2).sin(), (k * 37.7).cos()).normalize()
    }

    fn deltas(&self, centre: DVec3, width: f64, offset: DVec3) -> Vec<Vec3> {
        let centimetre = self.subject.centimetre;
        let positions = self.subject.rig.neutral().positions();
        let mut deltas = Vec::with_capacity(positions.len());
        for p in positions {
            let part = p.distance_squared(centre) / (0.5 * width * centimetre).powi(2);
            let height = (-0.5 * part).exp();
            deltas.push(if height < 1e-3 {
                Vec3::ZERO
            } else {
                (offset * height * centimetre).as_vec3()
            });
        }
        deltas
    }

    fn rig(&self, count: usize) -> Rig {
        let target = |k: usize| {
            let deltas = self.deltas(self.centre(k), Self::width(k), Self::direction(k as f64));
            Target::from_dense(format!("bump {k}"), deltas)
        };
        let neutral = self.subject.rig.neutral().clone();
        Rig::new(neutral, (0..count).map(target).collect()).expect("bumps fit their mesh")
    }
}

/// Bumps, and smaller ones of 3 mm between two that overlap.
fn combined(subject: &Subject) -> Rig {
    let bumps = Bumps { subject };
    let width = Bumps::width;
    let overlap = |&(i, j): &(usize, usize)| {
        let distance = bumps.centre(i).distance(bumps.centre(j));
        distance < (width(i) + width(j)) * subject.centimetre
    };
    let pairs = (0..SLIDERS)
        .flat_map(|i| (i + 1..SLIDERS).map(move |j| (i, j)))
        .filter(overlap);

    let pairs: Vec<_> = pairs.collect();
    let combination = |k: usize| {
        let (i, j) = pairs[k * pairs.len() / PAIRS];
        let middle = bumps.centre(i).midpoint(bumps.centre(j));
        let narrow = 0.6 * width(i).min(width(j));
        let offset = Bumps::direction(k as f64 + 0.5) * 0.3;
        let between = Target::from_dense("", bumps.deltas(middle, narrow, offset));

        let drivers = vec![Driver::Slider(i.into()), Driver::Slider(j.into())];
        Combination {
            name: format!("pair {k}"),
            drivers,
            rule: Rule::Product,
            vertices: between.vertices,
            deltas: between.deltas,
        }
    };

    bumps
        .rig(SLIDERS)
        .with_combinations((0..PAIRS).map(combination).collect())
        .expect("pairs of sliders that are there")
}

fn prepare(criterion: &mut Criterion, name: &str, drag: &Drag) {
    let mut group = criterion.benchmark_group("pose");
    group.sample_size(20);
    group.bench_function(format!("new-and-first-grab/{name}"), |b| {
        b.iter(|| {
            let poser = Poser::new(black_box(&drag.rig)).expect("the rig has targets");
            drag.grab(&poser).system().pins().len()
        });
    });

    let poser = Poser::new(&drag.rig).expect("the rig has targets");
    drag.grab(&poser);
    group.bench_function(format!("grab-again/{name}"), |b| {
        b.iter(|| drag.grab(black_box(&poser)))
    });

    // One of the pins on a vertex that was no pin before.
    let mut pins = drag.pins.clone();
    let mut vertices = (0..drag.rig.neutral().vertex_count()).step_by(17).cycle();
    group.bench_function(format!("grab-with-new-pin/{name}"), |b| {
        b.iter(|| {
            pins[0] = Pin::hold(vertices.next().expect("there are vertices"));
            poser
                .grab(&[], black_box(&pins), &Bounded::default(), Range::Clip)
                .expect("the pins are on the mesh")
                .reset();
        });
    });

    group.finish();
}

fn solve(criterion: &mut Criterion, name: &str, drag: &Drag) {
    let mut group = criterion.benchmark_group("pose");
    let poser = Poser::new(&drag.rig).expect("the rig has targets");
    let one = without_debiasing();
    let all = Bounded::default();
    for (work, solver, start, forgets) in [
        ("solve", &one, "warm", false),
        ("solve", &one, "cold", true),
        ("drag", &all, "warm", false),
    ] {
        let mut grab = drag.grab_with(&poser, solver);
        let mut moments = drag.moments.iter().cycle();
        group.bench_function(format!("{work}/{name}/{start}"), |b| {
            b.iter(|| {
                if forgets {
                    grab.reset();
                }
                grab.solve(black_box(
                    moments.next().expect("a drag goes round and round"),
                ))
            });
        });
    }

    group.finish();
}

/// The quadratic programme alone.
fn programme(criterion: &mut Criterion, name: &str, drag: &Drag) {
    let mut group = criterion.benchmark_group("pose");
    let problems = drag.problems();
    let terms = |p: &'_ BoxProblem| -> [Vec<f64>; 4] {
        [
            p.linear.clone(),
            p.penalties.clone(),
            p.lower.clone(),
            p.upper.clone(),
        ]
    };

    let terms: Vec<[Vec<f64>; 4]> = problems.iter().map(terms).collect();
    let hessian = &problems[0].hessian;
    let quadratic = BoxQuadratic::new(hessian.clone()).expect("damping makes it definite");
    let mut workspace = BoxWorkspace::default();

    let mut x = vec![0.0; quadratic.size()];
    for (start, forgets, fresh) in [
        ("warm", false, false),
        ("cold", true, false),
        ("fresh", true, true),
    ] {
        let mut moments = terms.iter().cycle();
        group.bench_function(format!("programme/{name}/{start}"), |b| {
            b.iter(|| {
                let [linear, penalties, lower, upper] =
                    moments.next().expect("a drag goes round and round");
                if forgets {
                    x.fill(0.0);
                }

                let terms = BoxTerms {
                    linear,
                    penalties,
                    lower,
                    upper,
                };

                if fresh {
                    let quadratic = BoxQuadratic::new(black_box(hessian).clone())
                        .expect("damping makes it definite");
                    quadratic.solve(&terms, &mut x, &mut BoxWorkspace::default())
                } else {
                    quadratic.solve(&terms, &mut x, &mut workspace)
                }
            });
        });
    }

    group.finish();
}

/// From a pixel to positions and normals.
fn frame(criterion: &mut Criterion, name: &str, drag: &Drag) {
    let mut group = criterion.benchmark_group("pose");
    let poser = Poser::new(&drag.rig).expect("the rig has targets");
    let mut grab = drag.grab(&poser);
    let evaluator = Evaluator::new(drag.rig.neutral(), drag.rig.shapes());
    let mut evaluated = evaluator.start();
    let from = grab.system().positions()[0];

    let eye = from
        + DVec3::Z
            * 10.0
            * drag
                .rig
                .neutral()
                .bounds()
                .map_or(1.0, |bounds| bounds.diagonal());

    let mut moments = drag.moments.iter().cycle();
    let mut coefficients = vec![0.0; drag.rig.activation().shape_count()];
    group.bench_function(format!("frame/{name}"), |b| {
        b.iter(|| {
            let mut displacements = moments.next().expect("a drag goes round and round").clone();
            let ray = (from + displacements[0] - eye).normalize();

            // The pixel's ray, on the plane through the pin that faces the camera.
            displacements[0] =
                eye + ray * ((from - eye).dot(DVec3::NEG_Z) / ray.dot(DVec3::NEG_Z)) - from;

            let pose = grab.solve(black_box(&displacements));
            drag.rig
                .activation()
                .coefficients_into(&pose.weights, &mut coefficients);
            evaluator.update(&mut evaluated, &coefficients);

            (evaluated.positions()[0], evaluated.normals()[0])
        });
    });

    // What a click costs beside: a search tree over the pose, and a ray through it.
    group.bench_function(format!("pick/{name}"), |b| {
        b.iter_batched(
            || {
                drag.rig
                    .neutral()
                    .posed(evaluated.positions().to_vec())
                    .expect("finite positions")
            },
            |posed: Mesh| {
                SurfaceIndex::new(&posed).expect("a surface").cast_ray(
                    eye,
                    from - eye,
                    f64::INFINITY,
                )
            },
            BatchSize::LargeInput,
        );
    });

    group.finish();
}

/// `½ wᵀHw + fᵀw` within bounds that begin at zero, where the penalty on `|w|` is part of `f`.
fn write(folder: &Path, drag: &Drag) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let problems = drag.problems();
    let first = &problems[0];
    let n = problems[0].sliders.len();

    assert!(
        first.lower.iter().all(|&low| low == 0.0),
        "a drag from the neutral begins at the lower limits"
    );

    let linear = |p: &BoxProblem| -> Vec<f64> {
        p.linear
            .iter()
            .zip(&p.penalties)
            .map(|(f, penalty)| penalty - f)
            .collect()
    };

    let poser = Poser::new(&drag.rig).expect("the rig has targets");
    let mut grab = drag.grab(&poser);
    let weights: Vec<Vec<f64>> = drag
        .moments
        .iter()
        .map(|moment| grab.solve(moment).weights)
        .collect();

    let solution = weights
        .iter()
        .flat_map(|w| first.sliders.iter().map(|&k| w[k]));
    let pulls: Vec<Vec<DVec3>> = first
        .sliders
        .iter()
        .map(|&k| grab.system().pin_derivatives(k))
        .collect();

    let rows = (0..3 * drag.pins.len())
        .flat_map(|row| pulls.iter().map(move |pull| pull[row / 3][row % 3]));
    let goals = drag.moments.iter().flatten().flat_map(|d| d.to_array());
    write_npy(
        &folder.join("H.npy"),
        &[n, n],
        first.hessian.iter().copied(),
    )?;

    write_npy(
        &folder.join("f.npy"),
        &[MOMENTS, n],
        problems.iter().flat_map(linear),
    )?;
    write_npy(&folder.join("lower.npy"), &[n], first.lower.iter().copied())?;
    write_npy(&folder.join("upper.npy"), &[n], first.upper.iter().copied())?;
    write_npy(&folder.join("solution.npy"), &[MOMENTS, n], solution)?;
    write_npy(&folder.join("B.npy"), &[3 * drag.pins.len(), n], rows)?;

    write_npy(
        &folder.join("m.npy"),
        &[MOMENTS, 3 * drag.pins.len()],
        goals,
    )
}

/// The median milliseconds of single solves, in 15 rounds of the drag.
fn time_calls(drag: &Drag) {
    let poser = Poser::new(&drag.rig).expect("the rig has targets");
    let mut grab = drag.grab(&poser);
    for (start, forgets) in [("warm", false), ("cold", true)] {
        let mut times = Vec::new();
        for moment in drag.moments.iter().cycle().take(15 * MOMENTS) {
            if forgets {
                grab.reset();
            }
            let began = Instant::now();
            black_box(grab.solve(black_box(moment)));
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }

        times.sort_by(f64::total_cmp);
        let [low, median, high] = [1, 5, 9].map(|tenth| times[times.len() * tenth / 10]);
        println!(
            "solve_{start} {median:.5} ms (median of {}, 10–90 %: {low:.5} to {high:.5})",
            times.len()
        );
    }
}

fn write_npy(
    path: &Path,
    shape: &[usize],
    values: impl Iterator<Item = f64>,
) -> std::io::Result<()> {
    let sizes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({sizes}), }}");

    // Magic, version and length take 10 bytes; the data begins at a multiple of 64.
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(format!("{header:<width$}\n", width = length - 1).into_bytes());
    bytes.extend(values.flat_map(f64::to_le_bytes));

    std::fs::write(path, bytes)
}

fn main() -> std::io::Result<()> {
    let subject = subject();
    let drag = Drag::new(subject.rig.clone(), subject.vertices, subject.centimetre);
    let arguments: Vec<String> = std::env::args().collect();

    if let Some(folder) = arguments
        .iter()
        .position(|a| a == "--write")
        .and_then(|k| arguments.get(k + 1))
    {
        time_calls(&drag);
        return write(Path::new(folder), &drag);
    }

    let mut criterion = Criterion::default().configure_from_args();
    let name = format!("{SHAPES}x5-{}", subject.name);
    prepare(&mut criterion, &name, &drag);
    programme(&mut criterion, &name, &drag);
    solve(&mut criterion, &name, &drag);
    frame(&mut criterion, &name, &drag);

    let drag = Drag::new(combined(&subject), subject.vertices, subject.centimetre);
    let name = format!("{SLIDERS}+{PAIRS}-{}", subject.name);
    prepare(&mut criterion, &name, &drag);
    solve(&mut criterion, &name, &drag);

    let drag = Drag::new(
        Bumps { subject: &subject }.rig(MANY),
        subject.vertices,
        subject.centimetre,
    );
    let name = format!("{MANY}x5-{}", subject.name);
    prepare(&mut criterion, &name, &drag);
    solve(&mut criterion, &name, &drag);
    criterion.final_summary();
    Ok(())
}
