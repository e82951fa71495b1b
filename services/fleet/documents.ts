/** Every generated document of the project: contracts, metrics, topology. Pure. */
import { busMetrics, topology, topologyDocument } from "#bus"
import { contractDocuments } from "#contracts"
import { egressMetrics } from "#egress"
import { drainMetrics, metricsDocument, tracingMetrics } from "#runtime"
import { webhookMetrics } from "../webhook-dispatcher/metrics.ts"

export const generatedDocuments = () => [
  ...contractDocuments(),
  { path: "docs/topology.md", content: topologyDocument(topology) },
  {
    path: "docs/metrics.md",
    content: metricsDocument([
      { title: "webhook-dispatcher", metrics: webhookMetrics },
      { title: "Bus", metrics: busMetrics },
      { title: "Egress", metrics: egressMetrics },
      { title: "Runtime", metrics: [...drainMetrics, ...tracingMetrics] }
    ])
  }
]
