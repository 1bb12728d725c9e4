//! The layout of the window: bars, panels, viewports.

use eframe::egui::{
    self, Align, FontId, Label, Layout, Rect, RichText, TextWrapMode, Ui, UiBuilder, Vec2,
    WidgetText,
};

use pliant::linalg::parallel;

use super::studio::{AutoFramedCamera, Studio};
use super::{help, panels};
use crate::engine::command::{Command, Notice};
use crate::engine::storage::preferences::{self, Preferences};
use crate::engine::work::Watch;
use crate::model::examples::examples;
use crate::model::room::RoomName;
use crate::model::view_state::OptionsTab;
use crate::rooms::{Pane, PaneCanvas};
use crate::view::drag_plane::{collect_typed_length, typed_length_ui};
use crate::view::navigation::set_pointer_device;
use crate::view::viewport_ui;
use crate::widgets::{Edge, resizable_panel_ui};

/// The least size of the window, in points: all panels and a picture that can be worked on.
pub const LEAST_WINDOW: [f32; 2] = [960.0, 600.0];
/// Between the border of a viewport and its title.
const CAPTION_MARGIN: f32 = 10.0;
/// What the axes in the corner of a viewport take.
const AXES: f32 = 108.0;

impl eframe::App for Studio {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.window_ui(ui);
    }

    fn on_exit(&mut self) {
        self.finish_files();
    }
}

impl Studio {
    /// The whole window. Its thread works alone: it never waits for the threads that workers keep
    /// busy.
    pub fn window_ui(&mut self, ui: &mut Ui) {
        parallel::alone(|| self.all_panels_ui(ui));
    }

    fn all_panels_ui(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.apply_preferences(&ctx);
        self.note_window_size(&ctx);
        self.begin_frame(&ctx);

        // While a dialog is open, keys are meant for it and for nothing behind it.
        let kept_back = if self.filing.has_open_dialog() {
            take_keys(&ctx)
        } else {
            end_typing(&ctx);
            Vec::new()
        };

        self.shortcuts(&ctx);
        egui::Panel::top("menu").show(ui, |ui| self.menu_ui(ui));
        egui::Panel::bottom("status").show(ui, |ui| self.status_ui(ui));
        self.panels_ui(ui);

        let room = self.view_state.room;
        let Preferences {
            hint_seen,
            hints_seen,
            ..
        } = &self.preferences;
        let wants_hint = !*hint_seen && !hints_seen.contains(&room);
        if !self.tour_ui(ui) && wants_hint {
            match help::hint_ui(ui, room) {
                Some(help::HintAnswer::PutAway) => {
                    self.preferences.hints_seen.insert(room);
                }
                Some(help::HintAnswer::Tour) => self.begin_task(0),
                None => {}
            }
        }

        let frame = egui::Frame::central_panel(ui.style()).inner_margin(0.0);
        egui::CentralPanel::default()
            .frame(frame)
            .show(ui, |ui| self.viewports_ui(ui));
        ctx.input_mut(|input| input.events.extend(kept_back));
        self.files_ui(&ctx);
        help::shortcuts_ui(&ctx, &mut self.help_open, &mut self.help_search);
        self.capture_ui(&ctx);
        self.end_frame(&ctx);
    }

    /// Live performances and the cleaning of takes.
    fn capture_ui(&mut self, ctx: &egui::Context) {
        let mut panel = std::mem::take(&mut self.capture);
        self.with_room(self.view_state.room, |_, cx| panel.window_ui(ctx, cx));
        self.capture = panel;
    }

    /// Theme and scale, where they changed.
    fn apply_preferences(&mut self, ctx: &egui::Context) {
        let theme = match self.preferences.theme {
            preferences::Theme::Dark => egui::Theme::Dark,
            preferences::Theme::Light => egui::Theme::Light,
        };

        if ctx.theme() != theme {
            ctx.set_theme(theme);
        }

        set_pointer_device(ctx, self.preferences.pointer);
        collect_typed_length(ctx);
        if self.applied_scale != Some(self.preferences.scale) {
            ctx.set_zoom_factor(self.preferences.scale);
            self.applied_scale = Some(self.preferences.scale);
        } else {
            // The keyboard zooms, too.
            self.preferences.scale = ctx.zoom_factor();
            self.applied_scale = Some(self.preferences.scale);
        }
    }

