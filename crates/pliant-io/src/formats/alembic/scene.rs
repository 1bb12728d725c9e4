//! The objects of an Alembic archive that are meshes, with the transforms above them.

use std::collections::{BTreeMap, HashSet};

use super::archive::{Archive, ChildObject, metadata_value};
use super::ogawa::Group;
use super::property::{Property, find};
use super::transform::Transforms;
use crate::ReadError;

/// Chosen: deeper trees of objects are rejected; real ones have a tenth of it.
const GREATEST_DEPTH: usize = 256;

/// What a mesh is called if its transform is called `NAME`: `NAMEShape`, as in Maya.
pub(super) const SHAPE: &str = "Shape";

/// The meshes of an archive.
#[derive(Debug, Default)]
pub(super) struct Scene<'a> {
    pub(super) meshes: Vec<SceneMesh<'a>>,
    pub(super) transforms: Transforms,
    /// Objects that are not read, by kind.
    skipped: BTreeMap<&'static str, usize>,
    visited: HashSet<usize>,
}

/// A mesh of an archive.
#[derive(Debug)]
pub(super) struct SceneMesh<'a> {
    pub(super) path: String,
    pub(super) geometry: Vec<Property<'a>>,
    /// What our own writer added.
    pub(super) own_properties: Vec<Property<'a>>,
    /// The nearest transform above it.
    pub(super) transform: Option<usize>,
    /// Names and faces of its face sets.
    pub(super) face_sets: Vec<(String, Property<'a>)>,
}

/// Where an object is in the tree.
#[derive(Clone, Copy)]
struct Place<'p> {
    path: &'p str,
    depth: usize,
    transform: Option<usize>,
    /// Whether it is in an instance, whose objects occur more than once.
    repeats: bool,
}

impl<'a> Scene<'a> {
    pub(super) fn of(archive: &Archive<'a>) -> Result<Self, ReadError> {
        let mut scene = Self::default();
        let root = Place {
            path: "",
            depth: 0,
            transform: None,
            repeats: false,
        };
        scene.visit_children(archive, archive.top, root)?;
        Ok(scene)
    }

