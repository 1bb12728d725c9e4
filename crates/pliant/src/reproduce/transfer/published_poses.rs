//! How near transferred poses are to known ones.

use std::borrow::Cow;

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;
use pliant_transfer::{
    Correspondence, CorrespondenceMethod, CorrespondenceOptions, Layer, Markers, Source, Synthesis,
    SynthesisOptions, TransferError,
};

/// Poses of a source, and the same poses of a target.
pub(super) struct Known<'a> {
    pub(super) source: &'a Clip,
    pub(super) target: &'a Clip,
}

/// Poses of the target that a correspondence gives, and how far they are off.
pub(super) struct Found {
    pub(super) poses: Clip,
    /// Root mean square distance over the target's diagonal, mean of the poses.
    pub(super) error: f64,
}

impl Known<'_> {
    /// By a method, with some markers or by shape alone.
    pub(super) fn found(
        &self,
        markers: Option<&Markers>,
        method: CorrespondenceMethod,
    ) -> Result<Found, TransferError> {
        let (source, target) = (self.source.reference(), self.target.reference());
        let options = CorrespondenceOptions::default().with_method(method);
        let correspondence = Correspondence::find(source, target, markers, &options)?;
        let sources = vec![Source {
            clip: self.source,
            map: Cow::Borrowed(&correspondence.map),
        }];
        let layers = vec![Layer::whole(
            0,
            vec![1.0; target.triangles().len()],
            self.source.frames().len(),
        )];
        let poses =
            Synthesis::new(target, sources, layers, SynthesisOptions::default())?.clip("poses")?;
        let error = self.error(poses.frames())?;
        Ok(Found { poses, error })
    }

    /// After the best rigid motion of each pose, since where a pose stands is nobody's concern.
    pub(super) fn error(&self, poses: &[Vec<DVec3>]) -> Result<f64, TransferError> {
        let mut sum = 0.0;
        for (found, known) in poses.iter().zip(self.target.frames()) {
            let motion = RigidMotion::fit(found, known, None)?;
            let squared: f64 = found
                .iter()
                .zip(known)
                .map(|(&p, q)| motion.apply(p).distance_squared(*q))
                .sum();
            sum += (squared / found.len().max(1) as f64).sqrt();
        }
        let diagonal = self
            .target
            .reference()
            .bounds()
            .map_or(1.0, |bounds| bounds.diagonal());
        Ok(sum / poses.len().max(1) as f64 / diagonal)
    }
}
