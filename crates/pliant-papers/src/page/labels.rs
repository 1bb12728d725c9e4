//! Placement of labels beside the points of a plot.
//!
//! **Problem.** A label should touch its point and cover neither another point nor another label.
//!
//! **Method.** Each label in order takes the first free position around its point: right, left,
//! above, below, and the corners. If none is free it is placed to the right, so that no label is
//! lost.

use super::svg::text_width;

/// An axis-aligned rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Box2 {
    pub(super) min: [f64; 2],
    pub(super) max: [f64; 2],
}

impl Box2 {
    fn meets(&self, other: &Self) -> bool {
        (0..2).all(|axis| self.min[axis] < other.max[axis] && other.min[axis] < self.max[axis])
    }

    fn holds(&self, other: &Self) -> bool {
        (0..2).all(|axis| self.min[axis] <= other.min[axis] && other.max[axis] <= self.max[axis])
    }
}

/// Half of the side of the square around a mark.
const MARK: f64 = 4.5;
/// Free space between a mark and its label.
const GAP: f64 = 3.0;

/// A label on its baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Label<'a> {
    /// The position of its start, middle or end.
    pub(super) place: [f64; 2],
    /// Which of these, in the terms of SVG, so that a label touches its point at any text width.
    pub(super) anchor: &'static str,
    pub(super) text: &'a str,
}

/// Every label with its position.
pub(super) fn place_labels<'a>(
    points: &[([f64; 2], Option<&'a str>)],
    size: f64,
    bounds: &Box2,
) -> Vec<Label<'a>> {
    // All marks are occupied before the first label is placed.
    let mut taken: Vec<Box2> = points
        .iter()
        .map(|([x, y], _)| Box2 {
            min: [x - MARK, y - MARK],
            max: [x + MARK, y + MARK],
        })
        .collect();

    let mut placed = Vec::new();
    for (point, label) in points {
        let Some(label) = *label else { continue };
        let places = places_around(*point, [text_width(label, size), size]);
        let free = places.iter().find(|(place, _)| {
            bounds.holds(place) && !taken.iter().any(|other| other.meets(place))
        });
        let (place, anchor) = *free.unwrap_or(&places[0]);

        let x = match anchor {
            "start" => place.min[0],
            "end" => place.max[0],
            _ => 0.5 * (place.min[0] + place.max[0]),
        };

        // The baseline is above the lower side by the descent of letters such as g.
        placed.push(Label {
            place: [x, place.max[1] - 0.2 * size],
            anchor,
            text: label,
        });

        taken.push(place);
    }

    placed
}

fn places_around([x, y]: [f64; 2], [width, height]: [f64; 2]) -> [(Box2, &'static str); 8] {
    let (right, left, middle) = (x + MARK + GAP, x - MARK - GAP - width, x - 0.5 * width);
    let (above, below, level) = (y - MARK - GAP - height, y + MARK + GAP, y - 0.5 * height);
    let corners = [
        ([right, level], "start"),
        ([left, level], "end"),
        ([middle, above], "middle"),
        ([middle, below], "middle"),
        ([right - MARK, above], "start"),
        ([right - MARK, below], "start"),
        ([left + MARK, above], "end"),
        ([left + MARK, below], "end"),
    ];

    corners.map(|([x, y], anchor)| {
        (
            Box2 {
                min: [x, y],
                max: [x + width, y + height],
            },
            anchor,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Box2 = Box2 {
        min: [0.0, 0.0],
        max: [400.0, 300.0],
    };

    fn boxes(placed: &[Label<'_>], size: f64) -> Vec<Box2> {
        let corner = |label: &Label<'_>| {
            let width = text_width(label.text, size);
            let before = match label.anchor {
                "start" => 0.0,
                "middle" => 0.5,
                _ => 1.0,
            };

            let left = label.place[0] - before * width;
            // A hair smaller, for rounding.
            Box2 {
                min: [left + 1e-9, label.place[1] - 0.8 * size + 1e-9],
                max: [left + width - 1e-9, label.place[1] + 0.2 * size - 1e-9],
            }
        };
        placed.iter().map(corner).collect()
    }

    #[test]
    fn labels_of_near_points_do_not_cover_each_other() {
        let points = [
            ([100.0, 100.0], Some("first")),
            ([112.0, 102.0], Some("second")),
            ([106.0, 90.0], Some("third")),
        ];
        let placed = place_labels(&points, 11.0, &BOUNDS);
        let boxes = boxes(&placed, 11.0);

        for (k, a) in boxes.iter().enumerate() {
            assert!(boxes[k + 1..].iter().all(|b| !a.meets(b)), "{boxes:?}");
            assert!(BOUNDS.holds(a));
        }
    }

    #[test]
    fn a_label_at_the_right_side_is_placed_to_the_left() {
        let placed = place_labels(&[([395.0, 100.0], Some("a long name"))], 11.0, &BOUNDS);
        assert!(BOUNDS.holds(&boxes(&placed, 11.0)[0]), "{placed:?}");
    }

    #[test]
    fn no_label_is_lost_where_there_is_no_room() {
        let points = vec![([5.0, 5.0], Some("crowd")); 30];
        assert_eq!(place_labels(&points, 11.0, &BOUNDS).len(), 30);
    }
}
