//! The meshes and clips of a transfer, prepared by workers.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use pliant::io::Asset;
use pliant::mesh::Mesh;
use pliant::rig::{Clip, MirrorPlane};
use pliant::transfer::{Flexibility, Partitions, symmetry_plane};

use crate::engine::context::Cx;
use crate::engine::heat::{Heat, HeatMap};
use crate::engine::library::{AssetState, LoadedAsset};
use crate::engine::surface::{Surface, Vertices};
use crate::engine::work::Task;
use crate::model::names::to_message;

/// An asset that takes part.
#[derive(Debug)]
pub(crate) struct Actor {
    /// The asset.
    pub(crate) asset: Arc<Asset>,
    /// Its rest pose.
    pub(crate) mesh: Arc<Mesh>,
    /// Its faces for the graphics card.
    pub(crate) surface: Arc<Surface>,
    /// Its rest pose for the graphics card.
    pub(crate) rest: Arc<Vertices>,
    /// Its only clip with its flexibility; an error for none or several.
    pub(crate) motion: Result<Movement, String>,
    plane: OnceLock<Option<MirrorPlane>>,
}

/// A clip and its flexibility.
#[derive(Debug)]
pub(crate) struct Movement {
    /// The clip.
    pub(crate) clip: Arc<Clip>,
    /// One value per triangle.
    pub(crate) flexibility: Vec<f64>,
    /// The same as colours.
    pub(crate) heat: Heat,
}

impl Actor {
    fn new(loaded: &LoadedAsset) -> Result<Self, String> {
        let mesh = loaded.asset.mesh().map_err(to_message)?;
        let surface = loaded.surface_of(&mesh);
        let rest = Vertices::of(&mesh, mesh.positions());
        let motion = Movement::of(&loaded.asset);

        Ok(Self {
            asset: Arc::new(loaded.asset.clone()),
            mesh: Arc::new(mesh),
            surface,
            rest,
            motion,
            plane: OnceLock::new(),
        })
    }

    /// Its clip, where it has one.
    #[must_use]
    pub(crate) fn clip(&self) -> Option<&Arc<Clip>> {
        self.motion.as_ref().ok().map(|motion| &motion.clip)
    }

    /// Its symmetry plane. The first call computes it, so only workers call it.
    #[must_use]
    pub(crate) fn plane(&self) -> Option<MirrorPlane> {
        *self.plane.get_or_init(|| symmetry_plane(&self.mesh))
    }

    /// The unit of lengths.
    #[must_use]
    pub(crate) fn diagonal(&self) -> f64 {
        self.mesh.bounds().map_or(1.0, |bounds| bounds.diagonal())
    }
}

impl Movement {
    fn of(asset: &Asset) -> Result<Self, String> {
        let clip = asset.clip().map_err(to_message)?;
        let flexibility = Flexibility::of(&clip)
            .map_err(to_message)?
            .of_triangles()
            .to_vec();
        let heat = flexibility_heat(clip.reference(), &flexibility);

        Ok(Self {
            clip: Arc::new(clip),
            flexibility,
            heat,
        })
    }
}

/// Flexibility as colours: rigid parts are dark, joints are light.
#[must_use]
pub(crate) fn flexibility_heat(mesh: &Mesh, of_triangles: &[f64]) -> Heat {
    let values = mesh.vertex_means(of_triangles);
    Heat::new(&values, HeatMap::Sequential, "Flexibility", "")
        .with_range([0.0, Partitions::DEFAULT_THRESHOLD as f32])
}

/// The assets of the room, by locator.
#[derive(Debug, Default)]
pub(crate) struct ActorCache {
    slots: BTreeMap<String, ActorSlot>,
}

#[derive(Debug)]
struct ActorSlot {
    loaded: Arc<LoadedAsset>,
    coming: Option<Task<Actor>>,
    actor: Option<Result<Arc<Actor>, String>>,
}

impl ActorCache {
    /// The asset, if it is ready; otherwise what to say in its place.
    pub(crate) fn actor(&mut self, locator: &str, cx: &mut Cx<'_>) -> Result<Arc<Actor>, String> {
        let loaded = match cx.library.get(locator) {
            AssetState::Ready(loaded) => loaded,
            AssetState::Loading => return Err(format!("Loading {locator} …")),
            AssetState::Failed(message) => return Err(message),
        };

        // The actor is prepared again when the library loaded the asset again.
        if self
            .slots
            .get(locator)
            .is_none_or(|slot| !Arc::ptr_eq(&slot.loaded, &loaded))
        {
            let work = loaded.clone();
            let task = Task::start(format!("Preparing {locator}"), cx.wake.clone(), move |_| {
                Actor::new(&work)
            });

            self.slots.insert(
                locator.to_owned(),
                ActorSlot {
                    loaded,
                    coming: Some(task),
                    actor: None,
                },
            );
        }

        let waiting = Err(format!("Preparing {locator} …"));
        let Some(slot) = self.slots.get_mut(locator) else {
            return waiting;
        };

        if let Some(result) = Task::finished(&mut slot.coming) {
            slot.actor = Some(result.map(Arc::new));
        }

        slot.actor.clone().unwrap_or(waiting)
    }

    /// Whether some asset is still being made ready.
    #[must_use]
    pub(crate) fn busy(&self) -> bool {
        self.slots.values().any(|slot| slot.coming.is_some())
    }
}

/// A built-in asset, made ready here and now.
#[cfg(test)]
pub(crate) fn actor(locator: &str) -> Arc<Actor> {
    let loaded =
        crate::engine::library::load(locator, std::path::Path::new(".")).expect("a specimen");
    Arc::new(Actor::new(&loaded).expect("a sound mesh"))
}
