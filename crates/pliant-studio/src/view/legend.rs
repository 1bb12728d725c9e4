//! The legend of a heat map: title, colour bar and round numbers.

use eframe::egui::epaint::{Mesh as Patch, Vertex, WHITE_UV};
use eframe::egui::{
    Align2, CornerRadius, FontId, Painter, Pos2, Rect, Stroke, StrokeKind, Vec2, pos2, vec2,
};

use super::scene::color32;
use crate::engine::heat::{Heat, HeatMap};

/// Width of a legend's bar.
const BAR_WIDTH: f32 = 12.0;
/// Strips of colour in a bar: no step shows.
const STRIPS: usize = 64;
/// The size of a legend that reads well.
pub const LEGEND_SIZE: Vec2 = vec2(84.0, 190.0);

/// Draws a legend into a rectangle: the title above, the bar at its right side, round numbers
/// beside the bar.
pub fn legend_ui(painter: &Painter, rect: Rect, heat: &Heat) {
    let visuals = painter
        .ctx()
        .style_of(painter.ctx().theme())
        .visuals
        .clone();
    let text = visuals.text_color();
    let faint = visuals.weak_text_color();
    let font = FontId::proportional(12.0);

    // A translucent background keeps the numbers readable over the mesh.
    painter.rect_filled(
        rect.expand(8.0),
        CornerRadius::same(6),
        visuals.window_fill.gamma_multiply(0.72),
    );

    let title = painter.text(
        rect.right_top(),
        Align2::RIGHT_TOP,
        heat.title(),
        font.clone(),
        text,
    );

    let bar = Rect::from_min_max(
        pos2(rect.right() - BAR_WIDTH, title.bottom() + 8.0),
        rect.right_bottom(),
    );

    painter.add(bar_patch(bar, heat.map));
    painter.rect_stroke(
        bar,
        CornerRadius::same(2),
        Stroke::new(1.0, faint.gamma_multiply(0.6)),
        StrokeKind::Outside,
    );

    for (value, label) in heat.ticks() {
        let share = heat.scalar_range().position(value) as f32;
        let place = pos2(bar.left(), bar.bottom() - share * bar.height());
        painter.line_segment([place - vec2(4.0, 0.0), place], Stroke::new(1.0, faint));
        painter.text(
            place - vec2(7.0, 0.0),
            Align2::RIGHT_CENTER,
            label,
            font.clone(),
            text,
        );
    }
}

/// The colour map from the lower to the upper end of a rectangle.
fn bar_patch(rect: Rect, map: HeatMap) -> Patch {
    let mut patch = Patch::default();
    for k in 0..=STRIPS {
        let share = k as f32 / STRIPS as f32;
        let y = rect.bottom() - share * rect.height();
        let color = color32(map.color(f64::from(share)));
        // Two vertices per strip; the colours are interpolated between them.
        let corner = |x: f32| Vertex {
            pos: Pos2::new(x, y),
            uv: WHITE_UV,
            color,
        };

        patch
            .vertices
            .extend([corner(rect.left()), corner(rect.right())]);

        if k > 0 {
            let first = 2 * k as u32 - 2;
            patch.add_triangle(first, first + 1, first + 2);
            patch.add_triangle(first + 1, first + 2, first + 3);
        }
    }
    patch
}
