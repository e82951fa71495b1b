/**
 * A book of half a million characters as a job, beside as many listeners as the machine carried alone just before. The
 * process that speaks the book is killed three times. Listeners are to notice nothing, and the book is to be whole.
 */
import { startRoles } from "../children.ts"
import { atMost, exactly, figuresOf, type Findings, percentile } from "../figures.ts"
import { pause } from "../loops.ts"
import { open, type WordMark } from "./client.ts"
import { decoded, decodedHz } from "./decode.ts"
import { type Fleet, withFleet } from "./fleet.ts"
import { faultsOfMarks } from "./mark-faults.ts"
import { modelSilentMs, onsetsOf, startErrors } from "./onsets.ts"
import { play } from "./player.ts"
import { prose } from "./texts.ts"

const voiceId = "heart"
const chapters = 40
const charactersEach = 12_500
// When that much of the book is spoken, in the middle of a passage.
const killedAt = [0.1, 0.4, 0.7]
const bookWithinMs = 3_600_000
/** A paragraph of every fifth sentence. */
const paragraphs = (sentences: string) => sentences.replaceAll(/((?:[^.]*\.){5}) /gu, "$1\n\n")
const chapterText = (at: number) => `# Chapter ${at + 1}\n\n${paragraphs(prose(charactersEach, at))}\n\n`
const book = Array.from({ length: chapters }, (_, at) => chapterText(at)).join("")

const pcmBytesPerSecond = 48_000
/** 40 dB below full scale. */
const audible = 330
// Some 20 s of audio.
const text = prose(300)
const listenersLeast = 8
const ladder = [16, 12, listenersLeast]
const aloneMs = 60_000
const spreadMs = 20_000
// A machine of two processors that does all of this hears a few of many a moment later.
const worseMax = 1.25
const marksOffMaxMs = 60

interface Heard {
  /** From the request to the first sound of who plays what comes. */
  readonly firstSoundMs: number
  readonly underruns: number
  readonly isWhole: boolean
}

const listenOnce = async (fleet: Fleet): Promise<Heard> => {
  const askedMs = performance.now()
  const order = { input: text, voice_id: voiceId, output_format: "pcm_24000" }
  const response = await open(fleet, "/v1/audio/stream", order).catch(() => undefined)
  if (response?.statusCode !== 200) {
    response?.resume()
    await pause(1_000)
    return { firstSoundMs: Number.NaN, underruns: 0, isWhole: false }
  }
  let [firstByteMs, silentBytes, isSilent] = [Number.NaN, 0, true]
  const onBytes = (bytes: Buffer) => {
    if (Number.isNaN(firstByteMs)) firstByteMs = performance.now() - askedMs
    for (let at = 0; isSilent && at + 1 < bytes.length; at += 2) {
      if (Math.abs(bytes.readInt16LE(at)) > audible) isSilent = false
      else silentBytes += 2
    }
  }
  const { isWhole, underruns } = await play(response, { bytesPerSecond: pcmBytesPerSecond, onBytes })
  return { firstSoundMs: firstByteMs + (silentBytes * 1_000) / pcmBytesPerSecond, underruns, isWhole }
}

/** So many listeners at once, each to one answer after the other, until it is over. */
const listening = async (fleet: Fleet, count: number, isOver: () => boolean) => {
  const beganMs = performance.now()
  const heard: Array<Heard> = []
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      await pause((index * spreadMs) / count)
      while (!isOver()) heard.push(await listenOnce(fleet))
    })
  )
  const sum = (of: (one: Heard) => number) => heard.reduce((all, one) => all + of(one), 0)
  return {
    firstSoundsMs: heard.map(({ firstSoundMs }) => firstSoundMs).filter((ms) => !Number.isNaN(ms)),
    underruns: sum(({ underruns }) => underruns),
    unheard: sum(({ isWhole }) => (isWhole ? 0 : 1)),
    minutes: (performance.now() - beganMs) / 60_000
  }
}
type Listened = Awaited<ReturnType<typeof listening>>

const alone = async (fleet: Fleet) => {
  for (const count of ladder) {
    const untilMs = performance.now() + aloneMs
    const listened = await listening(fleet, count, () => performance.now() >= untilMs)
    process.stderr.write(`  ${count} alone: ${listened.underruns} underruns, ${listened.unheard} unheard\n`)
    if (listened.underruns + listened.unheard === 0 || count === listenersLeast) return { count, listened }
  }
  throw new Error("the ladder has no step")
}

interface Job {
  readonly id: string
  readonly status: string
  readonly characters: number
  readonly characters_done: number
  readonly audio_duration_ms: number
  readonly chapters: ReadonlyArray<{
    readonly audio: string
    readonly marks: string
    readonly audio_duration_ms: number
  }>
}

