//! Small icon buttons, drawn without a font.

use eframe::egui::{
    Align2, Color32, FontId, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, StrokeKind,
    Ui, Vec2, WidgetInfo, pos2, vec2,
};

/// Contents of a button.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Icon {
    Lock,
    OpenLock,
    Letter(&'static str),
    Diamond { filled: bool },
    Play,
    Pause,
    ToStart,
    ToEnd,
    Previous,
    Next,
    Loop,
    Cross,
    Eye { open: bool },
}

/// The side of a small button.
pub(crate) const SMALL: Vec2 = Vec2::splat(18.0);

/// A button called `label`; `lit` in a colour while it is on.
pub(crate) fn icon_button(
    ui: &mut Ui,
    icon: Icon,
    label: &str,
    size: Vec2,
    highlighted: Option<Color32>,
) -> Response {
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| {
        WidgetInfo::selected(Role::Button, ui.is_enabled(), highlighted.is_some(), label)
    });

    if ui.is_rect_visible(rect) {
        let visuals = ui.style().interact(&response);
        if response.hovered() || response.has_focus() {
            ui.painter().rect_filled(rect, 3.0, visuals.weak_bg_fill);
        }

        // A lit icon has its own colour, others react to the pointer.
        let color = match highlighted {
            Some(color) => color,
            None if response.hovered() => visuals.text_color(),
            None => ui.visuals().weak_text_color(),
        };

        paint(ui.painter(), rect, icon, color);
    }
    response
}

/// A key as a diamond.
pub(crate) fn diamond(center: Pos2, radius: f32, fill: Color32, stroke: Stroke) -> Shape {
    let corners = [
        vec2(0.0, -radius),
        vec2(radius, 0.0),
        vec2(0.0, radius),
        vec2(-radius, 0.0),
    ]
    .map(|d| center + d);
    Shape::convex_polygon(corners.to_vec(), fill, stroke)
}

fn paint(painter: &Painter, rect: Rect, icon: Icon, color: Color32) {
    let c = rect.center();
    let r = 0.26 * rect.height();
    let line = Stroke::new(1.4, color);
    // A negative `d` points to the left.
    let triangle = |x: f32, d: f32| {
        let corners = vec![
            pos2(x - 0.6 * d, c.y - r),
            pos2(x + 0.7 * d, c.y),
            pos2(x - 0.6 * d, c.y + r),
        ];
        Shape::convex_polygon(corners, color, Stroke::NONE)
    };

    let bar = |x: f32| {
        Shape::line_segment(
            [pos2(x, c.y - r), pos2(x, c.y + r)],
            Stroke::new(1.8, color),
        )
    };

    match icon {
        Icon::Lock | Icon::OpenLock => lock(painter, c, r, icon == Icon::Lock, color),
        Icon::Letter(letter) => {
            painter.text(
                c,
                Align2::CENTER_CENTER,
                letter,
                FontId::proportional(11.0),
                color,
            );
        }
        Icon::Diamond { filled } => {
            painter.add(diamond(
                c,
                1.1 * r,
                if filled { color } else { Color32::TRANSPARENT },
                line,
            ));
        }
        Icon::Play => {
            painter.add(triangle(c.x, 1.4 * r));
        }
        Icon::Pause => painter.extend([bar(c.x - 0.6 * r), bar(c.x + 0.6 * r)]),
        Icon::ToStart => painter.extend([bar(c.x - r), triangle(c.x + 0.2 * r, -1.2 * r)]),
        Icon::ToEnd => painter.extend([bar(c.x + r), triangle(c.x - 0.2 * r, 1.2 * r)]),
        Icon::Previous => painter.extend([
            triangle(c.x + 0.5 * r, -r),
            diamond(c - vec2(0.9 * r, 0.0), 0.5 * r, color, Stroke::NONE),
        ]),
        Icon::Next => painter.extend([
            triangle(c.x - 0.5 * r, r),
            diamond(c + vec2(0.9 * r, 0.0), 0.5 * r, color, Stroke::NONE),
        ]),
        Icon::Eye { open } => eye(painter, c, r, open, color),
        Icon::Loop => circular_arrow(painter, c, r, color),
        Icon::Cross => painter.extend(
            [vec2(0.7 * r, 0.7 * r), vec2(0.7 * r, -0.7 * r)]
                .map(|d| Shape::line_segment([c - d, c + d], line)),
        ),
    }
}

fn lock(painter: &Painter, c: Pos2, r: f32, shut: bool, color: Color32) {
    let body = Rect::from_center_size(c + vec2(0.0, 0.45 * r), vec2(1.7 * r, 1.25 * r));
    let line = Stroke::new(1.3, color);
    if shut {
        painter.rect_filled(body, 1.0, color);
    } else {
        painter.rect_stroke(body, 1.0, line, StrokeKind::Inside);
    }

    let top = body.top() - 0.9 * r;
    let side = 0.5 * r;
    // An open lock has one leg above its body.
    let foot = if shut {
        body.top()
    } else {
        body.top() - 0.35 * r
    };

    let bow = vec![
        pos2(c.x - side, body.top()),
        pos2(c.x - side, top + 0.3 * r),
        pos2(c.x, top),
        pos2(c.x + side, top + 0.3 * r),
        pos2(c.x + side, foot),
    ];

    painter.add(Shape::line(bow, line));
}

/// Two lids with a pupil between them; closed, the lower lid alone.
fn eye(painter: &Painter, c: Pos2, r: f32, open: bool, color: Color32) {
    let lid = |height: f32| {
        let at = |k: i32| {
            let x = k as f32 / 6.0;
            c + vec2(1.5 * r * x, height * (1.0 - x * x))
        };
        Shape::line((-6..=6).map(at).collect(), Stroke::new(1.3, color))
    };
    painter.add(lid(0.9 * r));
    if open {
        painter.add(lid(-0.9 * r));
        painter.circle_filled(c, 0.4 * r, color);
    }
}

/// Three quarters of a circle with a point at its end.
fn circular_arrow(painter: &Painter, c: Pos2, r: f32, color: Color32) {
    let at = |k: f32| {
        c + 1.1
            * r
            * vec2(
                (k * std::f32::consts::TAU).cos(),
                (k * std::f32::consts::TAU).sin(),
            )
    };

    painter.add(Shape::line(
        (0..=18).map(|k| at(0.05 + 0.8 * k as f32 / 18.0)).collect(),
        Stroke::new(1.5, color),
    ));

    let end = at(0.88);
    painter.add(Shape::convex_polygon(
        vec![
            end + vec2(-0.7 * r, 0.1 * r),
            end + vec2(0.5 * r, 0.6 * r),
            end + vec2(0.5 * r, -0.6 * r),
        ],
        color,
        Stroke::NONE,
    ));
}
