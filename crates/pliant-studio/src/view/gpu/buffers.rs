//! Buffers of the graphics card, reused while their arrays are drawn.
//!
//! **Problem.** A pose is a new array in every frame, of the same length as the last; all other
//! arrays do not change for a long time.
//!
//! **Implementation.** An array is identified by its `Arc`. Its buffer outlives it by a few frames
//! and is reused for the next array of the same length, so that a moving pose costs one copy and no
//! allocation. A buffer that was drawn in this frame or the last and whose array is alive is never
//! overwritten, because another viewport may still draw it.

use std::sync::{Arc, Weak};

use eframe::wgpu;

/// Frames without use after which a buffer is dropped.
const FRAMES_KEPT: u64 = 8;

/// Counts of uploads to the graphics card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UploadCounts {
    /// Buffers that were made.
    pub buffers_made: u64,
    /// Arrays that were copied into them.
    pub uploads: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Pictures that were drawn; what did not change is not drawn again.
    pub pictures: u64,
}

/// Buffers of arrays of one kind.
pub(super) struct Pool<T> {
    label: &'static str,
    usage: wgpu::BufferUsages,
    slots: Vec<BufferSlot<T>>,
}

struct BufferSlot<T> {
    /// While this is held, no other array gets the same address.
    array: Weak<T>,
    buffer: wgpu::Buffer,
    bytes: u64,
    last_used: u64,
    /// The number of the upload, as its identity.
    stamp: u64,
}

impl<T> Pool<T> {
    pub(super) fn new(label: &'static str, usage: wgpu::BufferUsages) -> Self {
        Self {
            label,
            usage: usage | wgpu::BufferUsages::COPY_DST,
            slots: Vec::new(),
        }
    }

    /// The stamp of an array that is on the graphics card already; keeps it there.
    pub(super) fn find(&mut self, array: &Arc<T>, frame: u64) -> Option<u64> {
        let slot = self
            .slots
            .iter_mut()
            .find(|slot| std::ptr::eq(slot.array.as_ptr(), Arc::as_ptr(array)))?;
        slot.last_used = frame;
        Some(slot.stamp)
    }

    /// Brings an array to the graphics card as `bytes`.
    pub(super) fn upload(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        array: &Arc<T>,
        frame: u64,
        bytes: &[u8],
        upload_counts: &mut UploadCounts,
    ) -> u64 {
        let length = bytes.len() as u64;
        upload_counts.uploads += 1;
        upload_counts.bytes += length;

        let free = |slot: &BufferSlot<T>| {
            let unseen = slot.last_used + 1 < frame;
            slot.bytes == length
                && (unseen || (slot.array.strong_count() == 0 && slot.last_used < frame))
        };

        let index = self.slots.iter().position(free).unwrap_or_else(|| {
            upload_counts.buffers_made += 1;
            // Empty buffers are not allowed.
            let size = length.max(wgpu::COPY_BUFFER_ALIGNMENT);
            let descriptor = wgpu::BufferDescriptor {
                label: Some(self.label),
                size,
                usage: self.usage,
                mapped_at_creation: false,
            };

            let buffer = device.create_buffer(&descriptor);
            self.slots.push(BufferSlot {
                array: Weak::new(),
                buffer,
                bytes: length,
                last_used: frame,
                stamp: 0,
            });

            self.slots.len() - 1
        });

        let slot = &mut self.slots[index];
        queue.write_buffer(&slot.buffer, 0, bytes);
        (slot.array, slot.last_used, slot.stamp) =
            (Arc::downgrade(array), frame, upload_counts.uploads);

        slot.stamp
    }

    /// The buffer of an upload.
    pub(super) fn buffer(&self, stamp: u64) -> Option<&wgpu::Buffer> {
        self.slots
            .iter()
            .find(|slot| slot.stamp == stamp)
            .map(|slot| &slot.buffer)
    }

    /// Drops what was not used for some frames.
    pub(super) fn remove_unused(&mut self, frame: u64) {
        self.slots.retain(|slot| !is_stale(slot.last_used, frame));
    }
}

/// Whether something last used in a frame should go.
pub(super) fn is_stale(last_used: u64, frame: u64) -> bool {
    last_used + FRAMES_KEPT < frame
}
