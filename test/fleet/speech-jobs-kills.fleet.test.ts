/** A book whose speech-api is killed again and again: the same book in the end, to the sample. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { endRoles, type RunningRole, startRole } from "../support/role.ts"
import { type SpeechFleet, startSpeechFleet } from "../support/speech.ts"

let fleet: SpeechFleet
beforeAll(async () => {
  fleet = await startSpeechFleet({ SPEECH_API_JOBS_AT_ONCE: "0" })
})
afterAll(async () => {
  await endRoles()
  await fleet.remove()
})

/** One more speech-api: the only one that takes jobs. */
const worker = async () => {
  const role = await startRole("speech-api", { configuration: { Bus: fleet.roleBus, SpeechApi: { Port: 0 } } })
  await until(() => role.status("/readyz"), { is: 200, withinMs: startWithinMs })
  return role
}
const killed = async (role: RunningRole) => {
  role.signal("SIGKILL")
  await role.ended
}

interface Job {
  readonly id: string
  readonly status: string
  readonly characters_done: number
  readonly audio_duration_ms: number
}

const call = async (method: string, path: string, body?: unknown) =>
  fetch(`${fleet.url}/v1/audio/jobs${path}`, {
    method,
    headers: { authorization: `Bearer ${fleet.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
const fetched = async ({ id }: Pick<Job, "id">) => (await (await call("GET", `/${id}`)).json()) as Job

const line = "The harbour wakes before the town does, and nobody minds the gulls."
// The first one has two passages.
const linesOf = [60, 20, 20]
const input = linesOf
  .map((lines, chapter) =>
    [`# Chapter ${chapter + 1}`, ...Array.from({ length: lines }, (_, at) => `${line} ${at}.`)].join("\n\n")
  )
  .join("\n\n")

/** What is heard of the whole book. */
const bookOf = async (kills: number) => {
  let role = await worker()
  const job = (await (
    await call("POST", "", { input, format: "markdown", voice_id: "henry", audio_format: "mp3" })
  ).json()) as Job
  for (let kill = 1; kill <= kills; kill += 1) {
    const { characters_done: before } = await fetched(job)
    await until(async () => (await fetched(job)).characters_done > before, { withinMs: 60_000 })
    assert.strictEqual((await fetched(job)).status, "speaking")
    await killed(role)
    role = await worker()
  }
  await until(async () => (await fetched(job)).status, { is: "completed", withinMs: 120_000 })
  await killed(role)
  const chapters = linesOf.map((_, at) => `/${job.id}/chapters/${at + 1}`)
  const files = await Promise.all(
    chapters.map(async (path) => ({
      marks: await (await call("GET", `${path}/marks`)).text(),
      captions: await (await call("GET", `${path}/captions`)).text()
    }))
  )
  return { durationMs: (await fetched(job)).audio_duration_ms, files }
}

describe("a job whose process is killed three times", () => {
  it("becomes the same book as one whose process lives", async () => {
    const whole = await bookOf(0)
    assert.deepStrictEqual(await bookOf(3), whole)
  }, 300_000)
})
