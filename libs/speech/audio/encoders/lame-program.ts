/**
 * The program of a process that encodes mp3 for many answers at once with libmp3lame, the same library that ffmpeg
 * uses. Threads take pieces from one queue. A listener that awaits first audio goes first; of the others, the one that
 * would starve first. While first audio is still being made, the others leave a processor to its engine for a moment.
 * It ends with the process that started it, and loads nothing of Effect, so that it is small and starts fast.
 */
import { availableParallelism } from "node:os"
import process from "node:process"
import { setTimeout } from "node:timers"
import koffi from "koffi"

/** An encoder is identified by its number. */
export type ToLame =
  | { readonly kind: "open"; readonly id: number; readonly hz: number; readonly kbps: number; readonly prime: number }
  | {
      readonly kind: "encode"
      readonly id: number
      readonly isUrgent: boolean
      /** The audio that its listener has received and not played yet. */
      readonly bufferedMs: number
      readonly pcm: Uint8Array
    }
  /** Flushes the frames that the encoder still holds for look-ahead. */
  | { readonly kind: "end"; readonly id: number }
  | { readonly kind: "close"; readonly id: number }
  /** An answer starts: its listener awaits first audio until a piece comes that is not urgent. */
  | { readonly kind: "begin"; readonly id: number }

export type FromLame =
  | { readonly kind: "ready" }
  | { readonly kind: "missing"; readonly detail: string }
  /** Answer each message but `close`. */
  | { readonly kind: "opened" | "encoded"; readonly id: number; readonly mp3: Uint8Array }
  | { readonly kind: "failed"; readonly id: number; readonly detail: string }

// Found by the system's loader; on macOS, where brew installs it.
const libraries = ["libmp3lame.so.0", "/opt/homebrew/lib/libmp3lame.0.dylib", "/usr/local/lib/libmp3lame.0.dylib"]
const mono = 3
// How long others wait while a listener awaits first audio, but no longer than half of their buffer.
const heldMsMax = 40
// First audio that takes longer waits for something other than a processor.
const awaitingMsMax = 500
// By lame.h: a quarter more than the samples, and 7,200 for what it holds.
const outBytesFor = (samples: number) => Math.ceil(1.25 * samples) + 7_200

const openLame = () => {
  const found = libraries.flatMap((path) => {
    try {
      return [koffi.load(path)]
    } catch {
      return []
    }
  })
  const [library] = found
  if (library === undefined) return undefined
  const set = (name: string) =>
    library.func(`int lame_set_${name}(void *, int)`) as (lame: unknown, to: number) => number
  const settings = {
    channels: set("num_channels"),
    mode: set("mode"),
    hzIn: set("in_samplerate"),
    hzOut: set("out_samplerate"),
    kbps: set("brate"),
    hasTag: set("bWriteVbrTag"),
    hasNoReservoir: set("disable_reservoir")
  }
  const init = library.func("void *lame_init()")
  const initParameters = library.func("int lame_init_params(void *)")
  const encodeBuffer = library.func("int lame_encode_buffer(void *, int16_t *, int16_t *, int, _Out_ uint8_t *, int)")
  const flush = library.func("int lame_encode_flush(void *, _Out_ uint8_t *, int)")
  const close = library.func("int lame_close(void *)")
  return {
    /** Opened as ffmpeg does for the arguments of the same plan, so that both write the same bytes. */
    open: (hz: number, kbps: number): unknown => {
      const lame: unknown = init()
      settings.channels(lame, 1)
      settings.mode(lame, mono)
      settings.hzIn(lame, hz)
      settings.hzOut(lame, hz)
      settings.kbps(lame, kbps)
      settings.hasTag(lame, 0)
      settings.hasNoReservoir(lame, 1)
      if (initParameters(lame) < 0) throw new Error(`libmp3lame has no ${kbps} kbit/s at ${hz} Hz`)
      return lame
    },
    encodeHere: (lame: unknown, pcm: Int16Array, out: Uint8Array): number =>
      encodeBuffer(lame, pcm, pcm, pcm.length, out, out.length),
    encode: (lame: unknown, pcm: Int16Array, out: Uint8Array, then: Then) =>
      encodeBuffer.async(lame, pcm, pcm, pcm.length, out, out.length, then),
    flush: (lame: unknown, out: Uint8Array, then: Then) => flush.async(lame, out, out.length, then),
    close: (lame: unknown) => void close(lame)
  }
}

