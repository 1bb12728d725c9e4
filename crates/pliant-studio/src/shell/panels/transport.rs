//! Transport buttons: play, step, set keys.

use eframe::egui::{Button, DragValue, Event, Id, Key, Modifiers, RichText, Ui, Vec2, vec2};

use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::model::document::Weights;
use crate::model::timeline::{
    Ease, Picked, Timeline, changed_sliders, copied, eased, key_at, pasted, without,
};
use crate::model::view_state::Looping;
use crate::widgets::icon::{Icon, icon_button};
use crate::widgets::key_color;

/// The side of a button.
const BUTTON: Vec2 = Vec2::splat(22.0);
/// The widths of what changes its text, so that nothing beside it moves.
const FRAME_WIDTH: f32 = 124.0;
const CHANGED_WIDTH: f32 = 118.0;

/// Something that a button and a key both do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TransportAction {
    ToStart,
    PreviousKey,
    Play,
    NextKey,
    ToEnd,
    Loop,
    Step(i32),
    KeyChanged,
    KeyAll,
    Delete,
}

/// Keys and what they do, the ones with modifiers first.
const KEYS: [(Modifiers, Key, TransportAction); 9] = [
    (Modifiers::SHIFT, Key::K, TransportAction::KeyAll),
    (Modifiers::NONE, Key::K, TransportAction::KeyChanged),
    (Modifiers::NONE, Key::Space, TransportAction::Play),
    (Modifiers::SHIFT, Key::Comma, TransportAction::PreviousKey),
    (Modifiers::SHIFT, Key::Period, TransportAction::NextKey),
    (Modifiers::NONE, Key::Comma, TransportAction::Step(-1)),
    (Modifiers::NONE, Key::Period, TransportAction::Step(1)),
    (Modifiers::NONE, Key::Home, TransportAction::ToStart),
    (Modifiers::NONE, Key::End, TransportAction::ToEnd),
];

/// Does what keys of the keyboard request, unless someone is typing. The delete key is the
/// timeline's while the pointer is over it.
pub(crate) fn shortcuts(ui: &Ui, picked: &mut Picked, cx: &mut Cx<'_>) {
    if ui.ctx().egui_wants_keyboard_input() {
        return;
    }

    let over = ui.rect_contains_pointer(ui.max_rect());
    let mut acts: Vec<TransportAction> = KEYS
        .iter()
        .filter(|(modifiers, key, _)| ui.input_mut(|i| i.consume_key(*modifiers, *key)))
        .map(|(.., act)| *act)
        .collect();

    if over && !picked.is_empty() && ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Delete)) {
        acts.push(TransportAction::Delete);
    }

    for act in acts {
        apply_action(act, picked, cx);
    }
    clipboard(ui, picked, cx);
}

/// Copies, cuts and pastes keys. Text that is no keys is for someone else.
fn clipboard(ui: &Ui, picked: &mut Picked, cx: &mut Cx<'_>) {
    let keys = &cx.document.timeline.keys;
    let events = ui.input(|input| input.events.clone());
    for event in &events {
        match event {
            Event::Copy | Event::Cut => {
                // Without selected keys the event belongs to another widget.
                let Some(text) = copied(keys, picked) else {
                    continue;
                };

                ui.ctx().copy_text(text);
                cx.notify(Notice::done(count_of(
                    picked.len(),
                    "copied; Ctrl+V pastes at the shown frame",
                )));

                if *event == Event::Cut {
                    apply_action(TransportAction::Delete, picked, cx);
                }
            }
            Event::Paste(text) if cx.document.timeline.playing_take.is_none() => {
                let Some((keys, places)) = pasted(keys, text, cx.clock.whole_frame()) else {
                    continue;
                };

                let last = places.iter().map(|key| key.frame).max().unwrap_or(0);
                *picked = places;
                cx.edit("Paste keys", move |document| {
                    // Pasted keys may extend the timeline.
                    document.timeline.last_frame = document.timeline.last_frame.max(last);
                    document.edit_keys(|present| *present = keys);
                });
            }
            _ => {}
        }
    }
}

fn count_of(keys: usize, what: &str) -> String {
    if keys == 1 {
        format!("1 key {what}.")
    } else {
        format!("{keys} keys {what}.")
    }
}

/// The buttons and fields.
pub(crate) fn transport_ui(ui: &mut Ui, picked: &mut Picked, cx: &mut Cx<'_>) {
    ui.spacing_mut().item_spacing.x = 2.0;
    let mut act = play_buttons_ui(ui, cx);
    ui.spacing_mut().item_spacing.x = 6.0;
    frame_ui(ui, cx);
    ui.separator();

    if let Some(wanted) = keys_ui(ui, picked, cx) {
        act = Some(wanted);
    }
    if let Some(act) = act {
        apply_action(act, picked, cx);
    }
}

