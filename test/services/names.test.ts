import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { decodeConfiguration } from "#configuration"
import { CreateReleaseRequest, PutProjectRequest } from "#pipeline/api"
import { tokenRequest } from "#http"
import { readSettings, secretSeal } from "#webhooks"
import { MakeToken } from "../../libs/console/contract/api/tokens.ts"
import { decideChange, decideCreation } from "../../libs/webhooks/endpoints/changes.ts"
import { claimOf } from "../../services/console/page/ProxyPerson.ts"
import { faultOfFullName } from "../../services/speech-api/voices/Challenges.ts"
import { readVoiceForm } from "../../services/speech-api/voices/form.ts"
import { hostileTexts } from "../support/hostile-texts.ts"

const seal = secretSeal("a key of this test")
const act = { at: "2026-11-23T12:00:00.000Z", by: "tester" }
const made = (Name: string) =>
  decideCreation(undefined, { settings: { Name, Url: "https://a.example/" } }, { seal, act, startsAfter: 0 })
const takes = <A, I>(schema: Schema.Codec<A, I>, input: unknown) =>
  Result.isSuccess(Schema.decodeUnknownResult(schema as unknown as Schema.Codec<A>)(input))

const voiceForm = (name: string) => {
  const form = { fields: { name, gender: "female" }, files: {}, fingerprint: "f" }
  return readVoiceForm(form, { _tag: "Challenge", used: undefined })
}

/** Every name that somebody gives and that others see: whether it is taken. */
const places: Readonly<Record<string, (name: string) => boolean>> = {
  "an endpoint of the configuration": (Name) =>
    Result.isSuccess(decodeConfiguration({ Webhooks: [{ Name, Url: "https://a.example/" }] })),
  "an endpoint made at run time": (name) => Result.isSuccess(made(name)),
  "the label of a token, by the API": (label) =>
    takes(MakeToken, { reason: "a test", label, scopes: ["console:read"], lifetimeSeconds: 60 }),
  "the label of a token": (label) =>
    Result.isSuccess(
      tokenRequest({
        workspace: "w",
        fleetWorkspace: "w",
        kind: "service",
        scopes: ["console:read"],
        label,
        lifetimeMs: undefined
      })
    ),
  "a project": (displayName) => takes(PutProjectRequest, { displayName, repositoryUrl: "https://git.example/a" }),
  "a release": (name) => takes(CreateReleaseRequest, { name, projectId: "garden" }),
  "a cloned voice": (name) => {
    const read = voiceForm(name)
    return Result.isSuccess(read) || !("name" in read.failure)
  },
  "a speaker": (name) => faultOfFullName(name) === undefined,
  "a person whom a proxy names": (name) => claimOf({ name, proof: "a".repeat(32) }, "a".repeat(32))._tag === "Proven"
}

describe("the name of", () => {
  for (const [place, isTaken] of Object.entries(places)) {
    it(`${place} has no character that a screen obeys, and is not nothing but dots`, () => {
      for (const name of ["ci", "build server 7", "a.b-c_d", "Zoë"]) assert.isTrue(isTaken(name), name)
      for (const [what, text] of Object.entries({ ...hostileTexts, "is dots": ".." })) {
        assert.isFalse(isTaken(`x${text}`.replace("x..", "..")), what)
      }
    })
  }

  it("an endpoint that an earlier release took is still served, changed and removed", () => {
    const decided = Result.getOrThrow(made("plain"))
    const Name = "old\u202egpj"
    const record = { ...decided.record, name: Name, settings: { ...decided.record.settings, Name } }
    assert.isTrue(Result.isSuccess(readSettings(record, seal)))
    const changed = decideChange(record, { Concurrency: 4 }, { revision: 1, seal, act })
    assert.isTrue(Result.isSuccess(changed), JSON.stringify(changed))
  })
})
