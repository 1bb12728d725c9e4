//! Where the shells of a mesh go, once each has its shape.
//!
//! **Problem.** Eyes, teeth and buttons are shells of their own. Their gradients say how they turn
//! and stretch, not where they are.
//!
//! **Equation.** The main shell is put by the root motion. Another shell with rest centroid `c`
//! hangs on nearby triangles `n` of the main shell, with centroids `g_n` at rest and `x_n` now,
//! that turn by `R_n`:
//!
//! ```text
//! p = mean_n (x_n + R_n (c − g_n))        c' = p + δ
//! ```
//!
//! where `δ` is how far the same shell of the source is from the same prediction made on the
//! source. A shell that the source lacks has `δ = 0` and moves rigidly by the mean turn; so does a
//! vertex without a face, on its nearest triangle.
//!
//! **Ours.** With `δ` a mesh on itself comes out exact, shell by shell, and a shell on a target of
//! other proportions stays where its surroundings go.

use pliant_linalg::nearest_rotation;
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, MeshError, SurfaceIndex, Topology};

use crate::reconstruction::Shells;

/// Vertices of a shell that look for a triangle to hang on.
const ANCHORS_PER_SHELL: usize = 24;

/// Triangles that a point hangs on, as lists into the target.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bond {
    pub(crate) triangles: Vec<u32>,
    /// From the centroid of each of those at rest to the point at rest.
    levers: Vec<DVec3>,
}

/// What a shell of the target hangs on.
#[derive(Debug, Clone)]
pub(crate) struct BondedShell {
    pub(crate) shell: u32,
    pub(crate) bond: Bond,
    /// Whether some source moves it; if not, it moves rigidly.
    pub(crate) matched: bool,
}

/// How the shells and lone vertices of one target are put in place.
#[derive(Debug, Clone)]
pub(crate) struct Placement {
    /// The largest shell that some source moves.
    pub(crate) main: u32,
    pub(crate) bonded: Vec<BondedShell>,
    lone: Vec<(u32, Bond)>,
}

impl Placement {
    /// `moved` says for every shell whether some source moves it.
    pub(crate) fn new(target: &Mesh, shells: &Shells, moved: &[bool]) -> Result<Self, MeshError> {
        let main = main_shell(target, shells, moved);
        let mut placement = Self {
            main,
            bonded: Vec::new(),
            lone: Vec::new(),
        };
        let count = shells.centroids.len() as u32;
        let has_lone = shells.of_vertex.contains(&Topology::NONE);
        if count > 1 {
            let surface = PartOfSurface::new(target, |shell| shell == main, shells)?;
            for shell in (0..count).filter(|&shell| shell != main) {
                let bond = surface.bond_of_shell(shell, shells)?;
                placement.bonded.push(BondedShell {
                    shell,
                    bond,
                    matched: moved[shell as usize],
                });
            }
        }
        if has_lone {
            let surface = PartOfSurface::new(
                target,
                |shell| shell == main || moved[shell as usize],
                shells,
            )?;
            for v in (0..target.vertex_count() as u32)
                .filter(|&v| shells.of_vertex[v as usize] == Topology::NONE)
            {
                let point = target.positions()[v as usize];
                placement.lone.push((v, surface.bond(point, &[point])?));
            }
        }
        Ok(placement)
    }

    /// Moves shells, whose centroids are at rest, and lone vertices to their places. `root` moves
    /// the main shell; `deviations` has `δ` for each of [`bonded`](Self::bonded).
    pub(crate) fn apply(
        &self,
        target: &Mesh,
        shells: &Shells,
        gradients: &[DMat3],
        root: DVec3,
        deviations: &[DVec3],
        positions: &mut [DVec3],
    ) {
        let mut motions = vec![ShellMotion::Shift(DVec3::ZERO); shells.centroids.len()];
        motions[self.main as usize] = ShellMotion::Shift(root);
        // Bonds hold on to the main shell, which is shifted by `root` only in the end.
        for (bonded, deviation) in self.bonded.iter().zip(deviations) {
            let centroid = shells.centroids[bonded.shell as usize];
            let goal = bonded.bond.predict(target, gradients, positions) + root + *deviation;
            motions[bonded.shell as usize] = if bonded.matched {
                ShellMotion::Shift(goal - centroid)
            } else {
                let turn = bonded.bond.mean_turn(gradients);
                ShellMotion::Rigid(turn, goal - turn * centroid)
            };
        }
        for ((position, rest), &shell) in positions
            .iter_mut()
            .zip(target.positions())
            .zip(&shells.of_vertex)
        {
            match motions.get(shell as usize) {
                Some(ShellMotion::Shift(shift)) => *position += *shift,
                Some(ShellMotion::Rigid(turn, shift)) => *position = *turn * *rest + *shift,
                None => {} // Without a face.
            }
        }
        for (vertex, bond) in &self.lone {
            positions[*vertex as usize] = bond.predict(target, gradients, positions);
        }
    }
}