    /// The size of the window, which the next one begins with.
    fn note_window_size(&mut self, ctx: &egui::Context) {
        let window = ctx.input(|input| input.viewport().clone());
        let whole_screen = window.maximized == Some(true) || window.fullscreen == Some(true);
        if let Some(inner) = window.inner_rect.filter(|_| !whole_screen) {
            // Points without the scale of the user interface.
            let size = inner.size() * ctx.zoom_factor();
            self.preferences.window = Some([size.x.round(), size.y.round()]);
        }
    }

    /// The panels around the viewports, each as large as the user made it.
    fn panels_ui(&mut self, ui: &mut Ui) {
        let mut sizes = self.preferences.panels;
        resizable_panel_ui(
            ui,
            Edge::Bottom,
            &mut sizes.timeline,
            self.timeline_needs,
            |ui| {
                // The timeline reports the height that it needs in the next frame.
                self.timeline_needs = self.with_room(self.view_state.room, |room, cx| {
                    panels::timeline_ui(ui, room.shows_sliders(), cx)
                });
            },
        );

        resizable_panel_ui(ui, Edge::Left, &mut sizes.tools, 0.0, |ui| {
            self.tools_ui(ui)
        });
        resizable_panel_ui(ui, Edge::Right, &mut sizes.options, 0.0, |ui| {
            self.options_ui(ui)
        });

        self.preferences.panels = sizes;
    }

    fn tools_ui(&mut self, ui: &mut Ui) {
        let room = self.view_state.room;
        // What is wider than the panel is scrolled to; it does not widen the panel.
        egui::ScrollArea::both().auto_shrink(false).show(ui, |ui| {
            ui.add_space(4.0);
            self.with_room(room, |room, cx| room.tools_ui(ui, cx));
            let mut objects = std::mem::take(&mut self.objects);
            self.with_room(room, |room, cx| {
                if room.shows_sliders() {
                    objects.panel_ui(ui, cx);
                }
            });
            self.objects = objects;
        });
    }

    fn options_ui(&mut self, ui: &mut Ui) {
        let room = self.view_state.room;
        let shows_sliders = self.with_room(room, |room, _| room.shows_sliders());
        // Each tab has the whole height; sliders need it.
        let tab = if shows_sliders {
            let tab = self.view_state.tabs.entry(room).or_insert(first_tab(room));
            tabs_ui(ui, room, tab);
            *tab
        } else {
            OptionsTab::Settings
        };

        let area = egui::ScrollArea::both()
            .id_salt(("options", room, tab))
            .auto_shrink(false);
        let mut poses = std::mem::take(&mut self.poses);
        let mut pictures = std::mem::take(&mut self.pictures);
        area.show(ui, |ui| {
            ui.add_space(4.0);
            self.with_room(room, |room, cx| match tab {
                OptionsTab::Sliders => panels::sliders_ui(ui, &mut pictures, cx),
                OptionsTab::Poses => poses.panel_ui(ui, &mut pictures, cx),
                OptionsTab::Settings => room.options_ui(ui, cx),
                OptionsTab::Explain => panels::explain_ui(ui, cx),
            });
        });
        (self.poses, self.pictures) = (poses, pictures);
    }

