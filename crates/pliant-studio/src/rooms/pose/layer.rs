//! The layer on top of the sliders and the colours of the face, made beside the window.

use std::sync::Arc;

use pliant::mesh::glam::DVec3;
use pliant::mesh::{ExactGeodesics, SurfacePoint};
use pliant::rig::{Residual, ResidualLayer, ResidualOptions, Rig, RigError, unreachable_map};

use super::{HeatKind, Sculpt};
use crate::character::Posed;
use crate::command::Notice;
use crate::document::AddedTarget;
use crate::rooms::{Cx, RoomName};
use crate::view::{Heat, HeatMap, Vertices};
use crate::work::{Inbox, Latest, Outbox};

/// The layer as it stands.
#[derive(Default)]
pub(super) struct Layer {
    worker: Option<Latest<Question, Layered>>,
    asked: Option<Question>,
    layered: Option<Layered>,
}

/// A pose, and what is to be added to it.
#[derive(Debug, Clone)]
struct Question {
    rig: Arc<Rig>,
    positions: Arc<Vec<DVec3>>,
    vertices: Arc<Vertices>,
    /// Pins that ask for a place.
    goals: Vec<(u32, DVec3)>,
    /// Pins with what no slider reaches of their goals.
    misses: Vec<(u32, f64)>,
    /// Vertices from which distances are measured.
    from: Vec<u32>,
    sculpt: Sculpt,
    heat: HeatKind,
}

impl PartialEq for Question {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.positions, &other.positions)
            && (&self.goals, &self.misses, &self.from) == (&other.goals, &other.misses, &other.from)
            && (&self.sculpt, self.heat) == (&other.sculpt, other.heat)
    }
}

/// A pose with its layer.
#[derive(Debug, Clone)]
struct Layered {
    face: Face,
    residual: Option<Arc<Residual>>,
    largest: f64,
}

/// The face as it is shown.
#[derive(Debug, Clone)]
pub(super) struct Face {
    /// Where its vertices are.
    pub(super) positions: Arc<Vec<DVec3>>,
    /// The same for the card.
    pub(super) vertices: Arc<Vertices>,
    /// Its colours.
    pub(super) heat: Option<Heat>,
}

impl Layer {
    /// Fetches the layer and asks for the one that is wanted; `selected` is a pin.
    pub(super) fn update(&mut self, selected: Option<usize>, cx: &mut Cx<'_>) {
        match self.worker.as_ref().and_then(Latest::answer) {
            Some(Ok(layered)) => self.layered = Some(layered),
            Some(Err(sentence)) => {
                // The face of an earlier pose would stay for ever.
                self.layered = None;
                cx.tell(Notice::trouble(sentence));
            }
            None => {}
        }
        if cx.desk.room != RoomName::Pose {
            return;
        }
        let wanted = question(selected, cx);
        if wanted.is_none() {
            (self.asked, self.layered) = (None, None);
        }
        if let Some(question) = wanted.filter(|question| self.asked.as_ref() != Some(question)) {
            self.asked = Some(question.clone());
            let worker = self
                .worker
                .get_or_insert_with(|| Latest::new("Sculpting", cx.wake.clone(), serve));
            worker.ask(question);
        }
    }

    /// The face as it is shown: with the layer, where there is one for a rig of this shape.
    pub(super) fn face(&self, posed: &Posed) -> Face {
        let fits = |layered: &&Layered| layered.face.positions.len() == posed.positions.len();
        match self.layered.as_ref().filter(fits) {
            Some(layered) => layered.face.clone(),
            None => Face {
                positions: posed.positions.clone(),
                vertices: posed.vertices.clone(),
                heat: None,
            },
        }
    }

