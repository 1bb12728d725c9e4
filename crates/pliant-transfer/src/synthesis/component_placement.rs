//! Placement of connected components: where eyes, teeth and buttons go in a frame.
//!
//! **Problem.** Eyes, teeth and buttons are components of their own. Their gradients define how they
//! rotate and stretch, but not where they are.
//!
//! **Equation.** The root motion places the main component. Another component with rest centroid
//! `c` is attached to nearby triangles `n` of the main component, with centroids `g_n` at rest and
//! `x_n` in the frame, and rotations `R_n`:
//!
//! ```text
//! p = mean_n (x_n + R_n (c − g_n))        c' = p + δ
//! ```
//!
//! where `δ` is the deviation of the same component of the source from the same prediction on the
//! source. A component that the source lacks has `δ = 0` and moves rigidly by the mean rotation.
//! A vertex without a face moves with its nearest triangle.
//!
//! **Departures.** Wang and Lee 2008 do not treat components. With `δ` a mesh on itself is
//! reproduced exactly, and a component on a target of other proportions follows its surroundings.

use pliant_linalg::nearest_rotation;
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, MeshError, SurfaceIndex, Topology, triangle_area};

use super::components::Components;
use crate::extent::triangle_centroid;

/// Vertices of a component for which the nearest triangle is an anchor.
const ANCHORS_PER_COMPONENT: usize = 24;

/// The triangles of the target to which a point is attached.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attachment {
    pub(crate) triangles: Vec<u32>,
    /// From the rest centroid of each triangle to the point.
    lever_arms: Vec<DVec3>,
}

/// A component other than the main one.
#[derive(Debug, Clone)]
pub(crate) struct AttachedComponent {
    pub(crate) component: u32,
    pub(crate) attachment: Attachment,
    /// Whether some source animates it; if not, it moves rigidly.
    is_animated: bool,
}

/// How the components and isolated vertices of a target are placed.
#[derive(Debug, Clone)]
pub(crate) struct ComponentPlacement {
    /// The largest component that some source animates.
    pub(crate) main: u32,
    pub(crate) attached: Vec<AttachedComponent>,
    isolated: Vec<(u32, Attachment)>,
}

/// The motion of a component: a shift of its solution, or a rigid motion of its rest positions.
#[derive(Debug, Clone, Copy)]
enum ComponentMotion {
    Shift(DVec3),
    Rigid(DMat3, DVec3),
}

impl ComponentPlacement {
    /// `animated` has for every component whether some source animates it.
    pub(crate) fn new(
        target: &Mesh,
        components: &Components,
        animated: &[bool],
    ) -> Result<Self, MeshError> {
        let main = main_component(target, components, animated);
        Ok(Self {
            main,
            attached: attached_components(target, components, animated, main)?,
            isolated: isolated_vertices(target, components, animated, main)?,
        })
    }

    /// Moves components, whose centroids are at rest, and isolated vertices to their positions.
    /// `root` moves the main component; `deviations` has `δ` for each of
    /// [`attached`](Self::attached).
    pub(crate) fn apply(
        &self,
        target: &Mesh,
        components: &Components,
        gradients: &[DMat3],
        root: DVec3,
        deviations: &[DVec3],
        positions: &mut [DVec3],
    ) {
        let mut motions = vec![ComponentMotion::Shift(DVec3::ZERO); components.centroids.len()];
        motions[self.main as usize] = ComponentMotion::Shift(root);

        // Predictions use the main component before its shift by `root`.
        for (attached, deviation) in self.attached.iter().zip(deviations) {
            let predicted = attached.attachment.predict(target, gradients, positions);
            let goal = predicted + root + *deviation;
            let centroid = components.centroids[attached.component as usize];
            motions[attached.component as usize] = if attached.is_animated {
                ComponentMotion::Shift(goal - centroid)
            } else {
                let rotation = attached.attachment.mean_rotation(gradients);
                ComponentMotion::Rigid(rotation, goal - rotation * centroid)
            };
        }

        for (v, &component) in components.of_vertex.iter().enumerate() {
            match motions.get(component as usize) {
                Some(ComponentMotion::Shift(shift)) => positions[v] += *shift,
                Some(ComponentMotion::Rigid(rotation, shift)) => {
                    positions[v] = *rotation * target.positions()[v] + *shift;
                }
                None => {} // Without a face.
            }
        }
        for (vertex, attachment) in &self.isolated {
            positions[*vertex as usize] = attachment.predict(target, gradients, positions);
        }
    }
}

/// The component of the largest area among those that are animated, or among all if none is.
fn main_component(target: &Mesh, components: &Components, animated: &[bool]) -> u32 {
    let mut areas = vec![0.0; components.centroids.len()];
    for (t, triangle) in target.triangles().iter().enumerate() {
        let component = components.of_vertex[triangle[0] as usize];
        if let Some(area) = areas.get_mut(component as usize) {
            *area += triangle_area(target.triangle_points(t));
        }
    }

    // A large component that no source animates, such as a base, must not carry the root motion.
    let any = animated.contains(&true);
    let mut main: Option<usize> = None;
    for c in (0..areas.len()).filter(|&c| animated[c] || !any) {
        if main.is_none_or(|main| areas[c] > areas[main]) {
            main = Some(c);
        }
    }
    main.unwrap_or(0) as u32
}

