//! Blends that other programs compute as well, with the same springs.
//!
//! `cargo bench -p pliant-physics --bench peers -- FOLDER` computes 36 steps between a bar and the
//! same bar bent, at the sizes of table I, and with PLIANT_DATA set between two poses of the horse.
//! It prints the mean time of a step and writes springs, shapes, held vertices and our results to
//! FOLDER for `benches/peers/blend_peers.py`. With `memory fast` or `memory tight` instead of a
//! folder it computes one sequence at the largest size and prints the peak memory of the process.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

mod bar;

use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant_io::{LoadOptions, load, npy};
use pliant_linalg::RigidMotion;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{Blend, BlendOptions, EnergyTerms, Interior, InteriorOptions, Solver};

use bar::SIZES;

const STEPS: usize = 36;
/// Every fourth step is solved to the tighter tolerance.
const TIGHT_STRIDE: usize = 4;
/// Two poses of the horse, and how many vertices of its trunk are held.
const HORSE_POSES: [usize; 2] = [1, 4];
const HELD: usize = 40;

/// Two shapes and the vertices that are held, which hardly move between them.
struct Case {
    name: String,
    shapes: [Mesh; 2],
    held: Vec<usize>,
}

/// A sequence: the milliseconds of every step, and its surface vertices and interior points.
struct Walk {
    spans: Vec<f64>,
    frames: Vec<Vec<DVec3>>,
    failed: usize,
}

impl Case {
    fn bar((size, along, across): (&str, usize, usize)) -> Self {
        let shapes = bar::pair(along, across);
        let held = (0..shapes[0].vertex_count())
            .filter(|&v| shapes[0].positions()[v].x < 1e-9)
            .collect();
        Self {
            name: size.to_owned(),
            shapes,
            held,
        }
    }

    /// The horse, held at its trunk, with the second pose moved as a whole so that the trunk stays.
    fn horse(data: &Path) -> Self {
        let path = |end: &str| {
            data.join(format!("horse-camel/horse-poses.{end}"))
                .display()
                .to_string()
        };
        let locator = format!("{}+{}", path("reference.obj"), path("frames.npy"));

        let clip = load(&locator, &LoadOptions::default())
            .and_then(|asset| asset.clip())
            .expect("the horse");
        let [first, second] = HORSE_POSES.map(|pose| clip.mesh_at(pose).expect("a pose"));
        let middle = first.bounds().expect("vertices").center();
        let mut held: Vec<usize> = (0..first.vertex_count()).collect();

        held.sort_by(|&a, &b| {
            first.positions()[a]
                .distance(middle)
                .total_cmp(&first.positions()[b].distance(middle))
        });
        held.truncate(HELD);

        let places = |mesh: &Mesh| {
            held.iter()
                .map(|&v| mesh.positions()[v])
                .collect::<Vec<_>>()
        };
        let motion =
            RigidMotion::fit(&places(&second), &places(&first), None).expect("as many places");

        let second = second
            .posed(
                second
                    .positions()
                    .iter()
                    .map(|p| motion.apply(*p))
                    .collect(),
            )
            .expect("as many positions");

        Self {
            name: "horse".to_owned(),
            shapes: [first, second],
            held,
        }
    }

    fn blend(&self, solver: Solver) -> Blend {
        let options = BlendOptions::default()
            .with_energy(EnergyTerms::springs())
            .with_solver(solver)
            .with_fixed(self.held.clone());
        let mut blend = Blend::new(&self.shapes, &options).expect("the shapes are sound");
        blend
            .prepare_frames(STEPS + 1)
            .expect("the shapes are sound");
        blend
    }

    /// Every `stride`-th step between the shapes.
    fn walk(&self, blend: &mut Blend, stride: usize) -> Walk {
        let mut walk = Walk {
            spans: Vec::new(),
            frames: Vec::new(),
            failed: 0,
        };

        for step in (stride..STEPS).step_by(stride) {
            let began = Instant::now();
            let frame = blend
                .between(step as f64 / STEPS as f64)
                .expect("the shapes are sound");
            walk.spans.push(began.elapsed().as_secs_f64() * 1e3);
            walk.failed += usize::from(!frame.report.converged);
            walk.frames.push([frame.positions, frame.interior].concat());
        }

        walk
    }

    fn time(&self, folder: &Folder) {
        let began = Instant::now();
        let mut fast = self.blend(Solver::Fast);
        println!(
            "{:44} {:9.3} ms",
            format!("ready_fast/{}", self.name),
            began.elapsed().as_secs_f64() * 1e3
        );

        let walk = self.walk(&mut fast, 1);
        walk.show(&format!("fast/{}", self.name));
        self.write(&fast, &walk, folder);

        let mut tight = self.blend(Solver::Tight);
        self.walk(&mut tight, TIGHT_STRIDE)
            .show(&format!("tight/{}", self.name));
    }

