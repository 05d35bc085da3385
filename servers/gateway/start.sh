#!/bin/sh
# Starts a proxy with the parts of a folder in the template above it, and jeton's server, if the proxy asks it.
#
# start.sh TEMPLATE PROXY RUN PORT CORES JWKS [JETON]
set -eu
template=$1 proxy=$2 run=$3 port=$4 cores=$5 jwks=$6 jeton=${7-}
address= basic=
if [ -n "$jeton" ]; then
    "$jeton" serve --config "$run/jeton.toml" >"$run/announced" 2>&1 &
    tries=0
    until grep -q '^gRPC and HTTP   http://' "$run/announced"; do
        tries=$((tries + 1))
        if [ $tries -gt 200 ]; then
            cat "$run/announced" >&2
            exit 1
        fi
        sleep 0.1
    done
    address=$(sed -n 's|^gRPC and HTTP   http://||p' "$run/announced")
    basic=$(printf 'proxy:%s' "$(cat "$run/secret")" | base64)
fi
# A folder without a check has none of the parts.
sed -e '/# filter$/r filter.yaml' -e '/# clusters$/r clusters.yaml' \
    -e '/# upstream$/r upstream.conf' -e '/# check$/r check.conf' "../$template" |
    sed -e "s|{run}|$run|g" -e "s|{port}|$port|g" -e "s|{cores}|$cores|g" -e "s|{jwks}|$jwks|g" \
        -e "s|{jeton}|$address|g" -e "s|{jeton_port}|${address##*:}|g" -e "s|{basic}|$basic|g" >"$run/$template"
case $template in
envoy.yaml) exec "$proxy" -c "$run/$template" --concurrency "$cores" --disable-hot-restart --log-level error ;;
nginx.conf) exec "$proxy" -c "$run/$template" -e stderr ;;
esac
