/** The routes of the API, under each of its base paths, and the refusals of requests that reach no route. */
import { Effect } from "effect"
import { CallsGroup, gatewayBases, ImagesGroup, ModelsGroup } from "#contracts/model-gateway"
import { below, descriptionRoutes, type RenderError, routesOf } from "#http"
import { Configuration } from "#runtime"
import { answerModel } from "./answer-model.ts"
import { answerImageJob, answerImages } from "./images/answer-images.ts"
import { answerModelById, answerModels } from "./models/answer-models.ts"
import { gatewayOpenApi, servedPage } from "./documents.ts"

const options = { bodyBytesMax: Effect.map(Configuration, ({ ModelGateway }) => ModelGateway.BodyBytesMax) }

const routes = [
  ...routesOf(
    CallsGroup,
    {
      createChatCompletion: () => answerModel("chat"),
      createMessage: () => answerModel("messages"),
      createResponse: () => answerModel("responses")
    },
    options
  ),
  ...routesOf(ImagesGroup, { createImage: () => answerImages, getImageJob: () => answerImageJob }, options),
  // The id of a model has a slash, which clients write as it is or percent-encoded.
  ...routesOf(ModelsGroup, { listModels: () => answerModels, getModel: () => answerModelById }, options).map(
    (each) => ({ ...each, path: each.path.replace(/:model$/u, "*") as `/${string}` })
  ),
  ...descriptionRoutes(gatewayOpenApi, servedPage)
] as const

export const gatewayRoutes = gatewayBases.flatMap((base) => below(base, routes))

/** The answer where no route matched: unknown paths, wrong methods, and input that is no HTTP. */
export const renderGatewayError: RenderError = ({ status, code, message }) => ({
  error: {
    message,
    type: status >= 500 ? "api_error" : status === 429 ? "rate_limit_error" : "invalid_request_error",
    code: code.toUpperCase(),
    param: null
  },
  message,
  code: code.toUpperCase()
})
