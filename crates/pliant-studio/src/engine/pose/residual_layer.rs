//! Worker for the residual layer on top of the sliders and for the colours of the face.

use std::sync::Arc;

use pliant::mesh::glam::DVec3;
use pliant::mesh::{ExactGeodesics, SurfacePoint, VertexId};
use pliant::rig::{Residual, ResidualLayer, ResidualOptions, Rig, RigError, unreachable_map};

use crate::engine::character::PosedCharacter;
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::heat::{Heat, HeatMap};
use crate::engine::surface::Vertices;
use crate::engine::work::{Inbox, Latest, Outbox};
use crate::model::document::AddedTarget;
use crate::model::names::to_message;
use crate::model::pose::{HeatKind, ResidualSettings};
use crate::model::room::RoomName;

/// The layer in its current state.
#[derive(Default)]
pub(crate) struct ResidualLayerView {
    worker: Option<Latest<LayerRequest, LayerResult>>,
    requested: Option<LayerRequest>,
    layered: Option<LayerResult>,
}

/// A pose, and what is to be added to it.
#[derive(Debug, Clone)]
struct LayerRequest {
    rig: Arc<Rig>,
    positions: Arc<Vec<DVec3>>,
    vertices: Arc<Vertices>,
    /// Pins that request a place.
    goals: Vec<(u32, DVec3)>,
    /// Pins with what no slider reaches of their goals.
    gaps: Vec<(u32, f64)>,
    /// Vertices from which distances are measured.
    from: Vec<u32>,
    sculpt: ResidualSettings,
    heat: HeatKind,
}

impl PartialEq for LayerRequest {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.positions, &other.positions)
            && (&self.goals, &self.gaps, &self.from) == (&other.goals, &other.gaps, &other.from)
            && (&self.sculpt, self.heat) == (&other.sculpt, other.heat)
    }
}

/// A pose with its layer.
#[derive(Debug, Clone)]
struct LayerResult {
    face: ShownFace,
    residual: Option<Arc<Residual>>,
    largest: f64,
}

/// The face as it is shown.
#[derive(Debug, Clone)]
pub(crate) struct ShownFace {
    /// Where its vertices are.
    pub(crate) positions: Arc<Vec<DVec3>>,
    /// The vertices for the graphics card.
    pub(crate) vertices: Arc<Vertices>,
    /// Its colours.
    pub(crate) heat: Option<Heat>,
}

impl ResidualLayerView {
    /// Fetches the layer and requests the one that is requested; `selected` is a pin.
    pub(crate) fn update(&mut self, selected: Option<usize>, cx: &mut Cx<'_>) {
        match self.worker.as_ref().and_then(Latest::result) {
            Some(Ok(layered)) => self.layered = Some(layered),
            Some(Err(message)) => {
                // Otherwise the face of an earlier pose would stay.
                self.layered = None;
                cx.notify(Notice::error(message));
            }
            None => {}
        }

        if cx.view_state.room != RoomName::Pose {
            return;
        }

        let wanted = request(selected, cx);
        if wanted.is_none() {
            (self.requested, self.layered) = (None, None);
        }

        if let Some(request) = wanted.filter(|request| self.requested.as_ref() != Some(request)) {
            self.requested = Some(request.clone());
            let worker = self
                .worker
                .get_or_insert_with(|| Latest::new("Residual layer", cx.wake.clone(), serve));
            worker.send(request);
        }
    }

    /// The face as it is shown: with the layer, where there is one for a rig of this shape.
    pub(crate) fn face(&self, posed: &PosedCharacter) -> ShownFace {
        let fits = |layered: &&LayerResult| layered.face.positions.len() == posed.positions.len();
        match self.layered.as_ref().filter(fits) {
            Some(layered) => layered.face.clone(),
            None => ShownFace {
                positions: posed.positions.clone(),
                vertices: posed.vertices.clone(),
                heat: None,
            },
        }
    }

    /// Whether a layer is being made.
    pub(crate) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }

    /// How far the layer moves a vertex at most, and how many it moves.
    pub(crate) fn extent(&self) -> Option<(usize, f64)> {
        let layered = self.layered.as_ref()?;
        layered
            .residual
            .as_ref()
            .map(|residual| (residual.vertices().len(), layered.largest))
    }

    /// The layer as a target that adds it at weight 1.
    pub(crate) fn to_target(&self, name: &str) -> Result<AddedTarget, String> {
        let residual = self
            .layered
            .as_ref()
            .and_then(|layered| layered.residual.as_ref());
        let residual = residual.ok_or(
            "The residual layer is empty; drag a pin beyond the reach of the sliders first.",
        )?;

        let target = residual.to_target(name, 1.0).map_err(to_message)?;
        let deltas = target.deltas.iter().map(|d| d.to_array()).collect();

        Ok(AddedTarget {
            name: target.name,
            vertices: Arc::new(target.vertices),
            deltas: Arc::new(deltas),
        })
    }
}

