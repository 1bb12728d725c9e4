//! Vertices gathered into bones by their rigid motions.
//!
//! **Problem.** Cut a mesh into `n` sets of vertices such that one rigid motion per set and frame
//! comes as near to the examples as possible. Plain rounds of assigning and fitting end where a bad
//! start leads; some lose bones on the way.
//!
//! **Form.** Sets double until there are enough: those with the largest errors are split by two
//! seeds, the vertex that its set fits worst and the one that the first seed's surroundings fit
//! worst. Rounds of assigning and fitting follow. In the end, as long as splitting one set gains
//! more than merging two others costs, both are done; where there are many sets, many such
//! exchanges at once. A set that runs empty is made anew by a split, so that no bone is ever lost.
//!
//! **Source.** Linde, Buzo, Gray, "An algorithm for vector quantizer design", 1980, for the
//! doubling; James and Twigg, "Skinning mesh animations", 2005, for clusters of rigid motions; Le
//! and Deng, "Robust and accurate skeletal rigging from mesh sequences", 2014, for seeds by error.
//!
//! **Ours.** Errors of sets and of their unions come from sums ([`RigidMoments`]), so merging is
//! judged exactly.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Rows};

use super::moving_points::{Motion, MovingPoints, squared_miss};
use super::rigid_moments::RigidMoments;

/// Rounds of assigning and fitting after each doubling. *Ours*: the fit of weights that follows
/// corrects what is left.
const ROUNDS: usize = 4;

/// Rounds of the two halves of a split.
const SPLIT_ROUNDS: usize = 4;

/// The part of a set around a seed that gives the seed its motion.
const SEED_PART: usize = 4;

/// A mean squared error, in units of the diagonal, that is rounding of the sums: such a set moves
/// rigidly and is split by place alone.
pub(super) const RIGID: f64 = 1e-14;

/// Above this number of sets a vertex only looks at those of its neighbours, and only neighbours
/// are merged.
const MOST_COMPARED: usize = 64;

/// Vertices in one task.
const GRAIN: usize = 256;

/// Vertices cut into sets that each move nearly rigidly.
#[derive(Debug, Clone)]
pub(super) struct Clusters {
    /// The set of each vertex.
    pub(super) of_vertex: Vec<u32>,
    /// The motions of each set, frame by frame.
    pub(super) motions: Vec<Vec<Motion>>,
    moments: Vec<RigidMoments>,
    /// The sum of squared distances that the motions leave, set by set.
    errors: Vec<f64>,
}

impl Clusters {
    /// Cuts the vertices of `mesh` into `count` sets, of which there must be no more than vertices.
    pub(super) fn of(points: &MovingPoints, mesh: &Mesh, count: usize) -> Self {
        let neighbors = mesh.topology().vertex_neighbors();
        let mut clusters = Self::whole(points);
        // Where sets run empty as fast as they are split, the rest is split at the end, where
        // nothing is assigned any more.
        let mut before = 0;
        while before < clusters.len() && clusters.len() < count {
            before = clusters.len();
            clusters.split_worst(points, neighbors, count);
            for _ in 0..ROUNDS {
                clusters.assign(points, neighbors);
            }
            clusters.drop_empty();
        }
        clusters.exchange(points, neighbors);
        for _ in 0..ROUNDS {
            clusters.assign(points, neighbors);
        }
        clusters.drop_empty();
        while clusters.len() < count {
            clusters.split_worst(points, neighbors, count);
        }
        clusters
    }

    fn whole(points: &MovingPoints) -> Self {
        let mut clusters = Self {
            of_vertex: vec![0; points.vertex_count()],
            motions: Vec::new(),
            moments: Vec::new(),
            errors: Vec::new(),
        };
        clusters.fit(points, 1);
        clusters
    }

    pub(super) fn len(&self) -> usize {
        self.motions.len()
    }

    /// The sum of squared distances that the motions leave.
    pub(super) fn error(&self) -> f64 {
        self.errors.iter().sum()
    }

    fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.len()];
        for (vertex, &cluster) in self.of_vertex.iter().enumerate() {
            members[cluster as usize].push(vertex as u32);
        }
        members
    }

    /// The motions of `count` sets by the present assignment.
    fn fit(&mut self, points: &MovingPoints, count: usize) {
        let mut members = vec![Vec::new(); count];
        for (vertex, &cluster) in self.of_vertex.iter().enumerate() {
            members[cluster as usize].push(vertex as u32);
        }
        self.moments = parallel::map(count, 1, |cluster| {
            moments_of(points, members[cluster].iter().copied())
        });
        let fits = parallel::map(count, 1, |cluster| self.moments[cluster].fit());
        (self.motions, self.errors) = fits.into_iter().unzip();
    }

    /// Every vertex goes where it is fitted best, and the motions follow.
    fn assign(&mut self, points: &MovingPoints, neighbors: &Rows) {
        let best = |vertex: usize| {
            let (rest, moved, own) = (
                points.rest[vertex],
                points.moved(vertex),
                self.of_vertex[vertex],
            );
            let mut best = (
                squared_miss(&self.motions[own as usize], rest, moved, f64::INFINITY),
                own,
            );
            let mut look = |cluster: u32| {
                let miss = squared_miss(&self.motions[cluster as usize], rest, moved, best.0);
                // Rounding is no reason to move.
                if miss < best.0 - RIGID {
                    best = (miss, cluster);
                }
            };
            if self.len() <= MOST_COMPARED {
                (0..self.len() as u32).for_each(&mut look);
            } else {
                neighbors
                    .row(vertex)
                    .iter()
                    .for_each(|&other| look(self.of_vertex[other as usize]));
            }
            best.1
        };
        self.of_vertex = parallel::map(points.vertex_count(), GRAIN, best);
        self.fit(points, self.len());
    }

    fn drop_empty(&mut self) {
        let mut used = vec![false; self.len()];
        self.of_vertex
            .iter()
            .for_each(|&cluster| used[cluster as usize] = true);
        let numbers: Vec<u32> = used
            .iter()
            .scan(0, |next, &used| {
                Some(std::mem::replace(next, *next + u32::from(used)))
            })
            .collect();
        self.of_vertex
            .iter_mut()
            .for_each(|cluster| *cluster = numbers[*cluster as usize]);
        let mut keep = used.iter();
        self.motions.retain(|_| keep.next() == Some(&true));
        keep = used.iter();
        self.moments.retain(|_| keep.next() == Some(&true));
        keep = used.iter();
        self.errors.retain(|_| keep.next() == Some(&true));
    }

    /// Splits the sets of the largest errors, at most all of them, until there are `count`.
    fn split_worst(&mut self, points: &MovingPoints, neighbors: &Rows, count: usize) {
        let members = self.members();
        let mut order: Vec<usize> = (0..self.len())
            .filter(|&cluster| members[cluster].len() > 1)
            .collect();
        order.sort_by(|&a, &b| {
            self.errors[b]
                .total_cmp(&self.errors[a])
                .then(members[b].len().cmp(&members[a].len()))
                .then(a.cmp(&b))
        });
        order.truncate(count - self.len());
        assert!(!order.is_empty(), "there are no more sets than vertices");
        let splits = parallel::map(order.len(), 1, |k| {
            Split::of(
                points,
                neighbors,
                &members[order[k]],
                &self.motions[order[k]],
                self.errors[order[k]],
            )
        });
        for (cluster, split) in order.into_iter().zip(splits) {
            let new = self.len();
            self.motions.push(Vec::new());
            self.moments.push(RigidMoments::new(points.frame_count()));
            self.errors.push(0.0);
            self.put(&split, cluster, new);
        }
    }

    /// Puts the halves of a split into two places.
    fn put(&mut self, split: &Split, first: usize, second: usize) {
        for (half, place) in split.halves.iter().zip([first, second]) {
            half.members
                .iter()
                .for_each(|&v| self.of_vertex[v as usize] = place as u32);
            self.moments[place] = half.moments.clone();
            (self.motions[place], self.errors[place]) = (half.motions.clone(), half.error);
        }
    }

    /// Merges two sets and splits a third, as long as that lowers the error.
    fn exchange(&mut self, points: &MovingPoints, neighbors: &Rows) {
        let mut splits: Vec<Option<Split>> = vec![None; self.len()];
        // What rounding alone could gain is none.
        let least = RIGID * (points.vertex_count() * points.frame_count()) as f64;
        let at_once = if self.len() <= MOST_COMPARED {
            1
        } else {
            self.len()
        };
        for _ in 0..self.len() {
            let members = self.members();
            let known = |cluster: usize| splits[cluster].clone();
            splits = parallel::map(self.len(), 1, |cluster| {
                known(cluster).or_else(|| {
                    let own = &members[cluster];
                    (own.len() > 1).then(|| {
                        Split::of(
                            points,
                            neighbors,
                            own,
                            &self.motions[cluster],
                            self.errors[cluster],
                        )
                    })
                })
            });
            let exchanges = self.exchanges(&self.pairs(neighbors), &splits, least, at_once);
            if exchanges.is_empty() {
                break;
            }
            for Exchange {
                merged: [kept, freed],
                split,
            } in exchanges
            {
                self.merge(points, kept, freed);
                let halves = splits[split]
                    .take()
                    .expect("only sets with a split are chosen");
                self.put(&halves, split, freed);
                (splits[kept], splits[freed]) = (None, None);
            }
        }
    }

    /// The exchanges that gain most and more than `least`, at most `at_once` and no set in two of
    /// them.
    fn exchanges(
        &self,
        pairs: &[[usize; 2]],
        splits: &[Option<Split>],
        least: f64,
        at_once: usize,
    ) -> Vec<Exchange> {
        let gain = |cluster: usize| {
            splits[cluster]
                .as_ref()
                .map_or(0.0, |split| self.errors[cluster] - split.error())
        };
        let costs = parallel::map(pairs.len(), 8, |k| {
            let [a, b] = pairs[k];
            self.moments[a].union(&self.moments[b]).fit().1 - self.errors[a] - self.errors[b]
        });
        let by_gain = sorted_falling((0..self.len()).map(gain));
        let mut taken = vec![false; self.len()];
        let best = |merged: [usize; 2], taken: &[bool]| {
            let free = |cluster: usize| {
                splits[cluster].is_some() && !taken[cluster] && !merged.contains(&cluster)
            };
            by_gain.iter().copied().find(|&cluster| free(cluster))
        };
        let worth = |k: usize, split: Option<usize>| {
            split.map_or(f64::NEG_INFINITY, |split| gain(split) - costs[k])
        };
        let order = sorted_falling((0..pairs.len()).map(|k| worth(k, best(pairs[k], &taken))));
        let mut chosen: Vec<Exchange> = Vec::new();
        for k in order {
            let merged = pairs[k];
            if chosen.len() == at_once || merged.iter().any(|&cluster| taken[cluster]) {
                continue;
            }
            let Some(split) = best(merged, &taken).filter(|&split| worth(k, Some(split)) > least)
            else {
                continue;
            };
            [merged[0], merged[1], split]
                .into_iter()
                .for_each(|cluster| taken[cluster] = true);
            chosen.push(Exchange { merged, split });
        }
        chosen
    }

    fn merge(&mut self, points: &MovingPoints, kept: usize, freed: usize) {
        self.of_vertex
            .iter_mut()
            .filter(|cluster| **cluster == freed as u32)
            .for_each(|cluster| *cluster = kept as u32);
        self.moments[kept] = self.moments[kept].union(&self.moments[freed]);
        self.moments[freed] = RigidMoments::new(points.frame_count());
        (self.motions[kept], self.errors[kept]) = self.moments[kept].fit();
    }

    /// The pairs that may be merged: all of them where there are few, else those that touch.
    fn pairs(&self, neighbors: &Rows) -> Vec<[usize; 2]> {
        let count = self.len();
        if count <= MOST_COMPARED {
            return (0..count)
                .flat_map(|a| (a + 1..count).map(move |b| [a, b]))
                .collect();
        }
        let touching = neighbors
            .iter()
            .enumerate()
            .flat_map(|(vertex, others)| others.iter().map(move |&other| [vertex, other as usize]));
        let pair = |ends: [usize; 2]| ends.map(|v| self.of_vertex[v] as usize);
        let mut pairs: Vec<[usize; 2]> = touching.map(pair).filter(|[a, b]| a < b).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// Two sets that become one, and the one that is split instead.
#[derive(Debug, Clone, Copy)]
struct Exchange {
    merged: [usize; 2],
    split: usize,
}

/// The places of values, the greatest first.
fn sorted_falling(values: impl Iterator<Item = f64>) -> Vec<usize> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    order
}

