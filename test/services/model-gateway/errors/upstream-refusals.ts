/** Refusals as providers make them, and the test that each is the code it is to be. */
import { assert, it } from "@effect/vitest"
import { classifyUpstream, readUpstreamError } from "../../../../services/model-gateway/errors/upstream-error.ts"
/** The vendor and its refusal, its status and body, and our code for it, with the parameter. */
export type Refusal = readonly [name: string, status: number, body: unknown, code: string, param?: string]

export const openAi = (message: string, type: string, code: string | null = null, param: string | null = null) => ({
  error: { message, type, param, code }
})

/** One test for each refusal. */
export const itIsTheCode = (refusals: ReadonlyArray<Refusal>) =>
  it.each(refusals.map((row) => ({ vendor: row[0], row })))(
    "becomes the code that a caller can act on: $vendor",
    ({ row }) => {
      const [, status, body, code, param] = row
      const text = typeof body === "string" ? body : JSON.stringify(body)
      const classified = classifyUpstream(
        readUpstreamError(status, text.startsWith("<") ? "text/html" : "application/json", text)
      )
      assert.strictEqual(classified.code, code)
      if (param !== undefined) assert.strictEqual(classified.param, param)
    }
  )
