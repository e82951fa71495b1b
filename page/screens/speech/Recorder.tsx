/** Records from the microphone, or takes a file; gives a WAV that any part of the fleet can read. */
import { useEffect, useRef, useState } from "react"
import { Button } from "../../design/Button.tsx"
import { samplesOfFloats, wavOf } from "./pcm.ts"

export interface Recording {
  readonly wav: Blob
  readonly seconds: number
  /** The loudest sample, 0 to 1. */
  readonly peak: number
}

interface RecorderProps {
  readonly label: string
  /** What the API takes; recording ends by itself at its end. */
  readonly secondsMin: number
  readonly secondsMax: number
  readonly recording: Recording | undefined
  readonly onRecorded: (recording: Recording) => void
}

/** Enough for speech; the fleet measures voices at this rate. */
const rateHz = 24_000

export const Recorder = ({ label, secondsMin, secondsMax, recording, onRecorded }: RecorderProps) => {
  const [trouble, setTrouble] = useState<string>()
  const [seconds, setSeconds] = useState<number>()
  const running = useRef<MediaRecorder>(undefined)
  useEffect(() => () => running.current?.stop(), [])

  const take = (bytes: Blob) =>
    decode(bytes).then(onRecorded, () => setTrouble("The browser cannot read this sound: try a WAV, MP3 or Ogg file."))

  const record = async () => {
    setTrouble(undefined)
    // Echo and noise suppression change a voice.
    const wanted = { audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false } }
    const stream = await navigator.mediaDevices.getUserMedia(wanted).catch(() => undefined)
    if (stream === undefined) return setTrouble("No microphone: allow it in the browser or choose a file.")
    const recorder = new MediaRecorder(stream)
    running.current = recorder
    const parts: Array<Blob> = []
    const began = performance.now()
    const timer = setInterval(() => {
      const now = (performance.now() - began) / 1_000
      setSeconds(now)
      if (now >= secondsMax - 0.5) recorder.stop()
    }, 100)
    recorder.addEventListener("dataavailable", ({ data }) => parts.push(data))
    recorder.addEventListener("stop", () => {
      clearInterval(timer)
      setSeconds(undefined)
      running.current = undefined
      for (const track of stream.getTracks()) track.stop()
      void take(new Blob(parts, { type: recorder.mimeType }))
    })
    recorder.start()
  }

  return (
    <div className="recorder">
      <div className="row">
        {seconds === undefined ? (
          <Button onClick={() => void record()}>{recording === undefined ? "Record" : "Record again"}</Button>
        ) : (
          <Button kind="main" onClick={() => running.current?.stop()}>
            Stop recording
          </Button>
        )}
        <label className="button">
          Choose a file
          <input
            className="hidden-file"
            type="file"
            accept="audio/*"
            aria-label={`${label}: a file`}
            onChange={({ target }) => {
              setTrouble(undefined)
              const file = target.files?.[0]
              if (file !== undefined) void take(file)
            }}
          />
        </label>
        <span role="status">
          {seconds === undefined ? saidOf(recording, { secondsMin, secondsMax }) : `${seconds.toFixed(1)} s`}
        </span>
      </div>
      {trouble === undefined ? null : <p role="alert">{trouble}</p>}
    </div>
  )
}

type Bounds = Pick<RecorderProps, "secondsMin" | "secondsMax">

export const isGood = ({ seconds, peak }: Recording, { secondsMin, secondsMax }: Bounds) =>
  seconds >= secondsMin && seconds <= secondsMax && peak > 0.02 && peak < 0.999

const saidOf = (recording: Recording | undefined, { secondsMin, secondsMax }: Bounds): string => {
  if (recording === undefined) return `${secondsMin} to ${secondsMax} seconds`
  const { seconds, peak } = recording
  const length = `${seconds.toFixed(1)} s`
  if (seconds < secondsMin) return `${length}: too short, ${secondsMin} s are needed`
  if (seconds > secondsMax) return `${length}: too long, ${secondsMax} s are taken`
  if (peak <= 0.02) return `${length}: silent; come closer to the microphone`
  if (peak >= 0.999) return `${length}: clipped; speak more softly`
  return `${length}: good`
}

/** To one channel and one rate, whatever the browser has recorded. */
const decode = async (bytes: Blob): Promise<Recording> => {
  const context = new OfflineAudioContext(1, 1, rateHz)
  const sound = await context.decodeAudioData(await bytes.arrayBuffer())
  const floats = sound.getChannelData(0)
  let peak = 0
  for (const value of floats) peak = Math.max(peak, Math.abs(value))
  const wav = new Blob([wavOf([samplesOfFloats(floats)], rateHz)], { type: "audio/wav" })
  return { wav, seconds: sound.duration, peak }
}
