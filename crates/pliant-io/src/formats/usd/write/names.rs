//! Prim names of the written layer: valid in USD, distinct among siblings, below one root.

use std::collections::HashSet;

use crate::Asset;

/// The prim below the root that holds the materials.
pub(super) const MATERIALS: &str = "Materials";

/// The ending of the name of the skeleton of a mesh.
pub(super) const SKELETON: &str = "_Skeleton";

/// A prim to write, with a name that is valid in USD and distinct among its siblings.
#[derive(Default)]
pub(super) struct PrimTree {
    pub(super) name: String,
    /// The name in the asset.
    pub(super) display_name: String,
    pub(super) object: Option<usize>,
    pub(super) children: Vec<PrimTree>,
    /// Whether the root below this one is no part of the asset.
    pub(super) adds_root: bool,
}

impl PrimTree {
    /// Whether nothing is below an object.
    pub(super) fn has_leaves_only(&self) -> bool {
        let is_leaf = self.object.is_none() || self.children.is_empty();
        is_leaf && self.children.iter().all(Self::has_leaves_only)
    }

    /// The objects by their paths, all below one root. USD needs one default prim.
    pub(super) fn of(asset: &Asset) -> Self {
        let paths: Vec<Vec<&str>> = asset
            .objects
            .iter()
            .map(|o| o.path.split('/').filter(|part| !part.is_empty()).collect())
            .collect();
        let common = paths.first().and_then(|path| path.first().copied());

        let rooted = common.is_some()
            && paths
                .iter()
                .all(|path| path.len() > 1 && path.first().copied() == common);

        let root = if asset.name.is_empty() {
            "Asset"
        } else {
            &asset.name
        };

        let mut tree = Self {
            adds_root: !rooted && paths.iter().all(|path| !path.is_empty()),
            ..Self::default()
        };
        for (k, path) in paths.iter().enumerate() {
            let mut steps: Vec<&str> = if rooted {
                path.clone()
            } else {
                std::iter::once(root).chain(path.iter().copied()).collect()
            };

            if steps.len() == 1 {
                steps.push("Mesh");
            }

            tree.insert(&steps, k);
        }

        if tree.children.is_empty() {
            tree.children.push(Self {
                name: valid_name(root),
                display_name: root.into(),
                ..Self::default()
            });
        }

        tree
    }

    /// The objects in the order in which they are written.
    pub(super) fn objects(&self) -> Vec<usize> {
        self.object
            .into_iter()
            .chain(self.children.iter().flat_map(Self::objects))
            .collect()
    }

    /// The objects with their paths, in the order in which they are written.
    pub(super) fn object_paths(&self) -> Vec<(usize, String)> {
        let mut paths = Vec::new();
        for child in &self.children {
            child.add_paths("", &mut paths);
        }
        paths
    }

    fn add_paths(&self, above: &str, paths: &mut Vec<(usize, String)>) {
        let path = format!("{above}/{}", self.name);
        for child in &self.children {
            child.add_paths(&path, paths);
        }
        paths.extend(self.object.map(|object| (object, path)));
    }

    fn insert(&mut self, steps: &[&str], object: usize) {
        let [first, rest @ ..] = steps else { return };
        let known = if rest.is_empty() {
            None
        } else {
            self.children.iter().position(|c| c.display_name == *first)
        };

        let at = known.unwrap_or_else(|| {
            let taken: HashSet<&str> = self
                .children
                .iter()
                .map(|c| c.name.as_str())
                .chain([MATERIALS])
                .collect();

            let name = distinct_name(valid_name(first), &taken);
            self.children.push(Self {
                name,
                display_name: (*first).to_owned(),
                ..Self::default()
            });

            self.children.len() - 1
        });

        match rest {
            [] => self.children[at].object = Some(object),
            _ => self.children[at].insert(rest, object),
        }
    }
}

/// The name with letters, digits and underscores only, and distinct from names of skeletons.
pub(super) fn valid_name(name: &str) -> String {
    let clean: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '_'
            }
        })
        .collect();
    match clean.chars().next() {
        None => "Unnamed".into(),
        Some(first) if first.is_ascii_digit() => format!("_{clean}"),
        Some(_) if clean.ends_with(SKELETON) => format!("{clean}_"),
        Some(_) => clean,
    }
}

fn distinct_name(name: String, taken: &HashSet<&str>) -> String {
    if !taken.contains(name.as_str()) {
        return name;
    }
    (1..)
        .map(|k| format!("{name}_{k}"))
        .find(|other| !taken.contains(other.as_str()))
        .expect("some number is free")
}

/// Valid names, each distinct from the others.
pub(super) fn distinct_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    let mut taken = HashSet::new();
    for name in names {
        let mut other = valid_name(name);
        let mut k = 0;
        while !taken.insert(other.clone()) {
            k += 1;
            other = format!("{}_{k}", valid_name(name));
        }
        distinct.push(other);
    }

    distinct
}
