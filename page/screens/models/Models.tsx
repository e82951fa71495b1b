import "./models.css"
import { useState } from "react"
import { get } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { useMay, useSession } from "../../api/signed-in.ts"
import { Badge } from "../../design/Badge.tsx"
import { Button } from "../../design/Button.tsx"
import { Head } from "../../design/Head.tsx"
import { Empty, Fault, Loading } from "../../design/Said.tsx"
import { Table } from "../../design/Table.tsx"
import { count } from "../../design/words.ts"
import { Callers } from "./Callers.tsx"
import { Conditions } from "../fleet/Conditions.tsx"
import { conditionsOf } from "../fleet/conditions.ts"
import { dollars } from "./chat.ts"
import { type Model, useModels } from "./models.ts"
import { Playground } from "./Playground.tsx"
import type { ModelSeen } from "./uptime.ts"
import { NoUptimeYet, UptimeCell, UptimeDrawer, useUptimes } from "./Uptime.tsx"

/** The models that are sold by the call, and a place to try them. */
const Models = () => {
  const { apis } = useSession()
  return (
    <>
      <Head title="Models" />
      {apis.includes("models") ? (
        <Sold />
      ) : (
        <Empty title="No models are for sale in this fleet">
          <p>
            Add <code>model-gateway</code>, <code>payment-verifier</code> and <code>payment-settler</code> to its roles,
            and models to its configuration: docs/settings.md names each setting.
          </p>
        </Empty>
      )}
    </>
  )
}

// A breaker tries its provider again after some seconds.
const everyMs = 5_000

const useFleet = (mayLook: boolean) =>
  useResource("fleet of models", async (signal) => (mayLook ? get("/fleet", { signal }) : undefined), { everyMs }).value

const Sold = () => {
  const models = useModels()
  const mayLook = useMay("console:read")
  const uptimes = useUptimes(mayLook).value
  const fleet = useFleet(mayLook)
  const [chosen, setChosen] = useState("")
  const [opened, setOpened] = useState("")
  if (models.value === undefined) {
    return models.refused === undefined ? (
      <Loading what="the models" />
    ) : (
      <Fault refused={models.refused} onAgain={models.reload} />
    )
  }
  const tryOut = (id: string) => {
    setChosen(id)
    document.querySelector<HTMLElement>(".playground textarea")?.focus()
  }
  const shown = uptimes?.get(opened)
  const chats = models.value.filter(isChat)
  return (
    <div className="models">
      {fleet === undefined ? null : (
        <Conditions conditions={conditionsOf(fleet).filter(({ href }) => href === "#/models")} shownMax={3} />
      )}
      {isUncalled(uptimes) ? <NoUptimeYet /> : null}
      <List models={models.value} mayLook={mayLook} uptimes={uptimes} onOpen={setOpened} onTry={tryOut} />
      <Playground models={chats} chosen={chosen} onChoose={setChosen} />
      {fleet === undefined ? null : <Callers {...fleet} />}
      {shown === undefined ? null : <UptimeDrawer seen={shown} onClose={() => setOpened("")} />}
    </div>
  )
}

interface ListProps {
  readonly models: ReadonlyArray<Model>
  readonly mayLook: boolean
  readonly uptimes: ReadonlyMap<string, ModelSeen> | undefined
  readonly onOpen: (id: string) => void
  readonly onTry: (id: string) => void
}

const List = ({ models, mayLook, uptimes, onOpen, onTry }: ListProps) => (
  <Table
    label="Models"
    rows={models}
    keyOf={({ id }) => id}
    columns={[
      { title: "Model", cell: (model) => <Named model={model} /> },
      { title: "Price", cell: (model) => <Price model={model} /> },
      ...(mayLook
        ? [
            {
              title: "Uptime",
              cell: ({ id }: Model) => <UptimeCell seen={uptimes?.get(id)} onOpen={() => onOpen(id)} />
            }
          ]
        : []),
      {
        title: "Context, tokens",
        cell: ({ context_window }) => count(context_window),
        isNumber: true,
        isMinor: true
      },
      {
        title: "Longest answer, tokens",
        cell: ({ max_output }) => (max_output === 0 ? "–" : count(max_output)),
        isNumber: true,
        isMinor: "first"
      },
      { title: "For", cell: ({ categories }) => categories.join(", "), isMinor: "first" },
      {
        title: "Try",
        cell: (model) =>
          isChat(model) ? (
            <Button kind="bare" aria-label={`Try ${model.id}`} onClick={() => onTry(model.id)}>
              Try
            </Button>
          ) : (
            "API only"
          )
      }
    ]}
  />
)

/** Only answers in words have a longest one. */
const isChat = ({ max_output }: Model) => max_output > 0

const isUncalled = (uptimes: ReadonlyMap<string, ModelSeen> | undefined) =>
  uptimes !== undefined && uptimes.size > 0 && [...uptimes.values()].every(({ lastMonth }) => lastMonth.calls === 0)

const Named = ({ model: { id, description } }: { readonly model: Model }) => (
  <>
    <code>{id}</code>
    <span className="soft beneath minor">{description}</span>
  </>
)

const Price = ({ model: { billing_mode, pricing } }: { readonly model: Model }) => {
  if (billing_mode === "free") return <Badge tone="good">free</Badge>
  const [price, unit] =
    "flat" in pricing
      ? [dollars(pricing.flat), "per call"]
      : [`$${pricing.input} in, $${pricing.output} out`, "per million tokens"]
  return (
    <>
      {price}
      <span className="soft beneath unit">{unit}</span>
    </>
  )
}

export default Models
