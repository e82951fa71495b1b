/** Asks a model: its price first, then the answer, paid with the local test key. */
import { type FormEvent, useState } from "react"
import { useSession } from "../../api/signed-in.ts"
import { Button } from "../../design/Button.tsx"
import { Field } from "../../design/Field.tsx"
import { notNowIf } from "../../design/not-now.ts"
import { Snippets } from "../../design/Snippets.tsx"
import { Answer } from "./Answer.tsx"
import { type ModelCall, useCalling } from "./calling.ts"
import type { Model } from "./models.ts"
import { callSnippets } from "./snippets.ts"

interface PlaygroundProps {
  readonly models: ReadonlyArray<Model>
  readonly chosen: string
  readonly onChoose: (id: string) => void
}

const firstPrompt = "Why is the sky blue?"

export const Playground = ({ models, chosen, onChoose }: PlaygroundProps) => {
  const { paysForTrials } = useSession()
  const { calling, quote, pay, stop } = useCalling()
  const [prompt, setPrompt] = useState(firstPrompt)
  const [maxTokens, setMaxTokens] = useState(256)
  const [chain, setChain] = useState<ModelCall["chain"]>("evm")
  const model = models.find(({ id }) => id === chosen) ?? models[0]
  if (model === undefined) return null
  const call: ModelCall = { model: model.id, prompt, maxTokens, chain, isStreamed: model.streaming }
  const isFree = model.billing_mode === "free"
  const isRunning = calling.phase === "answering" || calling.phase === "quoting"
  // A quote is for one request alone.
  const isQuoted = calling.quote !== undefined && JSON.stringify(calling.call) === JSON.stringify(call)
  const lacksKey = isQuoted && !isFree && !paysForTrials
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isQuoted && paysForTrials && !isRunning) pay(call)
    else quote(call)
  }
  return (
    <section className="playground" aria-label="Playground">
      <form
        className="card"
        onSubmit={submit}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
        }}
      >
        <h2>Playground</h2>
        <Field label="Model" hint={model.description}>
          {(given) => (
            <select {...given} value={model.id} onChange={({ target }) => onChoose(target.value)}>
              {models.map(({ id }) => (
                <option key={id}>{id}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Prompt" hint="Ctrl+Enter asks.">
          {(given) => (
            <textarea {...given} rows={4} value={prompt} onChange={({ target }) => setPrompt(target.value)} />
          )}
        </Field>
        <Terms
          tokensMax={model.max_output}
          maxTokens={maxTokens}
          chain={chain}
          onMaxTokens={setMaxTokens}
          onChain={setChain}
        />
        <div className="row">
          <Button kind="main" type="submit" disabled={isRunning} notNow={asksLater(prompt, lacksKey)}>
            {isFree ? "Ask" : isQuoted ? "Pay with the local test key" : "Get the price"}
          </Button>
          <Stop isRunning={isRunning} onStop={stop} />
        </div>
        {paysForTrials || isFree ? null : <NoTrials />}
      </form>
      <div className="card">
        {calling.call === undefined ? <EmptyPlayground /> : <Answer calling={calling} pricing={model.pricing} />}
      </div>
      <Snippets
        label="Code for this request"
        snippets={callSnippets(call, isQuoted ? calling.quote?.accepts : undefined)}
      />
    </section>
  )
}

const Stop = ({ isRunning, onStop }: { readonly isRunning: boolean; readonly onStop: () => void }) => (
  <Button onClick={onStop} notNow={isRunning ? undefined : "No call is running."}>
    Stop
  </Button>
)

const asksLater = (prompt: string, lacksKey: boolean) =>
  notNowIf(
    [prompt.trim() === "", "Write a prompt first."],
    [lacksKey, "This console has no test key: pay with a wallet of your own."]
  )

interface TermsProps {
  /** What the model can answer at most. */
  readonly tokensMax: number
  readonly maxTokens: number
  readonly chain: ModelCall["chain"]
  readonly onMaxTokens: (count: number) => void
  readonly onChain: (chain: ModelCall["chain"]) => void
}

const Terms = ({ tokensMax, maxTokens, chain, onMaxTokens, onChain }: TermsProps) => (
  <div className="filters">
    <Field label="Longest answer" hint="In tokens; the price is for it.">
      {(given) => (
        <input
          {...given}
          type="number"
          min={1}
          max={Math.max(1, tokensMax)}
          value={maxTokens}
          onChange={({ target }) => onMaxTokens(Math.max(1, target.valueAsNumber || 1))}
        />
      )}
    </Field>
    <Field label="Chain" hint="Where it is paid.">
      {(given) => (
        <select {...given} value={chain} onChange={({ target }) => onChain(target.value as ModelCall["chain"])}>
          <option value="evm">EVM</option>
          <option value="solana">Solana</option>
        </select>
      )}
    </Field>
  </div>
)

const NoTrials = () => (
  <p className="soft">
    This console does not pay for trials: only a fleet of <code>./starling up</code> has a worthless key of a local
    chain. Pay with a wallet of your own, as the code below does, or with <code>./starling pay</code>.
  </p>
)

const EmptyPlayground = () => (
  <p className="soft">
    Here come the price, the answer word by word, its tokens and its receipt. Asking for the price costs nothing.
  </p>
)