    /// Whether a layer is being made.
    pub(super) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }

    /// How far the layer moves a vertex at most, and how many it moves.
    pub(super) fn extent(&self) -> Option<(usize, f64)> {
        let layered = self.layered.as_ref()?;
        layered
            .residual
            .as_ref()
            .map(|residual| (residual.vertices().len(), layered.largest))
    }

    /// The layer as a target that adds it at weight 1.
    pub(super) fn to_target(&self, name: &str) -> Result<AddedTarget, String> {
        let residual = self
            .layered
            .as_ref()
            .and_then(|layered| layered.residual.as_ref());
        let residual =
            residual.ok_or("There is nothing to keep; drag a pin out of reach first.")?;
        let target = residual
            .to_target(name, 1.0)
            .map_err(|error| error.to_string())?;
        let deltas = target.deltas.iter().map(|d| d.to_array()).collect();
        Ok(AddedTarget {
            name: target.name,
            vertices: Arc::new(target.vertices),
            deltas: Arc::new(deltas),
        })
    }
}

/// What is wanted for this frame, if anything is.
fn question(selected: Option<usize>, cx: &Cx<'_>) -> Option<Question> {
    let (setup, posed) = (&cx.document.pose, cx.posed?);
    let asks = |vertex: u32| (vertex as usize) < posed.positions.len();
    let goals = setup
        .pins
        .iter()
        .filter(|mark| asks(mark.vertex))
        .filter_map(|mark| Some((mark.vertex, mark.goal()?)));
    let goals: Vec<(u32, DVec3)> = goals.collect();
    if setup.heat == HeatKind::Off && (!setup.sculpt.on || goals.is_empty()) {
        return None;
    }
    let misses = if setup.heat == HeatKind::Unreachable {
        misses(cx, posed, &goals)
    } else {
        Vec::new()
    };
    let measured = setup
        .pins
        .iter()
        .enumerate()
        .filter(|(k, mark)| asks(mark.vertex) && selected.is_none_or(|pin| pin == *k));
    let from = if setup.heat == HeatKind::Geodesic {
        measured.map(|(_, mark)| mark.vertex).collect()
    } else {
        Vec::new()
    };
    let (rig, positions, vertices) = (
        posed.rig.clone(),
        posed.positions.clone(),
        posed.vertices.clone(),
    );
    Some(Question {
        rig,
        positions,
        vertices,
        goals,
        misses,
        from,
        sculpt: setup.sculpt,
        heat: setup.heat,
    })
}

/// What no slider reaches: as the last solve found it, else as pins miss their goals.
fn misses(cx: &Cx<'_>, posed: &Posed, goals: &[(u32, DVec3)]) -> Vec<(u32, f64)> {
    let pull = cx
        .document
        .pose
        .current_pull(&cx.document.character.weights);
    match (pull, cx.solve) {
        (Some(pull), Some(solve)) if pull.pins.len() == solve.explanation.unreachable.len() => {
            let pins = pull
                .pins
                .iter()
                .filter(|pin| (pin.vertex as usize) < posed.positions.len());
            pins.zip(&solve.explanation.unreachable)
                .map(|(pin, miss)| (pin.vertex, miss.length()))
                .collect()
        }
        _ => goals
            .iter()
            .map(|&(vertex, goal)| (vertex, goal.distance(posed.positions[vertex as usize])))
            .collect(),
    }
}

fn serve(inbox: &Inbox<Question>, outbox: &Outbox<Layered>) {
    let mut measured = None;
    while let Some(question) = inbox.next() {
        outbox.put(layered(&question, &mut measured).map_err(|error| error.to_string()));
    }
}

/// Distances on the neutral of a rig, which no pose changes.
#[derive(Debug)]
struct Measured {
    rig: Arc<Rig>,
    from: Vec<u32>,
    heat: Heat,
}

fn layered(question: &Question, measured: &mut Option<Measured>) -> Result<Layered, RigError> {
    let mesh = question.rig.neutral();
    let mut face = Face {
        positions: question.positions.clone(),
        vertices: question.vertices.clone(),
        heat: None,
    };
    let mut residual = None;
    if question.sculpt.on && !question.goals.is_empty() {
        let made = sculpted(question)?;
        let mut positions = question.positions.to_vec();
        made.apply_to(&mut positions, 1.0)?;
        face.vertices = Vertices::of(mesh, &positions);
        face.positions = Arc::new(positions);
        residual = Some(Arc::new(made));
    }
    face.heat = heat(question, &face.positions, measured)?;
    let lengths = residual
        .iter()
        .flat_map(|residual| residual.displacements())
        .map(|d| d.length());
    let largest = lengths.fold(0.0, f64::max);
    Ok(Layered {
        face,
        residual,
        largest,
    })
}

