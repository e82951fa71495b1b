/**
 * The files of cloned voices in the object stores, streamed in from a form's file and out to a caller, never entirely
 * in memory. An object's name follows from the voice alone, so a voice's record is enough to find its files.
 */
import { createReadStream } from "node:fs"
import { Context, Effect, Layer, Option, Stream } from "effect"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { pcmToBytes } from "#speech/audio"
import { type BusError, Objects } from "#bus"
import { encodeToken } from "#base"
import type { FormFile } from "#http"
import type { KeptFile } from "./records.ts"

export type FileKind = "sample" | "avatar" | "consent" | "reference"

export interface VoiceAddress {
  readonly workspace: string
  readonly id: string
}

export class VoiceFiles extends Context.Service<
  VoiceFiles,
  {
    readonly keep: (
      address: VoiceAddress,
      kind: FileKind,
      file: FormFile,
      mediaType: string
    ) => Effect.Effect<KeptFile, BusError>
    /** Stores a recording without a container, for a zero-shot model; returns the object's name. */
    readonly keepReference: (address: VoiceAddress, samples: Int16Array) => Effect.Effect<string, BusError>
    readonly read: (file: KeptFile) => Stream.Stream<Uint8Array, BusError>
    /** Also succeeds if the file does not exist. */
    readonly remove: (address: VoiceAddress, kind: FileKind) => Effect.Effect<void, BusError>
  }
>()("starling/speech-api/VoiceFiles") {
  static readonly layer = Layer.effect(
    VoiceFiles,
    Effect.gen(function* () {
      const objects = yield* Objects

      const keep = Effect.fn("VoiceFiles.keep")(function* (
        address: VoiceAddress,
        kind: FileKind,
        { path, sha256 }: FormFile,
        mediaType: string
      ) {
        const [store, object] = [storeOf[kind], objectOf(address, kind)]
        const content = NodeStream.fromReadable({ evaluate: () => createReadStream(path), onError: String })
        const { bytes } = yield* objects.put(store, object, content)
        const kept: KeptFile = { store, object, bytes, sha256, mediaType }
        return kept
      })

      const keepReference = Effect.fn("VoiceFiles.keepReference")(function* (
        address: VoiceAddress,
        samples: Int16Array
      ) {
        const object = objectOf(address, "reference")
        yield* objects.put(storeOf.reference, object, Stream.make(pcmToBytes(samples)))
        return object
      })

      const remove = Effect.fn("VoiceFiles.remove")(function* (address: VoiceAddress, kind: FileKind) {
        const [store, object] = [storeOf[kind], objectOf(address, kind)]
        if (Option.isSome(yield* objects.info(store, object))) yield* objects.remove(store, object)
      })
      return VoiceFiles.of({ keep, keepReference, read: ({ store, object }) => objects.get(store, object), remove })
    })
  )
}

const storeOf: Readonly<Record<FileKind, string>> = {
  sample: "voice-samples",
  avatar: "voice-samples",
  reference: "voice-samples",
  consent: "consent-recordings"
}

const objectOf = ({ workspace, id }: VoiceAddress, kind: FileKind) =>
  `${encodeToken(workspace)}.${encodeToken(id)}.${kind}`
