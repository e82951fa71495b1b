/** Live speech goes on when a sequencer dies in the middle of a dialogue; and the page's own example runs as it stands. */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { connectLive, heardIn } from "../support/live.ts"
import { endRoles, type RunningRole, startRole } from "../support/role.ts"
import { faultsOfMarks, type SpeechFleet, startSpeechFleet, unmarked } from "../support/speech.ts"

let fleet: SpeechFleet
let sequencers: ReadonlyArray<RunningRole>

const sequencer = async () => {
  const role = await startRole("speech-sequencer", { configuration: { Bus: fleet.roleBus } })
  await until(() => role.status("/readyz"), { is: 200, withinMs: startWithinMs })
  return role
}

beforeAll(async () => {
  const roles = ["webhook-dispatcher", "speech-api", "speech-synthesizer"]
  fleet = await startSpeechFleet({ FLEET_ROLES: JSON.stringify(roles), SPEECH_API_CACHE_MEGABYTES: "0" })
  sequencers = await Promise.all([sequencer(), sequencer()])
  await fleet.listen({ input: "Ready.", voice_id: "henry" })
})
afterAll(async () => {
  await endRoles()
  await fleet.remove()
})

describe("live speech", () => {
  it("runs as the page shows it", async () => {
    const code = /```js\n(.*?)```/su.exec(readFileSync("docs/speech-api.md", "utf8"))?.[1] ?? ""
    const env = { ...process.env, SPEECH: fleet.url, TOKEN: fleet.token }
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", code], { env, timeout: 120_000 })
    const words = stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ").at(-1))
    assert.deepStrictEqual(words, ["Good", "morning.", "How", "are", "you?"])
  })

  it("continues when a sequencer is killed in the middle of a dialogue", async () => {
    const text = "The harbour wakes early. Nobody minds the gulls. ".repeat(12).trim()
    const client = await connectLive(fleet)
    client.send({ type: "context.start", context_id: "a", voice_id: "henry" })
    for (const [nth, token] of (text.match(/\s*\S+/gu) ?? []).entries()) {
      client.send({ type: "text", context_id: "a", text: token })
      if (nth === 40) sequencers[0]?.signal("SIGKILL")
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    client.send({ type: "end", context_id: "a" })
    const done = await client.next(({ type }) => type === "done" || type === "error")
    if (done.type !== "done") throw new Error(JSON.stringify(done))
    const { audio, marks } = heardIn(client, "a")
    assert.strictEqual(done.text_end, text.length)
    assert.closeTo(audio.length / 48, done.audio_duration_ms, 0.1)
    assert.deepStrictEqual(faultsOfMarks([text], marks, done.audio_duration_ms), [])
    assert.strictEqual(unmarked(text, marks), "")
    client.socket.close()
  })
})
