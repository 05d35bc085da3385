//! Keys, in every encoding and wherever they are held.

mod encodings;
mod inputs;
mod pkix_deviations;
mod remote_signers;
mod sets;