/// The request of this frame, if any.
fn request(selected: Option<usize>, cx: &Cx<'_>) -> Option<LayerRequest> {
    let setup = &cx.document.pose;
    let posed = cx.posed?;
    let asks = |vertex: VertexId| vertex.index() < posed.positions.len();
    let goals = setup
        .pins
        .iter()
        .filter(|mark| asks(mark.vertex))
        .filter_map(|mark| Some((mark.vertex.get(), mark.goal()?)));

    let goals: Vec<(u32, DVec3)> = goals.collect();
    // Without colours and without goals the plain pose is shown.
    if setup.heat == HeatKind::Off && (!setup.sculpt.on || goals.is_empty()) {
        return None;
    }

    // Only the requested colours are prepared.
    let gaps = if setup.heat == HeatKind::Unreachable {
        gaps(cx, posed, &goals)
    } else {
        Vec::new()
    };

    let measured = setup
        .pins
        .iter()
        .enumerate()
        .filter(|(k, mark)| asks(mark.vertex) && selected.is_none_or(|pin| pin == *k));

    let from = if setup.heat == HeatKind::Geodesic {
        measured.map(|(_, mark)| mark.vertex.get()).collect()
    } else {
        Vec::new()
    };

    let rig = posed.rig.clone();
    let positions = posed.positions.clone();
    let vertices = posed.vertices.clone();

    Some(LayerRequest {
        rig,
        positions,
        vertices,
        goals,
        gaps,
        from,
        sculpt: setup.sculpt,
        heat: setup.heat,
    })
}

/// What no slider reaches: as the last solve found it, else as pins miss their goals.
fn gaps(cx: &Cx<'_>, posed: &PosedCharacter, goals: &[(u32, DVec3)]) -> Vec<(u32, f64)> {
    let pull = cx
        .document
        .pose
        .current_pull(&cx.document.character.weights);
    match (pull, cx.solve) {
        // The solver knows what no slider reaches, even where the user stopped early.
        (Some(pull), Some(solve)) if pull.pins.len() == solve.explanation.unreachable.len() => {
            let pins = pull
                .pins
                .iter()
                .filter(|pin| pin.vertex.index() < posed.positions.len());
            pins.zip(&solve.explanation.unreachable)
                .map(|(pin, gap)| (pin.vertex.get(), gap.length()))
                .collect()
        }
        _ => goals
            .iter()
            .map(|&(vertex, goal)| (vertex, goal.distance(posed.positions[vertex as usize])))
            .collect(),
    }
}

fn serve(inbox: &Inbox<LayerRequest>, outbox: &Outbox<LayerResult>) {
    let mut measured = None;
    while let Some(request) = inbox.next() {
        outbox.put(layered(&request, &mut measured).map_err(to_message));
    }
}

/// Distances on the neutral of a rig, which no pose changes.
#[derive(Debug)]
struct GeodesicCache {
    rig: Arc<Rig>,
    from: Vec<u32>,
    heat: Heat,
}

fn layered(
    request: &LayerRequest,
    measured: &mut Option<GeodesicCache>,
) -> Result<LayerResult, RigError> {
    let mesh = request.rig.neutral();
    let mut face = ShownFace {
        positions: request.positions.clone(),
        vertices: request.vertices.clone(),
        heat: None,
    };

    let mut residual = None;
    if request.sculpt.on && !request.goals.is_empty() {
        let made = sculpted(request)?;
        let mut positions = request.positions.to_vec();
        made.apply_to(&mut positions, 1.0)?;
        face.vertices = Vertices::of(mesh, &positions);
        face.positions = Arc::new(positions);
        residual = Some(Arc::new(made));
    }

    // The colours are those of the shown surface, with the layer.
    face.heat = heat(request, &face.positions, measured)?;
    let lengths = residual
        .iter()
        .flat_map(|residual| residual.displacements())
        .map(|d| d.length());
    let largest = lengths.fold(0.0, f64::max);

    Ok(LayerResult {
        face,
        residual,
        largest,
    })
}

fn sculpted(request: &LayerRequest) -> Result<Residual, RigError> {
    let mesh = request.rig.neutral();
    let positions = &request.positions;
    let places: Vec<SurfacePoint> = request
        .goals
        .iter()
        .map(|(vertex, _)| SurfacePoint::Vertex(*vertex))
        .collect();

    let gaps: Vec<DVec3> = request
        .goals
        .iter()
        .map(|&(vertex, goal)| goal - positions[vertex as usize])
        .collect();

    // The radius grows with the gap, so that the surface does not fold.
    let radius = request
        .sculpt
        .radius
        .unwrap_or_else(|| ResidualLayer::suggested_radius(mesh, positions, &gaps));

    Ok(ResidualLayer::factor(
        mesh,
        positions,
        &places,
        radius,
        &ResidualOptions::default(),
    )?
    .residual(&gaps)?
    .0)
}

