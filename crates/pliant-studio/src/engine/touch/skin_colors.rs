//! Vertex colours of soft skin: softness, displacement, stretch, distance.
//!
//! **Implementation.** Colours end along the geodesic circle and not along the edges that cross it:
//! a little beyond the radius they fade into plain skin.

use std::sync::Arc;

use pliant::mesh::glam::DVec3;
use pliant::mesh::{ExactGeodesics, Mesh, SurfacePoint};
use pliant::physics::{PhysicsError, SoftPatch, SoftRegion, Touch};

use crate::engine::color::Srgba;
use crate::engine::heat::{Heat, HeatMap};
use crate::model::touch::SkinColoring;

/// The least stretch that fills the colours, in per cent: less is not seen.
const LEAST_STRETCH: f64 = 10.0;
/// The least displacement that fills the colours, in radii of the largest patch.
const LEAST_DISPLACEMENT: f64 = 0.05;
/// How far beyond the radius colours fade, in mean edges.
const FADE: f64 = 1.5;
/// How much of the softness is seen while skin is pressed: enough for the disc, little enough for
/// the dent.
const TINT: f32 = 0.3;

/// Skin by colour.
#[derive(Debug, Clone)]
pub struct SkinColors {
    /// What the colours mean; no value beyond the rim.
    pub heat: Heat,
    /// The colour of each vertex.
    pub colors: Arc<Vec<Srgba>>,
}

/// Maps of one set of patches, with ranges that grow while skin is touched, so that colours do not
/// flicker.
#[derive(Debug)]
pub(crate) struct SkinMap {
    vertex_count: usize,
    /// Vertices in and around the patches, and how much of the map each shows.
    shares: Vec<(u32, f32)>,
    /// The same arrays for as long as the patches are, as a tint and in full: the graphics card has
    /// them already.
    softness: [Option<SkinColors>; 2],
    /// From the centre of the nearest patch to every vertex, along the surface; measured when it is
    /// first looked at.
    distance: Option<SkinColors>,
    largest_displacement: f64,
    largest_stretch: f64,
}

impl SkinMap {
    /// Nothing seen yet.
    pub(crate) fn new(
        mesh: &Mesh,
        geodesics: &mut ExactGeodesics,
        patches: &[SoftPatch],
    ) -> Result<Self, PhysicsError> {
        let beyond = FADE * mesh.mean_edge_length();
        // A wider region contains the vertices on which colours fade out.
        let wider: Vec<SoftPatch> = patches
            .iter()
            .map(|patch| SoftPatch {
                radius: patch.radius + beyond,
                ..*patch
            })
            .collect();

        let around = SoftRegion::select_on(mesh, geodesics, &wider)?;
        let members = around
            .vertices()
            .iter()
            .zip(around.patch_of())
            .zip(around.distances());

        // 1 inside the patch, falling to 0 at the end of the fade.
        let share = |patch: usize, distance: f64| {
            (1.0 - (distance - patches[patch].radius) / beyond).clamp(0.0, 1.0) as f32
        };
        let shares = members
            .map(|((&vertex, &patch), &distance)| (vertex, share(patch, distance)))
            .collect();

        Ok(Self {
            vertex_count: mesh.vertex_count(),
            shares,
            softness: [None, None],
            distance: None,
            largest_displacement: 0.0,
            largest_stretch: 0.0,
        })
    }

    /// The map that is requested; where skin is not brushed but pressed, its softness is a tint.
    pub(crate) fn colors(
        &mut self,
        shown: SkinColoring,
        brushed: bool,
        touch: &Touch,
        shape: &[DVec3],
    ) -> Option<SkinColors> {
        match shown {
            SkinColoring::Skin => None,
            SkinColoring::Softness => Some(self.softness(brushed, touch)),
            SkinColoring::Displacement => Some(self.displacement(touch, shape)),
            SkinColoring::Stretch => Some(self.stretch(touch)),
            SkinColoring::Distance => self.distance.clone(),
        }
    }

    /// Measures how far every vertex is from the centre of the nearest patch, once.
    pub(crate) fn measure(
        &mut self,
        geodesics: &mut ExactGeodesics,
        patches: &[SoftPatch],
    ) -> Result<(), PhysicsError> {
        if self.distance.is_some() {
            return Ok(());
        }

        let middles: Vec<SurfacePoint> = patches
            .iter()
            .map(|patch| SurfacePoint::Vertex(patch.center.get()))
            .collect();
        let heat = Heat::of_distances(&geodesics.distances(&middles)?);
        // Components without a patch have no distance.
        let colors = heat
            .values
            .iter()
            .map(|&value| {
                if value.is_nan() {
                    Srgba::CLEAR
                } else {
                    heat.color(value)
                }
            })
            .collect();

        self.distance = Some(SkinColors {
            heat,
            colors: Arc::new(colors),
        });
        Ok(())
    }

    fn softness(&mut self, brushed: bool, touch: &Touch) -> SkinColors {
        if let Some(colors) = &self.softness[usize::from(brushed)] {
            return colors.clone();
        }
        let values = self.spread(touch, touch.region().softness().iter().copied());
        let heat = Heat::new(&values, HeatMap::Sequential, "Softness", "").with_range([0.0, 1.0]);
        let colors = self.painted(heat, if brushed { 1.0 } else { TINT });
        self.softness[usize::from(brushed)] = Some(colors.clone());
        colors
    }

