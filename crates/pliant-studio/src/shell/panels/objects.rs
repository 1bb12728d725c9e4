//! The objects of the character, such as head, eyes and teeth: show, lock, choose.
//!
//! **Implementation.** All objects of a character are one mesh. The vertices of a hidden object are
//! all put at one place, so that its triangles are empty: nothing is drawn and nothing is hit, and
//! the numbers of vertices and triangles stay.

use std::collections::BTreeSet;
use std::sync::Arc;

use eframe::egui::{self, Ui, vec2};
use pliant::mesh::Bounds;

use crate::engine::command::Command;
use crate::engine::context::Cx;
use crate::engine::library::LoadedAsset;
use crate::engine::surface::{Surface, Vertices};
use crate::model::document::Locator;
use crate::rooms::Pane;
use crate::widgets::icon::{Icon, SMALL, icon_button};

/// The list, and what it says about the objects of one character.
#[derive(Default)]
pub(crate) struct ObjectsPanel {
    of: Locator,
    objects: Vec<Object>,
    hidden: BTreeSet<usize>,
    locked: BTreeSet<usize>,
    chosen: Option<usize>,
    /// The last vertices with and without the hidden objects.
    made: Option<Made>,
}

/// An object of the character.
struct Object {
    name: String,
    /// Its vertices in the order of the whole character.
    vertices: Vec<u32>,
    /// Whether other objects use some of its vertices.
    shared: bool,
}

struct Made {
    from: Arc<Vertices>,
    hidden: BTreeSet<usize>,
    to: Arc<Vertices>,
}

impl ObjectsPanel {
    /// The list, for a character of several objects.
    pub(crate) fn panel_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        self.follow(cx);
        if self.objects.len() < 2 {
            return;
        }

        ui.separator();
        ui.horizontal(|ui| {
            ui.strong("Objects");
            let any = !self.hidden.is_empty();
            let all = ui.add_enabled(any, egui::Button::new("Show all").small());
            if all.on_disabled_hover_text("No object is hidden").clicked() {
                self.hidden.clear();
            }
        });
        for k in 0..self.objects.len() {
            self.object_ui(ui, k, cx);
        }
    }

    fn object_ui(&mut self, ui: &mut Ui, k: usize, cx: &mut Cx<'_>) {
        let object = &self.objects[k];
        let name = object.name.clone();
        let shared = object.shared;
        ui.horizontal(|ui| {
            let accent = ui.visuals().hyperlink_color;
            let open = !self.hidden.contains(&k);
            ui.add_enabled_ui(!shared, |ui| {
                let eye = icon_button(ui, Icon::Eye { open }, &format!("Show {name}"), SMALL, None);
                let eye = eye
                    .on_hover_text("Show or hide this object")
                    .on_disabled_hover_text(
                        "It shares vertices with other objects, so it cannot be hidden alone",
                    );
                if eye.clicked() {
                    toggle(&mut self.hidden, k);
                }
            });

            let locked = self.locked.contains(&k);
            let icon = if locked { Icon::Lock } else { Icon::OpenLock };
            let lit = locked.then_some(accent);
            let lock = icon_button(ui, icon, &format!("Lock {name}"), SMALL, lit);
            if lock
                .on_hover_text("Lock: tools do not touch this object")
                .clicked()
            {
                toggle(&mut self.locked, k);
            }

            ui.spacing_mut().button_padding = vec2(4.0, 1.0);
            let row = ui.selectable_label(self.chosen == Some(k), &name);
            if row.on_hover_text("Frame this object in the view").clicked() {
                self.chosen = Some(k);
                cx.command(Command::Frame { selection: true });
            }
        });
    }

    /// Keeps up with the character.
    fn follow(&mut self, cx: &mut Cx<'_>) {
        let asset = cx.document.character.asset.clone();
        if asset == self.of {
            return;
        }
        *self = Self::default();
        let loaded = if asset.is_empty() {
            None
        } else {
            cx.library.ready(&asset)
        };
        if let Some(loaded) = loaded {
            self.of = asset;
            self.objects = objects(&loaded);
        }
    }

    /// Hides and locks objects of the character in what a room shows.
    pub(crate) fn apply(&mut self, panes: &mut [Pane], surface: &Arc<Surface>) {
        let locked: Vec<u32> = self
            .locked
            .iter()
            .filter_map(|k| self.objects.get(*k))
            .flat_map(|object| object.vertices.iter().copied())
            .collect();
        let locked = (!locked.is_empty()).then(|| Arc::new(locked.into_iter().collect()));

        for pane in panes {
            for model in &mut pane.scene.models {
                if !Arc::ptr_eq(&model.surface, surface) {
                    continue;
                }
                model.locked.clone_from(&locked);
                model.vertices = self.visible(&model.vertices);
                let chosen = self.chosen.and_then(|k| self.objects.get(k));
                if let Some(object) = chosen.filter(|_| pane.selection.is_none()) {
                    pane.selection = bounds(object, &model.vertices);
                }
            }
        }
    }

    fn visible(&mut self, vertices: &Arc<Vertices>) -> Arc<Vertices> {
        if self.hidden.is_empty() {
            return vertices.clone();
        }
        let known = self
            .made
            .as_ref()
            .filter(|made| Arc::ptr_eq(&made.from, vertices) && made.hidden == self.hidden);
        if let Some(made) = known {
            return made.to.clone();
        }

        let objects = self.hidden.iter().filter_map(|k| self.objects.get(*k));
        let to = Arc::new(collapsed(vertices, objects.map(|object| &*object.vertices)));
        self.made = Some(Made {
            from: vertices.clone(),
            hidden: self.hidden.clone(),
            to: to.clone(),
        });
        to
    }
}