/// A set cut in two.
#[derive(Debug, Clone)]
struct Split {
    halves: [Half; 2],
}

#[derive(Debug, Clone)]
struct Half {
    members: Vec<u32>,
    moments: RigidMoments,
    motions: Vec<Motion>,
    error: f64,
}

impl Half {
    fn of(points: &MovingPoints, members: Vec<u32>) -> Self {
        let moments = moments_of(points, members.iter().copied());
        let (motions, error) = moments.fit();
        Self {
            members,
            moments,
            motions,
            error,
        }
    }
}

impl Split {
    /// The best split found of at least two `members`, which move by `motions` and leave `error`.
    fn of(
        points: &MovingPoints,
        neighbors: &Rows,
        members: &[u32],
        motions: &[Motion],
        error: f64,
    ) -> Self {
        if error <= RIGID * (members.len() * points.frame_count()) as f64 {
            return Self::by_place(points, members);
        }
        let miss = |motions: &[Motion], v: u32| {
            squared_miss(
                motions,
                points.rest[v as usize],
                points.moved(v as usize),
                f64::INFINITY,
            )
        };
        let seed = |motions: &[Motion]| {
            let worst = greatest(members, |v| miss(motions, v));
            moments_of(
                points,
                surroundings(members, neighbors, worst, members.len().div_ceil(SEED_PART))
                    .into_iter(),
            )
            .fit()
            .0
        };
        let first = seed(motions);
        let mut centers = [seed(&first), first];
        let mut best: Option<Self> = None;
        for _ in 0..SPLIT_ROUNDS {
            let (a, b): (Vec<u32>, Vec<u32>) = members
                .iter()
                .partition(|&&v| miss(&centers[0], v) <= miss(&centers[1], v));
            if a.is_empty() || b.is_empty() {
                return Self::by_place(points, members);
            }
            let halves = [Half::of(points, a), Half::of(points, b)];
            if halves.iter().map(|half| half.error).sum::<f64>() >= error {
                break;
            }
            centers = [halves[0].motions.clone(), halves[1].motions.clone()];
            best = Some(Self { halves });
        }
        best.unwrap_or_else(|| Self::by_place(points, members))
    }

