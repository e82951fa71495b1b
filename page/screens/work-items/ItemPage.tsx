/** One work item: what it waits for, where it stands, and all that happened to it. */
import { useState } from "react"
import { pipeline } from "../../api/apis.ts"
import { Refused } from "../../api/client.ts"
import { useMay } from "../../api/signed-in.ts"
import { Act } from "../../design/Act.tsx"
import { Badge } from "../../design/Badge.tsx"
import { Button } from "../../design/Button.tsx"
import { Facts } from "../../design/Facts.tsx"
import { Head } from "../../design/Head.tsx"
import { Fault, Loading } from "../../design/Said.tsx"
import { Time } from "../../design/Time.tsx"
import { hasEnded, placeOf } from "./board.ts"
import { useItem, type WorkItem } from "./items.ts"
import { Question } from "./Question.tsx"
import { Timeline } from "./Timeline.tsx"

export const ItemPage = ({ id }: { readonly id: string }) => {
  const { value, refused, reload } = useItem(id)
  if (value === undefined) {
    return refused === undefined ? <Loading what="the work item" /> : <Fault refused={refused} onAgain={reload} />
  }
  const { item, records, isComplete } = value
  const { tone, words } = placeOf(item.state)
  return (
    <>
      <p className="soft">
        <a href="#/work-items">Work items</a>
      </p>
      <Head title={item.title}>
        <Badge tone={tone}>{words}</Badge>
        <Acts item={item} onDone={reload} />
      </Head>
      {refused === undefined ? null : <Fault refused={refused} onAgain={reload} />}
      {item.openQuestions.map((question) => (
        <Question key={question.questionId} itemId={id} question={question} onAnswered={reload} />
      ))}
      {item.lastError === null ? null : (
        <p className="item-trouble">
          <strong>Last error:</strong> {item.lastError}
        </p>
      )}
      <div className="item">
        <Timeline id={id} records={records} isComplete={isComplete} />
        <ItemFacts item={item} />
      </div>
    </>
  )
}

const ItemFacts = ({ item }: { readonly item: WorkItem }) => {
  const { running, usageTotal, pullRequest } = item
  return (
    <aside className="card" aria-label="Status">
      <h2>Status</h2>
      <Facts
        facts={Object.entries({
          Phase: item.phase,
          Runner:
            running === null ? null : (
              <>
                {running.runner}: {running.phase} {running.iteration} with {running.agent}, last heard{" "}
                <Time at={running.lastProgressAt} />
              </>
            ),
          "Not before": item.notBefore === null ? null : <Time at={item.notBefore} />,
          "Tried again": item.retryAt === null ? null : <Time at={item.retryAt} />,
          "Quota resets": item.quotaResetAt === null ? null : <Time at={item.quotaResetAt} />,
          Project: item.project.displayName,
          Agent: item.agent,
          Kind: item.kind,
          Priority: String(item.priority),
          Branch: <code>{item.workBranch}</code>,
          From: <code>{item.baseBranch}</code>,
          Commit: item.commitSha === null ? null : <code>{item.commitSha}</code>,
          "Merged as": item.mergeSha === null ? null : <code>{item.mergeSha}</code>,
          "Pull request":
            pullRequest === null ? null : (
              <a href={pullRequest.url} rel="noreferrer" target="_blank">
                {pullRequest.number}
              </a>
            ),
          Cost: usageTotal === undefined ? null : `${usageTotal.costUsd.toFixed(4)} USD`,
          Tokens: usageTotal === undefined ? null : `${usageTotal.tokensInput} in, ${usageTotal.tokensOutput} out`,
          Created: <Time at={item.createdAt} />,
          "Your id": item.externalId,
          Id: <code>{item.id}</code>
        })}
      />
      {item.instructions === null ? null : (
        <details>
          <summary>Instructions</summary>
          <p className="as-written">{item.instructions}</p>
        </details>
      )}
    </aside>
  )
}

const Acts = ({ item, onDone }: { readonly item: WorkItem; readonly onDone: () => void }) => {
  const params = { id: item.id }
  const isOver = hasEnded(item.state) ? "It has ended." : undefined
  return (
    <>
      {item.state === "Cancelled" ? (
        <Resume id={item.id} onDone={onDone} />
      ) : (
        <Act
          label="Cancel"
          scope="pipeline:write"
          question={`Cancel ${item.title}?`}
          kind="danger"
          notNow={isOver}
          run={(reason) => pipeline.remove("/workitems/:id", { params, query: { reason } }).then(onDone)}
        >
          <p>Its runner is stopped, and the event carries the reason. A cancelled item can be resumed.</p>
        </Act>
      )}
      <Act
        label="Delegate"
        scope="pipeline:write"
        question={`Delegate ${item.title}?`}
        notNow={isOver}
        run={(reason) => pipeline.post("/workitems/:id/delegate", { reason }, { params }).then(onDone)}
      >
        <p>It goes to whoever takes delegated items; its iterations start over.</p>
      </Act>
    </>
  )
}

/** It takes up the phase in which it was cancelled; nobody asks why. */
const Resume = ({ id, onDone }: { readonly id: string; readonly onDone: () => void }) => {
  const may = useMay("pipeline:write")
  const [refused, setRefused] = useState<Refused>()
  const resume = () =>
    pipeline.post("/workitems/:id/resume", undefined as never, { params: { id } }).then(onDone, (error: unknown) => {
      if (error instanceof Refused) setRefused(error)
    })
  if (!may) return null
  return (
    <>
      <Button kind="main" onClick={() => void resume()}>
        Resume
      </Button>
      {refused === undefined ? null : <Fault refused={refused} />}
    </>
  )
}
