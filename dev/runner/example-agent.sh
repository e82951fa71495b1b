#!/bin/sh
# An agent to try things with: writes one file, finds nothing, keeps both sides of a conflict. Lines of an item's
# instructions that begin with `!` are orders, each obeyed as often as it says (once without a number):
#   !ask Q         asks a question            !suggest N     makes N suggestions       !spend MICRO-USD
#   !no-action     finds nothing to do        !unchanged     changes nothing           !match / !no-match   a check's verdict
#   !block N       blocks N audits            !mute N        an auditor says nothing   !remark  finds what does not block
#   !conflict N    changes upstream's base    !fence / !markers   a resolution that is rejected    !unresolved N   fails
#   !quota AGENT SECONDS   out of quota (AGENT `-`: nobody takes over)                 !transient N   !auth   !fail
#   !stuck PHASE   says nothing for an hour   !die PHASE N   kills the runner          !slow PHASE SECONDS
# A note for each order that was obeyed stays in the item's folder of notes, so that a killed runner goes on counting.
set -eu

file="items/$STARLING_WORK_ITEM.md"

# obeyed ORDER TIMES: false when it was obeyed that often before; else counts.
may() {
  note="$STARLING_NOTES/$1"
  count=0
  if [ -f "$note" ]; then read -r count <"$note"; fi
  [ "$count" -lt "$2" ] || return 1
  echo $((count + 1)) >"$note"
}

say() { printf '%s\n' "$1"; }

finding() {
  say "{\"type\":\"finding\",\"severity\":\"$1\",\"title\":\"$2\",\"location\":\"$file:1\",\"description\":\"as ordered\"}"
}

# Somebody else is quicker: the base gets the item's file too, with another content.
change_base() {
  clone="$STARLING_NOTES/other"
  git clone --quiet --branch "$STARLING_BASE_BRANCH" "$STARLING_UPSTREAM" "$clone"
  mkdir -p "$clone/items"
  echo "somebody else was here, $(date +%s%N)" >"$clone/$file"
  cd "$clone"
  git add --all
  git -c user.name=other -c user.email=other@starling.invalid commit --quiet -m "Be quicker"
  until git push --quiet origin HEAD 2>/dev/null; do git pull --quiet --rebase; done
  cd - >/dev/null
  rm -rf "$clone"
}

suggestions() {
  for n in $(seq "$1"); do
    say "{\"type\":\"suggestion\",\"title\":\"Suggestion $n\",\"rationale\":\"kept in the house\",\"category\":\"docs\",\"severity\":\"minor\",\"estimatedEffort\":\"tiny\",\"filesReferenced\":[\"$file\"]}"
  done
}

is_work() { case $STARLING_PHASE in work | rework | delegation) true ;; *) false ;; esac; }
is_first_auditor() {
  [ "$STARLING_PHASE" = audit ] || return 1
  [ ! -f "$STARLING_NOTES/auditor" ] || read -r first <"$STARLING_NOTES/auditor"
  [ -n "${first:-}" ] || first=$STARLING_AUDITOR
  echo "$first" >"$STARLING_NOTES/auditor"
  [ "$first" = "$STARLING_AUDITOR" ]
}

changes=yes
obey() {
  verb=$1
  shift
  case $verb in
    die) if [ "$STARLING_PHASE" = "$1" ] && may "die-$1" "${2:-1}"; then kill -9 "$STARLING_RUNNER_PID"; sleep 1; fi ;;
    stuck) if [ "$STARLING_PHASE" = "$1" ] && may "stuck-$1" 1; then exec sleep 3600; fi ;;
    slow) if [ "$STARLING_PHASE" = "$1" ]; then sleep "$2"; fi ;;
    transient) if is_work && may transient "${1:-1}"; then echo "connection reset" >&2; exit 75; fi ;;
    auth) if is_work && may auth 1; then echo "login required" >&2; exit 77; fi ;;
    fail) if is_work && may fail "${1:-1}"; then echo "failed as ordered" >&2; exit 1; fi ;;
    ask)
      if is_work && [ "$STARLING_REPLIES" = "[]" ] && may ask 1; then
        say "{\"type\":\"question\",\"questionId\":\"q-1\",\"questionText\":\"$*\"}"
        exit 0
      fi
      ;;
    quota)
      if is_work && may quota 1; then
        to=null
        if [ "$1" != - ]; then to="\"$1\""; fi
        say "{\"type\":\"quota\",\"toAgent\":$to,\"toModel\":null,\"resetAtMs\":$((($(date +%s) + ${2:-1}) * 1000))}"
        exit 0
      fi
      ;;
    suggest) if is_work && may suggest 1; then suggestions "$1"; fi ;;
    spend)
      if is_work; then
        say "{\"type\":\"usage\",\"tokensInput\":1000,\"tokensOutput\":200,\"tokensCached\":50,\"costMicroUsd\":$1,\"elapsedMs\":10}"
      fi
      ;;
    no-action) if is_work; then say '{"type":"no-action"}'; changes=no; fi ;;
    unchanged) changes=no ;;
    match | no-match)
      if is_work && [ "$STARLING_KIND" = check ]; then
        matched=true
        if [ "$verb" = no-match ]; then matched=false; fi
        say "{\"type\":\"verdict\",\"isMatched\":$matched,\"answer\":\"looked\",\"followUp\":{\"title\":\"Act on it\",\"instructions\":null}}"
        changes=no
      fi
      ;;
    block) if is_first_auditor && may block "${1:-1}"; then finding Error "as ordered"; fi ;;
    remark) if is_first_auditor; then finding Info "a remark"; fi ;;
    mute) if is_first_auditor && may mute "${1:-1}"; then exec sleep 3600; fi ;;
    conflict) if is_first_auditor && may conflict "${1:-1}"; then change_base; fi ;;
    markers) if [ "$STARLING_PHASE" = conflict-rework ]; then exit 0; fi ;;
    fence) if [ -n "${STARLING_CONFLICTS:-}" ]; then echo "not asked for" >beyond.md; fi ;;
    unresolved) if [ -n "${STARLING_CONFLICTS:-}" ] && may unresolved "${1:-1}"; then echo "no idea" >&2; exit 1; fi ;;
  esac
}

while read -r line; do
  case $line in
    !*) set -f; set -- ${line#!}; set +f; obey "$@" ;;
  esac
done <<INSTRUCTIONS
$STARLING_INSTRUCTIONS
INSTRUCTIONS

if is_work && [ $changes = yes ]; then
  mkdir -p items
  printf '%s, iteration %s\n%s\n' "$STARLING_TITLE" "$STARLING_ITERATION" "$STARLING_REPLIES" >>"$file"
fi

# Both sides stay.
if [ -n "${STARLING_CONFLICTS:-}" ]; then
  printf '%s\n' "$STARLING_CONFLICTS" | while read -r path; do
    sed -i.before -e '/^<<<<<<< /d' -e '/^=======$/d' -e '/^>>>>>>> /d' "$path"
    rm "$path.before"
  done
fi
