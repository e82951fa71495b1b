# Publishes an event, the same again, and two of which one is wrong. TOKEN is one with the scope events:publish.
set -eu
api="${PIPELINE_API:-http://127.0.0.1:7401}"
event() { echo '{"event":"order.created","eventSchemaVersion":"1.0.0","occurredAt":"'"$(date -u +%FT%TZ)"'","details":'"$1"'}'; }
post() { curl -sS "$api/events" -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; echo; }

# Within a day the same request with the same key is answered as the first one was, and stores nothing.
key=$(date +%s)-$$
one=$(event '{"id":"A-1"}')
post -H "Idempotency-Key: $key" -d "$one"
post -H "Idempotency-Key: $key" -d "$one"

# Of a list all are stored, or none.
post -d "[$one,$(event '{"id":1}')]"
