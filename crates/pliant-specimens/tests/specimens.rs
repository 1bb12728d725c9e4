//! Claims about every specimen that ships.

use pliant_specimens::{names, specimen};

#[test]
fn every_name_builds_a_model_that_its_clips_fit() {
    for &name in names() {
        let specimen = specimen(name).unwrap_or_else(|| panic!("{name} is listed"));
        assert_eq!(specimen.name, name);
        assert!(specimen.rig.neutral().require_surface().is_ok(), "{name}");

        for clip in &specimen.clips {
            assert!(
                clip.reference().same_surface(specimen.rig.neutral()),
                "{name} {}",
                clip.name()
            );
            assert!(
                clip.frames().iter().flatten().all(|p| p.is_finite()),
                "{name} {}",
                clip.name()
            );
        }

        for performance in &specimen.performances {
            let weights = performance.track.at(1.0);
            assert_eq!(
                weights.len(),
                specimen.rig.targets().len(),
                "{name} {}",
                performance.name
            );
        }
    }
}

#[test]
fn a_specimen_built_twice_has_the_same_bits() {
    for &name in names() {
        let [first, second] = [(), ()].map(|()| specimen(name).expect("the name is listed"));
        assert_eq!(
            first.rig.neutral().positions(),
            second.rig.neutral().positions(),
            "{name}"
        );

        assert_eq!(first.rig.targets(), second.rig.targets(), "{name}");
        assert!(
            first
                .clips
                .iter()
                .zip(&second.clips)
                .all(|(a, b)| a.frames() == b.frames()),
            "{name}"
        );
    }
}

#[test]
fn an_unknown_name_is_no_specimen() {
    assert!(specimen("unicorn").is_none());
}
