import { execFileSync, fork } from "node:child_process"
import { on } from "node:events"
import { kill } from "node:process"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Latch, Layer, Stream } from "effect"
import { audioFormats, Encoders, ffmpegPoolDefaults, formatNamed } from "#speech/audio"
import { Metrics } from "#runtime"
import type { FromLame, ToLame } from "../../../../../libs/speech/audio/encoders/lame-program.ts"
import { eventually } from "../../../../../dev/fixtures/eventually.ts"

const audio = (lameProcessesMax: number, lameSilenceMsMax = ffmpegPoolDefaults.lameSilenceMsMax) =>
  Encoders.layer({ ...ffmpegPoolDefaults, lameProcessesMax, lameSilenceMsMax }).pipe(Layer.provide(Metrics.layerTest))

/** Sounds of every loudness, from the first sample on, and a rest that fills no frame. */
const sound = Int16Array.from({ length: 61_234 }, (_, at) => 14_000 * Math.sin(at / 9) * Math.sin(at / 4_000))

const encoded = Effect.fnUntraced(function* (name: string, pcm: Int16Array) {
  const format = formatNamed(name)
  assert.isDefined(format)
  const pieces = Stream.make(pcm.subarray(0, 1_200), pcm.subarray(1_200, 20_000), pcm.subarray(20_000))
  return Buffer.concat(yield* Stream.runCollect((yield* Encoders).encode(format, pieces)))
})

/** The processes of this one that run libmp3lame. */
const lameProcesses = () =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/u))
    .filter(([, parent, state, ...words]) => Number(parent) === process.pid && state !== "Z" && isProgram(words))
    .map(([pid]) => Number(pid))

const isProgram = (words: ReadonlyArray<string>) => words.some((word) => word.endsWith("lame-program.ts"))

const second = sound.subarray(0, 24_000)
const endless = Stream.fromEffectRepeat(Effect.succeed(second))
const slow = Stream.fromEffectRepeat(Effect.delay(Effect.succeed(second), "200 millis"))

/** One encoder at a time, none started ahead. */
const oneEncoder = (lameProcessesMax: number) =>
  Encoders.layer({ ...ffmpegPoolDefaults, lameProcessesMax, processesMax: 1, defaultDepth: 0 }).pipe(
    Layer.provide(Metrics.layerTest)
  )

class Ffmpeg extends Context.Service<Ffmpeg, Encoders["Service"]>()("test/Ffmpeg") {
  static readonly layer = Layer.effect(Ffmpeg, Encoders).pipe(Layer.provide(oneEncoder(0)))
}

const comparing = layer(Layer.merge(oneEncoder(1), Ffmpeg.layer), { excludeTestServices: true })

comparing("mp3 encoders that share a process", (it) => {
  it.effect.each(audioFormats.filter(({ codec }) => codec === "mp3").map(({ name }) => name))(
    "write the bytes of ffmpeg: %s",
    (name) =>
      Effect.gen(function* () {
        const [first, again, other] = [
          yield* encoded(name, sound),
          yield* encoded(name, sound),
          yield* encoded(name, second)
        ]
        assert.strictEqual(lameProcesses().length, 1)
        const both = Effect.all([encoded(name, sound), encoded(name, second)])
        const ffmpeg = yield* Effect.provideService(both, Encoders, yield* Ffmpeg)
        assert.isTrue(first.equals(ffmpeg[0]))
        assert.isTrue(again.equals(ffmpeg[0]))
        assert.isTrue(other.equals(ffmpeg[1]))
      })
  )
})

