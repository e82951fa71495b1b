/** What Anthropic refuses in messages: roles, empty texts, calls and results that do not meet, files. Pure. */
import { isJson, type Json, jsonOf, objectsOf, textAt } from "../json.ts"
import { messagesReference, oneOf, pdfs, toolCalls, vision } from "./anthropic-words.ts"
import { firstOf, type Refusal, refusal, type Rule } from "./refusal.ts"

const messagesOf = (request: Json) => objectsOf(request["messages"])

/** A text is one block. */
export const blocksOf = ({ content }: Json): ReadonlyArray<Json> =>
  typeof content === "string" ? [{ type: "text", text: content }] : objectsOf(content)

export interface Turn {
  readonly role: unknown
  /** Where its first message is. */
  readonly index: number
  readonly blocks: ReadonlyArray<Json>
}

/** Messages of one role that follow each other are one turn. */
export const turnsOf = (request: Json): ReadonlyArray<Turn> =>
  messagesOf(request).reduce<ReadonlyArray<Turn>>((turns, message, index) => {
    const last = turns.at(-1)
    const blocks = blocksOf(message)
    if (last === undefined || last.role !== message["role"]) return [...turns, { role: message["role"], index, blocks }]
    return [...turns.slice(0, -1), { ...last, blocks: [...last.blocks, ...blocks] }]
  }, [])

const usesOf = (turn: Turn | undefined) =>
  (turn?.blocks ?? []).filter(({ type }) => type === "tool_use").map((block) => textAt(block, "id"))

/** The results at the beginning of a turn: others are too late. */
const resultsOf = (turn: Turn | undefined) => {
  const blocks = turn?.blocks ?? []
  const end = blocks.findIndex(({ type }) => type !== "tool_result")
  return (end < 0 ? blocks : blocks.slice(0, end)).map((block) => textAt(block, "tool_use_id"))
}

const roleFault = ({ role }: Json): Refusal | undefined => {
  if (role === "user" || role === "assistant") return undefined
  return refusal(
    role === "system"
      ? 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
      : `messages: Unexpected role "${String(role)}". Allowed roles are "user" or "assistant"`
  )
}

const conversation: ReadonlyArray<Rule> = [
  {
    refuses: "a conversation without messages",
    source: messagesReference,
    check: (request) =>
      messagesOf(request).length === 0 ? refusal("messages: at least one message is required") : undefined
  },
  {
    refuses: "roles other than user and assistant",
    source: messagesReference,
    check: (request) => firstOf(messagesOf(request), roleFault)
  },
  {
    refuses: "a first message that is not the user's",
    source: messagesReference,
    check: (request) =>
      messagesOf(request)[0]?.["role"] === "user"
        ? undefined
        : refusal('messages: first message must use the "user" role')
  },
  {
    refuses: "a message without content, other than the last one of the assistant",
    source: messagesReference,
    check: (request) => {
      const messages = messagesOf(request)
      return firstOf(messages, ({ role, content }, index) => {
        const isEmpty = content === "" || (Array.isArray(content) && content.length === 0)
        if (!isEmpty || (role === "assistant" && index === messages.length - 1)) return undefined
        return refusal(
          `messages.${index}: all messages must have non-empty content except for the optional final assistant message`
        )
      })
    }
  },
  {
    refuses: "text blocks with nothing or white space in them",
    source: messagesReference,
    check: ({ messages, system }) => {
      const results = objectsOf(messages).flatMap((message) =>
        objectsOf(message["content"]).flatMap((block) => [block, ...objectsOf(block["content"])])
      )
      return firstOf([...results, ...objectsOf(system)], ({ type, text }) => {
        if (type !== "text" || typeof text !== "string" || text.trim() !== "") return undefined
        return refusal(
          text === ""
            ? "messages: text content blocks must be non-empty"
            : "messages: text content blocks must contain non-whitespace text"
        )
      })
    }
  },
  {
    refuses: "white space at the end of a last text of the assistant",
    source: messagesReference,
    check: (request) => {
      const last = messagesOf(request).at(-1)
      const block = last?.["role"] === "assistant" ? blocksOf(last).at(-1) : undefined
      return /\s$/u.test(textAt(block ?? {}, "text"))
        ? refusal("messages: final assistant content cannot end with trailing whitespace")
        : undefined
    }
  }
]