fn sculpted(question: &Question) -> Result<Residual, RigError> {
    let (mesh, positions) = (question.rig.neutral(), &question.positions);
    let places: Vec<SurfacePoint> = question
        .goals
        .iter()
        .map(|(vertex, _)| SurfacePoint::Vertex(*vertex))
        .collect();
    let misses: Vec<DVec3> = question
        .goals
        .iter()
        .map(|&(vertex, goal)| goal - positions[vertex as usize])
        .collect();
    let radius = question
        .sculpt
        .radius
        .unwrap_or_else(|| ResidualLayer::suggested_radius(mesh, positions, &misses));
    Ok(ResidualLayer::factor(
        mesh,
        positions,
        &places,
        radius,
        &ResidualOptions::default(),
    )?
    .residual(&misses)?
    .0)
}

fn heat(
    question: &Question,
    shown: &[DVec3],
    measured: &mut Option<Measured>,
) -> Result<Option<Heat>, RigError> {
    let mesh = question.rig.neutral();
    Ok(match question.heat {
        HeatKind::Off => None,
        HeatKind::Geodesic if question.from.is_empty() => None,
        HeatKind::Geodesic => Some(distances(question, measured)?),
        HeatKind::Displacement => {
            let values: Vec<f64> = shown
                .iter()
                .zip(mesh.positions())
                .map(|(p, q)| p.distance(*q))
                .collect();
            Some(Heat::new(&values, HeatMap::Sequential, "Displacement", ""))
        }
        HeatKind::Unreachable => {
            let places: Vec<SurfacePoint> = question
                .misses
                .iter()
                .map(|(vertex, _)| SurfacePoint::Vertex(*vertex))
                .collect();
            let lengths: Vec<f64> = question.misses.iter().map(|(_, miss)| *miss).collect();
            let vectors: Vec<DVec3> = lengths.iter().map(|&length| DVec3::X * length).collect();
            let radius = question.sculpt.radius.unwrap_or_else(|| {
                ResidualLayer::suggested_radius(mesh, &question.positions, &vectors)
            });
            let values = unreachable_map(
                &mesh.posed(question.positions.to_vec())?,
                &places,
                &lengths,
                radius,
            )?;
            Some(Heat::new(&values, HeatMap::Sequential, "Out of reach", ""))
        }
    })
}

/// Distances from the pins, measured again only for other pins or another rig.
fn distances(question: &Question, measured: &mut Option<Measured>) -> Result<Heat, RigError> {
    let known = measured
        .take()
        .filter(|known| Arc::ptr_eq(&known.rig, &question.rig) && known.from == question.from);
    let known = match known {
        Some(known) => known,
        None => {
            let pins: Vec<SurfacePoint> = question
                .from
                .iter()
                .map(|vertex| SurfacePoint::Vertex(*vertex))
                .collect();
            let heat =
                Heat::of_distances(&ExactGeodesics::new(question.rig.neutral())?.distances(&pins)?);
            Measured {
                rig: question.rig.clone(),
                from: question.from.clone(),
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
    fn distances_on_a_ball_are_angles_and_a_pose_does_not_measure_again() {
        let (mesh, mut measured) = (icosphere(4), None);
        let rig = Arc::new(Rig::still(mesh.clone()));
        let mut heat = |from: &[u32], larger: f64| {
            let positions: Vec<DVec3> = mesh
                .positions()
                .iter()
                .map(|place| *place * larger)
                .collect();
            let vertices = Vertices::of(&mesh, &positions);
            let (goals, misses, sculpt) = (Vec::new(), Vec::new(), Sculpt::default());
            let (rig, positions, from, heat) = (
                rig.clone(),
                Arc::new(positions),
                from.to_vec(),
                HeatKind::Geodesic,
            );
            layered(
                &Question {
                    rig,
                    positions,
                    vertices,
                    goals,
                    misses,
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
