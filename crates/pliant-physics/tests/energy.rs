//! Energy terms other than springs on scanned figures, where `PLIANT_DATA` is set.

mod poses;

use pliant_physics::{Blend, BlendFrame, BlendOptions, EnergyTerms};
use poses::poses;

const COW: &str = "elastic-cow/elastic-cow-every4th";

/// Half way between two frames of a cow; `None` without the data.
fn half_way(other: usize, energy: EnergyTerms) -> Option<BlendFrame> {
    let shapes = poses(COW, &[0, other])?;
    let mut blend = Blend::new(&shapes, &BlendOptions::default().with_energy(energy)).unwrap();
    Some(blend.between(0.5).unwrap())
}

#[test]
fn the_thin_shell_of_a_crumpled_cow_converges_and_keeps_its_edges() {
    for other in [12, 30, 45] {
        let Some(frame) = half_way(other, EnergyTerms::shell()) else {
            return;
        };

        assert!(frame.report.converged, "{other}: {:?}", frame.report);
        assert!(
            frame.strain < 0.1 * frame.linear.strain,
            "{other}: {} {}",
            frame.strain,
            frame.linear.strain
        );
    }
}

#[test]
fn springs_invert_elements_of_a_crumpled_cow_and_volumes_prevent_it() {
    let Some(springs) = half_way(12, EnergyTerms::springs()) else {
        return;
    };
    let Some(volumes) = half_way(12, EnergyTerms::springs().with_volume(1.0)) else {
        return;
    };

    assert!(
        springs.report.converged && volumes.report.converged,
        "{:?} {:?}",
        springs.report,
        volumes.report
    );

    assert!(
        springs.inverted > 0 && volumes.inverted == 0,
        "{} {}",
        springs.inverted,
        volumes.inverted
    );
}