/// What is done to the vertices of a shell: to their solution, or to their rest positions.
#[derive(Debug, Clone, Copy)]
enum ShellMotion {
    Shift(DVec3),
    Rigid(DMat3, DVec3),
}

/// The shell of the largest area among those that are moved, or among all if none is.
fn main_shell(target: &Mesh, shells: &Shells, moved: &[bool]) -> u32 {
    let mut areas = vec![0.0; shells.centroids.len()];
    for (t, triangle) in target.triangles().iter().enumerate() {
        if let Some(area) = areas.get_mut(shells.of_vertex[triangle[0] as usize] as usize) {
            *area += pliant_mesh::triangle_area(target.triangle_points(t));
        }
    }
    let any = moved.contains(&true);
    let candidates = (0..areas.len()).filter(|&shell| moved[shell] || !any);
    candidates
        .reduce(|best, shell| {
            if areas[shell] > areas[best] {
                shell
            } else {
                best
            }
        })
        .unwrap_or(0) as u32
}

impl Bond {
    /// Where the point is when the triangles deform by `gradients` and the vertices are at
    /// `positions`.
    pub(crate) fn predict(&self, target: &Mesh, gradients: &[DMat3], positions: &[DVec3]) -> DVec3 {
        let one = |(&t, lever): (&u32, &DVec3)| {
            let corners = target.triangles()[t as usize].map(|v| positions[v as usize]);
            corners.into_iter().sum::<DVec3>() / 3.0
                + nearest_rotation(gradients[t as usize]) * *lever
        };
        self.triangles
            .iter()
            .zip(&self.levers)
            .map(one)
            .sum::<DVec3>()
            / self.triangles.len() as f64
    }

    fn mean_turn(&self, gradients: &[DMat3]) -> DMat3 {
        let sum = self.triangles.iter().fold(DMat3::ZERO, |sum, &t| {
            sum + nearest_rotation(gradients[t as usize])
        });
        nearest_rotation(sum)
    }
}

/// Some shells of the target, to find the nearest triangles of.
struct PartOfSurface<'a> {
    target: &'a Mesh,
    triangles: Vec<u32>,
    index: SurfaceIndex,
}

impl<'a> PartOfSurface<'a> {
    fn new(
        target: &'a Mesh,
        part: impl Fn(u32) -> bool,
        shells: &Shells,
    ) -> Result<Self, MeshError> {
        let shell_of = |t: u32| shells.of_vertex[target.triangles()[t as usize][0] as usize];
        let in_part = |&t: &u32| shell_of(t) != Topology::NONE && part(shell_of(t));
        let triangles: Vec<u32> = (0..target.triangles().len() as u32)
            .filter(in_part)
            .collect();
        let faces: Vec<[u32; 3]> = triangles
            .iter()
            .map(|&t| target.triangles()[t as usize])
            .collect();
        let index = SurfaceIndex::new(&Mesh::from_triangles(target.positions().to_vec(), &faces)?)?;
        Ok(Self {
            target,
            triangles,
            index,
        })
    }

    /// Bonds the centroid of a shell to triangles near some of its vertices.
    fn bond_of_shell(&self, shell: u32, shells: &Shells) -> Result<Bond, MeshError> {
        let own = self
            .target
            .positions()
            .iter()
            .zip(&shells.of_vertex)
            .filter(|(_, s)| **s == shell)
            .map(|(position, _)| *position);
        let stride = own.clone().count().div_ceil(ANCHORS_PER_SHELL).max(1);
        self.bond(
            shells.centroids[shell as usize],
            &own.step_by(stride).collect::<Vec<_>>(),
        )
    }

    /// Bonds `point` to the triangle nearest to each of `seekers`.
    fn bond(&self, point: DVec3, seekers: &[DVec3]) -> Result<Bond, MeshError> {
        let mut bond = Bond::default();
        for found in self.index.closest_points(seekers)? {
            let t = self.triangles[found.place.triangle as usize];
            let centroid = self
                .target
                .triangle_points(t as usize)
                .into_iter()
                .sum::<DVec3>()
                / 3.0;
            bond.triangles.push(t);
            bond.levers.push(point - centroid);
        }
        Ok(bond)
    }
}
