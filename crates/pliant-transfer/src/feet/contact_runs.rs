//! Contact runs: the intervals of frames in which vertices of the target stand.
//!
//! **Equation.** A vertex stands if half of the triangles around it do. The ground moves as that of
//! the source, times the factor that fits the target's standing vertices best: legs of other lengths
//! take other steps.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use super::root_correction::GroundContact;

/// First frame of a run, and the frame after the last.
type Run = [usize; 2];

/// The standing vertices of all frames, and the ground.
pub(super) struct ContactRuns {
    /// All vertices that stand in some frame, ascending.
    pub(super) vertices: Vec<u32>,
    /// The runs of each of these vertices.
    runs: Vec<Vec<Run>>,
    /// The displacement of the ground up to each frame.
    ground: Vec<DVec3>,
}

impl ContactRuns {
    pub(super) fn new(target: &Mesh, contacts: &[GroundContact], frames: &[Vec<DVec3>]) -> Self {
        let mut runs = Self {
            vertices: Vec::new(),
            runs: Vec::new(),
            ground: Vec::with_capacity(contacts.len()),
        };
        for (v, mut of_vertex) in runs_of_vertices(target, contacts).into_iter().enumerate() {
            // A single frame has no slide.
            of_vertex.retain(|[first, end]| end - first > 1);
            if !of_vertex.is_empty() {
                runs.vertices.push(v as u32);
                runs.runs.push(of_vertex);
            }
        }

        let factor = runs.ground_factor(contacts, frames);
        let mut displacement = DVec3::ZERO;
        for (k, contact) in contacts.iter().enumerate() {
            if k > 0 {
                displacement += contact.ground_step * factor;
            }
            runs.ground.push(displacement);
        }
        runs
    }

    /// Index among [`vertices`](Self::vertices), vertex and frame of all steps of standing vertices
    /// from the frame before.
    pub(super) fn steps(&self) -> impl Iterator<Item = (usize, u32, usize)> {
        let vertices = self.vertices.iter().zip(&self.runs).enumerate();
        vertices.flat_map(|(index, (&v, runs))| {
            let frames = runs.iter().flat_map(|[first, end]| first + 1..*end);
            frames.map(move |k| (index, v, k))
        })
    }

    /// The mean step of the ground over `frames` frames.
    pub(super) fn mean_ground_step(&self, frames: usize) -> DVec3 {
        match self.ground.last() {
            Some(&displacement) => displacement / (frames.max(2) - 1) as f64,
            None => DVec3::ZERO,
        }
    }

    /// The step of a vertex relative to the ground from the frame before.
    pub(super) fn slip(&self, frames: &[Vec<DVec3>], k: usize, v: u32) -> DVec3 {
        self.on_ground(frames, k, v) - self.on_ground(frames, k - 1, v)
    }

    /// The position of a vertex relative to the ground.
    fn on_ground(&self, frames: &[Vec<DVec3>], k: usize, v: u32) -> DVec3 {
        frames[k][v as usize] - self.ground[k]
    }

    /// The largest distance of a standing vertex from its position at the start of its run.
    pub(super) fn largest_slide(&self, frames: &[Vec<DVec3>]) -> f64 {
        let mut largest: f64 = 0.0;
        for (&v, runs) in self.vertices.iter().zip(&self.runs) {
            for &[first, end] in runs {
                let start = self.on_ground(frames, first, v);
                for k in first..end {
                    largest = largest.max(self.on_ground(frames, k, v).distance(start));
                }
            }
        }
        largest
    }

    /// The factor of the source's ground that fits the steps of standing vertices best.
    fn ground_factor(&self, contacts: &[GroundContact], frames: &[Vec<DVec3>]) -> f64 {
        let mut along = 0.0;
        let mut square = 0.0;
        for (_, v, k) in self.steps() {
            let ground = contacts[k].ground_step;
            along += (frames[k][v as usize] - frames[k - 1][v as usize]).dot(ground);
            square += ground.length_squared();
        }
        if square > 0.0 { along / square } else { 0.0 }
    }
}

/// The runs of every vertex of the target.
fn runs_of_vertices(target: &Mesh, contacts: &[GroundContact]) -> Vec<Vec<Run>> {
    let around = target.topology().vertex_triangles();
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); target.vertex_count()];
    let mut standing = vec![0; target.vertex_count()];
    for (k, contact) in contacts.iter().enumerate() {
        standing.fill(0);
        for &t in &contact.triangles {
            for &v in &target.triangles()[t as usize] {
                standing[v as usize] += 1;
            }
        }

        for (v, &triangles) in standing.iter().enumerate() {
            // A vertex stands if at least half of its triangles stand.
            if triangles == 0 || 2 * triangles < around.row(v).len() {
                continue;
            }
            match runs[v].last_mut() {
                Some([_, end]) if *end == k => *end = k + 1,
                _ => runs[v].push([k, k + 1]),
            }
        }
    }
    runs
}
