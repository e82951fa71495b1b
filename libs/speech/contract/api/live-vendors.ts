/**
 * The live messages of ElevenLabs and of Cartesia, as far as they are supported, so that clients of either need only
 * another address. Further fields are accepted and ignored.
 */
import { Schema } from "effect"
import { describe, text } from "#base"
import { cartesiaFields, CartesiaRawFormat } from "./cartesia.ts"
import { ElevenLabsNormalization } from "./elevenlabs.ts"
import { Name } from "./fields.ts"
import { liveLimits } from "./live.ts"

export const elevenLabsPath = "/v1/text-to-speech/:voice_id/stream-input"
export const elevenLabsMultiPath = "/v1/text-to-speech/:voice_id/multi-stream-input"
export const cartesiaPath = "/tts/websocket"

const optional = Schema.optionalKey
const Piece = text(liveLimits.textMax)

/** The query of both of ElevenLabs' routes. */
export const ElevenLabsQuery = Schema.Struct({
  model_id: optional(Name),
  output_format: optional(Name),
  language_code: optional(Name),
  apply_text_normalization: ElevenLabsNormalization,
  // Python's clients write it with a capital.
  enable_ssml_parsing: optional(Schema.Literals(["true", "True", "false", "False"])).pipe(
    describe("Whether the text has elements of SSML, as `ssml` of our own messages.")
  )
})

/** A message of either route; only the one with several contexts has their ids. */
export const ElevenLabsMessage = Schema.Struct({
  text: optional(Piece),
  context_id: optional(Name),
  contextId: optional(Name),
  flush: optional(Schema.Boolean),
  close_context: optional(Schema.Boolean),
  close_socket: optional(Schema.Boolean),
  voice_settings: optional(Schema.Struct({ speed: optional(Schema.Finite) }))
})
export interface ElevenLabsMessage extends Schema.Schema.Type<typeof ElevenLabsMessage> {}

export const CartesiaCancel = Schema.Struct({ context_id: Name, cancel: Schema.Literal(true) })

export const CartesiaRequest = Schema.Struct({
  context_id: Name,
  ...cartesiaFields,
  transcript: Piece,
  continue: optional(Schema.Boolean),
  flush: optional(Schema.Boolean),
  output_format: CartesiaRawFormat,
  add_timestamps: optional(Schema.Boolean),
  max_buffer_delay_ms: optional(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: liveLimits.maxWaitMsMax })))
})
export interface CartesiaRequest extends Schema.Schema.Type<typeof CartesiaRequest> {}
