import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { compiledClient, runClient } from "../support/generated-client.ts"

const program = (path: string, operation: "get" | "post", status: number) => `
import type { paths } from "./api.ts"

type Answers = paths["${path}"]["${operation}"]["responses"]
const refusal = (answer: Answers[${status}]["content"]["application/json"]) => answer.error
process.stdout.write(typeof refusal)
`

describe("a client that openapi-typescript generates", () => {
  for (const [document, path, operation, status] of [
    ["docs/pipeline-openapi.json", "/workitems", "get", 401],
    ["docs/speech-openapi.json", "/v1/audio/speech", "post", 401],
    ["docs/model-gateway-openapi.json", "/v1/chat/completions", "post", 400]
  ] as const) {
    it.live(`from ${document} is checked by the compiler`, () =>
      Effect.gen(function* () {
        const client = yield* compiledClient(document, program(path, operation, status))
        assert.strictEqual(yield* runClient(client), "function")
      }).pipe(Effect.scoped)
    )
  }
})
