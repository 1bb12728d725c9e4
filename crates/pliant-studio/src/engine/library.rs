//! Library of loaded assets; each asset is loaded once, by a worker.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant::io::{Asset, IoError, LoadOptions};
use pliant::mesh::Mesh;
use pliant::rig::Rig;

use super::surface::{Surface, Vertices};
use super::work::{Task, Wake, Watch};
use crate::model::document::Locator;
use crate::model::names::to_message;

/// An asset ready to be drawn.
#[derive(Debug)]
pub struct LoadedAsset {
    /// How it was requested.
    pub locator: Locator,
    /// The file's content.
    pub asset: Asset,
    /// All its objects as one rig; a rig without targets for a plain mesh.
    pub rig: Arc<Rig>,
    /// Its faces for the graphics card.
    pub surface: Arc<Surface>,
    /// Its neutral for the graphics card.
    pub neutral: Arc<Vertices>,
}

impl LoadedAsset {
    /// The surface of a mesh of the asset: the shared one, unless its faces are others.
    #[must_use]
    pub fn surface_of(&self, mesh: &Mesh) -> Arc<Surface> {
        if self.surface.triangles == mesh.triangles() {
            self.surface.clone()
        } else {
            Surface::of_asset(&self.asset, mesh)
        }
    }
}

/// Loaded data of an asset.
#[derive(Debug, Clone)]
pub enum AssetState {
    /// It is loading.
    Loading,
    /// It is loaded.
    Ready(Arc<LoadedAsset>),
    /// It could not be loaded; the message says why and what to do.
    Failed(String),
}

/// The assets that were requested.
pub struct Library {
    folder: PathBuf,
    slots: BTreeMap<Locator, AssetEntry>,
    wake: Wake,
}

enum AssetEntry {
    Coming(Option<Task<LoadedAsset>>),
    Known(AssetState),
}

impl Library {
    /// An empty library; relative paths begin at `folder`.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, wake: Wake) -> Self {
        Self {
            folder: folder.into(),
            slots: BTreeMap::new(),
            wake,
        }
    }

    /// The folder at which relative paths begin.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Relative paths begin at another folder now; what failed is tried again.
    pub fn set_folder(&mut self, folder: impl Into<PathBuf>) {
        self.folder = folder.into();
        self.forget_failures();
    }

    /// Forgets failed assets, so that they are loaded again.
    pub fn forget_failures(&mut self) {
        self.slots
            .retain(|_, entry| !matches!(entry, AssetEntry::Known(AssetState::Failed(_))));
    }

    /// Loads an asset again, such as after a change of its file.
    pub fn reload(&mut self, locator: &str) {
        self.slots.remove(locator);
    }

    /// The asset, if it is loaded; starts to load it on the first call.
    pub fn get(&mut self, locator: &str) -> AssetState {
        let folder = &self.folder;
        let wake = &self.wake;
        let entry = self
            .slots
            .entry(locator.to_owned())
            .or_insert_with(|| AssetEntry::Coming(Some(start(locator, folder, wake))));

        // A finished load becomes the state of the asset, once.
        if let AssetEntry::Coming(task) = entry {
            let Some(result) = Task::finished(task) else {
                return AssetState::Loading;
            };
            *entry = AssetEntry::Known(match result {
                Ok(loaded) => AssetState::Ready(Arc::new(loaded)),
                Err(message) => AssetState::Failed(message),
            });
        }

        match entry {
            AssetEntry::Known(slot) => slot.clone(),
            AssetEntry::Coming(_) => AssetState::Loading,
        }
    }

    /// The asset, if it is loaded without errors.
    pub fn ready(&mut self, locator: &str) -> Option<Arc<LoadedAsset>> {
        match self.get(locator) {
            AssetState::Ready(loaded) => Some(loaded),
            AssetState::Loading | AssetState::Failed(_) => None,
        }
    }

    /// The running loads.
    pub fn watches(&self) -> impl Iterator<Item = &Arc<Watch>> {
        let tasks = self.slots.values().filter_map(|entry| {
            if let AssetEntry::Coming(task) = entry {
                task.as_ref()
            } else {
                None
            }
        });
        tasks.map(Task::watch).filter(|watch| !watch.over())
    }

    /// Whether something is in progress.
    #[must_use]
    pub fn busy(&self) -> bool {
        // A load that is no longer requested may have ended without being fetched.
        self.watches().next().is_some()
    }
}

fn start(locator: &str, folder: &Path, wake: &Wake) -> Task<LoadedAsset> {
    let locator = locator.to_owned();
    let folder = folder.to_owned();
    let name = Path::new(&locator).file_name().map_or_else(
        || locator.clone(),
        |name| name.to_string_lossy().into_owned(),
    );
    Task::start(format!("Loading {name}"), wake.clone(), move |_| {
        load(&locator, &folder)
    })
}

/// Loads an asset and makes it ready to be drawn.
pub fn load(locator: &str, folder: &Path) -> Result<LoadedAsset, String> {
    let asset = load_asset(locator, folder).map_err(to_message)?;
    let rig = asset.rig().map_err(to_message)?;
    let mesh = rig.neutral();
    let surface = Surface::of_asset(&asset, mesh);
    let neutral = Vertices::of(mesh, mesh.positions());

    Ok(LoadedAsset {
        locator: locator.to_owned(),
        rig: Arc::new(rig),
        asset,
        surface,
        neutral,
    })
}

/// The content of an asset; relative paths begin at `folder`.
pub(crate) fn load_asset(locator: &str, folder: &Path) -> Result<Asset, IoError> {
    let options = LoadOptions::default()
        .with_specimens(&pliant::BuiltIn)
        .with_folder(folder);
    pliant::io::load(locator, &options)
}
