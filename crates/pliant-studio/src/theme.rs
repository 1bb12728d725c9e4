//! How the window looks: calm greys around the picture, one accent, room to breathe.

use eframe::egui::{Color32, Context, CornerRadius, FontId, Stroke, Style, TextStyle, Theme, Visuals, vec2};

/// What is chosen, lit or dragged.
pub const ACCENT: Color32 = Color32::from_rgb(232, 122, 56);
/// What is held, or comes second.
pub const CALM: Color32 = Color32::from_rgb(86, 146, 236);

/// Dresses both themes.
pub fn dress(ctx: &Context) {
    for theme in [Theme::Dark, Theme::Light] {
        ctx.style_mut_of(theme, |style| dress_style(style, theme));
    }
}

fn dress_style(style: &mut Style, theme: Theme) {
    style.visuals = visuals(theme);
    style.spacing.item_spacing = vec2(8.0, 6.0);
    style.spacing.button_padding = vec2(8.0, 4.0);
    style.spacing.interact_size.y = 22.0;
    style.spacing.slider_width = 120.0;
    let sizes = [(TextStyle::Body, 13.5), (TextStyle::Button, 13.5), (TextStyle::Small, 11.0), (TextStyle::Heading, 16.0)];
    for (text, size) in sizes {
        style.text_styles.insert(text, FontId::proportional(size));
    }
}

fn visuals(theme: Theme) -> Visuals {
    let dark = theme == Theme::Dark;
    let mut visuals = if dark { Visuals::dark() } else { Visuals::light() };
    let (panel, faint, line) = match dark {
        true => (Color32::from_gray(34), Color32::from_gray(40), Color32::from_gray(54)),
        false => (Color32::from_gray(240), Color32::from_gray(232), Color32::from_gray(208)),
    };
    visuals.panel_fill = panel;
    visuals.window_fill = panel;
    visuals.faint_bg_color = faint;
    visuals.widgets.noninteractive.bg_stroke = Stroke::new(1.0, line);
    if dark {
        visuals.widgets.noninteractive.fg_stroke.color = Color32::from_gray(196);
        visuals.widgets.inactive.fg_stroke.color = Color32::from_gray(214);
    }
    let selection = if dark { ACCENT.gamma_multiply(0.55) } else { Color32::from_rgb(255, 206, 172) };
    visuals.selection.bg_fill = selection;
    visuals.selection.stroke = Stroke::new(1.0, if dark { Color32::WHITE } else { Color32::from_rgb(96, 40, 8) });
    visuals.hyperlink_color = if dark { Color32::from_rgb(250, 166, 112) } else { Color32::from_rgb(178, 76, 18) };
    for widget in [&mut visuals.widgets.inactive, &mut visuals.widgets.hovered, &mut visuals.widgets.active, &mut visuals.widgets.open] {
        widget.corner_radius = CornerRadius::same(4);
    }
    visuals
}
