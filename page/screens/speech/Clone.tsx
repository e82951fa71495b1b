/** Clones a voice in three steps: who speaks, their consent read aloud, a sample of their voice. */
import { type FormEvent, useState } from "react"
import { bases, speech, type SpeechAnswer } from "../../api/apis.ts"
import { call, Refused } from "../../api/client.ts"
import { useMay } from "../../api/signed-in.ts"
import { Button } from "../../design/Button.tsx"
import { Field } from "../../design/Field.tsx"
import { notNowIf } from "../../design/not-now.ts"
import { Empty, Fault } from "../../design/Said.tsx"
import { Time } from "../../design/Time.tsx"
import { isGood, Recorder, type Recording } from "./Recorder.tsx"
import { sentenceFor, type Voice } from "./voices.ts"
import { useSpeaking } from "./speaking.ts"

type Challenge = SpeechAnswer<"POST", "/v1/voices/consent-challenges">

const consentSeconds = { secondsMin: 5, secondsMax: 30 } as const
const sampleSeconds = { secondsMin: 10, secondsMax: 30 } as const
const locales = ["en-US", "en-GB", "de-DE", "es-ES", "es-MX", "fr-FR", "it-IT", "pt-BR"] as const

export const Clone = () => {
  const may = useMay("voices:create")
  const [challenge, setChallenge] = useState<Challenge>()
  const [voice, setVoice] = useState<Voice>()
  if (!may) {
    return (
      <Empty title="Your token cannot clone voices">
        <p>
          It lacks the scope <code>voices:create</code>. Its owner can make one that has it, under Tokens.
        </p>
      </Empty>
    )
  }
  if (voice !== undefined) return <Cloned voice={voice} onAgain={() => setVoice(undefined)} />
  return challenge === undefined ? (
    <Who onChallenge={setChallenge} />
  ) : (
    <Recordings
      key={challenge.id}
      challenge={challenge}
      onCloned={(made) => {
        setChallenge(undefined)
        setVoice(made)
      }}
      onAgain={() => setChallenge(undefined)}
    />
  )
}

const Who = ({ onChallenge }: { readonly onChallenge: (challenge: Challenge) => void }) => {
  const [name, setName] = useState("")
  const [refused, setRefused] = useState<Refused>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    speech.post("/v1/voices/consent-challenges", { full_name: name }).then(onChallenge, (error: unknown) => {
      if (error instanceof Refused) setRefused(error)
    })
  }
  return (
    <form className="card narrow" onSubmit={submit}>
      <h2>1 of 3: who speaks</h2>
      <p>
        A voice is cloned only with its speaker's recorded consent. They get a phrase to read; nobody else can read it
        for them.
      </p>
      <Field
        label="Full name of the speaker"
        hint="Stored with the record of consent."
        fault={refused?.refusal.faults["full_name"]}
      >
        {(given) => (
          <input {...given} value={name} autoComplete="name" onChange={({ target }) => setName(target.value)} />
        )}
      </Field>
      {refused === undefined ? null : <Fault refused={refused} />}
      <Button
        kind="main"
        type="submit"
        notNow={name.trim() === "" ? "Enter the speaker's full name first." : undefined}
      >
        Get the phrase
      </Button>
    </form>
  )
}

interface RecordingsProps {
  readonly challenge: Challenge
  readonly onCloned: (voice: Voice) => void
  /** A challenge is good for one try. */
  readonly onAgain: () => void
}

