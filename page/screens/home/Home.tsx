/** The fleet at a glance, and its four jobs, each tried with one click. */
import { useSession } from "../../api/signed-in.ts"
import { Badge } from "../../design/Badge.tsx"
import { Head } from "../../design/Head.tsx"
import { NotRead } from "../../design/Said.tsx"
import { countOf, rate } from "../../design/words.ts"
import { type Frame, useFleet } from "../fleet/useFleet.ts"
import { PayCard } from "../models/PayCard.tsx"
import { SpeakCard } from "../speech/SpeakCard.tsx"
import { RunCard } from "../work-items/RunCard.tsx"
import { conditionsOf } from "../fleet/conditions.ts"
import { Conditions } from "../fleet/Conditions.tsx"
import { Histories } from "../history/Histories.tsx"
import { Timeline } from "../history/Timeline.tsx"
import "./home.css"
import { SendCard } from "./SendCard.tsx"

const Home = () => {
  const { frame, state } = useFleet()
  const { apis } = useSession()
  return (
    <>
      <Head title="Home">
        {frame === undefined ? (
          <Badge tone="quiet">{state === "cut off" ? "Disconnected" : "Loading"}</Badge>
        ) : (
          <Badge tone={frame.isReady ? "good" : "bad"}>{frame.isReady ? "All roles are up" : "Not ready"}</Badge>
        )}
      </Head>
      <div className="home">
        <div>
          {frame !== undefined ? <Glance frame={frame} /> : state === "cut off" ? <NotRead what="The fleet" /> : null}
          <div className="cards">
            <SendCard />
            {apis.includes("speech") ? <SpeakCard /> : null}
            {apis.includes("models") ? <PayCard /> : null}
            {apis.includes("pipeline") ? <RunCard /> : null}
          </div>
          <Histories heading="What the fleet does" kind="role" things={products} />
        </div>
        <Timeline shownMax={20} />
      </div>
    </>
  )
}

export default Home

const products = [
  { id: "webhook-dispatcher", title: "Deliveries", href: "#/deliveries" },
  { id: "model-gateway", title: "Model calls", href: "#/models" },
  { id: "speech-api", title: "Speech", href: "#/speech" },
  { id: "pipeline-api", title: "Commands", href: "#/work-items" }
]

const Glance = ({ frame }: { readonly frame: Frame }) => {
  const { roles, endpointCount, endpoints, breakersOpen } = frame
  const sum = (values: ReadonlyArray<number | null>) => values.reduce<number>((total, value) => total + (value ?? 0), 0)
  const conditions = conditionsOf(frame)
  return (
    <section className="glance" aria-label="Health">
      <p>
        <a href="#/fleet">{countOf(new Set(roles.map(({ role }) => role)).size, "role")}</a>,{" "}
        <a href="#/endpoints">{countOf(endpointCount, "endpoint")}</a>,{" "}
        <a href="#/deliveries">{rate(sum(endpoints.map(({ deliveredPerSecond }) => deliveredPerSecond)))} delivered</a>,{" "}
        {countOf(sum(endpoints.map(({ backlog }) => backlog)), "delivery", "deliveries")} waiting,{" "}
        {countOf(breakersOpen.length, "breaker")} open.
      </p>
      {conditions.length > 0 ? (
        <Conditions conditions={conditions} shownMax={3} />
      ) : !frame.conditions.isWhole ? (
        <p className="soft">Checking what needs attention …</p>
      ) : (
        <p className="soft">Nothing needs attention.</p>
      )}
    </section>
  )
}
