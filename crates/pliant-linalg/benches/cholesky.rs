//! Times of the sparse solver on the matrices of meshes, and these matrices for other libraries.
//!
//! `cargo bench -p pliant-linalg --bench cholesky` prints medians, as `method/matrix`. With `--
//! --write DIR` the matrices are written there first, for `benches/peers/cholesky_peers.py`, which
//! times other libraries on them.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use glam::DVec3;
use pliant_linalg::{SolveWorkspace, SparseMatrix, SpdSolver, Symbolic};

/// Numbers in [0, 1) from a fixed seed.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A Laplacian with uneven weights plus a small mass, on a closed triangle mesh whose quads are
/// split at random.
fn mesh_laplacian(width: u32, height: u32, shuffled: bool) -> SparseMatrix {
    let mut noise = Noise(0x9E37_79B9_7F4A_7C15);
    let n = width * height;
    let mut names: Vec<u32> = (0..n).collect();

    if shuffled {
        for k in (1..n as usize).rev() {
            names.swap(k, (noise.next() * (k + 1) as f64) as usize);
        }
    }

    let at = |x: u32, y: u32| names[((y % height) * width + x % width) as usize];
    let mut triplets: Vec<(u32, u32, f64)> = (0..n).map(|v| (v, v, 1e-4)).collect();
    for y in 0..height {
        for x in 0..width {
            let diagonal = if noise.next() < 0.5 {
                (at(x, y), at(x + 1, y + 1))
            } else {
                (at(x + 1, y), at(x, y + 1))
            };
            for (a, b) in [(at(x, y), at(x + 1, y)), (at(x, y), at(x, y + 1)), diagonal] {
                let weight = 0.2 + 1.6 * noise.next();
                triplets.extend([
                    (a, a, weight),
                    (b, b, weight),
                    (a, b, -weight),
                    (b, a, -weight),
                ]);
            }
        }
    }

    SparseMatrix::from_triplets(n as usize, n as usize, &triplets)
}

/// The Hessian of the springs along the edges of a solid cube of tetrahedra, three unknowns per
/// vertex, plus a small mass; and where each unknown lies.
fn spring_hessian(side: u32) -> (SparseMatrix, Vec<DVec3>) {
    let mut noise = Noise(0x2545_F491_4F6C_DD1D);
    let at = |x: u32, y: u32, z: u32| (z * side + y) * side + x;
    let points: Vec<DVec3> = (0..side.pow(3))
        .map(|v| {
            let corner = DVec3::new(
                f64::from(v % side),
                f64::from(v / side % side),
                f64::from(v / side / side),
            );
            corner + 0.3 * DVec3::new(noise.next(), noise.next(), noise.next())
        })
        .collect();

    let mut triplets = Vec::new();
    for v in 0..side.pow(3) {
        triplets.extend((0..9).map(|k| {
            (
                3 * v + k / 3,
                3 * v + k % 3,
                if k % 4 == 0 { 1e-2 } else { 0.0 },
            )
        }));

        let (x, y, z) = (v % side, v / side % side, v / side / side);
        for corner in 1..8 {
            let i = x + (corner & 1);
            let j = y + (corner >> 1 & 1);
            let k = z + (corner >> 2);
            if i < side && j < side && k < side {
                add_spring(&mut triplets, &points, v, at(i, j, k), 1.0 + noise.next());
            }
        }
    }

    let n = 3 * points.len();
    (
        SparseMatrix::from_triplets(n, n, &triplets),
        points.iter().flat_map(|&point| [point; 3]).collect(),
    )
}

fn add_spring(
    triplets: &mut Vec<(u32, u32, f64)>,
    points: &[DVec3],
    a: u32,
    b: u32,
    stiffness: f64,
) {
    let direction = (points[b as usize] - points[a as usize]).normalize();
    for i in 0..3 {
        for j in 0..3 {
            // Part of the stiffness in all directions stands for the stress.
            let value = stiffness * (direction[i] * direction[j] + if i == j { 0.05 } else { 0.0 });
            let (p, q) = (i as u32, j as u32);
            triplets.extend([(3 * a + p, 3 * a + q, value), (3 * b + p, 3 * b + q, value)]);
            triplets.extend([
                (3 * a + p, 3 * b + q, -value),
                (3 * b + p, 3 * a + q, -value),
            ]);
        }
    }
}

