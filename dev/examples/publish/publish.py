"""Publishes an event, the same again, and a wrong one; then reads on from the place of the first."""

import asyncio
import json
import os
import uuid
from datetime import datetime, timezone

import nats
from nats.js.errors import NotFoundError


async def publish(connection, id, details):
    """Within two minutes an event with the same id is stored once: after a timeout or Unavailable, send the same again."""
    event = {
        "event": "order.created",
        "eventSchemaVersion": "1.0.0",
        "occurredAt": datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "details": details,
    }
    body = json.dumps(event).encode()
    reply = await connection.request("publish.order.created", body, timeout=5, headers={"Nats-Msg-Id": id})
    answer = json.loads(reply.data)
    if answer["_tag"] == "Stored":
        print(f"stored as {answer['sequence']}" + (", a duplicate" if answer["duplicate"] else ""))
    elif answer["_tag"] == "Refused":
        for fault in answer["faults"]:
            print(f"refused: {fault['path']} {fault['message']}")
    else:
        print(f"unavailable: {answer['detail']}")
    return answer


async def main():
    user = os.environ.get("NATS_USER", "internal-services")
    # Answers come to an inbox of the user's own; no other is allowed.
    connection = await nats.connect(
        os.environ.get("NATS_URL", "nats://127.0.0.1:4222"),
        user=user,
        password=os.environ["NATS_PASSWORD"],
        inbox_prefix=f"_INBOX_{user}",
    )
    id = str(uuid.uuid4())
    first = await publish(connection, id, {"id": "A-1"})
    await publish(connection, id, {"id": "A-1"})
    await publish(connection, str(uuid.uuid4()), {"id": 1})

    stream, sequence = connection.jetstream(), first.get("sequence")
    while sequence is not None:
        try:
            subject = "events-from.*.order.created"
            found = await stream.get_msg("EVENTS", seq=sequence, subject=subject, direct=True, next=True)
        except NotFoundError:
            break
        print(f"read {found.seq} {found.subject}")
        sequence = found.seq + 1
    await connection.close()


asyncio.run(main())
