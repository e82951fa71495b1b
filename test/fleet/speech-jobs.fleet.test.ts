/** Books: spoken in the background, chapter by chapter, over HTTP and from a real fleet. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { until } from "../../dev/fixtures/eventually.ts"
import { type Refusal, type SpeechFleet, startSpeechFleet } from "../support/speech.ts"

let fleet: SpeechFleet
let other: string
beforeAll(async () => {
  fleet = await startSpeechFleet({ SPEECH_API_JOBS_PER_WORKSPACE: "2" })
  other = await fleet.tokenOf("--workspace", "other", "--role", "owner")
})
afterAll(() => fleet.remove())

interface Chapter {
  readonly title: string | null
  readonly characters: number
  readonly characters_done: number
  readonly audio_duration_ms: number
  readonly audio: string | null
  readonly captions: string | null
  readonly marks: string | null
}
interface Told {
  readonly id: string
  readonly status: string
  readonly characters: number
  readonly characters_done: number
  readonly chapters: ReadonlyArray<Chapter>
  readonly error: { readonly code: string; readonly message: string } | null
}

const call = async (method: string, path: string, body?: unknown, token = fleet.token) =>
  fetch(`${fleet.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

const started = async (body: object): Promise<Told> => {
  const answer = await call("POST", "/v1/audio/jobs", body)
  assert.strictEqual(answer.status, 202, await answer.clone().text())
  return (await answer.json()) as Told
}

interface JobEvent {
  readonly type: string
  readonly job: Told
}

/** The events of a job until its last one. */
const followed = async ({ id }: Pick<Told, "id">): Promise<ReadonlyArray<JobEvent>> => {
  const answer = await call("GET", `/v1/audio/jobs/${id}/events`)
  assert.strictEqual(answer.headers.get("content-type"), "text/event-stream")
  return [...(await answer.text()).matchAll(/^data: (.*)$/gmu)].map(([, data = ""]) => JSON.parse(data) as JobEvent)
}

const fetched = async ({ id }: Pick<Told, "id">) => (await (await call("GET", `/v1/audio/jobs/${id}`)).json()) as Told

const book = [
  "# The Lighthouse",
  "",
  "Nobody had lit the lamp for **seven** years.",
  "",
  "# The Letter",
  "",
  "It came on a Monday.",
  "",
  "## What it said",
  "",
  "Alice: Come back at once!",
  ""
].join("\n")

const bookOrder = { input: book, format: "markdown", voice_id: "henry" }
const refused = async (body: object) => {
  const answer = await call("POST", "/v1/audio/jobs", body)
  const { error } = (await answer.json()) as Refusal
  return { status: answer.status, code: error.code, fields: error.fields }
}