    /// The members nearer to one of two far ends, and the others.
    fn by_place(points: &MovingPoints, members: &[u32]) -> Self {
        let place = |v: u32| points.rest[v as usize];
        let mean = members.iter().map(|&v| place(v)).sum::<DVec3>() / members.len() as f64;
        let one = greatest(members, |v| place(v).distance_squared(mean));
        let other = greatest(members, |v| place(v).distance_squared(place(one)));
        let (mut a, mut b): (Vec<u32>, Vec<u32>) = members.iter().partition(|&&v| {
            place(v).distance_squared(place(one)) <= place(v).distance_squared(place(other))
        });
        if b.is_empty() {
            b = a.split_off(a.len() / 2); // All in one place: any cut is as good.
        }
        Self {
            halves: [Half::of(points, a), Half::of(points, b)],
        }
    }

    fn error(&self) -> f64 {
        self.halves.iter().map(|half| half.error).sum()
    }
}

/// The first of the members with the greatest value.
fn greatest(members: &[u32], value: impl Fn(u32) -> f64) -> u32 {
    let most = |best: (f64, u32), v: u32| {
        Some(value(v))
            .filter(|&own| own > best.0)
            .map_or(best, |own| (own, v))
    };
    members
        .iter()
        .copied()
        .fold((f64::NEG_INFINITY, members[0]), most)
        .1
}

fn moments_of(points: &MovingPoints, members: impl Iterator<Item = u32>) -> RigidMoments {
    let mut moments = RigidMoments::new(points.frame_count());
    members.for_each(|v| moments.add(points.rest[v as usize], points.moved(v as usize)));
    moments
}

/// At least one and about `count` of the members, which ascend, around `seed`, ring by ring.
fn surroundings(members: &[u32], neighbors: &Rows, seed: u32, count: usize) -> Vec<u32> {
    let place = |v: u32| members.binary_search(&v).ok();
    let mut reached = vec![false; members.len()];
    reached[place(seed).expect("the seed is a member")] = true;
    let (mut near, mut next) = (vec![seed], 0);
    while next < near.len() && near.len() < count {
        for &other in neighbors.row(near[next] as usize) {
            if let Some(k) = place(other).filter(|&k| !reached[k]) {
                reached[k] = true;
                near.push(other);
            }
        }
        next += 1;
    }
    near
}
