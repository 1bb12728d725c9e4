//! Surface nets: a closed quad mesh of an implicit surface.
//!
//! **Problem.** Mesh the zero set of a signed distance with quads that are even, smooth and on the
//! surface.
//!
//! **Equation.** Every grid cell that the surface cuts holds one vertex, at first the mean of the
//! crossings on the cell's edges; every grid edge that the surface cuts makes one quad of the four
//! cells around it. Then vertices move alternately to the mean of their neighbours and back to the
//! surface along the gradient.
//!
//! **Source.** Gibson, "Constrained elastic surface nets", MICCAI 1998.
//!
//! **Departures.** The grid's planes may be closer where the body is finer. Cells that the surface
//! cuts twice are repaired before meshing, so the mesh is a manifold.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{FaceLabels, Mesh, MeshBuilder, VertexLayer};

use crate::implicit::Body;

/// Points or vertices in one parallel task.
const GRAIN: usize = 1024;
/// Grid points along the side of a block that is skipped or sampled as a whole.
const BLOCK: usize = 6;
/// Flips may create new pinches in neighbouring cells; these disappear in a few rounds.
const PINCH_ROUNDS: usize = 8;
/// The distance that a point gets when it changes sides.
const TOUCH: f64 = 1e-6;
/// No vertex in this cell.
const NONE: u32 = u32::MAX;

/// The planes of a grid along each axis, ascending.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    pub(crate) planes: [Vec<f64>; 3],
}

/// Positions and quads, counter-clockwise seen from outside.
#[derive(Debug, Clone)]
pub(crate) struct QuadMesh {
    pub(crate) positions: Vec<DVec3>,
    pub(crate) quads: Vec<[u32; 4]>,
}

impl QuadMesh {
    /// The mesh under `name`, with a group for each quad and a colour for each vertex of the rest
    /// pose.
    pub(crate) fn into_mesh<'a>(
        self,
        name: &str,
        groups: impl IntoIterator<Item = &'a str>,
        color: impl Fn(DVec3) -> DVec3,
    ) -> Mesh {
        let colors = self
            .positions
            .iter()
            .map(|&p| color(p).extend(1.0))
            .collect();

        let mut builder = MeshBuilder {
            name: name.to_owned(),
            positions: self.positions,
            ..Default::default()
        };

        builder.groups = FaceLabels::from_names(groups);
        builder.colors.push(VertexLayer {
            name: "color".to_owned(),
            values: colors,
        });

        for quad in &self.quads {
            builder.push_face(quad);
        }

        builder
            .build()
            .expect("surface nets number their own vertices, and every quad has a group")
    }
}

impl Grid {
    /// Planes from `low` to `high` whose distance at `x` is about `spacing(x)`.
    pub(crate) fn planes(low: f64, high: f64, spacing: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut planes = vec![low];
        while let Some(&last) = planes.last()
            && last < high
        {
            planes.push(last + spacing(last));
        }
        planes
    }

    /// Planes that mirror each other about zero, which lies between two of them.
    pub(crate) fn mirrored_planes(half_width: f64, spacing: f64) -> Vec<f64> {
        let count = (half_width / spacing).ceil() as i32;
        (-count..count)
            .map(|k| (f64::from(k) + 0.5) * spacing)
            .collect()
    }

    fn counts(&self) -> [usize; 3] {
        [0, 1, 2].map(|axis| self.planes[axis].len())
    }

    fn point(&self, [i, j, k]: [usize; 3]) -> DVec3 {
        DVec3::new(self.planes[0][i], self.planes[1][j], self.planes[2][k])
    }
}

/// Meshes the surface of `body` inside `grid` and evens it out in `rounds` of smoothing and
/// projection.
pub(crate) fn mesh(body: &Body, grid: &Grid, rounds: usize) -> QuadMesh {
    let [nx, ny, nz] = grid.counts();
    let index = |[i, j, k]: [usize; 3]| (k * ny + j) * nx + i;
    let mut values = sample_near_surface(body, grid);
    remove_pinches(&mut values, [nx, ny, nz]);

    // One vertex for each cell that the surface cuts.
    let mut cell_vertex = vec![NONE; values.len()];
    let mut positions = Vec::new();
    for k in 0..nz - 1 {
        for j in 0..ny - 1 {
            for i in 0..nx - 1 {
                if let Some(position) = cell_crossing(grid, &values, [i, j, k], index) {
                    cell_vertex[index([i, j, k])] = positions.len() as u32;
                    positions.push(position);
                }
            }
        }
    }

    // One quad for each grid edge that it cuts.
    let quads = quads(&values, &cell_vertex, [nx, ny, nz], index);
    let mut mesh = QuadMesh { positions, quads };
    even_out(body, &mut mesh, rounds);

    mesh
}

