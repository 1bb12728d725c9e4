//! Files that become shapes of a blend: dropped, or chosen in the dialog.
//!
//! A worker loads each file. A file joins other shapes only if it is a pose of the same mesh.

use std::path::{Path, PathBuf};

use pliant::io::Format;
use pliant::mesh::Mesh;
use pliant::rig::Rig;

use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::library::AssetState;
use crate::model::blend::{Setup, ShapeMark};
use crate::model::document::Locator;

/// Request key of files for all shapes.
pub(crate) const ALL_SHAPES: &str = "blend shapes";
/// Request keys of a file for one shape.
pub(crate) const ONE_SHAPE: [&str; Setup::MOST_SHAPES] =
    ["blend shape A", "blend shape B", "blend shape C"];

/// Files in progress.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    waiting: Vec<Arrival>,
}

#[derive(Debug, Clone, PartialEq)]
struct Arrival {
    locators: Vec<Locator>,
    place: ShapePlace,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ShapePlace {
    /// After the present shapes, or instead of the last one if there are already three.
    Next,
    /// Instead of all shapes.
    All,
}

impl Arrivals {
    /// Accepts a dropped mesh if there are other shapes; returns whether it did.
    pub(crate) fn accept(&mut self, path: &Path, cx: &mut Cx<'_>) -> bool {
        let needs_mesh = matches!(
            Format::of(path),
            None | Some(Format::Mdd | Format::Pc2 | Format::Npy | Format::Target)
        );
        // Without shapes and without a character the file is opened as the character.
        let alone = cx.document.blend.shapes.is_empty() && cx.document.character.asset.is_empty();
        let Some(text) = path.to_str().filter(|_| !needs_mesh && !alone) else {
            return false;
        };

        let locators = vec![cx.locator(text)];
        self.waiting.push(Arrival {
            locators,
            place: ShapePlace::Next,
        });
        true
    }

    /// Takes the files of a dialog.
    pub(crate) fn take(&mut self, what: &str, paths: &[PathBuf], cx: &mut Cx<'_>) {
        let locators: Vec<Locator> = paths
            .iter()
            .filter_map(|path| path.to_str())
            .map(|text| cx.locator(text))
            .collect();
        // A file for one shape replaces it; several files replace all shapes.
        match (
            ONE_SHAPE.iter().position(|one| *one == what),
            locators.first().cloned(),
        ) {
            (Some(shape), Some(first)) => put_at(shape, &first, cx),
            (None, Some(_)) if what == ALL_SHAPES => {
                let place = if locators.len() < 2 {
                    ShapePlace::Next
                } else {
                    ShapePlace::All
                };
                self.waiting.push(Arrival { locators, place });
            }
            _ => {}
        }
    }