describe("mp3 encoders that share a process", () => {
  it.live("are few processes for many answers at once, which end with the pool", () =>
    Effect.gen(function* () {
      yield* Effect.gen(function* () {
        const answers = Array.from({ length: 24 }, () => encoded("mp3_24000_64", sound))
        const [first, ...others] = yield* Effect.all(answers, { concurrency: "unbounded" })
        assert.isDefined(first)
        for (const other of others) assert.isTrue(other.equals(first))
        assert.isAtMost(lameProcesses().length, 2)
      }).pipe(Effect.provide(audio(4)))
      yield* eventually(() => lameProcesses().length, { is: 0 })
    })
  )

  it.live("get a second process while many are heard, and none while one of them awaits first audio", () =>
    Effect.gen(function* () {
      const format = formatNamed("mp3_24000_64")
      assert.isDefined(format)
      const { encode } = yield* Encoders
      const listener = { got: () => {}, bufferedMs: () => 1_000, isPlaying: () => true }
      const heard = yield* Latch.make()
      const awaiting = { ...listener, isPlaying: () => heard.isOpen() }
      const each = (whose: typeof listener) => Effect.forkScoped(Stream.runDrain(encode(format, slow, whose)))
      yield* Effect.forEach(Array.from({ length: 16 }), () => each(listener))
      yield* each(awaiting)
      yield* eventually(() => lameProcesses().length, { is: 1 })
      // The look of every second passes twice.
      yield* Effect.sleep("2500 millis")
      assert.strictEqual(lameProcesses().length, 1)
      yield* heard.open
      yield* eventually(() => lameProcesses().length, { is: 2 })
    }).pipe(Effect.scoped, Effect.provide(audio(4)))
  )

  it.live("fail when their process is killed, and the next answer gets another process", () =>
    Effect.gen(function* () {
      const format = formatNamed("mp3_24000_64")
      assert.isDefined(format)
      const { encode } = yield* Encoders
      let bytes = 0
      const answer = Stream.runForEach(encode(format, endless), (piece) =>
        Effect.sync(() => {
          const [program] = lameProcesses()
          if (bytes === 0 && program !== undefined) kill(program, "SIGKILL")
          bytes += piece.length
        })
      )
      const error = yield* Effect.flip(answer)
      assert.strictEqual(error._tag, "EncoderFailed")
      assert.match(error.message, /SIGKILL/u)
      assert.isAbove(bytes, 0)
      const whole = yield* encoded("mp3_24000_64", sound)
      assert.isAbove(whole.length, 20_000)
      assert.strictEqual(lameProcesses().length, 1)
    }).pipe(Effect.provide(audio(1)))
  )

  it.live("fail when their process hangs, and the next answer gets another process", () =>
    Effect.gen(function* () {
      const format = formatNamed("mp3_24000_64")
      assert.isDefined(format)
      const { encode } = yield* Encoders
      let isStopped = false
      const answer = Stream.runForEach(encode(format, endless), () =>
        Effect.sync(() => {
          const [program] = isStopped ? [] : lameProcesses()
          if (program === undefined) return
          kill(program, "SIGSTOP")
          isStopped = true
        })
      )
      const error = yield* Effect.flip(Effect.timeout(answer, "30 seconds"))
      assert.match(error.message, /SIGKILL/u)
      assert.isAbove((yield* encoded("mp3_24000_64", sound)).length, 20_000)
    }).pipe(Effect.provide(audio(1, 2_000)))
  )

  it.live("leave no work behind when a reader stops", () =>
    Effect.gen(function* () {
      const format = formatNamed("mp3_24000_64")
      assert.isDefined(format)
      const { encode } = yield* Encoders
      let taken = 0
      const source = Stream.tap(endless, () => Effect.sync(() => (taken += 1)))
      yield* Stream.runDrain(Stream.take(encode(format, source), 3))
      const after = taken
      yield* encoded("mp3_24000_64", sound)
      assert.strictEqual(taken, after)
    }).pipe(Effect.provide(audio(1)))
  )
})

