//! Terms beside springs, in every shape, and what they become between the shapes.
//!
//! **Equation.** `E = E_springs + L̄ Σ E_hinge + Σ E_triangle + Σ E_tetrahedron + L̄ Σ E_shell`
//! ([`crate::hinge`], [`crate::collapse`], [`crate::tet_volume`], [`crate::enclosed`]), each with
//! its own `μ`, `κ` or `ν`. The mean edge `L̄` of the blended surface gives terms that are shares
//! the unit of springs of `k = 1/r̄`, and of edges of `k = L̄/r̄²`.
//!
//! **Source.** Fröhlich and Botsch 2011: `λ Σ (l − l̄)²/l̄² + μ Σ (l̄²/Ā)(θ − θ̄)² + ν (V − V̄)²/V̄²`
//! with `λ : μ : ν = 100 : 1 : 1000`.

use std::collections::BTreeSet;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::collapse::Triangles;
use crate::element::{Element, Further, Law};
use crate::enclosed::ClosedParts;
use crate::energy_terms::EnergyTerms;
use crate::hinge::Hinges;
use crate::tet_volume::Tetrahedra;

/// Angles beside edges: `μ / λ` of Fröhlich and Botsch.
const ANGLES: f64 = 0.01;
/// Areas beside edges, wherever there are angles: ours, by which a triangle resists about a tenth
/// as much as its edges until it is thin.
const AREAS: f64 = 0.1;
/// Enclosed volumes beside edges: `ν / λ` of Fröhlich and Botsch.
const ENCLOSED: f64 = 10.0;
/// Tetrahedra beside springs: ours, by which a solid of both resists a change of volume about twice
/// as much as one of springs.
const TETRAHEDRA: f64 = 1.0;

/// The terms of a blend beside its springs.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    hinges: Option<Weighted<Hinges>>,
    triangles: Option<Weighted<Triangles>>,
    tetrahedra: Option<Weighted<Tetrahedra>>,
    closed: Option<(ClosedParts, f64)>,
    notes: Vec<String>,
}

/// Elements and the weight of each.
#[derive(Debug, Clone)]
struct Weighted<T> {
    elements: T,
    weights: Vec<f64>,
}

impl Terms {
    /// The terms that `energy` asks for. `stiffness` holds a value per point.
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
        let hinges = energy.angles().map(|weight| {
            let elements = Hinges::of(mesh, shapes);
            Weighted {
                weights: weighted(&elements.corners, ANGLES * weight),
                elements,
            }
        });
        let triangles = hinges.as_ref().map(|hinges: &Weighted<Hinges>| {
            let elements = Triangles::of(&hinges.elements.corners, shapes);
            Weighted {
                weights: weighted(&elements.corners, AREAS),
                elements,
            }
        });
        let filled: BTreeSet<u32> = tetrahedra.iter().flatten().copied().collect();
        let closed = energy
            .volume()
            .map(|weight| (ClosedParts::of(mesh, &filled, shapes), ENCLOSED * weight));
        let solid = energy.volume().filter(|_| !tetrahedra.is_empty());
        let tetrahedra = solid.map(|weight| Weighted {
            weights: weighted(tetrahedra, TETRAHEDRA * weight),
            elements: Tetrahedra::of(tetrahedra, shapes),
        });
        let hollow = energy.volume().is_some()
            && tetrahedra.is_none()
            && closed.as_ref().is_some_and(|(parts, _)| parts.is_empty());
        let notes = if hollow {
            vec!["nothing is closed in all shapes, so there is no volume to keep".to_owned()]
        } else {
            Vec::new()
        };
        Self {
            hinges,
            triangles,
            tetrahedra,
            closed,
            notes,
        }
    }

    /// What a user should know.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The terms at `weights`, over `points` points, with the mean edge `unit` of the surface
    /// there; none where there are springs alone.
    pub(crate) fn blended(&self, weights: &[f64], points: usize, unit: f64) -> Further {
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
                    law: Law::Angle(angle),
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
                    law: Law::Area(area),
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
                    law: Law::Volume(volume),
                    weight: own[k] * weight,
                }
            }));
        }
        let shells = self
            .closed
            .as_ref()
            .map(|(parts, weight)| parts.blended(weights, unit * weight))
            .unwrap_or_default();
        Further::new(points, elements, shells)
    }
}

/// The mean over the corners of an element, beside the mean of all.
fn stiffness_of(corners: &[u32; 4], stiffness: Option<(&[f64], f64)>) -> f64 {
    stiffness.map_or(1.0, |(map, mean)| {
        corners.iter().map(|&v| map[v as usize]).sum::<f64>() / (4.0 * mean)
    })
}
