//! The sliders of the character.

use std::collections::{BTreeMap, BTreeSet};

use eframe::egui::{self, Id, Role, Sense, TextEdit, TextStyle, Ui, WidgetInfo, pos2, vec2};
use pliant::rig::{Limits, SliderGroup, SliderId};

use super::failed_rig::failure;
use super::slider_index::SliderIndex;
use crate::engine::character::{PosedCharacter, SolveReport};
use crate::engine::context::Cx;
use crate::model::document::{Character, Document, Weights};
use crate::widgets::icon::{Icon, SMALL, icon_button};
use crate::widgets::slider_row::{KeyState, ROW, RowAction, SliderRow, slider_row_ui};

/// Pointer input on sliders.
pub(crate) const SHORTCUTS: &[(&str, &str)] = &[
    ("Drag", "Move a slider"),
    ("Shift+drag", "Move a slider in small steps"),
    ("Double click, Ctrl+click", "Reset a slider"),
    ("Right click", "Limits, mirror and key of a slider"),
];

/// The state of the panel.
#[derive(Debug, Clone, Default)]
struct Panel {
    search: String,
    only_moved: bool,
    closed: BTreeSet<String>,
}

/// Search, switches for all, and the sliders in their groups.
pub fn sliders_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let Some(posed) = cx.posed.cloned() else {
        match failure(cx) {
            Some(message) => ui.colored_label(ui.visuals().error_fg_color, message),
            None => ui.weak("No rig yet. Open a rig to see its sliders."),
        };
        return;
    };
    if posed.rig.targets().is_empty() {
        ui.weak("This mesh has no sliders. Open a rig with blendshapes to pose it.");
        return;
    }

    let id = Id::unique("sliders panel");
    let mut panel = ui.data_mut(|data| std::mem::take(data.get_temp_mut_or_default::<Panel>(id)));
    let book = SliderIndex::of(ui, &posed.rig);
    search_ui(ui, &mut panel);
    whole_ui(ui, &mut panel, cx);

    // A playing take hides the sliders' weights, so they cannot be moved.
    let plays = cx.document.timeline.playing_take.is_some();
    if plays {
        ui.weak("A take plays. Choose Keys in the timeline to move sliders.");
    }

    ui.add_space(2.0);
    ui.add_enabled_ui(!plays, |ui| rows_ui(ui, &book, &posed, &mut panel, cx));
    ui.data_mut(|data| data.insert_temp(id, panel));
}

fn search_ui(ui: &mut Ui, panel: &mut Panel) {
    ui.horizontal(|ui| {
        let width = ui.available_width() - SMALL.x - ui.spacing().item_spacing.x;
        let field = TextEdit::singleline(&mut panel.search)
            .hint_text("Search sliders")
            .desired_width(width);

        ui.add(field)
            .on_hover_text("Parts of names, such as: left smile")
            .accessible_name("Search sliders");

        if !panel.search.is_empty()
            && icon_button(ui, Icon::Cross, "Clear search", SMALL, None).clicked()
        {
            panel.search.clear();
        }
    });
}

fn whole_ui(ui: &mut Ui, panel: &mut Panel, cx: &mut Cx<'_>) {
    ui.horizontal(|ui| {
        let mut mirrored = cx.document.character.mirrored;
        if ui
            .toggle_value(&mut mirrored, "Mirror")
            .on_hover_text("Moving a slider also moves its mirror partner")
            .clicked()
        {
            cx.edit("Mirror sliders", move |document| {
                document.character.mirrored = mirrored
            });
        }

        ui.toggle_value(&mut panel.only_moved, "Only moved")
            .on_hover_text("Show only sliders that are not at zero");
        let moved = !cx.document.character.weights.is_empty();
        let reset = ui
            .add_enabled(moved, egui::Button::new("Reset all"))
            .on_hover_text("Set all sliders to zero, except locked ones");

        if reset.clicked() {
            cx.edit("Reset all sliders", |document| {
                let Character {
                    weights, locked, ..
                } = &mut document.character;
                // Locked sliders keep their weight.
                weights.retain(|slider, _| locked.contains(slider));
            });
        }
    });
}

