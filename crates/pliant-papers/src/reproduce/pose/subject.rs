//! A model prepared for drags and measurements.

use std::sync::Mutex;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{ExactGeodesics, MeshError, SurfaceIndex, SurfacePoint, vertex_normals};
use pliant_rig::{Grab, Pin, Pose, Poser, RigError, Target};

use super::methods::Method;
use super::pictures::VIEW;
use super::{face_diagonal, reach};
use crate::reproduce::{Model, ReproduceError};

/// Skin whose geodesic distance from a pin is beyond this part of the face's diagonal should not
/// follow it. *Chosen*: 5 cm on a head of 40 cm.
pub(super) const FAR: f64 = 0.125;

/// A model with the quantities that several sections use.
#[derive(Debug)]
pub(super) struct Subject<'m> {
    pub(super) model: &'m Model,
    pub(super) poser: Poser,
    /// The largest displacement of each vertex by a target.
    pub(super) reach: Vec<f64>,
    /// The diagonal of the moving part.
    pub(super) size: f64,
    /// The vertices of the component with the most moving vertices, ascending.
    pub(super) skin: Vec<u32>,
    normals: Vec<DVec3>,
    index: SurfaceIndex,
    geodesics: Mutex<ExactGeodesics>,
}

impl<'m> Subject<'m> {
    pub(super) fn new(model: &'m Model) -> Result<Self, ReproduceError> {
        let failed = |source: MeshError| ReproduceError::Mesh {
            model: model.name.clone(),
            source,
        };
        let mesh = model.rig.neutral();
        let poser = Poser::new(&model.rig).map_err(|source| ReproduceError::Rig {
            model: model.name.clone(),
            source,
        })?;

        Ok(Self {
            model,
            poser,
            reach: reach(model),
            size: face_diagonal(model),
            skin: skin(model),
            normals: vertex_normals(mesh),
            index: SurfaceIndex::new(mesh).map_err(failed)?,
            geodesics: Mutex::new(ExactGeodesics::new(mesh).map_err(failed)?),
        })
    }

    pub(super) fn name(&self) -> &'m str {
        &self.model.name
    }

    pub(super) fn slider_names(&self) -> Vec<&'m str> {
        self.model
            .rig
            .targets()
            .iter()
            .map(|target| target.name.as_str())
            .collect()
    }

    /// The displacement of a vertex by a target at full weight.
    pub(super) fn delta(&self, slider: usize, vertex: u32) -> DVec3 {
        delta(&self.model.rig.targets()[slider], vertex)
    }

    /// The vertices of the skin that a target moves, with their distances.
    pub(super) fn moved_skin(&self, slider: usize) -> Vec<(u32, f64)> {
        let target = &self.model.rig.targets()[slider];
        let mut moved = Vec::new();
        for (&v, delta) in target.vertices.iter().zip(&target.deltas) {
            let length = delta.as_dvec3().length();
            if length > 0.0 && self.skin.binary_search(&v).is_ok() {
                moved.push((v, length));
            }
        }
        moved
    }

    /// The weights of the sliders in `some`, zero for all others.
    pub(super) fn weights(&self, some: &[(usize, f64)]) -> Vec<f64> {
        let mut weights = vec![0.0; self.model.rig.targets().len()];
        for &(slider, weight) in some {
            weights[slider] = weight;
        }
        weights
    }

    /// The distance of each vertex at `weights` from its position in `from`.
    pub(super) fn motion(&self, from: &[DVec3], weights: &[f64]) -> Vec<f64> {
        self.model
            .rig
            .evaluate(weights)
            .iter()
            .zip(from)
            .map(|(a, b)| a.distance(*b))
            .collect()
    }

    pub(super) fn grab(
        &self,
        weights: &[f64],
        pins: &[u32],
        method: &Method,
    ) -> Result<Grab, ReproduceError> {
        let pins: Vec<Pin> = pins
            .iter()
            .map(|&vertex| Pin::hold(vertex as usize))
            .collect();
        self.poser
            .grab(weights, &pins, method.solver.as_ref(), method.range)
            .map_err(|source| self.rig_error(source))
    }

    /// The pose by a method for pins displaced by `displacements` from the pose `weights`.
    pub(super) fn drag(
        &self,
        weights: &[f64],
        pins: &[u32],
        displacements: &[DVec3],
        method: &Method,
    ) -> Result<Pose, ReproduceError> {
        Ok(self.grab(weights, pins, method)?.solve(displacements))
    }

    /// The vertices of the skin that lie far from all pins.
    pub(super) fn far_from(&self, pins: &[u32]) -> Result<Vec<u32>, ReproduceError> {
        let sources: Vec<SurfacePoint> = pins.iter().map(|&v| SurfacePoint::Vertex(v)).collect();
        let mut geodesics = self
            .geodesics
            .lock()
            .expect("no thread panics while it measures");
        let disc = geodesics
            .disc(&sources, FAR * self.size)
            .map_err(|source| self.mesh_error(source))?;

        // The disc is small, so its complement is the far skin.
        let mut near = vec![false; self.reach.len()];
        for &v in &disc.vertices {
            near[v as usize] = true;
        }
        Ok(self
            .skin
            .iter()
            .copied()
            .filter(|&v| !near[v as usize])
            .collect())
    }

    /// Whether a vertex of the neutral is visible in the portraits.
    pub(super) fn sees(&self, vertex: u32) -> bool {
        let toward = VIEW.direction();
        let place = self.model.rig.neutral().positions()[vertex as usize];
        // Facing the camera, and not hidden by another part of the face.
        self.normals[vertex as usize].dot(toward) > 0.3
            && self
                .index
                .cast_ray(place + 1e-3 * self.size * toward, toward, f64::INFINITY)
                .is_none()
    }

    /// The target whose name contains the first matching word, without regard to case and dashes.
    pub(super) fn slider_like(&self, words: &[&str]) -> Option<usize> {
        let names: Vec<String> = self
            .slider_names()
            .iter()
            .map(|name| name.to_lowercase().replace(['_', '-', ' '], ""))
            .collect();
        for word in words {
            let found = names.iter().position(|name| name.contains(word));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The visible vertex of the skin with the greatest `worth`.
    pub(super) fn best_pin(&self, worth: impl Fn(u32) -> f64) -> u32 {
        let mut ranked = Vec::new();
        for &v in &self.skin {
            let worth = worth(v);
            if worth > 0.0 {
                ranked.push((v, worth));
            }
        }
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));

        // A hidden vertex is better than none.
        let visible = ranked.iter().find(|&&(v, _)| self.sees(v));
        visible.or(ranked.first()).map_or(0, |&(v, _)| v)
    }

    pub(super) fn rig_error(&self, source: RigError) -> ReproduceError {
        ReproduceError::Rig {
            model: self.model.name.clone(),
            source,
        }
    }

    pub(super) fn mesh_error(&self, source: MeshError) -> ReproduceError {
        ReproduceError::Mesh {
            model: self.model.name.clone(),
            source,
        }
    }
}

