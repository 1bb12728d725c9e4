//! Composition: a layer and everything to which it refers, as one layer.
//!
//! **Problem.** A prim may take content from other prims: by sublayers, inherits, variants,
//! references, payloads and specializes. For a value that several of them give, the strongest counts.
//!
//! **Method.** The *sites* of a prim are all places that have an opinion about it, the strongest
//! first: the prim in its own layers, and after it what its arcs refer to, in the order of the list
//! above. The sites of a child are the children of these sites, each followed by its own arcs.
//! Targets of relationships are paths of a site and are mapped to paths of the scene.
//!
//! **Source.** OpenUSD, "USD Glossary", LIVERPS strength ordering.
//!
//! **Departures.** Instances are copies. Classes of a referenced layer are not overridden by classes
//! of the same name in the layers that refer to it. Items that a list deletes stay. A variant set
//! without a selection gives nothing. What cannot be opened, leaves the folder or refers to itself is
//! a warning.

mod layers;

use std::collections::HashMap;
use std::rc::Rc;

pub(super) use self::layers::joined;
use self::layers::{LayerLibrary, LayerStack};
use super::layer::{Layer, Prim, Property, PropertyValue, Reference, Retiming, Value};
use super::syntax::GREATEST_DEPTH;
use crate::parse::budget::Budget;
use crate::{FileProvider, ReadError};

/// The keys of metadata that compose prims.
const ARCS: [&str; 4] = ["references", "payload", "inherits", "specializes"];

/// The numbers that the record of a prim or property takes.
const NUMBERS_PER_RECORD: usize = 32;

/// A scene as one layer.
pub(super) struct Composed {
    pub(super) layer: Layer,
    /// The bytes of all layers.
    pub(super) bytes: usize,
    /// The folder to which the paths of assets are relative.
    pub(super) folder: String,
    pub(super) warnings: Vec<String>,
}

/// Composes a scene from its root layer of so many `bytes`, which is in `folder` of `files`.
pub(super) fn compose(
    root: Layer,
    folder: &str,
    bytes: usize,
    files: &dyn FileProvider,
) -> Result<Composed, ReadError> {
    let refers = root.metadata.iter().any(|(key, _)| key == "subLayers")
        || root.prims.iter().any(|prim| has_arcs(prim));
    if !refers {
        return Ok(Composed {
            layer: root,
            bytes,
            folder: folder.into(),
            warnings: Vec::new(),
        });
    }

    let metadata = root.metadata.clone();
    let mut composer = Composer {
        library: LayerLibrary::new(root, folder, bytes, files),
        budget: Budget::of_samples(bytes),
        spent_bytes: bytes,
        unselected: 0,
    };
    let prims = composer.root_prims()?;
    let mut warnings = composer.library.warnings;
    if composer.unselected > 0 {
        warnings.push(format!(
            "{} set(s) of variants have no selection and are not read",
            composer.unselected
        ));
    }
    Ok(Composed {
        layer: Layer { metadata, prims },
        folder: String::new(),
        // A scene may show a prim many times.
        bytes: composer
            .library
            .bytes
            .saturating_mul(4)
            .saturating_add(1 << 20),
        warnings,
    })
}

fn has_arcs(prim: &Prim) -> bool {
    let arc = |(key, _): &(String, Value)| ARCS.contains(&key.as_str());
    !prim.variant_sets.is_empty()
        || prim.metadata.iter().any(arc)
        || prim.children.iter().any(|child| has_arcs(child))
}

/// A place that has an opinion about a prim.
#[derive(Clone)]
struct Site {
    stack: Rc<LayerStack>,
    /// Its path in the layers of the stack.
    path: String,
    /// The prims there, with the indices of their layers.
    prims: Vec<(Rc<Prim>, usize)>,
    /// From paths of the site to paths of the scene, the first step first.
    steps: Vec<PathStep>,
    /// From time codes of the stack to those of the scene.
    retiming: Retiming,
    /// The sites whose arcs lead here: paths of stacks and of prims.
    history: Vec<(String, String)>,
}

/// The replacement of the beginning of a path.
#[derive(Clone)]
struct PathStep {
    from: String,
    to: String,
    /// Whether other paths stay; else they mean nothing outside their layer.
    keeps_others: bool,
}

impl Site {
    /// The site of the child `name`; `None` if it has no opinion.
    fn child(&self, name: &str) -> Option<Self> {
        let mut prims = Vec::new();
        for (prim, layer) in &self.prims {
            let mut children = prim.children.iter();
            prims.extend(
                children
                    .find(|c| c.name == name)
                    .map(|c| (Rc::clone(c), *layer)),
            );
        }
        (!prims.is_empty()).then(|| Self {
            path: format!("{}/{name}", self.path),
            prims,
            ..self.clone()
        })
    }

