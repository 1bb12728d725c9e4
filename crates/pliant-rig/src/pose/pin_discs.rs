//! Geodesic discs around pins, cached per pin.
//!
//! A drag often starts with the pins of the drag before it, or with one more.

use std::collections::VecDeque;

use pliant_mesh::{Disc, ExactGeodesics, Mesh, SurfacePoint};

use crate::RigError;

/// Geodesic discs around pins, with a cache of the latest ones.
#[derive(Debug)]
pub(super) struct PinDiscs {
    geodesics: ExactGeodesics,
    vertex_count: usize,
    cache: VecDeque<CachedDisc>,
}

#[derive(Debug)]
struct CachedDisc {
    sources: Vec<SurfacePoint>,
    reach: f64,
    disc: Disc,
}

/// More pins than this, as a stroke has, are measured in one sweep, whose cost does not depend on
/// their number. *Chosen*.
const MOST_SINGLE_PINS: usize = 8;
/// Discs in the cache.
const CACHE_SIZE: usize = 64;

impl PinDiscs {
    pub(super) fn new(mesh: &Mesh) -> Result<Self, RigError> {
        Ok(Self {
            geodesics: ExactGeodesics::new(mesh)?,
            vertex_count: mesh.vertex_count(),
            cache: VecDeque::new(),
        })
    }

    /// The vertices within `reach` of any of `sources`, ascending, with their distances from the
    /// nearest source.
    ///
    /// The cache does not change a bit of the result.
    pub(super) fn around(
        &mut self,
        sources: &[SurfacePoint],
        reach: f64,
    ) -> Result<Vec<(u32, f64)>, RigError> {
        let sources_per_disc = if sources.len() > MOST_SINGLE_PINS {
            sources.len()
        } else {
            1
        };

        // The distance from the nearest of all sources.
        let mut nearest = vec![f64::INFINITY; self.vertex_count];
        for sources in sources.chunks(sources_per_disc) {
            let disc = self.disc(sources, reach)?;
            for (&vertex, &distance) in disc.vertices.iter().zip(&disc.distances) {
                nearest[vertex as usize] = distance.min(nearest[vertex as usize]);
            }
        }

        let mut within = Vec::new();
        for (vertex, distance) in nearest.into_iter().enumerate() {
            if distance.is_finite() {
                within.push((vertex as u32, distance));
            }
        }

        Ok(within)
    }

    fn disc(&mut self, sources: &[SurfacePoint], reach: f64) -> Result<&Disc, RigError> {
        let cached = self
            .cache
            .iter()
            .position(|cached| cached.sources == sources && cached.reach == reach);
        if let Some(index) = cached {
            return Ok(&self.cache[index].disc);
        }

        // The oldest disc makes room.
        if self.cache.len() == CACHE_SIZE {
            self.cache.pop_front();
        }
        self.cache.push_back(CachedDisc {
            sources: sources.to_vec(),
            reach,
            disc: self.geodesics.disc(sources, reach)?,
        });

        Ok(&self.cache[self.cache.len() - 1].disc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::bumpy_sheet;

    #[test]
    fn discs_of_single_pins_agree_with_one_disc_whatever_the_cache_holds() {
        let mesh = bumpy_sheet(14, 0.1);
        let pins: Vec<SurfacePoint> = [40, 77, 112, 150, 181].map(SurfacePoint::Vertex).to_vec();
        let mut discs = PinDiscs::new(&mesh).unwrap();

        for reach in [0.0, 0.2, 0.45] {
            let expected = ExactGeodesics::new(&mesh)
                .unwrap()
                .disc(&pins, reach)
                .unwrap();
            let found = discs.around(&pins, reach).unwrap();

            assert!(
                found
                    .iter()
                    .map(|(vertex, _)| vertex)
                    .eq(&expected.vertices)
            );
            assert!(
                found
                    .iter()
                    .zip(&expected.distances)
                    .all(|((_, a), b)| (a - b).abs() < 1e-12)
            );
            assert_eq!(found, discs.around(&pins, reach).unwrap());

            // Other queries in between do not change a bit.
            discs.around(&pins[2..], reach).unwrap();
            assert_eq!(
                found,
                PinDiscs::new(&mesh).unwrap().around(&pins, reach).unwrap()
            );
        }
    }
}
