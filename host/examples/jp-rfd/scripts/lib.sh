# Helpers that the RFD scripts share. Sourced, never run.
#
# Plain POSIX sh with sed, grep and the core utilities, so that the scripts run on any
# Linux, BSD or macOS. Text goes through printf, never echo; a file is changed by writing
# a new one and moving it into place.

set -u

# Bytes are bytes: titles may be in any script, and ranges like a-z mean ASCII.
LC_ALL=C
export LC_ALL

verb=${0##*/}
rfd_dir=docs/rfd
work=

# Two bytes that never occur in a document: where a mention and where a link target stood.
mention=$(printf '\001')
target=$(printf '\002')

die() {
    printf '%s: %s\n' "$verb" "$1" >&2
    exit 1
}

usage() {
    printf 'usage: %s %s\n' "$verb" "$1" >&2
    exit 2
}

[ -d "$rfd_dir" ] || die "there is no folder $rfd_dir here"

# --- the work folder ---------------------------------------------------------------------

# Makes this process's own folder for prepared files. It stands beside the documents, so
# that moving a file into place is one step.
begin_work() {
    trap 'rm -rf "$work"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    work=$(mktemp -d "$rfd_dir/.work.XXXXXX") || die "cannot make a work folder in $rfd_dir"
}

# Between the check and the act a real tool takes its time: it formats, asks git, starts a
# compiler. On files this small nothing takes time, so each script that changes something
# waits here once instead. The race is the real one; the wait only makes it as wide as it
# is in a large tree. JP_RFD_PACE sets the seconds; 0 makes the race rare, not impossible.
pause() {
    sleep "${JP_RFD_PACE:-0.3}" || exit
}

# Moves every prepared file over the document it was prepared from.
install_work() {
    for prepared in "$work"/*.md; do
        [ -e "$prepared" ] || continue
        mv -f "$prepared" "$rfd_dir/" || die "cannot write $rfd_dir/${prepared##*/}"
    done
}

# move_document OLD_PATH NEW_PATH
move_document() {
    [ ! -e "$2" ] || die "$2 exists by now; the references are rewritten, $1 is not moved"
    mv "$1" "$2" || die "the references are rewritten, but $1 could not be moved"
}

# --- finding and reading documents -------------------------------------------------------

# number WORD: 8, 08 or 008 as 008
number() {
    case $1 in
    '' | *[!0-9]*) die "'$1' is not an RFD number" ;;
    esac
    digits=$1
    while [ "${digits#0}" != "$digits" ]; do digits=${digits#0}; done
    case $digits in
    '' | ????*) die "'$1' is not an RFD number (001 to 999)" ;;
    esac
    printf '%03d\n' "$digits"
}

# path_of NUMBER: the document with this number; it must be the only one
path_of() {
    set -- "$1" "$rfd_dir/$1"-*.md
    [ -e "$2" ] || die "there is no RFD $1"
    [ $# -eq 2 ] || die "the number $1 is used by $(($# - 1)) documents: $2, $3"
    printf '%s\n' "$2"
}

# check_free NUMBER
check_free() {
    for taken in "$rfd_dir/$1"-*.md; do
        [ ! -e "$taken" ] || die "RFD $1 is taken ($taken)"
    done
}

# next_number: one more than the highest
next_number() {
    highest=000
    for path in "$rfd_dir"/[0-9][0-9][0-9]-*.md; do
        [ -e "$path" ] || continue
        highest=${path##*/}
        highest=${highest%%-*}
    done
    [ "$highest" != 999 ] || die "all numbers are used"
    while [ "${highest#0}" != "$highest" ]; do highest=${highest#0}; done
    printf '%03d\n' "$((${highest:-0} + 1))"
}

# check_document NUMBER PATH: it has the heading and the status that the scripts rely on
check_document() {
    sed -n 1p "$2" | grep -q "^# RFD $1: " || die "$2 does not start with '# RFD $1: ...'"
    [ -n "$(field Status "$2")" ] || die "$2 has no status"
}

# title_in PATH
title_in() {
    sed -n '1s/^# RFD [0-9]*: *//p' "$1"
}

# field NAME PATH: the value of a metadata line, nothing where there is none
field() {
    sed -n -e '/^## /q' -e "s/^- \*\*$1\*\*: *//p" "$2"
}

# check_open NUMBER PATH: neither abandoned nor superseded
check_open() {
    case $(field Status "$2") in
    Abandoned) die "RFD $1 is abandoned" ;;
    Superseded) die "RFD $1 is superseded" ;;
    esac
}

# --- titles ------------------------------------------------------------------------------

# clean_title WORD...: one line, single spaces, no control characters
clean_title() {
    printf '%s' "$*" | tr '\001-\037\177' ' ' | tr -s ' ' | sed -e 's/^ //' -e 's/ $//'
}

# slug TITLE: what stands in the file name
slug() {
    name=$(printf '%s' "$1" | tr -d "'" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9' '-' |
        sed 's/^-//' | cut -c1-60 | sed 's/-$//')
    printf '%s\n' "${name:-untitled}"
}

# --- changing metadata -------------------------------------------------------------------

# set_field NAME VALUE: copies a document from stdin to stdout with the metadata line
# replaced, or added at the end of the metadata
set_field() {
    at=heading
    while IFS= read -r line || [ -n "$line" ]; do
        case $at:$line in
        heading:"- **$1**:"* | metadata:"- **$1**:"*)
            line="- **$1**: $2"
            at=text
            ;;
        heading:"- **"*) at=metadata ;;
        metadata:"- **"*) ;;
        metadata:*)
            printf '%s\n' "- **$1**: $2"
            at=text
            ;;
        esac
        printf '%s\n' "$line"
    done
    [ "$at" = text ] || printf '%s\n' "- **$1**: $2"
}