    /// The path in the scene of a target of a relationship.
    fn mapped(&self, target: &str) -> Option<String> {
        let mut path = absolute(&self.path, target)?;
        for step in &self.steps {
            path = match below(&path, &step.from) {
                Some(rest) => format!("{}{rest}", step.to),
                None if step.keeps_others => path,
                None => return None,
            };
        }
        Some(path)
    }

    /// From time codes of one of its layers to those of the scene.
    fn retiming_of(&self, layer: usize) -> Retiming {
        self.retiming.after(self.stack.layers[layer].1)
    }
}

/// The rest of a path after `above`, if it is at or below that.
fn below<'a>(path: &'a str, above: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(above)?;
    (rest.is_empty() || rest.starts_with(['/', '.'])).then_some(rest)
}

/// A path from the root, for one that may be relative to the prim at `from`.
fn absolute(from: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return Some(path.into());
    }
    let mut from = from;
    let mut rest = path;
    while let Some(up) = rest.strip_prefix("../") {
        from = from.rsplit_once('/')?.0;
        rest = up;
    }
    Some(format!("{from}/{rest}"))
}

struct Composer<'a> {
    library: LayerLibrary<'a>,
    budget: Budget,
    /// The bytes that the budget knows.
    spent_bytes: usize,
    /// Variant sets without a selection.
    unselected: usize,
}

/// The selected variant of each variant set.
type Selections = Vec<(String, String)>;

