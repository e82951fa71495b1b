/**
 * `endpoints`: webhook endpoints with their state, and their changes at run time. A secret is made here, sent once and
 * printed once: nothing shows it again.
 */
import { randomBytes } from "node:crypto"
import { Clock, Effect, Result, Schema } from "effect"
import { EndpointSettings, isoTime } from "#contracts"
import type { EndpointView } from "#contracts/console"
import { CommandRefused, misused, note, print, textIn } from "../console.ts"
import {
  type Client,
  type Fields,
  givenOf,
  type OnConsole,
  onConsole,
  printAct,
  printList,
  printWhole
} from "./client.ts"
import { fieldsFrom } from "./events.ts"

interface ListOrder extends OnConsole {
  readonly limit: number
  readonly cursor: string | undefined
  readonly json: boolean
}

const columns = { endpoint: "name", state: "state", backlog: "backlog", from: "source", url: "to" }

export const listEndpoints = ({ url, json, limit, cursor }: ListOrder) =>
  onConsole({ url }, (client) =>
    Effect.gen(function* () {
      const page = yield* client.listEndpoints({ query: { ...givenOf({ cursor }), limit: String(limit) } })
      const nowMs = yield* Clock.currentTimeMillis
      const items = json ? page.items : page.items.map((view) => rowOf(view, nowMs))
      yield* printList({ items, nextCursor: page.nextCursor }, { json, columns })
    })
  )

const rowOf = (view: EndpointView, nowMs: number): Fields => ({
  ...view,
  state: stateOf(view, nowMs),
  to: view.settings?.["Url"]
})

/** What is true of an endpoint now, in words. Pure. */
export const stateOf = (view: EndpointView, nowMs: number): string => {
  const { faults, isEnabled, paused, breakerOpenUntilMs, parkedFrom } = view
  const [fault] = faults
  if (fault !== undefined) return `cannot be used: ${fault.path} ${fault.message}`
  if (!isEnabled) return "disabled"
  if (paused !== null) return `paused by ${paused.by} at ${paused.at}: ${paused.reason}`
  if ((breakerOpenUntilMs ?? 0) > nowMs) return `failing, left alone until ${isoTime(breakerOpenUntilMs ?? 0)}`
  if (parkedFrom !== null) return `behind: waits for event ${parkedFrom}`
  return "active"
}

interface OfEndpoint extends OnConsole {
  readonly name: string
}

export const showEndpoint = ({ url, name, json }: OfEndpoint & { readonly json: boolean }) =>
  onConsole({ url }, (client) =>
    Effect.gen(function* () {
      const view = yield* client.getEndpoint({ params: { name } })
      const state = stateOf(view, yield* Clock.currentTimeMillis)
      yield* printWhole(json ? view : { state, ...view }, json)
    })
  )

/** How the settings are given: a few by flags of their own, each by `--set`. */
interface SettingsOrder {
  readonly event: ReadonlyArray<string>
  readonly header: ReadonlyArray<string>
  readonly description: string | undefined
  readonly set: ReadonlyArray<string>
}

interface SecretOrder {
  readonly sign: "both" | "service" | "standard" | "none" | undefined
  /** A file with the secret, or `-`. */
  readonly secret: string | undefined
}

interface AddOrder extends OfEndpoint, SettingsOrder, SecretOrder {
  readonly to: string
  readonly json: boolean
  readonly reason: string
}

export const addEndpoint = ({ url, name, to, json, reason, ...order }: AddOrder) =>
  onConsole({ url }, (client) =>
    Effect.gen(function* () {
      const settings = { ...(yield* settingsOf(order)), Name: name, Url: to }
      const secret = yield* secretOf(order)
      const payload = { reason, settings, ...secret.of(order.sign ?? "both") }
      const view = yield* client.createEndpoint({ payload })
      yield* note(`${name} is made: it gets every event after ${view.startsAfter}`)
      yield* shownOnce(view, { json, secret: order.sign === "none" ? undefined : secret.made })
    })
  )

