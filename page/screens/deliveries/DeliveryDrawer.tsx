/** One delivery whole: what was sent, what the signatures cover, and every attempt with its answer. */
import { useState } from "react"
import { addressWith, useFilters } from "../../address.ts"
import { type Answer, get, post } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { Act } from "../../design/Act.tsx"
import { CopyButton } from "../../design/Button.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { Facts } from "../../design/Facts.tsx"
import { Fault, Loading } from "../../design/Said.tsx"
import { Time, useNowMs } from "../../design/Time.tsx"
import { duration } from "../../design/words.ts"
import { endpointAddress } from "../../endpoint-addresses.ts"
import { whyNoAnswer } from "./answer.ts"
import { OutcomeBadge } from "./OutcomeBadge.tsx"

interface DeliveryDrawerProps {
  readonly deliveryId: string
  readonly onClose: () => void
  readonly onChanged: () => void
}

// A line is written when its attempt has ended.
const everyMs = 2_000

export const DeliveryDrawer = ({ deliveryId, onClose, onChanged }: DeliveryDrawerProps) => {
  const { values } = useFilters(["near"])
  const [sentAs, setSentAs] = useState<string>()
  const near = values.near === "" ? {} : { near: values.near }
  const { value, refused, reload } = useResource(
    `delivery ${deliveryId} ${values.near}`,
    (signal) => get("/deliveries/:deliveryId", { params: { deliveryId }, query: near, signal }),
    { everyMs }
  )
  const resend = async (reason: string) => {
    const answer = await post("/deliveries/:deliveryId/resend", { reason, ...near }, { params: { deliveryId } })
    setSentAs(answer.deliveryId)
    onChanged()
  }
  return (
    <Drawer
      kind="drawer wide"
      title={value === undefined ? "Delivery" : `${value.event} → ${value.endpoint}`}
      onClose={onClose}
    >
      {refused === undefined ? null : <Fault refused={refused} onAgain={reload} />}
      {value === undefined && refused === undefined ? <Loading what="the delivery" /> : null}
      {value === undefined ? null : (
        <>
          <div className="actions">
            <Act label="Send again" kind="main" scope="console:write" question="Send it again?" run={resend}>
              <p>
                <strong>{value.endpoint}</strong> gets the same event once more, as a new delivery that names this one.
              </p>
            </Act>
            <CopyButton label="Copy link" text={location.href} what="the link to this delivery" />
          </div>
          {sentAs === undefined ? null : (
            <p role="status">
              Sent again as <a href={`#/deliveries/${sentAs}`}>{sentAs.slice(0, 8)}</a>.
            </p>
          )}
          <DeliveryFacts delivery={value} />
        </>
      )}
    </Drawer>
  )
}

type Delivery = Answer<"GET", "/deliveries/:deliveryId">
type Attempt = Delivery["attempts"][number]

const DeliveryFacts = ({ delivery }: { readonly delivery: Delivery }) => {
  const { deliveryId, endpoint, event, eventSequence, attempts, isComplete, nextAttemptAt, body, signedTexts } =
    delivery
  return (
    <>
      <Facts
        facts={[
          ["Delivery", <code key="id">{deliveryId}</code>],
          [
            "Endpoint",
            <a key="to" href={`#${endpointAddress(endpoint)}`}>
              {endpoint}
            </a>
          ],
          [
            "Event",
            <a key="event" href={`#/events/${eventSequence}`}>
              {event}, {eventSequence}
            </a>
          ],
          ["Next attempt", nextAttemptAt === null ? null : <Countdown key="next" at={nextAttemptAt} />]
        ]}
      />
      {isComplete ? null : <p className="soft">An attempt is missing: it is older than the log, or not logged yet.</p>}
      <h3>Attempts</h3>
      <ol className="attempts" reversed>
        {attempts.toReversed().map((attempt) => (
          <AttemptCard key={attempt.place} attempt={attempt} />
        ))}
      </ol>
      <h3>Body as sent {body === null ? null : <CopyButton text={body} what="the body" />}</h3>
      <pre className="code-wrap" tabIndex={0}>
        {body ?? "Not shown: your token lacks payloads:read, or the event is past its retention."}
      </pre>
      {signedTexts === null ? null : <Signed texts={signedTexts} />}
    </>
  )
}

/** Until then, to the second. */
const Countdown = ({ at }: { readonly at: string }) => {
  const now = useNowMs()
  return Date.parse(at) > now ? <Time at={at} /> : <>due now</>
}

const AttemptCard = ({ attempt }: { readonly attempt: Attempt }) => {
  const { attempt: number, startedAt, durationMs, requestHeaders, responseHeaders, responseBody } = attempt
  const why = whyNoAnswer(attempt)
  return (
    <li className="attempt">
      <div className="row">
        <strong>{number}</strong>
        <OutcomeBadge row={attempt} />
        <span className="soft">
          <Time at={startedAt} />, took {duration(durationMs)}
        </span>
      </div>
      {why === undefined ? null : <p className="soft">{why}</p>}
      <Headers title="Request headers" headers={requestHeaders} />
      <Headers title="Response headers" headers={responseHeaders} />
      {responseBody === null || responseBody === "" ? null : (
        <>
          <h4>Response body, first kilobyte</h4>
          <pre tabIndex={0}>{responseBody}</pre>
        </>
      )}
    </li>
  )
}

const Headers = ({ title, headers }: { readonly title: string; readonly headers: Attempt["requestHeaders"] }) =>
  headers === null || Object.keys(headers).length === 0 ? null : (
    <details>
      <summary>
        {title} ({Object.keys(headers).length})
      </summary>
      <pre tabIndex={0}>
        {Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join("\n")}
      </pre>
    </details>
  )

const Signed = ({ texts }: { readonly texts: Readonly<Record<string, string>> }) => (
  <section className="form" aria-label="Signatures">
    <h3>What the signatures cover</h3>
    <p className="soft">The key is the endpoint's secret. Compare your own calculation over exactly these bytes.</p>
    {Object.entries(texts).map(([header, text]) => (
      <details key={header}>
        <summary>
          <code>{header}</code>
        </summary>
        <CopyButton text={text} what={`the text under ${header}`} />
        <pre className="code-wrap" tabIndex={0}>
          {text}
        </pre>
      </details>
    ))}
  </section>
)

/** The attempts to one endpoint, the newest first. */
export const attemptsLink = (endpoint: string) => `#${addressWith("/deliveries", { endpoint })}`
