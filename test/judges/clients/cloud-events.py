"""CloudEvents, one a line of JSON: a message is parsed, or an event is written in each mode, by both of the SDK's interfaces."""

import json
import sys
from datetime import datetime

from cloudevents.core.bindings.http import HTTPMessage, from_http_event, to_binary_event, to_structured_event
from cloudevents.core.v1.event import CloudEvent
from cloudevents.v1.conversion import to_binary, to_structured
from cloudevents.v1.http import CloudEvent as EarlierCloudEvent
from cloudevents.v1.http import from_http


def plain(value):
    return value.isoformat() if isinstance(value, datetime) else value


def parsed(headers, body):
    event = from_http_event(HTTPMessage(headers=headers, body=body.encode()))
    earlier = from_http(headers, body.encode())
    now = {name: plain(value) for name, value in event.get_attributes().items()}
    before = {name: plain(value) for name, value in earlier.get_attributes().items()}
    return [{**now, "data": event.get_data()}, {**before, "data": earlier.get_data()}]


def message(headers, body):
    return {"headers": dict(headers), "body": body.decode()}


def written(attributes, data):
    now = CloudEvent({**attributes, "time": datetime.fromisoformat(attributes["time"])}, data)
    earlier = EarlierCloudEvent(attributes, data)
    made = [to_binary_event(now), to_structured_event(now)]
    return [message(each.headers, each.body) for each in made] + [
        message(*to_binary(earlier)),
        message(*to_structured(earlier)),
    ]


for line in sys.stdin:
    given = json.loads(line)
    told = parsed(**given["parse"]) if "parse" in given else written(**given["write"])
    print(json.dumps(told), flush=True)
