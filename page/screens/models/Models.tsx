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
import { Conditions } from "../fleet/Conditions.tsx"
import { providersAway } from "../fleet/conditions.ts"
import { dollars } from "./chat.ts"
import { type Model, useModels } from "./models.ts"
import { Playground } from "./Playground.tsx"

/** The models that are sold by the call, and a place to try them. */
const Models = () => {
  const { apis } = useSession()
  return (
    <>
      <Head title="Models" />
      {apis.includes("models") ? (
        <Sold />
      ) : (
        <Empty title="This fleet sells no models">
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

/** Who does not answer now, and what to do about it. */
const Away = () => {
  const { value } = useResource("fleet of models", (signal) => get("/fleet", { signal }), { everyMs })
  return value === undefined ? null : <Conditions conditions={providersAway(value)} />
}

const Sold = () => {
  const models = useModels()
  const mayLook = useMay("console:read")
  const [chosen, setChosen] = useState("")
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
  const chats = models.value.filter(({ categories }) => !categories.includes("image"))
  return (
    <div className="models">
      {mayLook ? <Away /> : null}
      <Table
        label="Models"
        rows={models.value}
        keyOf={({ id }) => id}
        columns={[
          { title: "Model", cell: ({ id }) => <code>{id}</code> },
          { title: "Price", cell: (model) => <Price model={model} /> },
          {
            title: "Context",
            cell: ({ context_window }) => `${count(context_window)} tokens`,
            isNumber: true,
            isMinor: true
          },
          {
            title: "Longest answer",
            cell: ({ max_output }) => (max_output === 0 ? "–" : `${count(max_output)} tokens`),
            isNumber: true,
            isMinor: true
          },
          { title: "For", cell: ({ categories }) => categories.join(", "), isMinor: true },
          { title: "About", cell: ({ description }) => description, isMinor: true },
          {
            title: "Try",
            cell: ({ id, categories }) =>
              categories.includes("image") ? (
                "by the API"
              ) : (
                <Button kind="bare" aria-label={`Try ${id}`} onClick={() => tryOut(id)}>
                  Try
                </Button>
              )
          }
        ]}
      />
      <Playground models={chats} chosen={chosen} onChoose={setChosen} />
    </div>
  )
}

const Price = ({ model: { billing_mode, pricing } }: { readonly model: Model }) => {
  if (billing_mode === "free") return <Badge tone="good">free</Badge>
  if ("flat" in pricing) return `${dollars(pricing.flat)} a call`
  return `${pricing.input} in, ${pricing.output} out, USD for a million tokens`
}

export default Models
