/** Speech in one click: a sentence, its words lit up while they sound, its time to the first byte. */
import "./speech.css"
import { useMay, useSession } from "../../api/signed-in.ts"
import { Button } from "../../design/Button.tsx"
import { Sounding } from "./Sounding.tsx"
import { firstText } from "./SpeakForm.tsx"
import { useSpeaking } from "./speaking.ts"

export const SpeakCard = () => {
  const { apis } = useSession()
  const may = useMay("audio:stream")
  const { speaking, speak, stop } = useSpeaking()
  const order = { kind: "text", hasMarks: true, request: { input: firstText, voice_id: "selma" } } as const
  return (
    <section className="card" aria-label="Speak">
      <h2>Speak</h2>
      {apis.includes("speech") ? null : <p className="soft">This fleet has no speech-api.</p>}
      {speaking.order === undefined ? <p className="soft">Text is spoken as it is written, word by word.</p> : null}
      <Sounding speaking={speaking} onStop={stop} isShort />
      <div className="row">
        <Button
          kind="main"
          notNow={may && apis.includes("speech") ? undefined : "Your token lacks the scope audio:speech."}
          onClick={() => speak(order)}
        >
          Speak a sentence
        </Button>
        <a href="#/speech">All of Speech</a>
      </div>
    </section>
  )
}
