import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runHere } from "../../../support/command.ts"

const deliveryId = "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01"

const found = {
  deliveryId,
  endpoint: "demo",
  event: "queue.paused",
  eventSequence: 7,
  attempts: [],
  isComplete: true,
  nextAttemptAt: null,
  body: null,
  signedTexts: null
}

const inPart = (lookedAt: number, before: string) => ({
  error: {
    code: "not_found",
    message: `no attempt of this delivery is among the newest ${lookedAt} of 3000 messages of the delivery log`,
    details: { lookedAt, messages: 3_000, before }
  },
  request_id: "req_1"
})

/** A console whose log is too long for one search: it finds the delivery in the third part. */
const console = Effect.acquireRelease(
  Effect.promise(async () => {
    const asked: Array<string> = []
    const server = createServer(async (request, response) => {
      const parts: Array<Buffer> = []
      for await (const part of request) parts.push(part as Buffer)
      const body = Buffer.concat(parts).toString()
      const named =
        body === "" ? new URLSearchParams(request.url?.split("?")[1]).get("before") : JSON.parse(body).before
      const before = String(named ?? "")
      asked.push(before)
      const isFound = before === "1001"
      const answer = isFound
        ? request.method === "GET"
          ? found
          : { deliveryId }
        : inPart(before === "" ? 1_000 : 2_000, before === "" ? "2001" : "1001")
      response.writeHead(isFound ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(answer))
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return { server, asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }),
  ({ server }) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
)

describe("a delivery by its id", () => {
  for (const [act, out] of [
    ["show", `deliveryId: ${deliveryId}`],
    ["resend", `sent again as ${deliveryId}`]
  ] as const) {
    it.live(`is looked for by \`${act}\` until the console has looked at all of its log`, () =>
      Effect.gen(function* () {
        const { url, asked } = yield* console
        const ran = yield* runHere(["deliveries", act, deliveryId, "--url", url], { STARLING_TOKEN: "stt_x" })
        assert.strictEqual(ran.code, 0, ran.error)
        assert.include(ran.out, out)
        assert.include(ran.error, "not among the newest 2000 of 3000 messages, searching further")
        assert.deepStrictEqual(asked, ["", "2001", "1001"])
      }).pipe(Effect.scoped)
    )
  }
})