/// The components other than the main one, attached to it.
fn attached_components(
    target: &Mesh,
    components: &Components,
    animated: &[bool],
    main: u32,
) -> Result<Vec<AttachedComponent>, MeshError> {
    let count = components.centroids.len() as u32;
    if count <= 1 {
        return Ok(Vec::new());
    }

    // Everything is attached to the main component directly, not in a chain.
    let surface = AnchorSurface::new(target, components, |component| component == main)?;
    let mut attached = Vec::new();
    for component in (0..count).filter(|&component| component != main) {
        attached.push(AttachedComponent {
            component,
            attachment: surface.attach_component(component, components)?,
            is_animated: animated[component as usize],
        });
    }
    Ok(attached)
}

/// The vertices without a face, attached to the nearest animated triangle.
fn isolated_vertices(
    target: &Mesh,
    components: &Components,
    animated: &[bool],
    main: u32,
) -> Result<Vec<(u32, Attachment)>, MeshError> {
    if !components.of_vertex.contains(&Topology::NONE) {
        return Ok(Vec::new());
    }

    // Only animated triangles have meaningful gradients.
    let surface = AnchorSurface::new(target, components, |component| {
        component == main || animated[component as usize]
    })?;
    let mut isolated = Vec::new();
    for (v, &component) in components.of_vertex.iter().enumerate() {
        if component == Topology::NONE {
            let point = target.positions()[v];
            isolated.push((v as u32, surface.attach(point, &[point])?));
        }
    }
    Ok(isolated)
}

impl Attachment {
    /// The position of the point if the triangles deform by `gradients` and the vertices are at
    /// `positions`.
    pub(crate) fn predict(&self, target: &Mesh, gradients: &[DMat3], positions: &[DVec3]) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for (&t, lever_arm) in self.triangles.iter().zip(&self.lever_arms) {
            let corners = target.triangles()[t as usize].map(|v| positions[v as usize]);
            let centroid = corners.into_iter().sum::<DVec3>() / 3.0;
            sum += centroid + nearest_rotation(gradients[t as usize]) * *lever_arm;
        }
        sum / self.triangles.len() as f64
    }

    fn mean_rotation(&self, gradients: &[DMat3]) -> DMat3 {
        let mut sum = DMat3::ZERO;
        for &t in &self.triangles {
            sum += nearest_rotation(gradients[t as usize]);
        }
        nearest_rotation(sum)
    }
}

/// The components of the target to which points are attached.
struct AnchorSurface<'a> {
    target: &'a Mesh,
    triangles: Vec<u32>,
    index: SurfaceIndex,
}

impl<'a> AnchorSurface<'a> {
    fn new(
        target: &'a Mesh,
        components: &Components,
        is_anchor: impl Fn(u32) -> bool,
    ) -> Result<Self, MeshError> {
        let mut triangles = Vec::new();
        let mut corners = Vec::new();
        for (t, triangle) in target.triangles().iter().enumerate() {
            let component = components.of_vertex[triangle[0] as usize];
            if component != Topology::NONE && is_anchor(component) {
                triangles.push(t as u32);
                corners.push(*triangle);
            }
        }

        let surface = Mesh::from_triangles(target.positions().to_vec(), &corners)?;
        Ok(Self {
            target,
            triangles,
            index: SurfaceIndex::new(&surface)?,
        })
    }

    /// Attaches the centroid of a component to triangles near some of its vertices.
    fn attach_component(
        &self,
        component: u32,
        components: &Components,
    ) -> Result<Attachment, MeshError> {
        let mut own = Vec::new();
        for (position, &of_vertex) in self.target.positions().iter().zip(&components.of_vertex) {
            if of_vertex == component {
                own.push(*position);
            }
        }

        // Anchors all around the component make the prediction robust.
        let stride = own.len().div_ceil(ANCHORS_PER_COMPONENT).max(1);
        let seekers: Vec<DVec3> = own.into_iter().step_by(stride).collect();
        self.attach(components.centroids[component as usize], &seekers)
    }

    /// Attaches `point` to the triangle nearest to each of `seekers`.
    fn attach(&self, point: DVec3, seekers: &[DVec3]) -> Result<Attachment, MeshError> {
        let mut attachment = Attachment::default();
        for closest in self.index.closest_points(seekers)? {
            let t = self.triangles[closest.place.triangle as usize];
            let lever_arm = point - triangle_centroid(self.target, t as usize);
            attachment.triangles.push(t);
            attachment.lever_arms.push(lever_arm);
        }
        Ok(attachment)
    }
}
