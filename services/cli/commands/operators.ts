/** `endpoints`, `deliveries` and `abandoned`: what operators see and do through the console. */
import * as Option from "effect/Option"
import { Argument, Command, Flag } from "effect/cli"
import {
  choice,
  cursor,
  dryRun,
  file,
  json,
  limit,
  number,
  orUndefined,
  reason,
  running,
  since,
  text,
  texts,
  toggle,
  until,
  url,
  wholeNumber,
  word
} from "../flags.ts"

const optional = (argument: ReturnType<typeof word>) =>
  argument.pipe(Argument.optional, Argument.map(Option.getOrUndefined))
const paging = { limit, cursor, json, url }

const loadEndpoints = () => import("../operate/endpoints.ts")

const name = word("name", "the endpoint's name")
const settings = {
  event: texts("event", "PATTERN", "events to deliver, by name or pattern, again for more; else all but progress"),
  header: texts("header", "'NAME: VALUE'", "a header that the receiver wants beside ours, again for more"),
  description: text("description", "TEXT", "for who reads the list"),
  set: texts("set", "KEY=VALUE", "any other key of docs/webhooks.md, such as Concurrency=4; again for more")
}
const secret = file("secret", "your own secret, in a file or - for standard input; else one is made")
const signatures = ["both", "service", "standard", "none"] as const
const sign = (otherwise: string) =>
  choice("sign", signatures, `with X-Service-Signature, the headers of Standard Webhooks, or both (${otherwise})`)

const endpointsList = Command.make("list", { limit, cursor, json, url }, (given) =>
  running(loadEndpoints, ({ listEndpoints }) => listEndpoints(given))
).pipe(Command.withDescription("Every endpoint by name: its state, and how many deliveries are due."))

const endpointsShow = Command.make("show", { name, json, url }, (given) =>
  running(loadEndpoints, ({ showEndpoint }) => showEndpoint(given))
).pipe(
  Command.withDescription(
    "One endpoint: its settings, its state, what is in flight, since when its oldest delivery is due, when it last took one. Never a secret."
  )
)

const endpointsAdd = Command.make(
  "add",
  {
    name,
    to: word("receiver", "the URL that events are posted to"),
    ...settings,
    sign: sign("both"),
    secret,
    reason,
    json,
    url
  },
  (given) => running(loadEndpoints, ({ addEndpoint }) => addEndpoint(given))
).pipe(
  Command.withDescription(
    "Makes an endpoint; it gets every event from now on. Its secret is shown this once, alone on standard output."
  ),
  Command.withExamples([
    { command: "starling endpoints add ci https://ci.example/hooks --event 'work_item.*'" },
    {
      command: "starling endpoints add shop https://shop.example/hooks --set RetrySchedule=patient --secret shop.secret"
    }
  ])
)

const endpointsEdit = Command.make(
  "edit",
  {
    name,
    to: text("to", "URL", "another receiver"),
    ...settings,
    unset: texts("unset", "KEY", "a key that gets its default again; again for more"),
    reason,
    json,
    url
  },
  (given) => running(loadEndpoints, ({ editEndpoint }) => editEndpoint(given))
).pipe(
  Command.withDescription(
    "Changes an endpoint that was made at run time. Lists and headers are replaced whole. What waits for it stays."
  ),
  Command.withExamples([{ command: "starling endpoints edit ci --set Concurrency=4 --unset Description" }])
)

const overlap = Flag.String("overlap").pipe(
  Flag.withMetavar("TIME"),
  Flag.withDescription("how long the secret before still signs: 0s, 30m, 24h, 7d (24h)"),
  Flag.filterMap(secondsOf, () => "a time such as 30m, 24h or 7d, a week at most"),
  orUndefined
)

const endpointsRotate = Command.make(
  "rotate",
  { name, overlapSeconds: overlap, sign: sign("as before"), secret, reason, json, url },
  (given) => running(loadEndpoints, ({ rotateEndpoint }) => rotateEndpoint(given))
).pipe(
  Command.withDescription(
    "Gives an endpoint a new secret, which is shown this once, alone on standard output. The one before signs beside it for a while."
  ),
  Command.withExamples([{ command: "starling endpoints rotate ci --overlap 1h" }])
)

const endpointsTest = Command.make(
  "test",
  {
    name,
    event: text("event", "NAME", "a name of the catalogue (work_item.merged)"),
    waitSeconds: wholeNumber("wait", { min: 0, max: 600, description: "seconds to wait for its answer (15)" }).pipe(
      Flag.withDefault(15)
    ),
    reason,
    json,
    url
  },
  (given) => running(loadEndpoints, ({ testEndpoint }) => testEndpoint(given))
).pipe(
  Command.withDescription(
    "Sends an example to one endpoint alone, marked as a test and tried once, and shows the answer. Ends with 1 when it was not taken."
  )
)

const acting = (act: "pause" | "resume" | "enable" | "disable" | "remove", description: string) =>
  Command.make(act, { name, reason, json, url }, (given) =>
    running(loadEndpoints, ({ actOnEndpoint }) => actOnEndpoint({ ...given, act }))
  ).pipe(Command.withDescription(description))

