/** The agents that runners bring: who takes work, who is kept from it and why. */
import { pipeline } from "../../api/apis.ts"
import { Act } from "../../design/Act.tsx"
import { Badge } from "../../design/Badge.tsx"
import { Table } from "../../design/Table.tsx"
import { Time } from "../../design/Time.tsx"
import { useAgents } from "./items.ts"

export const Agents = () => {
  const agents = useAgents()
  if (agents.value === undefined || agents.value.length === 0) return null
  type Agent = (typeof agents.value)[number]
  const instanceOf = ({ agentInstanceId }: Agent) => (agentInstanceId === null ? {} : { agentInstanceId })
  return (
    <section className="agents">
      <h2>Agents</h2>
      <Table
        label="Agents"
        rows={agents.value}
        keyOf={({ agent, agentInstanceId }) => `${agent} ${agentInstanceId ?? ""}`}
        columns={[
          { title: "Agent", cell: ({ agent, agentInstanceId }) => agentInstanceId ?? agent },
          {
            title: "State",
            cell: ({ state }) => <Badge tone={state === "Available" ? "good" : "wait"}>{state.toLowerCase()}</Badge>
          },
          {
            title: "Held by",
            cell: ({ holds }) =>
              holds.length === 0
                ? "–"
                : holds.map(({ cause, reason, since }) => (
                    <div key={cause}>
                      {cause}: {reason ?? "no reason given"}, <Time at={since} />
                    </div>
                  ))
          },
          {
            title: "Actions",
            cell: (each) =>
              each.state === "Paused" ? (
                <Act
                  label="Resume"
                  scope="pipeline:operate"
                  question={`Resume ${each.agent}?`}
                  run={(reason) =>
                    pipeline
                      .post("/agents/:id/resume", { reason, ...instanceOf(each) }, { params: { id: each.agent } })
                      .then(agents.reload)
                  }
                />
              ) : (
                <Act
                  label="Pause"
                  scope="pipeline:operate"
                  question={`Pause ${each.agent}?`}
                  run={(reason) =>
                    pipeline
                      .post("/agents/:id/pause", { reason, ...instanceOf(each) }, { params: { id: each.agent } })
                      .then(agents.reload)
                  }
                >
                  <p>It gets no new work. Items that only it can take wait for it.</p>
                </Act>
              )
          }
        ]}
      />
    </section>
  )
}
