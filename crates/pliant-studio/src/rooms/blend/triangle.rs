//! Weights of three shapes as a point in a triangle.
//!
//! **Equation.** A point `p = Σ wₖ cₖ` of the triangle with corners `c` stands for the weights `w`,
//! which sum to one; a point outside stands for the nearest one inside.

use eframe::egui::{
    Align2, Color32, FontId, Key, Pos2, Rect, Response, Role, Sense, Shape, Stroke, Ui, Vec2,
    WidgetInfo, pos2, vec2,
};

/// Room for the names of the corners.
const MARGIN: Vec2 = vec2(8.0, 20.0);
/// Step of an arrow key, in sides of the triangle.
const KEY_STEP: f32 = 0.02;

/// A triangle in which a point is dragged; returns its weights while they change.
pub(super) fn triangle_ui(
    ui: &mut Ui,
    label: &str,
    names: [&str; 3],
    weights: [f64; 3],
) -> Option<[f64; 3]> {
    let width = ui.available_width().min(240.0);
    let (rect, response) =
        ui.allocate_exact_size(vec2(width, 0.8 * width), Sense::click_and_drag());
    let description = names
        .iter()
        .zip(weights)
        .map(|(name, w)| format!("{name} {:.0} %", 100.0 * w))
        .collect::<Vec<_>>()
        .join(", ");

    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::Slider, ui.is_enabled(), label);
        info.current_text_value = Some(description.clone());
        info
    });

    let corners = corners(rect.shrink2(MARGIN));
    paint(ui, &response, corners, names, place_of(weights, corners));
    let moved = response
        .interact_pointer_pos()
        .filter(|_| response.is_pointer_button_down_on() || response.clicked());
    // With the keyboard the point moves in steps.
    let moved = moved.or_else(|| keyed(ui, &response, place_of(weights, corners), corners));
    let response = response.on_hover_text("Drag the point between the shapes; arrow keys move it");

    moved
        .map(|place| weights_at(place, corners))
        .filter(|moved| response.enabled() && *moved != weights)
}

fn corners(rect: Rect) -> [Pos2; 3] {
    [
        rect.left_bottom(),
        pos2(rect.center().x, rect.top()),
        rect.right_bottom(),
    ]
}

/// Where the arrow keys take the point while the triangle has the focus.
fn keyed(ui: &Ui, response: &Response, place: Pos2, corners: [Pos2; 3]) -> Option<Pos2> {
    if !response.has_focus() {
        return None;
    }

    let step = KEY_STEP * corners[0].distance(corners[2]);
    let directions = [
        (Key::ArrowLeft, -Vec2::X),
        (Key::ArrowRight, Vec2::X),
        (Key::ArrowUp, -Vec2::Y),
        (Key::ArrowDown, Vec2::Y),
    ];

    let direction: Vec2 = ui.input(|input| {
        directions
            .iter()
            .filter(|(key, _)| input.key_pressed(*key))
            .fold(Vec2::ZERO, |sum, (_, direction)| sum + *direction)
    });

    // Without this filter egui would move the focus with the arrow keys.
    ui.memory_mut(|memory| {
        let all = eframe::egui::EventFilter {
            horizontal_arrows: true,
            vertical_arrows: true,
            ..Default::default()
        };
        memory.set_focus_lock_filter(response.id, all);
    });

    (direction != Vec2::ZERO).then(|| place + direction * step)
}

fn paint(ui: &Ui, response: &Response, corners: [Pos2; 3], names: [&str; 3], place: Pos2) {
    let visuals = ui.visuals();
    let painter = ui.painter();
    let line = Stroke::new(1.5, visuals.widgets.inactive.fg_stroke.color);
    let faint = Stroke::new(1.0, visuals.weak_text_color().gamma_multiply(0.5));
    painter.add(Shape::convex_polygon(
        corners.to_vec(),
        visuals.extreme_bg_color,
        line,
    ));

    // Medians, and lines from the point to the corners.
    for k in 0..3 {
        painter.line_segment(
            [
                corners[k],
                corners[(k + 1) % 3] + (corners[(k + 2) % 3] - corners[(k + 1) % 3]) * 0.5,
            ],
            faint,
        );
        painter.line_segment(
            [place, corners[k]],
            Stroke::new(1.0, visuals.selection.bg_fill.gamma_multiply(0.8)),
        );
    }

    let font = FontId::proportional(12.0);
    let places = [
        (corners[0] + vec2(-4.0, 4.0), Align2::LEFT_TOP),
        (corners[1] + vec2(0.0, -4.0), Align2::CENTER_BOTTOM),
        (corners[2] + vec2(4.0, 4.0), Align2::RIGHT_TOP),
    ];

    for ((at, align), name) in places.into_iter().zip(names) {
        painter.text(at, align, name, font.clone(), visuals.text_color());
    }

    let ring = if response.has_focus() || response.hovered() {
        visuals.strong_text_color()
    } else {
        Color32::from_gray(30)
    };

    painter.circle(
        place,
        7.0,
        Color32::from_rgb(255, 140, 60),
        Stroke::new(2.0, ring),
    );
}

