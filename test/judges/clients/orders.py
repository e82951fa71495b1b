"""Orders, one a line of JSON, each done by the client and answered by a line: it starts once for all of them."""

import json
import sys

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


def fault_of(error):
    body = getattr(error, "body", None)
    code = getattr(error, "code", None) or (body.get("code") if isinstance(body, dict) else None)
    status = getattr(error, "status_code", None)
    return {"name": type(error).__name__, "status": status, "code": code, "message": str(error)}


def result_of(name, given, picture):
    return {"read": f"content of {given.get('path')}", "look": f"seen {given.get('at')}"}.get(name, picture)


def schema(*names):
    properties = {name: {"type": "string"} for name in names}
    return {"type": "object", "properties": properties, "required": list(names), "additionalProperties": False}


TOOLS = [("read", "Reads.", schema("path")), ("look", "Looks.", schema("at")), ("draw", "Draws.", schema())]


def serve(act):
    for line in sys.stdin:
        try:
            told = {"texts": act(json.loads(line))}
        except Exception as error:  # Whatever it is, it is told.
            told = {"fault": fault_of(error)}
        print(f"told: {json.dumps(told)}", flush=True)
