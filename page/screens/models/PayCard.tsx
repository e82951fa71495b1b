import "./models.css"
import { useSession } from "../../api/signed-in.ts"
import { Button } from "../../design/Button.tsx"
import { Answer } from "./Answer.tsx"
import { type ModelCall, useCalling } from "./calling.ts"
import { useModels } from "./models.ts"

/** A paid call in one click: its price, its answer, its receipt. */
export const PayCard = () => {
  const { apis } = useSession()
  return (
    <section className="card" aria-label="Pay for a call">
      <h2>Pay for a call</h2>
      {apis.includes("models") ? <Trial /> : <p className="soft">This fleet sells no models.</p>}
      <a href="#/models">All of Models</a>
    </section>
  )
}

const Trial = () => {
  const { paysForTrials } = useSession()
  const models = useModels()
  const { calling, quote, pay } = useCalling()
  const model = models.value?.find(({ billing_mode, streaming }) => billing_mode === "paid" && streaming)
  const call: ModelCall | undefined = model && {
    model: model.id,
    prompt: "Why is the sky blue?",
    maxTokens: 64,
    chain: "evm",
    isStreamed: true
  }
  const isRunning = calling.phase === "answering" || calling.phase === "quoting"
  return (
    <>
      {calling.call === undefined ? (
        <p className="soft">
          A model answers once the call is paid on a chain.
          {paysForTrials ? " The key is one of a local chain, and worthless." : " This console shows the price alone."}
        </p>
      ) : null}
      <div className="row">
        <Button
          kind="main"
          disabled={call === undefined || isRunning}
          onClick={() => call && (paysForTrials ? pay(call) : quote(call))}
        >
          {paysForTrials ? "Pay and ask" : "Get the price"}
        </Button>
      </div>
      <Answer calling={calling} pricing={model?.pricing} isShort />
    </>
  )
}
