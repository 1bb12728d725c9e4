//! The sliders of the character.

use std::collections::{BTreeMap, BTreeSet};

use eframe::egui::{self, Id, Role, Sense, TextEdit, TextStyle, Ui, WidgetInfo, pos2, vec2};
use pliant::rig::{Limits, SliderGroup, SliderId};

use super::failed_rig::failure;
use super::pictures::PanelPictures;
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
    ("Rest the pointer", "A picture of what a slider does"),
    (
        "Right click",
        "Favourites, limits, mirror and key of a slider",
    ),
];

/// The group of sliders that the user marked.
const FAVOURITES: &str = "Favourites";
/// The group of shapes that sliders drive.
const DRIVEN: &str = "Driven";
/// The side of a picture in a tooltip, in points.
const PICTURE: f32 = 168.0;

/// The state of the panel.
#[derive(Debug, Clone, Default)]
struct Panel {
    search: String,
    only_moved: bool,
    closed: BTreeSet<String>,
}

/// Search, switches for all, and the sliders in their groups.
pub(crate) fn sliders_ui(ui: &mut Ui, pictures: &mut PanelPictures, cx: &mut Cx<'_>) {
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
    ui.add_enabled_ui(!plays, |ui| {
        rows_ui(ui, &book, &posed, &mut panel, pictures, cx);
    });
    driven_ui(ui, &posed, &mut panel);
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
    pictures: &mut PanelPictures,
    cx: &mut Cx<'_>,
) {
    let shares = cx
        .solve
        .map(|solve| shares(solve, posed))
        .unwrap_or_default();
    let searching = !panel.search.trim().is_empty() || panel.only_moved;
    let mut found = false;

    ui.spacing_mut().item_spacing.y = 1.0;
    for group in &with_favourites(book, &cx.document.character) {
        let fits = |&k: &SliderId| {
            book.matches(k, &panel.search)
                && (!panel.only_moved || weight(book, posed, k, cx.document) != 0.0)
        };
        let sliders: Vec<SliderId> = group.sliders.iter().copied().filter(fits).collect();

        if sliders.is_empty() {
            continue;
        }

        found = true;
        let titled = book.groups.len() > 1 || group.name == FAVOURITES;
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
                row_ui(ui, book, posed, k, shares.get(&k).copied(), pictures, cx);
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

/// The groups, the favourites first. A favourite is not listed in its group again.
fn with_favourites(book: &SliderIndex, character: &Character) -> Vec<SliderGroup> {
    let is_favourite = |k: &SliderId| character.favourites.contains(book.name(*k));
    if character.favourites.is_empty() {
        return book.groups.clone();
    }

    let mut favourites = SliderGroup {
        name: FAVOURITES.into(),
        sliders: Vec::new(),
    };
    let mut others = book.groups.clone();
    for group in &mut others {
        let (first, rest): (Vec<SliderId>, Vec<SliderId>) =
            group.sliders.iter().partition(|k| is_favourite(k));
        favourites.sliders.extend(first);
        group.sliders = rest;
    }
    favourites.sliders.sort_unstable();
    favourites.sliders.dedup();
    std::iter::once(favourites).chain(others).collect()
}

/// Combinations: shapes that other sliders drive. They are shown, not moved.
fn driven_ui(ui: &mut Ui, posed: &PosedCharacter, panel: &mut Panel) {
    let combinations = posed.rig.combinations();
    if combinations.is_empty() || panel.only_moved || !panel.search.trim().is_empty() {
        return;
    }

    let coefficients = posed.rig.activation().coefficients(&posed.weights);
    // Combinations are the last shapes.
    let own = &coefficients[coefficients.len() - combinations.len()..];
    let group = SliderGroup {
        name: DRIVEN.into(),
        sliders: Vec::new(),
    };
    let active = own.iter().filter(|value| **value != 0.0).count();
    let text = format!("{active} of {} active", combinations.len());
    titled_ui(ui, &group.name, &text, false, &mut panel.closed);
    if panel.closed.contains(DRIVEN) {
        return;
    }

    for (k, (combination, value)) in combinations.iter().zip(own).enumerate() {
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
        if !ui.is_rect_visible(rect) {
            continue;
        }
        let label = format!("{} {value:.2}", combination.name);
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &label));

        let bar = rect.shrink2(vec2(0.0, 2.0));
        let mut filled = bar;
        filled.set_width(bar.width() * value.clamp(0.0, 1.0) as f32);
        let visuals = ui.visuals();
        let color = visuals.weak_text_color();
        let painter = ui.painter().with_clip_rect(bar.intersect(ui.clip_rect()));
        painter.rect_filled(filled, 3.0, color.gamma_multiply(0.25));
        let font = TextStyle::Small.resolve(ui.style());
        let [left, right] = [
            pos2(bar.left() + 6.0, bar.center().y),
            pos2(bar.right() - 4.0, bar.center().y),
        ];
        painter.text(
            left,
            egui::Align2::LEFT_CENTER,
            &combination.name,
            font.clone(),
            color,
        );
        painter.text(
            right,
            egui::Align2::RIGHT_CENTER,
            format!("{value:.2}"),
            font,
            color,
        );

        let drivers = posed.rig.drivers_of(k);
        let names: Vec<&str> = drivers
            .iter()
            .map(|driver| &*posed.rig.targets()[driver.index()].name)
            .collect();
        response.on_hover_text(format!("Driven by {}", names.join(", ")));
    }
}

/// The weight of a picture: the end of the slider.
fn full_weight([min, max]: [f64; 2]) -> f64 {
    if max > 0.0 {
        max.min(1.0)
    } else {
        min.max(-1.0)
    }
}

fn group_ui(
    ui: &mut Ui,
    group: &SliderGroup,
    moved: usize,
    searching: bool,
    closed: &mut BTreeSet<String>,
) {
    let count = if moved == 0 {
        group.sliders.len().to_string()
    } else {
        format!("{moved} of {} moved", group.sliders.len())
    };
    titled_ui(ui, &group.name, &count, searching, closed);
}

/// The heading of a group, with a text on the right.
pub(super) fn titled_ui(
    ui: &mut Ui,
    name: &str,
    count: &str,
    searching: bool,
    closed: &mut BTreeSet<String>,
) {
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), ROW + 1.0), Sense::click());
    let open = searching || !closed.contains(name);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, open, name));

    if response.clicked() && !searching && !closed.remove(name) {
        closed.insert(name.to_owned());
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
        name,
        TextStyle::Body.resolve(ui.style()),
        visuals.strong_text_color(),
    );

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
    pictures: &mut PanelPictures,
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
        favourite: character.favourites.contains(name),
        in_betweens: book.in_betweens(k),
    };

    let full = full_weight(row.limits);
    let mut picture = |ctx: &egui::Context| pictures.slider(name, full, PICTURE, ctx);
    if let Some(act) = slider_row_ui(ui, &row, &mut picture) {
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
        RowAction::Favourite => cx.edit(format!("Favourite {name}"), move |document| {
            toggle(&mut document.character.favourites, name)
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
