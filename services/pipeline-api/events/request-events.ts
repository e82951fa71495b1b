/** The events in the body of a request: an envelope, a list of them, or CloudEvents in any of their HTTP forms. Pure. */
import { Result } from "effect"
import type { Fault } from "#base"
import { elementTexts, parseUnambiguousText, utf8Text } from "#base/json"
import { cameAsCloudEvent, openEvent, type OpenedEvent } from "#events"
import { type CloudEventMessage, cloudEventMode, readCloudEvents, type ReadOptions } from "#events/cloudevents"
import { eventsPerRequestMax } from "#pipeline/api"

export interface RequestEvents {
  readonly events: ReadonlyArray<OpenedEvent>
  /** The body is a list: a fault's path begins with its event's index. */
  readonly isList: boolean
}

type Faults = ReadonlyArray<Fault>

/** Fails with the faults of all events. */
export const requestEvents = (
  message: CloudEventMessage,
  options: ReadOptions
): Result.Result<RequestEvents, Faults> => {
  const mode = cloudEventMode(message.headers)
  if (mode !== undefined) {
    const isList = mode === "batch"
    return Result.flatMap(readCloudEvents(message, options), (events) =>
      bounded({ events: events.map(cameAsCloudEvent), isList })
    )
  }
  return Result.flatMap(utf8Text(message.body), (text) =>
    Result.flatMap(parseUnambiguousText(text), (body) => {
      if (!Array.isArray(body)) {
        return Result.map(openText(text, options), (event) => ({ events: [event], isList: false }))
      }
      const opened = elementTexts(text.trim()).map((element) => openText(element, options))
      const faults = opened.map((event) => (Result.isFailure(event) ? event.failure : []))
      return faults.some((each) => each.length > 0)
        ? Result.fail(placed(faults, true))
        : Result.flatMap(Result.all(opened), (events) => bounded({ events, isList: true }))
    })
  )
}

/** The faults of each event as faults of the body. */
export const placed = (faults: ReadonlyArray<Faults>, isList: boolean): Faults =>
  faults.flatMap((each, index) =>
    isList ? each.map(({ path, message }) => ({ path: `/${index}${path}`, message })) : each
  )

const utf8 = new TextEncoder()
const noHeader = () => undefined

const openText = (text: string, options: ReadOptions) =>
  openEvent({ data: utf8.encode(text), header: noHeader }, options)

const bounded = (found: RequestEvents): Result.Result<RequestEvents, Faults> =>
  found.events.length >= 1 && found.events.length <= eventsPerRequestMax
    ? Result.succeed(found)
    : Result.fail([{ path: "", message: `a list has 1 to ${eventsPerRequestMax} events` }])
