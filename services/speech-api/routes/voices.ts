/** The routes of a workspace's own voices: creating and deleting them, their samples and pictures. */
import { Effect, Option, Stream } from "effect"
import { authenticated, Caller, downloadAnswer, emptyAnswer, forbidden, HttpCall, notFound, route } from "#http"
import { Metrics } from "#runtime"
import { voiceById } from "#speech"
import { callerVersion } from "./version.ts"
import { ClonedVoices } from "../voices/ClonedVoices.ts"
import { VoiceFiles } from "../voices/VoiceFiles.ts"
import { VoiceRemoval } from "../voices/VoiceRemoval.ts"
import { voicesDeleted } from "../metrics.ts"
import type { ClonedVoice, KeptFile } from "../voices/records.ts"
import { refusalOfVoice } from "../voices/refusals.ts"
import { answerChallenge, answerCreate } from "./cloning.ts"

const noVoice = notFound("no such voice", "voice_not_found")

const voiceId = Effect.map(HttpCall, ({ params }) => params["voice_id"] ?? "")

/**
 * A file of one of the caller's own voices, as it was sent. Strangers upload these files, so no browser may take one
 * for a page.
 */
const fileOf = (ofShared: string, choose: (voice: ClonedVoice) => KeptFile | null) =>
  Effect.gen(function* () {
    yield* callerVersion
    const id = yield* voiceId
    if (voiceById(id) !== undefined) return yield* notFound(ofShared)
    const { workspace } = yield* Caller
    const voice = yield* Effect.mapError((yield* ClonedVoices).find(workspace, id), refusalOfVoice)
    if (Option.isNone(voice)) return yield* noVoice
    const file = choose(voice.value)
    if (file === null) return yield* notFound("the voice has no picture")
    const bytes = Stream.mapError((yield* VoiceFiles).read(file), (error) =>
      error._tag === "BusNotFound" ? noVoice : refusalOfVoice(error)
    )
    const headers = { "x-content-type-options": "nosniff", "cache-control": "private, no-store" }
    const [, extension = "bin"] = file.mediaType.split("/")
    const fileName = `${id}.${extension}`
    return yield* downloadAnswer(bytes, { contentType: file.mediaType, bytes: file.bytes, fileName, headers })
  })

const getSample = fileOf("a voice of the catalogue has no sample", ({ sample }) => sample)
const getAvatar = fileOf("a voice of the catalogue has no picture", ({ avatar }) => avatar)

const deleteVoice = Effect.gen(function* () {
  yield* callerVersion
  const caller = yield* Caller
  const id = yield* voiceId
  if (voiceById(id) !== undefined) return yield* forbidden("a voice of the catalogue cannot be deleted")
  const removal = yield* VoiceRemoval
  const wasVoice = yield* Effect.mapError(removal.remove({ workspace: caller.workspace, id }), refusalOfVoice)
  if (!wasVoice) return yield* noVoice
  const deletes = (yield* Metrics).counter(voicesDeleted)
  deletes.inc({})
  yield* Effect.logInfo("a voice was deleted").pipe(Effect.annotateLogs({ voice: id, token: caller.tokenId }))
  return emptyAnswer()
})

export const voiceRoutes = [
  route("POST", "/v1/voices", authenticated({ scopes: ["voices:create"] })(answerCreate)),
  route("POST", "/v1/voices/consent-challenges", authenticated({ scopes: ["voices:create"] })(answerChallenge)),
  route(
    "DELETE",
    "/v1/voices/:voice_id",
    authenticated({ scopes: ["voices:delete"], permission: "content.manage" })(deleteVoice)
  ),
  route("GET", "/v1/voices/:voice_id/sample", authenticated({ scopes: ["voices:read"] })(getSample)),
  route("GET", "/v1/voices/:voice_id/avatar", authenticated({ scopes: ["voices:read"] })(getAvatar))
] as const