/// The median of the milliseconds that several runs of `work` take, with the fastest and slowest.
fn time<T>(name: &str, runs: usize, mut work: impl FnMut() -> T) {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();

    times.sort_by(f64::total_cmp);
    println!(
        "{name:<34} {:>9.2} ms   ({:.2} to {:.2})",
        times[runs / 2],
        times[0],
        times[runs - 1]
    );
}

fn measure(name: &str, matrix: &SparseMatrix, places: Option<&[DVec3]>) {
    let runs = if matrix.rows() < 50_000 { 31 } else { 11 };
    let analyse = || {
        places
            .map_or_else(
                || Symbolic::new(matrix),
                |places| Symbolic::with_places(matrix, places),
            )
            .map(Arc::new)
    };

    let factor = || SpdSolver::factor_with(analyse()?, matrix);
    let mut solver = factor().expect("the bench matrices are positive definite");
    println!(
        "{name}: {} unknowns, {} entries, {} in the factor",
        matrix.rows(),
        matrix.entries(),
        solver.factor_entries()
    );

    time(&format!("order_and_analyse/{name}"), runs, analyse);
    time(&format!("refactor/{name}"), runs, || {
        solver.refactor(matrix)
    });
    time(&format!("factor/{name}"), runs, factor);
    time(&format!("two_factors/{name}"), runs, || {
        factor().and_then(|first| first.factor_like(matrix))
    });

    let rhs: Vec<f64> = (0..matrix.rows())
        .map(|i| (i as f64 * 0.37).sin())
        .collect();
    let mut x = rhs.clone();
    let mut workspace = SolveWorkspace::new();

    time(&format!("solve/{name}"), 3 * runs, || {
        x.copy_from_slice(&rhs);
        solver.solve_in_place(&mut x, &mut workspace);
    });

    let points: Vec<DVec3> = rhs.iter().map(|&b| DVec3::new(b, 1.0 - b, 0.5)).collect();
    let mut solution = points.clone();
    time(&format!("solve_points/{name}"), 3 * runs, || {
        solution.copy_from_slice(&points);
        solver.solve_points_in_place(&mut solution, &mut workspace);
    });

    let residual = matrix
        .multiply(&x)
        .iter()
        .zip(&rhs)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);

    println!("{:<34} {residual:>9.1e}", format!("residual/{name}"));
}

/// Little-endian: rows and entries (u64), row starts (u64), columns (u32), values (f64).
fn write_matrix(path: &Path, matrix: &SparseMatrix) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(&(matrix.rows() as u64).to_le_bytes())?;
    file.write_all(&(matrix.entries() as u64).to_le_bytes())?;

    for &start in matrix.starts() {
        file.write_all(&(start as u64).to_le_bytes())?;
    }
    for index in matrix.indices() {
        file.write_all(&index.to_le_bytes())?;
    }
    for value in matrix.values() {
        file.write_all(&value.to_le_bytes())?;
    }

    file.flush()
}

/// A name, a matrix and, where the order is to make use of it, where each unknown lies.
type Case = (&'static str, fn() -> (SparseMatrix, Option<Vec<DVec3>>));

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = arguments
        .iter()
        .position(|a| a == "--write")
        .and_then(|k| arguments.get(k + 1));

    let filter = arguments
        .iter()
        .position(|a| a == "--only")
        .and_then(|k| arguments.get(k + 1));

    let cases: [Case; 6] = [
        ("laplacian_10k", || (mesh_laplacian(100, 100, false), None)),
        ("laplacian_43k", || (mesh_laplacian(297, 145, false), None)),
        ("laplacian_200k", || (mesh_laplacian(448, 448, false), None)),
        ("shuffled_200k", || (mesh_laplacian(448, 448, true), None)),
        ("springs_53k", || (spring_hessian(26).0, None)),
        ("springs_53k_by_place", || {
            let (matrix, places) = spring_hessian(26);
            (matrix, Some(places))
        }),
    ];

    for (name, make) in cases {
        if filter.is_some_and(|part| !name.contains(part.as_str())) {
            continue;
        }

        let (matrix, places) = make();
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder)?;
            write_matrix(&Path::new(folder).join(format!("{name}.csr")), &matrix)?;
        }

        measure(name, &matrix, places.as_deref());
    }

    Ok(())
}