fn delta(target: &Target, vertex: u32) -> DVec3 {
    target
        .vertices
        .binary_search(&vertex)
        .map_or(DVec3::ZERO, |k| target.deltas[k].as_dvec3())
}

/// The vertices of the component with the most moving vertices.
fn skin(model: &Model) -> Vec<u32> {
    let topology = model.rig.neutral().topology();
    let component_of = topology.component_of_vertex();

    // Eyes and teeth move too, but most moving vertices belong to the skin.
    let mut moving = vec![0_usize; topology.component_count()];
    for v in super::moving_vertices(model) {
        moving[component_of[v as usize] as usize] += 1;
    }
    let mut largest = 0;
    for (component, &count) in moving.iter().enumerate() {
        if count > moving[largest] {
            largest = component;
        }
    }

    (0..component_of.len() as u32)
        .filter(|&v| component_of[v as usize] as usize == largest)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::Vec3;
    use pliant_rig::Rig;

    /// A strip of squares along x from 0 to 20, and a loose triangle above its middle.
    fn strip() -> Model {
        let mut positions: Vec<DVec3> = (0..=20)
            .flat_map(|x| [0.0, 1.0].map(|y| DVec3::new(f64::from(x), y, 0.0)))
            .collect();
        let mut faces: Vec<Vec<u32>> = (0..20)
            .map(|k| vec![2 * k, 2 * k + 2, 2 * k + 3, 2 * k + 1])
            .collect();

        faces.push(vec![42, 43, 44]);
        positions
            .extend([[10.0, 3.0], [11.0, 3.0], [10.0, 4.0]].map(|[x, y]| DVec3::new(x, y, 0.0)));

        let lift = Target::from_dense("lift_all", vec![Vec3::Z; 45]);
        let end = Target {
            vertices: vec![0, 1, 44],
            deltas: vec![Vec3::X, 2.0 * Vec3::X, Vec3::Y],
            ..Target::from_dense("End-Left", [])
        };

        let rig = Rig::new(
            Mesh::from_polygons(positions, &faces).unwrap(),
            vec![lift, end],
        )
        .unwrap();

        Model {
            name: "strip".to_owned(),
            locator: String::new(),
            rig,
        }
    }

    #[test]
    fn the_skin_is_the_component_that_moves_most_and_far_is_a_geodesic_distance() {
        let model = strip();
        let subject = Subject::new(&model).unwrap();
        assert_eq!(subject.skin, (0..42).collect::<Vec<u32>>());

        let far = subject.far_from(&[0]).unwrap();
        // An eighth of the diagonal of 20 by 4.
        let radius = FAR * 416.0_f64.sqrt();
        let places = model.rig.neutral().positions();

        // On a flat strip the way along the surface is straight.
        let wanted: Vec<u32> = (0..42)
            .filter(|&v| places[v as usize].length() > radius)
            .collect();

        assert_eq!(far, wanted);
    }

    #[test]
    fn sliders_are_found_by_words_and_moved_skin_belongs_to_the_skin() {
        let model = strip();
        let subject = Subject::new(&model).unwrap();
        assert_eq!(
            subject.slider_like(&["nowhere", "endleft", "lift"]),
            Some(1)
        );

        assert_eq!(subject.slider_like(&["nowhere"]), None);
        assert_eq!(subject.moved_skin(1), [(0, 1.0), (1, 2.0)]);
        assert_eq!(subject.best_pin(|v| subject.delta(1, v).length()), 1);
        assert_eq!(subject.weights(&[(1, 0.5)]), [0.0, 0.5]);
    }
}
