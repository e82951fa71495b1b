"""OpenAI's client in Python, by chat and by responses, with the loop of an agent around it."""

import json

from openai import OpenAI

from orders import PICTURE, TOOLS, result_of, serve

IMAGE = f"data:image/png;base64,{PICTURE}"


def by_chat(openai, order, stream):
    messages = [{"role": "user", "content": order["prompt"]}]
    functions = [{"name": name, "description": says, "parameters": given} for name, says, given in TOOLS]
    tools = [{"type": "function", "function": each} for each in functions]
    thinking = {"reasoning_effort": "low"} if order.get("thinks") else {}
    asked = {"model": order["model"], "messages": messages, "tools": tools, **thinking}
    while True:
        if stream:
            with openai.chat.completions.stream(**asked) as events:
                for _ in events:
                    pass
                answer = events.get_final_completion()
        else:
            answer = openai.chat.completions.create(**asked)
        message = answer.choices[0].message
        if not message.tool_calls:
            return message.content
        # What a client does not know of a message is kept as it came.
        messages.append(json.loads(message.to_json()))
        for call in message.tool_calls:
            image = [{"type": "image_url", "image_url": {"url": IMAGE}}]
            content = result_of(call.function.name, json.loads(call.function.arguments), image)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


def by_responses(openai, order, stream):
    given = [{"role": "user", "content": order["prompt"]}]
    tools = [
        {"type": "function", "strict": True, "name": name, "description": says, "parameters": parameters}
        for name, says, parameters in TOOLS
    ]
    thinking = {"reasoning": {"effort": "low"}, "store": False, "include": ["reasoning.encrypted_content"]}
    asked = {"model": order["model"], "input": given, "tools": tools, **(thinking if order.get("thinks") else {})}
    while True:
        if stream:
            with openai.responses.stream(**asked) as events:
                for _ in events:
                    pass
                answer = events.get_final_response()
        else:
            answer = openai.responses.create(**asked)
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return answer.output_text
        given.extend(json.loads(item.to_json()) for item in answer.output)
        for call in calls:
            image = [{"type": "input_image", "detail": "auto", "image_url": IMAGE}]
            output = result_of(call.name, json.loads(call.arguments), image)
            given.append({"type": "function_call_output", "call_id": call.call_id, "output": output})


def leave_chat(openai, order):
    model, messages = order["model"], [{"role": "user", "content": order["prompt"]}]
    with openai.chat.completions.create(model=model, messages=messages, stream=True) as chunks:
        return next(chunk.choices[0].delta.content for chunk in chunks if chunk.choices[0].delta.content)


def leave_responses(openai, order):
    with openai.responses.create(model=order["model"], input=order["prompt"], stream=True) as events:
        return next(event.delta for event in events if event.type == "response.output_text.delta")


def go_on(openai, order, heard):
    turns = [
        {"role": "user", "content": order["prompt"]},
        {"role": "assistant", "content": heard},
        {"role": "user", "content": "go on"},
    ]
    if order["dialect"] == "chat":
        return openai.chat.completions.create(model=order["model"], messages=turns).choices[0].message.content
    return openai.responses.create(model=order["model"], input=turns).output_text


def act(order):
    openai = OpenAI(base_url=order["baseURL"], api_key=order["apiKey"], max_retries=0)
    is_chat = order["dialect"] == "chat"
    if order.get("leaves"):
        heard = (leave_chat if is_chat else leave_responses)(openai, order)
        return [heard, go_on(openai, order, heard)]
    ask = by_chat if is_chat else by_responses
    return [ask(openai, order, False), ask(openai, order, True)]


serve(act)