/** The program, and what it answers. It ends with the test. */
const withProgram = async (
  talk: (tell: (message: ToLame) => void, next: () => Promise<number>) => Promise<void>
): Promise<void> => {
  const program = new URL("../../../../../libs/speech/audio/encoders/lame-program.ts", import.meta.url).pathname
  const child = fork(program, [], { serialization: "advanced" })
  const messages = on(child, "message", { close: ["exit"] })
  const nextOf = async (kinds: ReadonlyArray<FromLame["kind"]>): Promise<FromLame> => {
    for (;;) {
      const { done, value } = (await messages.next()) as IteratorResult<ReadonlyArray<FromLame>>
      const message = done === true ? undefined : value[0]
      if (message === undefined) throw new Error("the program ended")
      if (kinds.includes(message.kind)) return message
    }
  }
  const next = async () => {
    const message = await nextOf(["opened", "encoded"])
    return "id" in message ? message.id : Number.NaN
  }
  try {
    await nextOf(["ready"])
    await talk((message) => void child.send(message), next)
  } finally {
    child.kill("SIGKILL")
  }
}

const pcm = new Uint8Array(second.slice().buffer)
// So much work that all of it has been told before half of it is done, however slow the telling is.
const heap = { pieces: 30, pcm: new Uint8Array(Buffer.concat(Array.from({ length: 5 }, () => pcm))) }
const opening = (id: number): ToLame => ({ kind: "open", id, hz: 24_000, kbps: 64, prime: 576 })

describe("the program of libmp3lame", () => {
  it("encodes an answer's beginning before pieces that came earlier", () =>
    withProgram(async (tell, next) => {
      const urgent = 1_000
      const ids = Array.from({ length: heap.pieces }, (_, id) => id)
      for (const id of [...ids, urgent]) tell(opening(id))
      for (const _ of [...ids, urgent]) await next()
      for (const id of ids) tell({ kind: "encode", id, isUrgent: false, bufferedMs: 1_000, pcm: heap.pcm })
      tell({ kind: "encode", id: urgent, isUrgent: true, bufferedMs: 0, pcm })
      const pieces: Array<number> = []
      for (const _ of [...ids, urgent]) pieces.push(await next())
      assert.isBelow(pieces.indexOf(urgent), ids.length / 2)
      // Threads finish in any order.
      const others = pieces.filter((id) => id !== urgent).toSorted((left, right) => left - right)
      assert.deepStrictEqual(others, ids)
    }))

  it("encodes first for the listener that would fall silent first", () =>
    withProgram(async (tell, next) => {
      const ids = Array.from({ length: heap.pieces }, (_, id) => id)
      const low = [1_000, 1_001]
      for (const id of [...ids, ...low]) tell(opening(id))
      for (const _ of [...ids, ...low]) await next()
      for (const id of ids) tell({ kind: "encode", id, isUrgent: false, bufferedMs: 3_000, pcm: heap.pcm })
      for (const id of low) tell({ kind: "encode", id, isUrgent: false, bufferedMs: 140, pcm })
      const pieces: Array<number> = []
      for (const _ of [...ids, ...low]) pieces.push(await next())
      for (const id of low) assert.isBelow(pieces.indexOf(id), ids.length / 2)
    }))

  it("lets a listener's piece wait for a first sound that is still being made, and no longer than that", () =>
    withProgram(async (tell, next) => {
      const [listener, beginner] = [1, 2]
      for (const id of [listener, beginner]) tell(opening(id))
      await next()
      await next()
      tell({ kind: "begin", id: beginner })
      tell({ kind: "encode", id: listener, isUrgent: false, bufferedMs: 1_000, pcm })
      tell({ kind: "encode", id: beginner, isUrgent: true, bufferedMs: 0, pcm })
      assert.deepStrictEqual([await next(), await next()], [beginner, listener])
      // The first sound does not come: the listener's next piece comes all the same.
      tell({ kind: "begin", id: beginner })
      tell({ kind: "encode", id: listener, isUrgent: false, bufferedMs: 1_000, pcm })
      assert.strictEqual(await next(), listener)
    }))
})
