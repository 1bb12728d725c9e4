//! The window: bars, panels, viewports.

use eframe::egui::{self, Align, Align2, FontId, Layout, Ui, Vec2};

use pliant::linalg::parallel;

use crate::command::Notice;
use crate::rooms::{On, Pane, RoomName, learn, pose, transfer};
use crate::studio::{Framed, Studio};
use crate::view::viewport_ui;
use crate::work::Watch;
use crate::{help, panels, preferences};

impl eframe::App for Studio {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.window_ui(ui);
    }

    fn on_exit(&mut self) {
        self.finish_files();
    }
}

impl Studio {
    /// The whole window. Its thread works alone: it never waits for the threads that workers keep busy.
    pub fn window_ui(&mut self, ui: &mut Ui) {
        parallel::alone(|| self.all_panels_ui(ui));
    }

    fn all_panels_ui(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.wear_preferences(&ctx);
        self.begin_frame(&ctx);
        // While a dialog is open, keys are meant for it and for nothing behind it.
        let kept_back = if self.filing.is_asking() { take_keys(&ctx) } else { Vec::new() };
        self.shortcuts(&ctx);
        egui::Panel::top("menu").show(ui, |ui| self.menu_ui(ui));
        egui::Panel::bottom("status").show(ui, |ui| self.status_ui(ui));
        egui::Panel::bottom("timeline").resizable(true).show(ui, |ui| {
            self.with_room(self.desk.room, |_, cx| panels::timeline_ui(ui, cx));
        });
        egui::Panel::left("tools").default_size(210.0).show(ui, |ui| self.tools_ui(ui));
        egui::Panel::right("options").default_size(310.0).show(ui, |ui| self.options_ui(ui));
        let frame = egui::Frame::central_panel(ui.style()).inner_margin(0.0);
        egui::CentralPanel::default().frame(frame).show(ui, |ui| self.viewports_ui(ui));
        ctx.input_mut(|input| input.events.extend(kept_back));
        self.files_ui(&ctx);
        let rooms = pose::SHORTCUTS.iter().chain(transfer::SHORTCUTS).chain(learn::SHORTCUTS);
        let more: Vec<help::Sheet> = rooms.chain(panels::SHORTCUTS).copied().collect();
        help::shortcuts_ui(&ctx, &mut self.help_open, &more);
        self.end_frame(&ctx);
    }

    /// Theme and scale, where they changed.
    fn wear_preferences(&mut self, ctx: &egui::Context) {
        let theme = match self.preferences.theme {
            preferences::Theme::Dark => egui::Theme::Dark,
            preferences::Theme::Light => egui::Theme::Light,
        };
        if ctx.theme() != theme {
            ctx.set_theme(theme);
        }
        if self.worn_scale != Some(self.preferences.scale) {
            ctx.set_zoom_factor(self.preferences.scale);
            self.worn_scale = Some(self.preferences.scale);
        } else {
            // The keyboard zooms, too.
            self.preferences.scale = ctx.zoom_factor();
            self.worn_scale = Some(self.preferences.scale);
        }
    }

