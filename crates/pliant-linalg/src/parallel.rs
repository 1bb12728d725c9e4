//! Deterministic parallel loops: the same bits on any number of threads.
//!
//! Work is cut by a **fixed** grain, never by the number of threads, and every item
//! writes its own place; where partial results meet, they are combined in the order
//! of the items. Without the feature `parallel` the same loops run in place, as they do [`alone`].

use std::cell::Cell;

thread_local! {
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` with all loops of this module on the calling thread. For a thread that must not wait
/// for longer work of other threads in the shared pool, such as the user
/// interface thread.
pub fn alone<T>(work: impl FnOnce() -> T) -> T {
    struct Former(bool);
    impl Drop for Former {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _former = Former(ALONE.replace(true));
    work()
}

/// Whether a loop may use other threads.
#[cfg(feature = "parallel")]
fn may_use_threads() -> bool {
    !ALONE.get()
}

/// Calls `work(start, chunk)` for consecutive chunks of `grain` items of `items`.
///
/// `start` is the index of the chunk's first item.
pub fn for_each_chunk_mut<T: Send>(
    items: &mut [T],
    grain: usize,
    work: impl Fn(usize, &mut [T]) + Sync + Send,
) {
    let grain = grain.max(1);
    #[cfg(feature = "parallel")]
    if items.len() > grain && may_use_threads() {
        use rayon::prelude::*;
        items
            .par_chunks_mut(grain)
            .enumerate()
            .for_each(|(k, chunk)| work(k * grain, chunk));
        return;
    }

    for (k, chunk) in items.chunks_mut(grain).enumerate() {
        work(k * grain, chunk);
    }
}

/// `make(i)` for every `i` in `0..count`, in order; each chunk of `grain` items is one task.
pub fn map<T: Send>(count: usize, grain: usize, make: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    #[cfg(feature = "parallel")]
    if count > grain.max(1) && may_use_threads() {
        use rayon::prelude::*;
        return (0..count)
            .into_par_iter()
            .with_min_len(grain.max(1))
            .map(make)
            .collect();
    }

    let _ = grain;
    (0..count).map(make).collect()
}

/// Runs both, possibly at the same time.
pub fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "parallel")]
    if may_use_threads() {
        return rayon::join(a, b);
    }
    (a(), b())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_visited_once_with_its_own_index() {
        let mut items = vec![0_usize; 1000];
        for_each_chunk_mut(&mut items, 7, |start, chunk| {
            for (k, item) in chunk.iter_mut().enumerate() {
                *item += start + k;
            }
        });
        assert_eq!(items, map(1000, 13, |i| i));
    }

    #[test]
    fn alone_uses_one_thread_and_loops_are_parallel_again_even_after_a_panic() {
        let own = std::thread::current().id();
        let here = || std::thread::current().id() == own;
        let mut items = [false; 100];
        alone(|| {
            for_each_chunk_mut(&mut items, 3, |_, chunk| chunk.fill(here()));
            assert!(
                map(100, 3, |_| here()).into_iter().all(|here| here)
                    && join(here, here) == (true, true)
            );
        });

        assert_eq!(items, [true; 100]);
        assert!(std::panic::catch_unwind(|| alone(|| panic!("halfway"))).is_err());
        assert!(!ALONE.get());
    }
}
