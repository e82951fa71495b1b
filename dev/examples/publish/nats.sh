# Publishes an event, the same again, and a wrong one; then reads the first one back.
set -eu
export NATS_URL="${NATS_URL:-nats://127.0.0.1:4222}" NATS_USER="${NATS_USER:-internal-services}" NATS_PASSWORD
# Answers come to an inbox of the user's own; no other is allowed.
request() { nats --inbox-prefix "_INBOX_$NATS_USER" request --raw "$@"; }
event() { echo '{"event":"order.created","eventSchemaVersion":"1.0.0","occurredAt":"'"$(date -u +%FT%TZ)"'","details":'"$1"'}'; }

# Within two minutes an event with the same id is stored once.
id=$(date +%s)-$$
request -H "Nats-Msg-Id:$id" publish.order.created "$(event '{"id":"A-1"}')" | tee stored.json
request -H "Nats-Msg-Id:$id" publish.order.created "$(event '{"id":"A-1"}')"
request publish.order.created "$(event '{"id":1}')"

sequence=$(sed 's/.*"sequence":\([0-9]*\).*/\1/' stored.json)
request '$JS.API.DIRECT.GET.EVENTS' '{"seq":'"$sequence"',"next_by_subj":"events-from.*.order.created"}'
