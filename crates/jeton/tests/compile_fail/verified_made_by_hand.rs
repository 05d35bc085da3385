//! Only a verifier makes a `Verified`.

use jeton::Verified;

fn main() {
    let _: Verified<()> = Verified { claims: () };
}