const Recordings = ({ challenge, onCloned, onAgain }: RecordingsProps) => {
  const [consent, setConsent] = useState<Recording>()
  const [sample, setSample] = useState<Recording>()
  const [name, setName] = useState("")
  const [gender, setGender] = useState("not_specified")
  const [locale, setLocale] = useState<string>("en-US")
  const [state, setState] = useState<"open" | "sending" | Refused>("open")
  const isReady =
    consent !== undefined && sample !== undefined && isGood(consent, consentSeconds) && isGood(sample, sampleSeconds)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (consent === undefined || sample === undefined) return
    setState("sending")
    createVoice({ challenge, consent, sample, name, gender, locale }).then(onCloned, (error: unknown) =>
      setState(error instanceof Refused ? error : "open")
    )
  }
  return (
    <form className="card narrow" onSubmit={submit}>
      <h2>2 of 3: the consent, read aloud</h2>
      <blockquote className="phrase">{challenge.phrase}</blockquote>
      <p className="soft">
        It is good for one try, until <Time at={challenge.expires_at} />.
      </p>
      <Recorder label="Consent" {...consentSeconds} recording={consent} onRecorded={setConsent} />
      <h2>3 of 3: a sample of the same voice</h2>
      <p>Clean speech without music or other voices. Any text will do.</p>
      <Recorder label="Sample" {...sampleSeconds} recording={sample} onRecorded={setSample} />
      <VoiceFields {...{ name, setName, gender, setGender, locale, setLocale }} />
      {state instanceof Refused ? (
        <>
          <Fault refused={state} />
          <p>A rejected attempt uses up the phrase.</p>
        </>
      ) : null}
      <div className="row">
        <Button kind="main" type="submit" disabled={state === "sending"} notNow={sendsLater(isReady, name)}>
          {state === "sending" ? "Listening to both …" : "Clone the voice"}
        </Button>
        <Button kind="bare" onClick={onAgain}>
          Begin again
        </Button>
      </div>
    </form>
  )
}

interface VoiceFieldsProps {
  readonly name: string
  readonly setName: (name: string) => void
  readonly gender: string
  readonly setGender: (gender: string) => void
  readonly locale: string
  readonly setLocale: (locale: string) => void
}

const VoiceFields = ({ name, setName, gender, setGender, locale, setLocale }: VoiceFieldsProps) => (
  <div className="filters">
    <Field label="Name of the voice">
      {(given) => <input {...given} maxLength={100} value={name} onChange={({ target }) => setName(target.value)} />}
    </Field>
    <Field label="Gender">
      {(given) => (
        <select {...given} value={gender} onChange={({ target }) => setGender(target.value)}>
          <option value="not_specified">not specified</option>
          <option value="female">female</option>
          <option value="male">male</option>
        </select>
      )}
    </Field>
    <Field label="Language">
      {(given) => (
        <select {...given} value={locale} onChange={({ target }) => setLocale(target.value)}>
          {locales.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      )}
    </Field>
  </div>
)

const sendsLater = (isReady: boolean, name: string) =>
  notNowIf([!isReady, "Record the consent and the sample first."], [name.trim() === "", "Give the voice a name first."])

interface NewVoice {
  readonly challenge: Challenge
  readonly consent: Recording
  readonly sample: Recording
  readonly name: string
  readonly gender: string
  readonly locale: string
}

const createVoice = ({ challenge, consent, sample, name, gender, locale }: NewVoice): Promise<Voice> => {
  const form = new FormData()
  form.set("name", name.trim())
  form.set("gender", gender)
  form.set("locale", locale)
  form.set("consent_challenge_id", challenge.id)
  // One try for one challenge, however often the network makes it be sent.
  form.set("idempotency_key", challenge.id)
  form.set("sample", sample.wav, "sample.wav")
  form.set("consent_recording", consent.wav, "consent.wav")
  return call("POST", `${bases.speech}/v1/voices`, { body: form })
}

const Cloned = ({ voice, onAgain }: { readonly voice: Voice; readonly onAgain: () => void }) => {
  const { speaking, speak } = useSpeaking()
  const request = { input: sentenceFor(voice.locale), voice_id: voice.id }
  return (
    <section className="card narrow">
      <h2>{voice.display_name} can speak</h2>
      <p>
        Its id is <code>{voice.id}</code>. It belongs to your workspace; the consent is kept with it.
      </p>
      {speaking.refused === undefined ? null : <Fault refused={speaking.refused} />}
      <div className="row">
        <Button kind="main" onClick={() => speak({ kind: "text", hasMarks: true, request })}>
          Hear it
        </Button>
        <Button onClick={onAgain}>Clone another</Button>
      </div>
    </section>
  )
}
