//! Clustering of vertices by their rigid motions, the initial bones.
//!
//! **Problem.** Partition a mesh into `n` clusters of vertices so that one rigid motion per cluster
//! and frame approximates the examples. Alternating assignment and fitting ends in a minimum near
//! its start, and can lose clusters.
//!
//! **Method.** The number of clusters doubles until there are enough. Clusters with the largest
//! errors are split by two seeds: the vertex with the largest error in its cluster, and the vertex
//! with the largest error for the motion of the first seed's neighbourhood. Rounds of assignment
//! and fitting follow. At the end, two clusters are merged and a third is split as long as the
//! split gains more than the merge costs; with many clusters, many such exchanges happen at once.
//! An empty cluster is replaced by a split, so that no bone is lost.
//!
//! **Source.** Linde, Buzo, Gray, "An algorithm for vector quantizer design", 1980, for the
//! doubling; James and Twigg, "Skinning mesh animations", 2005, for clusters of rigid motions; Le
//! and Deng, "Robust and accurate skeletal rigging from mesh sequences", 2014, for seeds by error.
//!
//! **Departures.** Errors of clusters and of their unions follow from moments ([`RigidMoments`]),
//! so that the cost of a merge is exact.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress, ProgressPart, Rows, Stopped, map_with_progress};

use super::rigid_moments::RigidMoments;
use super::trajectories::{Motion, Trajectories, squared_error};

/// Rounds of assignment and fitting after each doubling. *Chosen*: the fit of the weights corrects
/// the rest.
const ROUNDS: usize = 4;

/// Rounds for the two halves of a split.
const SPLIT_ROUNDS: usize = 4;

/// The motion of a seed is that of its neighbourhood, one part in so many of the cluster.
const SEED_PART: usize = 4;

/// Mean squared error, in units of the diagonal, due to rounding of the sums: such a cluster moves
/// rigidly and is split by position alone.
pub(super) const RIGID: f64 = 1e-14;

/// With more clusters than this, a vertex is compared with the clusters of its neighbours only, and
/// only neighbours are merged.
const MOST_COMPARED: usize = 64;

/// The name of the work in progress reports.
const STAGE: &str = "clustering";

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 256;

/// A partition of the vertices into clusters that move almost rigidly.
#[derive(Debug, Clone)]
pub(super) struct Clusters {
    /// The cluster of each vertex.
    pub(super) of_vertex: Vec<u32>,
    /// The motions of each cluster, frame by frame.
    pub(super) motions: Vec<Vec<Motion>>,
    moments: Vec<RigidMoments>,
    /// The remaining squared error of each cluster.
    errors: Vec<f64>,
}

impl Clusters {
    /// `count` clusters of the vertices of `mesh`; `count` must not be larger than the number of
    /// vertices.
    pub(super) fn of(
        points: &Trajectories,
        mesh: &Mesh,
        count: usize,
        progress: &dyn Progress,
    ) -> Result<Self, Stopped> {
        let neighbors = mesh.topology().vertex_neighbors();
        let mut clusters = Self::whole(points);

        // If clusters become empty as fast as they are split, the last loop does the rest without
        // assignments.
        let mut before = 0;
        while before < clusters.len() && clusters.len() < count {
            before = clusters.len();
            let so_far = so_far(progress, 0.8 * before as f64 / count as f64);
            clusters.split_worst(points, neighbors, count, &so_far)?;
            clusters.reassign(points, neighbors, &so_far)?;
        }

        let last = so_far(progress, 0.8);
        clusters.exchange(points, neighbors, &last)?;
        clusters.reassign(points, neighbors, &last)?;
        while clusters.len() < count {
            clusters.split_worst(points, neighbors, count, &last)?;
        }
        Ok(clusters)
    }

