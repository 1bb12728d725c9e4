//! Files that become shapes: dropped, or chosen in the dialog.
//!
//! A file is loaded beside the window. One that should stand beside other shapes is taken only if
//! it is a pose of the same mesh.

use std::path::{Path, PathBuf};

use pliant::io::Format;
use pliant::mesh::Mesh;
use pliant::rig::Rig;

use super::setup::{Setup, ShapeMark};
use crate::command::Notice;
use crate::document::Locator;
use crate::library::Slot;
use crate::rooms::Cx;

/// What the room calls files for all its shapes.
pub(super) const ALL_SHAPES: &str = "blend shapes";
/// What it calls a file for one of them.
pub(super) const ONE_SHAPE: [&str; Setup::MOST_SHAPES] =
    ["blend shape A", "blend shape B", "blend shape C"];

/// Files on their way.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    waiting: Vec<Arrival>,
}

#[derive(Debug, Clone, PartialEq)]
struct Arrival {
    locators: Vec<Locator>,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    /// After the shapes that are there, or in place of the last where there is no room.
    Next,
    /// In place of all.
    All,
}

impl Arrivals {
    /// Takes a dropped mesh where there are shapes beside which it can stand; says whether it did.
    pub(super) fn accept(&mut self, path: &Path, cx: &mut Cx<'_>) -> bool {
        let needs_mesh = matches!(
            Format::of(path),
            None | Some(Format::Mdd | Format::Pc2 | Format::Npy | Format::Target)
        );
        let alone = cx.document.blend.shapes.is_empty() && cx.document.character.asset.is_empty();
        let Some(text) = path.to_str().filter(|_| !needs_mesh && !alone) else {
            return false;
        };
        let locators = vec![cx.locator(text)];
        self.waiting.push(Arrival {
            locators,
            place: Place::Next,
        });
        true
    }

    /// Takes the files of a dialog.
    pub(super) fn take(&mut self, what: &str, paths: &[PathBuf], cx: &mut Cx<'_>) {
        let locators: Vec<Locator> = paths
            .iter()
            .filter_map(|path| path.to_str())
            .map(|text| cx.locator(text))
            .collect();
        match (
            ONE_SHAPE.iter().position(|one| *one == what),
            locators.first().cloned(),
        ) {
            (Some(shape), Some(first)) => put_at(shape, &first, cx),
            (None, Some(_)) if what == ALL_SHAPES => {
                let place = if locators.len() < 2 {
                    Place::Next
                } else {
                    Place::All
                };
                self.waiting.push(Arrival { locators, place });
            }
            _ => {}
        }
    }

