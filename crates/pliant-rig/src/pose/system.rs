//! Pins and sliders as a small system of equations.
//!
//! **Problem.** Dragging moves a handful of points; only the rows of the rig at those points
//! matter.
//!
//! **Equation.** `B̄ Δw = m`: `B̄` holds, for each pin, the three rows of the rig's derivative by its
//! sliders, and `m` the displacements of the pins from the current pose. Rows are projected onto
//! the coordinates that a pin asks for and multiplied by the root of its stiffness.
//!
//! **Source.** Çetinaslan, thesis, 2016, section 3.2.3: `B̄` are "the corresponding rows" of eq.
//! 3.2.
//!
//! **Ours.** Through in-betweens and combinations `B̄` is taken at the current weights, `B̄ = R
//! ∂φ/∂w` with the rows `R` of the shapes.

use pliant_mesh::glam::{DMat3, DVec3};

use super::Poser;
use crate::{Pin, Rig, RigError, Support};

/// The rows of a rig at its pins, at one pose.
#[derive(Debug)]
pub struct PinSystem<'p> {
    poser: &'p Poser<'p>,
    pins: Vec<Pin>,
    weights: Vec<f64>,
    /// Displacements of the pins by each shape: shape by shape, pin by pin.
    shape_rows: Vec<DVec3>,
    /// Coefficients of the shapes at `weights`.
    coefficients: Vec<f64>,
    /// Where the pins are at `weights`.
    places: Vec<DVec3>,
}

/// A system at given weights and goals, projected and weighted: `columns · Δw ≈ wanted`.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// Slider by slider, three numbers for each pin.
    pub(crate) columns: Vec<f64>,
    /// Three numbers for each pin.
    pub(crate) wanted: Vec<f64>,
}

impl Measured {
    pub(crate) fn rows(&self) -> usize {
        self.wanted.len()
    }

    pub(crate) fn column(&self, slider: usize) -> &[f64] {
        &self.columns[slider * self.rows()..][..self.rows()]
    }

    pub(crate) fn slider_count(&self) -> usize {
        self.columns.len() / self.rows().max(1)
    }
}

impl<'p> PinSystem<'p> {
    pub(super) fn new(
        poser: &'p Poser<'p>,
        weights: &[f64],
        pins: &[Pin],
    ) -> Result<Self, RigError> {
        let rig = poser.rig();
        pins.iter().try_for_each(|pin| pin.check(rig.neutral()))?;
        if weights.len() > rig.targets().len() {
            return Err(RigError::SliderCount {
                found: weights.len(),
                expected: rig.targets().len(),
            });
        }
        let mut weights = weights.to_vec();
        weights.resize(rig.targets().len(), 0.0);
        if let Some(slider) = weights.iter().position(|w| !w.is_finite()) {
            return Err(RigError::BadWeight {
                name: rig.targets()[slider].name.clone(),
            });
        }
        let supports: Vec<Support> = pins.iter().map(|pin| pin.support(rig.neutral())).collect();
        let shape_rows: Vec<DVec3> = rig
            .shapes()
            .flat_map(|shape| {
                supports
                    .iter()
                    .map(move |support| support.displacement(shape))
            })
            .collect();
        let coefficients = rig.activation().coefficients(&weights);
        let rest = supports
            .iter()
            .map(|support| support.of(rig.neutral().positions()));
        let mut places: Vec<DVec3> = rest.collect();
        for (row, &coefficient) in shape_rows
            .chunks_exact(pins.len().max(1))
            .zip(&coefficients)
            .filter(|(_, c)| **c != 0.0)
        {
            places
                .iter_mut()
                .zip(row)
                .for_each(|(place, d)| *place += *d * coefficient);
        }
        Ok(Self {
            poser,
            pins: pins.to_vec(),
            weights,
            shape_rows,
            coefficients,
            places,
        })
    }

