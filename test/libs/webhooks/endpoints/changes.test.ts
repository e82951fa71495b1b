import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { endpointIdOf, type EndpointRecord } from "#webhooks/contract"
import { readSettings, secretSeal, withoutOldSecrets } from "#webhooks"
import {
  type Decided,
  decideChange,
  decideCreation,
  decideEnabling,
  decideRemoval,
  decideRotation
} from "../../../../libs/webhooks/endpoints/changes.ts"

const seal = secretSeal("a key of this test")
const act = { at: "2026-11-23T12:00:00.000Z", by: "tester" }
const later = { at: "2026-11-23T13:00:00.000Z", by: "another" }
const nowMs = Date.parse(act.at)
const settings = { Name: "a", Url: "https://receiver.example/hook" }
const [first, second, third] = ["first-secret-of-16", "second-secret-of-16", "third-secret-of-16"]

const done = <E>(decided: Result.Result<Decided, E>): Decided => {
  assert.isTrue(Result.isSuccess(decided), JSON.stringify(decided))
  return Result.getOrThrow(decided)
}
const refusal = (decided: Result.Result<Decided, { readonly _tag: string }>) =>
  Result.isFailure(decided) ? decided.failure._tag : "done"
const faults = (decided: Result.Result<Decided, unknown>) =>
  Result.isFailure(decided) ? (decided.failure as { faults?: ReadonlyArray<{ path: string }> }).faults : undefined

const made = (given: object = {}, secrets: object = {}): EndpointRecord =>
  done(decideCreation(undefined, { settings: { ...settings, ...given }, ...secrets }, { seal, act, startsAfter: 7 }))
    .record

describe("the making of an endpoint", () => {
  it("keeps what was given, sealed where it may be a key", () => {
    const record = made({ Headers: { Authorization: "Bearer of-a-key" } }, { secret: first })
    assert.deepInclude(record, { name: "a", revision: 1, startsAfter: 7, isEnabled: true, removed: null })
    assert.notInclude(JSON.stringify(record), "of-a-key")
    assert.notInclude(JSON.stringify(record), first)
    assert.deepInclude(Result.getOrThrow(readSettings(record, seal)).Headers, { Authorization: "Bearer of-a-key" })
  })

  it("names every fault of settings and secrets at once, and says none of the secrets", () => {
    const given = { settings: { Name: "", Url: "ftp://x", Tries: 3, Headers: { Host: "x" } }, secret: "short" }
    const decided = decideCreation(undefined, given, { seal, act, startsAfter: 0 })
    assert.sameMembers(faults(decided)?.map(({ path }) => path) ?? [], [
      "/Name",
      "/Url",
      "/Tries",
      "/Headers/Host",
      "/Secret"
    ])
    assert.notInclude(JSON.stringify(decided), "short")
  })

  it.each([
    ["the same", {}, { secret: first }, "done"],
    ["other settings", { Concurrency: 5 }, { secret: first }, "EndpointExists"],
    ["another secret", {}, { secret: second }, "EndpointExists"],
    ["no secret", {}, {}, "EndpointExists"]
  ])("asked for again with %s: %s", (_what, given, secrets, expected) => {
    const before = made({}, { secret: first })
    const again = { settings: { ...settings, ...given }, ...secrets }
    const decided = decideCreation(before, again, { seal, act: later, startsAfter: 99 })
    assert.strictEqual(refusal(decided), expected)
    if (expected === "done") assert.deepStrictEqual(done(decided), { record: before, same: true })
  })
})

