#!/bin/sh
# Makes a data folder whose issuer signs with the run's keys, where the run has some. An issuer
# first generates its own keys, and an imported key signs only after the pre-publication period. So
# the generated keys are replaced at once, as compromised. Keys of other algorithms stay in use.
set -eu
jeton=$1 run=$2 hs256=$3 es256=$4
iss=https://id.example
admin() {
    noun=$1 verb=$2
    shift 2
    "$jeton" admin "$noun" "$verb" --data "$run/data" "$@"
}
admin issuer add "@$run/issuer.json" >"$run/made"
made=$(admin key list "$iss" | awk '$2 == "HS256" || $2 == "ES256" { print $1 }')
admin key import "$iss" "$hs256" --alg HS256
admin key import "$iss" "$es256" --alg ES256
for kid in $made; do
    admin key rotate "$iss" --compromised "$kid"
done
