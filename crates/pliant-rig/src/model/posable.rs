//! The part of the surface that a rig can pose.
//!
//! **Problem.** A base mesh may hold geometry for other purposes: hair and clothes of a modelling
//! program, joints, stand-ins. It covers the face, but no target moves it; a line that is drawn on
//! the face, or a name of a place of the face, is not meant for it.
//!
//! **Method.** A connected component belongs to the posable surface if a target moves one of its
//! vertices by at least a hundredth of the largest displacement of all. Without targets all of the
//! mesh does.

use pliant_mesh::Mesh;

use super::Rig;

/// A vertex counts as moved from this part of the largest displacement on.
const MOVED: f32 = 0.01;

impl Rig {
    /// For each vertex whether its connected component is moved by a target.
    #[must_use]
    pub fn posable_vertices(&self) -> Vec<bool> {
        let count = self.neutral().vertex_count();
        let mut motion = vec![0.0_f32; count];
        for target in self.targets() {
            for (&v, delta) in target.vertices.iter().zip(&target.deltas) {
                motion[v as usize] = motion[v as usize].max(delta.length());
            }
        }
        let largest = motion.iter().copied().fold(0.0, f32::max);
        if largest == 0.0 {
            return vec![true; count];
        }

        let topology = self.neutral().topology();
        let components = topology.component_of_vertex();
        let mut is_moved = vec![false; topology.component_count()];
        for (motion, &component) in motion.iter().zip(components) {
            if *motion >= MOVED * largest
                && let Some(moved) = is_moved.get_mut(component as usize)
            {
                *moved = true;
            }
        }

        // A vertex without faces belongs to no component.
        let of_component = |&component: &u32| is_moved.get(component as usize) == Some(&true);
        components.iter().map(of_component).collect()
    }

    /// The neutral with the faces of the posable surface only. Vertices keep their numbers.
    #[must_use]
    pub fn posable_surface(&self) -> Mesh {
        let posable = self.posable_vertices();
        let neutral = self.neutral();
        let triangles = neutral.triangles().iter().copied();
        let kept: Vec<[u32; 3]> = triangles
            .filter(|triangle| triangle.iter().all(|&v| posable[v as usize]))
            .collect();

        // Without such faces the rig has points only, and stays what it is.
        let surface = Mesh::from_triangles(neutral.positions().to_vec(), &kept);
        surface
            .ok()
            .filter(|_| !kept.is_empty())
            .unwrap_or_else(|| neutral.clone())
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::glam::{DVec3, Vec3};
    use pliant_mesh::shapes::flat_sheet;

    use super::*;
    use crate::Target;

    /// A sheet, and a copy of it in front of it.
    fn covered() -> Mesh {
        let sheet = flat_sheet(4, 0.0);
        let mut positions = sheet.positions().to_vec();
        let count = positions.len() as u32;
        let mut triangles = sheet.triangles().to_vec();
        let cover = sheet.triangles().iter().map(|t| t.map(|v| v + count));
        triangles.extend(cover.collect::<Vec<_>>());
        let front: Vec<DVec3> = positions.iter().map(|p| *p + DVec3::Z).collect();
        positions.extend(front);
        Mesh::from_triangles(positions, &triangles).unwrap()
    }

    #[test]
    fn a_component_that_no_target_moves_is_not_posable() {
        let mesh = covered();
        let half = mesh.vertex_count() / 2;
        let mut deltas = vec![Vec3::ZERO; mesh.vertex_count()];
        deltas[7] = Vec3::Z;
        // Noise of a scan does not count.
        deltas[half + 3] = Vec3::Z * 1e-3;
        let target = Target::from_dense("lift", deltas);
        let rig = Rig::new(mesh.clone(), vec![target]).unwrap();

        let posable = rig.posable_vertices();
        assert!(posable[..half].iter().all(|posable| *posable));
        assert!(!posable[half..].iter().any(|posable| *posable));
        let surface = rig.posable_surface();
        assert_eq!(surface.vertex_count(), mesh.vertex_count());
        assert_eq!(2 * surface.triangles().len(), mesh.triangles().len());
    }

    #[test]
    fn without_targets_all_of_a_mesh_is_posable() {
        let rig = Rig::new(covered(), Vec::new()).unwrap();
        assert!(rig.posable_vertices().iter().all(|posable| *posable));
        let all = rig.neutral().triangles().len();
        assert_eq!(rig.posable_surface().triangles().len(), all);
    }
}
