/** Speaks a text: the form, the words while they sound, and the same as code. */
import { useEffect, useMemo, useRef, useState } from "react"
import { useMay } from "../../api/signed-in.ts"
import { Button } from "../../design/Button.tsx"
import { Field } from "../../design/Field.tsx"
import { notNowIf } from "../../design/not-now.ts"
import { Fault, Loading } from "../../design/Said.tsx"
import { Snippets } from "../../design/Snippets.tsx"
import { speechSnippets } from "./snippets.ts"
import { Sounding } from "./Sounding.tsx"
import { orderFor, type SpeechOrder } from "./order.ts"
import { useSpeaking } from "./speaking.ts"
import { useSpeechModels, useVoices, type Voice } from "./voices.ts"

export const firstText = "Hello there. Each word lights up while you hear it, by the clock of the sound itself."

const charactersMax = 20_000

export const SpeakForm = () => {
  const voices = useVoices()
  const models = useSpeechModels()
  const may = useMay("audio:stream")
  const { speaking, speak, stop } = useSpeaking()
  const [input, setInput] = useState(firstText)
  const [voice, setVoice] = useState("selma")
  const [model, setModel] = useState("")

  const chosen = models.value?.models.find(({ id }) => id === model)
  const hasMarks = chosen === undefined || chosen.endpoints.some((path) => path.endsWith("/with-timestamps"))
  const speaker = voices.value?.find(({ id }) => id === voice)
  const order = useMemo<SpeechOrder>(
    () => orderFor(speaker ?? { id: voice }, input, { hasMarks, model }),
    [speaker, hasMarks, input, voice, model]
  )
  const isRunning = speaking.phase === "waiting" || speaking.phase === "speaking"
  useSpace(() => (isRunning ? stop() : may && input.trim() !== "" ? speak(order) : undefined))
  if (voices.refused !== undefined && voices.value === undefined) {
    return <Fault refused={voices.refused} onAgain={voices.reload} />
  }
  if (voices.value === undefined) return <Loading what="the voices" />
  const spoken = voices.value.filter(({ models: each }) => model === "" || each.some(({ name }) => name === model))
  return (
    <div className="speech-desk">
      <form
        className="card"
        onSubmit={(event) => {
          event.preventDefault()
          speak(order)
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
          if (event.key === "Escape") stop()
        }}
      >
        <TextField input={input} onChange={setInput} />
        <Choices
          voices={spoken}
          models={models.value?.models ?? []}
          voice={voice}
          model={model}
          hasMarks={hasMarks}
          onVoice={setVoice}
          onModel={setModel}
        />
        <div className="row">
          <Button kind="main" type="submit" notNow={speaksLater(may, input)}>
            Speak
          </Button>
        </div>
      </form>
      <div className="card">
        {speaking.order === undefined ? (
          <p className="soft">
            What you speak appears here, word by word, with its waveform and its time to the first byte.
          </p>
        ) : (
          <Sounding speaking={speaking} onStop={stop} />
        )}
      </div>
      <Snippets label="Code for this request" snippets={speechSnippets(order)} />
    </div>
  )
}

const speaksLater = (may: boolean, input: string) =>
  notNowIf([!may, "Your token lacks the scope audio:stream."], [input.trim() === "", "Write a text first."])

const TextField = ({ input, onChange }: { readonly input: string; readonly onChange: (text: string) => void }) => (
  <Field
    label="Text"
    hint={`Plain text, or SSML that begins with <speak>. ${input.length} of ${charactersMax} characters. Ctrl+Enter speaks, Escape stops; so does the space bar outside of it.`}
  >
    {(given) => (
      <textarea
        {...given}
        rows={5}
        maxLength={charactersMax}
        value={input}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
)

interface ChoicesProps {
  readonly voices: ReadonlyArray<Voice>
  readonly models: ReadonlyArray<{ readonly id: string; readonly name: string }>
  readonly voice: string
  /** Empty for the default. */
  readonly model: string
  readonly hasMarks: boolean
  readonly onVoice: (id: string) => void
  readonly onModel: (id: string) => void
}

const Choices = ({ voices, models, voice, model, hasMarks, onVoice, onModel }: ChoicesProps) => (
  <div className="filters">
    <Field label="Voice" hint="Voices has a sample of each.">
      {(given) => (
        <select {...given} value={voice} onChange={({ target }) => onVoice(target.value)}>
          {voices.map(({ id, display_name, locale }) => (
            <option key={id} value={id}>
              {display_name} · {locale}
            </option>
          ))}
        </select>
      )}
    </Field>
    <Field
      label="Model"
      hint={hasMarks ? "Includes the time of each word." : "Without word times: no word is highlighted."}
    >
      {(given) => (
        <select {...given} value={model} onChange={({ target }) => onModel(target.value)}>
          <option value="">The default</option>
          {models.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  </div>
)

/** The space bar, where nothing else takes it. */
const useSpace = (act: () => void) => {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTaken =
        event.target instanceof Element &&
        event.target.closest("input, textarea, select, button, a, summary, pre, dialog, [tabindex='0']")
      if (event.code !== "Space" || isTaken) return
      event.preventDefault()
      latest.current()
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [])
}