type Lame = NonNullable<ReturnType<typeof openLame>>
type Then = (error: unknown, bytes: number) => void

/** Memory for one call of the library at a time. */
interface Room {
  pcm: Int16Array
  out: Uint8Array
}

interface Encoder {
  readonly lame: unknown
  /** A thread is using it in the library. */
  isAtWork: boolean
  isClosed: boolean
}

const send = (message: FromLame) => void process.send?.(message)

type Piece = Extract<ToLame, { readonly kind: "encode" }>

/** A piece for a listener that is already playing. */
interface Other {
  readonly message: ToLame
  /** When its listener falls silent without it. */
  readonly dueAtMs: number
  readonly heldUntilMs: number
}

/** Each encoder has at most one message here, plus its `close`, because it is fed again only once it has answered. */
interface Serving {
  readonly lame: Lame
  readonly encoders: Map<number, Encoder>
  readonly urgent: Array<ToLame>
  /** In due order. */
  readonly others: Array<Other>
  /** Encoders whose listener awaits first audio, and since when. */
  readonly awaiting: Map<number, number>
  othersAtWork: number
  heldTimer: ReturnType<typeof setTimeout> | undefined
  /** One per processor: the library works in threads, while this thread reads the next message. */
  readonly rooms: Array<Room>
}

const serve = (lame: Lame) => {
  const rooms = Array.from({ length: availableParallelism() }, roomFor)
  const serving: Serving = {
    lame,
    encoders: new Map(),
    urgent: [],
    others: [],
    awaiting: new Map(),
    othersAtWork: 0,
    heldTimer: undefined,
    rooms
  }
  process.on("message", (message: ToLame) => {
    receive(serving, message)
    work(serving)
  })
}

const receive = ({ others, awaiting, urgent }: Serving, message: ToLame) => {
  const nowMs = performance.now()
  if (message.kind === "begin") return void awaiting.set(message.id, nowMs)
  const isOther = isForListener(message)
  if (isOther || message.kind === "close") awaiting.delete(message.id)
  if (!isOther) return void urgent.push(message)
  const bufferedMs = Math.max(0, message.bufferedMs)
  const dueAtMs = nowMs + bufferedMs
  const heldUntilMs = nowMs + Math.min(heldMsMax, bufferedMs / 2)
  others.splice(others.findLastIndex((other) => other.dueAtMs <= dueAtMs) + 1, 0, { message, dueAtMs, heldUntilMs })
}

const isForListener = (message: ToLame): message is Piece => message.kind === "encode" && !message.isUrgent

/** Starts as much work as there are processors. */
const work = (serving: Serving) => {
  const { rooms, urgent } = serving
  for (let room = rooms.pop(); room !== undefined; room = rooms.pop()) {
    const next = urgent.shift() ?? otherOf(serving)
    if (next === undefined || !begin(serving, next, room)) rooms.push(room)
    if (next === undefined) return
  }
}

const otherOf = (serving: Serving): ToLame | undefined => {
  const { others, othersAtWork } = serving
  const nowMs = performance.now()
  if (others.length === 0 || !isAnyAwaiting(serving, nowMs)) return others.shift()?.message
  // Each takes the next one when it is done.
  if (othersAtWork >= Math.max(1, availableParallelism() - 1)) return undefined
  const at = others.findIndex(({ heldUntilMs }) => heldUntilMs <= nowMs)
  if (at >= 0) return others.splice(at, 1)[0]?.message
  return hold(serving, Math.min(...others.map(({ heldUntilMs }) => heldUntilMs)) - nowMs)
}