    fn status_ui(&mut self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                for watch in self.watches.iter().chain(self.library.watches()) {
                    watch_ui(ui, watch);
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    self.notice_ui(ui)
                });
            });
        });
    }

    fn notice_ui(&mut self, ui: &mut Ui) {
        let passing = self.notices.passing();
        let error = self.notices.error();
        if passing.is_none() && error.is_none() {
            ui.weak("Ready");
            return;
        }

        let dismissed = ui.small_button("Dismiss").clicked();
        if let Some(Notice { text, .. }) = passing {
            // An error needs space beside it.
            let width = if error.is_some() {
                0.4 * ui.available_width()
            } else {
                ui.available_width()
            };

            let color = ui.visuals().text_color();
            ui.scope(|ui| {
                ui.set_max_width(width);
                ui.add(egui::Label::new(egui::RichText::new(text).color(color)).truncate())
                    .on_hover_text(text);
            });
        }

        if let Some(Notice { text, .. }) = error {
            let older: Vec<&str> = self.notices.older_errors().collect();
            let more = if older.is_empty() {
                String::new()
            } else {
                format!("\n\nand {} more:\n{}", older.len(), older.join("\n"))
            };

            let label = egui::RichText::new(text).color(ui.visuals().error_fg_color);
            ui.add(egui::Label::new(label).truncate())
                .on_hover_text(format!("{text}{more}"));
        }

        if dismissed {
            self.notices.dismiss();
        }
    }

    fn viewports_ui(&mut self, ui: &mut Ui) {
        let name = self.view_state.room;
        let mut panes = self.with_room(name, |room, cx| room.panes(cx));
        if let Some(posed) = self.posed().cloned() {
            self.objects.apply(&mut panes, &posed.surface);
        }
        let whole = ui.available_rect_before_wrap();
        let size = Vec2::new(whole.width() / panes.len().max(1) as f32, whole.height());

        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            for (k, pane) in panes.iter().enumerate() {
                let rect = self.viewport_ui(name, k, pane, size, ui);
                // Pose and Touch need the character; other rooms have their own meshes.
                if self.rig_failed() && matches!(name, RoomName::Pose | RoomName::Touch) {
                    self.with_room(name, |_, cx| panels::failed_rig_ui(ui, rect, cx));
                } else if pane.scene.models.is_empty() {
                    self.empty_ui(&panes, k, rect, ui);
                }
            }
        });

        self.frame_requested = None;
    }

    /// A viewport; says where it is.
    fn viewport_ui(
        &mut self,
        name: RoomName,
        k: usize,
        pane: &Pane,
        size: Vec2,
        ui: &mut Ui,
    ) -> Rect {
        self.aim_camera(name, k, pane, size);
        let mut camera = self.view_state.cameras.entry(name).or_default()[k].camera;
        let label = if pane.title.is_empty() {
            name.label()
        } else {
            &pane.title
        };

        let canvas = viewport_ui(
            ui,
            (name, k),
            label,
            &mut camera,
            &pane.scene,
            &self.view_state.look,
            size,
        );

        caption_ui(&pane.title, &canvas, ui);
        let on = PaneCanvas {
            pane: k,
            scene: &pane.scene,
            canvas: &canvas,
        };

        let used = self.with_room(name, |room, cx| room.canvas_ui(&on, ui, cx));
        typed_length_ui(&canvas);
        // A left drag that no tool uses orbits the camera.
        if !used {
            canvas.orbit_with_left(&mut camera);
        }

        self.view_state.cameras.entry(name).or_default()[k].camera = camera;
        canvas.response.rect
    }

    /// What stands instead of an empty scene: one message, and where the whole room is empty a way
    /// to begin.
    fn empty_ui(&mut self, panes: &[Pane], k: usize, rect: Rect, ui: &mut Ui) {
        let area = Rect::from_center_size(
            rect.center(),
            Vec2::new((rect.width() - 24.0).clamp(40.0, 340.0), 120.0),
        );

        let mut inside = ui.new_child(
            UiBuilder::new()
                .max_rect(area)
                .layout(Layout::top_down(Align::Center)),
        );
        let ui = &mut inside;

        ui.shrink_clip_rect(rect);
        let text = if self.is_loading() {
            "Loading …"
        } else {
            &panes[k].empty
        };

        // Two empty viewports with the same message show it once.
        let shown_before = panes[..k]
            .iter()
            .any(|before| before.scene.models.is_empty() && before.empty == panes[k].empty);

        if !shown_before {
            ui.add(Label::new(RichText::new(text).size(15.0)).wrap());
        }
        if k > 0 || self.is_loading() || panes.iter().any(|pane| !pane.scene.models.is_empty()) {
            return;
        }

        ui.add_space(4.0);
        if ui
            .button("Open…")
            .on_hover_text("Open a file (Ctrl+O)")
            .clicked()
        {
            self.push(Command::AskOpen);
        }

        let room = self.view_state.room;
        let Some((name, example)) = examples(room).into_iter().next() else {
            return;
        };

        if ui.button("Try the example").on_hover_text(name).clicked() {
            self.push(Command::New(Box::new(example()), room));
        }
    }

    /// Frames a new subject, or what was requested.
    fn aim_camera(&mut self, name: RoomName, k: usize, pane: &Pane, size: Vec2) {
        let seen = self.view_state.cameras.entry(name).or_default();
        seen.resize_with(seen.len().max(k + 1), Default::default);
        let seen = &mut seen[k];

        // Until the user moves the camera, it keeps what it framed in view, however panels and
        // windows change.
        let stale = |framed: &AutoFramedCamera| framed.camera == seen.camera && framed.size != size;
        let resized = self
            .framed
            .get(&(name, k))
            .filter(|framed| stale(framed))
            .map(|framed| framed.selection);

        if pane.scene.models.is_empty()
            || (seen.subject == pane.subject && self.frame_requested.is_none() && resized.is_none())
        {
            return;
        }

        let aspect = f64::from(size.x / size.y.max(1.0));
        let selection = self
            .frame_requested
            .or(resized.filter(|_| seen.subject == pane.subject))
            .unwrap_or(false);

        match pane.selection.filter(|_| selection) {
            Some(bounds) => seen.camera.frame_in(bounds, aspect),
            None => seen.camera.frame_points(&pane.scene.points(), aspect),
        }

        seen.subject.clone_from(&pane.subject);
        self.framed.insert(
            (name, k),
            AutoFramedCamera {
                camera: seen.camera,
                size,
                selection,
            },
        );
    }
}

