/** The routes, under each base path: plain, `/api`, and `/solana/api`, where quotes are for Solana. */
import { type RenderError, route } from "#http"
import { answerImageJob, answerImages } from "./images/routes.ts"
import { answerModelById, answerModels } from "./models/routes.ts"
import { answerModel } from "./answer-model.ts"

const routesUnder = (base: "" | "/api" | "/solana/api") =>
  [
    route("POST", `${base}/v1/chat/completions` as `/${string}`, answerModel("chat")),
    route("POST", `${base}/v1/messages` as `/${string}`, answerModel("messages")),
    route("POST", `${base}/v1/responses` as `/${string}`, answerModel("responses")),
    route("POST", `${base}/v1/images/generations` as `/${string}`, answerImages),
    route("GET", `${base}/v1/images/jobs/:id` as `/${string}`, answerImageJob),
    route("GET", `${base}/v1/models` as `/${string}`, answerModels),
    route("GET", `${base}/v1/models/*` as `/${string}`, answerModelById)
  ] as const

export const gatewayRoutes = [...routesUnder(""), ...routesUnder("/api"), ...routesUnder("/solana/api")] as const

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
