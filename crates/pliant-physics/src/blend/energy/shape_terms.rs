//! Energy terms of given shapes, and their values between the shapes.
//!
//! **Equation.** `E = E_springs + L̄ Σ E_hinge + Σ E_triangle + Σ E_tetrahedron + L̄ Σ E_enclosed`
//! ([`crate::blend::energy::hinge`], [`crate::blend::energy::triangle_area`],
//! [`crate::blend::energy::tetrahedron_volume`], [`crate::blend::energy::enclosed_volume`]), each
//! with its own `μ`, `κ` or `ν`. The mean edge `L̄` of the blended surface gives relative terms the
//! unit of springs of `k = 1/r̄`, and of edges of `k = L̄/r̄²`.
//!
//! **Source.** Fröhlich and Botsch 2011: `λ Σ (l − l̄)²/l̄² + μ Σ (l̄²/Ā)(θ − θ̄)² + ν (V −
//! V̄)²/V̄²` with `λ : μ : ν = 100 : 1 : 1000`.

use std::collections::BTreeSet;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::blend::energy::EnergyTerms;
use crate::blend::energy::element::{Element, ElementTerms, Measure};
use crate::blend::energy::enclosed_volume::ClosedComponents;
use crate::blend::energy::hinge::Hinges;
use crate::blend::energy::tetrahedron_volume::TetrahedronVolumes;
use crate::blend::energy::triangle_area::TriangleAreas;

/// Angles relative to edges: `μ / λ` of Fröhlich and Botsch.
const ANGLES: f64 = 0.01;
/// Areas relative to edges, wherever there are angles. Chosen: a triangle then resists about a
/// tenth as much as its edges until it is thin.
const AREAS: f64 = 0.1;
/// Enclosed volumes relative to edges: `ν / λ` of Fröhlich and Botsch.
const ENCLOSED: f64 = 10.0;
/// Tetrahedra relative to springs. Chosen: a solid of both then resists a change of volume about
/// twice as much as one of springs.
const TETRAHEDRA: f64 = 1.0;

/// The terms of a blend other than its springs.
#[derive(Debug, Clone)]
pub(crate) struct ShapeTerms {
    hinges: Option<Weighted<Hinges>>,
    triangles: Option<Weighted<TriangleAreas>>,
    tetrahedra: Option<Weighted<TetrahedronVolumes>>,
    closed: Option<(ClosedComponents, f64)>,
    warnings: Vec<String>,
}

/// Elements and the weight of each.
#[derive(Debug, Clone)]
struct Weighted<T> {
    elements: T,
    weights: Vec<f64>,
}

impl ShapeTerms {
    /// The terms that `energy` selects. `stiffness` holds a value per point.
    pub(crate) fn of(
        energy: &EnergyTerms,
        mesh: &Mesh,
        tetrahedra: &[[u32; 4]],
        shapes: &[Vec<DVec3>],
        stiffness: Option<&[f64]>,
    ) -> Self {
        let stiffness = stiffness.map(|map| (map, map.iter().sum::<f64>() / map.len() as f64));
        let weighted = |corners: &[[u32; 4]], weight: f64| {
            corners
                .iter()
                .map(|c| weight * stiffness_of(c, stiffness))
                .collect()
        };

        // Angles come with areas, which keep the angles defined.
        let hinges = energy.angles().map(|weight| {
            let elements = Hinges::of(mesh, shapes);
            Weighted {
                weights: weighted(&elements.corners, ANGLES * weight),
                elements,
            }
        });

        let triangles = hinges.as_ref().map(|hinges: &Weighted<Hinges>| {
            let elements = TriangleAreas::of(&hinges.elements.corners, shapes);
            Weighted {
                weights: weighted(&elements.corners, AREAS),
                elements,
            }
        });

        // Volumes are those of tetrahedra where there are some, else of closed surfaces.
        let filled: BTreeSet<u32> = tetrahedra.iter().flatten().copied().collect();
        let closed = energy.volume().map(|weight| {
            (
                ClosedComponents::of(mesh, &filled, shapes),
                ENCLOSED * weight,
            )
        });
        let solid = energy.volume().filter(|_| !tetrahedra.is_empty());
        let tetrahedra = solid.map(|weight| Weighted {
            weights: weighted(tetrahedra, TETRAHEDRA * weight),
            elements: TetrahedronVolumes::of(tetrahedra, shapes),
        });

        // A selected volume term without any volume is worth a warning.
        let hollow = energy.volume().is_some()
            && tetrahedra.is_none()
            && closed.as_ref().is_some_and(|(parts, _)| parts.is_empty());
        let warnings = if hollow {
            vec!["no component is closed in all shapes, so there is no volume to keep".to_owned()]
        } else {
            Vec::new()
        };

        Self {
            hinges,
            triangles,
            tetrahedra,
            closed,
            warnings,
        }
    }

    /// Warnings about the terms.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The terms at `weights`, over `points` points, with the mean edge `unit` of the surface
    /// there; none where there are springs alone.
    pub(crate) fn blended(&self, weights: &[f64], points: usize, unit: f64) -> ElementTerms {
        // Hinges, triangles and tetrahedra with their blended targets.
        let mut elements = Vec::new();
        if let Some(Weighted {
            elements: hinges,
            weights: own,
        }) = &self.hinges
        {
            elements.extend((0..own.len()).map(|k| {
                let (angle, weight) = hinges.blended(k, weights);
                Element {
                    corners: hinges.corners[k],
                    measure: Measure::Angle(angle),
                    weight: unit * own[k] * weight,
                }
            }));
        }

        if let Some(Weighted {
            elements: triangles,
            weights: own,
        }) = &self.triangles
        {
            elements.extend((0..own.len()).map(|k| {
                let (area, weight) = triangles.blended(k, weights);
                Element {
                    corners: triangles.corners[k],
                    measure: Measure::Area(area),
                    weight: own[k] * weight,
                }
            }));
        }

        if let Some(Weighted {
            elements: tetrahedra,
            weights: own,
        }) = &self.tetrahedra
        {
            elements.extend((0..own.len()).map(|k| {
                let (volume, weight) = tetrahedra.blended(k, weights);
                Element {
                    corners: tetrahedra.corners[k],
                    measure: Measure::Volume(volume),
                    weight: own[k] * weight,
                }
            }));
        }

        let enclosed = self
            .closed
            .as_ref()
            .map(|(parts, weight)| parts.blended(weights, unit * weight))
            .unwrap_or_default();

        ElementTerms::new(points, elements, enclosed)
    }
}

/// The mean over the corners of an element, relative to the mean of all points.
fn stiffness_of(corners: &[u32; 4], stiffness: Option<(&[f64], f64)>) -> f64 {
    stiffness.map_or(1.0, |(map, mean)| {
        corners.iter().map(|&v| map[v as usize]).sum::<f64>() / (4.0 * mean)
    })
}
