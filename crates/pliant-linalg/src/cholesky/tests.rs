use super::*;

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

/// A graph Laplacian with uneven weights plus `mass` on the diagonal.
fn laplacian(n: usize, edges: &[(u32, u32)], mass: f64) -> SparseMatrix {
    let mut noise = Noise(7);
    let mut triplets: Vec<_> = (0..n as u32).map(|v| (v, v, mass)).collect();
    for &(a, b) in edges {
        let weight = 0.2 + noise.next();
        triplets.extend([
            (a, a, weight),
            (b, b, weight),
            (a, b, -weight),
            (b, a, -weight),
        ]);
    }

    SparseMatrix::from_triplets(n, n, &triplets)
}

fn grid(width: u32, height: u32) -> Vec<(u32, u32)> {
    let at = |x: u32, y: u32| y * width + x;
    let cells = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    cells
        .flat_map(|(x, y)| [(x, y, x + 1, y), (x, y, x, y + 1), (x, y, x + 1, y + 1)])
        .filter(|&(_, _, x, y)| x < width && y < height)
        .map(|(x, y, u, v)| (at(x, y), at(u, v)))
        .collect()
}

/// A Laplacian on a solid grid with three unknowns per vertex.
fn solid(side: u32) -> SparseMatrix {
    let at = |x: u32, y: u32, z: u32| (z * side + y) * side + x;
    let mut edges = Vec::new();
    for v in 0..side.pow(3) {
        let (x, y, z) = (v % side, v / side % side, v / side / side);
        for c in 0..8 {
            let i = x + (c & 1);
            let j = y + (c >> 1 & 1);
            let k = z + (c >> 2);
            if i < side && j < side && k < side {
                let all = (0..9).map(|p| (3 * v + p / 3, 3 * at(i, j, k) + p % 3));
                edges.extend(all.filter(|&(a, b)| a != b));
            }
        }
    }

    laplacian(3 * side.pow(3) as usize, &edges, 0.1)
}

fn random_matrix(n: usize, edges: usize, seed: u64) -> SparseMatrix {
    let mut noise = Noise(seed);
    let mut pick = |n: usize| (noise.next() * n as f64) as u32;
    let edges: Vec<_> = (0..edges)
        .map(|_| (pick(n), pick(n)))
        .filter(|(a, b)| a != b)
        .collect();
    laplacian(n, &edges, 0.01)
}

fn rhs(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64).sin()).collect()
}

/// The largest residual of a solve, relative to the matrix and the solution.
fn residual(matrix: &SparseMatrix, x: &[f64], b: &[f64]) -> f64 {
    let norm = matrix.values().iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let size = x.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let largest = matrix
        .multiply(x)
        .iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);

    if largest == 0.0 {
        0.0
    } else {
        largest / (norm * size)
    }
}

fn samples() -> Vec<SparseMatrix> {
    let star: Vec<_> = (1..3000).map(|i| (0, i)).collect();
    let complete: Vec<_> = (0..150).flat_map(|i| (0..i).map(move |j| (j, i))).collect();
    vec![
        laplacian(0, &[], 1.0),
        laplacian(1, &[], 2.0),
        laplacian(500, &[], 2.0),
        laplacian(3000, &star, 0.1),
        laplacian(150, &complete, 0.1),
        laplacian(70 * 60, &grid(70, 60), 1e-3),
        laplacian(200 * 150, &grid(200, 150), 1e-3),
        random_matrix(300, 900, 3),
        random_matrix(2000, 3000, 5),
        solid(9),
    ]
}

#[test]
fn solutions_satisfy_the_equations_on_matrices_of_all_kinds() {
    for matrix in samples() {
        let b = rhs(matrix.rows());
        let x = SpdSolver::factor(&matrix).unwrap().solve(&b);
        let error = residual(&matrix, &x, &b);
        assert!(error < 1e-13, "{} unknowns: {error:e}", matrix.rows());
    }
}