interface EditOrder extends OfEndpoint, SettingsOrder {
  readonly to: string | undefined
  readonly unset: ReadonlyArray<string>
  readonly json: boolean
  readonly reason: string
}

export const editEndpoint = ({ url, name, to, unset, json, reason, ...order }: EditOrder) =>
  onConsole({ url }, (client) =>
    Effect.gen(function* () {
      const settings = {
        ...(yield* settingsOf(order)),
        ...(to === undefined ? {} : { Url: to }),
        ...Object.fromEntries(unset.map((key) => [key, null]))
      }
      if (Object.keys(settings).length === 0)
        return yield* misused("say what to change: --to, --event, --set and others")
      const { revision } = yield* runTime(client, name)
      const view = yield* client.changeEndpoint({ params: { name }, payload: { reason, revision, settings } })
      yield* printAct(view, { json, text: `${name} is changed; this is its revision ${view.revision}` })
    })
  )

/** An endpoint that can be changed here. */
const runTime = Effect.fnUntraced(function* (client: Client, name: string) {
  const view = yield* client.getEndpoint({ params: { name } })
  if (view.revision !== null) return { ...view, revision: view.revision }
  return yield* new CommandRefused({
    reason: `${name} is in the configuration file and is changed there; here it can be paused, resumed and tested`
  })
})

interface RotateOrder extends OfEndpoint, SecretOrder {
  readonly overlapSeconds: number | undefined
  readonly json: boolean
  readonly reason: string
}

export const rotateEndpoint = ({ url, name, json, reason, overlapSeconds, sign, ...order }: RotateOrder) =>
  onConsole({ url }, (client) =>
    Effect.gen(function* () {
      const { revision, isSigned, hasStandardWebhooks } = yield* runTime(client, name)
      const kinds = sign ?? (isSigned === hasStandardWebhooks ? "both" : isSigned ? "service" : "standard")
      const secret = yield* secretOf(order)
      const payload = { reason, revision, ...givenOf({ overlapSeconds }), ...secret.of(kinds) }
      const view = yield* client.rotateEndpoint({ params: { name }, payload })
      const until = view.previousSecretUntilMs
      const before =
        until === null ? "the secret before signs no more" : `the secret before signs until ${isoTime(until)}`
      yield* note(`${name} signs with its new secret; ${before}`)
      yield* shownOnce(view, { json, secret: secret.made })
    })
  )

/** The only place that prints a secret: alone on standard output, or beside what is known of its endpoint. */
const shownOnce = (
  view: EndpointView,
  { json, secret }: { readonly json: boolean; readonly secret: string | undefined }
) => {
  if (json) return print(JSON.stringify({ ...view, ...givenOf({ secret }) }))
  return secret === undefined ? Effect.void : print(secret)
}

// What Standard Webhooks recommends for its keys.
const secretBytes = 32

/** The secret of a file, or one that is made: in the form of Standard Webhooks, which the other signature takes too. */
const secretOf = Effect.fnUntraced(function* ({ secret: file }: Pick<SecretOrder, "secret">) {
  const made = file === undefined ? `whsec_${randomBytes(secretBytes).toString("base64")}` : undefined
  const value = made ?? (yield* secretIn(file ?? "-"))
  return {
    /** To be shown; undefined for one that the caller has. */
    made,
    of: (kinds: NonNullable<SecretOrder["sign"]>) => ({
      ...(kinds === "both" || kinds === "service" ? { secret: value } : {}),
      ...(kinds === "both" || kinds === "standard" ? { standardWebhooksSecret: value } : {})
    })
  }
})

/** The text of a file without its line's end. A secret is never an argument: others see those. */
export const secretIn = (file: string) => Effect.map(textIn(file), (text) => text.trimEnd())

