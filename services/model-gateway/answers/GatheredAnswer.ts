/** An answer assembled from its events: the source of complete answers, and of the end of a streamed response. */
import type { Usage } from "../translate/usage.ts"
import type { AnswerEvent, AnswerEvents, EndReason, OpenedPart } from "./AnswerEvents.ts"

export interface GatheredPart {
  readonly opened: OpenedPart
  text: string
  signature: string | undefined
  isCut: boolean
}

/** Grows in place: a stream reads it at each event. */
export interface GatheredAnswer {
  id: string | undefined
  /** In the order in which they were opened. */
  readonly parts: Array<GatheredPart>
  readonly byIndex: Map<number, GatheredPart>
  usage: Usage | undefined
  reason: EndReason
  failure: string | undefined
}

export const emptyAnswer = (): GatheredAnswer => ({
  id: undefined,
  parts: [],
  byIndex: new Map(),
  usage: undefined,
  reason: "stop",
  failure: undefined
})

export const gather = (answer: GatheredAnswer, event: AnswerEvent): void => {
  switch (event._tag) {
    case "Begun":
      answer.id = event.id
      return
    case "Opened": {
      const part: GatheredPart = { opened: event.part, text: "", signature: undefined, isCut: false }
      answer.parts.push(part)
      answer.byIndex.set(event.index, part)
      return
    }
    case "Added":
      changed(answer, event.index, (part) => (part.text += event.text))
      return
    case "Sealed":
      changed(answer, event.index, (part) => (part.signature = event.signature))
      return
    case "Closed":
      changed(answer, event.index, (part) => (part.isCut = event.isCut))
      return
    case "Used":
      answer.usage = event.usage
      return
    case "Ended":
      answer.reason = event.reason
      return
    case "Failed":
      answer.failure ??= event.reason
  }
}

const changed = ({ byIndex }: GatheredAnswer, index: number, change: (part: GatheredPart) => void) => {
  const part = byIndex.get(index)
  if (part !== undefined) change(part)
}

export const gathered = (events: AnswerEvents): GatheredAnswer => {
  const answer = emptyAnswer()
  for (const event of events) gather(answer, event)
  return answer
}

/** Everything that was said in one way. */
export const textOf = ({ parts }: Pick<GatheredAnswer, "parts">, tag: OpenedPart["_tag"]): string =>
  parts.map(({ opened, text }) => (opened._tag === tag ? text : "")).join("")
