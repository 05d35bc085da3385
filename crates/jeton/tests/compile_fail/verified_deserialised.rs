//! A `Verified` does not come out of a text.

use jeton::Verified;

fn main() {
    let _: Verified<u8> = serde_json::from_str("1").unwrap();
}
