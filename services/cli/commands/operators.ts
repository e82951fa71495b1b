/** `events`, `deliveries`, `abandoned` and `rejected`: what operators see and do through the console. */
import * as Option from "effect/Option"
import { Argument, Command, Flag } from "effect/cli"
import { choice, json, orUndefined, text, texts, toggle, wholeNumber, word } from "../flags.ts"
import { running } from "../running.ts"

const url = text("url", "URL", "the console, with STARLING_TOKEN; else that of the fleet of this home")
const limit = wholeNumber("limit", { min: 1, max: 200, description: "how many (50)" }).pipe(Flag.withDefault(50))
const cursor = text("cursor", "CURSOR", "go on from there: the end of a list before says where")
const since = text("since", "TIME", "those since then, such as 2026-11-20T12:00:00Z")
const until = text("until", "TIME", "those until then")
const reason = Flag.String("reason").pipe(
  Flag.withMetavar("TEXT"),
  Flag.withDescription("why, for the log of acts"),
  Flag.withDefault("by an operator")
)
const dryRun = toggle("dry-run", "only say how many it would be")
const number = word("number", "its number in the list")
const optional = (argument: ReturnType<typeof word>) =>
  argument.pipe(Argument.optional, Argument.map(Option.getOrUndefined))
const paging = { limit, cursor, json, url }

const loadEvents = () => import("../operate/events.ts")

const eventsList = Command.make(
  "list",
  {
    event: text("event", "NAME", "those of this name; patterns work"),
    entity: text("entity", "ENTITY", "those about it, such as workItem:<id>"),
    project: text("project", "ID", "those of this project"),
    since,
    until,
    ...paging
  },
  (given) => running(loadEvents, ({ listEvents }) => listEvents(given))
).pipe(Command.withDescription("Published events, newest first."))

const eventsShow = Command.make("show", { number, json, url }, (given) =>
  running(loadEvents, ({ showEvent }) => showEvent(given))
).pipe(Command.withDescription("One event with its envelope."))

export const events = Command.make("events").pipe(
  Command.withShortDescription("list and look at published events"),
  Command.withDescription("Published events, of the last 35 days."),
  Command.withExamples([{ command: "starling events list --event 'work_item.*' --since 2026-11-20T12:00:00Z" }]),
  Command.withSubcommands([eventsList, eventsShow])
)

const loadDeliveries = () => import("../operate/deliveries.ts")

const filter = {
  endpoint: text("endpoint", "NAME", "those to this endpoint"),
  outcome: choice("outcome", ["delivered", "failed", "refused", "gone"], "those that ended so"),
  event: text("event", "NAME", "those of this event; patterns work"),
  since,
  until
}
const near = text("near", "PLACE", "where the list has it; without it the newest are searched")

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
    dryRun,
    reason,
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

const loadAbandoned = () => import("../operate/abandoned.ts")

const abandonedList = Command.make("list", { endpoint: filter.endpoint, ...paging }, (given) =>
  running(loadAbandoned, ({ listAbandoned }) => listAbandoned(given))
).pipe(Command.withDescription("Deliveries that were given up, newest first."))

const abandonedShow = Command.make("show", { number, json, url }, (given) =>
  running(loadAbandoned, ({ showAbandoned }) => showAbandoned(given))
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
    dryRun,
    reason,
    url
  },
  (given) => running(loadAbandoned, ({ resendAbandoned }) => resendAbandoned(given))
).pipe(Command.withDescription("Sends them again, as new deliveries that name the old ones."))

const abandonedDiscard = Command.make("discard", { number, reason, url }, (given) =>
  running(loadAbandoned, ({ discardAbandoned }) => discardAbandoned(given))
).pipe(Command.withDescription("Takes one off the list for good."))

export const abandoned = Command.make("abandoned").pipe(
  Command.withShortDescription("list deliveries that were given up, send them again, discard them"),
  Command.withDescription("Deliveries that were given up, of the last thirty days."),
  Command.withExamples([{ command: "starling abandoned resend --endpoint demo --dry-run" }]),
  Command.withSubcommands([abandonedList, abandonedShow, abandonedResend, abandonedDiscard])
)

const loadRejected = () => import("../operate/rejected.ts")

const rejectedList = Command.make(
  "list",
  { origin: text("origin", "NAME", "those that this part refused, such as events"), ...paging },
  (given) => running(loadRejected, ({ listRejected }) => listRejected(given))
).pipe(Command.withDescription("Messages that broke their schema, newest first."))

const rejectedShow = Command.make("show", { number, json, url }, (given) =>
  running(loadRejected, ({ showRejected }) => showRejected(given))
).pipe(Command.withDescription("One of them: every fault, and what came."))

const rejectedResend = Command.make("resend", { number, reason, url }, (given) =>
  running(loadRejected, ({ resendRejected }) => resendRejected(given))
).pipe(Command.withDescription("Publishes an event again, where this release accepts it."))

const rejectedDiscard = Command.make("discard", { number, reason, url }, (given) =>
  running(loadRejected, ({ discardRejected }) => discardRejected(given))
).pipe(Command.withDescription("Takes one off the list for good."))

export const rejected = Command.make("rejected").pipe(
  Command.withShortDescription("list messages that broke their schema, send them again, discard them"),
  Command.withDescription("Messages that broke their schema, of the last seven days."),
  Command.withExamples([{ command: "starling rejected show 17" }]),
  Command.withSubcommands([rejectedList, rejectedShow, rejectedResend, rejectedDiscard])
)
