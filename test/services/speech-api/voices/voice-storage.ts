/** Storage as speech-api has it, on a broker of the test's own, and voices in it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, type Scope, Stream } from "effect"
import type { Kv, Nats, Objects } from "#bus"
import { Configuration, decodeConfiguration } from "#configuration"
import { Challenges } from "../../../../services/speech-api/voices/Challenges.ts"
import { ClonedVoices, type Reservation } from "../../../../services/speech-api/voices/ClonedVoices.ts"
import { Consents } from "../../../../services/speech-api/voices/Consents.ts"
import type { ConsentRecord } from "../../../../services/speech-api/voices/records.ts"
import { VoiceFiles } from "../../../../services/speech-api/voices/VoiceFiles.ts"
import { VoiceRemoval } from "../../../../services/speech-api/voices/VoiceRemoval.ts"
import { withBus } from "../../../../dev/fixtures/bus.ts"
import { clonedVoice, formFile, keptFile } from "./records.ts"

export const voicesMax = 3

const configuration = (section: Readonly<Record<string, unknown>>) => {
  const decoded = decodeConfiguration({ VoiceCloning: { VoicesPerWorkspace: voicesMax, ...section } })
  if (decoded._tag === "Failure") throw new Error(JSON.stringify(decoded.failure))
  return Layer.succeed(Configuration, decoded.success)
}

export const stored = <A, E>(
  test: Effect.Effect<
    A,
    E,
    ClonedVoices | Consents | VoiceFiles | VoiceRemoval | Challenges | Kv | Objects | Nats | Configuration | Scope.Scope
  >,
  section: Readonly<Record<string, unknown>> = {}
) => {
  const kept = Layer.mergeAll(ClonedVoices.layer, Consents.layer, VoiceFiles.layer, Challenges.layer)
  return withBus(() =>
    test.pipe(
      Effect.provide(VoiceRemoval.layer.pipe(Layer.provideMerge(kept), Layer.provideMerge(configuration(section))))
    )
  )
}

export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-voices-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

export const fileWith = (path: string, content: Buffer) => {
  writeFileSync(path, content)
  return formFile({ path, bytes: content.length })
}

export const address = (id: string, workspace = "acme") => ({ workspace, id })

export const reserved = Effect.fnUntraced(function* (id: string, workspace = "acme") {
  const reservation = yield* (yield* ClonedVoices).reserve(address(id, workspace))
  if ("_tag" in reservation) throw new Error("it is a voice already")
  return reservation
})

export const completed = Effect.fnUntraced(function* (reservation: Reservation) {
  const voice = clonedVoice({ id: reservation.id, workspace: reservation.workspace })
  yield* (yield* ClonedVoices).complete(reservation, voice)
  return voice
})

export const ids = (workspace: string) =>
  Effect.map(
    Effect.flatMap(ClonedVoices, ({ list }) => list(workspace)),
    (voices) => voices.map(({ id }) => id).toSorted()
  )

export const consentOf = (id: string): ConsentRecord => ({
  voiceId: id,
  workspace: "acme",
  fullName: "Ada Lovelace",
  tokenId: "token-1",
  givenAt: "2026-11-20T10:05:00.000Z",
  voiceDeletedAt: null,
  sample: keptFile(),
  method: { _tag: "Declared", email: "ada@example.org" }
})

export const consents = Effect.flatMap(Consents, ({ list }) => Stream.runCollect(list()))