const isAnyAwaiting = ({ awaiting }: Serving, nowMs: number) => {
  for (const [id, sinceMs] of awaiting) if (nowMs - sinceMs > awaitingMsMax) awaiting.delete(id)
  return awaiting.size > 0
}

const hold = (serving: Serving, heldMs: number): undefined => {
  serving.heldTimer ??= setTimeout(() => {
    serving.heldTimer = undefined
    work(serving)
  }, Math.ceil(heldMs))
}

/** False if there is nothing to wait for. */
const begin = (serving: Serving, message: ToLame, room: Room): boolean => {
  const { encoders, lame } = serving
  const { id } = message
  try {
    if (message.kind === "open") open(serving, message, room)
    if (message.kind === "close") close(serving, id)
    const encoder = encoders.get(id)
    if ((message.kind !== "encode" && message.kind !== "end") || encoder === undefined) return false
    const isOther = isForListener(message)
    const then: Then = (error, bytes) => {
      if (isOther) serving.othersAtWork -= 1
      encoder.isAtWork = false
      if (encoder.isClosed) lame.close(encoder.lame)
      else if (error !== null || bytes < 0) fail(serving, id, error ?? errorOf(bytes))
      else send({ kind: "encoded", id, mp3: room.out.subarray(0, bytes) })
      serving.rooms.push(room)
      work(serving)
    }
    if (message.kind === "end") lame.flush(encoder.lame, room.out, then)
    else lame.encode(encoder.lame, samplesOf(message.pcm, room), room.out, then)
    encoder.isAtWork = true
    if (isOther) serving.othersAtWork += 1
    return true
  } catch (error) {
    fail(serving, id, error)
    return false
  }
}

/** Not in a thread: opening is most of the work, and fills tables that all encoders share. */
const open = ({ encoders, lame }: Serving, message: Extract<ToLame, { readonly kind: "open" }>, room: Room) => {
  const { hz, id, kbps, prime } = message
  const opened = lame.open(hz, kbps)
  encoders.set(id, { lame: opened, isAtWork: false, isClosed: false })
  const silence = samplesOf(new Uint8Array(prime * Int16Array.BYTES_PER_ELEMENT), room)
  const bytes = lame.encodeHere(opened, silence, room.out)
  if (bytes < 0) throw errorOf(bytes)
  send({ kind: "opened", id, mp3: room.out.subarray(0, bytes) })
}

const errorOf = (code: number) => new Error(`libmp3lame returned ${code}`)

const fail = (serving: Serving, id: number, error: unknown) => {
  close(serving, id)
  send({ kind: "failed", id, detail: error instanceof Error ? error.message : String(error) })
}

/** Not before the library has returned from it. */
const close = ({ encoders, lame }: Serving, id: number) => {
  const encoder = encoders.get(id)
  encoders.delete(id)
  if (encoder === undefined) return
  encoder.isClosed = true
  if (!encoder.isAtWork) lame.close(encoder.lame)
}

const roomFor = (): Room => ({ pcm: new Int16Array(0), out: new Uint8Array(outBytesFor(0)) })

/** In memory of our own, which is aligned; the bytes of a message need not be. */
const samplesOf = (bytes: Uint8Array, room: Room) => {
  const length = bytes.length / Int16Array.BYTES_PER_ELEMENT
  if (room.pcm.length < length) {
    room.pcm = new Int16Array(length)
    room.out = new Uint8Array(outBytesFor(length))
  }
  new Uint8Array(room.pcm.buffer).set(bytes)
  return room.pcm.subarray(0, length)
}

// Ctrl-C reaches the entire group: answers that are being drained still need their encoders.
process.on("SIGINT", () => {})
process.on("SIGTERM", () => {})
process.on("disconnect", () => process.exit(0))

const lame = openLame()
if (lame === undefined) {
  send({ kind: "missing", detail: `none of ${libraries.join(", ")} can be loaded` })
  process.disconnect?.()
} else {
  serve(lame)
  send({ kind: "ready" })
}
