import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { VoicesQuery } from "#speech/api"
import { sharedVoices } from "#speech"
import { clonedLocales } from "../../../../libs/speech/cloning/cloned-voice.ts"
import {
  listedClone,
  pageOfVoices,
  voiceBody,
  type VoicePage,
  withOldGender
} from "../../../../services/speech-api/voices/list.ts"
import { clonableLocales, clonedModels } from "../../../../services/speech-api/voices/speakable.ts"
import { clonedVoice, keptFile } from "./records.ts"

const page = (query: VoicesQuery = {}): VoicePage => Result.getOrThrow(pageOfVoices(sharedVoices, query))
const idsOf = ({ voices }: VoicePage) => voices.map(({ id }) => id)

/** All pages, one after the other. */
const walk = (query: VoicesQuery) => {
  const ids: Array<string> = []
  let cursor: string | null = null
  for (let pages = 0; pages < 100; pages++) {
    const found: VoicePage = page(cursor === null ? query : { ...query, cursor })
    assert.strictEqual(found.has_more, found.next_cursor !== null)
    ids.push(...idsOf(found))
    cursor = found.next_cursor
    if (cursor === null) return ids
  }
  throw new Error("it does not end")
}

describe("the list of voices", () => {
  it("is one page without a limit, ordered by id", () => {
    const all = page()
    assert.strictEqual(all.voices.length, sharedVoices.length)
    assert.isFalse(all.has_more)
    assert.isNull(all.next_cursor)
    assert.deepStrictEqual(idsOf(all), sharedVoices.map(({ id }) => id).toSorted())
  })

  it.each(["1", "2", "7", "38", "39", "200"])("comes whole and once each in pages of %s", (limit) => {
    assert.deepStrictEqual(walk({ limit }), idsOf(page()))
    assert.isAtMost(page({ limit }).voices.length, Number(limit))
  })

  it("tells how each voice is heard", () => {
    const qualities = new Map(page().voices.map(({ id, quality }) => [id, quality]))
    assert.deepStrictEqual([qualities.get("selma"), qualities.get("henry")], ["clear", "basic"])
  })

  it("is filtered before it is paged", () => {
    const query: VoicesQuery = { locale: "en", gender: "female" }
    assert.deepStrictEqual(walk({ ...query, limit: "2" }), idsOf(page(query)))
    assert.deepStrictEqual(idsOf(page(query)), ["claire", "emma", "nora", "selma"])
  })

  it.each<[VoicesQuery, ReadonlyArray<string>]>([
    [{ locale: "en-GB" }, ["arthur", "emma", "oliver"]],
    [{ locale: "EN-gb" }, ["arthur", "emma", "oliver"]],
    [{ locale: "de" }, ["jonas", "lena"]],
    [{ locale: "d" }, []],
    [{ locale: "de-D" }, []],
    [{ locale: "es", gender: "male" }, ["diego", "javier"]],
    [{ gender: "not_specified" }, []],
    [{ gender: "notSpecified" }, []],
    [{ type: "personal" }, []],
    [{ locale: "de", model: "tts-3.2" }, []],
    [{ locale: "nl", model: "simba-multilingual" }, ["daan", "sanne"]],
    [{ locale: "nl", model: "tts-3.0" }, []]
  ])("with %j contains %j", (query, ids) => {
    assert.deepStrictEqual(idsOf(page(query)), ids)
  })

  it.each<[VoicesQuery, string]>([
    [{ limit: "0" }, "limit"],
    [{ limit: "201" }, "limit"],
    [{ cursor: "henry" }, "cursor"],
    [{ cursor: "djE6aGVucnk=" }, "cursor"],
    [{ model: "tts-4.0" }, "model"]
  ])("refuses %j for its %s", (query, field) => {
    const result = pageOfVoices(sharedVoices, query)
    if (Result.isSuccess(result)) throw new Error("it was listed")
    assert.strictEqual(result.failure.status, 400)
    assert.deepStrictEqual(Object.keys(result.failure.fields ?? {}), [field])
  })

  it("continues after a deleted voice, and pages on without a limit", () => {
    const { next_cursor: cursor } = page({ limit: "5" })
    const without = sharedVoices.filter(({ id }) => id !== idsOf(page({ limit: "5" })).at(-1))
    const rest = Result.getOrThrow(pageOfVoices(without, { cursor: cursor ?? "" }))
    assert.deepStrictEqual(idsOf(rest), idsOf(page()).slice(5))
  })
})

describe("cloned voices in the list", () => {
  const rules = { isExpressive: false }
  const own = [
    listedClone(clonedVoice({ id: "aaa", name: "Ada", avatar: keptFile() }), rules),
    listedClone(clonedVoice({ id: "zzz", gender: "not_specified", locale: "de-DE" }), rules)
  ]
  const idsWith = (query: VoicesQuery) =>
    idsOf(Result.getOrThrow(pageOfVoices([...sharedVoices, ...own], { limit: "200", ...query })))

  it.each<[VoicesQuery, ReadonlyArray<string>]>([
    [{ type: "personal" }, ["aaa", "zzz"]],
    [{ type: "personal", locale: "de" }, ["zzz"]],
    [{ type: "personal", gender: "notSpecified" }, ["zzz"]],
    [{ gender: "not_specified" }, ["zzz"]],
    [{ locale: "de" }, ["jonas", "lena", "zzz"]],
    [{ type: "personal", model: "tts-english" }, ["aaa"]],
    [{ type: "personal", model: "tts-3.2" }, []]
  ])("with %j are %j", (query, ids) => {
    assert.deepStrictEqual(idsWith(query), ids)
  })

  it("stand between the others by their ids, and are not among the shared ones", () => {
    const all = idsWith({})
    assert.deepStrictEqual([all.at(0), all.at(-1)], ["aaa", "zzz"])
    assert.deepStrictEqual(idsWith({ type: "shared" }), idsOf(page()))
  })

  it("are personal, name their picture's address, and have the spelling that older callers expect", () => {
    const [ada, other] = own.map(voiceBody)
    assert.deepInclude(ada, { type: "personal", display_name: "Ada", avatar_image: "/v1/voices/aaa/avatar" })
    assert.deepInclude(other, { type: "personal", avatar_image: null, gender: "not_specified" })
    if (other === undefined || ada === undefined) throw new Error("there are two")
    assert.strictEqual(withOldGender(other).gender, "notSpecified")
    assert.strictEqual(withOldGender(ada).gender, "female")
  })

  it("speak with tts-3.2 where that is enabled", () => {
    const models = listedClone(clonedVoice(), { isExpressive: true }).models.map(({ name }) => name)
    assert.include(models, "tts-3.2")
    assert.deepStrictEqual(clonedModels("de-DE", true), clonedModels("de-DE", false))
    assert.deepStrictEqual(clonedModels("ja-JP", true), [])
    assert.sameMembers([...clonableLocales], [...clonedLocales])
  })
})
