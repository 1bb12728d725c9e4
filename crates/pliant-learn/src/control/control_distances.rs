//! Geodesic distances from every vertex to every control point (heat method).
//!
//! **Source.** Geodesic distances select the control points of a bone: Huang et al. 2012, section
//! 6.1.1.
//!
//! **Departures.** Distances by the heat method are smooth and need one factorisation for all
//! points. If it fails, distances along edges are used. Different components are farther from each
//! other than any two vertices of one.

use pliant_mesh::{
    HeatGeodesics, HeatOptions, Mesh, Progress, Stopped, SurfacePoint, map_with_progress,
};

use super::control_points::ControlPoints;
use crate::surface::{across_components, distances_from};

/// The name of the work in progress reports.
const STAGE: &str = "measuring distances";

/// Distances by control point and vertex.
#[derive(Debug)]
pub(crate) struct ControlDistances {
    distances: Vec<Vec<f64>>,
}

impl ControlDistances {
    pub(crate) fn of(
        mesh: &Mesh,
        control: &ControlPoints,
        progress: &dyn Progress,
    ) -> Result<Self, Stopped> {
        let heat = HeatGeodesics::factor(mesh, &HeatOptions::default()).ok();
        let distances = map_with_progress(progress, STAGE, control.count(), 1, |k| {
            let source = control.vertices()[k];
            // The heat method fails on meshes without a proper surface.
            let along = heat
                .as_ref()
                .and_then(|heat| heat.distances(&[SurfacePoint::Vertex(source)]).ok());

            across_components(
                mesh,
                source,
                along.unwrap_or_else(|| distances_from(mesh, source)),
            )
        })?;

        Ok(Self { distances })
    }

    /// The distances of a vertex from all control points.
    pub(crate) fn at(&self, vertex: usize) -> Vec<f64> {
        self.distances
            .iter()
            .map(|of_point| of_point[vertex])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DVec3;
    use pliant_mesh::shapes;

    #[test]
    fn on_a_sphere_the_distances_are_arcs() {
        let mesh = shapes::icosphere(4);
        let control = ControlPoints::new(&mesh, &[0, 5, 9]).unwrap();
        let distances = ControlDistances::of(&mesh, &control, &()).unwrap();
        for v in (0..mesh.vertex_count()).step_by(37) {
            for (found, &k) in distances.at(v).iter().zip(control.vertices()) {
                let arc = mesh.positions()[v].angle_between(mesh.positions()[k as usize]);
                assert!((found - arc).abs() < 0.05 * arc + 1e-9, "{found} for {arc}");
            }
        }
    }

    #[test]
    fn a_non_manifold_surface_of_two_components_has_distances() {
        let fan = [DVec3::ZERO, DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z];
        let far = [DVec3::X * 9.0, DVec3::X * 10.0, DVec3::X * 9.0 + DVec3::Y];
        let positions = fan.into_iter().chain(far).collect();
        let mesh =
            Mesh::from_triangles(positions, &[[0, 1, 2], [0, 1, 3], [0, 1, 4], [5, 6, 7]]).unwrap();
        let distances =
            ControlDistances::of(&mesh, &ControlPoints::new(&mesh, &[2, 3, 5]).unwrap(), &())
                .unwrap();
        assert!(
            distances.at(4)[0].is_finite()
                && distances.at(4)[0] >= DVec3::Y.distance(DVec3::Z) - 1e-6
        );
        assert!(distances.at(4)[2] > 20.0 && distances.at(6)[2] < 2.0);
    }
}
