/**
 * A frame of the speech bus as bytes: the length of its head (4 bytes, big-endian), the head as JSON, then
 * PCM as 16-bit little-endian samples. The head is checked by its schema, PCM by its length.
 */
import { Result, Schema } from "effect"
import { faultsOf } from "../Envelope.ts"
import type { Fault } from "../primitives.ts"

export interface Frame<Head> {
  readonly head: Head
  readonly pcm: Int16Array
}

export interface FrameCodec<Head> {
  readonly encode: (frame: Frame<Head>) => Uint8Array
  readonly decode: (bytes: Uint8Array) => Result.Result<Frame<Head>, ReadonlyArray<Fault>>
}

/** The largest stretch of PCM in one frame, so that a frame stays below 32 kB. */
export const frameSamplesMax = 12_000

const lengthBytes = 4
const utf8 = new TextEncoder()
const utf8Strict = new TextDecoder("utf-8", { fatal: true })

export const frameCodec = <Head>(schema: Schema.Codec<Head, Head>): FrameCodec<Head> => {
  const decodeHead = Schema.decodeUnknownResult(schema, { errors: "all" })
  return {
    encode: ({ head, pcm }) => {
      const text = utf8.encode(JSON.stringify(head))
      const bytes = new Uint8Array(lengthBytes + text.length + pcm.length * 2)
      const view = new DataView(bytes.buffer)
      view.setUint32(0, text.length)
      bytes.set(text, lengthBytes)
      bytes.set(new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength), lengthBytes + text.length)
      return bytes
    },
    decode: (bytes) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const headEnd = bytes.length < lengthBytes ? Number.NaN : lengthBytes + view.getUint32(0)
      if (!(headEnd <= bytes.length)) return broken("the head is longer than the frame")
      if ((bytes.length - headEnd) % 2 !== 0) return broken("half a sample at the end")
      return Result.map(readHead(bytes.subarray(lengthBytes, headEnd), decodeHead), (head) => ({
        head,
        // A copy: the samples may stand at an odd address, and in memory that others share.
        pcm: new Int16Array(bytes.buffer.slice(bytes.byteOffset + headEnd, bytes.byteOffset + bytes.length))
      }))
    }
  }
}

const broken = (message: string) => Result.fail([{ path: "", message }])

const readHead = <Head>(
  text: Uint8Array,
  decode: (value: unknown) => Result.Result<Head, Schema.SchemaError>
): Result.Result<Head, ReadonlyArray<Fault>> => {
  let value: unknown
  try {
    value = JSON.parse(utf8Strict.decode(text))
  } catch {
    return broken("the head is not UTF-8 JSON")
  }
  return Result.mapError(decode(value), (error) => faultsOf(error.issue))
}