    /// Whether files are still loaded.
    pub(crate) fn busy(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Adds loaded files to the document, in the order in which they arrived.
    pub(crate) fn update(&mut self, cx: &mut Cx<'_>) {
        let Some(arrival) = self.waiting.first() else {
            return;
        };

        // The shapes are combined again in every frame until all files are loaded.
        let shapes = arrival.shapes(&cx.document.blend);
        let done = match check_surfaces(&shapes, cx) {
            None => return,
            Some(Err(message)) => Err(message),
            Some(Ok(())) => Ok(shapes),
        };

        // The request is complete, whether it succeeded or not.
        self.waiting.remove(0);
        match done {
            Err(message) => cx.notify(Notice::error(message)),
            Ok(shapes) => {
                let added = shapes.last().map_or("", ShapeMark::name).to_owned();
                cx.notify(Notice::done(format!("Added the shape '{added}'.")));
                cx.edit("Add shape", move |document| document.blend.choose(shapes));
            }
        }
    }
}

impl Arrival {
    /// The shapes as they will be.
    fn shapes(&self, setup: &Setup) -> Vec<ShapeMark> {
        let new = self
            .locators
            .iter()
            .map(|locator| ShapeMark::asset(locator));

        let mut shapes = match self.place {
            ShapePlace::All => Vec::new(),
            ShapePlace::Next if setup.shapes.is_empty() => vec![ShapeMark::neutral()],
            ShapePlace::Next => setup.shapes.clone(),
        };

        // The last shapes make room for the new ones.
        shapes.truncate(Setup::MOST_SHAPES - self.locators.len().min(Setup::MOST_SHAPES));
        shapes.extend(new);
        shapes.truncate(Setup::MOST_SHAPES);
        shapes
    }
}

/// Uses a file for one shape. Whether the shapes fit is checked when all are chosen.
fn put_at(shape: usize, locator: &str, cx: &mut Cx<'_>) {
    let mark = ShapeMark::asset(locator);
    cx.edit("Choose shape", move |document| {
        if let Some(place) = document.blend.shapes.get_mut(shape) {
            *place = mark;
        }
    });
}

/// Checks that all shapes are poses of one mesh; `None` while some are loading.
fn check_surfaces(shapes: &[ShapeMark], cx: &mut Cx<'_>) -> Option<Result<(), String>> {
    let mut first: Option<(String, Mesh)> = None;
    for shape in shapes {
        let mesh = match mesh_of(shape, cx)? {
            Ok(mesh) => mesh,
            Err(message) => return Some(Err(message)),
        };
        // All shapes are compared with the first one.
        match &first {
            None => first = Some((shape.name().to_owned(), mesh)),
            Some((name, other)) if !mesh.same_surface(other) => {
                return Some(Err(mismatch_message(shape.name(), &mesh, name, other)));
            }
            Some(_) => {}
        }
    }

    Some(Ok(()))
}

fn mesh_of(shape: &ShapeMark, cx: &mut Cx<'_>) -> Option<Result<Mesh, String>> {
    let neutral = |rig: &Rig| rig.neutral().clone();
    // A shape without an asset is a target of the character.
    if shape.asset.is_empty() {
        let character = &cx.document.character.asset;
        return match cx.posed {
            Some(posed) => Some(Ok(neutral(&posed.rig))),
            None if character.is_empty() => {
                Some(Err("A blend needs two or three shapes, and there is no character; choose two or three files at once.".into()))
            }
            None => match cx.library.get(character) {
                AssetState::Failed(message) => Some(Err(message)),
                AssetState::Loading | AssetState::Ready(_) => None,
            },
        };
    }

    match cx.library.get(&shape.asset) {
        AssetState::Loading => None,
        AssetState::Ready(loaded) => Some(Ok(neutral(&loaded.rig))),
        AssetState::Failed(message) => Some(Err(message)),
    }
}

fn mismatch_message(name: &str, mesh: &Mesh, other_name: &str, other: &Mesh) -> String {
    let found = mesh.vertex_count();
    let expected = other.vertex_count();
    // The vertex counts are the clearest difference.
    let differs = if found == expected {
        format!("The faces of '{name}' and '{other_name}' differ")
    } else {
        format!("'{name}' has {found} vertices and '{other_name}' has {expected}")
    };
    format!(
        "{differs}. All shapes of a blend must be poses of one mesh. To open the file as the character, switch to the Pose room first."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::mesh::shapes::{closed_box, icosphere};

    fn names(shapes: &[ShapeMark]) -> Vec<&str> {
        shapes.iter().map(ShapeMark::name).collect()
    }

    #[test]
    fn a_new_shape_is_appended_or_replaces_the_last() {
        let next = Arrival {
            locators: vec!["new.obj".into()],
            place: ShapePlace::Next,
        };
        let mut setup = Setup::default();

        assert_eq!(names(&next.shapes(&setup)), ["Neutral", "new.obj"]);
        setup.shapes = ["a", "b"].map(ShapeMark::target).to_vec();
        assert_eq!(names(&next.shapes(&setup)), ["a", "b", "new.obj"]);
        setup.shapes.push(ShapeMark::target("c"));

        assert_eq!(names(&next.shapes(&setup)), ["a", "b", "new.obj"]);
        let all = Arrival {
            locators: ["1", "2", "3", "4"].map(String::from).to_vec(),
            place: ShapePlace::All,
        };

        assert_eq!(names(&all.shapes(&setup)), ["1", "2", "3"]);
    }

    #[test]
    fn the_mismatch_message_names_what_differs() {
        let ball = icosphere(1);
        let cube = closed_box([1, 1, 1], pliant::mesh::glam::DVec3::ONE);
        let message = mismatch_message("ball.obj", &ball, "Neutral", &cube);

        assert!(
            message.starts_with("'ball.obj' has 42 vertices and 'Neutral' has 8. "),
            "{message}"
        );

        assert!(
            mismatch_message("other.obj", &cube, "Neutral", &cube)
                .starts_with("The faces of 'other.obj' and 'Neutral' differ. ")
        );
    }
}
