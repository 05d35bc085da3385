#!/bin/sh
# Installs jeton and jeton-lab from a release, for the current user: no compiler and no root is needed.
#
#   sh install.sh FROM [--prefix DIR] [PROGRAM...]
#
# FROM is the folder or the https address of a release, PROGRAM jeton or jeton-lab (default: both), DIR the folder that
# gets bin/ and lib/jeton/ (default: ~/.local). Everything is verified with SHA256SUMS before the first file is
# installed. The whole script is functions, so that a download that breaks off runs nothing.
set -eu

main() {
    from='' prefix=${HOME:+$HOME/.local} programs=''
    while [ $# -gt 0 ]; do
        case $1 in
            --prefix) [ -n "${2:-}" ] || stop "--prefix needs a folder" "$usage"; prefix=$2; shift ;;
            jeton | jeton-lab) [ -n "$from" ] || stop "the release must come first" "$usage"; programs="$programs $1" ;;
            -*) stop "unknown option $1" "$usage" ;;
            *) [ -z "$from" ] || stop "unknown program $1; expected jeton or jeton-lab" "$usage"; from=${1%/} ;;
        esac
        shift
    done
    [ -n "$from" ] || stop "no release is named" "$usage"
    [ -n "$prefix" ] || stop "HOME is not set" "$other_prefix"
    find_platform
    find_tools
    work=$(mktemp -d) || stop "cannot create a temporary folder" "set TMPDIR to a folder that you may write"
    staging=''
    trap 'rm -rf "$work" ${staging:+"$staging"}' EXIT
    trap 'exit 1' HUP INT TERM

    get SHA256SUMS "name the folder or address that has SHA256SUMS"
    archives=''
    for program in ${programs:-jeton jeton-lab}; do
        fetch_verified "$program"
        archives="$archives $archive"
    done
    unpack
    # The rest takes no time: nothing is left half done.
    trap '' HUP INT TERM
    for archive in $archives; do
        place "${archive%.tar.gz}"
    done
    bin=$(CDPATH='' cd "$prefix/bin" && pwd)
    case ":$PATH:" in
        *":$bin:"*) ;;
        *) echo "Add it to your PATH: export PATH=\"$bin:\$PATH\"" ;;
    esac
}

usage='sh install.sh FROM [--prefix DIR] [jeton] [jeton-lab]'
other_prefix='name a folder of yours: --prefix DIR'
from_source='build it from source: cargo install --path crates/jeton-cli'

# Prints what failed and what else works, and ends.
stop() {
    echo "error: $1" >&2
    echo "hint: $2" >&2
    exit 1
}

find_platform() {
    system=$(uname -s) machine=$(uname -m)
    case "$system $machine" in
        "Linux x86_64") platform=linux-x64 ;;
        "Linux aarch64" | "Linux arm64") platform=linux-arm64 ;;
        *) stop "no programs for $system $machine; a release has linux-x64 and linux-arm64" "$from_source" ;;
    esac
}

find_tools() {
    if command -v sha256sum > /dev/null; then
        sum() { sha256sum "$1"; }
    elif command -v shasum > /dev/null; then
        sum() { shasum -a 256 "$1"; }
    else
        stop "neither sha256sum nor shasum is installed, so nothing can be verified" "install coreutils"
    fi
    for tool in tar gzip; do
        command -v $tool > /dev/null || stop "$tool is not installed" "install $tool with your package manager"
    done
    case $from in
        https://* | http://127.0.0.1:* | http://localhost:*)
            command -v curl > /dev/null || command -v wget > /dev/null ||
                stop "neither curl nor wget is installed" "download the files of the release, and name their folder"
            ;;
        *://*) stop "$from: expected a folder or an https address" "download the files, and name their folder" ;;
    esac
}