/// Distances at all grid points, `x` fastest; blocks that the surface stays away from hold the
/// distance of their middle.
fn sample_near_surface(body: &Body, grid: &Grid) -> Vec<f64> {
    let [nx, ny, nz] = grid.counts();
    let blocks = [nx.div_ceil(BLOCK), ny.div_ceil(BLOCK), nz.div_ceil(BLOCK)];
    let block_count = blocks[0] * blocks[1] * blocks[2];
    let sampled = parallel::map(block_count, 8, |n| {
        // Blocks are independent; their values are written in order.
        let first = [
            n % blocks[0],
            n / blocks[0] % blocks[1],
            n / (blocks[0] * blocks[1]),
        ]
        .map(|b| b * BLOCK);
        let last = [
            (first[0] + BLOCK).min(nx),
            (first[1] + BLOCK).min(ny),
            (first[2] + BLOCK).min(nz),
        ];

        (first, sample_block(body, grid, first, last))
    });

    let mut values = vec![0.0; nx * ny * nz];
    for (first, block) in sampled {
        for ([i, j, k], value) in block {
            values[((first[2] + k) * ny + first[1] + j) * nx + first[0] + i] = value;
        }
    }

    values
}

/// Distances at the points of one block, by their place in it.
fn sample_block(
    body: &Body,
    grid: &Grid,
    first: [usize; 3],
    end: [usize; 3],
) -> Vec<([usize; 3], f64)> {
    let low = grid.point(first);
    let high = grid.point(end.map(|e| e - 1));
    let middle = body.sample((low + high) * 0.5).distance;

    // First-order distances may be wrong by a part of themselves; twice the block's radius is far
    // enough.
    let far = middle.abs() > (high - low).length();

    let mut values = Vec::with_capacity(BLOCK * BLOCK * BLOCK);
    for k in 0..end[2] - first[2] {
        for j in 0..end[1] - first[1] {
            for i in 0..end[0] - first[0] {
                let value = if far {
                    middle
                } else {
                    body.sample(grid.point([first[0] + i, first[1] + j, first[2] + k]))
                        .distance
                };
                values.push(([i, j, k], value));
            }
        }
    }

    values
}

/// Flips grid points until no cell is cut twice, where the mesh would touch itself.
///
/// In such a cell the inside or the outside corners fall apart; of the corners that stand alone,
/// the one closest to the surface changes sides.
fn remove_pinches(values: &mut [f64], [nx, ny, nz]: [usize; 3]) {
    let offsets = [0, 1].map(|k| [0, 1].map(|j| [0, 1].map(|i| (k * ny + j) * nx + i)));
    let offsets: Vec<usize> = offsets.iter().flatten().flatten().copied().collect();
    let cells: Vec<usize> = (0..(nz - 1) * ny * nx)
        .filter(|&n| n % nx < nx - 1 && n / nx % ny < ny - 1)
        .collect();

    for _ in 0..PINCH_ROUNDS {
        let mut flipped = false;
        for &cell in &cells {
            // A bit for each corner that lies inside.
            let inside = (0..8).fold(0_u8, |mask, c| {
                mask | u8::from(values[cell + offsets[c]] < 0.0) << c
            });
            if inside == 0 || inside == 255 {
                continue;
            }

            // Inside and outside corners must both be connected within the cell.
            for mask in [inside, !inside] {
                let loose = mask & !connected_corners(mask);
                let closest = (0..8).filter(|c| loose >> c & 1 == 1).min_by(|&a, &b| {
                    values[cell + offsets[a]]
                        .abs()
                        .total_cmp(&values[cell + offsets[b]].abs())
                });

                if let Some(corner) = closest {
                    let value = &mut values[cell + offsets[corner]];
                    *value = if *value < 0.0 { TOUCH } else { -TOUCH };
                    flipped = true;
                }
            }
        }

        if !flipped {
            break;
        }
    }
}

/// The larger set of corners of a cube within `mask` that are joined by edges.
fn connected_corners(mask: u8) -> u8 {
    // All corners within the mask that are joined to the set by an edge of the cube.
    let grow = |set: u8| {
        let along = |set: u8, low: u8, step: u32| (set & low) << step | (set & !low) >> step;
        (set | along(set, 0x55, 1) | along(set, 0x33, 2) | along(set, 0x0f, 4)) & mask
    };

    let mut best = 0_u8;
    for seed in (0..8).map(|c| 1 << c).filter(|seed| mask & seed != 0) {
        let set = (0..7).fold(seed, |set, _| grow(set));
        if set.count_ones() > best.count_ones() {
            best = set;
        }
    }

    best
}

/// The mean of the surface's crossings with the twelve edges of a cell.
fn cell_crossing(
    grid: &Grid,
    values: &[f64],
    cell: [usize; 3],
    index: impl Fn([usize; 3]) -> usize,
) -> Option<DVec3> {
    let corner = |c: usize| {
        [
            cell[0] + (c & 1),
            cell[1] + (c >> 1 & 1),
            cell[2] + (c >> 2),
        ]
    };

    let mut sum = DVec3::ZERO;
    let mut crossings = 0;
    for a in 0..8 {
        for axis in 0..3 {
            // Each edge once, from its corner with the lower index.
            let b = a | 1 << axis;
            if b == a {
                continue;
            }

            let va = values[index(corner(a))];
            let vb = values[index(corner(b))];
            if (va < 0.0) != (vb < 0.0) {
                sum += grid
                    .point(corner(a))
                    .lerp(grid.point(corner(b)), va / (va - vb));
                crossings += 1;
            }
        }
    }

    (crossings > 0).then(|| sum / f64::from(crossings))
}

