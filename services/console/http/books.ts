/** The payment books over HTTP. The settlers keep them and obey the orders about them; the console only asks. */
import { Clock, Effect, Option, Schema, Stream } from "effect"
import { jsonCodec, Kv, Requests } from "#bus"
import {
  addressKeyOf,
  type AuditAction,
  BookFinding,
  BooksAnswer,
  BooksOrder,
  BookState,
  FindingId,
  isSameAddress,
  pageSizeMax,
  subjects
} from "#contracts"
import { BooksGroup } from "#contracts/console"
import { Caller, conflict, HttpCall, jsonAnswer, notFound, routesOf, serviceUnavailable } from "#http"
import { Configuration } from "#runtime"
import { ClaimReader } from "#x402"
import { AuditLog } from "../AuditLog.ts"
import { bookView, explanations, findingView } from "../money/books.ts"
import { receiptView } from "../money/receipts.ts"
import { claimView } from "./money.ts"
import { apiOptions, refusing } from "./requests.ts"

const bucket = "payment-books"
// Sixteen networks with two thousand each.
const findingsMax = 32_000

const networksOf = Effect.map(Configuration, ({ Payments }) => Payments.Networks)
const isId = Schema.is(FindingId)

const findings = Effect.flatMap(Kv, (kv) => kv.open(bucket, BookFinding))

const allFindings = refusing(
  Effect.flatMap(findings, (opened) =>
    opened.scan("finding.>").pipe(
      Stream.map(({ value }) => value),
      Stream.take(findingsMax),
      Stream.runCollect
    )
  )
)

const foundFinding = Effect.gen(function* () {
  const { finding: id = "" } = (yield* HttpCall).params
  const opened = yield* refusing(findings)
  const found = isId(id) ? yield* refusing(Stream.runHead(opened.scan(`finding.*.*.${id}`))) : Option.none()
  if (Option.isNone(found)) return yield* notFound("no such finding, or none any more")
  return found.value.value
})

const order = { question: jsonCodec(BooksOrder), answer: jsonCodec(BooksAnswer) }
// A settler waits for a block or two; what it then finds is in the finding.
const orderTimeoutMs = 25_000
const soonSeconds = 2

/** Writes the act down, and has a settler do it. */
const ordered = Effect.fnUntraced(function* <E, R>(
  body: Effect.Effect<{ readonly reason: string }, E, R>,
  { action, tag }: { readonly action: AuditAction; readonly tag: BooksOrder["_tag"] }
) {
  const { reason } = yield* body
  const { id } = yield* foundFinding
  yield* (yield* AuditLog).write({ action, target: id, reason })
  const { tokenId: by } = yield* Caller
  const asking = (yield* Requests).ask(
    { subject: subjects.paymentsBooks, ...order, timeoutMs: orderTimeoutMs },
    { _tag: tag, id, by, reason }
  )
  const answer = yield* asking.pipe(
    Effect.catchTag("BusUnavailable", () =>
      Effect.fail(serviceUnavailable(soonSeconds, "no settler answers; look at the finding before you ask again"))
    ),
    refusing
  )
  switch (answer._tag) {
    case "Done":
      return jsonAnswer(findingView(yield* networksOf, answer.finding))
    case "Unknown":
      return yield* notFound("no such finding, or none any more")
    case "Refused":
      return yield* conflict(answer.why)
    case "Later":
      return yield* serviceUnavailable(soonSeconds, answer.why)
  }
})

export const bookRoutes = routesOf(
  BooksGroup,
  {
    getBooks: ({ query }) =>
      Effect.gen(function* () {
        const { ended } = yield* query
        const networks = yield* networksOf
        const nowMs = yield* Clock.currentTimeMillis
        const kept = yield* allFindings
        const standing = kept.filter(({ end }) => end === null)
        const states = yield* refusing(Effect.flatMap(Kv, (kv) => kv.open(bucket, BookState)))
        const books = yield* Effect.forEach(networks, (entry) =>
          Effect.map(refusing(states.get(`state.${addressKeyOf(entry.Network, entry.PayTo)}`)), (state) => {
            const own = standing.filter(
              ({ network, payTo }) => network === entry.Network && isSameAddress(network, payTo, entry.PayTo)
            )
            const known = Option.map(state, ({ value }) => value)
            return bookView(entry, Option.getOrUndefined(known), { standing: own.length, nowMs })
          })
        )
        const wanted =
          ended === "true"
            ? kept
                .filter(({ end }) => end !== null)
                .toSorted((left, right) => (right.end?.atMs ?? 0) - (left.end?.atMs ?? 0))
            : standing.toSorted((left, right) => left.foundAtMs - right.foundAtMs)
        return jsonAnswer({
          books,
          findings: wanted.slice(0, pageSizeMax).map((finding) => findingView(networks, finding)),
          leftOut: Math.max(0, wanted.length - pageSizeMax)
        })
      }),

    getFinding: () =>
      Effect.gen(function* () {
        const finding = yield* foundFinding
        const networks = yield* networksOf
        const claims = yield* ClaimReader
        const found = yield* refusing(Effect.forEach(finding.claimKeys, claims.read, { concurrency: 4 }))
        return jsonAnswer({
          ...findingView(networks, finding),
          ...explanations[finding.kind],
          transferAmount: finding.transfer?.amount ?? null,
          receipts: finding.receipts.map((receipt) => {
            const { sequence: _sequence, ...view } = receiptView(networks, { sequence: 0, receipt })
            return view
          }),
          claims: found.flatMap(Option.toArray).map((seen) => claimView(networks, seen))
        })
      }),

    mendFinding: ({ body }) => ordered(body, { action: "book-mend", tag: "Mend" }),

    acceptFinding: ({ body }) => ordered(body, { action: "book-accept", tag: "Accept" })
  },
  apiOptions
)
