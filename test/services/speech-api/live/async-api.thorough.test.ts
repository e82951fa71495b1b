import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Schema } from "effect"
import { LiveClientMessage, LiveServerMessage } from "#speech/api"
import { liveRoutes } from "../../../../services/speech-api/live/routes.ts"
import { speechAsyncApi } from "../../../../services/speech-api/live/async-api.ts"

type Json = Readonly<Record<string, unknown>>

const document = JSON.parse(JSON.stringify(speechAsyncApi())) as {
  readonly channels: Readonly<Record<string, { readonly address: string }>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}

const word = { type: "word", start: 0, end: 2, start_time: 0, end_time: 9.5, value: "Hi" }
const counts = { text_end: 2, billable_characters_count: 2 }

const examples: Readonly<Record<string, Json>> = {
  ContextStart: {
    type: "context.start",
    context_id: "a",
    voice_id: "henry",
    language: "en-US",
    model: "tts-3.0",
    speed: 1,
    options: { text_normalization: true },
    output_format: "pcm_24000",
    max_wait_ms: 100
  },
  TextMessage: { type: "text", context_id: "a", text: "Hi" },
  FlushMessage: { type: "flush", context_id: "a", flush_id: "1" },
  CancelMessage: { type: "cancel", context_id: "a", played_ms: 10 },
  EndMessage: { type: "end", context_id: "a" },
  KeepAliveMessage: { type: "keep_alive" },
  CloseMessage: { type: "close" },
  StartedMessage: { type: "started", context_id: "a", output_format: "pcm_24000", media_type: "audio/L16" },
  MarksMessage: { type: "marks", context_id: "a", speech_marks: [word] },
  AudioMessage: { type: "audio", context_id: "a", audio: "AAAA" },
  FlushedMessage: { type: "flushed", context_id: "a", flush_id: "1", text_end: 2, audio_duration_ms: 10 },
  DoneMessage: { type: "done", context_id: "a", reason: "ended", ...counts, audio_duration_ms: 10 },
  CancelledMessage: { type: "cancelled", context_id: "a", speech_marks: [word], ...counts },
  ErrorMessage: {
    type: "error",
    context_id: "a",
    is_final: false,
    error: { code: "validation_failed", message: "1 field is not valid", fields: { text: "is missing" } },
    request_id: "req_1"
  }
}

describe("the AsyncAPI document of live speech", () => {
  it("has a channel for each route, and a schema for each message", () => {
    const paths = liveRoutes.map(({ path }) => path.replace(":voice_id", "{voice_id}"))
    assert.sameMembers(
      Object.values(document.channels).map(({ address }) => address),
      paths
    )
    const names = [...LiveClientMessage.members, ...LiveServerMessage.members].map(
      (schema) => Schema.resolveAnnotations(schema)?.["identifier"]
    )
    assert.sameMembers(Object.keys(examples), names)
    assert.includeMembers(Object.keys(document.components.schemas), names)
  })

  it("agrees with decoding, by an independent validator, also on messages that lack a field or have it wrong", () => {
    const ajv = new Ajv2020({ strict: false, code: { optimize: false } })
    ajv.addSchema({ $id: "doc", components: document.components })
    const isDecoded = Schema.is(Schema.toEncoded(Schema.Union([LiveClientMessage, LiveServerMessage])))
    for (const [name, good] of Object.entries(examples)) {
      const validate = ajv.compile({ $ref: `doc#/components/schemas/${name}` })
      assert.isTrue(validate(good), `${name}: ${JSON.stringify(validate.errors)}`)
      assert.isTrue(isDecoded(good), name)
      for (const key of Object.keys(good)) {
        const { [key]: _, ...rest } = good
        assert.strictEqual(validate(rest), isDecoded(rest), `${name} without ${key}`)
        const wrong = { ...good, [key]: { at: "sea" } }
        assert.strictEqual(validate(wrong), isDecoded(wrong), `${name} with a wrong ${key}`)
      }
    }
  })
})
