/** One event whole: its envelope beside what the catalogue says of it, and who got it. */
import { useMemo } from "react"
import { addressWith } from "../../address.ts"
import { type Answer, get } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { useMay } from "../../api/signed-in.ts"
import { CopyButton } from "../../design/Button.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { Facts } from "../../design/Facts.tsx"
import { Json } from "../../design/Json.tsx"
import { Fault, Loading } from "../../design/Said.tsx"
import { Time } from "../../design/Time.tsx"
import { bytes } from "../../design/words.ts"
import { Trace } from "./Trace.tsx"

interface EventDrawerProps {
  readonly sequence: string
  readonly linkTo: (path: string) => string
  readonly onClose: () => void
}

export const EventDrawer = ({ sequence, linkTo, onClose }: EventDrawerProps) => {
  const { value, refused, reload } = useResource(`event ${sequence}`, (signal) =>
    get("/events/:sequence", { params: { sequence }, signal })
  )
  return (
    <Drawer kind="drawer wide" title={value === undefined ? `Event ${sequence}` : value.event} onClose={onClose}>
      <div className="row">
        <a href={linkTo(`/events/${Number(sequence) + 1}`)}>Newer</a>
        <a href={linkTo(`/events/${Math.max(1, Number(sequence) - 1)}`)}>Older</a>
        <CopyButton label="Copy link" text={location.href} what="the link to this event" />
      </div>
      {refused === undefined ? null : <Fault refused={refused} onAgain={reload} />}
      {value === undefined ? refused === undefined ? <Loading what="the event" /> : null : <EventFacts event={value} />}
    </Drawer>
  )
}

type Published = Answer<"GET", "/events/:sequence">

const EventFacts = ({
  event: { sequence, event, storedAt, entity, projectId, bytes: size, envelope }
}: {
  readonly event: Published
}) => {
  const catalogue = useResource(`catalogue ${event}`, (signal) =>
    get("/events/catalogue/:event", { params: { event }, signal })
  )
  const mayPublish = useMay("console:write")
  const value = useMemo(() => (envelope === null ? undefined : (JSON.parse(envelope) as unknown)), [envelope])
  return (
    <>
      <Facts
        facts={[
          ["Sequence", sequence],
          ["Published", <Time key="at" at={storedAt} />],
          ["About", entity === null ? null : <FilterLink key="about" name="entity" value={entity} />],
          ["Project", projectId === null ? null : <FilterLink key="project" name="projectId" value={projectId} />],
          ["Size", bytes(size)],
          ["Sent when", catalogue.value?.firedWhen ?? "This name is not in the catalogue."],
          [
            "Goes to",
            catalogue.value?.isProgress === true ? "Endpoints whose filter asks for it: it is a progress event." : null
          ]
        ]}
      />
      <h3>
        Who got it (<a href={`#${addressWith("/deliveries", { eventSequence: String(sequence) })}`}>every attempt</a>)
      </h3>
      <Trace sequence={sequence} storedAt={storedAt} />
      <div className="beside">
        <section aria-label="Envelope">
          <div className="row">
            <h3>Envelope</h3>
            {envelope === null ? null : <CopyButton text={envelope} what="the envelope" />}
          </div>
          {value === undefined ? (
            <p className="soft">Shown to tokens with the scope payloads:read.</p>
          ) : (
            <Json value={value} openLevels={3} />
          )}
        </section>
        <section aria-label="Schema">
          <h3>Schema</h3>
          {catalogue.value === undefined ? (
            <p className="soft">{catalogue.isLoading ? "Loading …" : "None: receivers take it as is."}</p>
          ) : (
            <Json value={catalogue.value.schema} openLevels={2} />
          )}
        </section>
      </div>
      {mayPublish && catalogue.value !== undefined ? (
        <p>
          <a href={`#${addressWith("/events/trigger", { event })}`}>Trigger one like it</a>
        </p>
      ) : null}
    </>
  )
}

const FilterLink = ({ name, value }: { readonly name: "entity" | "projectId"; readonly value: string }) => (
  <a href={`#${addressWith("/events", { [name]: value })}`}>{value}</a>
)
