//! Which markers are wrong, and how.
//!
//! **Problem.** A person sets dozens of pairs by hand. One that names left for right makes a leg of
//! the target twist, and nothing but the result tells which.
//!
//! **Method.** Numbers are held against the meshes, ends against the connected parts they lie on,
//! and each pair against the place where the others put it (see `marker_prediction`). One that
//! stands out is tried with the usual slips undone: exchanged with another that stands
//! out, the target's vertex on the other side, the two numbers the other way round. Where that
//! brings it home it is named.
//!
//! **Ours.** A pair that stands out without such a reason is called far off above [`FAR_OFF`];
//! below, the shapes may well differ there.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{HeatGeodesics, HeatOptions, Mesh, SurfacePoint};

use crate::extent::diagonal;
use crate::marker_mirror::symmetry_plane;
use crate::marker_prediction::{Predictions, STANDS_OUT};
use crate::markers::Astray;
use crate::{Markers, Similarity, TransferError};

/// A pair that stands out this much is wrong even if nobody knows why. Measured: none of the 107
/// published pairs of `horse-camel` does; the hump and the tail, where the two differ, come
/// nearest.
const FAR_OFF: f64 = 12.0;

/// Pairs that a similarity misses by less, as a part of the target's diagonal, are right enough as
/// they are. *Ours*.
const EXCHANGED_MISS: f64 = 0.05;

/// How much shapes usually differ, as a part of the target's diagonal. Measured: 0.02 for
/// `horse-camel`.
const USUAL: f64 = 0.02;

/// Nothing is wrong that is off by less than this part of the target's diagonal.
const LEAST_OFF: f64 = 0.02;

/// A slip is undone where that leaves less than this part of the distance.
const EXPLAINED: f64 = 0.4;

/// Places farther than this part of the diagonal from all markers are worth a word.
const FAR_FROM_MARKERS: f64 = 0.3;

/// What is wrong with a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MarkerFlaw {
    /// It names a vertex that is not there. A transfer declines it.
    OutOfRange,
    /// It is a marker that was listed before.
    Repeated {
        /// That marker.
        first: usize,
    },
    /// An earlier marker gives one of its vertices another partner.
    SecondPartner {
        /// That marker.
        other: usize,
    },
    /// An end is on a vertex without faces.
    OffFaces,
    /// Its ends are on parts that do not belong together.
    OtherPart,
    /// It and another marker have each other's target vertices.
    Exchanged {
        /// That marker.
        with: usize,
    },
    /// Its target vertex is on the wrong side.
    OtherSide,
    /// Its numbers are the wrong way round.
    Reversed,
    /// It is far from where the others put it.
    FarOff,
    /// It is off more than its neighbours; the shapes may differ there.
    Unlike,
}

impl MarkerFlaw {
    /// One word for it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::OutOfRange => "out_of_range",
            Self::Repeated { .. } => "repeated",
            Self::SecondPartner { .. } => "second_partner",
            Self::OffFaces => "off_faces",
            Self::OtherPart => "other_part",
            Self::Exchanged { .. } => "exchanged",
            Self::OtherSide => "other_side",
            Self::Reversed => "reversed",
            Self::FarOff => "far_off",
            Self::Unlike => "unlike",
        }
    }

    /// Whether the pair is surely no good; else a look at it is enough.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        !matches!(self, Self::Repeated { .. } | Self::Unlike)
    }

    /// What is the matter and what to do, for a person.
    #[must_use]
    pub fn sentence(&self, markers: &Markers) -> String {
        match self {
            Self::OutOfRange => "names a vertex that is not there; correct it or remove it".into(),
            Self::Repeated { first } => format!("repeats {}", markers.label(*first)),
            Self::SecondPartner { other } => {
                format!("and {} share a vertex; remove one", markers.label(*other))
            }
            Self::OffFaces => Astray::OffFaces.to_string(),
            Self::OtherPart => Astray::OtherPart.to_string(),
            Self::Exchanged { with } => format!(
                "looks exchanged with {}: each fits the other's target vertex",
                markers.label(*with)
            ),
            Self::OtherSide => {
                "looks swapped left for right: the other side of the target fits".into()
            }
            Self::Reversed => {
                "looks reversed: target vertex first, source vertex second fits".into()
            }
            Self::FarOff => {
                "is far from where the other markers put it; check that it names the same spot"
                    .into()
            }
            Self::Unlike => {
                "is off more than the markers beside it; fine if the shapes differ there".into()
            }
        }
    }
}

