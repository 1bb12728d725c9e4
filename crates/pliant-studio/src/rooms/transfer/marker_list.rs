//! The list of marker pairs with their quality, and suggested pairs.

use std::sync::Arc;

use eframe::egui::{self, Color32, RichText, Sense, Stroke, Ui, vec2};
use pliant::transfer::MarkerSuggestions;

use super::markers::{MarkerTool, change_pairs, mark_name, pair_color};
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::transfer::actor::Actor;
use crate::engine::transfer::maps::MapKey;
use crate::engine::transfer::marker_pairs::{Mark, MarkerQuality, Marks, all_markers};
use crate::engine::work::Task;
use crate::model::names::to_message;
use crate::model::transfer::SourceSetup;

/// Suggestions in progress.
#[derive(Debug)]
pub(super) struct MarkerSuggestion {
    /// How many to request.
    count: usize,
    /// For which source, and what they depend on.
    task: Option<(usize, MapKey, Task<MarkerSuggestions>)>,
}

impl Default for MarkerSuggestion {
    fn default() -> Self {
        Self {
            count: 4,
            task: None,
        }
    }
}

impl MarkerSuggestion {
    /// Whether suggestions are in progress.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.task.is_some()
    }

    /// Puts suggestions that are there among the pairs, unless these or the meshes are no longer
    /// what they were made for.
    pub(super) fn update(
        &mut self,
        key_now: impl FnOnce(usize) -> Option<MapKey>,
        cx: &mut Cx<'_>,
    ) {
        let Some((source, key, task)) = self.task.take() else {
            return;
        };

        let mut slot = Some(task);
        match Task::finished(&mut slot) {
            // Suggestions for other meshes or markers would be wrong.
            Some(Ok(_)) if key_now(source).as_ref() != Some(&key) => {
                cx.notify(Notice::hint(
                    "The meshes or markers changed during the computation; press Suggest again.",
                ));
            }
            Some(Ok(found)) => {
                let pairs: Vec<[u32; 2]> = found
                    .suggestions
                    .iter()
                    .map(|s| [s.source, s.target])
                    .collect();

                let message =
                    found.warnings.first().cloned().unwrap_or_else(|| {
                        "Check each suggested pair and drag wrong markers.".into()
                    });

                cx.notify(Notice::hint(message));
                cx.edit("Suggest markers", move |document| {
                    change_pairs(document, source, |all| all.extend(pairs))
                });
            }
            Some(Err(message)) => cx.notify(Notice::error(message)),
            None => self.task = slot.map(|task| (source, key, task)),
        }
    }

    fn start(
        &mut self,
        source: usize,
        setup: &SourceSetup,
        actors: [&Arc<Actor>; 2],
        cx: &mut Cx<'_>,
    ) {
        let key = MapKey::of(setup, actors[0], actors[1]);
        let a = actors[0].clone();
        let b = actors[1].clone();
        let setup = setup.clone();
        let count = self.count;

        let work = move |watch: &crate::engine::work::Watch| {
            let (markers, _) = all_markers(&a, &b, &setup.pairs, setup.mirrored);
            let bends = a.motion.as_ref().ok().map(|motion| &*motion.flexibility);
            let found = MarkerSuggestions::find_with_progress(
                &a.mesh, &b.mesh, &markers, bends, count, watch,
            );
            found.map_err(to_message)
        };

        self.task = Some((source, key, cx.start("Suggesting markers", work)));
    }
}

/// The most height of the list: what comes after it stays in sight.
const LIST_HEIGHT: f32 = 230.0;

/// Options of the pairs between a source and the target, and their list.
pub(super) fn markers_ui(
    marker_tool: &mut MarkerTool,
    suggesting: &mut MarkerSuggestion,
    marks: &Marks,
    source: usize,
    actors: Option<[&Arc<Actor>; 2]>,
    ui: &mut Ui,
    cx: &mut Cx<'_>,
) {
    // Markers belong to one source and the target.
    let Some(setup) = cx.document.transfer.sources.get(source).cloned() else {
        ui.weak("Choose a source first.");
        return;
    };

    ui.strong(format!("Markers of {}", setup.name));
    mirror_ui(source, setup.mirrored, ui, cx);
    ui.horizontal(|ui| {
        buttons_ui(marker_tool, suggesting, source, &setup, actors, ui, cx);
    });

    ui.add_space(4.0);
    if setup.pairs.is_empty() {
        ui.weak("Click a point on the source, then the same point on the target. Use at least four pairs; without pairs, the match is automatic.");
    }
    for problem in &marks.problems {
        ui.colored_label(ui.visuals().warn_fg_color, problem);
    }

    list_ui(marker_tool, marks, source, ui, cx);
}