    /// The springs by the rules of section 3.1, in no order that matters, and all that goes with
    /// them.
    fn write(&self, blend: &Blend, walk: &Walk, folder: &Folder) {
        let interior = Interior::fill(
            &[&self.shapes[0], &self.shapes[1]],
            &InteriorOptions::default(),
        )
        .expect("the shapes are sound");
        let springs = springs(&self.shapes[0], interior.tetrahedra());

        assert_eq!(
            springs.len(),
            blend.spring_counts().in_shape(),
            "the peer has as many springs as we have"
        );

        let name = |what: &str| format!("{}-{what}", self.name);
        folder.write(
            &name("springs"),
            npy::write_i64(
                &[springs.len(), 2],
                springs.iter().flatten().map(|&v| i64::from(v)),
            ),
        );

        folder.write(
            &name("held"),
            npy::write_i64(&[self.held.len()], self.held.iter().map(|&v| v as i64)),
        );

        for (s, shape) in self.shapes.iter().enumerate() {
            let points = [shape.positions(), interior.points(s)].concat();
            folder.write(
                &name(&format!("shape{s}")),
                npy::write_points(&[points.len()], &points),
            );
        }

        let points = walk.frames[0].len();
        folder.write(
            &name("ours"),
            npy::write_points(&[walk.frames.len(), points], walk.frames.iter().flatten()),
        );

        folder.write(
            &name("ours-ms"),
            npy::write_f64(&[walk.spans.len()], walk.spans.iter().copied()),
        );

        println!(
            "{}: {points} vertices, {} springs",
            self.name,
            springs.len()
        );
    }
}

impl Walk {
    fn show(&self, name: &str) {
        let mean = self.spans.iter().sum::<f64>() / self.spans.len() as f64;
        let [least, greatest] = [
            self.spans.iter().copied().fold(f64::INFINITY, f64::min),
            self.spans.iter().copied().fold(0.0, f64::max),
        ];
        println!("{name:44} {mean:9.3} ms   ({least:.3} to {greatest:.3})");
        if self.failed > 0 {
            println!("{name}: {} step(s) did not converge", self.failed);
        }
    }
}

/// Edges, pairs of second neighbours, and edges of tetrahedra, each once.
fn springs(mesh: &Mesh, tetrahedra: &[[u32; 4]]) -> Vec<[u32; 2]> {
    let topology = mesh.topology();
    let mut pairs: Vec<[u32; 2]> = topology.edges().to_vec();
    for vertex in 0..mesh.vertex_count() {
        pairs.extend(
            topology
                .two_ring(vertex)
                .into_iter()
                .map(|other| [vertex as u32, other]),
        );
    }

    for corners in tetrahedra {
        pairs.extend((0..4).flat_map(|k| (0..k).map(move |l| [corners[k], corners[l]])));
    }

    for pair in pairs.iter_mut() {
        pair.sort_unstable();
    }
    pairs.sort_unstable();
    pairs.dedup();

    pairs
}

/// Where the input for the peers goes.
struct Folder(PathBuf);

impl Folder {
    fn write(&self, name: &str, bytes: Vec<u8>) {
        std::fs::write(self.0.join(format!("{name}.npy")), bytes)
            .expect("a folder that can be written to");
    }
}

/// The most memory that this process ever had, as Linux counts it.
fn show_memory(solver: Solver, name: &str) {
    let case = Case::bar(SIZES[SIZES.len() - 1]);
    let walk = case.walk(&mut case.blend(solver), TIGHT_STRIDE);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| {
        line.strip_prefix("VmHWM:")?
            .trim()
            .strip_suffix(" kB")?
            .trim()
            .parse::<f64>()
            .ok()
    });

    match peak {
        Some(kilobytes) => {
            println!(
                "{:44} {:9.1} MB   ({} steps)",
                format!("memory_{name}/{}", case.name),
                kilobytes / 1024.0,
                walk.spans.len()
            )
        }
        None => println!("memory_{name}: this system does not report it"),
    }
}

fn main() {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["memory", "fast"] => show_memory(Solver::Fast, "fast"),
        ["memory", "tight"] => show_memory(Solver::Tight, "tight"),
        [folder] => {
            std::fs::create_dir_all(folder).expect("a folder");
            let folder = Folder(folder.into());
            for &size in SIZES.iter() {
                Case::bar(size).time(&folder);
            }
            if let Some(data) = std::env::var_os("PLIANT_DATA") {
                Case::horse(Path::new(&data)).time(&folder);
            }
        }
        _ => println!("give a folder for the input of the peers"),
    }
}
