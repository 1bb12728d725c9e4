//! Assets that are loaded, each once, beside the window.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant::io::{Asset, LoadOptions};
use pliant::rig::Rig;

use crate::document::Locator;
use crate::view::{Surface, Vertices};
use crate::work::{Task, Wake, Watch};

/// An asset ready to be drawn.
#[derive(Debug)]
pub struct Loaded {
    /// How it was asked for.
    pub locator: Locator,
    /// The file's content.
    pub asset: Asset,
    /// All its objects as one rig; a rig without targets for a plain mesh.
    pub rig: Arc<Rig>,
    /// Its faces for the card.
    pub surface: Arc<Surface>,
    /// Its neutral for the card.
    pub neutral: Arc<Vertices>,
}

/// What is known of an asset.
#[derive(Debug, Clone)]
pub enum Slot {
    /// It is on its way.
    Loading,
    /// Here it is.
    Ready(Arc<Loaded>),
    /// It could not be loaded; the sentence says why and what to do.
    Failed(String),
}

/// The assets that were asked for.
pub struct Library {
    folder: PathBuf,
    slots: BTreeMap<Locator, Entry>,
    wake: Wake,
}

enum Entry {
    Coming(Option<Task<Loaded>>),
    Known(Slot),
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

    /// Tries again what could not be loaded.
    pub fn forget_failures(&mut self) {
        self.slots
            .retain(|_, entry| !matches!(entry, Entry::Known(Slot::Failed(_))));
    }

    /// Loads an asset anew, as after its file changed.
    pub fn reload(&mut self, locator: &str) {
        self.slots.remove(locator);
    }

    /// The asset, if it is there; starts loading it if nobody asked before.
    pub fn get(&mut self, locator: &str) -> Slot {
        let (folder, wake) = (&self.folder, &self.wake);
        let entry = self
            .slots
            .entry(locator.to_owned())
            .or_insert_with(|| Entry::Coming(Some(start(locator, folder, wake))));
        if let Entry::Coming(task) = entry {
            let Some(result) = Task::finished(task) else {
                return Slot::Loading;
            };
            *entry = Entry::Known(match result {
                Ok(loaded) => Slot::Ready(Arc::new(loaded)),
                Err(sentence) => Slot::Failed(sentence),
            });
        }
        match entry {
            Entry::Known(slot) => slot.clone(),
            Entry::Coming(_) => Slot::Loading,
        }
    }

    /// The asset, if it is there and sound.
    pub fn ready(&mut self, locator: &str) -> Option<Arc<Loaded>> {
        match self.get(locator) {
            Slot::Ready(loaded) => Some(loaded),
            Slot::Loading | Slot::Failed(_) => None,
        }
    }

    /// What is on its way.
    pub fn watches(&self) -> impl Iterator<Item = &Arc<Watch>> {
        let tasks = self.slots.values().filter_map(|entry| {
            if let Entry::Coming(task) = entry {
                task.as_ref()
            } else {
                None
            }
        });
        tasks.map(Task::watch).filter(|watch| !watch.over())
    }

    /// Whether something is on its way.
    #[must_use]
    pub fn busy(&self) -> bool {
        // One that nobody asks for any more may have come without being fetched.
        self.watches().next().is_some()
    }
}

fn start(locator: &str, folder: &Path, wake: &Wake) -> Task<Loaded> {
    let (locator, folder) = (locator.to_owned(), folder.to_owned());
    let name = Path::new(&locator).file_name().map_or_else(
        || locator.clone(),
        |name| name.to_string_lossy().into_owned(),
    );
    Task::start(format!("Loading {name}"), wake.clone(), move |_| {
        load(&locator, &folder)
    })
}

/// Loads an asset and makes it ready to be drawn.
pub fn load(locator: &str, folder: &Path) -> Result<Loaded, String> {
    let options = LoadOptions::default()
        .with_specimens(&pliant::BuiltIn)
        .with_folder(folder);
    let asset = pliant::io::load(locator, &options).map_err(|error| error.to_string())?;
    let rig = asset.rig().map_err(|error| error.to_string())?;
    let mesh = rig.neutral();
    let (surface, neutral) = (Surface::of(mesh), Vertices::of(mesh, mesh.positions()));
    Ok(Loaded {
        locator: locator.to_owned(),
        rig: Arc::new(rig),
        asset,
        surface,
        neutral,
    })
}
