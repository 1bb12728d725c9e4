//! What plays: keys, a take, or a clip of the character's file.

use eframe::egui::{ComboBox, Ui};

use crate::library::Loaded;
use crate::rooms::Cx;
use crate::timeline::{Found, clip_keys, found_take};

/// What the list calls the keys.
const KEYS: &str = "Keys";

/// The list of takes, and the way from a clip of weights to keys.
pub(super) fn takes_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let asset = cx.document.character.asset.clone();
    let Some(loaded) = (!asset.is_empty()).then(|| cx.library.ready(&asset)).flatten() else { return };
    chooser_ui(ui, &loaded, cx);
    let library = &mut *cx.library;
    let Some(Found::Clip(file, clip)) = found_take(cx.document, &loaded, |locator| library.ready(locator)) else { return };
    let animation = &file.asset.clips[clip];
    if !animation.motions.is_empty() && crate::timeline::clip_weights(&file.asset, animation, 0.0).is_some() {
        let edit = ui.button("Edit as keys").on_hover_text("Make keys of this clip, in place of those that are there");
        if edit.clicked() {
            let last = (animation.frame_count.saturating_sub(1) as f64 / animation.frames_per_second
                * cx.document.timeline.frames_per_second)
                .round();
            cx.edit("Edit clip as keys", move |document| {
                let timeline = &mut document.timeline;
                if let Some(keys) = clip_keys(&file.asset, &file.asset.clips[clip], timeline.frames_per_second) {
                    timeline.playing_take = None;
                    timeline.last_frame = (last as u32).max(1);
                    document.edit_keys(|present| *present = keys);
                }
            });
        }
    }
}

fn chooser_ui(ui: &mut Ui, loaded: &Loaded, cx: &mut Cx<'_>) {
    let timeline = &cx.document.timeline;
    let takes = timeline.takes.iter().filter(|take| take.of == loaded.locator);
    let takes = takes.map(|take| (take.name.clone(), f64::from(take.frame_count.saturating_sub(1)) / take.frames_per_second));
    let clips = loaded.asset.clips.iter().filter(|clip| timeline.take(&clip.name).is_none());
    let clips = clips.map(|clip| (clip.name.clone(), clip.frame_count.saturating_sub(1) as f64 / clip.frames_per_second));
    let choices: Vec<(String, f64)> = takes.chain(clips).collect();
    let playing = timeline.playing_take.clone();
    let mut chosen = playing.clone();
    let shown = playing.as_deref().unwrap_or(KEYS);
    let list = ComboBox::from_id_salt("take").selected_text(shown).width(110.0).show_ui(ui, |ui| {
        ui.selectable_value(&mut chosen, None, KEYS).on_hover_text("What you keyed");
        for (name, secs) in &choices {
            ui.selectable_value(&mut chosen, Some(name.clone()), name).on_hover_text(format!("{secs:.1} s"));
        }
    });
    list.response.on_hover_text("What plays: your keys, a take made here, or a clip of the file").accessible_name("Take");
    if chosen != playing {
        cx.edit("Choose take", move |document| document.timeline.playing_take = chosen);
    }
}
