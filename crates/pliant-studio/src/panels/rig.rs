//! The sliders of the character.

use std::collections::{BTreeMap, BTreeSet};

use eframe::egui::{self, Id, Role, Sense, TextEdit, TextStyle, Ui, WidgetInfo, pos2, vec2};
use pliant::rig::{Limits, SliderGroup};

use super::failed_rig::failure;
use super::icon::{Icon, SMALL, icon_button};
use super::slider_book::SliderBook;
use super::slider_row::{Keyed, ROW, RowAct, SliderRow, slider_row_ui};
use crate::character::{Posed, Solve};
use crate::document::{Character, Document, Weights};
use crate::rooms::Cx;

/// What the pointer does with sliders.
pub(super) const SHORTCUTS: &[(&str, &str)] = &[
    ("Drag", "Move a slider"),
    ("Shift+drag", "Move a slider finely"),
    ("Double click, Ctrl+click", "Reset a slider"),
    ("Right click", "Limits, mirror and key of a slider"),
];

/// What the panel remembers by itself.
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
            Some(sentence) => ui.colored_label(ui.visuals().error_fg_color, sentence),
            None => ui.weak("No rig yet. Open one, and its sliders are here."),
        };
        return;
    };
    if posed.rig.targets().is_empty() {
        ui.weak("This mesh has no sliders. Open a rig with blendshapes to pose it.");
        return;
    }
    let id = Id::unique("sliders panel");
    let mut panel = ui.data_mut(|data| std::mem::take(data.get_temp_mut_or_default::<Panel>(id)));
    let book = SliderBook::of(ui, &posed.rig);
    search_ui(ui, &mut panel);
    whole_ui(ui, &mut panel, cx);
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
            .on_hover_text("A slider takes its partner on the other side along")
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
            .on_hover_text("All sliders to zero, but for locked ones");
        if reset.clicked() {
            cx.edit("Reset all sliders", |document| {
                let Character {
                    weights, locked, ..
                } = &mut document.character;
                weights.retain(|slider, _| locked.contains(slider));
            });
        }
    });
}

