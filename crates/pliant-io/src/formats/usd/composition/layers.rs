//! The layers of a scene: opened by path, each once, with their sublayers.

use std::collections::HashMap;
use std::rc::Rc;

use crate::FileProvider;
use crate::formats::usd::layer::{Layer, Prim, Reference, Retiming, Value, entry};
use crate::formats::usd::read::parse_layer;

/// Chosen: sublayers nested deeper are not read.
const GREATEST_DEPTH: usize = 32;

/// A layer with its place.
pub(super) struct OpenLayer {
    pub(super) layer: Layer,
    /// The folder of the layer, relative to that of the root layer: empty, or ending in `/`.
    pub(super) folder: String,
}

/// A layer and its sublayers, the strongest first, each with the change of its time codes.
pub(super) struct LayerStack {
    /// The path of its strongest layer; empty for the root layer.
    pub(super) path: String,
    pub(super) layers: Vec<(Rc<OpenLayer>, Retiming)>,
}

impl LayerStack {
    /// Time codes per second of its strongest layer.
    pub(super) fn codes_per_second(&self) -> f64 {
        let metadata = &self.layers[0].0.layer.metadata;
        let number = |key| {
            let number = entry(metadata, key).and_then(Value::number);
            number.filter(|rate| *rate > 0.0 && rate.is_finite())
        };
        number("timeCodesPerSecond")
            .or_else(|| number("framesPerSecond"))
            .unwrap_or(24.0)
    }

    /// The path of its default prim.
    pub(super) fn default_prim(&self) -> Option<String> {
        let layer = &self.layers[0].0.layer;
        let named = entry(&layer.metadata, "defaultPrim").and_then(Value::text);
        let name = match (named, &layer.prims[..]) {
            (Some(name), _) => name,
            (None, [only]) => &only.name,
            _ => return None,
        };
        Some(format!("/{}", name.trim_start_matches('/')))
    }

    /// The prims of this name at the root of its layers, with the index of the layer.
    pub(super) fn root_prims(&self, name: &str) -> Vec<(Rc<Prim>, usize)> {
        let mut found = Vec::new();
        for (k, (open, _)) in self.layers.iter().enumerate() {
            let mut prims = open.layer.prims.iter();
            found.extend(prims.find(|p| p.name == name).map(|p| (Rc::clone(p), k)));
        }
        found
    }
}

/// Opens layers.
pub(super) struct LayerLibrary<'a> {
    files: &'a dyn FileProvider,
    /// Layers by their paths, or why they cannot be read.
    layers: HashMap<String, Result<Rc<OpenLayer>, String>>,
    stacks: HashMap<String, Option<Rc<LayerStack>>>,
    /// The bytes of all layers.
    pub(super) bytes: usize,
    pub(super) warnings: Vec<String>,
}

impl<'a> LayerLibrary<'a> {
    /// A library with the root layer, whose path is empty, in a folder of `files`.
    pub(super) fn new(
        root: Layer,
        folder: &str,
        bytes: usize,
        files: &'a dyn FileProvider,
    ) -> Self {
        let root = Rc::new(OpenLayer {
            layer: root,
            folder: folder.into(),
        });
        Self {
            files,
            layers: HashMap::from([(String::new(), Ok(root))]),
            stacks: HashMap::new(),
            bytes,
            warnings: Vec::new(),
        }
    }

    /// The stack of the layer that `asset` names in a layer of `folder`.
    pub(super) fn stack_of(&mut self, folder: &str, asset: &str) -> Option<Rc<LayerStack>> {
        match self.located(folder, asset) {
            Some(path) => self.stack(&path),
            None => {
                self.warnings.push(format!(
                    "'{}' is outside the folder of the file; only files in and below it are read",
                    asset.escape_debug()
                ));
                None
            }
        }
    }

    /// The path of `asset` in a layer of `folder`; `None` if it leaves the folder of the root. A
    /// path that does not begin with a dot may also be relative to the root, as in archives.
    fn located(&mut self, folder: &str, asset: &str) -> Option<String> {
        let near = joined(folder, asset)?;
        let from_root = joined("", asset).filter(|path| *path != near);
        match from_root.filter(|_| !asset.starts_with('.')) {
            Some(path) if self.parsed(&near).is_err() && self.parsed(&path).is_ok() => Some(path),
            _ => Some(near),
        }
    }

