//! The allocator counts exactly, per thread and per process, and only on request.

use std::hint::black_box;
use std::sync::Mutex;
use std::thread;

use jeton_testkit::{CountingAlloc, Counts, count, count_process};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

/// The process-wide count includes other tests, so the tests of this file run one at a time.
static TURN: Mutex<()> = Mutex::new(());

fn counted(allocations: u64, bytes: u64) -> Counts {
    Counts { allocations, bytes }
}

#[test]
fn allocation_counts_one_call_and_its_bytes() {
    let _turn = TURN.lock();
    let (counts, _) = count(|| black_box(Vec::<u8>::with_capacity(100)));
    assert_eq!(counts, counted(1, 100));
}

#[test]
fn no_allocation_counts_nothing() {
    let _turn = TURN.lock();
    let (counts, sum) = count(|| black_box([1_u64, 2, 3]).iter().sum::<u64>());
    assert_eq!((counts, sum), (counted(0, 0), 6));
}

#[test]
fn zeroed_memory_is_counted() {
    let _turn = TURN.lock();
    let (counts, _) = count(|| black_box(vec![0_u8; 64]));
    assert_eq!(counts, counted(1, 64));
}

#[test]
fn reallocation_counts_its_new_size() {
    let _turn = TURN.lock();
    let (counts, _) = count(|| {
        let mut block = black_box(Vec::<u8>::with_capacity(10));
        block.reserve_exact(30);
        black_box(block)
    });
    assert_eq!(counts, counted(2, 40));
}

#[test]
fn freeing_is_not_counted() {
    let _turn = TURN.lock();
    let block = black_box(vec![1_u8; 64]);
    let (counts, ()) = count(|| drop(block));
    assert_eq!(counts, counted(0, 0));
}

#[test]
fn outer_count_includes_inner_count() {
    let _turn = TURN.lock();
    let (outer, (inner, _)) = count(|| {
        let kept = black_box(vec![1_u8; 8]);
        let (inner, _) = count(|| black_box(vec![1_u8; 16]));
        (inner, kept)
    });
    assert_eq!(inner, counted(1, 16));
    // Plus one allocation of one byte, with which the inner count checks that the allocator is installed.
    assert_eq!(outer, counted(3, 8 + 16 + 1));
}

#[test]
fn other_thread_is_counted_by_process_count_only() {
    const BIG: usize = 1 << 20;
    let _turn = TURN.lock();
    let allocate_elsewhere = || {
        thread::scope(|scope| {
            scope.spawn(|| black_box(Vec::<u8>::with_capacity(BIG)));
        });
    };
    let (mine, ()) = count(allocate_elsewhere);
    assert!(
        mine.bytes < BIG as u64,
        "the thread's own count saw {mine:?}"
    );
    let (all, ()) = count_process(allocate_elsewhere);
    assert!(all.bytes >= BIG as u64, "the process count saw {all:?}");
}

#[test]
fn panic_in_work_stops_counting() {
    let _turn = TURN.lock();
    let gone = thread::spawn(|| count(|| panic!("expected by this test"))).join();
    assert!(gone.is_err());
    let (counts, _) = count(|| black_box(Vec::<u8>::with_capacity(3)));
    assert_eq!(counts, counted(1, 3));
}
