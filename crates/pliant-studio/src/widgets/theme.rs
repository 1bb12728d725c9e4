//! The theme of the window: colours, spacing, fonts.
//!
//! **Implementation.** The contrast of text is at least 4.5 to 1 and that of marks at least 3 to 1,
//! in both themes and for disabled controls, as WCAG 2.2 requires (1.4.3, 1.4.11).

use eframe::egui::style::ScrollStyle;
use eframe::egui::{
    Color32, Context, CornerRadius, FontId, Stroke, Style, TextStyle, Theme, Visuals, vec2,
};

/// Colour of selected, highlighted and dragged objects.
pub const ACCENT: Color32 = Color32::from_rgb(232, 122, 56);
/// Colour of held and secondary objects.
pub const CALM: Color32 = Color32::from_rgb(86, 146, 236);

/// The colours of a theme by purpose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThemeColors {
    /// Behind panels, menus and windows.
    pub panel: Color32,
    /// Behind every second row, and the timeline.
    pub faint: Color32,
    /// Behind text that can be typed, and sliders.
    pub field: Color32,
    /// Behind the text of a button.
    pub button: Color32,
    /// Between parts.
    pub line: Color32,
    /// Text.
    pub text: Color32,
    /// Text of what can be pressed.
    pub control: Color32,
    /// Hints, units, counts, and icons that are not lit.
    pub weak: Color32,
    /// Around boxes to tick, buttons and fields.
    pub mark: Color32,
    /// Something did not work.
    pub error: Color32,
    /// Something should be looked at.
    pub warning: Color32,
    /// Links, the shown frame, switches that are on.
    pub accent: Color32,
    /// Behind what is chosen.
    pub chosen: Color32,
    /// Text on it.
    pub on_chosen: Color32,
    /// Result of the last drag, by pin.
    pub drag: Color32,
    /// Keys in time.
    pub key: Color32,
}

/// Light letters on dark.
pub const DARK: ThemeColors = ThemeColors {
    panel: Color32::from_gray(34),
    faint: Color32::from_gray(40),
    field: Color32::from_gray(16),
    button: Color32::from_gray(54),
    line: Color32::from_gray(58),
    text: Color32::from_gray(206),
    control: Color32::from_gray(220),
    weak: Color32::from_gray(156),
    mark: Color32::from_gray(110),
    error: Color32::from_rgb(255, 128, 116),
    warning: Color32::from_rgb(255, 168, 76),
    accent: Color32::from_rgb(250, 166, 112),
    chosen: Color32::from_rgb(143, 82, 46),
    on_chosen: Color32::WHITE,
    drag: Color32::from_rgb(255, 150, 95),
    key: Color32::from_rgb(240, 200, 90),
};

/// Dark letters on light.
pub const LIGHT: ThemeColors = ThemeColors {
    panel: Color32::from_gray(240),
    faint: Color32::from_gray(232),
    field: Color32::from_gray(255),
    button: Color32::from_gray(224),
    line: Color32::from_gray(200),
    text: Color32::from_gray(44),
    control: Color32::from_gray(32),
    weak: Color32::from_gray(88),
    mark: Color32::from_gray(132),
    error: Color32::from_rgb(176, 20, 20),
    warning: Color32::from_rgb(140, 66, 0),
    accent: Color32::from_rgb(164, 66, 12),
    chosen: Color32::from_rgb(255, 206, 172),
    on_chosen: Color32::from_rgb(96, 40, 8),
    drag: Color32::from_rgb(164, 58, 8),
    key: Color32::from_rgb(124, 80, 0),
};

/// How much of a disabled control is left: as little as its text bears.
const DISABLED_SHARE: f32 = 0.72;

impl ThemeColors {
    /// The colours of the current theme.
    #[must_use]
    pub fn of(visuals: &Visuals) -> Self {
        if visuals.dark_mode { DARK } else { LIGHT }
    }
}

/// Applies both themes.
pub fn apply_theme(ctx: &Context) {
    for theme in [Theme::Dark, Theme::Light] {
        ctx.style_mut_of(theme, |style| apply_style(style, theme));
    }
}

fn apply_style(style: &mut Style, theme: Theme) {
    style.visuals = visuals(theme);
    style.spacing.item_spacing = vec2(8.0, 6.0);
    style.spacing.button_padding = vec2(8.0, 4.0);
    style.spacing.interact_size.y = 22.0;
    style.spacing.slider_width = 100.0;

    // Scroll bars have their own space, so that they cover nothing.
    style.spacing.scroll = ScrollStyle {
        bar_width: 8.0,
        foreground_color: true,
        dormant_background_opacity: 0.0,
        dormant_handle_opacity: 0.35,
        active_handle_opacity: 0.5,
        interact_handle_opacity: 0.8,
        ..ScrollStyle::thin()
    };

    let sizes = [
        (TextStyle::Body, 13.5),
        (TextStyle::Button, 13.5),
        (TextStyle::Small, 11.5),
        (TextStyle::Heading, 16.0),
    ];

    for (text, size) in sizes {
        style.text_styles.insert(text, FontId::proportional(size));
    }
}

