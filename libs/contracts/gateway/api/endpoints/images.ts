/** Images, and the jobs of those that take longer than a caller waits. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { described } from "../../../http/declaration.ts"
import { ImageJob } from "../../answers.ts"
import { ImagesRequest } from "../../requests.ts"
import { chatRefusals, refusals } from "../refusals.ts"

export const ImagesGroup = HttpApiGroup.make("images", { topLevel: true }).add(
  HttpApiEndpoint.post("createImage", "/v1/images/generations", {
    disableCodecs: true,
    payload: ImagesRequest,
    success: [
      Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "images as OpenAI's API gives them" }),
      ImageJob.pipe(HttpApiSchema.status(202))
    ],
    error: chatRefusals
  }).annotateMerge(
    described({
      summary: "Make images",
      description: "Makes images. 202 with a job when they take longer than a caller waits.",
      example: { model: "demo/picture", prompt: "A gate in the rain" }
    })
  ),
  HttpApiEndpoint.get("getImageJob", "/v1/images/jobs/:id", {
    disableCodecs: true,
    params: { id: Schema.String },
    success: ImageJob,
    error: refusals("NOT_FOUND", "MODEL_UNAVAILABLE", "INTERNAL_ERROR")
  }).annotateMerge(
    described({
      summary: "Fetch an image job",
      description: "An image job of the last day. Whoever knows its id may fetch it; nobody can guess it."
    })
  )
)