/// Rows have one height, so those out of sight cost next to nothing.
fn rows_ui(
    ui: &mut Ui,
    book: &SliderIndex,
    posed: &PosedCharacter,
    panel: &mut Panel,
    cx: &mut Cx<'_>,
) {
    let shares = cx
        .solve
        .map(|solve| shares(solve, posed))
        .unwrap_or_default();
    let searching = !panel.search.trim().is_empty() || panel.only_moved;
    let mut found = false;

    ui.spacing_mut().item_spacing.y = 1.0;
    for group in &book.groups {
        let fits = |&k: &SliderId| {
            book.matches(k, &panel.search)
                && (!panel.only_moved || weight(book, posed, k, cx.document) != 0.0)
        };
        let sliders: Vec<SliderId> = group.sliders.iter().copied().filter(fits).collect();

        if sliders.is_empty() {
            continue;
        }

        found = true;
        let titled = book.groups.len() > 1;
        if titled {
            let moved = group
                .sliders
                .iter()
                .filter(|&&k| weight(book, posed, k, cx.document) != 0.0)
                .count();
            group_ui(ui, group, moved, searching, &mut panel.closed);
        }

        // A search shows matches in closed groups, too.
        if !titled || searching || !panel.closed.contains(&group.name) {
            for k in sliders {
                row_ui(ui, book, posed, k, shares.get(&k).copied(), cx);
            }
        }
    }

    if !found {
        ui.weak(if panel.only_moved {
            "No slider is moved."
        } else {
            "No slider name matches."
        });
    }
}

fn group_ui(
    ui: &mut Ui,
    group: &SliderGroup,
    moved: usize,
    searching: bool,
    closed: &mut BTreeSet<String>,
) {
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), ROW + 1.0), Sense::click());
    let open = searching || !closed.contains(&group.name);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, open, &group.name));

    if response.clicked() && !searching && !closed.remove(&group.name) {
        closed.insert(group.name.clone());
    }
    // The row takes its space, but is not painted.
    if !ui.is_rect_visible(rect) {
        return;
    }

    let mut sign = response.clone();
    sign.rect = egui::Rect::from_center_size(
        pos2(rect.left() + 7.0, rect.center().y),
        egui::Vec2::splat(9.0),
    );
    egui::collapsing_header::paint_default_icon(ui, if open { 1.0 } else { 0.0 }, &sign);

    let visuals = ui.visuals();
    let painter = ui.painter();
    painter.text(
        pos2(rect.left() + 18.0, rect.center().y),
        egui::Align2::LEFT_CENTER,
        &group.name,
        TextStyle::Body.resolve(ui.style()),
        visuals.strong_text_color(),
    );

    let count = if moved == 0 {
        group.sliders.len().to_string()
    } else {
        format!("{moved} of {} moved", group.sliders.len())
    };

    painter.text(
        pos2(rect.right() - 4.0, rect.center().y),
        egui::Align2::RIGHT_CENTER,
        count,
        TextStyle::Small.resolve(ui.style()),
        visuals.weak_text_color(),
    );
}

/// Shown weight of a slider: that of a take while one plays.
fn weight(
    book: &SliderIndex,
    posed: &PosedCharacter,
    slider: SliderId,
    document: &Document,
) -> f64 {
    if document.timeline.playing_take.is_some() {
        return posed.weights.get(slider.index()).copied().unwrap_or(0.0);
    }
    document
        .character
        .weights
        .get(book.name(slider))
        .copied()
        .unwrap_or(0.0)
}

/// The part of the displacement of the dragged pin that each slider contributes.
fn shares(solve: &SolveReport, posed: &PosedCharacter) -> BTreeMap<SliderId, f64> {
    let Some(pin) = solve
        .dragged_pin()
        .filter(|_| solve.pose.weights.len() == posed.rig.targets().len())
    else {
        return BTreeMap::new();
    };

    let moves = solve.explanation.moves.iter();
    moves
        .filter_map(|moved| Some((moved.slider, moved.shares.get(pin)?.of_goal)))
        .filter(|(_, share)| share.abs() >= 0.005)
        .collect()
}

