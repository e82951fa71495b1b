/**
 * `endpoints`: webhook endpoints with their state, and their changes at run time. A secret is generated here, sent once
 * and printed once: it is never shown again.
 */
import { randomBytes } from "node:crypto"
import { Clock, Effect, Option, Result, Schema } from "effect"
import { Flag } from "effect/cli"
import { Credentials, EndpointSettings } from "#webhooks/contract"
import { isoTime } from "#base"
import type { EndpointView } from "#console/api"
import { CommandRefused, misused, note, print, secretIn } from "../console.ts"
import {
  choice,
  endpointName,
  eventFlag,
  file,
  json,
  orUndefined,
  reason,
  text,
  texts,
  wholeNumber,
  word
} from "../flags.ts"
import { printAct, printTable } from "../answers.ts"
import { type Client, withoutUndefined } from "./client.ts"
import { consoleCommand, family, operation } from "./operation.ts"
import { fieldsFrom } from "./set-fields.ts"

/** An endpoint's current state, in words. Pure. */
export const stateOf = (view: EndpointView, nowMs: number): string => {
  const { faults, isEnabled, paused, breakerOpenUntilMs, parkedFrom, settings } = view
  const [fault] = faults
  if (fault !== undefined) return `cannot be used: ${fault.path} ${fault.message}`
  if (!isEnabled) return "disabled"
  if (paused !== null) return `paused by ${paused.by} at ${paused.at}: ${paused.reason}`
  if (breakerOpenUntilMs !== null && settings?.["CircuitBreaker"] !== false) {
    const at = isoTime(breakerOpenUntilMs)
    if (breakerOpenUntilMs > nowMs) return `failing, circuit open until ${at}`
    return `failing, circuit half-open since ${at}: one delivery probes, the others wait for its answer`
  }
  if (parkedFrom !== null) return `behind: waits for event ${parkedFrom}`
  return "active"
}

const name = endpointName("name", "the endpoint's name")
const filters = {
  event: texts("event", "PATTERN", "an event to deliver, by name or pattern, repeatable (all but progress events)"),
  filter: text("filter", "JSON", "what these events must hold, as in Filters of docs/webhooks.md")
}
const settings = {
  ...filters,
  header: texts("header", "'NAME: VALUE'", "an extra header for the receiver, repeatable"),
  description: text("description", "TEXT", "a note for people who read the list"),
  set: texts("set", "KEY=VALUE", "any other key of docs/webhooks.md, such as Concurrency=4, repeatable")
}

interface Filters {
  readonly event: ReadonlyArray<string>
  readonly filter: string | undefined
}

/** How settings are given: a few by flags of their own, any by `--set`. */
interface Settings extends Filters {
  readonly header: ReadonlyArray<string>
  readonly description: string | undefined
  readonly set: ReadonlyArray<string>
}

const credential = texts(
  "credential",
  "NAME=FILE",
  "tlsCa, tlsCertificate, tlsKey, oauthSecret, oauthKey or proxyPassword, from a file; repeatable. Without a file, removes it"
)

/** The credentials from their files; undefined without any. */
const credentialsOf = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  const credentials: Record<string, string | null> = {}
  for (const one of given) {
    const [name = "", path] = one.split(/=(.*)/su)
    if (path === undefined || !Object.hasOwn(Credentials.fields, name)) {
      return yield* misused(
        `--credential is written as NAME=FILE, with a name of ${Object.keys(Credentials.fields).join(", ")}`
      )
    }
    credentials[name] = path === "" ? null : yield* secretIn(path)
  }
  return given.length === 0 ? undefined : credentials
})

const secret = file("secret", "a file with your own secret, or - for standard input (one is generated)")
const signatures = ["both", "service", "standard", "none"] as const
const sign = (otherwise: string) =>
  choice("sign", signatures, `the signatures: X-Service-Signature, Standard Webhooks, or both (${otherwise})`)

const add = consoleCommand(
  "add",
  {
    about: "Creates an endpoint that gets every event from now on. Its secret is printed once, as the only output.",
    examples: [
      "starling endpoints add ci https://ci.example/hooks --event 'work_item.*'",
      "starling endpoints add shop https://shop.example/hooks --set RetrySchedule=patient --secret shop.secret",
      "starling endpoints add bank https://bank.example/hooks --credential tlsCertificate=us.crt --credential tlsKey=us.key"
    ],
    flags: {
      name: word("name", "the endpoint's name"),
      to: word("receiver", "the URL that events are posted to"),
      ...settings,
      sign: sign("both"),
      secret,
      credential,
      reason,
      json
    }
  },
  (client, { name, to, json, reason, sign = "both", credential, ...order }) =>
    Effect.gen(function* () {
      const settings = { ...(yield* settingsOf(order)), Name: name, Url: to }
      const secret = yield* secretOf(order.secret)
      const credentials = yield* credentialsOf(credential)
      const payload = { reason, settings, ...secret.of(sign), ...withoutUndefined({ credentials }) }
      const view = yield* client.createEndpoint({ payload })
      yield* note(`${name} is added: it gets every event after ${view.startsAfter}`)
      yield* shownOnce(view, { json, secret: sign === "none" ? undefined : secret.made })
    })
)

