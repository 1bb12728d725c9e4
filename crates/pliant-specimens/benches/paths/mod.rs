//! Drags along paths and far beyond reach, measured on one rig.

use std::collections::BTreeSet;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{triangle_normals, vertex_normals};
use pliant_rig::{Aim, Bounded, Grab, Pin, Poser, Range, Rig};

/// Goals that one to three sliders reach.
const GOALS: usize = 36;
/// Steps of a path.
const STEPS: usize = 60;
/// Pins that are held on the third path.
const HELD: usize = 4;
/// Far drags.
const FAR_DRAGS: usize = 50;
/// A slider counts as moved above this weight.
const MOVED: f64 = 0.02;
/// Motion nearer to the pin than this part of the size of the face belongs to the drag.
const DISC: f64 = 0.2;

/// Random numbers that are the same everywhere.
struct Lcg(u64);

impl Lcg {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn number(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        (self.number() * count as f64) as usize
    }

    fn direction(&mut self) -> DVec3 {
        loop {
            let v = DVec3::new(self.number(), self.number(), self.number()) * 2.0 - 1.0;
            if v.length_squared() <= 1.0 && v.length_squared() > 0.01 {
                return v.normalize();
            }
        }
    }
}

/// A rig with what the measures share.
pub(crate) struct Subject<'r> {
    rig: &'r Rig,
    poser: Poser,
    /// Lively vertices of the skin that look ahead.
    lively: Vec<usize>,
    /// Self-intersecting pairs of triangles of the neutral.
    crossing_at_rest: BTreeSet<[u32; 2]>,
    /// The largest stretch of each edge by a single slider at its limit.
    edges: Vec<([u32; 2], f64)>,
}

/// A drag far beyond reach.
struct FarDrag {
    vertex: usize,
    displacement: DVec3,
    aim: Aim,
}

impl<'r> Subject<'r> {
    /// `skin` is the number of vertices that belong to the skin.
    pub(crate) fn new(rig: &'r Rig, skin: usize) -> Self {
        let mut reach = vec![0.0_f32; rig.neutral().vertex_count()];
        for target in rig.targets() {
            for (&v, d) in target.vertices.iter().zip(&target.deltas) {
                reach[v as usize] = reach[v as usize].max(d.length());
            }
        }

        let most = reach[..skin].iter().copied().fold(0.0, f32::max);
        let normals = vertex_normals(rig.neutral());
        let lively: Vec<usize> = (0..skin).filter(|&v| reach[v] > 0.25 * most).collect();
        let ahead = lively.iter().copied().filter(|&v| normals[v].z > 0.2);
        let ahead: Vec<usize> = ahead.collect();

        // A face that looks along another axis is measured all around.
        let lively = if ahead.is_empty() { lively } else { ahead };

        Self {
            rig,
            poser: Poser::new(rig).expect("the rig can be posed"),
            lively,
            crossing_at_rest: crossing(rig.neutral()),
            edges: stretchable_edges(rig),
        }
    }

    fn grab(&self, pins: &[Pin], solver: &Bounded) -> Grab {
        let grab = self.poser.grab(&[], pins, solver, Range::Clip);
        grab.expect("pins on the skin")
    }

    /// A pin, and a goal that one to three sliders reach that do not undo each other.
    fn planted(&self, rng: &mut Lcg, count: usize) -> (usize, DVec3) {
        loop {
            let vertex = self.lively[rng.below(self.lively.len())];
            let grab = self.grab(&[Pin::hold(vertex)], &Bounded::default());
            let pulls: Vec<DVec3> = (0..self.rig.targets().len())
                .map(|slider| grab.system().pin_derivatives(slider)[0])
                .collect();

            let most = pulls.iter().map(|p| p.length()).fold(0.0, f64::max);
            let strong: Vec<usize> = (0..pulls.len())
                .filter(|&k| pulls[k].length() > 0.2 * most && !needs_another(self.rig, k))
                .collect();

            let mut goal = DVec3::ZERO;
            let mut used: Vec<usize> = Vec::new();
            for _ in 0..count {
                let slider = strong[rng.below(strong.len())];
                let weight = 0.2 + 0.6 * rng.number();
                let undone = used.iter().any(|&u| pulls[u].dot(pulls[slider]) < 0.0);
                if !undone && !used.contains(&slider) {
                    used.push(slider);
                    goal += pulls[slider] * weight;
                }
            }
            if goal.length() > 0.1 * most {
                return (vertex, goal);
            }
        }
    }

