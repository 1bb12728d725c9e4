//! Panels around the viewports that keep the size that the user gave them.
//!
//! **Implementation.** The chosen size and the shown size are separate: a small window reduces the
//! panel, and the panel gets its chosen size back with the window.

use eframe::egui::{CursorIcon, Id, Panel, Rangef, Rect, Role, Sense, Stroke, Ui, WidgetInfo};

use crate::engine::storage::preferences::PanelSizes;

/// Where a panel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Edge {
    /// Tools.
    Left,
    /// Options and sliders.
    Right,
    /// The timeline.
    Bottom,
}

/// How wide the panels beside the picture can be.
const WIDTHS: Rangef = Rangef {
    min: 180.0,
    max: 420.0,
};
/// How high the timeline can be.
const HEIGHTS: Rangef = Rangef {
    min: 84.0,
    max: 600.0,
};
/// The most of the window that a panel takes.
const MOST_WIDTH: f32 = 0.32;
const MOST_HEIGHT: f32 = 0.6;
/// How wide the border is for the user; it lies in the panel's margin.
const GRIP: f32 = 6.0;

impl Edge {
    /// What its border is called.
    fn label(self) -> &'static str {
        match self {
            Self::Left => "Width of the tools",
            Self::Right => "Width of the options",
            Self::Bottom => "Height of the timeline",
        }
    }

    fn panel(self) -> Panel {
        match self {
            Self::Left => Panel::left("tools"),
            Self::Right => Panel::right("options"),
            Self::Bottom => Panel::bottom("timeline"),
        }
    }

    /// The sizes that a panel may have.
    fn sizes(self) -> Rangef {
        match self {
            Self::Left | Self::Right => WIDTHS,
            Self::Bottom => HEIGHTS,
        }
    }

    /// The usual size.
    fn default_size(self) -> f32 {
        let default_size = PanelSizes::default();
        match self {
            Self::Left => default_size.tools,
            Self::Right => default_size.options,
            Self::Bottom => default_size.timeline,
        }
    }

    /// What is shown of a size that was requested: not less than the contents need, not so much
    /// that no picture is left.
    fn shown(self, wanted: f32, needed: f32, window: f32) -> f32 {
        let share = if self == Self::Bottom {
            MOST_HEIGHT
        } else {
            MOST_WIDTH
        };
        let Rangef { min, max } = self.sizes();

        let wanted = if wanted.is_finite() {
            wanted
        } else {
            self.default_size()
        };

        wanted
            .clamp(min, max)
            .max(needed)
            .min((share * window).max(min))
    }

    /// The strip of a panel that the user takes.
    fn border(self, panel: Rect) -> Rect {
        match self {
            Self::Left => panel.with_min_x(panel.right() - GRIP),
            Self::Right => panel.with_max_x(panel.left() + GRIP),
            Self::Bottom => panel.with_max_y(panel.top() + GRIP),
        }
    }
}

/// A panel of the size `wanted`, which a drag of its border changes and a double click makes the
/// usual one. `needed` is the least that its contents can do with.
pub fn resizable_panel_ui(
    ui: &mut Ui,
    edge: Edge,
    wanted: &mut f32,
    needed: f32,
    contents: impl FnOnce(&mut Ui),
) {
    let window = ui.ctx().content_rect();
    let shown = edge.shown(
        *wanted,
        needed,
        if edge == Edge::Bottom {
            window.height()
        } else {
            window.width()
        },
    );

    let panel = edge
        .panel()
        .exact_size(shown)
        .resizable(false)
        .show(ui, contents)
        .response
        .rect;

    let border = edge.border(panel);
    let response = ui.interact(border, Id::unique(("sash", edge)), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Splitter, true, edge.label()));

    if let Some(pointer) = response
        .interact_pointer_pos()
        .filter(|_| response.dragged())
    {
        // The pointer is the new border.
        let size = match edge {
            Edge::Left => pointer.x - panel.left(),
            Edge::Right => panel.right() - pointer.x,
            Edge::Bottom => panel.bottom() - pointer.y,
        };
        *wanted = edge.sizes().clamp(size);
    }

    // A double click restores the default size.
    if response.double_clicked() {
        *wanted = edge.default_size();
    }

    if response.hovered() || response.dragged() {
        edge.paint_border(ui, border);
    }
}

impl Edge {
    /// The border that is hovered or dragged.
    fn paint_border(self, ui: &Ui, border: Rect) {
        let edge = self;
        ui.ctx().set_cursor_icon(if edge == Edge::Bottom {
            CursorIcon::ResizeVertical
        } else {
            CursorIcon::ResizeHorizontal
        });

        let stroke = Stroke::new(2.0, ui.visuals().hyperlink_color);
        let ends = match edge {
            Edge::Left => [border.right_top(), border.right_bottom()],
            Edge::Right => [border.left_top(), border.left_bottom()],
            Edge::Bottom => [border.left_top(), border.right_top()],
        };

        ui.painter().line_segment(ends, stroke);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_recovers_its_size_with_the_window() {
        let wanted = 400.0;
        assert_eq!(
            [1600.0, 800.0, 1600.0].map(|window| Edge::Right.shown(wanted, 0.0, window)),
            [400.0, 256.0, 400.0]
        );
    }

    #[test]
    fn panels_leave_most_of_the_window_and_never_vanish() {
        for window in [640.0, 960.0, 1440.0, 3840.0] {
            let both = Edge::Left.shown(9e9, 0.0, window) + Edge::Right.shown(9e9, 0.0, window);
            assert!(
                both <= 0.65 * window && both >= 2.0 * WIDTHS.min,
                "{both} of {window}"
            );
        }
        for wild in [f32::NAN, f32::INFINITY, -3.0] {
            assert!((WIDTHS.min..=WIDTHS.max).contains(&Edge::Left.shown(wild, 0.0, 1440.0)));
        }
    }

    #[test]
    fn the_needed_size_precedes_the_chosen_size() {
        assert_eq!(Edge::Bottom.shown(90.0, 150.0, 900.0), 150.0);
        assert_eq!(Edge::Bottom.shown(90.0, 500.0, 500.0), 300.0);
    }
}
