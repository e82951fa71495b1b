/** An image job as its caller sees it. Pure. */
import { Result } from "effect"
import type { ImageJob } from "#contracts"
import { isRecord, recordsAt } from "../translate/json.ts"
import type { FoundJob } from "./ImageJobs.ts"

const lost = {
  code: "TIMEOUT",
  message: "The image was not made in time; send the same payment again, which is charged once at the most"
}

export const jobBody = ({ id, entry, answer }: FoundJob, nowMs: number, pollUrl: string): ImageJob => {
  const isLost = entry.status === "in_progress" && nowMs > entry.deadlineMs
  const status = isLost ? "failed" : entry.status
  const error = isLost ? lost : entry.error
  return {
    id,
    object: "image.generation.job",
    status,
    model: entry.model,
    created: Math.floor(entry.createdAtMs / 1_000),
    poll_url: pollUrl,
    ...(answer === undefined ? {} : { data: imagesOf(answer) }),
    ...(error === null ? {} : { error })
  }
}

const imagesOf = (answer: Uint8Array) => {
  const parsed = Result.getOrUndefined(Result.try(() => JSON.parse(Buffer.from(answer).toString("utf8")) as unknown))
  return isRecord(parsed) ? recordsAt(parsed, "data") : []
}
