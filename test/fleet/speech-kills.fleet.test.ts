import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { endRoles, type RunningRole, startRole } from "../support/role.ts"
import { faultsOfMarks, type SpeechFleet, startSpeechFleet, sumOf, unmarked } from "../support/speech.ts"
import { childrenOf, listenSlowly, type Paced, type PacedEnd, StreamRefused } from "../support/speech-clients.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"

let fleet: SpeechFleet
let sequencers: ReadonlyArray<RunningRole>
/** The pace of each of fifty listeners: see paceOfThisMachine. */
let bytesPerSecond: number

const sequencer = async () => {
  const role = await startRole("speech-sequencer", { configuration: { Bus: fleet.roleBus } })
  await until(() => role.status("/readyz"), { is: 200, withinMs: startWithinMs })
  return role
}

beforeAll(async () => {
  const roles = ["webhook-dispatcher", "speech-api", "speech-synthesizer"]
  fleet = await startSpeechFleet({ FLEET_ROLES: JSON.stringify(roles) })
  sequencers = await Promise.all([sequencer(), sequencer()])
  // A fleet that has spoken once is warm, and its token known.
  await fleet.listen({ input: "Ready.", voice_id: "henry" })
  bytesPerSecond = await paceOfThisMachine()
})
// Listeners that a failed test has left behind would count in the next.
afterEach(async () => {
  for (const { leave } of listening.splice(0)) leave()
  await until(() => fleet.metric("speech_streams_active"), { is: 0 })
})
afterAll(async () => {
  await endRoles()
  await fleet.remove()
})

const streams = 50
const few = 3
const sentence = "The harbour wakes before the town does, and nobody minds the gulls. "
// Of a few some 7 MB on the wire each: more than fits between the fleet and a client that does not read. Of many less
// than a third as much: they are heard nearly as fast as they can be spoken, so that most of them is still to be spoken at a kill.
const inputs = { many: sentence.repeat(7), few: sentence.repeat(26) }
const realTimeBytesPerSecond = 64_000
// Of a few, for which that is little work.
const fast = 16 * realTimeBytesPerSecond
const lateMsMax = 2_000
// Past the beginning, and far from the end: the first second. While the last ones begin, the first ones are spoken ahead
// of their listeners, and some whole.
const begunBytes = 48_000

const listening: Array<Paced> = []

/** A busy machine may refuse some of many, with the time to come again; the more it takes, the harder the trial. */
const startStreams = async (of: keyof typeof inputs): Promise<ReadonlyArray<Paced>> => {
  const [count, pace] = of === "many" ? [streams, bytesPerSecond] : [few, fast]
  const order = { input: inputs[of], voice_id: "henry", output_format: "pcm_24000" }
  const asked = Array.from({ length: count }, () =>
    listenSlowly(fleet, order, pace).catch((error: unknown) => {
      if (error instanceof StreamRefused) return undefined
      throw error
    })
  )
  const started = (await Promise.all(asked)).filter((one) => one !== undefined)
  listening.push(...started)
  assert.isAtLeast(started.length, 0.8 * count)
  await until(() => started.every(({ listener }) => listener.bytes() > begunBytes))
  assert.isFalse(started.some(({ listener }) => listener.isDone()))
  return started
}

/**
 * Three fifths of this machine's speed without a kill, so that only the kill causes lateness; at most two and a half
 * times real time, and never slower than that.
 */
const paceOfThisMachine = async () => {
  const order = { input: sentence.repeat(8), voice_id: "henry", output_format: "pcm_24000" }
  const beganMs = performance.now()
  const asked = await Promise.all(Array.from({ length: 8 }, () => listenSlowly(fleet, order, Number.POSITIVE_INFINITY)))
  await Promise.all(asked.map(({ ended }) => ended))
  // Sound travels as base64.
  const bytes = (4 / 3) * asked.reduce((sum, { listener }) => sum + listener.bytes(), 0)
  const each = bytes / ((performance.now() - beganMs) / 1_000) / streams
  return Math.min(Math.max(0.6 * each, realTimeBytesPerSecond), 2.5 * realTimeBytesPerSecond)
}

