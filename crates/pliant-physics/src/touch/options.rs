//! Options of the touch simulation.

use pliant_mesh::glam::DVec3;

use super::soft_material::SoftMaterial;
use super::verlet::VerletOptions;
use crate::PhysicsError;

/// The simulation method.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum TouchMethod {
    /// XPBD with small substeps: compliance in physical units, and enough substeps for it.
    #[default]
    Xpbd,
    /// Position Verlet as in Çetinaslan 2016, one step per frame. It has its own material, and
    /// supports no pins, pulls or inertia.
    Verlet(VerletOptions),
}

/// Options of a [`Touch`](crate::Touch).
#[derive(Debug, Clone, PartialEq)]
pub struct TouchOptions {
    pub(crate) method: TouchMethod,
    pub(crate) material: SoftMaterial,
    pub(crate) patch_materials: Vec<SoftMaterial>,
    pub(crate) substeps: Option<usize>,
    pub(crate) iterations: usize,
    pub(crate) gravity: DVec3,
    pub(crate) inertia: f64,
    pub(crate) pins: Vec<usize>,
    pub(crate) skin_contact: bool,
}

impl Default for TouchOptions {
    fn default() -> Self {
        Self {
            method: TouchMethod::default(),
            material: SoftMaterial::default(),
            patch_materials: Vec::new(),
            substeps: None,
            iterations: Self::DEFAULT_ITERATIONS,
            gravity: DVec3::ZERO,
            inertia: 0.0,
            pins: Vec::new(),
            skin_contact: false,
        }
    }
}

impl TouchOptions {
    /// Source: Macklin et al. 2019; many substeps of one iteration are better than the reverse at
    /// equal cost.
    pub const DEFAULT_ITERATIONS: usize = 1;

    /// The simulation method. Default: [`TouchMethod::Xpbd`].
    #[must_use]
    pub fn with_method(self, method: TouchMethod) -> Self {
        Self { method, ..self }
    }

    /// The material of the patches.
    #[must_use]
    pub fn with_material(self, material: SoftMaterial) -> Self {
        Self { material, ..self }
    }

    /// Materials of single patches, in their order; patches beyond the list have the
    /// [common one](Self::with_material). Default: none.
    #[must_use]
    pub fn with_patch_materials(self, patch_materials: Vec<SoftMaterial>) -> Self {
        Self {
            patch_materials,
            ..self
        }
    }

    /// Substeps in a frame; cost is linear in it. Default: as many as the material needs on the
    /// mesh ([`SoftMaterial::substeps`]); with fewer it is softer. Fast colliders increase the
    /// number automatically.
    #[must_use]
    pub fn with_substeps(self, substeps: usize) -> Self {
        Self {
            substeps: Some(substeps),
            ..self
        }
    }

    /// Sweeps over all constraints in a substep. Default:
    /// [`DEFAULT_ITERATIONS`](Self::DEFAULT_ITERATIONS).
    #[must_use]
    pub fn with_iterations(self, iterations: usize) -> Self {
        Self { iterations, ..self }
    }

    /// An acceleration of all soft vertices, in units of the mesh per second squared. The rest
    /// shape is assumed to include it. Default: none.
    #[must_use]
    pub fn with_gravity(self, gravity: DVec3) -> Self {
        Self { gravity, ..self }
    }

    /// How much soft vertices lag behind the animated shape: 0 follows it exactly (the default), 1
    /// is the inertia of its mass.
    #[must_use]
    pub fn with_inertia(self, inertia: f64) -> Self {
        Self { inertia, ..self }
    }

    /// Soft vertices that stay on the animated shape; those outside all patches always do.
    #[must_use]
    pub fn with_pins(self, pins: Vec<usize>) -> Self {
        Self { pins, ..self }
    }

    /// Whether skin avoids other parts of the mesh, such as lips each other. Default: no.
    #[must_use]
    pub fn with_skin_contact(self, skin_contact: bool) -> Self {
        Self {
            skin_contact,
            ..self
        }
    }

    /// Whether gravity is not zero.
    #[must_use]
    pub fn has_gravity(&self) -> bool {
        self.gravity != DVec3::ZERO
    }

    /// The material of a patch.
    pub(crate) fn material_of(&self, patch: usize) -> &SoftMaterial {
        self.patch_materials.get(patch).unwrap_or(&self.material)
    }

    pub(crate) fn require(&self) -> Result<(), PhysicsError> {
        self.material.require()?;
        for material in &self.patch_materials {
            material.require()?;
        }
        let above_zero = |what, value: usize| {
            if value > 0 {
                Ok(())
            } else {
                Err(PhysicsError::Setting {
                    what,
                    value: 0.0,
                    bound: "one or more",
                })
            }
        };

        above_zero("the number of substeps", self.substeps.unwrap_or(1))?;
        above_zero("the number of iterations", self.iterations)?;
        let finite = |what, value: f64| {
            if value.is_finite() {
                Ok(())
            } else {
                Err(PhysicsError::Material {
                    what,
                    value,
                    least: "of any sign",
                })
            }
        };

        finite("gravity", self.gravity.x + self.gravity.y + self.gravity.z)?;
        finite("inertia", self.inertia)?;
        let TouchMethod::Verlet(verlet) = self.method else {
            return Ok(());
        };

        verlet.require()?;
        let unknown = [
            ("pins", !self.pins.is_empty()),
            ("inertia", self.inertia != 0.0),
            ("skin contact", self.skin_contact),
        ];

        unknown
            .iter()
            .find(|(_, requested)| *requested)
            .map_or(Ok(()), |&(what, _)| {
                Err(PhysicsError::UnsupportedByVerlet { what })
            })
    }
}