impl Composer<'_> {
    fn root_prims(&mut self) -> Result<Vec<Rc<Prim>>, ReadError> {
        let Some(stack) = self.library.stack("") else {
            return Ok(Vec::new());
        };

        let mut names: Vec<&str> = Vec::new();
        for (open, _) in stack.layers.iter().rev() {
            add_names(&mut names, &open.layer.prims);
        }
        let mut prims = Vec::new();
        for name in names {
            let site = Site {
                stack: Rc::clone(&stack),
                path: format!("/{name}"),
                prims: stack.root_prims(name),
                steps: Vec::new(),
                retiming: Retiming::default(),
                history: Vec::new(),
            };
            prims.extend(self.prim(name, vec![site], 0)?.map(Rc::new));
        }
        Ok(prims)
    }

    fn spend(&mut self, numbers: usize) -> Result<(), ReadError> {
        let new = self.library.bytes - self.spent_bytes;
        self.spent_bytes = self.library.bytes;
        self.budget.grow(new);
        self.budget.spend(numbers, "the references of the prims")
    }

    /// The prim that `sites` and their arcs give; `None` for a class.
    fn prim(
        &mut self,
        name: &str,
        sites: Vec<Site>,
        depth: usize,
    ) -> Result<Option<Prim>, ReadError> {
        if depth >= GREATEST_DEPTH {
            return Err(ReadError::whole(format!(
                "references nest prims more than {GREATEST_DEPTH} deep"
            )));
        }

        let sites = self.with_arcs(sites, &mut Selections::new(), depth)?;
        let mut whole = Prim {
            name: name.into(),
            specifier: specifier(&sites).into(),
            ..Prim::default()
        };
        if whole.specifier == "class" {
            return Ok(None);
        }

        let mut merged = MergedProperties::default();
        for site in &sites {
            for (prim, layer) in &site.prims {
                let samples = prim.properties.iter().map(sample_count).sum::<usize>();
                self.spend(NUMBERS_PER_RECORD * (1 + prim.properties.len()) + 8 * samples)?;
                if whole.kind.is_empty() {
                    whole.kind.clone_from(&prim.kind);
                }
                merge_metadata(&mut whole.metadata, &prim.metadata);
                for property in &prim.properties {
                    merged.add(property, || placed(property, site, *layer));
                }
                merged.end_of_opinion();
            }
        }
        whole.properties = merged.properties;

        // Weaker opinions name their children first.
        let mut names = Vec::new();
        for site in sites.iter().rev() {
            for (prim, _) in site.prims.iter().rev() {
                add_names(&mut names, &prim.children);
            }
        }
        for name in names {
            let below = sites.iter().filter_map(|site| site.child(name)).collect();
            whole
                .children
                .extend(self.prim(name, below, depth + 1)?.map(Rc::new));
        }
        Ok(Some(whole))
    }

    /// Each site followed by what its arcs refer to.
    fn with_arcs(
        &mut self,
        sites: Vec<Site>,
        selections: &mut Selections,
        depth: usize,
    ) -> Result<Vec<Site>, ReadError> {
        for site in &sites {
            select(selections, site);
        }
        let mut all = Vec::new();
        for site in sites {
            self.add_with_arcs(site, selections, &mut all, depth)?;
        }
        Ok(all)
    }

    fn add_with_arcs(
        &mut self,
        site: Site,
        selections: &mut Selections,
        all: &mut Vec<Site>,
        depth: usize,
    ) -> Result<(), ReadError> {
        let steps: usize = site.steps.len() + site.history.len();
        self.spend(NUMBERS_PER_RECORD * (1 + steps))?;
        select(selections, &site);
        all.push(site.clone());

        self.add_targets(&site, "inherits", selections, all, depth)?;
        for variant in self.selected_variants(&site, selections) {
            if depth < GREATEST_DEPTH {
                self.add_with_arcs(variant, selections, all, depth + 1)?;
            }
        }
        for key in ["references", "payload", "specializes"] {
            self.add_targets(&site, key, selections, all, depth)?;
        }
        Ok(())
    }

    /// Adds the sites that the arcs of one kind refer to.
    fn add_targets(
        &mut self,
        site: &Site,
        key: &str,
        selections: &mut Selections,
        all: &mut Vec<Site>,
        depth: usize,
    ) -> Result<(), ReadError> {
        for (prim, layer) in &site.prims {
            for (_, value) in prim.metadata.iter().filter(|(known, _)| known == key) {
                for reference in value.references() {
                    all.extend(self.target(site, *layer, reference, selections, depth)?);
                }
                for path in value.texts() {
                    let reference = Reference {
                        asset: String::new(),
                        prim: path.clone(),
                        retiming: Retiming::default(),
                    };
                    all.extend(self.target(site, *layer, &reference, selections, depth)?);
                }
            }
        }
        Ok(())
    }

    /// The selected variants of a site, as sites at the same path.
    fn selected_variants(&mut self, site: &Site, selections: &Selections) -> Vec<Site> {
        let mut selected = Vec::new();
        for (prim, layer) in &site.prims {
            for set in &prim.variant_sets {
                let choice = selections.iter().find(|(name, _)| *name == set.name);
                let Some((_, choice)) = choice else {
                    self.unselected += 1;
                    continue;
                };
                let mut variants = set.variants.iter();
                if let Some(variant) = variants.find(|variant| variant.name == *choice) {
                    selected.push(Site {
                        prims: vec![(Rc::clone(variant), *layer)],
                        ..site.clone()
                    });
                }
            }
        }
        selected
    }

    /// The sites of a prim to which `site` refers, with their arcs.
    fn target(
        &mut self,
        site: &Site,
        layer: usize,
        reference: &Reference,
        selections: &mut Selections,
        depth: usize,
    ) -> Result<Vec<Site>, ReadError> {
        let is_internal = reference.asset.is_empty();
        let stack = if is_internal {
            Some(Rc::clone(&site.stack))
        } else {
            let folder = site.stack.layers[layer].0.folder.clone();
            self.library.stack_of(&folder, &reference.asset)
        };
        let Some(stack) = stack else {
            return Ok(Vec::new());
        };

        let path = match reference.prim.as_str() {
            "" => stack.default_prim(),
            path => absolute(&site.path, path),
        };
        let Some(path) = path else {
            self.warn(site, "refers to a layer without a default prim");
            return Ok(Vec::new());
        };

        let mut history = site.history.clone();
        history.push((site.stack.path.clone(), site.path.clone()));
        let meets = |(known, above): &(String, String)| {
            *known == stack.path && (below(above, &path).is_some() || below(&path, above).is_some())
        };
        if history.iter().any(meets) || depth >= GREATEST_DEPTH {
            self.warn(site, &format!("refers to '{path}', which contains it"));
            return Ok(Vec::new());
        }

        let mut steps = vec![PathStep {
            from: path.clone(),
            to: site.path.clone(),
            keeps_others: is_internal,
        }];
        steps.extend(site.steps.iter().cloned());
        let rates = site.stack.codes_per_second() / stack.codes_per_second();
        let own = Retiming {
            scale: reference.retiming.scale * rates,
            ..reference.retiming
        };
        let origin = Site {
            retiming: site.retiming_of(layer).after(own),
            path: String::new(),
            prims: Vec::new(),
            stack,
            steps,
            history,
        };

        let sites = self.sites_at(origin, &path, selections, depth + 1)?;
        if sites.is_empty() {
            self.warn(site, &format!("refers to '{path}', which does not exist"));
        }
        Ok(sites)
    }

    /// The sites at `path` with the arcs of every prim from the root to it.
    fn sites_at(
        &mut self,
        origin: Site,
        path: &str,
        selections: &mut Selections,
        depth: usize,
    ) -> Result<Vec<Site>, ReadError> {
        let mut names = path.split('/').filter(|name| !name.is_empty());
        let Some(first) = names.next() else {
            return Ok(Vec::new());
        };
        let prims = origin.stack.root_prims(first);
        if prims.is_empty() {
            return Ok(Vec::new());
        }

        let root = Site {
            path: format!("/{first}"),
            prims,
            ..origin
        };
        let mut sites = self.with_arcs(vec![root], selections, depth)?;
        for name in names {
            let children = sites.iter().filter_map(|site| site.child(name)).collect();
            sites = self.with_arcs(children, selections, depth)?;
        }
        Ok(sites)
    }

    fn warn(&mut self, site: &Site, what: &str) {
        let path = site.path.escape_debug();
        self.library
            .warnings
            .push(format!("prim '{path}' {what}; it is not read"));
    }
}