    /// Prints errors and largest changes along paths.
    pub(crate) fn measure_paths(&self, name: &str, solver: &Bounded) {
        let mut rng = Lcg::new(21);
        let mut missed = Vec::new();
        let mut moved = Vec::new();
        let mut changes = [Vec::new(), Vec::new(), Vec::new()];
        let mut halved = [Vec::new(), Vec::new(), Vec::new()];
        let mut returned = 0;
        for k in 0..GOALS {
            let (vertex, goal) = self.planted(&mut rng, 1 + k % 3);
            let side = goal.cross(rng.direction()).normalize_or_zero() * 0.4 * goal.length();
            let curved = |t: f64| goal * t + side * (std::f64::consts::PI * t).sin();
            let twice = |t: f64| goal * (2.0 * t);

            let mut pins = vec![Pin::hold(vertex)];
            let mut grab = self.grab(&pins, solver);
            let pose = grab.solve(&[goal]);
            missed.push(100.0 * pose.pins[0].error / goal.length());
            moved.push(pose.active_sliders() as f64);

            for _ in 0..HELD {
                pins.push(Pin::hold(self.lively[rng.below(self.lively.len())]));
            }
            let mut held = self.grab(&pins, solver);

            if std::env::var_os("DRAG_EACH").is_some() {
                let path = [
                    fastest(&mut grab, &curved),
                    fastest(&mut grab, &twice),
                    fastest(&mut held, &curved),
                ];
                let words = path.map(|(slider, t, change)| {
                    format!("{change:.3} {} at {t:.2}", self.rig.targets()[slider].name)
                });
                println!(
                    "  {k} v{vertex} {:.1?} missed {:.1} %, {} sliders: {}",
                    goal.to_array(),
                    missed[k],
                    moved[k],
                    words.join("; ")
                );
            }

            for (steps, all) in [(STEPS, &mut changes), (2 * STEPS, &mut halved)] {
                all[0].push(largest_change(&mut grab, &curved, steps));
                all[1].push(largest_change(&mut grab, &twice, steps));
                all[2].push(largest_change(&mut held, &curved, steps));
            }
            let back = held.solve(&vec![DVec3::ZERO; pins.len()]);
            returned += usize::from(back.weights.iter().all(|w| *w == 0.0));
        }

        println!(
            "{name:10} in reach missed {:5.2} % (9 in 10 {:5.1} %) by {:.1} sliders; largest change curved {}, to twice the goal {}, with {HELD} held pins {}; half steps {:.2} {:.2} {:.2}; back at the start {returned} of {GOALS}",
            at(&missed, 0.5),
            at(&missed, 0.9),
            mean(&moved),
            three(&changes[0]),
            three(&changes[1]),
            three(&changes[2]),
            mean(&halved[0]) / mean(&changes[0]),
            mean(&halved[1]) / mean(&changes[1]),
            mean(&halved[2]) / mean(&changes[2]),
        );
    }

    fn far_drags(&self) -> Vec<FarDrag> {
        let mut rng = Lcg::new(77);
        let size = self.poser.size();
        let one = |k: usize| {
            let angle_rad = std::f64::consts::TAU * rng.number();
            let depth = if k.is_multiple_of(2) {
                0.0
            } else {
                rng.number() - 0.5
            };
            let length = size * (0.15 + 0.65 * rng.number());
            FarDrag {
                vertex: self.lively[rng.below(self.lively.len())],
                displacement: DVec3::new(angle_rad.cos(), angle_rad.sin(), depth).normalize()
                    * length,
                aim: if k.is_multiple_of(2) {
                    Aim::Across(DVec3::Z)
                } else {
                    Aim::Point
                },
            }
        };
        (0..FAR_DRAGS).map(one).collect()
    }

    /// Prints figures of drags far beyond reach.
    pub(crate) fn measure_far(&self, name: &str, solver: &Bounded, best: &Bounded) {
        let names = [
            "moved",
            "at a limit",
            "outside %",
            "stretch",
            "folded %",
            "crossing",
            "above best %",
        ];
        let mut figures = vec![Vec::new(); names.len()];
        for drag in self.far_drags() {
            let pin = Pin::hold(drag.vertex).with_aim(drag.aim.clone());
            let pose = self
                .grab(std::slice::from_ref(&pin), solver)
                .solve(&[drag.displacement]);
            let least = self.grab(&[pin], best).solve(&[drag.displacement]).pins[0].error;
            let weights = &pose.weights;

            let sliders = self.rig.sliders();
            let at_limit = |k: &usize| weights[*k] != 0.0 && weights[*k] >= sliders[*k].limits.max;
            let mesh = self.rig.neutral().posed(self.rig.evaluate(weights));
            let mesh = mesh.expect("the same vertices");
            figures[0].push(weights.iter().filter(|w| w.abs() > MOVED).count() as f64);
            figures[1].push((0..weights.len()).filter(at_limit).count() as f64);
            figures[2].push(100.0 * self.outside(&mesh, drag.vertex));
            figures[3].push(self.stretch(&mesh));
            figures[4].push(100.0 * folded(self.rig.neutral(), &mesh));
            figures[5].push(crossing(&mesh).difference(&self.crossing_at_rest).count() as f64);
            figures[6].push(100.0 * (pose.pins[0].error - least) / drag.displacement.length());
        }

        let words = names.iter().zip(&figures);
        let words: Vec<String> = words
            .map(|(name, all)| {
                format!(
                    "{name} {:.2} (9 in 10 {:.2}, most {:.2})",
                    mean(all),
                    at(all, 0.9),
                    at(all, 1.0)
                )
            })
            .collect();
        println!("{name:10} far: {}", words.join("; "));
    }