fn play_buttons_ui(ui: &mut Ui, cx: &Cx<'_>) -> Option<TransportAction> {
    use TransportAction as Do;
    let strong = Some(ui.visuals().strong_text_color());
    // A lit button shows that looping is on.
    let accent = ui.visuals().hyperlink_color;
    let looping = (cx.view_state.looping == Looping::Around).then_some(accent);
    let (play, play_label) = if cx.clock.playing {
        (Icon::Pause, "Pause")
    } else {
        (Icon::Play, "Play")
    };

    let buttons = [
        (
            Icon::ToStart,
            "To start",
            "To the first frame (Home)",
            None,
            Do::ToStart,
        ),
        (
            Icon::Previous,
            "Previous key",
            "To the key before (Shift+,)",
            None,
            Do::PreviousKey,
        ),
        (play, play_label, "Play or pause (Space)", strong, Do::Play),
        (
            Icon::Next,
            "Next key",
            "To the key after (Shift+.)",
            None,
            Do::NextKey,
        ),
        (
            Icon::ToEnd,
            "To end",
            "To the last frame (End)",
            None,
            Do::ToEnd,
        ),
        (
            Icon::Loop,
            "Loop",
            "Start again at the end",
            looping,
            Do::Loop,
        ),
    ];

    let mut act = None;
    for (icon, label, tip, highlighted, wanted) in buttons {
        let button = icon_button(ui, icon, label, BUTTON, highlighted);
        if button.on_hover_text(tip).clicked() {
            act = Some(wanted);
        }
    }
    act
}

fn frame_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let mut frame = cx.clock.whole_frame();
    let last = cx.last_frame();
    let number = DragValue::new(&mut frame)
        .range(0..=last)
        .speed(0.2)
        .prefix("Frame ")
        .suffix(format!(" of {last}"));

    let field = ui.add_sized(vec2(FRAME_WIDTH, BUTTON.y), number);
    if field.changed() {
        go_to(f64::from(frame), cx);
    }

    field
        .on_hover_text("The frame that is shown (, and . step)")
        .accessible_name("Frame");
}

fn keys_ui(ui: &mut Ui, picked: &Picked, cx: &mut Cx<'_>) -> Option<TransportAction> {
    let mut act = None;
    let timeline = &cx.document.timeline;
    let plays = timeline.playing_take.is_some();
    // While a take plays, sliders do not follow the keys.
    let changed = if plays {
        0
    } else {
        changed_sliders(cx.document, timeline.shown_frame).len()
    };

    let label = match changed {
        0 => RichText::new("Key changed"),
        _ => RichText::new(format!("Key changed ({changed})")).color(key_color(ui)),
    };

    let mut button =
        |ui: &mut Ui, enabled: bool, button: Button<'_>, tip: &str, name: &str, wanted| {
            if ui
                .add_enabled(enabled, button)
                .on_hover_text(tip)
                .on_disabled_hover_text(tip)
                .accessible_name(name)
                .clicked()
            {
                act = Some(wanted);
            }
        };

    let key_changed = Button::new(label).min_size(vec2(CHANGED_WIDTH, 0.0));
    button(
        ui,
        !plays,
        key_changed,
        "Set keys on sliders that changed since their last key (K)",
        "Key changed",
        TransportAction::KeyChanged,
    );

    button(
        ui,
        !plays,
        Button::new("Key all"),
        "Set keys on every slider (Shift+K)",
        "Key all",
        TransportAction::KeyAll,
    );

    button(
        ui,
        !picked.is_empty(),
        Button::new("Delete keys"),
        "Delete the selected keys (Delete)",
        "Delete keys",
        TransportAction::Delete,
    );

    ui.separator();
    ease_ui(ui, picked, cx);
    ui.separator();
    act
}

fn ease_label(ease: Ease) -> &'static str {
    match ease {
        Ease::Step => "Step",
        Ease::Linear => "Linear",
        Ease::Smooth => "Smooth",
    }
}

/// How the curve goes on from the selected keys.
fn ease_ui(ui: &mut Ui, picked: &Picked, cx: &mut Cx<'_>) {
    let keys = &cx.document.timeline.keys;
    let ease = |at: &crate::model::timeline::KeyAt| {
        key_at(keys.get(&at.slider)?, at.frame).map(|key| key.ease)
    };
    // The button of a common interpolation is lit.
    let common = picked
        .iter()
        .next()
        .and_then(ease)
        .filter(|first| picked.iter().all(|at| ease(at) == Some(*first)));

    for wanted in Ease::ALL {
        let button = ui.add_enabled(
            !picked.is_empty(),
            Button::selectable(common == Some(wanted), ease_label(wanted)),
        );
        let tip = "Interpolation after the selected keys";

        if button
            .on_hover_text(tip)
            .on_disabled_hover_text("Select keys to choose their interpolation")
            .clicked()
        {
            let picked = picked.clone();
            cx.edit(format!("{} keys", ease_label(wanted)), move |document| {
                document.edit_keys(|keys| *keys = eased(keys, &picked, wanted))
            });
        }
    }
}

