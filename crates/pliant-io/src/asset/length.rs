//! Check of typed lengths: a radius, a collider or a width against the size of the model.
//!
//! **Problem.** Lengths are in the units of the asset. A user who thinks in metres types 0.04 for a
//! head of 30 units, and a patch of one vertex moves.
//!
//! **Method.** A length that is a usual share of the diagonal of the bounds is accepted. For any
//! other, the message names the size of the model, and the length that is probably meant: the
//! typed number as metres, centimetres or millimetres, or without a known unit the typed number
//! times a power of ten, if that is a usual share of the diagonal.

use super::Asset;

/// The smallest usual length over the diagonal. *Chosen*: a patch of 3 mm on a body of 1.8 m.
const LEAST_SHARE: f64 = 1.0 / 600.0;

/// The largest usual length over the diagonal. *Chosen*: a radius around the whole model.
const GREATEST_SHARE: f64 = 4.0;

/// The share around which lengths are usual, to choose among readings of a number.
const TYPICAL_SHARE: f64 = 0.1;

/// Factors of readings if the unit is unknown: files in metres, centimetres or millimetres.
const UNKNOWN_UNIT_FACTORS: [f64; 4] = [100.0, 0.01, 1000.0, 0.001];

impl Asset {
    /// A warning if `length`, which a user typed for `what`, is far from the size of the model.
    #[must_use]
    pub fn length_warning(&self, what: &str, length: f64) -> Option<String> {
        let diagonal = self.bounds()?.diagonal();
        let share = length / diagonal;
        if !(length > 0.0 && share.is_finite()) || is_usual(share) {
            return None;
        }

        let size = if share < 1.0 { "small" } else { "large" };
        let unit = match self.meters_per_unit {
            Some(unit) => format!(" (one unit is {} m)", digits(unit)),
            None => String::new(),
        };
        let intended = match self.intended(length, diagonal) {
            Some(intended) => format!("; did you mean {}?", digits(intended)),
            None => String::new(),
        };
        Some(format!(
            "{what} {} is very {size} for this model, whose diagonal is {} units{unit}{intended}",
            digits(length),
            digits(diagonal)
        ))
    }

    /// As [`length_warning`](Self::length_warning), for a length that may exceed the model, such as
    /// that of a floor.
    #[must_use]
    pub fn small_length_warning(&self, what: &str, length: f64) -> Option<String> {
        let diagonal = self.bounds()?.diagonal();
        self.length_warning(what, length.min(diagonal))
    }

    /// The reading of a typed number whose share of the diagonal is the most typical one.
    fn intended(&self, length: f64, diagonal: f64) -> Option<f64> {
        let readings: Vec<f64> = match self.meters_per_unit {
            // The number was meant in metres, centimetres or millimetres.
            Some(unit) => [1.0, 0.01, 0.001].map(|m| length * m / unit).to_vec(),
            None => UNKNOWN_UNIT_FACTORS.map(|f| length * f).to_vec(),
        };
        let atypical = |reading: f64| (reading / diagonal / TYPICAL_SHARE).ln().abs();
        readings
            .into_iter()
            .filter(|reading| is_usual(reading / diagonal))
            .min_by(|a, b| atypical(*a).total_cmp(&atypical(*b)))
    }
}

fn is_usual(share: f64) -> bool {
    (LEAST_SHARE..=GREATEST_SHARE).contains(&share)
}

/// A number with three significant digits.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let decimals = (2.0 - value.abs().log10().floor()).clamp(0.0, 300.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::DVec3;

    use super::*;

    /// A model with the diagonal `size`.
    fn model(size: f64, meters_per_unit: Option<f64>) -> Asset {
        let positions = vec![DVec3::ZERO, DVec3::X * size, DVec3::X * 0.5 * size];
        let mut asset = Asset::from_mesh(Mesh::from_triangles(positions, &[[0, 1, 2]]).unwrap());
        asset.meters_per_unit = meters_per_unit;
        asset
    }

    #[test]
    fn metres_on_a_head_in_centimetres_are_recognised() {
        let warning = model(30.0, Some(0.01)).length_warning("--radius", 0.04);
        assert_eq!(
            warning.unwrap(),
            "--radius 0.04 is very small for this model, whose diagonal is 30 units (one unit is \
             0.01 m); did you mean 4?"
        );
    }

    #[test]
    fn centimetres_on_a_head_in_metres_are_recognised() {
        let warning = model(0.3, Some(1.0))
            .length_warning("--radius", 4.0)
            .unwrap();
        assert!(
            warning.contains("is very large for this model"),
            "{warning}"
        );
        assert!(warning.ends_with("; did you mean 0.04?"), "{warning}");
    }

    #[test]
    fn without_a_unit_powers_of_ten_are_tried() {
        let warning = model(300.0, None).length_warning("--radius", 0.04).unwrap();
        assert!(
            warning.contains("300 units") && warning.ends_with("; did you mean 40?"),
            "{warning}"
        );
    }

    #[test]
    fn usual_lengths_and_models_without_size_give_no_warning() {
        let head = model(30.0, Some(0.01));
        for length in [0.06, 0.5, 4.0, 30.0, 100.0] {
            assert_eq!(head.length_warning("--radius", length), None, "{length}");
        }
        assert_eq!(model(0.0, None).length_warning("--radius", 1.0), None);
        assert_eq!(Asset::default().length_warning("--radius", 1.0), None);
        assert_eq!(head.small_length_warning("--collider", 1e6), None);
    }

    #[test]
    fn a_scaled_scene_gets_the_same_judgement() {
        for scale in [1e-3, 1.0, 1e4] {
            let model = model(30.0 * scale, None);
            assert!(model.length_warning("--radius", 0.04 * scale).is_some());
            assert!(model.length_warning("--radius", 0.4 * scale).is_none());
        }
    }
}
