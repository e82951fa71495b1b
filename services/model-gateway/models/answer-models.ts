/** The models served here, with their prices. */
import { Effect, Result } from "effect"
import type { ListedModel } from "#gateway/api"
import { HttpCall, jsonAnswer } from "#http"
import { answering, refused } from "../answer-refusal.ts"
import { UnknownModel } from "../errors/GatewayFault.ts"
import { ModelRegistry, type RegisteredModel, suggestModels } from "./ModelRegistry.ts"
import { FreeTier } from "./FreeTier.ts"
const usd = (microUsd: number) => microUsd / 1_000_000

export const listedModel = ({ entry, family }: RegisteredModel): ListedModel => ({
  id: entry.Id,
  object: "model",
  created: entry.Created,
  owned_by: family,
  type: "model",
  display_name: entry.Name ?? entry.Id,
  created_at: new Date(entry.Created * 1_000).toISOString(),
  name: entry.Name ?? entry.Id,
  description: entry.Description,
  context_window: entry.ContextTokens,
  max_output: entry.Kind === "chat" ? entry.OutputTokensMax : 0,
  categories: entry.Categories.length === 0 ? [entry.Kind] : entry.Categories,
  streaming: entry.Kind === "chat" && entry.Streams,
  billing_mode: entry.Free ? "free" : entry.FlatMicroUsd === undefined ? "paid" : "flat",
  pricing:
    entry.FlatMicroUsd === undefined || entry.Free
      ? {
          input: entry.Free ? 0 : usd(entry.InputMicroUsdPerMillionTokens),
          output: entry.Free ? 0 : usd(entry.OutputMicroUsdPerMillionTokens),
          ...countPriceOf(entry)
        }
      : { flat: usd(entry.FlatMicroUsd), ...countPriceOf(entry) }
})

const countPriceOf = ({ CountMicroUsd }: RegisteredModel["entry"]) =>
  CountMicroUsd === undefined ? {} : { count: usd(CountMicroUsd) }

const headers = { "cache-control": "no-store" }

/** Counts a call to a list, or refuses it in the short form that lists use. */
const counted = <A, E, R>(answer: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const taken = yield* Effect.result((yield* FreeTier).takeMetadata(yield* HttpCall))
    if (Result.isSuccess(taken)) return yield* answer
    const { status, headers: given = {} } = taken.failure
    const [error, code] =
      status === 429 ? ["Rate limit exceeded", "RATE_LIMITED"] : ["Not available just now", "MODEL_UNAVAILABLE"]
    return refused({ error }, { status, headers: { ...headers, "x-error-code": code, ...given } })
  })

export const answerModels = answering("chat")(
  counted(
    Effect.map(ModelRegistry, ({ all }) => {
      const data = all.map(listedModel)
      const page = { has_more: false, first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null } as const
      return jsonAnswer({ object: "list", data, ...page }, { headers })
    })
  )
)

/** One model. Clients write an id's slash literally or percent-encoded. */
export const answerModelById = answering("chat")(
  counted(
    Effect.gen(function* () {
      const { params } = yield* HttpCall
      const id = params["*"] ?? ""
      const { all } = yield* ModelRegistry
      const found = all.find(({ entry }) => entry.Id === id)
      if (found !== undefined) return jsonAnswer(listedModel(found), { headers })
      const suggestions = suggestModels(
        id,
        all.map(({ entry }) => entry.Id)
      )
      return yield* new UnknownModel({ model: id.slice(0, 200), suggestions, status: 404 })
    })
  )
)
