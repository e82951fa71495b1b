/** All that happened to an item, newest first: each fact in a sentence, and the events that were told of it. */
import { Badge } from "../../design/Badge.tsx"
import { Json } from "../../design/Json.tsx"
import { Time } from "../../design/Time.tsx"
import { type Fact, sayingOf } from "./facts.ts"
import type { HistoryRecord } from "./items.ts"

interface TimelineProps {
  readonly id: string
  readonly records: ReadonlyArray<HistoryRecord>
  readonly isComplete: boolean
}

export const Timeline = ({ id, records, isComplete }: TimelineProps) => (
  <section aria-label="What happened">
    <h2>What happened</h2>
    {isComplete ? null : <p className="soft">The first thousand records are shown.</p>}
    <ol className="timeline" reversed>
      {records.toReversed().map((record) => (
        <li key={record.sequence}>
          <p className="soft row">
            <Time at={record.at} />
            {record.events.map((event) => (
              <a key={event} href={`#/events?event=${event}&entity=workItem:${id}`}>
                {event}
              </a>
            ))}
          </p>
          {record.facts.map((fact, index) => (
            <FactLine key={index} fact={fact} />
          ))}
          <details>
            <summary className="soft">as it is in the log</summary>
            <Json value={record.facts} />
          </details>
        </li>
      ))}
    </ol>
  </section>
)

const FactLine = ({ fact }: { readonly fact: Fact }) => {
  const { words, tone, quote } = sayingOf(fact)
  return (
    <div className="fact">
      <Badge tone={tone}>{words}</Badge>
      {quote === undefined ? null : <p className="as-written">{quote}</p>}
    </div>
  )
}