    /// One cluster of all vertices.
    fn whole(points: &Trajectories) -> Self {
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

    /// The remaining squared error.
    pub(super) fn error(&self) -> f64 {
        self.errors.iter().sum()
    }

    fn members(&self, count: usize) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); count];
        for (vertex, &cluster) in self.of_vertex.iter().enumerate() {
            members[cluster as usize].push(vertex as u32);
        }
        members
    }

    /// The motions of `count` clusters for the present assignment.
    fn fit(&mut self, points: &Trajectories, count: usize) {
        let members = self.members(count);
        self.moments = parallel::map(count, 1, |cluster| moments_of(points, &members[cluster]));
        let fits = parallel::map(count, 1, |cluster| self.moments[cluster].fit());
        (self.motions, self.errors) = fits.into_iter().unzip();
    }

    /// Rounds of assignment and fitting.
    fn reassign(
        &mut self,
        points: &Trajectories,
        neighbors: &Rows,
        progress: &dyn Progress,
    ) -> Result<(), Stopped> {
        for _ in 0..ROUNDS {
            let vertices = points.vertex_count();
            self.of_vertex =
                map_with_progress(progress, STAGE, vertices, VERTICES_PER_TASK, |vertex| {
                    self.best_cluster(points, neighbors, vertex)
                })?;
            self.fit(points, self.len());
        }
        self.drop_empty();
        Ok(())
    }

    /// The cluster with the least error for a vertex.
    fn best_cluster(&self, points: &Trajectories, neighbors: &Rows, vertex: usize) -> u32 {
        let rest = points.rest[vertex];
        let moved = points.moved(vertex);
        let own = self.of_vertex[vertex];
        let mut best = own;
        let mut least = squared_error(&self.motions[own as usize], rest, moved, f64::INFINITY);
        let mut compare = |cluster: u32| {
            let error = squared_error(&self.motions[cluster as usize], rest, moved, least);
            // A difference due to rounding does not count.
            if error < least - RIGID {
                (least, best) = (error, cluster);
            }
        };

        if self.len() <= MOST_COMPARED {
            for cluster in 0..self.len() as u32 {
                compare(cluster);
            }
        } else {
            for &other in neighbors.row(vertex) {
                compare(self.of_vertex[other as usize]);
            }
        }
        best
    }

    fn drop_empty(&mut self) {
        let mut used = vec![false; self.len()];
        for &cluster in &self.of_vertex {
            used[cluster as usize] = true;
        }

        // New numbers skip empty clusters.
        let mut numbers = Vec::with_capacity(used.len());
        let mut next = 0;
        for &used in &used {
            numbers.push(next);
            next += u32::from(used);
        }
        for cluster in &mut self.of_vertex {
            *cluster = numbers[*cluster as usize];
        }

        let mut keep = used.iter();
        self.motions.retain(|_| keep.next() == Some(&true));
        keep = used.iter();
        self.moments.retain(|_| keep.next() == Some(&true));
        keep = used.iter();
        self.errors.retain(|_| keep.next() == Some(&true));
    }

    /// Splits the clusters with the largest errors, each at most once, until there are `count`.
    fn split_worst(
        &mut self,
        points: &Trajectories,
        neighbors: &Rows,
        count: usize,
        progress: &dyn Progress,
    ) -> Result<(), Stopped> {
        let members = self.members(self.len());
        let mut order: Vec<usize> = (0..self.len())
            .filter(|&cluster| members[cluster].len() > 1)
            .collect();
        // By error, then by size, so that the order is unique.
        order.sort_by(|&a, &b| {
            self.errors[b]
                .total_cmp(&self.errors[a])
                .then(members[b].len().cmp(&members[a].len()))
                .then(a.cmp(&b))
        });
        order.truncate(count - self.len());
        assert!(
            !order.is_empty(),
            "there are no more clusters than vertices"
        );

        let splits = map_with_progress(progress, STAGE, order.len(), 1, |k| {
            self.split(points, neighbors, order[k], &members[order[k]])
        })?;
        for (cluster, split) in order.into_iter().zip(splits) {
            let new = self.len();
            self.motions.push(Vec::new());
            self.moments.push(RigidMoments::new(points.frame_count()));
            self.errors.push(0.0);
            self.apply_split(&split, cluster, new);
        }
        Ok(())
    }

    /// The best split of a cluster with at least two `members`.
    fn split(
        &self,
        points: &Trajectories,
        neighbors: &Rows,
        cluster: usize,
        members: &[u32],
    ) -> Split {
        let motions = &self.motions[cluster];
        Split::of(points, neighbors, members, motions, self.errors[cluster])
    }

    /// Stores the halves of a split as two clusters.
    fn apply_split(&mut self, split: &Split, first: usize, second: usize) {
        for (half, cluster) in split.halves.iter().zip([first, second]) {
            for &v in &half.members {
                self.of_vertex[v as usize] = cluster as u32;
            }
            self.moments[cluster] = half.moments.clone();
            self.motions[cluster].clone_from(&half.motions);
            self.errors[cluster] = half.error;
        }
    }

    /// Merges two clusters and splits a third, as long as that lowers the error.
    fn exchange(
        &mut self,
        points: &Trajectories,
        neighbors: &Rows,
        progress: &dyn Progress,
    ) -> Result<(), Stopped> {
        // A gain due to rounding does not count.
        let least = RIGID * (points.vertex_count() * points.frame_count()) as f64;
        let at_once = if self.len() <= MOST_COMPARED {
            1
        } else {
            self.len()
        };

        let mut splits: Vec<Option<Split>> = vec![None; self.len()];
        for _ in 0..self.len() {
            let members = self.members(self.len());
            let count = self.len();
            splits = map_with_progress(progress, STAGE, count, 1, |cluster| {
                match &splits[cluster] {
                    Some(split) => Some(split.clone()),
                    None if members[cluster].len() < 2 => None,
                    None => Some(self.split(points, neighbors, cluster, &members[cluster])),
                }
            })?;

            let exchanges = self.exchanges(&self.pairs(neighbors), &splits, least, at_once);
            if exchanges.is_empty() {
                break;
            }
            for Exchange { merged, split } in exchanges {
                let [kept, freed] = merged;
                self.merge(points, kept, freed);
                let halves = splits[split]
                    .take()
                    .expect("only clusters with a split are chosen");
                self.apply_split(&halves, split, freed);
                splits[kept] = None;
                splits[freed] = None;
            }
        }
        Ok(())
    }

    /// The exchanges with the largest gains above `least`, at most `at_once`, with no cluster in
    /// two of them.
    fn exchanges(
        &self,
        pairs: &[[usize; 2]],
        splits: &[Option<Split>],
        least: f64,
        at_once: usize,
    ) -> Vec<Exchange> {
        let gains: Vec<f64> = (0..self.len())
            .map(|cluster| self.split_gain(cluster, splits[cluster].as_ref()))
            .collect();
        let costs = parallel::map(pairs.len(), 8, |k| {
            let [a, b] = pairs[k];
            self.moments[a].union(&self.moments[b]).fit().1 - self.errors[a] - self.errors[b]
        });

        let by_gain = descending(&gains);
        let best_split = |merged: [usize; 2], taken: &[bool]| {
            let free = |cluster: &usize| {
                splits[*cluster].is_some() && !taken[*cluster] && !merged.contains(cluster)
            };
            by_gain.iter().copied().find(free)
        };
        let worth = |k: usize, split: Option<usize>| match split {
            Some(split) => gains[split] - costs[k],
            None => f64::NEG_INFINITY,
        };

        // Greedy: the pair with the largest gain first.
        let mut taken = vec![false; self.len()];
        let worths: Vec<f64> = (0..pairs.len())
            .map(|k| worth(k, best_split(pairs[k], &taken)))
            .collect();
        let mut chosen: Vec<Exchange> = Vec::new();
        for k in descending(&worths) {
            let merged = pairs[k];
            if chosen.len() == at_once || merged.iter().any(|&cluster| taken[cluster]) {
                continue;
            }
            let split = best_split(merged, &taken).filter(|&split| worth(k, Some(split)) > least);
            let Some(split) = split else {
                continue;
            };

            for cluster in [merged[0], merged[1], split] {
                taken[cluster] = true;
            }
            chosen.push(Exchange { merged, split });
        }
        chosen
    }

    /// The error that a split of a cluster saves.
    fn split_gain(&self, cluster: usize, split: Option<&Split>) -> f64 {
        match split {
            Some(split) => self.errors[cluster] - split.error(),
            None => 0.0,
        }
    }

    fn merge(&mut self, points: &Trajectories, kept: usize, freed: usize) {
        for cluster in &mut self.of_vertex {
            if *cluster == freed as u32 {
                *cluster = kept as u32;
            }
        }
        self.moments[kept] = self.moments[kept].union(&self.moments[freed]);
        self.moments[freed] = RigidMoments::new(points.frame_count());
        (self.motions[kept], self.errors[kept]) = self.moments[kept].fit();
    }

    /// The pairs that may be merged: all pairs of few clusters, neighbours among many.
    fn pairs(&self, neighbors: &Rows) -> Vec<[usize; 2]> {
        let count = self.len();
        let mut pairs: Vec<[usize; 2]> = Vec::new();
        if count <= MOST_COMPARED {
            for a in 0..count {
                pairs.extend((a + 1..count).map(|b| [a, b]));
            }
            return pairs;
        }

        // Neighbouring clusters share an edge of the mesh.
        for (vertex, others) in neighbors.iter().enumerate() {
            let a = self.of_vertex[vertex] as usize;
            for &other in others {
                let b = self.of_vertex[other as usize] as usize;
                if a < b {
                    pairs.push([a, b]);
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// Progress that stays at the share `done`: how long the loops under it take is not known.
fn so_far(whole: &dyn Progress, done: f64) -> ProgressPart<'_> {
    ProgressPart {
        whole,
        begin: done,
        size: 0.0,
    }
}

/// Two clusters that become one, and the one that is split instead.
#[derive(Debug, Clone, Copy)]
struct Exchange {
    merged: [usize; 2],
    split: usize,
}

/// The indices of values, the greatest value first.
fn descending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    order
}

/// A cluster split in two.
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
    fn of(points: &Trajectories, members: Vec<u32>) -> Self {
        let moments = moments_of(points, &members);
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
    /// The best split found of at least two `members` with the given motions and error.
    fn of(
        points: &Trajectories,
        neighbors: &Rows,
        members: &[u32],
        motions: &[Motion],
        error: f64,
    ) -> Self {
        if error <= RIGID * (members.len() * points.frame_count()) as f64 {
            return Self::by_position(points, members);
        }

        // The second seed is far from the motion of the first.
        let first = seed_motions(points, neighbors, members, motions);
        let second = seed_motions(points, neighbors, members, &first);
        let mut centers = [second, first];
        let mut best: Option<Self> = None;
        for _ in 0..SPLIT_ROUNDS {
            let (a, b): (Vec<u32>, Vec<u32>) = members.iter().partition(|&&v| {
                vertex_error(points, &centers[0], v) <= vertex_error(points, &centers[1], v)
            });
            if a.is_empty() || b.is_empty() {
                return Self::by_position(points, members);
            }

            let split = Self {
                halves: [Half::of(points, a), Half::of(points, b)],
            };
            if split.error() >= error {
                break;
            }
            centers = [
                split.halves[0].motions.clone(),
                split.halves[1].motions.clone(),
            ];
            best = Some(split);
        }

        best.unwrap_or_else(|| Self::by_position(points, members))
    }

    /// A split into the members nearer to one of two distant vertices, and the others.
    fn by_position(points: &Trajectories, members: &[u32]) -> Self {
        let position = |v: u32| points.rest[v as usize];
        let mean = members.iter().map(|&v| position(v)).sum::<DVec3>() / members.len() as f64;
        let one = position(argmax(members, |v| position(v).distance_squared(mean)));
        let other = position(argmax(members, |v| position(v).distance_squared(one)));
        let (mut a, mut b): (Vec<u32>, Vec<u32>) = members.iter().partition(|&&v| {
            position(v).distance_squared(one) <= position(v).distance_squared(other)
        });
        if b.is_empty() {
            b = a.split_off(a.len() / 2); // Coincident vertices: any split will do.
        }

        Self {
            halves: [Half::of(points, a), Half::of(points, b)],
        }
    }

    fn error(&self) -> f64 {
        self.halves.iter().map(|half| half.error).sum()
    }
}

/// The squared error of a vertex with given motions, over all frames.
fn vertex_error(points: &Trajectories, motions: &[Motion], v: u32) -> f64 {
    let v = v as usize;
    squared_error(motions, points.rest[v], points.moved(v), f64::INFINITY)
}

/// The motions of the neighbourhood of a seed: the member with the largest error for `motions`.
fn seed_motions(
    points: &Trajectories,
    neighbors: &Rows,
    members: &[u32],
    motions: &[Motion],
) -> Vec<Motion> {
    let seed = argmax(members, |v| vertex_error(points, motions, v));
    let count = members.len().div_ceil(SEED_PART);
    let near = neighborhood(members, neighbors, seed, count);
    moments_of(points, &near).fit().0
}

/// The first of the members with the greatest value.
fn argmax(members: &[u32], value: impl Fn(u32) -> f64) -> u32 {
    let mut best = members[0];
    let mut greatest = f64::NEG_INFINITY;
    for &v in members {
        let own = value(v);
        if own > greatest {
            (greatest, best) = (own, v);
        }
    }
    best
}

fn moments_of(points: &Trajectories, members: &[u32]) -> RigidMoments {
    let mut moments = RigidMoments::new(points.frame_count());
    for &v in members {
        moments.add(points.rest[v as usize], points.moved(v as usize));
    }
    moments
}

/// About `count` of the members, which ascend, around `seed`, ring by ring; at least one.
fn neighborhood(members: &[u32], neighbors: &Rows, seed: u32, count: usize) -> Vec<u32> {
    let index = |v: u32| members.binary_search(&v).ok();
    let mut reached = vec![false; members.len()];
    reached[index(seed).expect("the seed is a member")] = true;

    let mut near = vec![seed];
    let mut next = 0;
    while next < near.len() && near.len() < count {
        for &other in neighbors.row(near[next] as usize) {
            if let Some(k) = index(other).filter(|&k| !reached[k]) {
                reached[k] = true;
                near.push(other);
            }
        }
        next += 1;
    }

    near
}
