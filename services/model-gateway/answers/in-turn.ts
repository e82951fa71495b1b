/**
 * An answer for dialects in which one part is open at a time: the parts follow one another, numbered in that order. A
 * part that opens while another is open waits, together with everything added to it. An open text gives way to it, and
 * so does a call with complete arguments. Pure but for what waits.
 */
import type { AnswerEvent, AnswerEvents, OpenedPart } from "./AnswerEvents.ts"
import { heldCharactersMax } from "./call-deltas.ts"

interface Part {
  readonly opened: OpenedPart
  /** The end of a call's arguments. */
  readonly json: JsonEnd
  stage: "waiting" | "open" | "over"
  at: number
  /** Text that was added while it waited. */
  text: string
  signature: string | undefined
  end: { readonly isCut: boolean } | undefined
}

// What a part costs besides its text.
const partCharacters = 256

export const inTurn = (): ((event: AnswerEvent) => AnswerEvents) => {
  const parts = new Map<number, Part>()
  let waiting: Array<Part> = []
  let open: Part | undefined
  let count = 0
  let heldCharacters = 0

  const wait = (index: number, opened: OpenedPart): Part => {
    const part = newPart(opened)
    parts.set(index, part)
    waiting.push(part)
    heldCharacters += partCharacters
    return part
  }
  const closed = (): AnswerEvents => {
    if (open === undefined || !isOver(open, waiting.length > 0)) return []
    const { at, end } = open
    open.stage = "over"
    open = undefined
    return [{ _tag: "Closed", index: at, isCut: end?.isCut ?? false }]
  }
  /** Emits whatever can be sent now. */
  const go = (): AnswerEvents => {
    const events = [...closed()]
    while (open === undefined) {
      const next = waiting.shift()
      if (next === undefined) break
      heldCharacters -= partCharacters + next.text.length
      open = next
      events.push(...given(next, count++), ...closed())
    }
    return heldCharacters > heldCharactersMax ? [...events, tooMuch] : events
  }
  const add = (index: number, text: string): AnswerEvents => {
    let part = parts.get(index)
    if (part === undefined) return []
    if (part.stage === "open") {
      part.json.push(text)
      return [{ _tag: "Added", index: part.at, text }, ...go()]
    }
    if (part.stage === "over") {
      if (part.opened._tag === "ToolCall") return text.trim() === "" ? [] : [endless]
      part = wait(index, part.opened)
    }
    part.text += text
    heldCharacters += text.length
    return go()
  }
  return (event) => {
    switch (event._tag) {
      case "Opened":
        wait(event.index, event.part)
        return go()
      case "Added":
        return add(event.index, event.text)
      case "Sealed":
        return sealed(parts.get(event.index), event.signature)
      case "Closed": {
        const part = parts.get(event.index)
        if (part !== undefined) part.end = { isCut: event.isCut }
        return go()
      }
      default:
        return [event]
    }
  }
}

const newPart = (opened: OpenedPart): Part => ({
  opened,
  json: jsonEnd(),
  stage: "waiting",
  at: -1,
  text: "",
  signature: undefined,
  end: undefined
})

const isOver = ({ opened, json, end }: Part, isAwaited: boolean) => {
  if (end !== undefined || !isAwaited) return end !== undefined
  return opened._tag === "Text" || opened._tag === "Refusal" || (opened._tag === "ToolCall" && json.isComplete())
}

const sealed = (part: Part | undefined, signature: string): AnswerEvents => {
  if (part?.stage === "open") return [{ _tag: "Sealed", index: part.at, signature }]
  if (part?.stage === "waiting") part.signature = signature
  return []
}

const given = (part: Part, at: number): AnswerEvents => {
  const { opened, text, signature } = part
  part.stage = "open"
  part.at = at
  part.text = ""
  part.json.push(text)
  return [
    { _tag: "Opened", index: at, part: opened },
    ...(text === "" ? [] : [{ _tag: "Added", index: at, text } as const]),
    ...(signature === undefined ? [] : [{ _tag: "Sealed", index: at, signature } as const])
  ]
}

const tooMuch: AnswerEvent = { _tag: "Failed", reason: "too much of an answer waits for a call's end" }
const endless: AnswerEvent = { _tag: "Failed", reason: "a call continues after its arguments were complete" }

type JsonEnd = ReturnType<typeof jsonEnd>

/** Whether a growing text is a complete object: only its brackets are checked. */
const jsonEnd = () => {
  let depth = 0
  let isInString = false
  let isEscaped = false
  let isComplete = false
  const step = (character: string) => {
    if (isInString) {
      if (isEscaped) isEscaped = false
      else if (character === "\\") isEscaped = true
      else if (character === '"') isInString = false
    } else if (character === '"') isInString = true
    else if (character === "{" || character === "[") depth += 1
    else if (character === "}" || character === "]") depth -= 1
    isComplete = depth === 0 && !isInString && (isComplete || character === "}")
  }
  return {
    push: (text: string) => {
      for (const character of text) step(character)
    },
    isComplete: () => isComplete
  }
}