const call = (fleet: Fleet, path: string, body?: object) =>
  fetch(`${fleet.speech}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${fleet.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
const jobAt = async (fleet: Fleet, id: string) => (await (await call(fleet, `/v1/audio/jobs/${id}`)).json()) as Job

/** Has the book spoken by a process of its own, which is killed again and again; returns the job's end. */
const spokenBook = async (fleet: Fleet): Promise<Job> => {
  const start = () => startRoles(["speech-api"], { Bus: fleet.roleBus, SpeechApi: { Port: 0 } })
  let worker = await start()
  try {
    const order = { input: book, format: "markdown", voice_id: voiceId, title: "Two boats" }
    const { id } = (await (await call(fleet, "/v1/audio/jobs", order)).json()) as Job
    const untilMs = performance.now() + bookWithinMs
    for (const share of killedAt) {
      while ((await jobAt(fleet, id)).characters_done < share * book.length) {
        if (performance.now() > untilMs) throw new Error(`the book was not at ${share} within its time`)
        await pause(1_000)
      }
      await worker.end("SIGKILL")
      process.stderr.write(`  killed at ${(await jobAt(fleet, id)).characters_done} characters\n`)
      worker = await start()
    }
    for (;;) {
      const job = await jobAt(fleet, id)
      if (job.status === "completed" || job.status === "failed" || performance.now() > untilMs) return job
      await pause(2_000)
    }
  } finally {
    await worker.end()
  }
}

/** What is wrong with a chapter, by its marks and by its sound. */
const faultsOfChapter = async (fleet: Fleet, job: Job, at: number): Promise<ReadonlyArray<string>> => {
  const found = job.chapters[at]
  if (found === undefined) return [`there is no chapter ${at + 1}`]
  const from = Array.from({ length: at }, (_, before) => chapterText(before).length).reduce(
    (sum, each) => sum + each,
    0
  )
  const { speech_marks } = (await (await call(fleet, found.marks)).json()) as {
    readonly speech_marks: ReadonlyArray<WordMark>
  }
  const marks = speech_marks.map((mark) => ({ ...mark, start: mark.start - from, end: mark.end - from }))
  const audio = Buffer.from(await (await call(fleet, found.audio)).arrayBuffer())
  const pcm = await decoded("m4b", audio)
  const differsMs = Math.abs((pcm.length * 1_000) / decodedHz - found.audio_duration_ms)
  const starts = marks.map(({ start_time }) => start_time)
  const offMs = percentile(startErrors(onsetsOf(pcm, modelSilentMs), starts), 0.9)
  return [
    ...faultsOfMarks(chapterText(at), { audio, marks, durationMs: found.audio_duration_ms }),
    ...(differsMs < 100 ? [] : [`it lasts ${differsMs} ms more or less than announced`]),
    ...(offMs <= marksOffMaxMs ? [] : [`its marks are ${offMs} ms off the audio`])
  ]
}

const figuresFor = (name: string, { firstSoundsMs, minutes, underruns, unheard }: Listened) => {
  const figure = figuresOf(name)
  return [
    figure("first sound, p50", percentile(firstSoundsMs, 0.5), "ms"),
    figure("first sound, p95", percentile(firstSoundsMs, 0.95), "ms"),
    figure("answers", firstSoundsMs.length, ""),
    figure("underruns an hour", (underruns * 60) / minutes, ""),
    figure("not heard whole", unheard, "")
  ]
}

export const spokenBeside = (): Promise<Findings> =>
  withFleet(
    async (fleet) => {
      await listening(fleet, 1, () => true)
      const { count, listened: before } = await alone(fleet)
      let job: Job | undefined
      const [spoken, during] = await Promise.all([
        spokenBook(fleet).finally(() => (job ??= {} as Job)),
        listening(fleet, count, () => job !== undefined)
      ])
      const faulty: Array<ReadonlyArray<string>> = []
      for (let at = 0; at < chapters; at++) faulty.push(await faultsOfChapter(fleet, spoken, at))
      for (const faults of faulty.filter((each) => each.length > 0).slice(0, 5)) {
        process.stderr.write(`  ${faults.slice(0, 3).join("; ")}\n`)
      }
      const wrong = faulty.filter((faults) => faults.length > 0).length
      const ratio = (share: number) => percentile(during.firstSoundsMs, share) / percentile(before.firstSoundsMs, share)
      const figure = figuresOf(`a book beside ${count} listeners`)
      const lost = spoken.characters - spoken.characters_done
      const more = Math.max(0, during.underruns / during.minutes - before.underruns / before.minutes)
      return {
        figures: [
          ...figuresFor(`${count} listeners alone`, before),
          ...figuresFor(`${count} listeners beside a book`, during),
          figure("characters of the book", spoken.characters, ""),
          figure("characters that were not spoken", lost, "", exactly(0, lost)),
          figure("chapters that are not whole, or whose marks are off", wrong, "", exactly(0, wrong)),
          figure("spoken in", during.minutes, "min"),
          figure("sound of the book", spoken.audio_duration_ms / 3_600_000, "h"),
          figure("first sound p50, of that alone", ratio(0.5), "", atMost(worseMax, ratio(0.5), "")),
          figure("first sound p95, of that alone", ratio(0.95), "", atMost(worseMax, ratio(0.95), "")),
          figure("underruns a minute, more than alone", more, "", exactly(0, more)),
          figure("answers not heard whole", during.unheard, "", exactly(0, during.unheard))
        ],
        series: []
      }
    },
    { SPEECH_API_CACHE_MEGABYTES: "0", SPEECH_API_JOBS_AT_ONCE: "0" }
  )
