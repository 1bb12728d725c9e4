//! Random points and irregular surfaces that claims are tested on.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use crate::Mesh;

/// A splitmix64 generator: equal numbers on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in the cube [-1, 1)³.
    pub(crate) fn point(&mut self) -> DVec3 {
        DVec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - DVec3::ONE
    }
}

/// Points in the cube [-1, 1)³.
pub(crate) fn random_points(seed: u64, count: usize) -> Vec<DVec3> {
    let mut random = Random(seed);
    (0..count).map(|_| random.point()).collect()
}

/// `columns` × `rows` unit squares in the plane z = 0 as quads, facing +z.
pub(crate) fn grid(columns: u32, rows: u32) -> Mesh {
    let positions = (0..=rows)
        .flat_map(|j| (0..=columns).map(move |i| DVec3::new(f64::from(i), f64::from(j), 0.0)))
        .collect();
    let quads: Vec<Vec<u32>> = (0..rows)
        .flat_map(|j| {
            (0..columns).map(move |i| {
                let v = j * (columns + 1) + i;
                vec![v, v + 1, v + columns + 2, v + columns + 1]
            })
        })
        .collect();

    Mesh::from_polygons(positions, &quads).expect("quads of a grid")
}

/// A torus of radii 2 and 1 whose quads are cut along either diagonal, so that valences vary.
pub(crate) fn irregular_torus(around: u32, through: u32) -> Mesh {
    let at = |i: u32, j: u32| (i % around) * through + j % through;
    let positions = (0..around * through)
        .map(|v| {
            let u = f64::from(v / through) / f64::from(around) * TAU;
            let w = f64::from(v % through) / f64::from(through) * TAU;
            (DVec2::from_angle(u) * (2.0 + w.cos())).extend(w.sin())
        })
        .collect();

    let mut random = Random(1);
    let mut triangles = Vec::new();
    for i in 0..around {
        for j in 0..through {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend(if random.unit() < 0.5 {
                [[a, b, c], [a, c, d]]
            } else {
                [[a, b, d], [b, c, d]]
            });
        }
    }

    Mesh::from_triangles(positions, &triangles).expect("quads of a torus")
}