fn objects(loaded: &LoadedAsset) -> Vec<Object> {
    let indices = loaded.asset.file_indices();
    let mut uses = vec![0_u32; loaded.rig.neutral().vertex_count()];
    for vertex in indices.iter().flatten() {
        if let Some(count) = uses.get_mut(*vertex as usize) {
            *count += 1;
        }
    }

    let named = loaded.asset.objects.iter().zip(indices).enumerate();
    named
        .filter(|(_, (_, vertices))| !vertices.is_empty())
        .map(|(k, (object, vertices))| Object {
            name: match object.name() {
                "" => format!("Object {}", k + 1),
                name => name.to_owned(),
            },
            shared: vertices.iter().any(|v| uses.get(*v as usize) != Some(&1)),
            vertices,
        })
        .collect()
}

/// The vertices, with those of some objects at one place inside the others.
fn collapsed<'a>(vertices: &Vertices, hidden: impl Iterator<Item = &'a [u32]>) -> Vertices {
    let mut stays = vec![true; vertices.positions.len()];
    for vertex in hidden.flatten() {
        if let Some(stays) = stays.get_mut(*vertex as usize) {
            *stays = false;
        }
    }
    let seen = stays.iter().position(|stays| *stays).unwrap_or(0);
    let mut collapsed = vertices.clone();
    let Some(place) = vertices.positions.get(seen).copied() else {
        return collapsed;
    };
    for (position, stays) in collapsed.positions.iter_mut().zip(stays) {
        if !stays {
            *position = place;
        }
    }
    collapsed
}

fn bounds(object: &Object, vertices: &Vertices) -> Option<Bounds> {
    let places = object.vertices.iter();
    let places: Vec<_> = places
        .filter_map(|v| vertices.positions.get(*v as usize))
        .map(|place| place.as_dvec3())
        .collect();
    Bounds::of(&places)
}

fn toggle(set: &mut BTreeSet<usize>, k: usize) {
    if !set.remove(&k) {
        set.insert(k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::mesh::shapes::icosphere;

    #[test]
    fn a_hidden_object_has_only_empty_triangles_and_the_others_stay() {
        let mesh = icosphere(1);
        let vertices = Vertices::of(&mesh, mesh.positions());
        let hidden: Vec<u32> = (0..mesh.vertex_count() as u32 / 2).collect();
        let seen = collapsed(&vertices, std::iter::once(&*hidden));

        let place = seen.positions[hidden[0] as usize];
        assert!(hidden.iter().all(|v| seen.positions[*v as usize] == place));
        let rest = hidden.len();
        assert_eq!(seen.positions[rest..], vertices.positions[rest..]);
        assert_eq!(place, vertices.positions[rest], "inside what is seen");
    }
}
