//! Counting without the allocator in place is an error, not a zero.

#[test]
#[should_panic(expected = "make jeton_testkit::CountingAlloc the #[global_allocator]")]
fn counting_without_the_allocator_panics() {
    jeton_testkit::count(|| ());
}