/// What is known about one pair.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkerVerdict {
    /// How far it is from where the others put it, as a part of the target's diagonal; nothing
    /// where that cannot be told.
    pub off: Option<f64>,
    /// What is wrong with it.
    pub flaws: Vec<MarkerFlaw>,
}

/// How well the markers are spread over one mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarkerCoverage {
    /// The mean geodesic distance of vertices to the nearest marker, as a part of the diagonal.
    pub mean: f64,
    /// The largest one.
    pub farthest: f64,
    /// The vertex there.
    pub farthest_vertex: u32,
    /// Connected parts.
    pub parts: usize,
    /// Parts without a marker, which go along with what is beside them.
    pub parts_without: usize,
}

/// What is known about some markers.
#[derive(Debug, Clone)]
pub struct MarkerCheck {
    /// One for each pair.
    pub verdicts: Vec<MarkerVerdict>,
    /// How they are spread over source and target; nothing without a pair.
    pub coverage: Option<[MarkerCoverage; 2]>,
    /// What a person should know, one sentence each.
    pub problems: Vec<String>,
    /// Why a transfer would decline them.
    pub refusal: Option<TransferError>,
}

impl MarkerCheck {
    /// Whether every pair names vertices that are there.
    #[must_use]
    pub fn all_are_there(&self) -> bool {
        !self
            .verdicts
            .iter()
            .any(|verdict| verdict.flaws.contains(&MarkerFlaw::OutOfRange))
    }
}

