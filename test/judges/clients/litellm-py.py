"""LiteLLM, as a client of OpenAI's and of Anthropic's dialect, with the loop of an agent around it."""

import json

import litellm

from orders import PICTURE, TOOLS, result_of, serve

litellm.suppress_debug_info = True
IMAGE = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}]
TOOLS = [
    {"type": "function", "function": {"name": name, "description": says, "parameters": parameters}}
    for name, says, parameters in TOOLS
]


def reach(order):
    is_chat = order["dialect"] == "chat"
    base = order["baseURL"] if is_chat else order["baseURL"].removesuffix("/v1")
    prefix = "openai/" if is_chat else "anthropic/"
    return {"model": prefix + order["model"], "api_base": base, "api_key": order["apiKey"], "num_retries": 0}


def ask(order, stream):
    messages = [{"role": "user", "content": order["prompt"]}]
    thinking = {"reasoning_effort": "low", "allowed_openai_params": ["reasoning_effort"]} if order.get("thinks") else {}
    while True:
        asked = {**reach(order), "messages": messages, "tools": TOOLS, "max_tokens": 2048, **thinking}
        answer = litellm.completion(**asked, stream=stream)
        if stream:
            answer = litellm.stream_chunk_builder(list(answer), messages=messages)
        message = answer.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            content = result_of(call.function.name, json.loads(call.function.arguments), IMAGE)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


def leave(order):
    messages = [{"role": "user", "content": order["prompt"]}]
    stream = litellm.completion(**reach(order), messages=messages, max_tokens=2048, stream=True)
    heard = next(text for chunk in stream if (text := chunk.choices[0].delta.content))
    stream.close() if hasattr(stream, "close") else None
    turns = [*messages, {"role": "assistant", "content": heard.strip()}, {"role": "user", "content": "go on"}]
    answer = litellm.completion(**reach(order), messages=turns, max_tokens=2048)
    return [heard, answer.choices[0].message.content]


serve(lambda order: leave(order) if order.get("leaves") else [ask(order, False), ask(order, True)])