# with_link NAME PATH OTHER_PATH: the value of a metadata line with a link more
with_link() {
    others=$(field "$1" "$2")
    other=${3##*/}
    printf '%s\n' "${others:+$others, }[RFD ${other%%-*}]($other)"
}

# prepare_field NAME VALUE PATH: puts a copy of the document with this metadata line into
# the work folder; a second field goes into the same copy
prepare_field() {
    copy=$work/${3##*/}
    if [ -e "$copy" ]; then
        mv "$copy" "$work/before"
    else
        cp "$3" "$work/before" || die "cannot read $3"
    fi
    set_field "$1" "$2" <"$work/before" >"$copy" || die "cannot write $copy"
}

# prepare_link NAME PATH OTHER_PATH: the same, with a link more in the metadata line
prepare_link() {
    prepare_field "$1" "$(with_link "$1" "$2" "$3")" "$2"
}

# linked PATH NAME...: the numbers that the metadata lines with these names link to
linked() {
    from=$1
    shift
    for field in "$@"; do
        field "$field" "$from" | tr ',' '\n' | sed -n 's/.*RFD \([0-9][0-9][0-9]\).*/\1/p'
    done
}

# reaches FROM TO NAME...: whether the links of these metadata lines lead from one number
# to the other, over any number of documents
reaches() {
    todo=$1
    goal=$2
    seen=' '
    shift 2
    while [ -n "$todo" ]; do
        found=
        for number in $todo; do
            [ "$number" != "$goal" ] || return 0
            case $seen in *" $number "*) continue ;; esac
            seen="$seen$number "
            for path in "$rfd_dir/$number"-*.md; do
                [ ! -e "$path" ] || found="$found $(linked "$path" "$@")"
            done
        done
        todo=$found
    done
    return 1
}

# --- rewriting references ----------------------------------------------------------------

# Both filters replace what they find by a mark. A mark can't be found again, so the loop
# ends, and two mentions that share one space are both seen.

# mark_mentions NUMBER: `RFD 008`, but neither `RFD 0080` nor `XRFD 008`
mark_mentions() {
    sed -E -e ':again' \
        -e "s/(^|[^A-Za-z0-9_])RFD $1([^A-Za-z0-9_]|\$)/\\1RFD $mention\\2/" -e 't again'
}

# mark_targets FILE_NAME: `(008-slug.md)`, `(008-slug.md#part)`, `../rfd/008-slug.md`
mark_targets() {
    pattern=$(printf '%s\n' "$1" | sed 's/[][\.*^$+?(){}|/]/\\&/g')
    sed -E -e ':again' \
        -e "s/(^|[^A-Za-z0-9_-])$pattern([^A-Za-z0-9_-]|\$)/\\1$target\\2/" -e 't again'
}

# fill_marks NUMBER FILE_NAME
fill_marks() {
    name=$(printf '%s\n' "$2" | sed 's/[\&/]/\\&/g')
    sed -e "s/$mention/$1/g" -e "s/$target/$name/g"
}

# count_marks: a link is one reference, though its text and its target both have a mark;
# a document's own heading is none
count_marks() {
    sed -e "1s/^# RFD $mention:/#/" -e "s/\[RFD $mention\]($target/$target/g" |
        tr -cd "$mention$target" | wc -c | tr -d ' '
}

# prepare_references OLD_NUMBER OLD_NAME NEW_NUMBER NEW_NAME: puts a rewritten copy of each
# document that refers to this one into the work folder, counts them in $references and
# $documents. Without a change of number only link targets are rewritten.
prepare_references() {
    references=0
    documents=0
    for path in "$rfd_dir"/[0-9][0-9][0-9]-*.md; do
        copy=$work/${path##*/}
        mark_targets "$2" <"$path" >"$work/marked" || die "cannot read $path"
        if [ "$1" != "$3" ]; then
            mv "$work/marked" "$work/targets"
            mark_mentions "$1" <"$work/targets" >"$work/marked"
        fi
        grep -q "[$mention$target]" "$work/marked" || continue
        fill_marks "$3" "$4" <"$work/marked" >"$copy" || die "cannot write $copy"
        count=$(count_marks <"$work/marked")
        [ "$count" -gt 0 ] || continue
        references=$((references + count))
        documents=$((documents + 1))
    done
}

# references_rewritten: `5 references in 3 files rewritten`
references_rewritten() {
    case $references:$documents in
    0:*) printf 'no references to rewrite\n' ;;
    1:*) printf '1 reference in 1 file rewritten\n' ;;
    *:1) printf '%s references in 1 file rewritten\n' "$references" ;;
    *) printf '%s references in %s files rewritten\n' "$references" "$documents" ;;
    esac
}
