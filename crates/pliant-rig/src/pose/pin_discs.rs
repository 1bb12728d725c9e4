//! The surface around pins, measured once per pin.
//!
//! A hand that lets go and takes hold again mostly does so of the same pins, or of one more.

use std::collections::VecDeque;

use pliant_mesh::{Disc, ExactGeodesics, Mesh, SurfacePoint};

use crate::RigError;

/// Geodesic discs around pins, the latest ones remembered.
#[derive(Debug)]
pub(super) struct PinDiscs {
    geodesics: ExactGeodesics,
    vertex_count: usize,
    known: VecDeque<(Vec<SurfacePoint>, f64, Disc)>,
}

impl PinDiscs {
    /// More pins than this, as a stroke has, are measured in one sweep, whose cost their number
    /// does not change. *Ours*.
    const MOST_SINGLE: usize = 8;
    /// Discs that are remembered.
    const MOST_KNOWN: usize = 64;

    pub(super) fn new(mesh: &Mesh) -> Result<Self, RigError> {
        Ok(Self {
            geodesics: ExactGeodesics::new(mesh)?,
            vertex_count: mesh.vertex_count(),
            known: VecDeque::new(),
        })
    }

    /// The vertices within `reach` of any of `sources`, ascending, with their distances from the
    /// nearest.
    ///
    /// What was asked before changes no bit of it.
    pub(super) fn around(
        &mut self,
        sources: &[SurfacePoint],
        reach: f64,
    ) -> Result<Vec<(u32, f64)>, RigError> {
        let together = if sources.len() > Self::MOST_SINGLE {
            sources.len()
        } else {
            1
        };
        let mut nearest = vec![f64::INFINITY; self.vertex_count];
        for sources in sources.chunks(together) {
            let disc = self.disc(sources, reach)?;
            for (&vertex, &distance) in disc.vertices.iter().zip(&disc.distances) {
                nearest[vertex as usize] = distance.min(nearest[vertex as usize]);
            }
        }
        Ok((0..)
            .zip(nearest)
            .filter(|(_, distance)| distance.is_finite())
            .collect())
    }

    fn disc(&mut self, sources: &[SurfacePoint], reach: f64) -> Result<&Disc, RigError> {
        let place = self
            .known
            .iter()
            .position(|(known, radius, _)| known == sources && *radius == reach);
        let place = match place {
            Some(place) => place,
            None => {
                if self.known.len() == Self::MOST_KNOWN {
                    self.known.pop_front();
                }
                self.known.push_back((
                    sources.to_vec(),
                    reach,
                    self.geodesics.disc(sources, reach)?,
                ));
                self.known.len() - 1
            }
        };
        Ok(&self.known[place].2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::bumpy_sheet;

    #[test]
    fn pins_one_by_one_are_as_near_as_pins_together_whatever_was_asked_before() {
        let mesh = bumpy_sheet(14, 0.1);
        let pins: Vec<SurfacePoint> = [40, 77, 112, 150, 181].map(SurfacePoint::Vertex).to_vec();
        let mut discs = PinDiscs::new(&mesh).unwrap();
        for reach in [0.0, 0.2, 0.45] {
            let wanted = ExactGeodesics::new(&mesh)
                .unwrap()
                .disc(&pins, reach)
                .unwrap();
            let found = discs.around(&pins, reach).unwrap();
            assert!(found.iter().map(|(vertex, _)| vertex).eq(&wanted.vertices));
            assert!(
                found
                    .iter()
                    .zip(&wanted.distances)
                    .all(|((_, a), b)| (a - b).abs() < 1e-12)
            );
            assert_eq!(found, discs.around(&pins, reach).unwrap());
            discs.around(&pins[2..], reach).unwrap();
            assert_eq!(
                found,
                PinDiscs::new(&mesh).unwrap().around(&pins, reach).unwrap()
            );
        }
    }
}