    /// Whether files are still loaded.
    pub(super) fn busy(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Puts files that are there into the document, in the order in which they came.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>) {
        let Some(arrival) = self.waiting.first() else {
            return;
        };
        let shapes = arrival.shapes(&cx.document.blend);
        let done = match fitting(&shapes, cx) {
            None => return,
            Some(Err(sentence)) => Err(sentence),
            Some(Ok(())) => Ok(shapes),
        };
        self.waiting.remove(0);
        match done {
            Err(sentence) => cx.tell(Notice::trouble(sentence)),
            Ok(shapes) => {
                let added = shapes.last().map_or("", ShapeMark::name).to_owned();
                cx.tell(Notice::done(format!(
                    "'{added}' is a shape of the blend now."
                )));
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
            Place::All => Vec::new(),
            Place::Next if setup.shapes.is_empty() => vec![ShapeMark::neutral()],
            Place::Next => setup.shapes.clone(),
        };
        shapes.truncate(Setup::MOST_SHAPES - self.locators.len().min(Setup::MOST_SHAPES));
        shapes.extend(new);
        shapes.truncate(Setup::MOST_SHAPES);
        shapes
    }
}

/// A person chose this file for this shape: whether it fits shows when all are chosen.
fn put_at(shape: usize, locator: &str, cx: &mut Cx<'_>) {
    let mark = ShapeMark::asset(locator);
    cx.edit("Choose shape", move |document| {
        if let Some(place) = document.blend.shapes.get_mut(shape) {
            *place = mark;
        }
    });
}

/// Whether shapes are poses of one mesh, or a sentence why not; `None` while some are loaded.
fn fitting(shapes: &[ShapeMark], cx: &mut Cx<'_>) -> Option<Result<(), String>> {
    let mut first: Option<(String, Mesh)> = None;
    for shape in shapes {
        let mesh = match mesh_of(shape, cx)? {
            Ok(mesh) => mesh,
            Err(sentence) => return Some(Err(sentence)),
        };
        match &first {
            None => first = Some((shape.name().to_owned(), mesh)),
            Some((name, other)) if !mesh.same_surface(other) => {
                return Some(Err(misfit(shape.name(), &mesh, name, other)));
            }
            Some(_) => {}
        }
    }
    Some(Ok(()))
}

fn mesh_of(shape: &ShapeMark, cx: &mut Cx<'_>) -> Option<Result<Mesh, String>> {
    let neutral = |rig: &Rig| rig.neutral().clone();
    if shape.asset.is_empty() {
        let character = &cx.document.character.asset;
        return match cx.posed {
            Some(posed) => Some(Ok(neutral(&posed.rig))),
            None if character.is_empty() => {
                Some(Err("One shape is no blend, and there is no character beside it; choose two or three files at once.".into()))
            }
            None => match cx.library.get(character) {
                Slot::Failed(sentence) => Some(Err(sentence)),
                Slot::Loading | Slot::Ready(_) => None,
            },
        };
    }
    match cx.library.get(&shape.asset) {
        Slot::Loading => None,
        Slot::Ready(loaded) => Some(Ok(neutral(&loaded.rig))),
        Slot::Failed(sentence) => Some(Err(sentence)),
    }
}

fn misfit(name: &str, mesh: &Mesh, other_name: &str, other: &Mesh) -> String {
    let (found, expected) = (mesh.vertex_count(), other.vertex_count());
    let differs = if found == expected {
        format!("'{name}' has other faces than '{other_name}'")
    } else {
        format!("'{name}' has {found} vertices and '{other_name}' has {expected}")
    };
    format!(
        "{differs}. Shapes of a blend are poses of one mesh; to open the file as the character, go to the Pose room first."
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
    fn a_file_comes_after_the_shapes_or_in_place_of_the_last() {
        let next = Arrival {
            locators: vec!["new.obj".into()],
            place: Place::Next,
        };
        let mut setup = Setup::default();
        assert_eq!(names(&next.shapes(&setup)), ["Neutral", "new.obj"]);
        setup.shapes = ["a", "b"].map(ShapeMark::target).to_vec();
        assert_eq!(names(&next.shapes(&setup)), ["a", "b", "new.obj"]);
        setup.shapes.push(ShapeMark::target("c"));
        assert_eq!(names(&next.shapes(&setup)), ["a", "b", "new.obj"]);
        let all = Arrival {
            locators: ["1", "2", "3", "4"].map(String::from).to_vec(),
            place: Place::All,
        };
        assert_eq!(names(&all.shapes(&setup)), ["1", "2", "3"]);
    }

    #[test]
    fn a_misfit_is_told_by_what_differs() {
        let (ball, cube) = (
            icosphere(1),
            closed_box([1, 1, 1], pliant::mesh::glam::DVec3::ONE),
        );
        let told = misfit("ball.obj", &ball, "Neutral", &cube);
        assert!(
            told.starts_with("'ball.obj' has 42 vertices and 'Neutral' has 8. "),
            "{told}"
        );
        assert!(
            misfit("other.obj", &cube, "Neutral", &cube)
                .starts_with("'other.obj' has other faces than 'Neutral'. ")
        );
    }
}