const openFault = (turn: Turn, next: Turn | undefined): Refusal | undefined => {
  const answered = new Set(resultsOf(next))
  const open = usesOf(turn).filter((id) => !answered.has(id))
  return open.length === 0
    ? undefined
    : refusal(
        `messages.${turn.index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. ` +
          "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
      )
}

const strayFault = (turn: Turn, before: Turn | undefined): Refusal | undefined => {
  const known = new Set(usesOf(before))
  return firstOf(turn.blocks, (block, index) =>
    block["type"] !== "tool_result" || known.has(textAt(block, "tool_use_id"))
      ? undefined
      : refusal(
          `messages.${turn.index}.content.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ` +
            `${textAt(block, "tool_use_id")}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
        )
  )
}

const calls: ReadonlyArray<Rule> = [
  {
    refuses: "an id of a call outside of ^[a-zA-Z0-9_-]+$",
    source: messagesReference,
    check: (request) =>
      firstOf(messagesOf(request), (message, index) =>
        firstOf(objectsOf(message["content"]), (block, at) =>
          block["type"] !== "tool_use" || /^[a-zA-Z0-9_-]+$/u.test(textAt(block, "id"))
            ? undefined
            : refusal(`messages.${index}.content.${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`)
        )
      )
  },
  {
    refuses: "two calls of one id",
    source: toolCalls,
    check: (request) => {
      const ids = turnsOf(request).flatMap(usesOf)
      return new Set(ids).size === ids.length ? undefined : refusal("messages: `tool_use` ids must be unique")
    }
  },
  {
    refuses: "a call without its result at the beginning of the next turn",
    source: toolCalls,
    check: (request) => {
      const turns = turnsOf(request)
      return firstOf(turns, (turn, at) => openFault(turn, turns[at + 1]))
    }
  },
  {
    refuses: "a result without its call in the turn before",
    source: toolCalls,
    check: (request) => {
      const turns = turnsOf(request)
      return firstOf(turns, (turn, at) => strayFault(turn, turns[at - 1]))
    }
  }
]

const mediaTypes: Readonly<Record<string, ReadonlyArray<string>>> = {
  image: ["image/jpeg", "image/png", "image/gif", "image/webp"],
  document: ["application/pdf"]
}

const base64 = /^[A-Za-z0-9+/]+={0,2}$/u

const fileFault = (block: Json, path: string): Refusal | undefined => {
  const kind = textAt(block, "type")
  const known = mediaTypes[kind]
  const source = jsonOf(block["source"])
  if (known === undefined || source["type"] !== "base64") return undefined
  const at = `${path}.${kind}.source.base64`
  if (!known.includes(textAt(source, "media_type"))) {
    return refusal(`${at}.media_type: Input should be ${oneOf(known)}`)
  }
  const data = textAt(source, "data")
  return base64.test(data) && data.length % 4 === 0
    ? undefined
    : refusal(`${at}.data: The ${kind === "image" ? "image" : "PDF"} was not valid base64 data`)
}

/** Each block with its path; those of results too. */
const placed = (request: Json): ReadonlyArray<readonly [Json, string]> =>
  messagesOf(request).flatMap((message, index) =>
    objectsOf(message["content"]).flatMap((block, at) => {
      const path = `messages.${index}.content.${at}`
      const inner = objectsOf(block["content"]).map((each, n) => [each, `${path}.tool_result.content.${n}`] as const)
      return [[block, path] as const, ...inner]
    })
  )

const filesOf = (kind: string) => (request: Json) =>
  firstOf(placed(request), ([block, path]) =>
    block["type"] === kind && isJson(block["source"]) ? fileFault(block, path) : undefined
  )

const files: ReadonlyArray<Rule> = [
  { refuses: "a picture of an unknown media type or broken base64", source: vision, check: filesOf("image") },
  { refuses: "a document of an unknown media type or broken base64", source: pdfs, check: filesOf("document") }
]

export const messageRules: ReadonlyArray<Rule> = [...conversation, ...calls, ...files]