#[test]
fn one_wide_block_is_factored_in_tiles() {
    let complete: Vec<_> = (0..700).flat_map(|i| (0..i).map(move |j| (j, i))).collect();
    let matrix = laplacian(700, &complete, 0.1);
    let b = rhs(700);
    assert!(residual(&matrix, &SpdSolver::factor(&matrix).unwrap().solve(&b), &b) < 1e-13);
}

#[test]
fn refactoring_gives_the_bits_of_factoring_anew() {
    let first = laplacian(80 * 70, &grid(80, 70), 0.01);
    let mut second = first.clone();
    for value in second.values_mut().iter_mut() {
        *value *= 1.7;
    }

    let mut solver = SpdSolver::factor(&first).unwrap();
    let anew = SpdSolver::factor(&second).unwrap();
    let like = solver.factor_like(&second).unwrap();
    solver.refactor(&second).unwrap();

    let b = rhs(first.rows());
    assert_eq!(solver.solve(&b), anew.solve(&b));
    assert_eq!(like.solve(&b), anew.solve(&b));
    assert!(Arc::ptr_eq(solver.symbolic(), like.symbolic()));
}

#[test]
fn a_matrix_with_another_pattern_is_declined() {
    let mut solver = SpdSolver::factor(&laplacian(4, &[(0, 1), (1, 2)], 1.0)).unwrap();
    assert_eq!(
        solver.refactor(&laplacian(4, &[(0, 1), (1, 3)], 1.0)),
        Err(LinalgError::OtherPattern)
    );
}

#[test]
fn points_and_columns_are_solved_like_single_right_hand_sides() {
    // Sums run in another order for several right-hand sides, so the last bits may differ.
    for matrix in samples() {
        let n = matrix.rows();
        let solver = SpdSolver::factor(&matrix).unwrap();
        let columns: Vec<Vec<f64>> = (0..6)
            .map(|c| (0..n).map(|i| (0.3 * (i * (c + 1)) as f64).cos()).collect())
            .collect();
        let single: Vec<Vec<f64>> = columns.iter().map(|column| solver.solve(column)).collect();
        let mut many = columns.clone();

        solver.solve_columns(&mut many);
        let points: Vec<DVec3> = (0..n)
            .map(|i| DVec3::new(columns[0][i], columns[1][i], columns[2][i]))
            .collect();
        let points = solver.solve_points(&points);

        for (c, expected) in single.iter().enumerate() {
            let tolerance = 1e-11 * expected.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            assert!(
                expected
                    .iter()
                    .zip(&many[c])
                    .all(|(a, b)| (a - b).abs() <= tolerance)
            );

            assert!(
                c > 2
                    || expected
                        .iter()
                        .zip(&points)
                        .all(|(a, p)| (a - p[c]).abs() <= tolerance)
            );
        }
    }
}

#[test]
fn the_error_names_a_singular_component_wherever_it_lies() {
    for (pinned, loose) in [(0, 2500), (2500, 0)] {
        // Two grids of 50 x 50, one of them without a term on the diagonal.
        let mut edges: Vec<_> = grid(50, 50);
        edges.extend(grid(50, 50).iter().map(|&(a, b)| (a + 2500, b + 2500)));

        let mut matrix = laplacian(5000, &edges, 0.0);
        let diagonal = matrix
            .row(pinned)
            .0
            .iter()
            .position(|&c| c as usize == pinned)
            .unwrap();

        let place = matrix.starts()[pinned] + diagonal;
        matrix.values_mut()[place] += 1.0;
        match SpdSolver::factor(&matrix) {
            Err(LinalgError::NotPositiveDefinite { unknown, size }) => {
                assert_eq!(size, 2500);
                assert!(
                    (loose..loose + 2500).contains(&unknown),
                    "unknown {unknown}"
                );
            }
            other => panic!("a singular matrix was factored: {:?}", other.map(|_| ())),
        }
    }
}

#[test]
fn large_singular_laplacians_are_detected_and_small_masses_are_accepted() {
    for side in [10, 30, 100, 300, 600] {
        let edges = grid(side, side);
        let n = (side * side) as usize;
        assert!(
            matches!(SpdSolver::factor(&laplacian(n, &edges, 0.0)), Err(LinalgError::NotPositiveDefinite { size, .. }) if size == n)
        );
        assert!(SpdSolver::factor(&laplacian(n, &edges, 1e-10)).is_ok());
    }
}