    /// The stack of the layer at `path`.
    pub(super) fn stack(&mut self, path: &str) -> Option<Rc<LayerStack>> {
        if let Some(known) = self.stacks.get(path) {
            return known.clone();
        }

        let mut layers = Vec::new();
        self.add_layers(path, Retiming::default(), &mut Vec::new(), &mut layers);
        let stack = (!layers.is_empty()).then(|| {
            Rc::new(LayerStack {
                path: path.into(),
                layers,
            })
        });
        self.stacks.insert(path.into(), stack.clone());
        stack
    }

    /// Adds a layer and its sublayers; `above` lists the layers that contain it.
    fn add_layers(
        &mut self,
        path: &str,
        retiming: Retiming,
        above: &mut Vec<String>,
        layers: &mut Vec<(Rc<OpenLayer>, Retiming)>,
    ) {
        if above.iter().any(|known| known == path) || above.len() >= GREATEST_DEPTH {
            self.warnings.push(format!(
                "the sublayers of '{}' contain each other; the inner one is not read",
                path.escape_debug()
            ));
            return;
        }
        let Some(open) = self.open(path) else { return };
        // A layer counts once, where it is strongest.
        if layers.iter().any(|(known, _)| Rc::ptr_eq(known, &open)) {
            return;
        }
        layers.push((Rc::clone(&open), retiming));

        above.push(path.into());
        let sublayers = entry(&open.layer.metadata, "subLayers");
        for Reference {
            asset,
            retiming: own,
            ..
        } in sublayers.map_or(&[][..], Value::references)
        {
            match self.located(&open.folder, asset) {
                Some(path) => self.add_layers(&path, retiming.after(*own), above, layers),
                None => self.warnings.push(format!(
                    "the sublayer '{}' is outside the folder of the file and is not read",
                    asset.escape_debug()
                )),
            }
        }
        above.pop();
    }

    /// The layer at `path`; a warning if it cannot be read.
    fn open(&mut self, path: &str) -> Option<Rc<OpenLayer>> {
        match self.parsed(path) {
            Ok(open) => Some(open),
            Err(why) => {
                self.warnings.push(format!(
                    "a layer that the file refers to is not read: {why}"
                ));
                None
            }
        }
    }

    /// The layer at `path`, or why it cannot be read.
    fn parsed(&mut self, path: &str) -> Result<Rc<OpenLayer>, String> {
        if let Some(known) = self.layers.get(path) {
            return known.clone();
        }

        // A provider of files decodes `%`.
        let read = self.files.read(&path.replace('%', "%25"));
        let parsed = read
            .map_err(|error| error.to_string())
            .and_then(|bytes| {
                self.bytes = self.bytes.saturating_add(bytes.len());
                parse_layer(&bytes).map_err(|error| format!("'{path}': {error}"))
            })
            .map(|layer| {
                Rc::new(OpenLayer {
                    layer,
                    folder: path.rfind('/').map_or("", |end| &path[..=end]).into(),
                })
            });
        self.layers.insert(path.into(), parsed.clone());
        parsed
    }
}

/// The path of `asset` in a layer of `folder`; `None` if it leaves the folder of the root layer.
pub(in crate::formats::usd) fn joined(folder: &str, asset: &str) -> Option<String> {
    let asset = asset.split(":SDF_FORMAT_ARGS:").next().unwrap_or_default();
    let asset = asset.replace('\\', "/");
    if asset.starts_with('/') || asset.contains(':') {
        return None;
    }

    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(asset.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_their_layer_and_stay_in_the_folder() {
        for (folder, asset, path) in [
            ("", "a.usd", Some("a.usd")),
            ("props/", "./a.usd", Some("props/a.usd")),
            ("props/", "../a.usd", Some("a.usd")),
            ("props/", "..\\b\\a.usd", Some("b/a.usd")),
            ("", "../a.usd", None),
            ("props/", "../../a.usd", None),
            ("", "/etc/passwd", None),
            ("", "C:/a.usd", None),
            ("", "https://host/a.usd", None),
        ] {
            assert_eq!(joined(folder, asset).as_deref(), path, "{folder} {asset}");
        }
    }
}
