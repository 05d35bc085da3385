//! Another Rust library, with the same standard library. It catches a panic.
#[unsafe(no_mangle)]
pub extern "C" fn second_sum(count: u64) -> u64 {
    let sum = std::panic::catch_unwind(|| {
        let all: Vec<u64> = (0..count).collect();
        assert!(count < 100, "so many");
        all.iter().sum()
    });
    sum.unwrap_or(u64::MAX)
}
