//! The meshes and clips of a transfer, made ready beside the window.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use pliant::io::Asset;
use pliant::mesh::Mesh;
use pliant::rig::{Clip, MirrorPlane};
use pliant::transfer::{Flexibility, Partitions, symmetry_plane};

use crate::library::{Loaded, Slot};
use crate::rooms::Cx;
use crate::view::{Heat, HeatMap, Surface, Vertices};
use crate::work::Task;

/// An asset that takes part.
#[derive(Debug)]
pub(super) struct Actor {
    /// The asset.
    pub(super) asset: Arc<Asset>,
    /// It at rest.
    pub(super) mesh: Arc<Mesh>,
    /// Its faces for the card.
    pub(super) surface: Arc<Surface>,
    /// It at rest for the card.
    pub(super) rest: Arc<Vertices>,
    /// Its only clip, and where that bends it; a sentence where it has none, or several.
    pub(super) motion: Result<Movement, String>,
    plane: OnceLock<Option<MirrorPlane>>,
}

/// A clip and where it bends its mesh.
#[derive(Debug)]
pub(super) struct Movement {
    /// The clip.
    pub(super) clip: Arc<Clip>,
    /// One value per triangle.
    pub(super) flexibility: Vec<f64>,
    /// The same as colours.
    pub(super) heat: Heat,
}

impl Actor {
    fn new(loaded: &Loaded) -> Result<Self, String> {
        let mesh = loaded.asset.mesh().map_err(|error| error.to_string())?;
        let (surface, rest) = (Surface::of(&mesh), Vertices::of(&mesh, mesh.positions()));
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
    pub(super) fn clip(&self) -> Option<&Arc<Clip>> {
        self.motion.as_ref().ok().map(|motion| &motion.clip)
    }

    /// The plane that it is symmetric about. The first call looks for it: not for the window.
    #[must_use]
    pub(super) fn plane(&self) -> Option<MirrorPlane> {
        *self.plane.get_or_init(|| symmetry_plane(&self.mesh))
    }

    /// The unit of lengths.
    #[must_use]
    pub(super) fn diagonal(&self) -> f64 {
        self.mesh.bounds().map_or(1.0, |bounds| bounds.diagonal())
    }
}

impl Movement {
    fn of(asset: &Asset) -> Result<Self, String> {
        let clip = asset.clip().map_err(|error| error.to_string())?;
        let flexibility = Flexibility::of(&clip)
            .map_err(|error| error.to_string())?
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

/// What bends, in the colours of the pictures: stiff parts are dark, and joints light.
#[must_use]
pub(super) fn flexibility_heat(mesh: &Mesh, of_triangles: &[f64]) -> Heat {
    let values = mesh.vertex_means(of_triangles);
    Heat::new(&values, HeatMap::Sequential, "Flexibility", "")
        .with_range([0.0, Partitions::DEFAULT_THRESHOLD as f32])
}

/// The assets of the room, by locator.
#[derive(Debug, Default)]
pub(super) struct Stage {
    seats: BTreeMap<String, Seat>,
}

#[derive(Debug)]
struct Seat {
    loaded: Arc<Loaded>,
    coming: Option<Task<Actor>>,
    actor: Option<Result<Arc<Actor>, String>>,
}

impl Stage {
    /// The asset, if it is ready; otherwise what to say in its place.
    pub(super) fn actor(&mut self, locator: &str, cx: &mut Cx<'_>) -> Result<Arc<Actor>, String> {
        let loaded = match cx.library.get(locator) {
            Slot::Ready(loaded) => loaded,
            Slot::Loading => return Err(format!("Loading {locator} …")),
            Slot::Failed(sentence) => return Err(sentence),
        };
        if self
            .seats
            .get(locator)
            .is_none_or(|seat| !Arc::ptr_eq(&seat.loaded, &loaded))
        {
            let work = loaded.clone();
            let task = Task::start(format!("Preparing {locator}"), cx.wake.clone(), move |_| {
                Actor::new(&work)
            });
            self.seats.insert(
                locator.to_owned(),
                Seat {
                    loaded,
                    coming: Some(task),
                    actor: None,
                },
            );
        }
        let waiting = Err(format!("Preparing {locator} …"));
        let Some(seat) = self.seats.get_mut(locator) else {
            return waiting;
        };
        if let Some(result) = Task::finished(&mut seat.coming) {
            seat.actor = Some(result.map(Arc::new));
        }
        seat.actor.clone().unwrap_or(waiting)
    }

    /// Whether some asset is still being made ready.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.seats.values().any(|seat| seat.coming.is_some())
    }
}

/// A built-in asset, made ready here and now.
#[cfg(test)]
pub(super) fn actor(locator: &str) -> Arc<Actor> {
    let loaded = crate::library::load(locator, std::path::Path::new(".")).expect("a specimen");
    Arc::new(Actor::new(&loaded).expect("a sound mesh"))
}
