/**
 * Lists the consents to voice cloning, including those of deleted voices, for an operator who must account for them. A
 * recording is written to a file of its own.
 */
import { createWriteStream } from "node:fs"
import { Effect, Layer, Option, Stream } from "effect"
import * as NodeSink from "@effect/platform-node/NodeSink"
import { type ConsentRecord, Consents, VoiceFiles } from "#speech-api/consents"
import { type Page, printPage } from "./answers.ts"
import { busOf } from "./connection.ts"
import { CommandRefused, faultOfFile, fileOf, print } from "./console.ts"

interface Shared {
  readonly workspace: string | undefined
  readonly nats: string | undefined
}

const stores = (nats: string | undefined) =>
  Layer.mergeAll(Consents.layer, VoiceFiles.layer).pipe(Layer.provideMerge(busOf(nats)))

export const listConsents = ({ workspace, nats, ...page }: Shared & Page) =>
  Effect.provide(list(workspace, page), stores(nats))

export const saveConsent = ({ id, out, workspace, nats }: Shared & { readonly id: string; readonly out: string }) =>
  Effect.provide(save(id, workspace, out), stores(nats))

const list = Effect.fnUntraced(function* (workspace: string | undefined, page: Page) {
  const records = yield* Stream.runCollect((yield* Consents).list(workspace))
  yield* printPage(records, page, {
    keyOf: ({ voiceId }) => voiceId,
    forPrograms: (record) => ({ ...record }),
    forPeople: rowOf,
    columns: {
      voice: "voiceId",
      workspace: "workspace",
      given: "givenAt",
      proof: "proof",
      "voice is": "use",
      name: "fullName"
    },
    whole: ["proof", "fullName"]
  })
})

const save = Effect.fnUntraced(function* (id: string, workspace: string | undefined, out: string) {
  const all = (yield* Consents).list(workspace)
  const found = yield* Stream.runHead(Stream.filter(all, ({ voiceId }) => voiceId === id))
  if (Option.isNone(found)) return yield* new CommandRefused({ reason: `no consent for a voice ${id}` })
  const { method } = found.value
  if (method._tag === "Declared") {
    return yield* new CommandRefused({ reason: "this consent was declared, there is no recording of it" })
  }
  const path = yield* fileOf(out)
  const file = NodeSink.fromWritable({
    // A new file, readable only by its owner; an existing one is never overwritten.
    evaluate: () => createWriteStream(path, { flags: "wx", mode: 0o600 }),
    onError: (cause) => new CommandRefused({ reason: `cannot write ${out}: ${faultOfFile(cause)}` })
  })
  yield* Stream.run((yield* VoiceFiles).read(method.recording), file)
  yield* print(`wrote ${method.recording.bytes} bytes of ${method.recording.mediaType} to ${out}`)
})

const rowOf = ({ method, voiceDeletedAt, ...record }: ConsentRecord) => ({
  ...record,
  proof: method._tag === "Verified" ? `verified (${method.evidence.speakerStrength})` : `declared (${method.email})`,
  use: voiceDeletedAt === null ? "in use" : `deleted ${voiceDeletedAt}`
})
