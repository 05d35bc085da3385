#!/bin/sh
# Makes what jeton's server needs behind a proxy: a data folder with the run's keys and a revoked token, and a
# configuration in which the proxy is a client.
#
# ready.sh JETON RUN HS256 ES256 CORES
set -eu
jeton=$1 run=$2 cores=$5
cp ../issuer.json "$run"
sh ../../rust/jeton/ready.sh "$@"
"$jeton" admin revoke token https://id.example revoked-by-the-lab --data "$run/data"
sed "s/{cores}/$cores/" ../jeton.toml >"$run/jeton.toml"
"$jeton" admin client new proxy --profile ES256 --output "$run/secret" |
    sed 's/may = \["token"\]/may = ["token", "verify"]/' >>"$run/jeton.toml"