describe("a secret given with an endpoint", () => {
  const withSecret = (secrets: object) =>
    faults(decideCreation(undefined, { settings, ...secrets }, { seal, act, startsAfter: 0 }))?.map(({ path }) => path)
  const bytes = Buffer.alloc(32, 7).toString("base64")

  it.each([
    ["whsec_ and 32 bytes", `whsec_${bytes}`, undefined],
    ["24 characters", "x".repeat(24), undefined],
    ["no base64", "whsec_!!!", ["/StandardWebhooksSecret"]],
    ["base64 without its padding", `whsec_${bytes.replace("=", "")}`, ["/StandardWebhooksSecret"]],
    ["base64 with a line break", `whsec_${bytes}\n`, ["/StandardWebhooksSecret"]],
    ["the prefix of a signature", `v1,whsec_${bytes}`, ["/StandardWebhooksSecret"]],
    ["a line break at its end", `${"x".repeat(24)}\n`, ["/StandardWebhooksSecret"]]
  ])("for Standard Webhooks, %s", (_what, standardWebhooksSecret, expected) => {
    assert.deepStrictEqual(withSecret({ standardWebhooksSecret }), expected)
  })
})

describe("a change of an endpoint", () => {
  const before = made({ Concurrency: 4, Headers: { "X-Tenant": "seven" } })
  const change = (changes: Readonly<Record<string, unknown>>, revision = 1) =>
    decideChange(before, changes, { revision, seal, act: later })

  it("lays keys over the others, gives a key its default with null, and keeps headers that it does not name", () => {
    const { record } = done(change({ Url: "https://new.example/", Concurrency: null }))
    assert.deepInclude(Result.getOrThrow(readSettings(record, seal)), {
      Url: "https://new.example/",
      Concurrency: 32,
      Headers: { "X-Tenant": "seven" }
    })
    assert.deepInclude(record, { revision: 2, changed: later, created: act })
  })

  it("is refused on a revision that is not the last, unless it was carried out already", () => {
    assert.strictEqual(refusal(change({ Concurrency: 9 }, 3)), "EndpointWasChanged")
    assert.deepStrictEqual(done(change({ Concurrency: 4 }, 3)), { record: before, same: true })
  })

  it("keeps the name", () => {
    assert.deepStrictEqual(
      faults(change({ Name: "b" }))?.map(({ path }) => path),
      ["/Name"]
    )
  })
})

describe("a rotation of secrets", () => {
  const rotate = (record: EndpointRecord, secret: string, overlapMs: number, revision?: number) =>
    decideRotation(record, { secret, overlapMs }, { revision, seal, act: later, nowMs })
  const opened = ({ secrets }: EndpointRecord) =>
    secrets.map(({ sealed, notAfterMs }) => [Result.getOrThrow(seal.open(endpointIdOf("a"), sealed)), notAfterMs])

  it("puts the new one first and gives the previous one its time; a third drops the oldest", () => {
    const once = done(rotate(made({}, { secret: first }), second, 1_000)).record
    assert.deepStrictEqual(opened(once), [
      [second, null],
      [first, nowMs + 1_000]
    ])
    const twice = done(rotate(once, third, 5_000)).record
    assert.deepStrictEqual(opened(twice), [
      [third, null],
      [second, nowMs + 5_000]
    ])
  })

  it("asked for again changes nothing, whatever revision it names", () => {
    const once = done(rotate(made({}, { secret: first }), second, 1_000)).record
    assert.deepStrictEqual(done(rotate(once, second, 1_000, 1)), { record: once, same: true })
  })

  it("without an overlap ends the previous one at once, and the first secret of an endpoint has none before", () => {
    assert.deepStrictEqual(opened(done(rotate(made({}, { secret: first }), second, 0)).record), [[second, null]])
    assert.deepStrictEqual(opened(done(rotate(made(), first, 1_000)).record), [[first, null]])
  })

  it.each([
    ["short", 0, "/Secret"],
    [second, -1, "/OverlapSeconds"],
    [second, 8 * 86_400_000, "/OverlapSeconds"]
  ])("of %s over %i ms is refused", (secret, overlapMs, path) => {
    assert.deepStrictEqual(
      faults(rotate(made(), secret, overlapMs))?.map((fault) => fault.path),
      [path]
    )
  })

  it("leaves nothing of a secret whose time is over, and is no change of an operator", () => {
    const once = done(rotate(made({}, { secret: first }), second, 1_000)).record
    assert.isUndefined(withoutOldSecrets(once, nowMs + 999))
    const after = withoutOldSecrets(once, nowMs + 1_000)
    assert.strictEqual(after?.revision, once.revision)
    assert.strictEqual(after?.secrets.length, 1)
  })
})