    /// Warnings about the content that is not read, or read as something else.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        self.skipped
            .iter()
            .map(|(what, count)| format!("{count} {what}"))
    }

    fn visit_children(
        &mut self,
        archive: &Archive<'a>,
        group: Group<'a>,
        above: Place<'_>,
    ) -> Result<(), ReadError> {
        require_depth(above)?;
        if group.position() != 0 && !above.repeats && !self.visited.insert(group.position()) {
            return Err(ReadError::byte(
                group.position(),
                "an object is its own parent or has two parents; the file is damaged, export it again",
            ));
        }

        for child in archive.children(group)? {
            self.visit(archive, &child, above)?;
        }
        Ok(())
    }

    fn visit(
        &mut self,
        archive: &Archive<'a>,
        object: &ChildObject<'a>,
        above: Place<'_>,
    ) -> Result<(), ReadError> {
        let name = one_line(&object.name);
        let path = format!("{}/{name}", above.path);
        archive
            .budget
            .spend(path.len() / 4 + 8, "the names of the objects")?;

        let properties = archive.object_properties(object.group)?;
        if let Some(visible) = find(&properties, "visible").filter(|p| p.holds(1))
            && visible.numbers(archive, 0)?.first() == Some(&0.0)
        {
            self.skip("object(s) are hidden in the file, but are read as visible");
        }
        if let Some(source) = find(&properties, ".instanceSource") {
            return self.visit_instance(archive, object, source, above);
        }

        let schema = metadata_value(&object.metadata, "schema").unwrap_or_default();
        let mut place = Place {
            path: &path,
            depth: above.depth + 1,
            ..above
        };
        match schema.split("_v").next().unwrap_or_default() {
            "AbcGeom_Xform" => {
                let own = archive.compound(&properties, ".xform")?;
                place.transform = Some(self.transforms.add(archive, &own, above.transform)?);
            }
            "AbcGeom_PolyMesh" => return self.add_mesh(archive, object, &properties, place),
            "AbcGeom_SubD" => {
                self.skip("subdivision surface(s) are read as their control meshes");
                return self.add_mesh(archive, object, &properties, place);
            }
            "AbcGeom_Curve" => self.skip("object(s) of curves are not read"),
            "AbcGeom_Points" => self.skip("object(s) of loose points are not read"),
            "AbcGeom_NuPatch" => self.skip("NURBS surface(s) are not read"),
            "AbcGeom_Camera" => self.skip("camera(s) are not read"),
            "AbcGeom_Light" => self.skip("light(s) are not read"),
            "AbcMaterial_Material" => self.skip("material(s) are not read"),
            "" | "AbcGeom_FaceSet" => {}
            _ => self.skip("object(s) of an unknown kind are not read"),
        }

        self.visit_children(archive, object.group, place)
    }

    /// The object that an instance shows, at the place and with the name of the instance.
    fn visit_instance(
        &mut self,
        archive: &Archive<'a>,
        instance: &ChildObject<'a>,
        source: &Property<'a>,
        above: Place<'_>,
    ) -> Result<(), ReadError> {
        // An instance may show an instance.
        let place = Place {
            depth: above.depth + 1,
            repeats: true,
            ..above
        };
        require_depth(place)?;

        let text = source.sample(0)?;
        let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
        let path = String::from_utf8_lossy(text).into_owned();
        let mut group = archive.top;
        let mut shown = None;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let children = archive.children(group)?;
            shown = children.into_iter().find(|child| child.name == name);
            match &shown {
                Some(child) => group = child.group,
                None => break,
            }
        }

        let Some(shown) = shown else {
            self.skip("instance(s) of objects that do not exist are not read");
            return Ok(());
        };
        let shown = ChildObject {
            name: instance.name.clone(),
            ..shown
        };
        self.visit(archive, &shown, place)
    }

    fn skip(&mut self, what: &'static str) {
        *self.skipped.entry(what).or_default() += 1;
    }

    fn add_mesh(
        &mut self,
        archive: &Archive<'a>,
        object: &ChildObject<'a>,
        properties: &[Property<'a>],
        place: Place<'_>,
    ) -> Result<(), ReadError> {
        let mut face_sets = Vec::new();
        for child in archive.children(object.group)? {
            if metadata_value(&child.metadata, "schema") != Some("AbcGeom_FaceSet_v1") {
                continue;
            }
            let own = archive.object_properties(child.group)?;
            let own = archive.compound(&own, ".faceset")?;
            if let Some(faces) = find(&own, ".faces").filter(|p| p.holds(1)) {
                face_sets.push((one_line(&child.name), faces.clone()));
            }
        }

        let geometry = archive.compound(properties, ".geom")?;
        self.meshes.push(SceneMesh {
            path: object_path(place.path),
            own_properties: archive.compound(&geometry, ".userProperties")?,
            geometry,
            transform: place.transform,
            face_sets,
        });
        self.visit_children(archive, object.group, place)
    }
}

fn require_depth(place: Place<'_>) -> Result<(), ReadError> {
    if place.depth > GREATEST_DEPTH {
        return Err(ReadError::whole(format!(
            "the objects are nested more than {GREATEST_DEPTH} deep; the file is damaged, export it again"
        )));
    }
    Ok(())
}

/// The path of a mesh as that of its transform, if it is named after it: `/a/b/bShape` is `/a/b`.
fn object_path(path: &str) -> String {
    let named_after = path.rsplit_once('/').filter(|(transform, name)| {
        let transform_name = transform.rsplit('/').next().unwrap_or_default();
        !transform_name.is_empty() && name.strip_suffix(SHAPE) == Some(transform_name)
    });
    named_after.map_or(path, |(transform, _)| transform).into()
}

fn one_line(name: &str) -> String {
    name.replace(|c: char| c.is_control() || c == '/', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mesh_named_after_its_transform_has_the_path_of_the_transform() {
        assert_eq!(object_path("/a/b/bShape"), "/a/b");
        assert_eq!(object_path("/grid/mesh"), "/grid/mesh");
        assert_eq!(object_path("/Shape"), "/Shape");
        assert_eq!(object_path("/b/aShape"), "/b/aShape");
    }
}