fn heat(
    request: &LayerRequest,
    shown: &[DVec3],
    measured: &mut Option<GeodesicCache>,
) -> Result<Option<Heat>, RigError> {
    let mesh = request.rig.neutral();
    Ok(match request.heat {
        HeatKind::Off => None,
        HeatKind::Geodesic if request.from.is_empty() => None,
        HeatKind::Geodesic => Some(distances(request, measured)?),
        HeatKind::Displacement => {
            let values: Vec<f64> = shown
                .iter()
                .zip(mesh.positions())
                .map(|(p, q)| p.distance(*q))
                .collect();
            Some(Heat::new(&values, HeatMap::Sequential, "Displacement", ""))
        }
        HeatKind::Unreachable => {
            let places: Vec<SurfacePoint> = request
                .gaps
                .iter()
                .map(|(vertex, _)| SurfacePoint::Vertex(*vertex))
                .collect();
            let lengths: Vec<f64> = request.gaps.iter().map(|(_, gap)| *gap).collect();
            // The radius depends on lengths only, so any direction serves.
            let vectors: Vec<DVec3> = lengths.iter().map(|&length| DVec3::X * length).collect();

            let radius = request.sculpt.radius.unwrap_or_else(|| {
                ResidualLayer::suggested_radius(mesh, &request.positions, &vectors)
            });
            let values = unreachable_map(
                &mesh.posed(request.positions.to_vec())?,
                &places,
                &lengths,
                radius,
            )?;

            Some(Heat::new(&values, HeatMap::Sequential, "Unreachable", ""))
        }
    })
}

/// Distances from the pins, measured again only for other pins or another rig.
fn distances(
    request: &LayerRequest,
    measured: &mut Option<GeodesicCache>,
) -> Result<Heat, RigError> {
    // Distances on the neutral mesh do not depend on the pose.
    let known = measured
        .take()
        .filter(|known| Arc::ptr_eq(&known.rig, &request.rig) && known.from == request.from);
    let known = match known {
        Some(known) => known,
        None => {
            let pins: Vec<SurfacePoint> = request
                .from
                .iter()
                .map(|vertex| SurfacePoint::Vertex(*vertex))
                .collect();
            let heat =
                Heat::of_distances(&ExactGeodesics::new(request.rig.neutral())?.distances(&pins)?);

            GeodesicCache {
                rig: request.rig.clone(),
                from: request.from.clone(),
                heat,
            }
        }
    };

    Ok(measured.insert(known).heat.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::mesh::shapes::icosphere;

    #[test]
    fn distances_on_a_sphere_are_angles_and_are_cached_between_poses() {
        let mesh = icosphere(4);
        let mut measured = None;
        let rig = Arc::new(Rig::without_targets(mesh.clone()));
        let mut heat = |from: &[u32], larger: f64| {
            let positions: Vec<DVec3> = mesh
                .positions()
                .iter()
                .map(|place| *place * larger)
                .collect();
            let vertices = Vertices::of(&mesh, &positions);
            let goals = Vec::new();
            let gaps = Vec::new();
            let sculpt = ResidualSettings::default();

            let rig = rig.clone();
            let positions = Arc::new(positions);
            let from = from.to_vec();
            let heat = HeatKind::Geodesic;

            layered(
                &LayerRequest {
                    rig,
                    positions,
                    vertices,
                    goals,
                    gaps,
                    from,
                    sculpt,
                    heat,
                },
                &mut measured,
            )
            .unwrap()
            .face
            .heat
        };

        // On the unit sphere a geodesic distance is the angle between the two positions.
        let first = heat(&[5], 1.0).unwrap();
        for (place, value) in mesh.positions().iter().zip(first.values.iter()) {
            let angle = mesh.positions()[5].angle_between(*place);
            assert!(
                (f64::from(*value) - angle).abs() < 0.01 * (1.0 + angle),
                "{value} for {angle}"
            );
        }

        assert!(
            Arc::ptr_eq(&heat(&[5], 2.0).unwrap().values, &first.values),
            "the neutral is the same in every pose"
        );
        assert_eq!(heat(&[9], 1.0).unwrap().values[9], 0.0);
        assert_eq!(
            heat(&[], 1.0),
            None,
            "without a pin there is nothing to measure from"
        );
    }
}