#[test]
fn indefinite_empty_and_unfit_matrices_are_errors() {
    let indefinite =
        SparseMatrix::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 1.0)]);
    assert!(matches!(
        SpdSolver::factor(&indefinite),
        Err(LinalgError::NotPositiveDefinite { size: 2, .. })
    ));

    let hollow = SparseMatrix::from_triplets(3, 3, &[(0, 0, 1.0), (2, 2, 1.0)]);
    assert_eq!(
        SpdSolver::factor(&hollow).unwrap_err(),
        LinalgError::NotPositiveDefinite {
            unknown: 1,
            size: 1
        }
    );

    let nan = SparseMatrix::diagonal(&[1.0, f64::NAN, 1.0]);
    assert_eq!(
        SpdSolver::factor(&nan).unwrap_err(),
        LinalgError::NotFinite { row: 1 }
    );

    let wide = SparseMatrix::from_triplets(2, 3, &[(0, 0, 1.0)]);
    assert!(matches!(
        SpdSolver::factor(&wide),
        Err(LinalgError::Size {
            found: 2,
            expected: 3,
            ..
        })
    ));

    let lower = SparseMatrix::from_triplets(2, 2, &[(0, 0, 1.0), (1, 0, 0.1), (1, 1, 1.0)]);
    assert!(matches!(
        SpdSolver::factor(&lower),
        Err(LinalgError::NotSymmetric { .. })
    ));
}

#[cfg(feature = "parallel")]
#[test]
fn bits_are_the_same_on_one_thread_and_on_more() {
    for matrix in [laplacian(200 * 150, &grid(200, 150), 1e-3), solid(12)] {
        let b = rhs(matrix.rows());
        let points: Vec<DVec3> = b.iter().map(|&v| DVec3::new(v, 1.0 - v, v * v)).collect();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a pool of threads");
            pool.install(|| {
                let solver = SpdSolver::factor(&matrix).unwrap();
                (solver.solve(&b), solver.solve_points(&points))
            })
        };

        assert_eq!(on(1), on(2));
        assert_eq!(on(1), on(5));
    }
}

#[test]
fn geometric_ordering_has_similar_fill_and_gives_the_same_solution() {
    let matrix = laplacian(60 * 50, &grid(60, 50), 0.01);
    let flat: Vec<DVec3> = (0..60 * 50)
        .map(|v| DVec3::new(f64::from(v % 60), f64::from(v / 60), 0.0))
        .collect();
    let by_graph = Symbolic::new(&matrix).unwrap();

    // Equal places still give a valid order, with more fill.
    for (places, most) in [(flat, 1.3), (vec![DVec3::ONE; 60 * 50], 20.0)] {
        let by_place = Symbolic::with_places(&matrix, &places).unwrap();
        assert!((by_place.factor_entries() as f64) < most * by_graph.factor_entries() as f64);
        let solver = SpdSolver::factor_with(Arc::new(by_place), &matrix).unwrap();
        let b = rhs(matrix.rows());
        assert!(residual(&matrix, &solver.solve(&b), &b) < 1e-10);
    }

    let message = Symbolic::with_places(&matrix, &[DVec3::ZERO])
        .unwrap_err()
        .to_string();

    assert!(
        message.contains("places") && message.contains("3000"),
        "{message}"
    );
}

#[test]
fn a_right_hand_side_of_one_entry_gives_a_column_of_the_inverse() {
    for matrix in samples().into_iter().filter(|matrix| matrix.rows() > 0) {
        let solver = SpdSolver::factor(&matrix).unwrap();
        let mut unit = vec![0.0; matrix.rows()];
        unit[matrix.rows() / 3] = 1.0;

        assert!(residual(&matrix, &solver.solve(&unit), &unit) < 1e-10);
        assert!(
            solver
                .solve(&vec![0.0; matrix.rows()])
                .iter()
                .all(|&x| x == 0.0)
        );
    }
}
