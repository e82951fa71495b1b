/**
 * The program of a process that encodes mp3 for many answers at once with libmp3lame, the library with which ffmpeg
 * does. Whoever has heard nothing yet comes first: pieces of an answer's beginning go before all others, and the others
 * take turns. It ends with the process that started it, and loads nothing of Effect, so that it is small and starts
 * fast.
 */
import process from "node:process"
import { setImmediate } from "node:timers"
import koffi from "koffi"

/** An encoder is known by its number. */
export type ToLame =
  | { readonly kind: "open"; readonly id: number; readonly hz: number; readonly kbps: number; readonly prime: number }
  | { readonly kind: "encode"; readonly id: number; readonly isUrgent: boolean; readonly pcm: Uint8Array }
  /** Pushes out the frames that the encoder still looks ahead for. */
  | { readonly kind: "end"; readonly id: number }
  | { readonly kind: "close"; readonly id: number }

export type FromLame =
  | { readonly kind: "ready" }
  | { readonly kind: "missing"; readonly detail: string }
  /** Answers each message but `close`, in their order. */
  | { readonly kind: "encoded"; readonly id: number; readonly mp3: Uint8Array }
  | { readonly kind: "failed"; readonly id: number; readonly detail: string }

// Found by the system's loader; on macOS where brew installs it.
const libraries = ["libmp3lame.so.0", "/opt/homebrew/lib/libmp3lame.0.dylib", "/usr/local/lib/libmp3lame.0.dylib"]
const mono = 3
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
  const written = (out: Uint8Array, bytes: number) => {
    if (bytes < 0) throw new Error(`libmp3lame returned ${bytes}`)
    return out.subarray(0, bytes)
  }
  let room = new Uint8Array(outBytesFor(0))
  return {
    /** As ffmpeg opens it for the arguments of the same plan, so that both write the same bytes. */
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
    encode: (lame: unknown, pcm: Int16Array) => {
      if (room.length < outBytesFor(pcm.length)) room = new Uint8Array(outBytesFor(pcm.length))
      return written(room, encodeBuffer(lame, pcm, pcm, pcm.length, room, room.length))
    },
    flush: (lame: unknown) => written(room, flush(lame, room, room.length)),
    close: (lame: unknown) => void close(lame)
  }
}

type Lame = NonNullable<ReturnType<typeof openLame>>

const tell = (message: FromLame) => void process.send?.(message)

const serve = (lame: Lame) => {
  const encoders = new Map<number, unknown>()
  // Each encoder has one message here at most, for it is fed again when it has answered.
  const urgent: Array<ToLame> = []
  const others: Array<ToLame> = []
  let isWorking = false

  const encoded = (message: ToLame): Uint8Array | undefined => {
    const encoder = encoders.get(message.id)
    switch (message.kind) {
      case "open": {
        const opened = lame.open(message.hz, message.kbps)
        encoders.set(message.id, opened)
        return lame.encode(opened, new Int16Array(message.prime))
      }
      case "encode":
        return encoder === undefined ? undefined : lame.encode(encoder, samplesOf(message.pcm))
      case "end":
        return encoder === undefined ? undefined : lame.flush(encoder)
      default:
        encoders.delete(message.id)
        if (encoder !== undefined) lame.close(encoder)
        return undefined
    }
  }
  const take = (message: ToLame) => {
    try {
      const mp3 = encoded(message)
      if (mp3 !== undefined) tell({ kind: "encoded", id: message.id, mp3 })
    } catch (error) {
      tell({ kind: "failed", id: message.id, detail: error instanceof Error ? error.message : String(error) })
    }
  }
  // One at a time, so that what has come meanwhile is seen before the next.
  const work = () => {
    const next = urgent.shift() ?? others.shift()
    isWorking = next !== undefined
    if (next === undefined) return
    take(next)
    setImmediate(work)
  }
  process.on("message", (message: ToLame) => {
    const isUrgent = message.kind !== "encode" || message.isUrgent
    if (isUrgent) urgent.push(message)
    else others.push(message)
    if (!isWorking) {
      isWorking = true
      setImmediate(work)
    }
  })
}

/** In memory of our own, which is aligned as the bytes of a message need not be. */
let pcmRoom = new Int16Array(0)
const samplesOf = (bytes: Uint8Array) => {
  const length = bytes.length / Int16Array.BYTES_PER_ELEMENT
  if (pcmRoom.length < length) pcmRoom = new Int16Array(length)
  new Uint8Array(pcmRoom.buffer).set(bytes)
  return pcmRoom.subarray(0, length)
}

// Ctrl-C reaches the whole group: answers that are being drained still need their encoders.
process.on("SIGINT", () => {})
process.on("SIGTERM", () => {})
process.on("disconnect", () => process.exit(0))

const lame = openLame()
if (lame === undefined) {
  tell({ kind: "missing", detail: `none of ${libraries.join(", ")} can be loaded` })
  process.disconnect?.()
} else {
  serve(lame)
  tell({ kind: "ready" })
}
