/** What the model gateway answers beside what models say: its models and its image jobs. Names are those of the wire. */
import { Schema } from "effect"
import { Count } from "../primitives.ts"

/** US dollars for a million tokens, or for one call. */
const Price = Schema.Finite

export const ListedModel = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("model"),
  created: Count,
  owned_by: Schema.String,
  name: Schema.String,
  description: Schema.String,
  context_window: Count,
  max_output: Count,
  categories: Schema.Array(Schema.String),
  streaming: Schema.Boolean,
  billing_mode: Schema.Literals(["paid", "flat", "free"]),
  pricing: Schema.Union([Schema.Struct({ input: Price, output: Price }), Schema.Struct({ flat: Price })])
})
export interface ListedModel extends Schema.Schema.Type<typeof ListedModel> {}

/** `GET /v1/models`. */
export const ListedModels = Schema.Struct({ object: Schema.Literal("list"), data: Schema.Array(ListedModel) })
export interface ListedModels extends Schema.Schema.Type<typeof ListedModels> {}

/** Where an image that takes longer than a caller waits is fetched. Times are epoch seconds. */
export const ImageJob = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("image.generation.job"),
  status: Schema.Literals(["in_progress", "completed", "failed"]),
  model: Schema.String,
  created: Count,
  poll_url: Schema.String,
  data: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Unknown))),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
})
export interface ImageJob extends Schema.Schema.Type<typeof ImageJob> {}