const settingsOf = Effect.fnUntraced(function* ({ event, header, description, set }: SettingsOrder) {
  const { schema, definitions } = Schema.toJsonSchemaDocument(EndpointSettings)
  const fields = fieldsFrom({ ...schema, $defs: definitions }, set)
  if (Result.isFailure(fields)) {
    return yield* misused(`these settings cannot be set:\n${fields.failure.map((fault) => `  ${fault}`).join("\n")}`)
  }
  return {
    ...fields.success,
    ...(event.length === 0 ? {} : { EventFilter: event }),
    ...(header.length === 0 ? {} : { Headers: yield* headersOf(header) }),
    ...(description === undefined ? {} : { Description: description })
  }
})

const headersOf = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  const headers: Record<string, string> = {}
  for (const line of given) {
    const at = line.indexOf(":")
    // The value may be a key, and is not repeated.
    if (at < 1) return yield* misused("--header is written as 'Name: value'")
    headers[line.slice(0, at).trim()] = line.slice(at + 1).trim()
  }
  return headers
})

interface ActOrder extends OfEndpoint {
  readonly reason: string
  readonly json: boolean
}

type Acted = Effect.Effect<EndpointView | undefined, unknown>
type Act = (client: Client, asked: ReturnType<typeof because>) => Acted

const acts = {
  pause: { ask: (client, asked) => client.pauseEndpoint(asked), done: "is paused" },
  resume: { ask: (client, asked) => client.resumeEndpoint(asked), done: "is resumed" },
  enable: { ask: (client, asked) => client.enableEndpoint(asked), done: "is enabled" },
  disable: { ask: (client, asked) => client.disableEndpoint(asked), done: "is disabled" },
  remove: { ask: (client, asked) => Effect.as(client.removeEndpoint(asked), undefined), done: "is removed" }
} as const satisfies Readonly<Record<string, { readonly ask: Act; readonly done: string }>>

const because = ({ name, reason }: ActOrder) => ({ params: { name }, payload: { reason } })

export const actOnEndpoint = ({ act, json, ...order }: ActOrder & { readonly act: keyof typeof acts }) =>
  onConsole(order, (client) =>
    Effect.gen(function* () {
      const { ask, done }: { readonly ask: Act; readonly done: string } = acts[act]
      const view = yield* ask(client, because({ ...order, json }))
      yield* printAct(view ?? { name: order.name }, { json, text: `${order.name} ${done}` })
    })
  )

interface TestOrder extends ActOrder {
  readonly event: string | undefined
  readonly waitSeconds: number
}

const lookEvery = "250 millis"

/** Sends a test and waits for its answer. */
export const testEndpoint = ({ url, name, event, reason, waitSeconds, json }: TestOrder) =>
  onConsole({ url }, (client) =>
    Effect.gen(function* () {
      const { deliveryId } = yield* client.testEndpoint({
        params: { name },
        payload: { reason, ...givenOf({ event }) }
      })
      yield* note(`a test is on its way as ${deliveryId}`)
      const attempt = yield* attemptOf(client, { name, deliveryId, waitSeconds })
      if (attempt === undefined) {
        const reason = `${name} has not answered yet; ./starling deliveries show ${deliveryId} tells when it has`
        if (waitSeconds === 0) return yield* printAct({ deliveryId }, { json, text: deliveryId })
        return yield* new CommandRefused({ reason })
      }
      const answer = attempt.status ?? attempt.error
      const text = `${name} ${attempt.outcome}: ${answer} in ${attempt.durationMs} ms`
      yield* printAct(attempt, { json, text })
      if (attempt.outcome !== "delivered") {
        return yield* new CommandRefused({ reason: `${name} did not take the test: ${answer}` })
      }
    })
  )

const attemptOf = Effect.fnUntraced(function* (
  client: Client,
  sent: { readonly name: string; readonly deliveryId: string; readonly waitSeconds: number }
) {
  const untilMs = (yield* Clock.currentTimeMillis) + sent.waitSeconds * 1_000
  while ((yield* Clock.currentTimeMillis) < untilMs) {
    const { items } = yield* client.listDeliveries({ query: { endpoint: sent.name, limit: "50" } })
    const found = items.find(({ deliveryId }) => deliveryId === sent.deliveryId)
    if (found !== undefined) return found
    yield* Effect.sleep(lookEvery)
  }
  return undefined
})
