//! Folds of a leave-one-out validation inside a training set.

/// The most folds. Of more poses, evenly spread ones are left out.
const MOST_FOLDS: usize = 12;

/// Indices into `trained_on` of the examples that are left out in turn. The reference is never left
/// out.
pub(crate) fn folds(trained_on: &[usize]) -> Vec<usize> {
    let poses: Vec<usize> = (0..trained_on.len())
        .filter(|&k| trained_on[k] != 0)
        .collect();
    let count = poses.len().min(MOST_FOLDS);
    (0..count).map(|k| poses[k * poses.len() / count]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_never_left_out_and_the_number_of_folds_is_bounded() {
        assert_eq!(folds(&[0, 2, 5]), vec![1, 2]);
        let many: Vec<usize> = (0..100).collect();
        let few = folds(&many);
        assert!(
            few.len() == MOST_FOLDS
                && !few.contains(&0)
                && few.windows(2).all(|pair| pair[0] < pair[1])
        );
    }
}
