//! The objects to write as a tree of transforms, each with at most one mesh.

use std::collections::HashSet;

use super::scene::SHAPE;
use crate::Asset;

/// A transform to write, with the mesh below it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Branch {
    pub(super) name: String,
    /// The index of an object and the name of its mesh.
    pub(super) mesh: Option<(usize, String)>,
    pub(super) children: Vec<Branch>,
}

impl Branch {
    /// All objects by their paths, below a root without a name.
    pub(super) fn root_of(asset: &Asset) -> Self {
        let mut root = Self::default();
        for (k, object) in asset.objects.iter().enumerate() {
            let mut steps: Vec<&str> = object
                .path
                .split('/')
                .filter(|step| !step.is_empty())
                .collect();
            if steps.is_empty() {
                steps.push(if asset.name.is_empty() {
                    "mesh"
                } else {
                    &asset.name
                });
            }
            root.insert(&steps, k);
        }
        for child in &mut root.children {
            child.merge_only_mesh();
        }
        root
    }

    /// The objects in the order in which they are written.
    pub(super) fn objects(&self) -> Vec<usize> {
        let own = self.mesh.iter().map(|(object, _)| *object);
        own.chain(self.children.iter().flat_map(Self::objects))
            .collect()
    }

    fn insert(&mut self, steps: &[&str], object: usize) {
        let [first, rest @ ..] = steps else { return };
        let name = valid_name(first);
        let known = self.children.iter().position(|child| child.name == name);
        // Two objects of one path become siblings.
        let known = known.filter(|&k| !rest.is_empty() || self.children[k].mesh.is_none());
        let at = known.unwrap_or_else(|| {
            let taken = self.children.iter().map(|child| child.name.as_str());
            let own_mesh = self.mesh.iter().map(|(_, mesh)| mesh.as_str());
            let name = distinct_name(name, &taken.chain(own_mesh).collect());
            self.children.push(Self {
                name,
                ..Self::default()
            });
            self.children.len() - 1
        });

        let child = &mut self.children[at];
        if rest.is_empty() {
            let taken = child.children.iter().map(|c| c.name.as_str()).collect();
            let mesh = distinct_name(format!("{}{SHAPE}", child.name), &taken);
            child.mesh = Some((object, mesh));
        } else {
            child.insert(rest, object);
        }
    }

    /// Puts a mesh that is alone in a group directly below it, so that a tree of another program
    /// keeps its depth.
    fn merge_only_mesh(&mut self) {
        if let [only] = self.children.as_mut_slice()
            && self.mesh.is_none()
            && only.children.is_empty()
            && only.name != format!("{}{SHAPE}", self.name)
        {
            let name = std::mem::take(&mut only.name);
            self.mesh = only.mesh.take().map(|(object, _)| (object, name));
            self.children.clear();
            return;
        }
        for child in &mut self.children {
            child.merge_only_mesh();
        }
    }
}

/// A name without what paths and metadata use.
pub(super) fn valid_name(name: &str) -> String {
    let clean = name.replace(|c: char| c.is_control() || "/;=".contains(c), "_");
    if clean.is_empty() {
        "unnamed".into()
    } else {
        clean
    }
}

/// The name, with a number if it is taken.
pub(super) fn distinct_name(name: String, taken: &HashSet<&str>) -> String {
    if !taken.contains(name.as_str()) {
        return name;
    }
    (1..)
        .map(|k| format!("{name}_{k}"))
        .find(|other| !taken.contains(other.as_str()))
        .expect("some number is free")
}

#[cfg(test)]
mod tests {
    use pliant_mesh::Mesh;
    use pliant_rig::Rig;

    use super::*;
    use crate::Object;

    fn tree(paths: &[&str]) -> Branch {
        let object = |path: &&str| Object {
            path: (*path).into(),
            ..Object::new(Rig::without_targets(
                Mesh::from_polygons(Vec::new(), &[]).unwrap(),
            ))
        };
        Branch::root_of(&Asset {
            objects: paths.iter().map(object).collect(),
            ..Asset::default()
        })
    }

    fn shown(branch: &Branch) -> String {
        let mesh = branch.mesh.as_ref().map(|(_, name)| format!("={name}"));
        let children: Vec<String> = branch.children.iter().map(shown).collect();
        let mesh = mesh.unwrap_or_default();
        format!("{}{mesh}({})", branch.name, children.join(" "))
    }

    #[test]
    fn a_mesh_is_below_a_transform_of_its_own_or_alone_in_its_group() {
        assert_eq!(shown(&tree(&["head"])), "(head=headShape())");
        assert_eq!(shown(&tree(&["/grid/mesh"])), "(grid=mesh())");
        assert_eq!(
            shown(&tree(&["/rig/a", "/rig/b"])),
            "(rig(a=aShape() b=bShape()))"
        );
        assert_eq!(shown(&tree(&["/x/y/z"])), "(x(y=z()))");
        assert_eq!(
            shown(&tree(&["/a/aShape"])),
            "(a(aShape=aShapeShape()))",
            "the path is read as it was"
        );
    }

    #[test]
    fn names_are_distinct_among_siblings() {
        assert_eq!(
            shown(&tree(&["/a", "/a", ""])),
            "(a=aShape() a_1=a_1Shape() mesh=meshShape())"
        );
        assert_eq!(
            shown(&tree(&["/a/aShape", "/a"])),
            "(a=aShape_1(aShape=aShapeShape()))"
        );
    }
}