fn visuals(theme: Theme) -> Visuals {
    let mut visuals = if theme == Theme::Dark {
        Visuals::dark()
    } else {
        Visuals::light()
    };
    let colors = ThemeColors::of(&visuals);

    visuals.panel_fill = colors.panel;
    visuals.window_fill = colors.panel;
    visuals.faint_bg_color = colors.faint;
    visuals.extreme_bg_color = colors.field;
    visuals.weak_text_color = Some(colors.weak);
    visuals.error_fg_color = colors.error;
    visuals.warn_fg_color = colors.warning;
    visuals.hyperlink_color = colors.accent;
    visuals.disabled_alpha = DISABLED_SHARE;
    visuals.selection.bg_fill = colors.chosen;

    visuals.selection.stroke = Stroke::new(1.0, colors.on_chosen);
    visuals.widgets.noninteractive.bg_stroke = Stroke::new(1.0, colors.line);
    visuals.widgets.noninteractive.fg_stroke.color = colors.text;
    visuals.widgets.inactive.weak_bg_fill = colors.button;
    visuals.widgets.inactive.bg_stroke = Stroke::new(1.0, colors.mark);
    visuals.widgets.inactive.fg_stroke.color = colors.control;
    visuals.slider_trailing_fill = true;

    // Check boxes and sliders use the colour of fields.
    let widgets = &mut visuals.widgets;
    for widget in [
        &mut widgets.inactive,
        &mut widgets.hovered,
        &mut widgets.active,
    ]
    .into_iter()
    {
        widget.bg_fill = colors.field;
    }

    for widget in [
        &mut visuals.widgets.inactive,
        &mut visuals.widgets.hovered,
        &mut visuals.widgets.active,
        &mut visuals.widgets.open,
    ] {
        widget.corner_radius = CornerRadius::same(4);
    }
    visuals
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::Rgba;

    const TEXT: f32 = 4.5;
    const MARK: f32 = 3.0;

    /// The ratio of WCAG: relative luminances, with a little stray light on both.
    fn contrast(a: Color32, b: Color32) -> f32 {
        let light = |color: Color32| {
            let linear = Rgba::from(color);
            0.2126 * linear.r() + 0.7152 * linear.g() + 0.0722 * linear.b() + 0.05
        };
        light(a).max(light(b)) / light(a).min(light(b))
    }

    /// What is left of a colour on a background where a control is disabled; the graphics card
    /// mixes bytes.
    fn disabled(color: Color32, behind: Color32) -> Color32 {
        behind.lerp_to_gamma(color, DISABLED_SHARE)
    }

    fn both() -> [(&'static str, Visuals, ThemeColors); 2] {
        [
            ("dark", visuals(Theme::Dark), DARK),
            ("light", visuals(Theme::Light), LIGHT),
        ]
    }

    #[test]
    fn black_on_white_has_the_contrast_that_the_standard_says() {
        assert!((contrast(Color32::BLACK, Color32::WHITE) - 21.0).abs() < 1e-3);
        assert!(
            (contrast(Color32::from_gray(118), Color32::WHITE) - 4.54).abs() < 0.01,
            "the standard's own example"
        );
    }

    #[test]
    fn text_has_sufficient_contrast() {
        for (theme, visuals, colors) in both() {
            let grounds = [
                ("panel", colors.panel),
                ("faint", colors.faint),
                ("field", colors.field),
            ];

            let texts = [
                ("text", visuals.text_color()),
                ("strong", visuals.strong_text_color()),
                ("weak", visuals.weak_text_color()),
                ("error", visuals.error_fg_color),
                ("warning", visuals.warn_fg_color),
                ("accent", visuals.hyperlink_color),
                ("drag", colors.drag),
                ("key", colors.key),
            ];

            for (ground, behind) in grounds {
                for (name, color) in texts {
                    assert!(
                        contrast(color, behind) >= TEXT,
                        "{theme}: {name} on {ground} is {}",
                        contrast(color, behind)
                    );
                }

                // egui fades disabled text toward the ground.
                let faded = contrast(disabled(visuals.text_color(), behind), behind);
                assert!(faded >= TEXT, "{theme}: disabled on {ground} is {faded}");
            }

            for (name, color) in [
                ("control", visuals.widgets.inactive.text_color()),
                ("key", colors.key),
            ] {
                assert!(
                    contrast(color, visuals.widgets.inactive.weak_bg_fill) >= TEXT,
                    "{theme}: {name} on a button"
                );
            }

            assert!(
                contrast(
                    visuals.widgets.hovered.text_color(),
                    visuals.widgets.hovered.weak_bg_fill
                ) >= TEXT,
                "{theme}: hovered"
            );

            assert!(
                contrast(visuals.selection.stroke.color, visuals.selection.bg_fill) >= TEXT,
                "{theme}: chosen"
            );
        }
    }

    #[test]
    fn a_disabled_button_has_sufficient_contrast() {
        for (theme, visuals, colors) in both() {
            let button = disabled(visuals.widgets.inactive.weak_bg_fill, colors.panel);
            let text = disabled(visuals.widgets.inactive.text_color(), button);
            assert!(
                contrast(text, button) >= TEXT,
                "{theme}: {}",
                contrast(text, button)
            );
        }
    }

    #[test]
    fn check_marks_have_sufficient_contrast() {
        for (theme, visuals, colors) in both() {
            let widgets = &visuals.widgets;
            for (state, widget) in [
                ("still", &widgets.inactive),
                ("hovered", &widgets.hovered),
                ("pressed", &widgets.active),
            ] {
                let outline = widget.bg_stroke.color;
                let tick = widget.fg_stroke.color;
                assert!(
                    contrast(outline, colors.panel) >= MARK,
                    "{theme}: a box, {state}, is {}",
                    contrast(outline, colors.panel)
                );

                assert!(
                    contrast(tick, widget.bg_fill) >= MARK,
                    "{theme}: its tick, {state}, is {}",
                    contrast(tick, widget.bg_fill)
                );
            }

            for (name, icon) in [
                ("icon", colors.weak),
                ("key", colors.key),
                ("accent", colors.accent),
                ("warning", colors.warning),
            ] {
                let faded = contrast(disabled(icon, colors.panel), colors.panel);
                assert!(faded >= MARK, "{theme}: a disabled {name} is {faded}");
            }
        }
    }
}