describe("an endpoint that is disabled or removed", () => {
  it("has one more revision, and none when it is asked again", () => {
    const off = done(decideEnabling(made(), false, { revision: 1, act: later })).record
    assert.deepInclude(off, { isEnabled: false, revision: 2 })
    assert.isTrue(done(decideEnabling(off, false, { revision: 1, act: later })).same)
    assert.strictEqual(refusal(decideEnabling(off, true, { revision: 1, act: later })), "EndpointWasChanged")
  })

  it("keeps neither settings nor secrets once it is removed", () => {
    const standardWebhooksSecret = `whsec_${Buffer.from("s".repeat(24)).toString("base64")}`
    const before = made({ Headers: { Authorization: "Bearer of-a-key" } }, { secret: first, standardWebhooksSecret })
    const gone = done(decideRemoval(before, { revision: undefined, act: later })).record
    assert.deepInclude(gone, { settings: {}, headers: null, secrets: [], standardWebhooksSecrets: [], removed: later })
    assert.isTrue(done(decideRemoval(gone, { revision: 1, act })).same)
    assert.strictEqual(refusal(decideRemoval(before, { revision: 5, act })), "EndpointWasChanged")
  })
})

describe("a change that is asked for", () => {
  it("again, with its headers in another order, is the same", () => {
    const before = made({ Headers: { "X-A": "1", "X-B": "2" }, EventFilter: ["b.*", "a.*"] })
    const again = (given: object) =>
      refusal(decideCreation(before, { settings: { ...given, ...settings } }, { seal, act: later, startsAfter: 9 }))
    assert.strictEqual(again({ EventFilter: ["b.*", "a.*"], Headers: { "X-B": "2", "X-A": "1" } }), "done")
    assert.strictEqual(again({ EventFilter: ["a.*", "b.*"], Headers: { "X-B": "2", "X-A": "1" } }), "EndpointExists")
  })

  it("to rotate needs one secret or the other, and leaves the one that stays as it is", () => {
    const standard = (letter: string) => `whsec_${Buffer.from(letter.repeat(24)).toString("base64")}`
    const record = made({}, { secret: first, standardWebhooksSecret: standard("a") })
    const rotate = (secrets: object, overlapMs = 1_000) =>
      decideRotation(record, { ...secrets, overlapMs }, { revision: undefined, seal, act: later, nowMs })
    assert.strictEqual(refusal(rotate({})), "InvalidEndpoint")
    const { record: after } = done(rotate({ secret: first, standardWebhooksSecret: standard("b") }))
    assert.deepStrictEqual(after.secrets, record.secrets)
    assert.strictEqual(after.standardWebhooksSecrets.length, 2)
    const { record: alone } = done(rotate({ standardWebhooksSecret: standard("b") }))
    assert.deepStrictEqual(alone.secrets, record.secrets)
    const weekMs = 7 * 86_400_000
    assert.deepStrictEqual(
      [0, weekMs, weekMs + 1, -1, 0.5].map((ms) => refusal(rotate({ secret: second }, ms))),
      ["done", "done", "InvalidEndpoint", "InvalidEndpoint", "InvalidEndpoint"]
    )
  })

  it("of a record whose key is another cannot be read, and says where", () => {
    const record = made({ Headers: { Authorization: "Bearer of-a-key" } })
    const read = readSettings(record, secretSeal("another key of this test"))
    assert.deepStrictEqual(Result.isFailure(read) ? read.failure.map(({ path }) => path) : [], ["/Headers"])
  })
})
