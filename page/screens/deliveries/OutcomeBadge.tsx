/** The end of an attempt, as every list of deliveries shows it. */
import type { Answer } from "../../api/client.ts"
import { Badge } from "../../design/Badge.tsx"
import { Code } from "../../design/Code.tsx"
import { outcomeOf } from "./outcome.ts"

export type DeliveryRow = Answer<"GET", "/deliveries">["items"][number]

export const OutcomeBadge = ({ row }: { readonly row: Parameters<typeof outcomeOf>[0] }) => {
  const { tone, words, why } = outcomeOf(row)
  return (
    <>
      <Badge tone={tone}>{words}</Badge>
      {why === undefined ? null : (
        <>
          {" "}
          <Code text={why} />
        </>
      )}
    </>
  )
}