    fn tools_ui(&mut self, ui: &mut Ui) {
        let room = self.desk.room;
        egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.add_space(4.0);
            self.with_room(room, |room, cx| room.tools_ui(ui, cx));
        });
    }

    fn options_ui(&mut self, ui: &mut Ui) {
        let room = self.desk.room;
        egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.add_space(4.0);
            self.with_room(room, |room, cx| {
                room.options_ui(ui, cx);
                if room.shows_sliders() {
                    ui.add_space(6.0);
                    egui::CollapsingHeader::new("Explain").default_open(true).show(ui, |ui| panels::explain_ui(ui, cx));
                    egui::CollapsingHeader::new("Sliders").default_open(true).show(ui, |ui| panels::sliders_ui(ui, cx));
                }
            });
        });
    }

    fn status_ui(&mut self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                self.watches.iter().chain(self.library.watches()).for_each(|watch| watch_ui(ui, watch));
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| self.notice_ui(ui));
            });
        });
    }

    fn notice_ui(&mut self, ui: &mut Ui) {
        let (passing, trouble) = (self.notices.passing(), self.notices.trouble());
        if passing.is_none() && trouble.is_none() {
            ui.weak("Ready");
            return;
        }
        let dismissed = ui.small_button("Dismiss").clicked();
        if let Some(Notice { text, .. }) = passing {
            // Trouble needs room beside it.
            let width = if trouble.is_some() { 0.4 * ui.available_width() } else { ui.available_width() };
            let color = ui.visuals().text_color();
            ui.scope(|ui| {
                ui.set_max_width(width);
                ui.add(egui::Label::new(egui::RichText::new(text).color(color)).truncate()).on_hover_text(text);
            });
        }
        if let Some(Notice { text, .. }) = trouble {
            let older: Vec<&str> = self.notices.older_troubles().collect();
            let more = if older.is_empty() { String::new() } else { format!("\n\nand {} more:\n{}", older.len(), older.join("\n")) };
            let label = egui::RichText::new(text).color(ui.visuals().error_fg_color);
            ui.add(egui::Label::new(label).truncate()).on_hover_text(format!("{text}{more}"));
        }
        if dismissed {
            self.notices.dismiss();
        }
    }

    fn viewports_ui(&mut self, ui: &mut Ui) {
        let name = self.desk.room;
        let panes = self.with_room(name, |room, cx| room.panes(cx));
        let whole = ui.available_rect_before_wrap();
        let size = Vec2::new(whole.width() / panes.len().max(1) as f32, whole.height());
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            for (k, pane) in panes.iter().enumerate() {
                self.viewport_ui(name, k, pane, size, ui);
            }
        });
        self.frame_asked = None;
        if !self.preferences.hint_seen {
            self.preferences.hint_seen = help::hint_ui(ui, name, whole);
        }
    }

    fn viewport_ui(&mut self, name: RoomName, k: usize, pane: &Pane, size: Vec2, ui: &mut Ui) {
        self.aim_camera(name, k, pane, size);
        let mut camera = self.desk.cameras.entry(name).or_default()[k].camera;
        let label = if pane.title.is_empty() { name.label() } else { &pane.title };
        let canvas = viewport_ui(ui, (name, k), label, &mut camera, &pane.scene, &self.desk.look, size);
        if self.rig_failed() && matches!(name, RoomName::Pose | RoomName::Touch) {
            self.with_room(name, |_, cx| panels::failed_rig_ui(ui, canvas.response.rect, cx));
        } else {
            self.caption_ui(pane, &canvas, ui);
        }
        let on = On { pane: k, scene: &pane.scene, canvas: &canvas };
        let used = self.with_room(name, |room, cx| room.canvas_ui(&on, ui, cx));
        if !used {
            canvas.orbit_with_left(&mut camera);
        }
        self.desk.cameras.entry(name).or_default()[k].camera = camera;
    }

    /// Puts the camera in front of a new subject, or of what was asked for.
    fn aim_camera(&mut self, name: RoomName, k: usize, pane: &Pane, size: Vec2) {
        let seen = self.desk.cameras.entry(name).or_default();
        seen.resize_with(seen.len().max(k + 1), Default::default);
        let seen = &mut seen[k];
        // Until a person moves the camera, it keeps what it framed in view, however panels and windows change.
        let stale = |framed: &Framed| framed.camera == seen.camera && framed.size != size;
        let resized = self.framed.get(&(name, k)).is_some_and(stale);
        if pane.scene.models.is_empty() || (seen.subject == pane.subject && self.frame_asked.is_none() && !resized) {
            return;
        }
        let aspect = f64::from(size.x / size.y.max(1.0));
        match pane.selection.filter(|_| self.frame_asked == Some(true)) {
            Some(bounds) => seen.camera.frame_in(bounds, aspect),
            None => seen.camera.frame_points(&pane.scene.points(), aspect),
        }
        seen.subject.clone_from(&pane.subject);
        self.framed.insert((name, k), Framed { camera: seen.camera, size });
    }

    fn caption_ui(&self, pane: &Pane, canvas: &crate::view::Canvas, ui: &Ui) {
        let rect = canvas.response.rect;
        let color = ui.visuals().text_color();
        if !pane.title.is_empty() {
            canvas.painter.text(rect.left_top() + Vec2::splat(10.0), Align2::LEFT_TOP, &pane.title, FontId::proportional(14.0), color);
        }
        if pane.scene.models.is_empty() {
            let text = if self.library.busy() { "Loading …" } else { &pane.empty };
            canvas.painter.text(rect.center(), Align2::CENTER_CENTER, text, FontId::proportional(15.0), color);
        }
    }
}

/// What is under way, and a way to stop it if it can be stopped.
fn watch_ui(ui: &mut Ui, watch: &Watch) {
    let view = watch.view();
    if view.listens && ui.small_button("Cancel").on_hover_text(format!("Stop: {}", view.name)).clicked() {
        watch.cancel();
    }
    let text = if view.stage.is_empty() { view.name } else { format!("{}: {}", view.name, view.stage) };
    if view.listens {
        ui.add(egui::ProgressBar::new(view.done as f32).desired_width(220.0).text(text));
    } else {
        ui.label(text);
        ui.add(egui::Spinner::new().size(14.0));
    }
}

/// Takes what was typed out of the frame.
fn take_keys(ctx: &egui::Context) -> Vec<egui::Event> {
    let typed = |event: &mut egui::Event| matches!(event, egui::Event::Key { .. } | egui::Event::Text(_) | egui::Event::Paste(_));
    ctx.input_mut(|input| input.events.extract_if(.., typed).collect())
}
