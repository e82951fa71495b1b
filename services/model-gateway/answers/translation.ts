/**
 * Converts an answer from a provider's shape to its caller's: complete, or event by event. The provider's own dialect
 * passes through; any other is rendered from the answer's events. Pure but for its place in the stream.
 */
import { Result } from "effect"
import type { JsonObject } from "../translate/json.ts"
import type { ProviderKind } from "../translate/provider-apis.ts"
import type { AnswerEvent, AnswerEvents, AnswerFrame, AnswerReader, AnswerTranslator } from "./AnswerEvents.ts"
import { gathered, type GatheredAnswer } from "./GatheredAnswer.ts"
import { inTurn } from "./in-turn.ts"
import { ownChunks, ownCompletion, ownEvents, ownMessage } from "./own-dialect.ts"
import { chunkReader, readCompletion } from "./read-chunks.ts"
import { eventReader, readMessage } from "./read-events.ts"
import { chatRenderer, completionOf } from "./render-chat.ts"
import { messageOf, messagesRenderer } from "./render-messages.ts"
import { responseOf, responsesRenderer } from "./render-responses.ts"

/** The shape in which a caller gets its answer. */
export interface AnswerShape extends Omit<AnswerFrame, "calls"> {
  readonly dialect: "chat" | "messages" | "responses"
  /** Absent if every call is one of a plain function. */
  readonly calls?: AnswerFrame["calls"]
}

interface Provider {
  readonly own: AnswerShape["dialect"]
  readonly ownAnswer: (answer: JsonObject, frame: AnswerFrame) => Result.Result<JsonObject, string>
  readonly ownStream: (frame: AnswerFrame) => AnswerTranslator
  readonly whole: (answer: JsonObject, frame: AnswerFrame) => AnswerEvents
  readonly reader: (frame: AnswerFrame) => AnswerReader
}

const fallbackId = ({ nowSeconds }: AnswerFrame) => String(nowSeconds)

const providers: Readonly<Record<ProviderKind, Provider>> = {
  openai: {
    own: "chat",
    ownAnswer: ownCompletion,
    ownStream: ownChunks,
    whole: (answer, frame) => readCompletion(answer, fallbackId(frame)),
    reader: (frame) => chunkReader(fallbackId(frame))
  },
  anthropic: {
    own: "messages",
    ownAnswer: ownMessage,
    ownStream: ownEvents,
    whole: readMessage,
    reader: eventReader
  }
}

interface Dialect {
  readonly whole: (answer: GatheredAnswer, frame: AnswerFrame) => JsonObject
  readonly renderer: (frame: AnswerFrame) => (event: AnswerEvent) => ReadonlyArray<JsonObject>
  /** Its parts follow one another. */
  readonly isInTurn: boolean
}

const dialects: Readonly<Record<AnswerShape["dialect"], Dialect>> = {
  chat: { whole: completionOf, renderer: chatRenderer, isInTurn: false },
  messages: { whole: messageOf, renderer: messagesRenderer, isInTurn: true },
  responses: { whole: responseOf, renderer: responsesRenderer, isInTurn: true }
}

const frameOf = (shape: AnswerShape): AnswerFrame => ({ calls: (name) => ({ _tag: "Function", name }), ...shape })

/** Uses the caller's name for a tool; the responses dialect uses the provider's name to determine its item's form. */
const named =
  ({ calls }: AnswerFrame, dialect: AnswerShape["dialect"]) =>
  (event: AnswerEvent): AnswerEvent => {
    if (dialect === "responses" || event._tag !== "Opened" || event.part._tag !== "ToolCall") return event
    return { ...event, part: { ...event.part, name: calls(event.part.name).name } }
  }

/** Fails with why the provider's answer makes no sense. */
export const wholeAnswer = (
  shape: AnswerShape,
  kind: ProviderKind,
  body: JsonObject
): Result.Result<JsonObject, string> => {
  const frame = frameOf(shape)
  const { own, ownAnswer, whole } = providers[kind]
  if (shape.dialect === own) return ownAnswer(body, frame)
  const answer = gathered(whole(body, frame).map(named(frame, shape.dialect)))
  return answer.failure === undefined
    ? Result.succeed(dialects[shape.dialect].whole(answer, frame))
    : Result.fail(answer.failure)
}

export const streamTranslator = (shape: AnswerShape, kind: ProviderKind): AnswerTranslator => {
  const frame = frameOf(shape)
  const { own, ownStream, reader: readerOf } = providers[kind]
  if (shape.dialect === own) return ownStream(frame)
  const { renderer, isInTurn } = dialects[shape.dialect]
  const reader = readerOf(frame)
  const render = renderer(frame)
  const name = named(frame, shape.dialect)
  const order = isInTurn ? inTurn() : (event: AnswerEvent) => [event]
  let failure: string | undefined
  const rendered = (events: AnswerEvents) =>
    events.flatMap(order).flatMap((event) => {
      if (event._tag === "Failed") failure ??= event.reason
      return render(name(event))
    })
  return {
    push: (event) => rendered(reader.push(event)),
    end: () => rendered(reader.end()),
    cut: () => rendered(reader.cut()),
    failure: () => failure
  }
}