    /// The rig.
    #[must_use]
    pub fn rig(&self) -> &'p Rig {
        self.poser.rig()
    }

    /// What the rig is prepared with.
    #[must_use]
    pub fn poser(&self) -> &'p Poser<'p> {
        self.poser
    }

    /// The pins.
    #[must_use]
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }

    /// The weights that solves start from.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Where the pins are at those weights.
    #[must_use]
    pub fn places(&self) -> &[DVec3] {
        &self.places
    }

    /// How far each pin moves when slider `slider` moves by one, at the starting weights.
    #[must_use]
    pub fn pulls(&self, slider: usize) -> Vec<DVec3> {
        let rows = self.pins.len();
        let slopes = self.rig().activation().slopes(&self.weights);
        let mut pulls = vec![DVec3::ZERO; rows];
        for slope in slopes.iter().filter(|s| s.slider == slider) {
            let row = &self.shape_rows[slope.shape * rows..][..rows];
            pulls
                .iter_mut()
                .zip(row)
                .for_each(|(pull, d)| *pull += *d * slope.value);
        }
        pulls
    }

    /// Whether any shape that depends on each slider moves a pin.
    pub(crate) fn moving(&self) -> Vec<bool> {
        let rows = self.pins.len().max(1);
        let moves: Vec<bool> = self
            .shape_rows
            .chunks(rows)
            .map(|row| row.iter().any(|d| *d != DVec3::ZERO))
            .collect();
        let rig = self.rig();
        let mut moving = vec![false; rig.targets().len()];
        let mut shape = 0;
        for (slider, target) in rig.targets().iter().enumerate() {
            let count = 1 + target.in_betweens.len();
            moving[slider] = moves[shape..shape + count].iter().any(|&m| m);
            shape += count;
        }
        for (k, _) in rig
            .combinations()
            .iter()
            .enumerate()
            .filter(|(k, _)| moves[shape + k])
        {
            rig.drivers_of(k)
                .into_iter()
                .for_each(|slider| moving[slider] = true);
        }
        moving
    }

    /// Whether `B̄` is the same at all weights and goals.
    pub(crate) fn is_constant(&self) -> bool {
        self.rig().activation().is_linear()
            && !self
                .pins
                .iter()
                .any(|pin| matches!(pin.aim, crate::Aim::Curve(_)))
    }

    /// Where the pins are at `weights`.
    #[must_use]
    pub fn places_at(&self, weights: &[f64]) -> Vec<DVec3> {
        let mut places = self.places.clone();
        let rows = self.pins.len().max(1);
        let activation = self.rig().activation();
        let coefficients;
        let now = if activation.is_linear() && weights.len() == self.coefficients.len() {
            weights
        } else {
            coefficients = activation.coefficients(weights);
            &coefficients
        };
        for (shape, (new, old)) in now
            .iter()
            .zip(&self.coefficients)
            .enumerate()
            .filter(|(_, (new, old))| new != old)
        {
            let row = &self.shape_rows[shape * rows..][..self.pins.len()];
            places
                .iter_mut()
                .zip(row)
                .for_each(|(place, d)| *place += *d * (new - old));
        }
        places
    }

    /// Whether any shape moves pin `pin`.
    pub(crate) fn is_moved(&self, pin: usize) -> bool {
        self.shape_rows
            .chunks_exact(self.pins.len())
            .any(|row| row[pin] != DVec3::ZERO)
    }

    /// The displacements, projected and weighted, of pins whose aims do not depend on the pose.
    pub(crate) fn wanted(&self, displacements: &[DVec3]) -> Vec<f64> {
        let mut wanted = Vec::with_capacity(3 * displacements.len());
        for ((pin, place), displacement) in self.pins.iter().zip(&self.places).zip(displacements) {
            let (projection, _) = pin.aim.measure(*place, *place + *displacement);
            wanted.extend((projection * pin.stiffness.sqrt() * *displacement).to_array());
        }
        wanted
    }

    /// The system at `weights`, for pins that are wanted `displacements` away from the start.
    pub(crate) fn measure(&self, weights: &[f64], displacements: &[DVec3]) -> Measured {
        let ways = self.ways(weights, displacements);
        let rows = self.pins.len();
        let mut columns = vec![0.0; 3 * rows * self.weights.len()];
        for slope in self.rig().activation().slopes(weights) {
            let column = &mut columns[3 * rows * slope.slider..][..3 * rows];
            let row = &self.shape_rows[slope.shape * rows..][..rows];
            for (k, pull) in row.iter().enumerate().filter(|(_, d)| **d != DVec3::ZERO) {
                let seen = ways[k].0 * (*pull * slope.value);
                (0..3).for_each(|axis| column[3 * k + axis] += seen[axis]);
            }
        }
        Measured {
            columns,
            wanted: projected(&ways),
        }
    }

    /// The right hand side of [`Self::measure`] alone: what pins at `weights` still miss.
    pub(crate) fn missing(&self, weights: &[f64], displacements: &[DVec3]) -> Vec<f64> {
        projected(&self.ways(weights, displacements))
    }

    /// For each pin its weighted projection and its way from where it is at `weights` to its goal.
    fn ways(&self, weights: &[f64], displacements: &[DVec3]) -> Vec<(DMat3, DVec3)> {
        let resting = weights == self.weights;
        let places = if resting {
            self.places.clone()
        } else {
            self.places_at(weights)
        };
        let way = |(k, pin): (usize, &Pin)| {
            let (projection, goal) = pin
                .aim
                .measure(places[k], self.places[k] + displacements[k]);
            // At rest the displacement itself, which adding it to a place and taking the place away
            // would round.
            let whole = resting && !matches!(pin.aim, crate::Aim::Curve(_));
            (
                projection * pin.stiffness.sqrt(),
                if whole {
                    displacements[k]
                } else {
                    goal - places[k]
                },
            )
        };
        self.pins.iter().enumerate().map(way).collect()
    }
}

fn projected(ways: &[(DMat3, DVec3)]) -> Vec<f64> {
    ways.iter()
        .flat_map(|(projection, missing)| (*projection * *missing).to_array())
        .collect()
}
