/** Several voices that take turns in one sound. */
import { useMemo, useState } from "react"
import { useMay } from "../../api/signed-in.ts"
import { Button } from "../../design/Button.tsx"
import { Field } from "../../design/Field.tsx"
import { notNowIf } from "../../design/not-now.ts"
import { Fault, Loading } from "../../design/Said.tsx"
import { Snippets } from "../../design/Snippets.tsx"
import { speechSnippets } from "./snippets.ts"
import { Sounding } from "./Sounding.tsx"
import type { SpeechOrder } from "./order.ts"
import { useSpeaking } from "./speaking.ts"
import { useVoices, type Voice } from "./voices.ts"

interface DraftTurn {
  readonly key: number
  readonly voice_id: string
  readonly input: string
}

const firstTurns: ReadonlyArray<DraftTurn> = [
  { key: 0, voice_id: "selma", input: "Good morning. Did the night shift leave anything?" },
  { key: 1, voice_id: "roger", input: "Two questions and an open pull request." }
]
const turnsMax = 100

export const Dialogue = () => {
  const voices = useVoices()
  const may = useMay("audio:speech")
  const { speaking, speak, stop } = useSpeaking()
  const [turns, setTurns] = useState(firstTurns)
  const order = useMemo<SpeechOrder>(
    () => ({ kind: "dialogue", request: { turns: turns.map(({ voice_id, input }) => ({ voice_id, input })) } }),
    [turns]
  )
  if (voices.refused !== undefined && voices.value === undefined) {
    return <Fault refused={voices.refused} onAgain={voices.reload} />
  }
  if (voices.value === undefined) return <Loading what="the voices" />
  const change = (key: number, part: Partial<DraftTurn>) =>
    setTurns((all) => all.map((turn) => (turn.key === key ? { ...turn, ...part } : turn)))
  const add = () =>
    setTurns((all) => [
      ...all,
      { key: Math.max(...all.map(({ key }) => key)) + 1, voice_id: all.at(-2)?.voice_id ?? "selma", input: "" }
    ])
  return (
    <div className="speech-desk">
      <form
        className="card"
        onSubmit={(event) => {
          event.preventDefault()
          speak(order)
        }}
      >
        {turns.map((turn, index) => (
          <TurnFields
            key={turn.key}
            turn={turn}
            place={index + 1}
            voices={voices.value ?? []}
            isAlone={turns.length === 1}
            onChange={(part) => change(turn.key, part)}
            onRemove={() => setTurns((all) => all.filter(({ key }) => key !== turn.key))}
          />
        ))}
        <div className="row">
          <Button kind="main" type="submit" notNow={speaksLater(may, turns)}>
            Speak
          </Button>
          <Button
            onClick={add}
            notNow={turns.length >= turnsMax ? `A dialogue has at most ${turnsMax} turns.` : undefined}
          >
            Add a turn
          </Button>
        </div>
      </form>
      <div className="card">
        {speaking.order === undefined ? (
          <p className="soft">
            The dialogue arrives in one piece when it is finished; its words light up turn by turn.
          </p>
        ) : (
          <Sounding speaking={speaking} onStop={stop} />
        )}
      </div>
      <Snippets label="Code for this request" snippets={speechSnippets(order)} />
    </div>
  )
}

const speaksLater = (may: boolean, turns: ReadonlyArray<DraftTurn>) =>
  notNowIf(
    [!may, "Your token lacks the scope audio:speech."],
    [turns.some(({ input }) => input.trim() === ""), "Every turn needs a text."]
  )

interface TurnProps {
  readonly turn: DraftTurn
  /** From 1. */
  readonly place: number
  readonly voices: ReadonlyArray<Voice>
  readonly isAlone: boolean
  readonly onChange: (part: Partial<DraftTurn>) => void
  readonly onRemove: () => void
}

const TurnFields = ({ turn, place, voices, isAlone, onChange, onRemove }: TurnProps) => (
  <fieldset className="turn">
    <legend>Turn {place}</legend>
    <Field label="Voice">
      {(given) => (
        <select {...given} value={turn.voice_id} onChange={({ target }) => onChange({ voice_id: target.value })}>
          {voices.map(({ id, display_name }) => (
            <option key={id} value={id}>
              {display_name}
            </option>
          ))}
        </select>
      )}
    </Field>
    <Field label="Text">
      {(given) => (
        <textarea {...given} rows={2} value={turn.input} onChange={({ target }) => onChange({ input: target.value })} />
      )}
    </Field>
    <Button
      kind="bare"
      notNow={isAlone ? "A dialogue has at least one turn." : undefined}
      aria-label={`Remove turn ${place}`}
      onClick={onRemove}
    >
      Remove
    </Button>
  </fieldset>
)
