//! Counting allocator.