fn quads(
    values: &[f64],
    cell_vertex: &[u32],
    [nx, ny, nz]: [usize; 3],
    index: impl Fn([usize; 3]) -> usize,
) -> Vec<[u32; 4]> {
    let mut quads = Vec::new();
    for k in 1..nz - 1 {
        for j in 1..ny - 1 {
            for i in 1..nx - 1 {
                let here = [i, j, k];
                for axis in 0..3 {
                    // An edge makes a quad where its two ends lie on different sides.
                    let mut next = here;
                    next[axis] += 1;
                    let inside = values[index(here)] < 0.0;
                    let next_inside = values[index(next)] < 0.0;
                    if inside == next_inside {
                        continue;
                    }

                    // The four cells around the edge, counter-clockwise seen against the axis.
                    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                    let mut around = [[1, 1], [0, 1], [0, 0], [1, 0]].map(|[du, dv]| {
                        let mut cell = here;
                        cell[u] -= du;
                        cell[v] -= dv;
                        cell_vertex[index(cell)]
                    });

                    if next_inside {
                        around.reverse();
                    }

                    quads.push(around);
                }
            }
        }
    }

    quads
}

fn even_out(body: &Body, mesh: &mut QuadMesh, rounds: usize) {
    let neighbours = neighbours(mesh);
    for _ in 0..rounds {
        let old = &mesh.positions;
        mesh.positions = parallel::map(old.len(), GRAIN, |v| {
            let around = &neighbours[v];
            let mean = around.iter().map(|&w| old[w as usize]).sum::<DVec3>() / around.len() as f64;
            // Projecting takes back the part of the step that leaves the surface.
            body.project(old[v].lerp(mean, 0.5), 1)
        });
    }

    let old = &mesh.positions;
    mesh.positions = parallel::map(old.len(), GRAIN, |v| body.project(old[v], 3));
}

/// The vertices that share a quad's side with each vertex, ascending.
pub(crate) fn neighbours(mesh: &QuadMesh) -> Vec<Vec<u32>> {
    let mut neighbours = vec![Vec::with_capacity(6); mesh.positions.len()];
    for quad in &mesh.quads {
        for side in 0..4 {
            let a = quad[side];
            let b = quad[(side + 1) % 4];
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
    }

    for around in &mut neighbours {
        around.sort_unstable();
        around.dedup();
    }

    neighbours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::implicit::{Limb, Solid};
    use pliant_mesh::MeshReport;

    fn grid(step: f64) -> Grid {
        Grid {
            planes: [0, 1, 2].map(|_| Grid::planes(-1.5, 1.5, |_| step)),
        }
    }

    fn meshed(solids: impl IntoIterator<Item = Solid>, step: f64) -> (Body, Mesh) {
        let mut limb = Limb::new(0.0, 1.0);
        for solid in solids {
            limb.add(solid);
        }

        let body = Body {
            limbs: vec![limb],
            fillet: 0.0,
        };
        let quads = mesh(&body, &grid(step), 8);
        let groups = vec!["all"; quads.quads.len()];
        let mesh = quads.into_mesh("test", groups, |_| DVec3::ONE);

        (body, mesh)
    }

    #[test]
    fn a_ball_becomes_a_closed_mesh_on_its_surface_with_nearly_its_volume() {
        let (_, mesh) = meshed([Solid::ball(0, DVec3::new(0.1, 0.0, -0.05), 1.0)], 0.11);
        assert!(MeshReport::of(&mesh).problems().is_empty() && mesh.topology().is_closed());
        assert_eq!(mesh.vertex_count() - mesh.face_count(), 2); // Euler: V − E + F = 2 with E = 2F.
        assert!(
            mesh.positions()
                .iter()
                .all(|p| (p.distance(DVec3::new(0.1, 0.0, -0.05)) - 1.0).abs() < 1e-12)
        );

        let ball = 4.0 / 3.0 * std::f64::consts::PI;
        assert!(mesh.signed_volume() > 0.98 * ball && mesh.signed_volume() < ball);
    }

    #[test]
    fn solids_that_touch_within_a_cell_still_give_a_manifold() {
        for gap in [-0.02, 0.0, 0.02, 0.05] {
            let balls = [DVec3::X, DVec3::NEG_X, DVec3::Y]
                .map(|side| Solid::ball(0, side * (0.6 + 0.5 * gap), 0.6));
            let (_, mesh) = meshed(balls, 0.13);
            assert!(
                MeshReport::of(&mesh).problems().is_empty() && mesh.topology().is_closed(),
                "gap {gap}"
            );
        }
    }
}
