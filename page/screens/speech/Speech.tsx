import "./speech.css"
import { useLocation } from "wouter"
import { get } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { useMay, useSession } from "../../api/signed-in.ts"
import { Head, Tabs } from "../../design/Head.tsx"
import { Empty } from "../../design/Said.tsx"
import { countOf, duration } from "../../design/words.ts"
import { Clone } from "./Clone.tsx"
import { Dialogue } from "./Dialogue.tsx"
import { SpeakForm } from "./SpeakForm.tsx"
import { Voices } from "./Voices.tsx"

const tabs = [
  { path: "/speech", title: "Speak", Part: SpeakForm },
  { path: "/speech/dialogue", title: "Dialogue", Part: Dialogue },
  { path: "/speech/voices", title: "Voices", Part: Voices },
  { path: "/speech/clone", title: "Clone a voice", Part: Clone }
] as const

/** Text to speech: speak, look at voices, clone one. */
const Speech = () => {
  const { apis } = useSession()
  const [location] = useLocation()
  const here = tabs.find(({ path }) => path === location) ?? tabs[0]
  return (
    <>
      <Head title="Speech">
        <Now />
      </Head>
      {apis.includes("speech") ? (
        <>
          <Tabs
            label="Parts of Speech"
            tabs={tabs.map(({ path, title }) => ({ title, href: `#${path}`, isHere: path === here.path }))}
          />
          <here.Part />
        </>
      ) : (
        <Empty title="Speech is not enabled in this fleet">
          <p>
            Add <code>speech-api</code>, <code>speech-sequencer</code> and <code>speech-synthesizer</code> to its roles.
          </p>
        </Empty>
      )}
    </>
  )
}

/** Who speaks now, and how soon callers hear something. */
const Now = () => {
  const may = useMay("console:read")
  return may ? <Figures /> : null
}

const Figures = () => {
  const { value } = useResource("speech figures", (signal) => get("/speech", { signal }), { everyMs: 5_000 })
  if (value === undefined) return null
  const firstByteMs = value.processes.map(({ firstByteMedianMs }) => firstByteMedianMs).find((ms) => ms !== null)
  const underruns = value.processes.reduce((sum, process) => sum + process.underruns, 0)
  return (
    <p className="soft">
      {value.sessions} spoken now
      {firstByteMs == null ? null : ` · first byte ${duration(firstByteMs)} (median of five minutes)`}
      {` · ${countOf(underruns, "underrun")}`}
    </p>
  )
}

export default Speech
