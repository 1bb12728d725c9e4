//! The left half of the head: vertices, quads and the part of each vertex.
//!
//! **Problem.** Left and right must be mirror images to the bit.
//!
//! **Departures.** Only the half with x ≥ 0 is ever computed. The other is its copy with x negated;
//! vertices on the midline have x = 0 exactly and are shared.

use pliant_mesh::glam::DVec3;

/// The part that a vertex belongs to, and its place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::head) enum Part {
    /// Skin between the openings.
    Skin,
    /// A ring around the eye, counted from the outside; steps run from the inner corner over the
    /// upper lid.
    Eye { ring: u16, step: u16 },
    /// A ring around the mouth, counted from the outside; steps run from the middle of the upper
    /// lip to the corner and back along the lower lip.
    Mouth { ring: u16, step: u16 },
    /// The closed end of the mouth bag.
    Throat,
    /// Inside the nostril.
    Nostril,
    /// The outer ear.
    Ear,
    /// The eyeball.
    Eyeball,
    /// The eyebrow, which floats on the skin.
    Brow,
    /// Teeth and gum of the upper jaw.
    UpperTeeth,
    /// Teeth and gum of the lower jaw.
    LowerTeeth,
    /// The tongue.
    Tongue,
}

/// Vertices and quads of one half.
#[derive(Debug, Clone, Default)]
pub(in crate::head) struct Half {
    pub(in crate::head) points: Vec<DVec3>,
    pub(in crate::head) parts: Vec<Part>,
    /// Vertices that relaxation leaves where they are.
    pub(in crate::head) pinned: Vec<bool>,
    /// Vertices shared by both halves.
    pub(in crate::head) midline: Vec<bool>,
    pub(in crate::head) quads: Vec<[u32; 4]>,
    pub(in crate::head) materials: Vec<&'static str>,
    /// The grid's loop around the mouth, by step.
    pub(in crate::head) mouth_loop: Vec<u32>,
}

impl Half {
    /// Adds a vertex; on the midline its x becomes zero.
    pub(in crate::head) fn point(
        &mut self,
        p: DVec3,
        part: Part,
        pinned: bool,
        midline: bool,
    ) -> u32 {
        self.points.push(if midline {
            DVec3::new(0.0, p.y, p.z)
        } else {
            p
        });
        self.parts.push(part);
        self.pinned.push(pinned);
        self.midline.push(midline);
        self.points.len() as u32 - 1
    }

    /// Adds a quad, counter-clockwise seen from outside.
    pub(in crate::head) fn quad(&mut self, corners: [u32; 4], material: &'static str) {
        self.quads.push(corners);
        self.materials.push(material);
    }

    /// Joins two rings of equal length that run clockwise seen from outside; a closed ring repeats
    /// its first vertex.
    pub(in crate::head) fn strip(&mut self, outer: &[u32], inner: &[u32], material: &'static str) {
        assert_eq!(
            outer.len(),
            inner.len(),
            "rings of one patch have equal length"
        );
        for k in 0..outer.len() - 1 {
            self.quad([inner[k], inner[k + 1], outer[k + 1], outer[k]], material);
        }
    }

    /// Closes an open ring that runs from the midline to the midline with a grid `width` wide.
    ///
    /// `clockwise` says how the ring runs seen from outside.
    pub(in crate::head) fn half_cap(
        &mut self,
        ring: &[u32],
        width: usize,
        part: Part,
        clockwise: bool,
        material: &'static str,
    ) {
        let depth = ring.len() - 1 - 2 * width;

        // The border of the grid is the ring; inner vertices are interpolated from it.
        let mut grid = vec![vec![u32::MAX; depth + 1]; width + 1];
        for a in 0..=width {
            for b in 0..=depth {
                grid[a][b] = match (a, b) {
                    (a, 0) => ring[a],
                    (a, b) if a == width => ring[width + b],
                    (a, b) if b == depth => ring[2 * width + depth - a],
                    _ => {
                        let p = self.coons(ring, width, depth, a, b);
                        self.point(p, part, false, a == 0)
                    }
                };
            }
        }

        // Quads between the rows, oriented as the ring runs.
        for a in 0..width {
            for b in 0..depth {
                let corners = [
                    grid[a][b],
                    grid[a + 1][b],
                    grid[a + 1][b + 1],
                    grid[a][b + 1],
                ];
                let rotated = [corners[0], corners[3], corners[2], corners[1]];
                self.quad(if clockwise { rotated } else { corners }, material);
            }
        }
    }

    /// Between the sides of a half cap: the mean of the interpolations by columns and by rows, the
    /// middle row being mirrored.
    fn coons(&self, ring: &[u32], width: usize, depth: usize, a: usize, b: usize) -> DVec3 {
        let p = |k: usize| self.points[ring[k] as usize];
        let front = p(a);
        let back = p(2 * width + depth - a);
        let side = p(width + b);
        let v = b as f64 / depth as f64;
        let column = front.lerp(back, v);

        // The rows continue mirrored across the midline.
        let mirrored = DVec3::new(-side.x, side.y, side.z);
        let row = mirrored.lerp(side, 0.5 + 0.5 * a as f64 / width as f64);

        let corner = |k: usize| {
            let q = p(k);
            DVec3::new(-q.x, q.y, q.z).lerp(q, 0.5 + 0.5 * a as f64 / width as f64)
        };

        column + row - corner(width).lerp(corner(width + depth), v)
    }

    /// Closes a closed ring of `4 n` vertices (the first repeated at the end) with a grid of `n ×
    /// n` quads.
    pub(in crate::head) fn cap(&mut self, ring: &[u32], part: Part, material: &'static str) {
        let n = (ring.len() - 1) / 4;
        let p: Vec<DVec3> = ring.iter().map(|&v| self.points[v as usize]).collect();

        // The border of the grid is the ring; inner vertices are a Coons patch of it.
        let mut grid = vec![vec![u32::MAX; n + 1]; n + 1];
        for a in 0..=n {
            for b in 0..=n {
                grid[a][b] = match (a, b) {
                    (0, b) => ring[b],
                    (a, b) if b == n => ring[n + a],
                    (a, b) if a == n => ring[3 * n - b],
                    (a, 0) => ring[4 * n - a],
                    _ => {
                        // Rows plus columns less the bilinear part of the corners.
                        let (u, v) = (a as f64 / n as f64, b as f64 / n as f64);
                        let rows = p[b].lerp(p[3 * n - b], u);
                        let columns = p[4 * n - a].lerp(p[n + a], v);
                        let corners = p[0].lerp(p[n], v).lerp(p[3 * n].lerp(p[2 * n], v), u);
                        self.point(rows + columns - corners, part, true, false)
                    }
                };
            }
        }

        for a in 0..n {
            for b in 0..n {
                self.quad(
                    [
                        grid[a][b],
                        grid[a + 1][b],
                        grid[a + 1][b + 1],
                        grid[a][b + 1],
                    ],
                    material,
                );
            }
        }
    }
}
