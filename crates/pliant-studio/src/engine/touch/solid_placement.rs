//! Size and position of the collider on a posed character.

use pliant::mesh::glam::DVec3;

use crate::engine::character::PosedCharacter;
use crate::model::touch::{ColliderSetup, Setup};

impl Setup {
    /// The radius of the collider: the chosen one, or one that suits the patches.
    #[must_use]
    pub fn solid_radius(&self, posed: &PosedCharacter) -> f64 {
        let suited = || {
            self.patches.last().map_or_else(
                || 0.25 * default_radius(posed),
                |patch| ColliderSetup::SHARE_OF_PATCH * patch.radius,
            )
        };
        self.solid.radius.unwrap_or_else(suited)
    }

    /// The collider and its position: where the user left it, or above the last patch.
    #[must_use]
    pub fn solid_at(&self, posed: &PosedCharacter) -> Option<(ColliderSetup, DVec3)> {
        if let Some(place) = self.solid.place {
            return Some((self.solid.clone(), DVec3::from_array(place)));
        }

        // A collider that was never placed waits above the last patch.
        let center = self.patches.last()?.center.index();
        let point = posed.positions.get(center)?;
        let normal = posed.vertices.normals.get(center)?.as_dvec3();
        let solid = self.solid.turned(normal);
        let place = solid.against(self.solid_radius(posed), *point, normal, ColliderSetup::GAP);

        Some((solid, place))
    }
}

/// The radius of a patch that was clicked, not dragged. Chosen: a cheek on a head.
#[must_use]
pub(crate) fn default_radius(posed: &PosedCharacter) -> f64 {
    0.08 * posed
        .rig
        .neutral()
        .bounds()
        .map_or(1.0, |bounds| bounds.diagonal())
}
