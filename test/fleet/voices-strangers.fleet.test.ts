import { Agent, request } from "node:http"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Heard, SpeechFleet } from "../support/speech-fleet.ts"
import { refusalIn, toldIn } from "../support/voices.ts"
import { fleetWithVoice, input } from "../support/voices-life.ts"

let fleet: SpeechFleet
let other: string
let voice: string
beforeAll(async () => {
  ;({ fleet, other, voice } = await fleetWithVoice())
})
afterAll(() => fleet.stop())

describe("another workspace's voice", () => {
  const routes: ReadonlyArray<[string, (id: string) => Promise<Heard>]> = [
    ["GET", (id) => fleet.call(`/v1/voices/${id}`, { token: other })],
    ["DELETE", (id) => fleet.call(`/v1/voices/${id}`, { method: "DELETE", token: other })],
    ["its sample", (id) => fleet.call(`/v1/voices/${id}/sample`, { token: other })],
    ["its picture", (id) => fleet.call(`/v1/voices/${id}/avatar`, { token: other })],
    ["speech", (id) => fleet.call("/v1/audio/speech", { body: { input, voice_id: id }, token: other })],
    ["a stream", (id) => fleet.call("/v1/audio/stream", { body: { input, voice_id: id }, token: other })],
    [
      "a dialogue",
      (id) => fleet.call("/v1/audio/dialogue", { body: { turns: [{ input, voice_id: id }] }, token: other })
    ]
  ]

  it.each(routes)("looks to %s like one that never existed", async (_, ask) => {
    const stranger = crypto.randomUUID()
    const [foreign, unknown] = [await ask(voice), await ask(stranger)]
    assert.strictEqual(refusalIn(foreign), "404 voice_not_found")
    const [told, other] = [JSON.stringify(toldIn(foreign)), JSON.stringify(toldIn(unknown))]
    assert.strictEqual(told.replaceAll(voice, "*"), other.replaceAll(stranger, "*"))
    const namesOf = ({ headers }: Heard) => [...headers.keys()]
    assert.deepStrictEqual(namesOf(foreign), namesOf(unknown))
  })

  it.each([
    ["GET", (id: string) => ["GET", `/v1/voices/${id}`, ""]],
    ["speech", (id: string) => ["POST", "/v1/audio/speech", JSON.stringify({ input, voice_id: id })]]
  ] as const)("takes %s as long as one that never existed", async (_, asking) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const timed = (id: string) =>
      new Promise<number>((resolve, reject) => {
        const [method, path, body] = asking(id)
        const headers = { authorization: `Bearer ${other}`, "content-type": "application/json" }
        const begunMs = performance.now()
        const sent = request(`${fleet.url}${path}`, { method, agent, headers }, (response) => {
          response.resume()
          response.once("end", () => resolve(performance.now() - begunMs))
        })
        sent.once("error", reject)
        sent.end(body)
      })
    const kinds = { unknown: crypto.randomUUID(), foreign: voice, unknownToo: crypto.randomUUID() }
    const tookMs: Record<keyof typeof kinds, Array<number>> = { unknown: [], foreign: [], unknownToo: [] }
    const names = Object.keys(kinds) as ReadonlyArray<keyof typeof kinds>
    for (let round = 0; round < 1_000; round++) {
      // Each of them comes first, second and last equally often.
      for (const index of [0, 1, 2]) {
        const kind = names[(index + round) % 3] ?? "unknown"
        tookMs[kind].push(await timed(kinds[kind]))
      }
    }
    agent.destroy()
    const medianOf = (kind: keyof typeof kinds) => tookMs[kind].toSorted((a, b) => a - b)[500] ?? Number.NaN
    const [unknown, foreign, unknownToo] = [medianOf("unknown"), medianOf("foreign"), medianOf("unknownToo")]
    const itself = Math.abs(unknown - unknownToo)
    const margin = 0.08 * unknown
    const medians = `medians ${unknown.toFixed(3)}, ${foreign.toFixed(3)}, ${unknownToo.toFixed(3)} ms`
    assert.isAtMost(Math.abs(unknown - foreign), itself + margin, medians)
  })
})
