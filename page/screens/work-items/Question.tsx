/** A question of an agent, answered where it stands. */
import { type FormEvent, useState } from "react"
import { pipeline } from "../../api/apis.ts"
import { Refused } from "../../api/client.ts"
import { useMay } from "../../api/signed-in.ts"
import { Act } from "../../design/Act.tsx"
import { Button } from "../../design/Button.tsx"
import { Field } from "../../design/Field.tsx"
import { Fault } from "../../design/Said.tsx"
import { Time } from "../../design/Time.tsx"
import type { WorkItem } from "./items.ts"

interface QuestionProps {
  readonly itemId: string
  readonly question: WorkItem["openQuestions"][number]
  readonly onAnswered: () => void
}

export const Question = ({ itemId, question, onAnswered }: QuestionProps) => {
  const may = useMay("pipeline:write")
  const { questionId, questionText, askedAt } = question
  const [answer, setAnswer] = useState("")
  const [refused, setRefused] = useState<Refused>()
  const params = { id: itemId }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    pipeline.post("/workitems/:id/answer", { questionId, answer }, { params }).then(onAnswered, (error: unknown) => {
      if (error instanceof Refused) setRefused(error)
    })
  }
  return (
    <form
      className="card question"
      aria-label="A question of the agent"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
      }}
    >
      <p className="soft">
        The agent asks, <Time at={askedAt} />:
      </p>
      <p className="as-written question-text">{questionText}</p>
      {may ? (
        <>
          <Field
            label="Your answer"
            hint="Sent to the agent as is; the item continues once its last question is answered. Ctrl+Enter sends."
          >
            {(given) => (
              <textarea {...given} rows={2} value={answer} onChange={({ target }) => setAnswer(target.value)} />
            )}
          </Field>
          {refused === undefined ? null : <Fault refused={refused} />}
          <div className="row">
            <Button kind="main" type="submit" notNow={answer.trim() === "" ? "Write an answer first." : undefined}>
              Answer
            </Button>
            <Act
              label="Dismiss"
              scope="pipeline:write"
              question="Dismiss the question?"
              run={(reason) =>
                pipeline.post("/workitems/:id/dismiss-question", { questionId, reason }, { params }).then(onAnswered)
              }
            >
              <p>The item continues without an answer; the agent gets the reason.</p>
            </Act>
          </div>
        </>
      ) : (
        <p className="soft">Your token cannot answer it.</p>
      )}
    </form>
  )
}