# Copies a file of the release to the temporary folder.
get() {
    case $from in
        *://*)
            if command -v curl > /dev/null; then
                # A redirect must not lead from https to http.
                curl --fail --silent --show-error --location --proto "=https,${from%%:*}" --output "$work/$1" "$from/$1"
            else
                get_with_wget "$1"
            fi || stop "$from has no $1, or it was not downloaded completely" "$2"
            ;;
        *)
            [ -f "$from/$1" ] || stop "$from has no $1" "$2"
            cp "$from/$1" "$work/$1" || stop "cannot copy $from/$1" "check that the disk has space and the file can be read"
            ;;
    esac
}

# The wget of BusyBox can accept any certificate, and says so.
get_with_wget() {
    ended=0
    wget --quiet --output-document="$work/$1" "$from/$1" 2> "$work/said" || ended=$?
    cat "$work/said" >&2
    ! grep -q 'certificate validation not implemented' "$work/said" ||
        stop "this wget does not verify the certificate of a server; nothing was installed" \
            "install curl, or download the files of the release, and name their folder"
    return $ended
}

# Gets the archive of a program and compares its SHA-256 with the list. Sets `archive`.
fetch_verified() {
    archive=$(sed -n "s/^[0-9a-f]\{64\} [ *]\($1-[0-9][^/]*-$platform\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS" | head -n 1)
    [ -n "$archive" ] || stop "SHA256SUMS lists no $1 for $platform" "$from_source"
    get "$archive" "download it too, or install other programs: $usage"
    wanted=$(sed -n "s/^\([0-9a-f]*\) [ *]$archive\$/\1/p" "$work/SHA256SUMS")
    found=$(sum "$work/$archive" | cut -d ' ' -f 1)
    [ "$found" = "$wanted" ] ||
        stop "$archive: SHA-256 is $found, expected $wanted; nothing was installed" \
            "download the release again; if it is the same, do not use it"
    gzip -t "$work/$archive" 2> /dev/null ||
        stop "$archive is damaged: gzip cannot read it; nothing was installed" "use another copy of the release"
}

# Unpacks all archives beside where they belong, and starts each program once.
unpack() {
    mkdir -p "$prefix/bin" "$prefix/lib/jeton" 2> /dev/null || stop "cannot write to $prefix" "$other_prefix"
    staging=$(mktemp -d "$prefix/lib/jeton/new.XXXXXX" 2> /dev/null) || stop "cannot write to $prefix/lib" "$other_prefix"
    for archive in $archives; do
        folder=${archive%.tar.gz} program=${archive%%-[0-9]*}
        if ! tar -xzf "$work/$archive" -C "$staging" 2> /dev/null || [ ! -f "$staging/$folder/$program" ]; then
            stop "$archive is damaged or the disk is full; nothing was installed" "use another copy, or --prefix DIR"
        fi
        "$staging/$folder/$program" --version > /dev/null 2>&1 ||
            stop "$program does not start in $prefix (mounted noexec?); nothing was installed" "$other_prefix"
        [ ! -d "$prefix/bin/$program" ] || stop "$prefix/bin/$program is a folder; nothing was installed" "$other_prefix"
    done
}

# Moves an unpacked folder to its place and links its program.
place() {
    program=${1%%-[0-9]*} folder=$prefix/lib/jeton/$1
    # A rename replaces all of it or nothing. The old one goes with the temporary folder.
    [ ! -e "$folder" ] || mv "$folder" "$staging/old-$1" || stop "cannot replace $folder" "$other_prefix"
    mv "$staging/$1" "$folder" || stop "cannot write $folder" "$other_prefix"
    target=../lib/jeton/$1/$program
    # If bin/ is a link, its parent is another folder.
    [ -f "$prefix/bin/$target" ] || target=$(CDPATH='' cd "$folder" && pwd)/$program
    ln -sf "$target" "$prefix/bin/$program" || stop "cannot write $prefix/bin/$program" "$other_prefix"
    echo "installed $prefix/bin/$program"
}

main "$@"
