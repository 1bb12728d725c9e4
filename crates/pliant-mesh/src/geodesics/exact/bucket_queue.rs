//! A bucket priority queue: exact up to the width of a bucket.
//!
//! **Problem.** Window propagation is correct in any order and fast in approximate order of
//! distance; the exact order of a heap costs more than all windows.
//!
//! **Implementation.** Consecutive buckets of equal width, each a list of its items, last in first
//! out. Items beyond the last bucket wait in one far list; when the buckets are empty, they
//! restart at its nearest item. All items lie in one array with a list of free places, so that
//! the queue does not allocate once it has grown.

const BUCKETS: usize = 2048;
/// Ends a list.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Slot<T> {
    item: T,
    key: f64,
    next: u32,
}

/// Items with keys, taken in ascending order of `key / width` rounded down.
#[derive(Debug, Clone)]
pub(super) struct BucketQueue<T> {
    slots: Vec<Slot<T>>,
    free: u32,
    heads: Vec<u32>,
    far: u32,
    /// The key at which the first bucket starts.
    origin: f64,
    buckets_per_key: f64,
    current: usize,
}

impl<T: Copy> BucketQueue<T> {
    /// A queue with buckets of `width`; with a width of zero it is a plain stack for each stretch
    /// of equal keys.
    pub(super) fn new(width: f64) -> Self {
        let buckets_per_key = if width > 0.0 { 1.0 / width } else { 0.0 };
        Self {
            slots: Vec::new(),
            free: NONE,
            heads: vec![NONE; BUCKETS],
            far: NONE,
            origin: 0.0,
            buckets_per_key,
            current: 0,
        }
    }

    /// Adds an item. Rounding may give a key before the current bucket; it counts as one in that
    /// bucket.
    pub(super) fn push(&mut self, key: f64, item: T) {
        let slot = Slot {
            item,
            key,
            next: NONE,
        };

        // A free slot is used again before the array grows.
        let place = self.free;
        if place == NONE {
            self.slots.push(slot);
            self.link(self.slots.len() as u32 - 1);
        } else {
            self.free = self.slots[place as usize].next;
            self.slots[place as usize] = slot;
            self.link(place);
        }
    }

    /// Takes an item of the first bucket that holds one.
    pub(super) fn pop(&mut self) -> Option<T> {
        loop {
            while self.current < BUCKETS {
                let place = self.heads[self.current];
                if place != NONE {
                    // The slot leaves its bucket and becomes the first free one.
                    let slot = &mut self.slots[place as usize];
                    self.heads[self.current] = slot.next;
                    slot.next = self.free;
                    self.free = place;
                    return Some(slot.item);
                }

                self.current += 1;
            }

            // All buckets are empty: the next items, if any, are in the far list.
            if self.far == NONE {
                self.restart(0.0);
                return None;
            }

            self.spread_far();
        }
    }

    /// Drops all items.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.heads.fill(NONE);
        (self.free, self.far) = (NONE, NONE);
        self.restart(0.0);
    }

    fn restart(&mut self, origin: f64) {
        self.origin = origin;
        self.current = 0;
    }

    /// Restarts the buckets at the nearest far item.
    fn spread_far(&mut self) {
        let mut place = std::mem::replace(&mut self.far, NONE);

        // The nearest key becomes the origin of the buckets …
        let (mut nearest, mut walk) = (f64::INFINITY, place);
        while walk != NONE {
            nearest = nearest.min(self.slots[walk as usize].key);
            walk = self.slots[walk as usize].next;
        }

        // … and every far item is filed again, perhaps in the far list once more.
        self.restart(nearest);
        while place != NONE {
            let next = self.slots[place as usize].next;
            self.link(place);
            place = next;
        }
    }

    fn link(&mut self, place: u32) {
        let slot = &mut self.slots[place as usize];
        let bucket = ((slot.key - self.origin) * self.buckets_per_key) as usize; // Below zero is zero.
        let head = if bucket < BUCKETS {
            &mut self.heads[bucket.max(self.current)]
        } else {
            &mut self.far
        };
        slot.next = std::mem::replace(head, place);
    }
}
