/** One answer being spoken: asked for, heard while it comes, its words marked, until its end or until it is stopped. */
import { useCallback, useEffect, useRef, useState } from "react"
import { flushSync } from "react-dom"
import type { WordMark } from "#speech/contract"
import type { DialogueRequest, SpeechEvent, StreamRequest } from "#speech/api"
import { bases, speech } from "../../api/apis.ts"
import { answerOf, Refused } from "../../api/client.ts"
import { bytesOf, eventsOf } from "../../api/event-stream.ts"
import { wordAt } from "./marks.ts"
import { bytesOfBase64, sampleReader } from "./pcm.ts"
import type { SpeechOrder } from "./order.ts"
import { Player } from "./Player.ts"

export type SpeakingPhase = "idle" | "waiting" | "speaking" | "spoken" | "stopped" | "failed"

export interface Speaking {
  readonly phase: SpeakingPhase
  /** What is spoken: a text with the voice's id, or the turns of a dialogue. */
  readonly order: SpeechOrder | undefined
  readonly marks: ReadonlyArray<WordMark>
  /** From the request to the first byte of sound. */
  readonly firstByteMs: number | undefined
  /** The whole sound's length, once it is known. */
  readonly durationMs: number | undefined
  readonly billedCharacters: number | undefined
  readonly refused: Refused | undefined
  /** The index of the word that is heard now; -1: none. */
  readonly word: number
  readonly player: Player | undefined
}

const silent: Speaking = {
  phase: "idle",
  order: undefined,
  marks: [],
  firstByteMs: undefined,
  durationMs: undefined,
  billedCharacters: undefined,
  refused: undefined,
  word: -1,
  player: undefined
}

const pcm = "pcm_24000"

export const useSpeaking = () => {
  const [speaking, setSpeaking] = useState<Speaking>(silent)
  const running = useRef<{ readonly aborter: AbortController; readonly player: Player } | undefined>(undefined)

  const stop = useCallback(() => {
    const run = running.current
    running.current = undefined
    run?.aborter.abort()
    run?.player.stop()
    setSpeaking((before) =>
      before.phase === "waiting" || before.phase === "speaking" ? { ...before, phase: "stopped", word: -1 } : before
    )
  }, [])

  const speak = useCallback(
    (order: SpeechOrder) => {
      stop()
      const run = { aborter: new AbortController(), player: new Player() }
      running.current = run
      const change = (part: Partial<Speaking>) => {
        if (running.current === run) setSpeaking((before) => ({ ...before, ...part }))
      }
      setSpeaking({ ...silent, phase: "waiting", order, player: run.player })
      ask(order, { ...run, change }).catch((error: unknown) => {
        if (run.aborter.signal.aborted) return
        run.player.stop()
        change({ phase: "failed", word: -1, refused: error instanceof Refused ? error : brokenOff() })
      })
    },
    [stop]
  )

  useFrames(speaking, setSpeaking)
  useEffect(() => stop, [stop])
  return { speaking, speak, stop }
}

/** Looks at the audio clock before each frame that is drawn. */
const useFrames = (speaking: Speaking, set: (change: (before: Speaking) => Speaking) => void) => {
  const { phase, player, marks, durationMs } = speaking
  useEffect(() => {
    if (player === undefined || (phase !== "speaking" && phase !== "waiting")) return
    let frame = 0
    let shown: number | undefined
    const look = () => {
      const playedMs = player.playedMs()
      const isOver = playedMs !== undefined && durationMs !== undefined && playedMs >= player.lengthMs
      const word = playedMs === undefined || isOver ? -1 : wordAt(marks, playedMs)
      // Drawn in this very frame: later it would be another word's.
      if (word !== shown) flushSync(() => set((before) => (before.player === player ? { ...before, word } : before)))
      shown = word
      if (!isOver) frame = requestAnimationFrame(look)
      else {
        // A browser has few audio contexts to give.
        player.stop()
        set((before) => (before.player === player ? { ...before, phase: "spoken" } : before))
      }
    }
    frame = requestAnimationFrame(look)
    return () => cancelAnimationFrame(frame)
  }, [phase, player, marks, durationMs, set])
}

interface Run {
  readonly aborter: AbortController
  readonly player: Player
  readonly change: (part: Partial<Speaking>) => void
}

const ask = (order: SpeechOrder, run: Run): Promise<void> => {
  if (order.kind === "dialogue") return askDialogue(order.request, run)
  return order.hasMarks ? askMarked(order.request, run) : askPlain(order.request, run)
}

const askMarked = async (request: Omit<StreamRequest, "output_format">, { aborter, player, change }: Run) => {
  const beganMs = performance.now()
  const body = { ...request, output_format: pcm }
  const address = `${bases.speech}/v1/audio/stream/with-timestamps`
  const answer = await answerOf("POST", address, { body, signal: aborter.signal })
  const samplesOf = sampleReader()
  let marks: ReadonlyArray<WordMark> = []
  for await (const event of eventsOf(answer)) {
    if (event.type === "comment") continue
    const said = JSON.parse(event.data) as typeof SpeechEvent.Type
    switch (said.type) {
      case "speech.chunk": {
        const isFirst = player.samples === 0 && said.audio !== undefined
        if (said.audio !== undefined) player.push(samplesOf(bytesOfBase64(said.audio)))
        if (said.speech_marks !== undefined) marks = [...marks, ...said.speech_marks]
        change({ marks, ...(isFirst ? { phase: "speaking", firstByteMs: performance.now() - beganMs } : {}) })
        break
      }
      case "speech.done":
        return change({ durationMs: said.audio_duration_ms, billedCharacters: said.billable_characters_count })
      case "speech.error":
        throw brokenOff(`${said.error.message} (request ${said.request_id})`)
    }
  }
  throw brokenOff()
}

const askPlain = async (request: Omit<StreamRequest, "output_format">, { aborter, player, change }: Run) => {
  const beganMs = performance.now()
  const body = { ...request, output_format: pcm }
  const answer = await answerOf("POST", `${bases.speech}/v1/audio/stream`, { body, signal: aborter.signal })
  const samplesOf = sampleReader()
  for await (const bytes of bytesOf(answer)) {
    if (player.samples === 0) change({ phase: "speaking", firstByteMs: performance.now() - beganMs })
    player.push(samplesOf(bytes))
  }
  change({ durationMs: player.lengthMs, billedCharacters: request.input.length })
}

/** A dialogue comes in one piece: it has no stream. */
const askDialogue = async (request: DialogueRequest, { aborter, player, change }: Run) => {
  const beganMs = performance.now()
  const answer = await speech.post("/v1/audio/dialogue", { ...request, output_format: pcm }, { signal: aborter.signal })
  player.push(sampleReader()(bytesOfBase64(answer.audio_data)))
  change({
    phase: "speaking",
    firstByteMs: performance.now() - beganMs,
    marks: answer.speech_marks.chunks.flatMap(({ chunks }) => chunks),
    durationMs: answer.audio_duration_ms,
    billedCharacters: answer.billable_characters_count
  })
}

const brokenOff = (why = "the speech broke off before its end") =>
  new Refused({ status: 502, code: "broken_off", message: why, faults: {} })