describe("a job", () => {
  it("speaks a book chapter by chapter, with marks, captions and chapter marks", async () => {
    const job = await started({ ...bookOrder, title: "Two chapters", author: "A. Writer", speakers: { Alice: "emma" } })
    assert.deepStrictEqual(
      job.chapters.map(({ audio, title }) => [title, audio]),
      [
        ["The Lighthouse", null],
        ["The Letter", null]
      ]
    )
    const events = await followed(job)
    assert.strictEqual(events.at(-1)?.type, "job.completed", JSON.stringify(events.at(-1)))
    const done = await fetched(job)
    assert.strictEqual(done.characters_done, done.characters)
    for (const chapter of done.chapters) await assertChapter(chapter)
    const [, letter] = done.chapters
    const captions = await call("GET", `${letter?.captions ?? ""}?format=srt`)
    assert.include(await captions.text(), "ALICE: Come back at once!")
  })

  it("is listed, fetched and removed by its workspace alone, with all of its files", async () => {
    const job = await started({ ...bookOrder, audio_format: "mp3" })
    await followed(job)
    const listed = (await (await call("GET", "/v1/audio/jobs")).json()) as { readonly jobs: ReadonlyArray<Told> }
    assert.include(
      listed.jobs.map(({ id }) => id),
      job.id
    )
    const path = `/v1/audio/jobs/${job.id}`
    const [chapter] = (await fetched(job)).chapters
    assert.strictEqual((await call("GET", chapter?.audio ?? "")).headers.get("content-type"), "audio/mpeg")
    for (const place of [path, `${path}/events`, chapter?.audio ?? "", chapter?.marks ?? ""]) {
      assert.strictEqual((await call("GET", place, undefined, other)).status, 404, place)
    }
    assert.strictEqual((await call("DELETE", path, undefined, other)).status, 404)
    assert.strictEqual((await call("DELETE", path)).status, 204)
    for (const place of [path, chapter?.audio ?? ""]) assert.strictEqual((await call("GET", place)).status, 404, place)
  })

  it("is refused before anything is stored for what could never be spoken", async () => {
    const one = { input: "One line.", voice_id: "henry" }
    const refusals = [
      [{ voice_id: "henry" }, 400, "validation_failed"],
      [{ ...one, chapters: [{ input: "Two." }] }, 400, "validation_failed"],
      [{ ...one, input: " \n" }, 400, "validation_failed"],
      [{ ...one, voice_id: "nobody" }, 404, "voice_not_found"],
      [{ ...one, speakers: { Alice: "nobody" } }, 404, "voice_not_found"],
      [{ ...one, model: "tts-dialogue-1.0" }, 400, "validation_failed"],
      [{ ...one, language: "ja-JP" }, 400, "validation_failed"],
      [{ ...one, lexicons: ["none"] }, 400, "validation_failed"],
      [{ ...one, input: "a ".repeat(500_001) }, 413, "payload_too_large"]
    ] as const
    for (const [body, status, code] of refusals) {
      const answer = await refused(body)
      assert.deepStrictEqual([answer.status, answer.code], [status, code], JSON.stringify(body).slice(0, 100))
    }
  })

  it("is started once by a repeated request with the same key", async () => {
    const headers = {
      authorization: `Bearer ${fleet.token}`,
      "content-type": "application/json",
      "idempotency-key": "the-same-book"
    }
    const post = () => fetch(`${fleet.url}/v1/audio/jobs`, { method: "POST", headers, body: JSON.stringify(bookOrder) })
    const [first, again] = [await post(), await post()]
    assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
    const [job, same] = [(await first.json()) as Told, (await again.json()) as Told]
    assert.strictEqual(same.id, job.id)
    await followed(job)
  })

  it("has no files of a chapter before all of it is spoken, and ends when it is removed", async () => {
    const long = Array.from({ length: 400 }, (_, at) => `Line ${at} of a long chapter about nothing at all.`)
    const job = await started({ input: long.join("\n\n"), voice_id: "henry" })
    const another = await started({ input: long.join("\n\n"), voice_id: "henry" })
    const audio = await call("GET", `/v1/audio/jobs/${another.id}/chapters/1/audio`)
    assert.deepStrictEqual([audio.status, ((await audio.json()) as Refusal).error.code], [409, "chapter_not_spoken"])
    const third = await call("POST", "/v1/audio/jobs", bookOrder)
    assert.deepStrictEqual([third.status, third.headers.get("retry-after")], [429, "60"])
    const following = followed(job)
    for (const { id } of [job, another]) assert.strictEqual((await call("DELETE", `/v1/audio/jobs/${id}`)).status, 204)
    assert.notStrictEqual((await following).at(-1)?.type, "job.completed")
    await until(() => fleet.metric("speech_jobs_running"), { is: 0 })
  })

  it("keeps no process from ending: its followers are let go", async () => {
    const job = await started({ input: "A line of a chapter.\n\n".repeat(2_000), voice_id: "henry" })
    const following = followed(job)
    await until(() => fleet.metric("speech_jobs_running"), { is: 1 })
    const beganMs = performance.now()
    await fleet.stop("SIGTERM")
    assert.isBelow(performance.now() - beganMs, 15_000)
    assert.strictEqual((await following)[0]?.type, "job.progress")
  })
})

const assertChapter = async ({ audio, audio_duration_ms, captions, marks }: Chapter) => {
  const spoken = (await (await call("GET", marks ?? "")).json()) as {
    readonly speech_marks: ReadonlyArray<{ readonly start: number; readonly end: number; readonly value: string }>
  }
  for (const { end, start, value } of spoken.speech_marks) assert.strictEqual(book.slice(start, end), value)
  assert.match(await (await call("GET", captions ?? "")).text(), /^WEBVTT\n/u)
  const file = await call("GET", audio ?? "")
  assert.strictEqual(file.headers.get("content-type"), "audio/mp4")
  const { chapters, format } = probed(new Uint8Array(await file.arrayBuffer()))
  assert.closeTo(Number(format.duration) * 1_000, audio_duration_ms, 100)
  assert.strictEqual(format.tags.album, "Two chapters")
  assert.isAbove(chapters.length, 0)
}

const probed = (bytes: Uint8Array) => {
  const folder = mkdtempSync(join(tmpdir(), "starling-job-"))
  const path = join(folder, "chapter")
  writeFileSync(path, bytes)
  const told = execFileSync("ffprobe", ["-v", "error", "-of", "json", "-show_format", "-show_chapters", path])
  rmSync(folder, { recursive: true })
  return JSON.parse(told.toString()) as {
    readonly chapters: ReadonlyArray<{ readonly start_time: string; readonly tags: { readonly title: string } }>
    readonly format: { readonly duration: string; readonly tags: { readonly title: string; readonly album: string } }
  }
}
