//! One result of every method, for a comparison of the page with the desktop.
//!
//! **Claim.** A drag, a blend, a transfer and a drive give on a page what they give on a desktop, to
//! [`RELATIVE_BOUND`] of the largest value.
//!
//! **Why a bound.** Sums of the dense kernels are fused multiply-adds in vectors of the processor's
//! width; WebAssembly has neither fused operations nor wide vectors. And `sin`, `exp` and their like
//! are those of the system on a desktop, and of Rust's own library on a page.

use std::borrow::Cow;
use std::error::Error;

use pliant::learn::{ControlPoints, Examples, LearnOptions, Model};
use pliant::mesh::glam::DVec3;
use pliant::physics::{Blend, BlendOptions};
use pliant::rig::{Bounded, Pin, Poser, Range};
use pliant::transfer::{
    Correspondence, CorrespondenceOptions, Layer, Markers, Source, Synthesis, SynthesisOptions,
};
use serde::Serialize;

/// The largest difference of two results, relative to the largest value.
pub const RELATIVE_BOUND: f64 = 1e-6;

/// A result of one method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodResult {
    /// The method.
    pub name: &'static str,
    /// The fingerprint (FNV-1a) of the bits of all values.
    pub fingerprint: String,
    /// The values: weights of a drag, positions otherwise.
    pub values: Vec<f64>,
}

impl MethodResult {
    fn new(name: &'static str, values: Vec<f64>) -> Self {
        let bytes = values
            .iter()
            .flat_map(|value| value.to_bits().to_le_bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self {
            name,
            fingerprint: format!("{hash:016x}"),
            values,
        }
    }
}

type Values = Result<Vec<f64>, Box<dyn Error>>;

/// The results of a drag, a blend, a transfer and a drive on built-in models.
///
/// # Errors
/// Never for the built-in models.
pub fn method_results() -> Result<Vec<MethodResult>, Box<dyn Error>> {
    Ok(vec![
        MethodResult::new("drag", drag()?),
        MethodResult::new("blend", blend()?),
        MethodResult::new("transfer", transfer()?),
        MethodResult::new("drive", drive()?),
    ])
}

/// The results as JSON.
///
/// # Errors
/// Never for the built-in models.
pub fn method_results_json() -> Result<String, Box<dyn Error>> {
    Ok(serde_json::to_string(&method_results()?)?)
}

/// A mouth corner pulled up and out while the chin is held: the weights of every step.
fn drag() -> Values {
    let rig = pliant::load("specimen:head")?.rig()?;
    let poser = Poser::new(&rig)?;
    let pins = [Pin::hold(4480), Pin::hold(855)];
    let mut grab = poser.grab(&[], &pins, &Bounded::default(), Range::Clip)?;

    let mut weights = Vec::new();
    for step in 1..=20 {
        let displacement = DVec3::new(0.7, 1.1, 0.0) * (f64::from(step) / 20.0);
        weights.extend(grab.solve(&[displacement, DVec3::ZERO]).weights);
    }
    Ok(weights)
}

/// A bar half way between straight and bent.
fn blend() -> Values {
    let straight = pliant::load("specimen:bar")?.mesh()?;
    let bent = pliant::load("specimen:bar#bend@24")?.mesh()?;
    let mut blend = Blend::new(&[straight, bent], &BlendOptions::default())?;
    Ok(coordinates(&blend.between(0.5)?.positions))
}

/// A tapir in the middle of the walk of a hound.
fn transfer() -> Values {
    let walk = pliant::load("specimen:hound#walk")?.clip()?;
    let target = pliant::load("specimen:tapir")?.mesh()?;
    let pairs = pliant::specimens::markers().into_iter();
    let markers = Markers::new(pairs.map(|[hound, tapir]| (hound, tapir)).collect());
    let options = CorrespondenceOptions::default();
    let found = Correspondence::find(walk.reference(), &target, &markers, &options)?;

    let source = Source {
        clip: &walk,
        map: Cow::Borrowed(&found.map),
    };
    let whole = Layer::whole(0, vec![1.0; target.triangles().len()], walk.frames().len());
    let options = SynthesisOptions::default();
    let mut synthesis = Synthesis::new(&target, vec![source], vec![whole], options)?;
    Ok(coordinates(synthesis.frame(walk.frames().len() / 2)))
}

/// A hand that its points drive, at the second gesture of its animation.
fn drive() -> Values {
    let examples = Examples::from_clip(&pliant::load("specimen:hand")?.clip()?)?;
    let landmarks = pliant::specimens::hand_landmarks();
    let points: Vec<usize> = landmarks.iter().map(|p| p.vertex as usize).collect();
    let control = ControlPoints::new(examples.reference(), &points)?;
    let model = Model::train(examples, control, &LearnOptions::default(), &())?;

    let play = pliant::load("specimen:hand:play")?.clip()?;
    let frame = &play.frames()[play.frames().len() / 3];
    let posed = model.driver().pose(&model.control().at(frame))?;
    Ok(coordinates(&posed))
}

fn coordinates(points: &[DVec3]) -> Vec<f64> {
    points.iter().flat_map(DVec3::to_array).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_tells_the_last_bit_apart() {
        let one = MethodResult::new("drag", vec![1.0, 2.0]);
        let other = MethodResult::new("drag", vec![1.0, 2.0_f64.next_up()]);
        assert_eq!(one, MethodResult::new("drag", vec![1.0, 2.0]));
        assert_ne!(one.fingerprint, other.fingerprint);
    }
}
