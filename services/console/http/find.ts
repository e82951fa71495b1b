/** Finding by any id over HTTP: its form says what it can be, and each of these is looked for. */
import { Effect } from "effect"
import { FindGroup } from "#console/api"
import { Configuration } from "#configuration"
import { Caller, jsonAnswer, notFound, routesOf } from "#http"
import { attemptsTo, atSequence, byDelivery, byEntity, byRequest } from "../find/deliveries.ts"
import { type SoughtAs, soughtAs, wordsOf } from "../find/kinds.ts"
import { byClaim, byPayer, byTransaction, receiptAt } from "../find/payments.ts"
import { fitting, type Found, type Thing, together } from "../find/trace.ts"
import { allFindings, findingView } from "./books.ts"
import { knownEndpoints } from "./endpoints.ts"
import { apiOptions, refusing } from "./requests.ts"

const networksOf = Effect.map(Configuration, ({ Payments }) => Payments.Networks)

const byEndpoint = Effect.fnUntraced(function* (name: string) {
  const endpoint = (yield* knownEndpoints).get(name)
  if (endpoint === undefined) return { things: [], notes: [] }
  const from = endpoint.source === "run-time" ? "made at run time" : "of the configuration"
  const text = `${from}, ${endpoint.isEnabled ? "enabled" : "disabled"}; its newest attempts:`
  const thing: Thing = { kind: "endpoint", id: name, at: null, text, below: yield* attemptsTo(name) }
  return { things: [thing], notes: [] }
})

/** Findings of the payment books, by their id or by what they name. */
const findingsOf = Effect.fnUntraced(function* (id: string) {
  const networks = yield* networksOf
  const named = id.toLowerCase()
  const views = (yield* allFindings).map((finding) => findingView(networks, finding))
  const things = views
    .filter((view) => [view.id, view.transaction, view.channel].some((other) => other?.toLowerCase() === named))
    .map((view): Thing => ({
      kind: "finding",
      id: view.id,
      at: view.foundAt,
      text: `${view.kind} on ${view.network}${view.end === null ? "" : `, ended: ${view.end.how}`}`,
      below: []
    }))
  return { things, notes: [] }
})

const speech: Found = {
  things: [],
  notes: ["Of speech nothing is kept by session: neither the text nor its chunks nor the sound, only figures."]
}

const lookedFor = Effect.fnUntraced(function* (kind: SoughtAs, id: string) {
  const mayRead = (yield* Caller).may("payloads:read")
  const networks = yield* networksOf
  switch (kind) {
    case "sequence":
      return together([yield* atSequence(Number(id), mayRead), yield* receiptAt(networks, Number(id))])
    case "delivery":
      return yield* byDelivery(id, mayRead)
    case "entity":
      return yield* byEntity(id, mayRead)
    case "endpoint":
      return yield* byEndpoint(id)
    case "payer":
      return yield* byPayer(networks, id)
    case "claim":
      return yield* byClaim(networks, id)
    case "transaction":
      return together([yield* byTransaction(networks, id), yield* findingsOf(id)])
    case "finding":
      return yield* findingsOf(id)
    case "request":
      return yield* byRequest(id)
    case "speech":
      return speech
  }
})

const searchesAtOnce = 2

export const findRoutes = routesOf(
  FindGroup,
  {
    find: ({ query }) =>
      Effect.gen(function* () {
        const id = (yield* query).id.trim()
        const kinds = soughtAs(id)
        const founds = yield* refusing(
          Effect.forEach(kinds, (kind) => lookedFor(kind, id), { concurrency: searchesAtOnce })
        )
        const found = together(founds)
        if (found.things.length === 0) {
          const words = kinds.map((kind) => wordsOf[kind]).join(", ")
          return yield* notFound([`nothing is kept under this id as ${words}.`, ...found.notes].join(" "))
        }
        // What was found is no session of speech.
        const notes = together(founds.filter(({ things }) => things.length > 0)).notes
        return jsonAnswer({ id, soughtAs: kinds.map((kind) => wordsOf[kind]), ...fitting({ ...found, notes }) })
      })
  },
  apiOptions
)