/// Rows have one height, so those out of sight cost next to nothing.
fn rows_ui(ui: &mut Ui, book: &SliderBook, posed: &Posed, panel: &mut Panel, cx: &mut Cx<'_>) {
    let shares = cx
        .solve
        .map(|solve| shares(solve, posed))
        .unwrap_or_default();
    let searching = !panel.search.trim().is_empty() || panel.only_moved;
    let mut found = false;
    ui.spacing_mut().item_spacing.y = 1.0;
    for group in &book.groups {
        let fits = |&k: &usize| {
            book.matches(k, &panel.search)
                && (!panel.only_moved || weight(book, posed, k, cx.document) != 0.0)
        };
        let sliders: Vec<usize> = group.sliders.iter().copied().filter(fits).collect();
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
        if !titled || searching || !panel.closed.contains(&group.name) {
            sliders
                .into_iter()
                .for_each(|k| row_ui(ui, book, posed, k, shares.get(&k).copied(), cx));
        }
    }
    if !found {
        ui.weak(if panel.only_moved {
            "No slider is moved."
        } else {
            "No slider is called so."
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
    if !ui.is_rect_visible(rect) {
        return;
    }
    let mut sign = response.clone();
    sign.rect = egui::Rect::from_center_size(
        pos2(rect.left() + 7.0, rect.center().y),
        egui::Vec2::splat(9.0),
    );
    egui::collapsing_header::paint_default_icon(ui, if open { 1.0 } else { 0.0 }, &sign);
    let (visuals, painter) = (ui.visuals(), ui.painter());
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

/// What a slider shows: a take's weights while one plays.
fn weight(book: &SliderBook, posed: &Posed, slider: usize, document: &Document) -> f64 {
    if document.timeline.playing_take.is_some() {
        return posed.weights.get(slider).copied().unwrap_or(0.0);
    }
    document
        .character
        .weights
        .get(&book.rig().targets()[slider].name)
        .copied()
        .unwrap_or(0.0)
}

/// How much of the way of the pin in the hand each slider did.
fn shares(solve: &Solve, posed: &Posed) -> BTreeMap<usize, f64> {
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
    book: &SliderBook,
    posed: &Posed,
    k: usize,
    share: Option<f64>,
    cx: &mut Cx<'_>,
) {
    let rect = egui::Rect::from_min_size(ui.cursor().min, vec2(ui.available_width(), ROW));
    if !ui.is_rect_visible(rect) {
        ui.allocate_space(rect.size());
        return;
    }
    let (name, character, timeline) = (
        &book.rig().targets()[k].name,
        &cx.document.character,
        &cx.document.timeline,
    );
    let keyed = match (
        timeline.keys.contains_key(name),
        timeline.has_key(name, cx.clock.whole_frame()),
    ) {
        (_, true) => Keyed::Here,
        (true, false) => Keyed::Elsewhere,
        (false, false) => Keyed::No,
    };
    let row = SliderRow {
        name,
        weight: weight(book, posed, k, cx.document),
        limits: limits(book, k, character),
        limits_are_own: character.limits.contains_key(name),
        locked: character.locked.contains(name),
        muted: character.muted.contains(name),
        solo: character.solo.contains(name),
        silent: character.is_silent(name),
        has_partner: book.partner(k).is_some(),
        keyed,
        share,
    };
    if let Some(act) = slider_row_ui(ui, &row) {
        apply(book, k, row.weight, act, cx);
    }
}

fn limits(book: &SliderBook, slider: usize, character: &Character) -> [f64; 2] {
    let Limits { min, max } = book.rig().sliders()[slider].limits;
    character
        .limits
        .get(&book.rig().targets()[slider].name)
        .copied()
        .unwrap_or([min, max])
}

fn apply(book: &SliderBook, k: usize, weight: f64, act: RowAct, cx: &mut Cx<'_>) {
    let name = book.rig().targets()[k].name.clone();
    let set = |weights: Weights| {
        move |document: &mut Document| {
            weights
                .iter()
                .for_each(|(name, weight)| document.character.set_weight(name, *weight))
        }
    };
    let toggled = |set: &mut BTreeSet<String>, name: String| {
        if !set.remove(&name) {
            set.insert(name);
        }
    };
    match act {
        RowAct::Set(weight) => cx.edit_by_hand(
            format!("Set {name}"),
            set(with_partner(book, k, weight, &cx.document.character)),
        ),
        RowAct::Reset => cx.edit(
            format!("Reset {name}"),
            set(with_partner(book, k, 0.0, &cx.document.character)),
        ),
        RowAct::Mirror => {
            let both = Character {
                mirrored: true,
                ..cx.document.character.clone()
            };
            cx.edit(
                format!("Mirror {name}"),
                set(with_partner(book, k, weight, &both)),
            );
        }
        RowAct::Lock => cx.edit(format!("Lock {name}"), move |document| {
            toggled(&mut document.character.locked, name)
        }),
        RowAct::Mute => cx.edit(format!("Mute {name}"), move |document| {
            toggled(&mut document.character.muted, name)
        }),
        RowAct::Solo => cx.edit(format!("Solo {name}"), move |document| {
            toggled(&mut document.character.solo, name)
        }),
        RowAct::Key => {
            let frame = cx.clock.whole_frame();
            cx.edit(format!("Key {name}"), move |document| {
                document.key_weights(frame, &Weights::from([(name, weight)]))
            });
        }
        RowAct::Limit(limits) => {
            cx.edit_by_hand(format!("Limit {name}"), move |document| match limits {
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

/// The weight of a slider, and the same for its partner where they are linked, each inside its
/// limits.
fn with_partner(book: &SliderBook, slider: usize, weight: f64, character: &Character) -> Weights {
    let partner = book.partner(slider).filter(|_| character.mirrored);
    let limited = |k: usize| {
        let [min, max] = limits(book, k, character);
        (
            book.rig().targets()[k].name.clone(),
            weight.max(min).min(max),
        )
    };
    std::iter::once(slider)
        .chain(partner)
        .map(limited)
        .collect()
}
