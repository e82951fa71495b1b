/** The models that are served, with their prices. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { described } from "../../../http/declaration.ts"
import { ListedModel, ListedModels } from "../../answers.ts"
import { plainRefusal, refusals } from "../refusals.ts"

const error = [
  plainRefusal(429, "More lists for this address than an hour has; come back after `Retry-After`."),
  plainRefusal(503, "Nobody can count this address's lists just now; come back after `Retry-After`."),
  ...refusals("INTERNAL_ERROR")
]

export const ModelsGroup = HttpApiGroup.make("models", { topLevel: true }).add(
  HttpApiEndpoint.get("listModels", "/v1/models", {
    disableCodecs: true,
    success: ListedModels,
    error
  }).annotateMerge(described({ summary: "List models", description: "The models and their prices." })),
  HttpApiEndpoint.get("getModel", "/v1/models/:model", {
    disableCodecs: true,
    params: { model: Schema.String },
    success: ListedModel,
    error: [...error, plainRefusal(404, "There is no such model; ids that are near it.")]
  }).annotateMerge(
    described({
      summary: "Fetch a model",
      description: "One model by its id. The slash of the id may also be left as it is."
    })
  )
)