export const endpoints = Command.make("endpoints").pipe(
  Command.withShortDescription("list, make, change, test, pause and remove webhook endpoints"),
  Command.withDescription("The webhook endpoints of the configuration file, and those made at run time."),
  Command.withExamples([{ command: 'starling endpoints pause demo --reason "its disk is full"' }]),
  Command.withSubcommands([
    endpointsList,
    endpointsShow,
    endpointsAdd,
    endpointsEdit,
    endpointsRotate,
    endpointsTest,
    acting("pause", "Sends nothing more to an endpoint; it keeps its backlog and misses nothing."),
    acting("resume", "Goes on with a paused endpoint, and closes its breaker."),
    acting("enable", "Enables an endpoint again; it gets what it missed."),
    acting("disable", "Disables an endpoint made at run time: nothing is sent after the answer, its events are kept."),
    acting("remove", "Removes an endpoint made at run time. What waits for it goes to the abandoned deliveries.")
  ])
)

const loadDeliveries = () => import("../operate/deliveries.ts")

const filter = {
  endpoint: text("endpoint", "NAME", "those to this endpoint"),
  outcome: choice("outcome", ["delivered", "failed", "refused", "gone"], "those that ended so"),
  event: text("event", "NAME", "those of this event; patterns work"),
  since,
  until
}
const near = text("near", "PLACE", "where the list has it; without it the log is searched, newest first")
const key = text("key", "KEY", "run again with this key, as after a lost answer, it sends nothing more")

const deliveriesList = Command.make("list", { ...filter, ...paging }, (given) =>
  running(loadDeliveries, ({ listDeliveries }) => listDeliveries(given))
).pipe(Command.withDescription("A line for each attempt, newest first."))

const deliveriesShow = Command.make(
  "show",
  { id: word("id", "the delivery, as X-Service-Delivery has it"), near, json, url },
  (given) => running(loadDeliveries, ({ showDelivery }) => showDelivery(given))
).pipe(Command.withDescription("One delivery: each attempt with request and answer, and the body."))

const deliveriesResend = Command.make(
  "resend",
  {
    id: optional(word("id", "a single delivery; without one, --endpoint and --since select")),
    near,
    ...filter,
    max: wholeNumber("max", { min: 1, max: 10_000, description: "at most so many (10000)" }).pipe(orUndefined),
    key,
    dryRun,
    reason,
    json,
    url
  },
  (given) => running(loadDeliveries, ({ resendDeliveries }) => resendDeliveries(given))
).pipe(
  Command.withDescription("Sends deliveries again, as new ones that name the old ones."),
  Command.withExamples([
    { command: "starling deliveries resend --endpoint demo --outcome failed --since 2026-11-20T12:00:00Z --dry-run" }
  ])
)

export const deliveries = Command.make("deliveries").pipe(
  Command.withShortDescription("list deliveries, look at one, send them again"),
  Command.withDescription("What was sent to whom, and what was answered."),
  Command.withExamples([{ command: "starling deliveries list --endpoint demo --outcome failed" }]),
  Command.withSubcommands([deliveriesList, deliveriesShow, deliveriesResend])
)

const abandonedList = Command.make("list", { endpoint: filter.endpoint, ...paging }, (given) =>
  running(loadDeliveries, ({ listAbandoned }) => listAbandoned(given))
).pipe(Command.withDescription("Deliveries that were given up, newest first."))

const abandonedShow = Command.make("show", { number, json, url }, (given) =>
  running(loadDeliveries, ({ showAbandoned }) => showAbandoned(given))
).pipe(Command.withDescription("One of them: why it was given up, and its body."))

const abandonedResend = Command.make(
  "resend",
  {
    number: optional(word("number", "a single one; without it, a filter selects")),
    endpoint: filter.endpoint,
    event: texts("event", "NAME", "those of this event; patterns work, and it may be given again"),
    since,
    until,
    max: wholeNumber("max", { min: 1, max: 100_000, description: "at most so many (100000)" }).pipe(orUndefined),
    all: toggle("all", "all there are"),
    key,
    dryRun,
    reason,
    json,
    url
  },
  (given) => running(loadDeliveries, ({ resendAbandoned }) => resendAbandoned(given))
).pipe(Command.withDescription("Sends them again, as new deliveries that name the old ones."))

const abandonedDiscard = Command.make("discard", { number, reason, json, url }, (given) =>
  running(loadDeliveries, ({ discardAbandoned }) => discardAbandoned(given))
).pipe(Command.withDescription("Takes one off the list for good."))

export const abandoned = Command.make("abandoned").pipe(
  Command.withShortDescription("list deliveries that were given up, send them again, discard them"),
  Command.withDescription("Deliveries that were given up, of the last thirty days."),
  Command.withExamples([{ command: "starling abandoned resend --endpoint demo --dry-run" }]),
  Command.withSubcommands([abandonedList, abandonedShow, abandonedResend, abandonedDiscard])
)

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const overlapSecondsMax = 604_800

function secondsOf(given: string) {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/u.exec(given) ?? []
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN)
  return seconds <= overlapSecondsMax ? Option.some(seconds) : Option.none()
}
