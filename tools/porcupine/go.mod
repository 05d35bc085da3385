// Pins the porcupine version that judges the histories of crates/jeton-cli/tests/it/serve/chaos.
module jeton/tools/porcupine

go 1.25.0

require github.com/anishathalye/porcupine v1.0.3
