import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpListener } from "#http"
import { abandon, tokenOf, withConsole } from "../../support/console.ts"
import { compiledClient, runClient } from "../../support/generated-client.ts"

const program = `
import createClient from "openapi-fetch"
import type { components, paths } from "./api.ts"

const [baseUrl = "", token = ""] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } })

const reason = "a test of a generated client"
const made = await client.POST("/endpoints", {
  body: { reason, settings: { Name: "ci", Url: "https://ci.example/hooks" } }
})
if (made.data === undefined) throw new Error(JSON.stringify(made.error))
const startsAfter: number | null = made.data.startsAfter
// @ts-expect-error There is no such route.
await client.GET("/nowhere")
// @ts-expect-error A reason is needed; the console says so too.
const refused = await client.POST("/endpoints/{name}/pause", { params: { path: { name: "ci" } }, body: {} })
const code: string | undefined = refused.error?.error.code
const given = await client.GET("/abandoned", { params: { query: { endpoint: "ci", limit: "5" } } })
const items: ReadonlyArray<components["schemas"]["AbandonedSummary"]> = given.data?.items ?? []
const removed = await client.POST("/endpoints/{name}/remove", { params: { path: { name: "ci" } }, body: { reason } })
process.stdout.write(
  JSON.stringify({ startsAfter, code, abandoned: items.map(({ event }) => event), removed: removed.response.status })
)
`

describe("a client that openapi-typescript generates from the console's document", () => {
  it.live(
    "is checked by the compiler, makes an endpoint, is refused, lists what was abandoned, and removes the endpoint",
    () =>
      withConsole(() =>
        Effect.gen(function* () {
          const { url } = yield* HttpListener
          const token = yield* tokenOf("owner")
          yield* abandon("ci")
          const client = yield* compiledClient("docs/console-openapi.json", program)
          const said = JSON.parse(yield* runClient(client, url, token)) as unknown
          assert.deepStrictEqual(said, {
            startsAfter: 0,
            code: "validation_failed",
            abandoned: ["queue.paused"],
            removed: 204
          })
        })
      )
  )
})
