//! The list of what plays: keys, a take, or a clip of the character's file.

use std::sync::{Arc, Mutex, PoisonError};

use eframe::egui::{ComboBox, Ui};

use crate::engine::command::{Command, Notice};
use crate::engine::context::Cx;
use crate::engine::library::LoadedAsset;
use crate::engine::playback::{TakeSource, clip_keys, clip_weights, find_take, take_keys};
use crate::engine::work::Task;
use crate::model::timeline::{Keys, Take};

/// Name of the keys in the list.
const KEYS: &str = "Keys";

/// A clip that is being made into keys, by a worker.
#[derive(Clone, Default)]
pub(crate) struct KeyConversion(Arc<Mutex<Option<Task<ConvertedKeys>>>>);

/// The keys of a clip, of this take of this asset, and its last frame.
struct ConvertedKeys {
    of: (String, Option<String>),
    keys: Keys,
    last: u32,
}

impl KeyConversion {
    fn start_clip(&self, file: Arc<LoadedAsset>, clip: usize, cx: &mut Cx<'_>) {
        let (count, fps) = {
            let animation = &file.asset.clips[clip];
            (animation.frame_count, animation.frames_per_second)
        };
        let keys = move |rate: f64| clip_keys(&file.asset, &file.asset.clips[clip], rate);
        self.start(keys, count.saturating_sub(1) as f64 / fps, cx);
    }

    fn start_take(&self, take: Take, cx: &mut Cx<'_>) {
        let secs = f64::from(take.frame_count.saturating_sub(1)) / take.frames_per_second;
        self.start(move |rate: f64| take_keys(&take, rate), secs, cx);
    }

    /// Starts to convert what lasts for `secs`.
    fn start(
        &self,
        keys_at_rate: impl FnOnce(f64) -> Option<Keys> + Send + 'static,
        secs: f64,
        cx: &mut Cx<'_>,
    ) {
        let rate = cx.document.timeline.frames_per_second;
        let of = playing_label(cx);
        let task = cx.start("Converting the clip to keys", move |_| {
            let keys =
                keys_at_rate(rate).ok_or("The clip moves more than sliders; it stays a take.")?;

            Ok(ConvertedKeys {
                of,
                keys,
                last: ((secs * rate).round() as u32).max(1),
            })
        });

        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    /// Puts the keys instead of those that are there, unless something else plays by now.
    fn fetch(&self, cx: &mut Cx<'_>) {
        let finished = Task::finished(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        match finished {
            Some(Ok(ConvertedKeys { of, keys, last })) if of == playing_label(cx) => {
                cx.edit("Edit clip as keys", move |document| {
                    (document.timeline.playing_take, document.timeline.last_frame) = (None, last);
                    document.edit_keys(|present| *present = keys);
                })
            }
            Some(Err(message)) => cx.notify(Notice::error(message)),
            Some(Ok(_)) | None => {}
        }
    }
}

fn playing_label(cx: &Cx<'_>) -> (String, Option<String>) {
    (
        cx.document.character.asset.clone(),
        cx.document.timeline.playing_take.clone(),
    )
}

/// The list of takes, and the conversion of a clip to keys.
pub(crate) fn takes_ui(ui: &mut Ui, keying: &KeyConversion, cx: &mut Cx<'_>) {
    keying.fetch(cx);
    let asset = cx.document.character.asset.clone();
    let Some(loaded) = (!asset.is_empty())
        .then(|| cx.library.ready(&asset))
        .flatten()
    else {
        return;
    };

    chooser_ui(ui, &loaded, cx);
    let library = &mut *cx.library;
    let edit_ui = |ui: &mut Ui| {
        ui.button("Edit as keys")
            .on_hover_text("Convert this clip to keys; they replace the present keys")
            .clicked()
    };
    match find_take(cx.document, &loaded, |locator| library.ready(locator)) {
        // Only a clip of weights can become keys.
        Some(TakeSource::Clip(file, clip)) => {
            let animation = &file.asset.clips[clip];
            let is_weights = !animation.motions.is_empty()
                && clip_weights(&file.asset, animation, 0.0).is_some();
            if is_weights && edit_ui(ui) {
                keying.start_clip(file, clip, cx);
            }
        }
        Some(TakeSource::Weights(take, _)) => {
            let take = take.clone();
            if edit_ui(ui) {
                keying.start_take(take, cx);
            }
        }
        _ => {}
    }
}

fn chooser_ui(ui: &mut Ui, loaded: &LoadedAsset, cx: &mut Cx<'_>) {
    let timeline = &cx.document.timeline;
    let takes = timeline
        .takes
        .iter()
        .filter(|take| take.of == loaded.locator);

    let takes = takes.map(|take| {
        (
            take.name.clone(),
            f64::from(take.frame_count.saturating_sub(1)) / take.frames_per_second,
        )
    });

    // A take of the same name hides the clip of the file.
    let clips = loaded
        .asset
        .clips
        .iter()
        .filter(|clip| timeline.take(&clip.name).is_none());

    let clips = clips.map(|clip| {
        (
            clip.name.clone(),
            clip.frame_count.saturating_sub(1) as f64 / clip.frames_per_second,
        )
    });

    let choices: Vec<(String, f64)> = takes.chain(clips).collect();
    let playing = timeline.playing_take.clone();
    let mut chosen = playing.clone();
    let shown = playing.as_deref().unwrap_or(KEYS);
    let mut capture = false;
    let list = ComboBox::from_id_salt("take")
        .selected_text(shown)
        .width(110.0)
        .show_ui(ui, |ui| {
            ui.selectable_value(&mut chosen, None, KEYS)
                .on_hover_text("Your keys");
            for (name, secs) in &choices {
                ui.selectable_value(&mut chosen, Some(name.clone()), name)
                    .on_hover_text(format!("{secs:.1} s"));
            }
            ui.separator();
            capture = ui
                .selectable_label(false, "Capture…")
                .on_hover_text("Record a live performance, or clean a take")
                .clicked();
        });
    if capture {
        cx.command(Command::ShowCapture);
    }

    list.response
        .on_hover_text("What plays: keys, a take, or a clip of the file")
        .accessible_name("Take");

    if chosen != playing {
        cx.edit("Choose take", move |document| {
            document.timeline.playing_take = chosen
        });
    }
}