    fn displacement(&mut self, touch: &Touch, shape: &[DVec3]) -> SkinColors {
        let distances = touch
            .region()
            .vertices()
            .iter()
            .map(|&v| touch.positions()[v as usize].distance(shape[v as usize]));
        let values = self.spread(touch, distances);
        let least =
            LEAST_DISPLACEMENT * touch.region().reaches().iter().copied().fold(0.0, f64::max);

        // The range only grows, so that colours do not flicker.
        self.largest_displacement = values
            .iter()
            .copied()
            .fold(self.largest_displacement.max(least), f64::max);

        self.painted(
            Heat::new(&values, HeatMap::Sequential, "Displacement", "")
                .with_range([0.0, self.largest_displacement as f32]),
            1.0,
        )
    }

    fn stretch(&mut self, touch: &Touch) -> SkinColors {
        let values = self.spread(
            touch,
            touch.strains().into_iter().map(|strain| 100.0 * strain),
        );

        self.largest_stretch = values
            .iter()
            .map(|value| value.abs())
            .fold(self.largest_stretch.max(LEAST_STRETCH), f64::max);

        // The range is symmetric, so that zero is neutral.
        let most = self.largest_stretch as f32;
        self.painted(
            Heat::new(&values, HeatMap::Diverging, "Stretch", "%").with_range([-most, most]),
            1.0,
        )
    }

    /// Values of soft vertices among all; around them there is nothing of it.
    fn spread(&self, touch: &Touch, values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut all = vec![f64::NAN; self.vertex_count];
        for &(vertex, _) in &self.shares {
            all[vertex as usize] = 0.0;
        }
        for (&vertex, value) in touch.region().vertices().iter().zip(values) {
            all[vertex as usize] = value;
        }
        all
    }

    fn painted(&self, heat: Heat, strength: f32) -> SkinColors {
        let mut colors = vec![Srgba::CLEAR; self.vertex_count];
        for &(vertex, share) in &self.shares {
            let color = heat.color(heat.values[vertex as usize]);
            colors[vertex as usize] = color.with_opacity(strength * share);
        }
        SkinColors {
            heat,
            colors: Arc::new(colors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::mesh::VertexId;
    use pliant::mesh::shapes::icosphere;
    use pliant::physics::TouchOptions;

    #[test]
    fn colours_follow_the_map_inside_the_patch_and_show_the_skin_outside() {
        let mesh = icosphere(4);
        let patches = [SoftPatch {
            center: 7.into(),
            radius: 0.6,
        }];
        let mut geodesics = ExactGeodesics::new(&mesh).unwrap();
        let mut map = SkinMap::new(&mesh, &mut geodesics, &patches).unwrap();
        let touch = Touch::new(&mesh, &patches, &TouchOptions::default()).unwrap();

        let skin = map
            .colors(SkinColoring::Softness, true, &touch, mesh.positions())
            .unwrap();
        let middle = mesh.positions()[7];

        for (v, place) in mesh.positions().iter().enumerate() {
            // Between the patch and the plain skin lies a band of mixed colours, which is not checked.
            let away = middle.angle_between(*place);
            if touch.region().node_of(v).is_some() {
                assert_eq!(skin.colors[v], skin.heat.color(skin.heat.values[v]));
            } else if away > 0.6 + 2.0 * FADE * mesh.mean_edge_length() {
                assert_eq!(skin.colors[v], Srgba::CLEAR);
            }
        }

        // The same colours again are the same allocation, so nothing is uploaded.
        let again = map
            .colors(SkinColoring::Softness, true, &touch, mesh.positions())
            .unwrap();

        assert!(
            Arc::ptr_eq(&again.colors, &skin.colors),
            "the card has it already"
        );

        assert!(
            map.colors(SkinColoring::Skin, true, &touch, mesh.positions())
                .is_none()
        );
    }

    #[test]
    fn distances_on_a_sphere_are_the_angles_to_the_nearest_centre() {
        let mesh = icosphere(4);
        let patches = [7, 30].map(|center| SoftPatch {
            center: VertexId::new(center),
            radius: 0.3,
        });
        let mut geodesics = ExactGeodesics::new(&mesh).unwrap();
        let mut map = SkinMap::new(&mesh, &mut geodesics, &patches).unwrap();
        let touch = Touch::new(&mesh, &patches, &TouchOptions::default()).unwrap();

        assert!(
            map.colors(SkinColoring::Distance, true, &touch, mesh.positions())
                .is_none(),
            "nothing is measured before it is looked at"
        );
        map.measure(&mut geodesics, &patches).unwrap();

        let skin = map
            .colors(SkinColoring::Distance, true, &touch, mesh.positions())
            .unwrap();

        for (v, place) in mesh.positions().iter().enumerate() {
            // Of two patches the nearer centre counts.
            let angle = [7, 30]
                .map(|center| mesh.positions()[center].angle_between(*place))
                .into_iter()
                .fold(f64::INFINITY, f64::min);

            assert!(
                (f64::from(skin.heat.values[v]) - angle).abs() < 0.01 * (1.0 + angle),
                "vertex {v}"
            );
            assert_eq!(skin.colors[v], skin.heat.color(skin.heat.values[v]));
        }
    }
}
