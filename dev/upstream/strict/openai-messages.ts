/** What OpenAI refuses in the messages of a chat: calls without results, results without calls, empty texts. Pure. */
import { type Json, objectsOf, textAt } from "../json.ts"
import { chatReference, functionCalling, tooLong } from "./openai-words.ts"
import { firstOf, type Refusal, refusal, type Rule, type Source } from "./refusal.ts"

const longCallId: Source = {
  page: "vercel/ai, issue 8132: string too long error when generating tool_call ids",
  url: "https://github.com/vercel/ai/issues/8132"
}

const picturesOfOthers: Source = {
  page: "OpenHands/OpenHands, issue 7700: this message with role 'tool' contains an image URL",
  url: "https://github.com/OpenHands/OpenHands/issues/7700"
}

const messagesOf = (request: Json) => objectsOf(request["messages"])
const callIdsOf = (message: Json | undefined) => objectsOf(message?.["tool_calls"]).map((call) => textAt(call, "id"))
const isTool = (message: Json | undefined) => message?.["role"] === "tool"

/** The calls of the message before the tool messages that this one is among. */
const callsBefore = (messages: ReadonlyArray<Json>, index: number) =>
  callIdsOf(messages.slice(0, index).findLast((message) => !isTool(message)))

const resultFault = (messages: ReadonlyArray<Json>, message: Json, index: number): Refusal | undefined => {
  if (!isTool(message)) return undefined
  const calls = callsBefore(messages, index)
  if (calls.length === 0) {
    return refusal(
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      `messages.[${index}].role`
    )
  }
  return calls.includes(textAt(message, "tool_call_id"))
    ? undefined
    : refusal(
        "Invalid parameter: 'tool_call_id' of '" +
          `${textAt(message, "tool_call_id")}' not found in 'tool_calls' of previous message.`,
        `messages.[${index}].tool_call_id`
      )
}

const callFault = (messages: ReadonlyArray<Json>, message: Json, index: number): Refusal | undefined => {
  const rest = messages.slice(index + 1)
  const end = rest.findIndex((each) => !isTool(each))
  const answered = new Set((end < 0 ? rest : rest.slice(0, end)).map((result) => textAt(result, "tool_call_id")))
  const open = callIdsOf(message).filter((id) => !answered.has(id))
  return open.length === 0
    ? undefined
    : refusal(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
          `The following tool_call_ids did not have response messages: ${open.join(", ")}`,
        `messages.[${index + end + 1}].role`
      )
}

const emptyFault = (message: Json, index: number): Refusal | undefined => {
  const { content } = message
  const path = `messages[${index}].content`
  if (Array.isArray(content) && content.length === 0) {
    return refusal(
      `Invalid '${path}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
      path,
      "empty_array"
    )
  }
  return firstOf(objectsOf(content), ({ type, text }, at) =>
    type === "text" && text === ""
      ? refusal(
          `Invalid '${path}[${at}].text': string too short. Expected a string with minimum length 1, but got an empty string instead.`,
          `${path}[${at}].text`,
          "string_below_min_length"
        )
      : undefined
  )
}

export const chatMessageRules: ReadonlyArray<Rule> = [
  {
    refuses: "a conversation without messages",
    source: chatReference,
    check: ({ messages }) =>
      Array.isArray(messages) && messages.length === 0
        ? refusal(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            "messages",
            "empty_array"
          )
        : undefined
  },
  {
    refuses: "a text part, or a list of parts, with nothing in it",
    source: chatReference,
    check: (request) => firstOf(messagesOf(request), emptyFault)
  },
  {
    refuses: "pictures in messages other than the user's",
    source: picturesOfOthers,
    check: (request) =>
      firstOf(messagesOf(request), ({ role, content }, index) =>
        role === "user" || objectsOf(content).every(({ type }) => type !== "image_url")
          ? undefined
          : refusal(
              `Invalid 'messages[${index}]'. Image URLs are only allowed for messages with role 'user', but this message with role '${String(role)}' contains an image URL.`,
              `messages[${index}]`,
              "invalid_value"
            )
      )
  },
  {
    refuses: "an assistant's message with neither content nor calls",
    source: chatReference,
    check: (request) =>
      firstOf(messagesOf(request), (message, index) => {
        const { role, content, tool_calls: calls, function_call: call, refusal: refused, audio } = message
        const says = [content, calls, call, refused, audio].some((part) => part !== undefined && part !== null)
        const path = `messages[${index}].content`
        return role !== "assistant" || says
          ? undefined
          : refusal(`Invalid value for '${path}': expected a string, got null.`, path)
      })
  },
  {
    refuses: "the id of a call of more than 40 characters",
    source: longCallId,
    check: (request) =>
      firstOf(messagesOf(request), (message, index) =>
        firstOf(callIdsOf(message), (id, at) => tooLong(`messages[${index}].tool_calls[${at}].id`, id, 40))
      )
  },
  {
    refuses: "a tool's message without the call that it answers",
    source: functionCalling,
    check: (request) => {
      const messages = messagesOf(request)
      return firstOf(messages, (message, index) => resultFault(messages, message, index))
    }
  },
  {
    refuses: "an assistant's calls that are not all answered right after",
    source: functionCalling,
    check: (request) => {
      const messages = messagesOf(request)
      return firstOf(messages, (message, index) => callFault(messages, message, index))
    }
  }
]