const edit = consoleCommand(
  "edit",
  {
    about:
      "Changes an endpoint that was created at run time. Lists and headers are replaced completely. Pending deliveries stay.",
    examples: ["starling endpoints edit ci --set Concurrency=4 --unset Description"],
    flags: {
      name,
      to: text("to", "URL", "another receiver"),
      ...settings,
      unset: texts("unset", "KEY", "a key that gets its default again; again for more"),
      reason,
      json
    }
  },
  (client, { name, to, unset, json, reason, ...order }) =>
    Effect.gen(function* () {
      const settings = {
        ...(yield* settingsOf(order)),
        ...withoutUndefined({ Url: to }),
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

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const overlapSecondsMax = 604_800

const secondsOf = (given: string) => {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/u.exec(given) ?? []
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN)
  return seconds <= overlapSecondsMax ? Option.some(seconds) : Option.none()
}

const overlapSeconds = Flag.String("overlap").pipe(
  Flag.withMetavar("TIME"),
  Flag.withDescription("how long the secret before still signs: 0s, 30m, 24h, 7d (24h)"),
  Flag.filterMap(secondsOf, () => "a time such as 30m, 24h or 7d, a week at most"),
  orUndefined
)

const rotate = consoleCommand(
  "rotate",
  {
    about:
      "Gives an endpoint a new secret, printed once, as the only output. The old one keeps signing for a while. With --credential alone, replaces only that.",
    examples: [
      "starling endpoints rotate ci --overlap 1h",
      "starling endpoints rotate bank --credential tlsCertificate=new.crt --credential tlsKey=new.key"
    ],
    flags: { name, overlapSeconds, sign: sign("as before"), secret, credential, reason, json }
  },
  (client, { name, json, reason, overlapSeconds, sign, credential, ...order }) =>
    Effect.gen(function* () {
      const { revision, isSigned, hasStandardWebhooks } = yield* runTime(client, name)
      const credentials = yield* credentialsOf(credential)
      if (credentials !== undefined && sign === undefined && order.secret === undefined) {
        const view = yield* client.rotateEndpoint({ params: { name }, payload: { reason, revision, credentials } })
        return yield* printAct(view, { json, text: `${name} has ${Object.keys(credentials).join(", ")} anew` })
      }
      const kinds = sign ?? (isSigned === hasStandardWebhooks ? "both" : isSigned ? "service" : "standard")
      const secret = yield* secretOf(order.secret)
      const payload = { reason, revision, ...withoutUndefined({ overlapSeconds, credentials }), ...secret.of(kinds) }
      const view = yield* client.rotateEndpoint({ params: { name }, payload })
      const until = view.previousSecretUntilMs
      const before =
        until === null ? "the secret before signs no more" : `the secret before signs until ${isoTime(until)}`
      yield* note(`${name} signs with its new secret; ${before}`)
      yield* shownOnce(view, { json, secret: secret.made })
    })
)

/** The only place that prints a secret: alone on standard output, or beside the facts of its endpoint. */
const shownOnce = (
  view: EndpointView,
  { json, secret }: { readonly json: boolean; readonly secret: string | undefined }
) => {
  if (json) return print(JSON.stringify({ ...view, ...withoutUndefined({ secret }) }))
  return secret === undefined ? Effect.void : print(secret)
}

// What Standard Webhooks recommends for its keys.
const secretBytes = 32

/**
 * The secret from a file, or a generated one: in the form of Standard Webhooks, which the other signature accepts too.
 */
const secretOf = Effect.fnUntraced(function* (file: string | undefined) {
  const made = file === undefined ? `whsec_${randomBytes(secretBytes).toString("base64")}` : undefined
  const value = made ?? (yield* secretIn(file ?? "-"))
  return {
    /** To be shown; undefined for one that the caller has. */
    made,
    of: (kinds: (typeof signatures)[number]) => ({
      ...(kinds === "both" || kinds === "service" ? { secret: value } : {}),
      ...(kinds === "both" || kinds === "standard" ? { standardWebhooksSecret: value } : {})
    })
  }
})

const settingsOf = Effect.fnUntraced(function* ({ header, description, set, ...filters }: Settings) {
  const { schema, definitions } = Schema.toJsonSchemaDocument(EndpointSettings)
  const fields = fieldsFrom({ ...schema, $defs: definitions }, set)
  if (Result.isFailure(fields)) {
    return yield* misused(`these settings cannot be set:\n${fields.failure.map((fault) => `  ${fault}`).join("\n")}`)
  }
  return {
    ...fields.success,
    ...(yield* filtersOf(filters)),
    ...(header.length === 0 ? {} : { Headers: yield* headersOf(header) }),
    ...(description === undefined ? {} : { Description: description })
  }
})

const filtersOf = Effect.fnUntraced(function* ({ event, filter }: Filters) {
  const content = yield* Effect.try({
    try: () => (filter === undefined ? undefined : (JSON.parse(filter) as unknown)),
    catch: (cause) => misused(`--filter is not JSON: ${String(cause)}`)
  })
  return {
    ...(event.length === 0 ? {} : { EventFilter: event }),
    ...(content === undefined ? {} : { ContentFilter: content })
  }
})

const headersOf = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  const headers: Record<string, string> = {}
  for (const line of given) {
    const at = line.indexOf(":")
    // The value can be a key, and is not repeated.
    if (at < 1) return yield* misused("--header is written as 'Name: value'")
    headers[line.slice(0, at).trim()] = line.slice(at + 1).trim()
  }
  return headers
})

const test = consoleCommand(
  "test",
  {
    about:
      "Sends an example to one endpoint, once and marked as a test, and shows the answer. Ends with 1 if it was not accepted.",
    flags: {
      name,
      event: eventFlag("event", "a name of the catalogue (work_item.merged)"),
      waitSeconds: wholeNumber("wait", { min: 0, max: 600, description: "seconds to wait for its answer (15)" }).pipe(
        Flag.withDefault(15)
      ),
      reason,
      json
    }
  },
  (client, { name, event, reason, waitSeconds, json }) =>
    Effect.gen(function* () {
      const { deliveryId } = yield* client.testEndpoint({
        params: { name },
        payload: { reason, ...withoutUndefined({ event }) }
      })
      yield* note(`a test is on its way as ${deliveryId}`)
      const attempt = yield* attemptOf(client, { name, deliveryId, waitSeconds })
      if (attempt === undefined) {
        const reason = `${name} has not answered yet; check with ./starling deliveries show ${deliveryId}`
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

const lookEvery = "250 millis"

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

const tryFilter = consoleCommand(
  "try-filter",
  {
    about:
      "How many of the last hundred events an endpoint with these filters would get, and why not the others. It changes nothing.",
    examples: [`starling endpoints try-filter --event 'work_item.*' --filter '{"project":{"id":["orchard"]}}'`],
    flags: { ...filters, json }
  },
  (client, { json, ...order }) =>
    Effect.gen(function* () {
      const trial = yield* client.tryFilter({ payload: { settings: yield* filtersOf(order) } })
      if (json) return yield* print(JSON.stringify(trial))
      const verdicts = [
        ...trial.shown.map((event) => ({ ...event, verdict: "fits" })),
        ...trial.others.map(({ path, found, ...event }) => ({ ...event, verdict: `${path} is ${found ?? "absent"}` }))
      ]
      yield* print(`${trial.fitting} of the last ${trial.examined} events fit`)
      if (verdicts.length > 0) {
        yield* printTable({ sequence: "sequence", event: "event", entity: "entity", "": "verdict" }, verdicts, [
          "verdict"
        ])
      }
    })
)

export const endpoints = family("endpoints", {
  about: "Webhook endpoints: those of the configuration file, and those created at run time.",
  examples: ['starling endpoints pause demo --reason "its disk is full"'],
  commands: [
    operation("list", "listEndpoints", {
      about: "Endpoints by name, with their state and backlog.",
      shown: (view, nowMs) => ({ ...view, state: stateOf(view, nowMs), to: view.settings?.["Url"] }),
      columns: { endpoint: "name", state: "state", backlog: "backlog", from: "source", url: "to" }
    }),
    operation("show", "getEndpoint", {
      about:
        "One endpoint: its settings and state, the deliveries in flight, since when the oldest is due, and the last one delivered. Never a secret.",
      shown: (view, nowMs) => ({ state: stateOf(view, nowMs), ...view })
    }),
    add,
    edit,
    rotate,
    test,
    tryFilter,
    operation("pause", "pauseEndpoint", {
      about: "Stops sending to an endpoint. Its events wait; none is lost.",
      text: ({ name }) => `${name} is paused`
    }),
    operation("resume", "resumeEndpoint", {
      about: "Resumes a paused endpoint, and closes its circuit breaker.",
      text: ({ name }) => `${name} is resumed`
    }),
    operation("enable", "enableEndpoint", {
      about: "Enables an endpoint again. It gets what it missed.",
      text: ({ name }) => `${name} is enabled`
    }),
    operation("disable", "disableEndpoint", {
      about: "Disables an endpoint that was created at run time. Nothing is sent to it; its events are kept.",
      text: ({ name }) => `${name} is disabled`
    }),
    operation("reseal", "resealEndpoints", {
      about:
        "Seals the secrets of all endpoints that were created at run time with the key of WebhookDelivery.SecretsKeyEnvVar. With --json, names those that none of the keys opens.",
      text: (_, { resealed, unreadable }) =>
        [`sealed anew: ${resealed}`, ...unreadable.map((name) => `not opened by any key: ${name}`)].join("\n")
    }),
    operation("remove", "removeEndpoint", {
      about: "Removes an endpoint that was created at run time. Its pending deliveries are abandoned.",
      text: ({ name }) => `${name} is removed`
    })
  ]
})
