/** Every object store of the fleet, as data: bytes too large for a message. */
import type { ObjectStoreDeclaration } from "./declarations.ts"

const dayMs = 86_400_000
const kib = 1_024
const mib = 1_024 * kib

export const objectStores: ReadonlyArray<ObjectStoreDeclaration> = [
  {
    name: "image-answers",
    why: "The pictures of image jobs, for a day.",
    ttlMs: dayMs,
    bytesMax: 4_096 * mib,
    writers: ["model-gateway"],
    readers: ["model-gateway"]
  },
  {
    name: "paid-answers",
    why: "Answers that are given out once they are paid for, and again to whom has paid. Gone a day after nobody can pay for them any more.",
    ttlMs: 2 * dayMs,
    bytesMax: null,
    writers: ["model-gateway"],
    readers: ["model-gateway"]
  },
  {
    name: "voice-samples",
    why: "What a cloned voice was made from, and its picture; gone with the voice.",
    ttlMs: null,
    bytesMax: null,
    writers: ["speech-api"],
    readers: ["speech-api", "speech-synthesizer"]
  },
  {
    name: "consent-recordings",
    why: "The recordings in which speakers agreed. Kept when the voice is deleted.",
    ttlMs: null,
    bytesMax: null,
    writers: ["speech-api"],
    readers: ["operator"]
  }
]
