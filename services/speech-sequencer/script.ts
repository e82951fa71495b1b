/** The chunks of a session, in the order they are spoken: every turn's input, read and cut. Pure. */
import { Result } from "effect"
import type { EngineVoice, Fault, SessionRequest } from "#contracts"
import { type Chunk, readInput } from "#speech"

interface ScriptLine {
  readonly turn: number
  readonly voiceId: string
  readonly voice: EngineVoice
  readonly locale: string
  readonly chunk: Chunk
}

export interface Script {
  readonly lines: ReadonlyArray<ScriptLine>
  /** Offsets in UTF-16 units of their turn's input. */
  readonly sentences: ReadonlyArray<{ readonly turn: number; readonly start: number; readonly end: number }>
  /** Marks name their turn only when there are several. */
  readonly isDialogue: boolean
}

/** All faults of all turns; a path is `turns/<n>/input`, and the message gives the place in it. */
export const readScript = (
  request: Pick<SessionRequest, "turns" | "textNormalization">
): Result.Result<Script, ReadonlyArray<Fault>> => {
  const readings = request.turns.map(({ input, locale }) =>
    readInput(input, { locale, textNormalization: request.textNormalization })
  )
  const faults = readings.flatMap((reading, turn) =>
    Result.isSuccess(reading)
      ? []
      : reading.failure.map(({ message, offset }) => ({
          path: `turns/${turn}/input`,
          message: `${message.replace(/\.$/u, "")}, at offset ${offset}`
        }))
  )
  if (faults.length > 0) return Result.fail(faults)
  const lines = request.turns.flatMap(({ voiceId, voice, locale }, turn) => {
    const reading = readings[turn]
    if (reading === undefined || Result.isFailure(reading)) return []
    return reading.success.chunks.map((chunk) => ({ turn, voiceId, voice, locale, chunk }))
  })
  const sentences = readings.flatMap((reading, turn) =>
    Result.isSuccess(reading) ? reading.success.sentences.map(({ start, end }) => ({ turn, start, end })) : []
  )
  return Result.succeed({ lines, sentences, isDialogue: request.turns.length > 1 })
}