/// In Pose sliders come first; touching needs its settings.
fn first_tab(room: RoomName) -> OptionsTab {
    match room {
        RoomName::Pose => OptionsTab::Sliders,
        _ => OptionsTab::Settings,
    }
}

fn tabs_ui(ui: &mut Ui, room: RoomName, chosen: &mut OptionsTab) {
    let settings = match room {
        RoomName::Pose => ("Solver", "How pins and strokes become slider weights"),
        _ => ("Settings", "Options of this room"),
    };
    let tabs = [
        (
            OptionsTab::Sliders,
            ("Sliders", "The sliders of the character"),
        ),
        (OptionsTab::Settings, settings),
        (
            OptionsTab::Explain,
            ("Explain", "Which sliders the last drag moved, and why"),
        ),
        (
            OptionsTab::Poses,
            ("Poses", "Saved poses, to be applied and blended"),
        ),
    ];
    ui.horizontal(|ui| {
        for (tab, (label, hint)) in tabs {
            ui.selectable_value(chosen, tab, label).on_hover_text(hint);
        }
    });
    ui.separator();
}

/// The title of a viewport, cut before the axes in its other corner.
fn caption_ui(title: &str, canvas: &crate::view::Canvas, ui: &Ui) {
    let rect = canvas.response.rect;
    let width = (rect.width() - CAPTION_MARGIN - AXES).max(40.0);
    let text = WidgetText::from(RichText::new(title).size(14.0));
    let galley = text.into_galley(
        ui,
        Some(TextWrapMode::Truncate),
        width,
        FontId::proportional(14.0),
    );

    canvas.painter.galley(
        rect.left_top() + Vec2::splat(CAPTION_MARGIN),
        galley,
        ui.visuals().text_color(),
    );
}

/// A running task, with a cancel button if it can be cancelled.
fn watch_ui(ui: &mut Ui, watch: &Watch) {
    let view = watch.view();
    if view.listens
        && ui
            .small_button("Cancel")
            .on_hover_text(format!("Stop: {}", view.name))
            .clicked()
    {
        watch.cancel();
    }

    let text = if view.stage.is_empty() {
        view.name
    } else {
        format!("{}: {}", view.name, view.stage)
    };

    // A task without progress reports shows a spinner instead of a bar.
    if view.listens {
        ui.add(
            egui::ProgressBar::new(view.done as f32)
                .desired_width(220.0)
                .text(text),
        );
    } else {
        ui.label(text);
        ui.add(egui::Spinner::new().size(14.0));
    }
}

/// A press elsewhere ends typing, so that keys go to what was pressed.
fn end_typing(ctx: &egui::Context) {
    let pressed = ctx.input(|input| {
        input
            .pointer
            .interact_pos()
            .filter(|_| input.pointer.any_pressed())
    });

    let field = ctx
        .memory(|memory| memory.focused())
        .and_then(|id| ctx.read_response(id));

    if let (Some(place), Some(field)) = (pressed, field)
        && !field.rect.contains(place)
    {
        ctx.memory_mut(|memory| memory.stop_text_input());
    }
}

/// Removes the typed text from the frame's input.
fn take_keys(ctx: &egui::Context) -> Vec<egui::Event> {
    let typed = |event: &mut egui::Event| {
        use egui::Event::{Copy, Cut, Key, Paste, Text};
        matches!(event, Key { .. } | Text(_) | Copy | Cut | Paste(_))
    };
    ctx.input_mut(|input| input.events.extract_if(.., typed).collect())
}