fn buttons_ui(
    marker_tool: &mut MarkerTool,
    suggesting: &mut MarkerSuggestion,
    source: usize,
    setup: &SourceSetup,
    actors: Option<[&Arc<Actor>; 2]>,
    ui: &mut Ui,
    cx: &mut Cx<'_>,
) {
    // Suggestions need both meshes, and only one search runs at a time.
    let ready = actors.is_some() && !suggesting.busy();
    let hint = "Adds pairs where the clip bends most and no marker is near";
    let suggest = ui
        .add_enabled(ready, egui::Button::new("Suggest"))
        .on_hover_text(hint);

    ui.add(
        egui::DragValue::new(&mut suggesting.count)
            .range(1..=24)
            .suffix(" pairs"),
    )
    .on_hover_text("How many to suggest");

    if let Some(actors) = actors.filter(|_| suggest.clicked()) {
        suggesting.start(source, setup, actors, cx);
    }

    if ui
        .add_enabled(!setup.pairs.is_empty(), egui::Button::new("Clear"))
        .on_hover_text("Delete all pairs")
        .clicked()
    {
        (marker_tool.selected, marker_tool.pending) = (None, None);
        cx.edit("Clear markers", move |document| {
            change_pairs(document, source, Vec::clear)
        });
    }
}

fn mirror_ui(source: usize, mut mirrored: bool, ui: &mut Ui, cx: &mut Cx<'_>) {
    let hint = "Each pair is mirrored to the other side; 3' is the mirror image of 3";
    let tick = ui.checkbox(&mut mirrored, "Mirror pairs");
    if tick.on_hover_text(hint).changed() {
        cx.edit("Mirror pairs", move |document| {
            if let Some(source) = document.transfer.sources.get_mut(source) {
                source.mirrored = mirrored;
            }
        });
    }
}

fn list_ui(
    marker_tool: &mut MarkerTool,
    marks: &Marks,
    source: usize,
    ui: &mut Ui,
    cx: &mut Cx<'_>,
) {
    let mut removed = None;
    egui::ScrollArea::vertical()
        .id_salt("marker pairs")
        .max_height(LIST_HEIGHT)
        .show(ui, |ui| {
            egui::Grid::new("marker pairs")
                .num_columns(4)
                .striped(true)
                .show(ui, |ui| {
                    for mark in marks.marks.iter().filter(|mark| !mark.image) {
                        let image = marks
                            .marks
                            .iter()
                            .find(|other| other.image && other.placed == mark.placed);
                        row_ui(marker_tool, mark, image, &mut removed, ui);
                        ui.end_row();
                    }
                });
        });

    if let Some(pair) = removed {
        marker_tool.selected = Some(pair);
        marker_tool.delete(source, cx);
    }
}

fn row_ui(
    marker_tool: &mut MarkerTool,
    mark: &Mark,
    image: Option<&Mark>,
    removed: &mut Option<usize>,
    ui: &mut Ui,
) {
    // A pair and its mirror image share a row, which shows the worse of the two.
    let worse = image
        .filter(|image| image.quality > mark.quality)
        .unwrap_or(mark);
    pair_ui(marker_tool, mark, image.is_some(), ui);
    ui.weak(format!("{} · {}", mark.pair[0], mark.pair[1]))
        .on_hover_text("Vertex of the source, vertex of the target");
    quality_ui(worse, ui);

    let name = mark_name(mark);
    let delete = ui
        .add(egui::Button::new("×").frame(false))
        .on_hover_text("Delete the pair (Delete)");
    delete.widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Delete pair {name}"))
    });
    if delete.clicked() {
        *removed = Some(mark.placed);
    }
}

/// The colour and the name of a pair; a click selects it.
fn pair_ui(marker_tool: &mut MarkerTool, mark: &Mark, has_image: bool, ui: &mut Ui) {
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
        ui.painter().circle(
            rect.center(),
            5.0,
            pair_color(mark.placed),
            Stroke::new(1.0, Color32::from_black_alpha(120)),
        );

        let image = if has_image { " + mirror" } else { "" };
        let text = format!("Pair {}{image}", mark_name(mark));
        if ui
            .selectable_label(marker_tool.selected == Some(mark.placed), text)
            .clicked()
        {
            marker_tool.selected = Some(mark.placed);
        }
    });
}

/// The distance of a pair from its predicted position, and what is wrong with it.
fn quality_ui(worse: &Mark, ui: &mut Ui) {
    let color = match worse.quality {
        MarkerQuality::Fine => ui.visuals().text_color(),
        MarkerQuality::Doubtful => ui.visuals().warn_fg_color,
        MarkerQuality::Wrong => ui.visuals().error_fg_color,
    };

    let verdict = match (worse.quality, worse.off) {
        (MarkerQuality::Wrong, _) => "wrong".to_owned(),
        (_, Some(off)) => format!("{:.1} %", 100.0 * off),
        (_, None) => "–".to_owned(),
    };

    let hover = if worse.flaws.is_empty() {
        "Distance from the position that the other pairs predict".to_owned()
    } else {
        worse.flaws.join("\n")
    };

    ui.label(RichText::new(verdict).color(color))
        .on_hover_text(hover);
}