/// Looks at each pair by itself and beside the others.
///
/// # Errors
/// If a mesh has no faces or a position is not finite.
pub fn check_markers(
    source: &Mesh,
    target: &Mesh,
    markers: &Markers,
) -> Result<MarkerCheck, TransferError> {
    source.require_surface()?;
    target.require_surface()?;
    let mut verdicts: Vec<MarkerVerdict> = markers
        .pairs()
        .iter()
        .map(|_| MarkerVerdict {
            off: None,
            flaws: Vec::new(),
        })
        .collect();
    let (inside, outside): (Vec<usize>, Vec<usize>) =
        (0..verdicts.len()).partition(|&k| markers.require_in_range(k, source, target).is_ok());
    outside
        .iter()
        .for_each(|&k| verdicts[k].flaws.push(MarkerFlaw::OutOfRange));
    let mut there = Markers::default();
    inside
        .iter()
        .for_each(|&k| there.push(markers.names()[k].clone(), markers.pairs()[k]));
    let own = |flaw: MarkerFlaw| flaw.renumbered(&inside);
    for (k, flaw) in listed_twice(&there)
        .into_iter()
        .chain(astray(&there, source, target))
    {
        verdicts[inside[k]].flaws.push(own(flaw));
    }
    let judged = Judged::new(&there, source, target)?;
    for k in 0..inside.len() {
        verdicts[inside[k]].off = judged.off(k);
        verdicts[inside[k]].flaws.extend(judged.flaw(k).map(own));
    }
    let (mut problems, refusal) = match markers.check(source, target) {
        Ok(warnings) => (warnings, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    problems.extend(judged.doubts(&there));
    let coverage = coverage(&there, source, target)?;
    problems.extend(
        coverage
            .iter()
            .flatten()
            .zip(["source", "target"])
            .filter_map(|(coverage, side)| coverage.problem(side)),
    );
    Ok(MarkerCheck {
        verdicts,
        coverage,
        problems,
        refusal,
    })
}

/// What makes markers doubtful that are all there, one sentence each: pairs that the others
/// contradict, and left for right throughout.
pub(crate) fn doubts(
    source: &Mesh,
    target: &Mesh,
    markers: &Markers,
) -> Result<Vec<String>, TransferError> {
    let mut doubts = Judged::new(markers, source, target)?.doubts(markers);
    doubts.extend(columns_seem_exchanged(source, target, markers)?);
    Ok(doubts)
}

/// A sentence where the pairs fit far better read as (target, source).
fn columns_seem_exchanged(
    source: &Mesh,
    target: &Mesh,
    markers: &Markers,
) -> Result<Option<String>, TransferError> {
    let miss = |pairs: &[(u32, u32)]| -> Result<Option<f64>, TransferError> {
        let place = |mesh: &Mesh, v: u32| mesh.positions().get(v as usize).copied();
        let ends = pairs
            .iter()
            .map(|&(a, b)| Some((place(source, a)?, place(target, b)?)))
            .collect::<Option<Vec<_>>>();
        let Some((from, to)) =
            ends.map(|ends| ends.into_iter().unzip::<DVec3, DVec3, Vec<_>, Vec<_>>())
        else {
            return Ok(None);
        };
        let laid = Similarity::fit(&from, &to)?.apply_all(&from);
        let squares: f64 = laid
            .iter()
            .zip(&to)
            .map(|(p, q)| p.distance_squared(*q))
            .sum();
        Ok(Some(
            (squares / pairs.len().max(1) as f64).sqrt() / diagonal(target),
        ))
    };
    let exchanged: Vec<(u32, u32)> = markers.pairs().iter().map(|&(a, b)| (b, a)).collect();
    let (Some(given), Some(other)) = (miss(markers.pairs())?, miss(&exchanged)?) else {
        return Ok(None);
    };
    let seems = given > EXCHANGED_MISS && 2.0 * other < given;
    Ok(seems.then(|| "the pairs fit far better with their numbers exchanged: is the source's vertex first in each?".to_owned()))
}

impl MarkerFlaw {
    /// With the numbers of all markers instead of those among some.
    fn renumbered(self, numbers: &[usize]) -> Self {
        match self {
            Self::Repeated { first } => Self::Repeated {
                first: numbers[first],
            },
            Self::SecondPartner { other } => Self::SecondPartner {
                other: numbers[other],
            },
            Self::Exchanged { with } => Self::Exchanged {
                with: numbers[with],
            },
            other => other,
        }
    }
}

fn listed_twice(markers: &Markers) -> Vec<(usize, MarkerFlaw)> {
    let pairs = markers.pairs();
    let flaw = |k: usize| {
        let (a, b) = pairs[k];
        match pairs[..k].iter().position(|&earlier| earlier == (a, b)) {
            Some(first) => Some(MarkerFlaw::Repeated { first }),
            None => pairs[..k]
                .iter()
                .position(|&(c, d)| a == c || b == d)
                .map(|other| MarkerFlaw::SecondPartner { other }),
        }
    };
    (0..pairs.len())
        .filter_map(|k| Some((k, flaw(k)?)))
        .collect()
}

fn astray(markers: &Markers, source: &Mesh, target: &Mesh) -> Vec<(usize, MarkerFlaw)> {
    let flaw = |why: Astray| match why {
        Astray::OffFaces => MarkerFlaw::OffFaces,
        Astray::OtherPart => MarkerFlaw::OtherPart,
    };
    markers
        .astray(source, target)
        .into_iter()
        .map(|(k, why)| (k, flaw(why)))
        .collect()
}

/// Each pair beside the others.
struct Judged<'a> {
    source: &'a Mesh,
    target: &'a Mesh,
    pairs: &'a [(u32, u32)],
    /// Nothing for too few markers.
    predictions: Option<Predictions>,
    flaws: Vec<Option<MarkerFlaw>>,
}

impl<'a> Judged<'a> {
    fn new(
        markers: &'a Markers,
        source: &'a Mesh,
        target: &'a Mesh,
    ) -> Result<Self, TransferError> {
        let pairs = markers.pairs();
        let mut judged = Self {
            source,
            target,
            pairs,
            predictions: None,
            flaws: vec![None; pairs.len()],
        };
        if markers.distinct().pairs().len() < Markers::FEWEST {
            return Ok(judged);
        }
        let (from, to): (Vec<DVec3>, Vec<DVec3>) = (0..pairs.len())
            .map(|k| (judged.from(k), judged.to(k)))
            .unzip();
        judged.predictions = Some(Predictions::new(&from, &to, LEAST_OFF * diagonal(target))?);
        let standing: Vec<usize> = (0..pairs.len()).filter(|&k| judged.stands_out(k)).collect();
        let plane = if standing.is_empty() {
            None
        } else {
            symmetry_plane(target)
        };
        let image = |place: DVec3| plane.map(|plane| plane.mirror_point(place));
        for &k in &standing {
            judged.flaws[k] = judged
                .slip(k, &standing, image)
                .or_else(|| judged.unexplained(k));
        }
        Ok(judged)
    }

    fn from(&self, k: usize) -> DVec3 {
        self.source.positions()[self.pairs[k].0 as usize]
    }

    fn to(&self, k: usize) -> DVec3 {
        self.target.positions()[self.pairs[k].1 as usize]
    }

    fn off(&self, k: usize) -> Option<f64> {
        let diagonal = diagonal(self.target);
        let distance = self.predictions.as_ref()?.expected(k).distance(self.to(k));
        (diagonal > 0.0).then(|| distance / diagonal)
    }

    fn flaw(&self, k: usize) -> Option<MarkerFlaw> {
        self.flaws[k]
    }

    fn stands_out(&self, k: usize) -> bool {
        let prominent = self
            .predictions
            .as_ref()
            .is_some_and(|predictions| predictions.prominence(k, 0.0) > STANDS_OUT);
        prominent && self.off(k).is_some_and(|off| off > LEAST_OFF)
    }

    /// The slip that explains why marker `k` stands out; of several, the one that leaves the least.
    fn slip(
        &self,
        k: usize,
        standing: &[usize],
        image: impl Fn(DVec3) -> Option<DVec3>,
    ) -> Option<MarkerFlaw> {
        let predictions = self.predictions.as_ref()?;
        let off = |k: usize, place: DVec3| predictions.expected(k).distance(place);
        let allowed = |k: usize| EXPLAINED * off(k, self.to(k));
        let exchanged = standing
            .iter()
            .filter(|&&with| with != k && off(with, self.to(k)) < allowed(with));
        let mut exchanged =
            exchanged.map(|&with| (off(k, self.to(with)), MarkerFlaw::Exchanged { with }));
        let other_side = image(self.to(k)).map(|place| (off(k, place), MarkerFlaw::OtherSide));
        let (a, b) = self.pairs[k];
        let reversed = self
            .source
            .positions()
            .get(b as usize)
            .zip(self.target.positions().get(a as usize));
        let reversed = reversed.map(|(&from, &to)| {
            (
                predictions.place(k, from).distance(to),
                MarkerFlaw::Reversed,
            )
        });
        let least = |slips: &mut dyn Iterator<Item = (f64, MarkerFlaw)>| {
            let fitting = slips.filter(|&(left, _)| left < allowed(k));
            fitting
                .reduce(|best, next| if next.0 < best.0 { next } else { best })
                .map(|(_, flaw)| flaw)
        };
        // An exchange explains two markers at once.
        least(&mut exchanged).or_else(|| least(&mut other_side.into_iter().chain(reversed)))
    }

    /// What to call marker `k` where no slip explains it and shapes may differ as much as they
    /// usually do.
    fn unexplained(&self, k: usize) -> Option<MarkerFlaw> {
        match self
            .predictions
            .as_ref()?
            .prominence(k, USUAL * diagonal(self.target))
        {
            far if far > FAR_OFF => Some(MarkerFlaw::FarOff),
            some if some > STANDS_OUT => Some(MarkerFlaw::Unlike),
            _ => None,
        }
    }

    fn doubts(&self, markers: &Markers) -> Vec<String> {
        let wrong = |k: usize| self.flaws[k].filter(MarkerFlaw::is_wrong);
        let told = |k: usize| {
            let (flaw, off) = (wrong(k)?, self.off(k)?);
            Some(format!(
                "{} {} ({:.1} % of the diagonal off)",
                markers.label(k),
                flaw.sentence(markers),
                100.0 * off
            ))
        };
        (0..self.pairs.len())
            .filter_map(told)
            .chain(self.mirrored())
            .collect()
    }

    /// Whether the mirror image of the source would fit the markers much better than the source
    /// itself.
    fn mirrored(&self) -> Option<String> {
        /// Shapes that differ this much, as a part of the diagonal, may fit either way.
        const LEAST: f64 = 0.05;
        /// A mirror image that fits much better misses less than this part.
        const MUCH: f64 = 0.5;
        self.predictions.as_ref()?;
        let (from, to): (Vec<DVec3>, Vec<DVec3>) = (0..self.pairs.len())
            .map(|k| (self.from(k), self.to(k)))
            .unzip();
        let missed = |from: &[DVec3]| {
            let similarity = Similarity::fit(from, &to).ok()?;
            let squared = from
                .iter()
                .zip(&to)
                .map(|(&p, &q)| similarity.apply(p).distance_squared(q))
                .sum::<f64>();
            Some((squared / to.len() as f64).sqrt() / diagonal(self.target))
        };
        let image: Vec<DVec3> = from
            .iter()
            .map(|&p| p * DVec3::new(-1.0, 1.0, 1.0))
            .collect();
        let (plain, mirrored) = (missed(&from)?, missed(&image)?);
        (plain > LEAST && mirrored < MUCH * plain).then(|| {
            let (plain, mirrored) = (100.0 * plain, 100.0 * mirrored);
            format!("left and right look swapped in all markers: a mirrored source misses them by {mirrored:.1} % of the diagonal, the source by {plain:.1} %")
        })
    }
}

fn coverage(
    markers: &Markers,
    source: &Mesh,
    target: &Mesh,
) -> Result<Option<[MarkerCoverage; 2]>, TransferError> {
    if markers.pairs().is_empty() {
        return Ok(None);
    }
    let (sources, targets): (Vec<u32>, Vec<u32>) = markers.pairs().iter().copied().unzip();
    Ok(Some([
        MarkerCoverage::new(source, &sources)?,
        MarkerCoverage::new(target, &targets)?,
    ]))
}

impl MarkerCoverage {
    fn new(mesh: &Mesh, vertices: &[u32]) -> Result<Self, TransferError> {
        let topology = mesh.topology();
        let part_of = topology.component_of_vertex();
        let mut marked = vec![false; topology.component_count()];
        for &vertex in vertices {
            // A vertex without faces is of no part.
            if let Some(marked) = marked.get_mut(part_of[vertex as usize] as usize) {
                *marked = true;
            }
        }
        let points: Vec<SurfacePoint> = vertices.iter().map(|&v| SurfacePoint::Vertex(v)).collect();
        let distances = HeatGeodesics::factor(mesh, &HeatOptions::default())?.distances(&points)?;
        let on_marked = |v: &usize| {
            marked.get(part_of[*v] as usize) == Some(&true) && distances[*v].is_finite()
        };
        let reached: Vec<usize> = (0..mesh.vertex_count()).filter(on_marked).collect();
        let farthest = reached.iter().copied().fold(vertices[0] as usize, |a, b| {
            if distances[b] > distances[a] { b } else { a }
        });
        let relative = |distance: f64| {
            if diagonal(mesh) > 0.0 {
                distance.max(0.0) / diagonal(mesh)
            } else {
                0.0
            }
        };
        Ok(Self {
            mean: relative(
                reached.iter().map(|&v| distances[v]).sum::<f64>() / reached.len().max(1) as f64,
            ),
            farthest: if reached.is_empty() {
                0.0
            } else {
                relative(distances[farthest])
            },
            farthest_vertex: farthest as u32,
            parts: marked.len(),
            parts_without: marked.iter().filter(|&&marked| !marked).count(),
        })
    }

    fn problem(&self, side: &str) -> Option<String> {
        (self.farthest > FAR_FROM_MARKERS).then(|| {
            let (percent, vertex) = (100.0 * self.farthest, self.farthest_vertex);
            format!("no marker of the {side} is within {percent:.0} % of the diagonal of its vertex {vertex}; set one there")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::lump;

    /// Markers all over two lumps with noses of different length.
    fn lumps() -> (Mesh, Mesh, Vec<(u32, u32)>) {
        (
            lump(3, 0.0),
            lump(3, 0.3),
            (0..42).map(|v| (v, v)).collect(),
        )
    }

    fn flaws(check: &MarkerCheck) -> Vec<(usize, MarkerFlaw)> {
        check
            .verdicts
            .iter()
            .enumerate()
            .flat_map(|(k, verdict)| verdict.flaws.iter().map(move |&flaw| (k, flaw)))
            .collect()
    }

    #[test]
    fn right_markers_have_no_flaw() {
        let (source, target, pairs) = lumps();
        let check = check_markers(&source, &target, &Markers::new(pairs)).unwrap();
        assert!(
            flaws(&check)
                .iter()
                .all(|(_, flaw)| *flaw == MarkerFlaw::Unlike),
            "the longer nose is unlike: {check:?}"
        );
        assert!(
            check.problems.is_empty() && check.refusal.is_none(),
            "{check:?}"
        );
        let [on_source, _] = check.coverage.unwrap();
        assert!(
            on_source.mean < on_source.farthest
                && on_source.farthest < 0.2
                && on_source.parts_without == 0,
            "{on_source:?}"
        );
    }

    #[test]
    fn two_markers_with_each_others_partner_are_called_exchanged() {
        let (source, target, mut pairs) = lumps();
        (pairs[4].1, pairs[9].1) = (pairs[9].1, pairs[4].1);
        let check = check_markers(&source, &target, &Markers::new(pairs)).unwrap();
        let wrong: Vec<(usize, MarkerFlaw)> = flaws(&check)
            .into_iter()
            .filter(|(_, flaw)| flaw.is_wrong())
            .collect();
        assert_eq!(
            wrong,
            [
                (4, MarkerFlaw::Exchanged { with: 9 }),
                (9, MarkerFlaw::Exchanged { with: 4 })
            ]
        );
        assert!(
            check.problems.len() == 2 && check.problems[0].contains("marker 4"),
            "{:?}",
            check.problems
        );
    }

    #[test]
    fn a_set_that_is_left_for_right_throughout_is_noticed() {
        let (source, _, pairs) = lumps();
        let target = source
            .posed(
                source
                    .positions()
                    .iter()
                    .map(|p| *p * DVec3::new(1.0, 1.0, -1.0))
                    .collect(),
            )
            .unwrap();
        let check = check_markers(&source, &target, &Markers::new(pairs)).unwrap();
        assert!(
            check
                .problems
                .iter()
                .any(|problem| problem.contains("left and right")),
            "{:?}",
            check.problems
        );
    }

    #[test]
    fn what_a_transfer_declines_is_told_with_all_that_is_wrong() {
        let (source, target, pairs) = lumps();
        let mut bad: Vec<(u32, u32)> = pairs[..8].to_vec();
        bad.insert(0, (99_999, 0));
        bad.extend([(3, 3), (5, 20)]);
        let check = check_markers(&source, &target, &Markers::new(bad)).unwrap();
        let found = flaws(&check);
        for expected in [
            (0, MarkerFlaw::OutOfRange),
            (9, MarkerFlaw::Repeated { first: 4 }),
            (10, MarkerFlaw::SecondPartner { other: 6 }),
        ] {
            assert!(found.contains(&expected), "{expected:?} in {found:?}");
        }
        assert!(matches!(
            check.refusal,
            Some(TransferError::MarkerOutOfRange { .. })
        ));
        let few = check_markers(&source, &target, &Markers::new(pairs[..3].to_vec())).unwrap();
        assert!(
            matches!(
                few.refusal,
                Some(TransferError::TooFewMarkers { found: 3, .. })
            ) && few.verdicts[0].off.is_none()
        );
        assert!(
            check_markers(&source, &target, &Markers::default())
                .unwrap()
                .coverage
                .is_none()
        );
    }

    #[test]
    fn markers_on_one_side_only_leave_a_far_place() {
        let (source, target, _) = lumps();
        let near = |v: &u32| source.positions()[*v as usize].x > 0.5;
        let pairs = (0..source.vertex_count() as u32)
            .filter(near)
            .step_by(9)
            .map(|v| (v, v))
            .collect();
        let check = check_markers(&source, &target, &Markers::new(pairs)).unwrap();
        let far = source.positions()[check.coverage.unwrap()[0].farthest_vertex as usize];
        assert!(
            far.x < -0.5
                && check
                    .problems
                    .iter()
                    .any(|problem| problem.contains("set one there")),
            "{far} {:?}",
            check.problems
        );
    }
}
