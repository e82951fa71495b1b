/** What is spoken, as it sounds: its words, its waveform, its figures and its marks. */
import { memo, useEffect, useMemo, useRef, useState } from "react"
import type { WordMark } from "#speech/contract"
import { Button } from "../../design/Button.tsx"
import { Fault, Loading } from "../../design/Said.tsx"
import { Table } from "../../design/Table.tsx"
import { saveAs } from "../../design/save-as.ts"
import { duration } from "../../design/words.ts"
import { piecesOf } from "./marks.ts"
import { wavOf } from "./pcm.ts"
import { peakSamples, type Player, sampleRateHz } from "./Player.ts"
import type { SpeechOrder } from "./order.ts"
import type { Speaking } from "./speaking.ts"

const words: Readonly<Record<Speaking["phase"], string>> = {
  idle: "Silent",
  waiting: "Waiting for the first byte",
  speaking: "Speaking",
  spoken: "Spoken",
  stopped: "Stopped",
  failed: "Broken off"
}

interface SoundingProps {
  readonly speaking: Speaking
  readonly onStop: () => void
  /** Without its table of marks, for a card. */
  readonly isShort?: boolean
}

export const Sounding = ({ speaking, onStop, isShort = false }: SoundingProps) => {
  const { phase, order, player, marks, refused, firstByteMs, durationMs, billedCharacters } = speaking
  if (order === undefined) return null
  const isRunning = phase === "waiting" || phase === "speaking"
  return (
    <section className="sounding" data-phase={phase} aria-label="What is spoken">
      <Words order={order} marks={marks} word={speaking.word} />
      {player === undefined ? null : <Waveform player={player} isRunning={isRunning} />}
      <dl className="figures" aria-live="polite">
        <Figure name="State">{words[phase]}</Figure>
        <Figure name="First byte">{firstByteMs === undefined ? "…" : duration(Math.round(firstByteMs))}</Figure>
        <Figure name="Length">{durationMs === undefined ? "…" : `${(durationMs / 1_000).toFixed(2)} s`}</Figure>
        <Figure name="Billed">{billedCharacters === undefined ? "…" : `${billedCharacters} characters`}</Figure>
      </dl>
      {refused === undefined ? null : <Fault refused={refused} />}
      <div className="row">
        <Button onClick={onStop} notNow={isRunning ? undefined : "Nothing is being spoken."}>
          Stop
        </Button>
        <Button
          notNow={
            isRunning || player === undefined || player.samples === 0
              ? "It can be saved once it was spoken."
              : undefined
          }
          onClick={() => player && saveAs("speech.wav", new Blob([wavOf(player.parts, sampleRateHz)]))}
        >
          Download WAV
        </Button>
      </div>
      {phase === "waiting" && player?.samples === 0 ? <Loading what="the first sound" /> : null}
      {isShort ? null : <Marks marks={marks} />}
    </section>
  )
}

const Figure = ({ name, children }: { readonly name: string; readonly children: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

interface WordsProps {
  readonly order: SpeechOrder
  readonly marks: ReadonlyArray<WordMark>
  readonly word: number
}

const Words = ({ order, marks, word }: WordsProps) =>
  order.kind === "text" ? (
    <Lit text={order.request.input} marks={marks} word={word} />
  ) : (
    order.request.turns.map(({ voice_id, input }, turn) => (
      <div key={turn}>
        <span className="soft">{voice_id}</span>
        <Lit text={input} marks={marks} word={word} turn={turn} />
      </div>
    ))
  )

interface LitProps {
  readonly text: string
  readonly marks: ReadonlyArray<WordMark>
  readonly word: number
  readonly turn?: number
}

/** The text, with the word that is heard now lit up and those that were heard in full colour. */
const Lit = ({ text, marks, word, turn }: LitProps) => {
  const pieces = useMemo(() => piecesOf(text, marks, turn), [text, marks, turn])
  return (
    <p className="lit">
      {pieces.map((piece, index) => (
        <Piece
          key={index}
          text={piece.text}
          word={piece.word}
          isPlayed={piece.word !== undefined && piece.word === word}
        />
      ))}
    </p>
  )
}

interface PieceProps {
  readonly text: string
  readonly word: number | undefined
  readonly isPlayed: boolean
}

const Piece = memo(({ text, word, isPlayed }: PieceProps) =>
  word === undefined ? (
    text
  ) : (
    <span data-word={word} className={isPlayed ? "heard" : ""} aria-current={isPlayed ? "true" : undefined}>
      {text}
    </span>
  )
)

const heightPx = 64
const barPx = 3

/** The loudness of the sound, and where in it the ear is. */
const Waveform = ({ player, isRunning }: { readonly player: Player; readonly isRunning: boolean }) => {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    let frame = 0
    const draw = () => {
      if (canvas.current !== null) drawWave(canvas.current, player)
      if (isRunning) frame = requestAnimationFrame(draw)
    }
    draw()
    const redraw = new ResizeObserver(draw)
    if (canvas.current !== null) redraw.observe(canvas.current)
    return () => {
      cancelAnimationFrame(frame)
      redraw.disconnect()
    }
  }, [player, isRunning])
  return <canvas ref={canvas} className="wave" role="img" aria-label="Loudness of the sound over time" />
}

const drawWave = (canvas: HTMLCanvasElement, player: Player) => {
  const context = canvas.getContext("2d")
  if (context === null) return
  const { peaks } = player
  const widthPx = canvas.clientWidth
  canvas.width = widthPx * devicePixelRatio
  canvas.height = heightPx * devicePixelRatio
  context.scale(devicePixelRatio, devicePixelRatio)
  const { color, accentColor } = getComputedStyle(canvas)
  const bars = Math.max(1, Math.floor(widthPx / barPx))
  const peaksPerBar = Math.max(1, peaks.length / bars)
  const playedPeaks = ((player.playedMs() ?? 0) * sampleRateHz) / 1_000 / peakSamples
  for (let bar = 0; bar < bars && bar * peaksPerBar < peaks.length; bar++) {
    const from = Math.floor(bar * peaksPerBar)
    const peak = Math.max(...peaks.slice(from, Math.max(from + 1, Math.floor((bar + 1) * peaksPerBar))))
    const tallPx = Math.max(1, peak * heightPx)
    context.fillStyle = from <= playedPeaks ? accentColor : color
    context.fillRect(bar * barPx, (heightPx - tallPx) / 2, barPx - 1, tallPx)
  }
}

const second = (ms: number) => `${(ms / 1_000).toFixed(3)} s`
const shownMax = 200

const Marks = ({ marks }: { readonly marks: ReadonlyArray<WordMark> }) => {
  const [isWhole, setWhole] = useState(false)
  if (marks.length === 0) return null
  return (
    <details>
      <summary>{marks.length} marks</summary>
      <Table
        label="Marks of the words"
        rows={[...marks.entries()].slice(0, isWhole ? marks.length : shownMax)}
        keyOf={([index]) => String(index)}
        columns={[
          { title: "Word", cell: ([, mark]) => mark.value },
          { title: "Begins", cell: ([, mark]) => second(mark.start_time), isNumber: true },
          { title: "Ends", cell: ([, mark]) => second(mark.end_time), isNumber: true },
          { title: "Place", cell: ([, mark]) => `${mark.start}–${mark.end}`, isNumber: true, isMinor: true }
        ]}
      />
      {isWhole || marks.length <= shownMax ? null : (
        <Button kind="bare" onClick={() => setWhole(true)}>
          {marks.length - shownMax} more
        </Button>
      )}
    </details>
  )
}