    /// The part of the squared motion that lies farther from the pin than the disc.
    fn outside(&self, posed: &Mesh, vertex: usize) -> f64 {
        let rest = self.rig.neutral().positions();
        let (mut outside, mut whole) = (0.0, 0.0);
        for (a, b) in rest.iter().zip(posed.positions()) {
            let motion = a.distance_squared(*b);
            whole += motion;
            if a.distance(rest[vertex]) > DISC * self.poser.size() {
                outside += motion;
            }
        }

        if whole > 0.0 { outside / whole } else { 0.0 }
    }

    /// The largest stretch of an edge relative to the largest that a single slider gives it.
    fn stretch(&self, posed: &Mesh) -> f64 {
        let positions = posed.positions();
        let rest = self.rig.neutral().positions();
        let mut ratios = Vec::new();
        for ([a, b], alone) in &self.edges {
            let length = rest[*a as usize].distance(rest[*b as usize]);
            let now = positions[*a as usize].distance(positions[*b as usize]);
            ratios.push((now / length - 1.0).abs() / alone);
        }

        at(&ratios, 0.999)
    }
}

/// Whether the slider only makes sense with another one.
fn needs_another(rig: &Rig, slider: usize) -> bool {
    rig.targets()[slider]
        .name
        .to_lowercase()
        .contains("mouthclose")
}

/// The slider that changes most in one of the steps of a path, where it does so, and by how much.
fn fastest(grab: &mut Grab, path: &dyn Fn(f64) -> DVec3) -> (usize, f64, f64) {
    let mut goals = vec![DVec3::ZERO; grab.system().pins().len()];
    let mut last = grab.solve(&goals).weights;
    let mut fastest = (0, 0.0, 0.0);
    for k in 1..=STEPS {
        let t = k as f64 / STEPS as f64;
        goals[0] = path(t);
        let next = grab.solve(&goals).weights;
        for (slider, (a, b)) in last.iter().zip(&next).enumerate() {
            if (a - b).abs() > fastest.2 {
                fastest = (slider, t, (a - b).abs());
            }
        }
        last = next;
    }
    fastest
}

fn largest_change(grab: &mut Grab, path: &dyn Fn(f64) -> DVec3, steps: usize) -> f64 {
    let mut goals = vec![DVec3::ZERO; grab.system().pins().len()];
    let mut last = grab.solve(&goals).weights;
    let mut largest = 0.0_f64;
    for k in 1..=steps {
        goals[0] = path(k as f64 / steps as f64);
        let next = grab.solve(&goals).weights;
        for (a, b) in last.iter().zip(&next) {
            largest = largest.max((a - b).abs());
        }
        last = next;
    }

    largest
}

fn crossing(mesh: &Mesh) -> BTreeSet<[u32; 2]> {
    let pairs = mesh.self_intersections().unwrap_or_default();
    pairs.into_iter().collect()
}

/// Edges with the largest stretch or shrinking by a single slider, at least 5 %.
fn stretchable_edges(rig: &Rig) -> Vec<([u32; 2], f64)> {
    let mesh = rig.neutral();
    let mut edges = BTreeSet::new();
    for triangle in mesh.triangles() {
        for k in 0..3 {
            let [a, b] = [triangle[k], triangle[(k + 1) % 3]];
            edges.insert([a.min(b), a.max(b)]);
        }
    }
    let rest = mesh.positions();
    let mut stretch: Vec<([u32; 2], f64)> = edges.into_iter().map(|e| (e, 0.05)).collect();
    stretch.retain(|([a, b], _)| rest[*a as usize] != rest[*b as usize]);

    for (slider, settings) in rig.sliders().iter().enumerate() {
        let mut weights = vec![0.0; rig.targets().len()];
        weights[slider] = settings.limits.max;
        let posed = rig.evaluate(&weights);
        for ([a, b], largest) in &mut stretch {
            let [a, b] = [*a as usize, *b as usize];
            let ratio = posed[a].distance(posed[b]) / rest[a].distance(rest[b]);
            *largest = largest.max((ratio - 1.0).abs());
        }
    }

    stretch
}

/// The part of the area whose normal is rotated by more than a right angle.
fn folded(neutral: &Mesh, posed: &Mesh) -> f64 {
    let before = triangle_normals(neutral);
    let after = triangle_normals(posed);
    let (mut folded, mut whole) = (0.0, 0.0);
    for (k, (a, b)) in before.iter().zip(&after).enumerate() {
        let area = pliant_mesh::triangle_area(neutral.triangle_points(k));
        whole += area;
        folded += if a.dot(*b) < 0.0 { area } else { 0.0 };
    }

    folded / whole
}

fn three(values: &[f64]) -> String {
    format!(
        "{:.3} (9 in 10 {:.3}, most {:.3})",
        at(values, 0.5),
        at(values, 0.9),
        at(values, 1.0)
    )
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn at(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * part) as usize]
}