fn row_ui(
    ui: &mut Ui,
    book: &SliderIndex,
    posed: &PosedCharacter,
    k: SliderId,
    share: Option<f64>,
    cx: &mut Cx<'_>,
) {
    let rect = egui::Rect::from_min_size(ui.cursor().min, vec2(ui.available_width(), ROW));
    // A rig can have hundreds of sliders.
    if !ui.is_rect_visible(rect) {
        ui.allocate_space(rect.size());
        return;
    }

    let name = book.name(k);
    let character = &cx.document.character;
    let timeline = &cx.document.timeline;

    let keyed = match (
        timeline.keys.contains_key(name),
        timeline.has_key(name, cx.clock.whole_frame()),
    ) {
        (_, true) => KeyState::Here,
        (true, false) => KeyState::Elsewhere,
        (false, false) => KeyState::No,
    };

    let row = SliderRow {
        name,
        weight: weight(book, posed, k, cx.document),
        limits: limits(book, k, character),
        limits_are_own: character.limits.contains_key(name),
        locked: character.locked.contains(name),
        muted: character.muted.contains(name),
        solo: character.solo.contains(name),
        inactive: character.is_inactive(name),
        has_partner: book.partner(k).is_some(),
        keyed,
        share,
    };

    if let Some(act) = slider_row_ui(ui, &row) {
        apply(book, k, row.weight, act, cx);
    }
}

fn limits(book: &SliderIndex, slider: SliderId, character: &Character) -> [f64; 2] {
    let Limits { min, max } = book.rig().sliders()[slider.index()].limits;
    character
        .limits
        .get(book.name(slider))
        .copied()
        .unwrap_or([min, max])
}

fn apply(book: &SliderIndex, k: SliderId, weight: f64, act: RowAction, cx: &mut Cx<'_>) {
    let name = book.name(k).to_owned();
    let character = &cx.document.character;
    match act {
        RowAction::Set(weight) => {
            let weights = with_partner(book, k, weight, character);
            cx.edit_continuously(format!("Set {name}"), |document| {
                set_weights(document, weights)
            });
        }
        RowAction::Reset => {
            let weights = with_partner(book, k, 0.0, character);
            cx.edit(format!("Reset {name}"), |document| {
                set_weights(document, weights)
            });
        }
        RowAction::Mirror => {
            // The partner follows once, whether or not sliders are linked.
            let linked = Character {
                mirrored: true,
                ..character.clone()
            };
            let weights = with_partner(book, k, weight, &linked);
            cx.edit(format!("Mirror {name}"), |document| {
                set_weights(document, weights)
            });
        }
        RowAction::Lock => cx.edit(format!("Lock {name}"), move |document| {
            toggle(&mut document.character.locked, name)
        }),
        RowAction::Mute => cx.edit(format!("Mute {name}"), move |document| {
            toggle(&mut document.character.muted, name)
        }),
        RowAction::Solo => cx.edit(format!("Solo {name}"), move |document| {
            toggle(&mut document.character.solo, name)
        }),
        RowAction::Key => {
            let frame = cx.clock.whole_frame();
            cx.edit(format!("Key {name}"), move |document| {
                document.key_weights(frame, &Weights::from([(name, weight)]))
            });
        }
        RowAction::Limit(limits) => {
            cx.edit_continuously(format!("Limit {name}"), move |document| match limits {
                Some(limits) => {
                    document.character.limits.insert(name, limits);
                }
                None => {
                    document.character.limits.remove(&name);
                }
            })
        }
    }
}

fn set_weights(document: &mut Document, weights: Weights) {
    for (name, weight) in &weights {
        document.character.set_weight(name, *weight);
    }
}

/// Removes a name from a set, or adds it.
fn toggle(set: &mut BTreeSet<String>, name: String) {
    if !set.remove(&name) {
        set.insert(name);
    }
}

/// The weight of a slider, and the same for its partner where they are linked, each inside its
/// limits.
fn with_partner(
    book: &SliderIndex,
    slider: SliderId,
    weight: f64,
    character: &Character,
) -> Weights {
    let partner = book.partner(slider).filter(|_| character.mirrored);
    let limited = |k: SliderId| {
        let [min, max] = limits(book, k, character);
        (book.name(k).to_owned(), weight.max(min).min(max))
    };

    std::iter::once(slider)
        .chain(partner)
        .map(limited)
        .collect()
}
