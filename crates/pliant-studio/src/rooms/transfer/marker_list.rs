//! The list of marker pairs, with what the check says, and suggestions.

use std::sync::Arc;

use eframe::egui::{self, Color32, RichText, Sense, Stroke, Ui, vec2};
use pliant::transfer::MarkerSuggestions;

use super::maps::MapKey;
use super::marker_pairs::{Mark, Marks, Mood, all_markers};
use super::markers::{MarkerHand, change_pairs, mark_name, pair_color};
use super::setup::SourceSetup;
use super::stage::Actor;
use crate::command::Notice;
use crate::rooms::Cx;
use crate::work::Task;

/// Suggestions under way.
#[derive(Debug)]
pub(super) struct Suggesting {
    /// How many to ask for.
    count: usize,
    /// For which source, and what they depend on.
    task: Option<(usize, MapKey, Task<MarkerSuggestions>)>,
}

impl Default for Suggesting {
    fn default() -> Self {
        Self {
            count: 4,
            task: None,
        }
    }
}

impl Suggesting {
    /// Whether suggestions are on their way.
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
            Some(Ok(_)) if key_now(source).as_ref() != Some(&key) => {
                cx.tell(Notice::hint(
                    "The meshes or their markers changed meanwhile; ask for suggestions again.",
                ));
            }
            Some(Ok(found)) => {
                let pairs: Vec<[u32; 2]> = found
                    .suggestions
                    .iter()
                    .map(|s| [s.source, s.target])
                    .collect();
                let told =
                    found.problems.first().cloned().unwrap_or_else(|| {
                        "Look at each suggested pair, and drag what is off.".into()
                    });
                cx.tell(Notice::hint(told));
                cx.edit("Suggest markers", move |document| {
                    change_pairs(document, source, |all| all.extend(pairs))
                });
            }
            Some(Err(sentence)) => cx.tell(Notice::trouble(sentence)),
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
        let (a, b, setup, count) = (
            actors[0].clone(),
            actors[1].clone(),
            setup.clone(),
            self.count,
        );
        let work = move |watch: &crate::work::Watch| {
            let (markers, _) = all_markers(&a, &b, &setup.pairs, setup.mirrored);
            let bends = a.motion.as_ref().ok().map(|motion| &*motion.flexibility);
            let found = MarkerSuggestions::find_with_progress(
                &a.mesh, &b.mesh, &markers, bends, count, watch,
            );
            found.map_err(|error| error.to_string())
        };
        self.task = Some((source, key, cx.start("Suggesting markers", work)));
    }
}

/// The most height of the list: what comes after it stays in sight.
const LIST_HEIGHT: f32 = 230.0;

/// Options of the pairs between a source and the target, and their list.
pub(super) fn markers_ui(
    hand: &mut MarkerHand,
    suggesting: &mut Suggesting,
    marks: &Marks,
    source: usize,
    actors: Option<[&Arc<Actor>; 2]>,
    ui: &mut Ui,
    cx: &mut Cx<'_>,
) {
    let Some(setup) = cx.document.transfer.sources.get(source).cloned() else {
        ui.weak("Choose a source first.");
        return;
    };
    ui.strong(format!("Markers of {}", setup.name));
    let mut mirrored = setup.mirrored;
    if ui
        .checkbox(&mut mirrored, "Mirror pairs")
        .on_hover_text("Each pair counts on the other side, too; 3' is the image of 3")
        .changed()
    {
        cx.edit("Mirror pairs", move |document| {
            if let Some(source) = document.transfer.sources.get_mut(source) {
                source.mirrored = mirrored;
            }
        });
    }
    ui.horizontal(|ui| {
        let ready = actors.is_some() && !suggesting.busy();
        let hint = "Puts pairs where the clip bends most and no marker is near";
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
            suggesting.start(source, &setup, actors, cx);
        }
        if ui
            .add_enabled(!setup.pairs.is_empty(), egui::Button::new("Clear"))
            .on_hover_text("Take all pairs off")
            .clicked()
        {
            (hand.selected, hand.pending) = (None, None);
            cx.edit("Clear markers", move |document| {
                change_pairs(document, source, Vec::clear)
            });
        }
    });
    ui.add_space(4.0);
    if setup.pairs.is_empty() {
        ui.weak("Click a spot on the source, then the same spot on the target. Four pairs are the fewest; without any, the shapes decide.");
    }
    for problem in &marks.problems {
        ui.colored_label(ui.visuals().warn_fg_color, problem);
    }
    list_ui(hand, marks, source, ui, cx);
}

fn list_ui(hand: &mut MarkerHand, marks: &Marks, source: usize, ui: &mut Ui, cx: &mut Cx<'_>) {
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
                        row_ui(hand, mark, image, &mut removed, ui);
                        ui.end_row();
                    }
                });
        });
    if let Some(pair) = removed {
        hand.selected = Some(pair);
        hand.delete(source, cx);
    }
}

fn row_ui(
    hand: &mut MarkerHand,
    mark: &Mark,
    image: Option<&Mark>,
    removed: &mut Option<usize>,
    ui: &mut Ui,
) {
    let name = mark_name(mark);
    let worse = image.filter(|image| image.mood > mark.mood).unwrap_or(mark);
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
        ui.painter().circle(
            rect.center(),
            5.0,
            pair_color(mark.placed),
            Stroke::new(1.0, Color32::from_black_alpha(120)),
        );
        let text = format!(
            "Pair {name}{}",
            if image.is_some() { " + image" } else { "" }
        );
        if ui
            .selectable_label(hand.selected == Some(mark.placed), text)
            .clicked()
        {
            hand.selected = Some(mark.placed);
        }
    });
    ui.weak(format!("{} · {}", mark.pair[0], mark.pair[1]))
        .on_hover_text("Vertex of the source, vertex of the target");
    let color = match worse.mood {
        Mood::Fine => ui.visuals().text_color(),
        Mood::Doubtful => ui.visuals().warn_fg_color,
        Mood::Wrong => ui.visuals().error_fg_color,
    };
    let verdict = match (worse.mood, worse.off) {
        (Mood::Wrong, _) => "wrong".to_owned(),
        (_, Some(off)) => format!("{:.1} %", 100.0 * off),
        (_, None) => "–".to_owned(),
    };
    let hover = if worse.flaws.is_empty() {
        "How far it is from where the others put it".to_owned()
    } else {
        worse.flaws.join("\n")
    };
    ui.label(RichText::new(verdict).color(color))
        .on_hover_text(hover);
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