/// Frame rate and last frame.
pub(crate) fn range_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let mut rate = cx.document.timeline.frames_per_second;
    let mut last = cx.last_frame();
    let field = ui.add(
        DragValue::new(&mut rate)
            .range(1.0..=240.0)
            .speed(0.1)
            .max_decimals(3)
            .suffix(" fps"),
    );

    if field.changed() {
        cx.edit_continuously("Set frame rate", move |document| {
            document.timeline.frames_per_second = rate
        });
    }

    field
        .on_hover_text("Frames per second")
        .accessible_name("Frame rate");

    let range = DragValue::new(&mut last)
        .range(1..=Timeline::MAX_FRAME)
        .speed(0.2)
        .prefix("to ");
    // A take has its own length.
    let field = ui.add_enabled(
        cx.document.take_shown_in(cx.view_state.room).is_none(),
        range,
    );

    if field.changed() {
        cx.edit_continuously("Set last frame", move |document| {
            document.timeline.last_frame = last
        });
    }

    let field = field
        .on_disabled_hover_text("The last frame of the take; choose Keys to set that of your keys");
    field
        .on_hover_text("The last frame")
        .accessible_name("Last frame");
}

/// Shows a frame, and stops playing.
pub(crate) fn go_to(frame: f64, cx: &mut Cx<'_>) {
    cx.clock.playing = false;
    cx.clock.frame = frame.round().clamp(0.0, f64::from(cx.last_frame()));
}

fn apply_action(act: TransportAction, picked: &mut Picked, cx: &mut Cx<'_>) {
    let now = cx.clock.frame;
    let last = f64::from(cx.last_frame());
    let keys = cx.document.timeline.key_frames();
    match act {
        TransportAction::ToStart => go_to(0.0, cx),
        TransportAction::ToEnd => go_to(last, cx),
        TransportAction::Step(frames) => go_to(now.round() + f64::from(frames), cx),
        // Without a key before, the first frame.
        TransportAction::PreviousKey => go_to(
            keys.iter()
                .rev()
                .map(|&k| f64::from(k))
                .find(|&k| k < now)
                .unwrap_or(0.0),
            cx,
        ),
        TransportAction::NextKey => go_to(
            keys.iter()
                .map(|&k| f64::from(k))
                .find(|&k| k > now)
                .unwrap_or(last),
            cx,
        ),
        TransportAction::Play => play_or_pause(cx),
        TransportAction::Loop => {
            cx.view_state.looping = match cx.view_state.looping {
                Looping::Around => Looping::Once,
                Looping::Once => Looping::Around,
            }
        }
        TransportAction::KeyChanged => set_keys(
            changed_sliders(cx.document, cx.document.timeline.shown_frame),
            "Key changed sliders",
            cx,
        ),
        TransportAction::KeyAll => set_keys(all_weights(cx), "Key all sliders", cx),
        TransportAction::Delete => {
            let picked = std::mem::take(picked);
            cx.edit("Delete keys", move |document| {
                document.edit_keys(|keys| *keys = without(keys, &picked))
            });
        }
    }
}

/// From the last frame playing begins at the first.
fn play_or_pause(cx: &mut Cx<'_>) {
    let now = cx.clock.frame;
    let last = f64::from(cx.last_frame());
    if cx.clock.playing {
        go_to(now, cx);
    } else {
        cx.clock.playing = true;
        cx.clock.frame = if now >= last { 0.0 } else { now };
    }
}

fn set_keys(weights: Weights, label: &str, cx: &mut Cx<'_>) {
    let frame = cx.clock.whole_frame();
    if weights.is_empty() {
        cx.notify(Notice::hint(
            "No slider changed since its last key; move one, or press Shift+K to key all.",
        ));
    } else if cx.document.timeline.playing_take.is_none() {
        cx.edit(label, move |document| document.key_weights(frame, &weights));
    }
}

fn all_weights(cx: &Cx<'_>) -> Weights {
    let targets = cx
        .posed
        .map(|posed| posed.rig.targets().iter())
        .into_iter()
        .flatten();
    targets
        .map(|target| {
            (
                target.name.clone(),
                cx.document
                    .character
                    .weights
                    .get(&target.name)
                    .copied()
                    .unwrap_or(0.0),
            )
        })
        .collect()
}

/// An id of the timeline's own.
pub(crate) fn id(what: &str) -> Id {
    Id::unique(("timeline", what))
}