/// Adds the selections of a site; those that are known are stronger.
fn select(selections: &mut Selections, site: &Site) {
    for (prim, _) in &site.prims {
        for (_, value) in prim.metadata.iter().filter(|(key, _)| key == "variants") {
            let Value::Selections(own) = value else {
                continue;
            };
            for (set, variant) in own {
                if selections.iter().all(|(known, _)| known != set) {
                    selections.push((set.clone(), variant.clone()));
                }
            }
        }
    }
}

/// Adds the names of prims that are not in the list.
fn add_names<'a>(names: &mut Vec<&'a str>, prims: &'a [Rc<Prim>]) {
    let known: std::collections::HashSet<&str> = names.iter().copied().collect();
    names.extend(
        prims
            .iter()
            .map(|p| p.name.as_str())
            .filter(|name| !known.contains(name)),
    );
}

/// `def` or `class` if some site says so, the strongest first; a class to which a prim refers
/// leaves it a `def`.
fn specifier(sites: &[Site]) -> &'static str {
    let mut is_class = false;
    for site in sites {
        for (prim, _) in &site.prims {
            match prim.specifier.as_str() {
                "def" => return "def",
                "class" if site.history.is_empty() => is_class = true,
                _ => {}
            }
        }
    }
    if is_class { "class" } else { "over" }
}

fn merge_metadata(whole: &mut Vec<(String, Value)>, own: &[(String, Value)]) {
    for (key, value) in own {
        let composes = ARCS.contains(&key.as_str()) || key == "variants";
        if !composes && whole.iter().all(|(known, _)| known != key) {
            whole.push((key.clone(), value.clone()));
        }
    }
}

fn sample_count(property: &Property) -> usize {
    match &property.value {
        PropertyValue::Samples(samples) => samples.len(),
        PropertyValue::Constant(value) => value.texts().len(),
    }
}

/// Properties of several opinions, the strongest first.
#[derive(Default)]
struct MergedProperties {
    properties: Vec<Property>,
    /// For each name, its first statement, and the number of properties before the opinion that
    /// gave it a value.
    known: HashMap<String, (usize, Option<usize>)>,
    /// How many properties the opinions before gave.
    before: usize,
}

impl MergedProperties {
    /// Adds a property unless a stronger opinion has a value of it.
    fn add(&mut self, property: &Property, placed: impl FnOnce() -> Property) {
        let has_value = !matches!(property.value, PropertyValue::Constant(Value::Nothing));
        let at = self.properties.len();
        let before = self.before;
        let (first, valued) = *self
            .known
            .entry(property.name.clone())
            .or_insert((at, None));

        // Constant and samples of one opinion are two statements.
        if first == at || (has_value && valued.is_none_or(|opinion| opinion == before)) {
            self.properties.push(placed());
            let valued = valued.or(has_value.then_some(before));
            self.known.insert(property.name.clone(), (first, valued));
        }
        merge_metadata(&mut self.properties[first].metadata, &property.metadata);
        if let Some(last) = self
            .properties
            .last_mut()
            .filter(|p| p.name == property.name)
        {
            merge_metadata(&mut last.metadata, &property.metadata);
        }
    }

    fn end_of_opinion(&mut self) {
        self.before = self.properties.len() + 1;
    }
}

/// A property of a site with paths and time codes of the scene.
fn placed(property: &Property, site: &Site, layer: usize) -> Property {
    let mut placed = property.clone();
    let retiming = site.retiming_of(layer);
    match &mut placed.value {
        PropertyValue::Constant(value) if property.kind == "rel" => {
            let targets = value.texts().iter().filter_map(|path| site.mapped(path));
            *value = Value::Texts(targets.collect());
        }
        PropertyValue::Constant(Value::Text(asset)) if property.kind == "asset" => {
            let folder = &site.stack.layers[layer].0.folder;
            if let Some(path) = joined(folder, asset) {
                *asset = path;
            }
        }
        PropertyValue::Samples(samples) if retiming != Retiming::default() => {
            for (code, _) in samples.iter_mut() {
                *code = retiming.apply(*code);
            }
            samples.retain(|(code, _)| code.is_finite());
            samples.sort_by(|a, b| a.0.total_cmp(&b.0));
            samples.dedup_by(|later, earlier| later.0 == earlier.0);
        }
        _ => {}
    }
    placed
}
