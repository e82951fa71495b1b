"""Anthropic's client in Python, with the loop of an agent around it."""

import json

from anthropic import Anthropic

from orders import PICTURE, TOOLS, result_of, serve

IMAGE = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}]
TOOLS = [{"name": name, "description": says, "input_schema": schema} for name, says, schema in TOOLS]


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def ask(anthropic, order, stream):
    messages = [{"role": "user", "content": order["prompt"]}]
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}} if order.get("thinks") else {}
    asked = {"model": order["model"], "messages": messages, "tools": TOOLS, "max_tokens": 2048, **thinking}
    while True:
        if stream:
            with anthropic.messages.stream(**asked) as events:
                answer = events.get_final_message()
        else:
            answer = anthropic.messages.create(**asked)
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return text_of(answer)
        messages.append({"role": "assistant", "content": [json.loads(block.to_json()) for block in answer.content]})
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": result_of(call.name, call.input, IMAGE)}
            for call in calls
        ]
        messages.append({"role": "user", "content": results})


def leave(anthropic, order):
    messages = [{"role": "user", "content": order["prompt"]}]
    with anthropic.messages.stream(model=order["model"], messages=messages, max_tokens=2048) as stream:
        heard = next(text for text in stream.text_stream if text)
    turns = [*messages, {"role": "assistant", "content": heard.strip()}, {"role": "user", "content": "go on"}]
    return [heard, text_of(anthropic.messages.create(model=order["model"], messages=turns, max_tokens=2048))]


def act(order):
    base = order["baseURL"].removesuffix("/v1")
    anthropic = Anthropic(base_url=base, api_key=order["apiKey"], max_retries=0)
    if order.get("leaves"):
        return leave(anthropic, order)
    return [ask(anthropic, order, False), ask(anthropic, order, True)]


serve(act)