/** Whole, in order, each word once, and at its own pace. */
const heardWhole = (input: string, { audio, marks, durationMs, lateMs, waitedMs }: PacedEnd, awayMs = 0) => {
  assert.deepStrictEqual(faultsOfMarks([input], marks, durationMs), [])
  assert.strictEqual(unmarked(input, marks), "")
  assert.strictEqual(marks.length, input.trim().split(" ").length)
  assert.isAtMost(Math.abs(audio.length / 48 - durationMs), 0.1)
  assert.isAtMost(lateMs, lateMsMax + awayMs, `it waited for ${waitedMs} ms at once`)
}

/** Its process, and how long it was down: this fleet has no other, and nothing is spoken until it is back. */
const killSynthesizer = async () => {
  const [synthesizer] = childrenOf(fleet.pid, "role speech-synthesizer")
  assert.isDefined(synthesizer)
  const killedAt = performance.now()
  process.kill(synthesizer?.pid ?? 0, "SIGKILL")
  await until(async () => {
    const [next] = childrenOf(fleet.pid, "role speech-synthesizer")
    return next !== undefined && next.pid !== synthesizer?.pid && (await fleet.isReady())
  })
  return [synthesizer?.pid, performance.now() - killedAt] as const
}

const sessionsOf = async (role: RunningRole) => sumOf(await role.metrics(), "speech_sessions_active")
/** Those that it has, and those that it has spoken to their end: on a fast machine some end before others are looked at. */
const everSpokenBy = async (role: RunningRole) => {
  const text = await role.metrics()
  return sumOf(text, "speech_sessions_active") + sumOf(text, "speech_sessions_total", ['outcome="spoken"'])
}

describe("kill -9 in the middle of 50 streams", () => {
  it("of the synthesizer: every stream is heard to its end, in order, and in time", async () => {
    const started = await startStreams("many")
    const [, awayMs] = await killSynthesizer()

    for (const { ended } of started) heardWhole(inputs.many, await ended, awayMs)
    assert.include(fleet.log(), "a role's process died, starting it again")
    assert.strictEqual(await fleet.metric("speech_streams_total", 'outcome="failed"'), 0)
  })

  it("of one of two sequencers: the other continues at the same sample, and every word is marked once", async () => {
    const started = await startStreams("many")
    const busy = await Promise.all(sequencers.map(sessionsOf))
    assert.isAbove(busy[0]! + busy[1]!, started.length / 2, busy.join(" and "))
    const [victim, other] = busy[0]! > busy[1]! ? sequencers : sequencers.toReversed()
    const lost = Math.max(...busy)
    const spokenBefore = await everSpokenBy(other as RunningRole)
    const before = await fleet.metric("speech_takeovers_total")
    victim?.signal("SIGKILL")

    for (const { ended } of started) heardWhole(inputs.many, await ended)
    // Some of its sessions ended before it did. A machine at its limit may take a busy sequencer for dead as well: that
    // costs work, and no word.
    assert.isAbove((await fleet.metric("speech_takeovers_total")) - before, lost / 2)
    assert.isAbove((await everSpokenBy(other as RunningRole)) - spokenBefore, lost / 2)
    assert.strictEqual(await fleet.metric("speech_streams_total", 'outcome="failed"'), 0)
    await until(() => sessionsOf(other as RunningRole), { is: 0 })
  })

  it("of the only sequencer: every stream waits for the next one, and is heard to its end", async () => {
    const alive = await Promise.all(sequencers.map((role) => role.status("/readyz")))
    const [only, ...others] = sequencers.filter((_, at) => alive[at] === 200)
    for (const other of others) other.signal("SIGKILL")
    await Promise.all(others.map(({ ended }) => ended))
    const before = await fleet.metric("speech_takeovers_total")
    const started = await startStreams("few")
    const killedAt = performance.now()
    only?.signal("SIGKILL")
    await until(async () => (await fleet.metric("speech_takeovers_total")) - before >= few)
    await sequencer()
    const awayMs = performance.now() - killedAt

    for (const { ended } of started) heardWhole(inputs.few, await ended, awayMs)
    assert.strictEqual(await fleet.metric("speech_streams_total", 'outcome="failed"'), 0)
  })

  it("of the synthesizer twice within ten seconds: every stream is heard to its end, and late by no more than both outages", async () => {
    const started = await startStreams("few")
    const [first, firstMs] = await killSynthesizer()
    const [second, secondMs] = await killSynthesizer()
    assert.notStrictEqual(first, second)

    for (const { ended } of started) heardWhole(inputs.few, await ended, firstMs + secondMs)
    assert.strictEqual(await fleet.metric("speech_streams_total", 'outcome="failed"'), 0)
  })
})