/// Where weights lie.
fn place_of(weights: [f64; 3], corners: [Pos2; 3]) -> Pos2 {
    let sum = weights
        .iter()
        .zip(corners)
        .fold(Vec2::ZERO, |sum, (w, c)| sum + c.to_vec2() * *w as f32);
    sum.to_pos2()
}

/// The weights of the point of the triangle that is nearest to a place.
fn weights_at(place: Pos2, corners: [Pos2; 3]) -> [f64; 3] {
    let weights = barycentric(place, corners);
    if weights.iter().all(|&w| w >= 0.0) {
        return weights;
    }

    // Outside, the nearest point of the three sides counts.
    let sides = [[0, 1], [1, 2], [2, 0]].map(|[a, b]| {
        let along = corners[b] - corners[a];
        let share = ((place - corners[a]).dot(along) / along.length_sq()).clamp(0.0, 1.0);
        let mut weights = [0.0; 3];
        (weights[a], weights[b]) = (1.0 - f64::from(share), f64::from(share));
        ((corners[a] + along * share).distance(place), weights)
    });

    sides
        .into_iter()
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(weights, |side| side.1)
}

fn barycentric(place: Pos2, [a, b, c]: [Pos2; 3]) -> [f64; 3] {
    let cross =
        |u: Vec2, v: Vec2| f64::from(u.x) * f64::from(v.y) - f64::from(u.y) * f64::from(v.x);
    let whole = cross(b - a, c - a);
    let v = cross(place - a, c - a) / whole;
    let w = cross(b - a, place - a) / whole;
    [1.0 - v - w, v, w]
}

/// Weights after one of them was set: the others keep their ratio, or share evenly where they had
/// nothing.
#[must_use]
pub(super) fn with_weight(weights: &[f64], changed: usize, weight: f64) -> Vec<f64> {
    let weight = weight.clamp(0.0, 1.0);
    let others: f64 = weights
        .iter()
        .enumerate()
        .filter(|(k, _)| *k != changed)
        .map(|(_, w)| w)
        .sum();

    let rest = 1.0 - weight;
    let even = rest / (weights.len().max(2) - 1) as f64;
    let share = |k: usize| {
        // The others keep their ratio; without weight they share evenly.
        if others > 0.0 {
            weights[k] * rest / others
        } else {
            even
        }
    };

    (0..weights.len())
        .map(|k| if k == changed { weight } else { share(k) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [Pos2; 3] = [pos2(10.0, 90.0), pos2(60.0, 10.0), pos2(110.0, 90.0)];

    #[test]
    fn weights_are_restored_from_their_point() {
        for weights in [[0.2, 0.5, 0.3], [1.0, 0.0, 0.0], [1.0 / 3.0; 3]] {
            let found = weights_at(place_of(weights, CORNERS), CORNERS);
            assert!(
                found.iter().zip(weights).all(|(a, b)| (a - b).abs() < 1e-5),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_point_outside_has_the_weights_of_the_nearest_inside() {
        for place in [
            pos2(60.0, 300.0),
            pos2(-50.0, 95.0),
            pos2(200.0, 0.0),
            pos2(60.0, -4.0),
        ] {
            let weights = weights_at(place, CORNERS);
            assert!(
                weights.iter().all(|w| (0.0..=1.0).contains(w))
                    && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-12
            );

            let nearest = place_of(weights, CORNERS).distance(place);
            // No point of a grid on the triangle is nearer.
            for a in 0..=20 {
                for b in 0..=20 - a {
                    let other = [
                        f64::from(a) / 20.0,
                        f64::from(b) / 20.0,
                        f64::from(20 - a - b) / 20.0,
                    ];
                    assert!(place_of(other, CORNERS).distance(place) >= nearest - 1e-3);
                }
            }
        }
    }

    #[test]
    fn other_weights_keep_their_ratio() {
        let made = with_weight(&[0.2, 0.6, 0.2], 2, 0.6);
        assert!(
            made.iter()
                .zip([0.1, 0.3, 0.6])
                .all(|(a, b)| (a - b).abs() < 1e-12),
            "{made:?}"
        );
        assert_eq!(with_weight(&[1.0, 0.0, 0.0], 0, 0.5), [0.5, 0.25, 0.25]);
        assert_eq!(with_weight(&[0.3, 0.7], 1, 2.0), [0.0, 1.0]);
    }
}
